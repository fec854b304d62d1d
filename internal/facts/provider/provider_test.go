package provider_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rackrate/rackrate/data"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/provider"
	"pgregory.net/rapid"
)

func TestEmbeddedLoads(t *testing.T) {
	table, err := provider.Load(data.FS)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(table.Providers()); n < 33 {
		t.Errorf("%d providers", n)
	}
	for _, p := range table.Providers() {
		if got, ok := table.Provider(p.ID); !ok || got != p {
			t.Errorf("%s is listed and not found", p.ID)
		}
	}
}

func TestFind(t *testing.T) {
	for text, want := range map[string]string{
		"aws": "aws", "Amazon": "aws", "AWS ": "aws", "亚马逊云科技": "aws", "谷歌云": "gcp", "google cloud": "gcp",
		"阿里云": "alibaba", "Alibaba-Cloud": "alibaba", "腾讯云": "tencent", "华为云": "huawei", "do": "digitalocean",
		"DataCrunch": "verda", "Vast.ai": "vast", "Lambda Labs": "lambda", "优云智算": "compshare", "Oracle": "oci",
	} {
		p, err := provider.Embedded().Find(text)
		if err != nil || p.ID != want {
			t.Errorf("Find(%q) = %v, %v; want %s", text, p, err, want)
		}
	}
}

func TestFindUnknownSuggests(t *testing.T) {
	_, err := provider.Embedded().Find("runpodd")
	var e *problem.Error
	if !errors.As(err, &e) || e.Code != "provider.unknown" || e.Kind != problem.Input {
		t.Fatalf("got %v", err)
	}
	if !slices.Contains(e.Suggest, "runpod") {
		t.Errorf("suggests %v", e.Suggest)
	}
}

func TestKnownFacts(t *testing.T) {
	table := provider.Embedded()
	get := func(id string) *provider.Provider {
		p, ok := table.Provider(id)
		if !ok {
			t.Fatalf("no %s", id)
		}
		return p
	}
	oci := get("oci")
	if vm, bm := oci.LeastCharge(false), oci.LeastCharge(true); vm != unit.Some(unit.FromSeconds(60)) || bm != unit.Some(unit.Hours(1)) {
		t.Errorf("oci least charge: VM %v, bare metal %v", vm, bm)
	}
	if oci.SpotNotice.Known() {
		t.Error("Oracle gives no length of notice, so it is unknown")
	}
	if n := get("aws").SpotNotice; n != unit.Some(unit.FromSeconds(120)) {
		t.Errorf("aws spot notice %v", n)
	}
	if get("nebius").Country != "NL" || get("alibaba").Country != "CN" || get("huawei").SLA.Known() {
		t.Error("seat or SLA of nebius, alibaba or huawei")
	}
	if !get("aws").Certified("iso 27001") || get("hyperstack").Certified("ISO27001") {
		t.Error("certifications of aws or hyperstack")
	}
	runpod := get("runpod")
	if runpod.Resells("1x_H100_SECURE") || !runpod.Resells("1x_H100_COMMUNITY") || !get("vast").Resells("any") {
		t.Error("who owns the machines of runpod or vast")
	}
	if q, ok := runpod.EgressPerGB.Get(); !ok || q.Nanos != 0 {
		t.Error("runpod states free egress: a known zero")
	}
	if get("vast").EgressPerGB.Known() {
		t.Error("vast's hosts set their own egress price: unknown")
	}
	q, _ := get("aws").EgressPerGB.Get()
	if got := q.For(200).String(); got != "18.00 USD" {
		t.Errorf("200 GB out of aws: %s", got)
	}
}

func TestPricesAreHonest(t *testing.T) {
	for _, p := range provider.Embedded().Providers() {
		for _, m := range []unit.Maybe[provider.Quote]{p.EgressPerGB, p.BlockPerGBMo, p.ObjectPerGBMo} {
			q, ok := m.Get()
			if ok && (q.Source == "" || q.AsOf == "" || q.Product == "" || q.Confidence == "") {
				t.Errorf("%s: a price without its source: %+v", p.ID, q)
			}
		}
	}
}

// Every fault of every file comes at once, with its line.
func TestLoadReportsAllFaults(t *testing.T) {
	files := fstest.MapFS{}
	for _, name := range []string{"countries.csv", "providers.csv", "storage_prices.csv", "regions.csv", "spot_interruption.csv"} {
		raw, err := data.FS.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: raw}
	}
	files["storage_prices.csv"] = &fstest.MapFile{Data: []byte(`provider,kind,product,per_gb,currency,free_gb,confidence,as_of,source
aws,egress,internet,nine,USD,,unverified,2025-06-30,s
nobody,egress,internet,0.1,USD,,unverified,2025-06-30,s
aws,block,gp3,0.08,USD,,unverified,someday,
aws,block
`)}
	files["spot_interruption.csv"] = &fstest.MapFile{Data: []byte("provider,region\n")}
	_, err := provider.Load(files)
	type fault struct {
		File, Code string
		Line       int
	}
	var got []fault
	for _, e := range problem.All(err) {
		got = append(got, fault{e.File, e.Code, e.Line})
	}
	want := []fault{
		{"storage_prices.csv", "data.value", 2}, {"storage_prices.csv", "data.value", 3},
		{"storage_prices.csv", "data.missing", 4}, {"storage_prices.csv", "data.value", 4},
		{"storage_prices.csv", "data.cells", 5}, {"spot_interruption.csv", "data.header", 1},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Whatever text comes, Find gives a provider or one provider.unknown, and never panics.
func TestFindTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, err := provider.Embedded().Find(rapid.String().Draw(t, "text"))
		if (p == nil) != (err != nil) {
			t.Fatalf("%v, %v", p, err)
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := provider.Load(data.FS); err != nil {
			b.Fatal(err)
		}
	}
}

// Steps of a price come later and cheaper one after another; anything else is a fault on its line.
func TestPriceSteps(t *testing.T) {
	load := func(cell string) ([]provider.PriceStep, error) {
		files := fstest.MapFS{}
		for _, name := range []string{"countries.csv", "providers.csv", "storage_prices.csv", "regions.csv", "spot_interruption.csv"} {
			raw, err := data.FS.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files[name] = &fstest.MapFile{Data: []byte(strings.Replace(string(raw), ",96:0.5;360:0.34,", ","+cell+",", 1))}
		}
		table, err := provider.Load(files)
		if err != nil {
			return nil, err
		}
		p, _ := table.Provider("tencent")
		return p.Steps, nil
	}
	for cell, want := range map[string][]provider.PriceStep{
		"": nil, "96:0.5": {{From: 96, Share: 0.5}}, "96:0.5;360:0.34": {{From: 96, Share: 0.5}, {From: 360, Share: 0.34}},
	} {
		if got, err := load(cell); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v", cell, got, err)
		}
	}
	for _, cell := range []string{"96", "96:", ":0.5", "0:0.5", "96:1", "96:0", "96:0.5;90:0.3", "96:0.5;360:0.6", "96:NaN", "NaN:0.5", "1e9:0.5", "a:b", "96:0.5;"} {
		if _, err := load(cell); err == nil {
			t.Errorf("%q is taken", cell)
		}
	}
}
