package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rackrate/rackrate/data"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/sharedtest"
)

// The committed files are what the sources give, to the byte: no row was edited by hand.
func TestRebuildGivesTheCommittedFiles(t *testing.T) {
	shared := os.DirFS(filepath.Join(sharedtest.Dir(t), "catalog"))
	files, rep, err := build(shared)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := data.FS.ReadFile(name)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the sources give (%v): run go run ./tools/catalogbuild", name, err)
		}
	}
	prices, err := data.FS.ReadDir("prices")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range prices {
		if strings.HasSuffix(f.Name(), ".csv") && files["prices/"+f.Name()] == nil {
			t.Errorf("prices/%s has no source", f.Name())
		}
	}
	var out strings.Builder
	rep.print(&out)
	for _, must := range []string{"provider", "total", "left out:", "no accelerator named: PNV6.4XLARGE160", "unknown accelerator: Qualcomm AI100"} {
		if !strings.Contains(out.String(), must) {
			t.Errorf("the report lacks %q", must)
		}
	}
}

// The public files hold ragged rows, dicts, JSON, null and CRLF; the reader must take every row of each.
func TestPublicFilesAreReadWhole(t *testing.T) {
	shared := os.DirFS(filepath.Join(sharedtest.Dir(t), "catalog"))
	least := map[string]int{"anycloud/azure/vms.csv": 56000, "anycloud/gcp/vms.csv": 31000, "skypilot/v8/oci/vms.csv": 3726}
	for _, f := range skyPilotFiles {
		least[f.path] = max(least[f.path], 3)
	}
	for path, n := range least {
		file, err := shared.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		rows, faults, err := catalog.ReadSkyPilot(file, "USD")
		file.Close()
		// Prices of zero stand in the files; they are read, told and left out.
		faults = slices.DeleteFunc(faults, func(f catalog.Fault) bool { return f.Kind == catalog.ZeroPrice })
		if err != nil || len(faults) > 0 || len(rows) < n {
			t.Errorf("%s: %d rows, %d faults, %v", path, len(rows), len(faults), err)
		}
	}
}

// A second build gives the same bytes: the order of maps never shows.
func TestBuildIsDeterministic(t *testing.T) {
	shared := os.DirFS(filepath.Join(sharedtest.Dir(t), "catalog"))
	first, _, err := build(shared)
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := build(shared)
	if err != nil {
		t.Fatal(err)
	}
	for name := range first {
		if !bytes.Equal(first[name], second[name]) {
			t.Errorf("%s differs from build to build", name)
		}
	}
}

func TestQuoteDay(t *testing.T) {
	for in, want := range map[string]string{
		"2026-08-19": "2026-08-19", "effective 2026-07-01": "2026-07-01", "2026-01": "2026-01-01", "2026": "2026-01-01", "2026 (undated excerpt)": "2026-01-01",
	} {
		day, flags := quoteDay(in)
		exact := strings.Contains(in, want)
		if day != want || exact == (len(flags) > 0) {
			t.Errorf("%s: %s %v", in, day, flags)
		}
	}
}

func TestFixes(t *testing.T) {
	for _, w := range []struct {
		fix      func(*catalog.SkyPilotRow)
		in, want catalog.SkyPilotRow
	}{
		{fixVast, catalog.SkyPilotRow{InstanceType: "2x-RTX_4070S_Ti-32-65536", Accelerator: "RTX4070", Region: "Michigan, US, NA", Count: unit.Some(2.0), MiB: 32752},
			catalog.SkyPilotRow{InstanceType: "2x-RTX_4070S_Ti-32-65536", Accelerator: "RTX-4070S-Ti", Region: "US", Count: unit.Some(2.0), MiB: 16376}},
		{fixPrimeIntellect, catalog.SkyPilotRow{InstanceType: "lambdalabs__1xA10__SPOT", Region: "IS", Zone: "me-west-1"},
			catalog.SkyPilotRow{InstanceType: "lambdalabs__1xA10", Region: "IL", Zone: "me-west-1"}},
		{fixIBM, catalog.SkyPilotRow{Zone: "jp-tok-2"}, catalog.SkyPilotRow{Zone: "jp-tok-2", Region: "jp-tok"}},
	} {
		got := w.in
		if w.fix(&got); got != w.want {
			t.Errorf("%+v, want %+v", got, w.want)
		}
	}
}
