package provider_test

import (
	"encoding/csv"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rackrate/rackrate/internal/facts/provider"
	"github.com/rackrate/rackrate/internal/sharedtest"
)

// rows reads a reference file into one map a row.
func rows(t *testing.T, name string) []map[string]string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = -1 // one of the files is ragged past the columns used here
	all, err := r.ReadAll()
	if err != nil || len(all) == 0 {
		t.Fatalf("%s: %v", name, err)
	}
	var out []map[string]string
	for _, rec := range all[1:] {
		m := map[string]string{}
		for i, c := range all[0] {
			if i < len(rec) {
				m[c] = rec[i]
			}
		}
		out = append(out, m)
	}
	return out
}

// corrected are the reference rows that ours contradict on purpose: the country was that of another place, or
// the id is a geography and not a region, or the country has been found since.
var corrected = []string{
	"gcp me-central1", "azure northeurope", "azure westus", "azure asiapacific", "lambda me-west-1", "lambda asia-northeast-1",
}

func TestRegionsAgreeWithReference(t *testing.T) {
	table := provider.Embedded()
	n := 0
	for _, want := range rows(t, filepath.Join(sharedtest.Dir(t), "catalog", "regions.csv")) {
		key := want["provider"] + " " + want["region"]
		if slices.Contains(corrected, key) {
			continue
		}
		n++
		got := table.Region(want["provider"], want["region"])
		if got.Source == "" || got.Country != want["country"] {
			t.Errorf("%s: country %q, want %q", key, got.Country, want["country"])
		}
		if d := cmp.Diff(want["jurisdiction_tags"], strings.Join(got.Tags, ";")); d != "" {
			t.Errorf("%s: %s", key, d)
		}
		g, known := got.Grid.Get()
		figure, err := strconv.ParseFloat(want["grid_gco2_per_kwh"], 64)
		if known != (err == nil) || known && math.Abs(float64(g)-figure) > 1e-9 {
			t.Errorf("%s: grid %v, want %q", key, g, want["grid_gco2_per_kwh"])
		}
	}
	if n != 237 {
		t.Errorf("compared %d rows", n)
	}
}

func TestProvidersAgreeWithReference(t *testing.T) {
	table := provider.Embedded()
	for _, want := range rows(t, filepath.Join(sharedtest.Dir(t), "catalog", "providers.csv")) {
		p, ok := table.Provider(want["provider"])
		if !ok {
			t.Errorf("no %s", want["provider"])
			continue
		}
		if p.Country != want["company_country"] {
			t.Errorf("%s sits in %q, want %q", p.ID, p.Country, want["company_country"])
		}
		if notice, ok := p.SpotNotice.Get(); ok != (want["spot_notice_s"] != "") || ok && strconv.FormatFloat(notice.Seconds(), 'f', 0, 64) != want["spot_notice_s"] {
			t.Errorf("%s: spot notice %v, want %q s", p.ID, notice, want["spot_notice_s"])
		}
		if p.Confidence == "verified" && want["confidence"] != "verified" {
			t.Errorf("%s is better backed than its source", p.ID)
		}
	}
}

// Every provider and region of the catalogs is known, so that no offer comes from nowhere.
func TestCatalogProvidersAndRegionsAreListed(t *testing.T) {
	dir := sharedtest.Dir(t)
	table := provider.Embedded()
	files, err := fs.Glob(os.DirFS(filepath.Join(dir, "catalog")), "*/*/*.csv")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	deep, _ := fs.Glob(os.DirFS(filepath.Join(dir, "catalog")), "*/*/*/*.csv")
	for _, file := range append(files, deep...) {
		name := path.Base(path.Dir(file))
		if path.Base(file) != "vms.csv" { // templates and accelerator names
			continue
		}
		p, err := table.Find(name)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if name == "azure" {
			continue // ragged quoting; its regions are in the reference above
		}
		for _, r := range rows(t, filepath.Join(dir, "catalog", filepath.FromSlash(file))) {
			if id := r["Region"]; id != "" && table.Region(p.ID, id).Source == "" {
				t.Errorf("%s: region %q is neither listed nor readable", p.ID, id)
			}
		}
	}
}

func TestPriceListRegionsAreListed(t *testing.T) {
	dir := sharedtest.Dir(t)
	table := provider.Embedded()
	for file, id := range map[string]string{
		"aws_gpu.csv": "aws", "aws_gpu_spot_reserved_2025-05-28.csv": "aws", "azure_gpu.csv": "azure",
		"gcp_gpu.csv": "gcp", "gcp_accelerators_anycloud_2026-05-20.csv": "gcp", "alibaba_gpu.csv": "alibaba",
	} {
		for _, r := range rows(t, filepath.Join(dir, "catalog", file)) {
			if region := r["region"]; region != "" && table.Region(id, region).Country == "" {
				t.Errorf("%s: the country of %s is not known", file, region)
			}
		}
	}
}

func TestInterruptionAgreesWithReference(t *testing.T) {
	table := provider.Embedded()
	middle := map[string]float64{"<5%": 0.025, "5-10%": 0.075, "10-15%": 0.125, "15-20%": 0.175, ">20%": 0.25}
	n := 0
	for _, want := range rows(t, filepath.Join(sharedtest.Dir(t), "truth2", "spot.csv")) {
		if want["date"] != "2025-06-28" || want["os"] != "Linux" {
			continue
		}
		n++
		perHour, basis, _, ok := table.Interruption(want["provider"], want["region"], want["instance_type"])
		monthly := 1 - math.Exp(-perHour*730)
		if !ok || basis != provider.BasisPublished || math.Abs(monthly-middle[want["interruption_band"]]) > 1e-9 {
			t.Errorf("%s %s: %v %s", want["region"], want["instance_type"], monthly, basis)
		}
	}
	if n != 855 {
		t.Errorf("compared %d rows", n)
	}
}
