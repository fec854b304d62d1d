package catalog_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/rackrate/rackrate/data"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

const (
	machineHead = "provider,instance_type,accelerator,count,vcpu,ram_gib,nvme_gb,topology,topology_known,network_gbps,network,bare_metal,mig,confidential,gpudirect,reservation,source,as_of,flags\n"
	priceHead   = "region,zone,instance_type,mode,hourly,currency,as_of,source,confidence,flags\n"
	sourceHead  = "id,title,reference,date,licence\n"

	goodMachine = "acme,h100x8,H100-SXM-80GB,8,192,2048,30400,nvswitch,yes,3200,infiniband,no,yes,no,yes,,src,2026-11-30,mig_recalled\n"
	goodPrice   = "east,,h100x8,on-demand,16.00,USD,2026-11-30,src,listed,\n"
	goodSource  = "src,\"a \"\"source\"\", quoted\",here,2026,none\n"
)

func files(machines, prices, sources string) fstest.MapFS {
	return fstest.MapFS{
		"machines.csv": {Data: []byte(machineHead + machines)}, "sources.csv": {Data: []byte(sourceHead + sources)},
		"prices/acme.csv": {Data: []byte(priceHead + prices)},
	}
}

func TestLoad(t *testing.T) {
	c, err := catalog.Load(files(goodMachine, goodPrice+"west,,h100x8,,,,,,,\r\n"+"east,,h100x8,spot,8,USD,2026-11-29,src,quoted,zone_maximum;date_unknown\n", goodSource), accelerator.Embedded())
	if err != nil {
		t.Fatal(err)
	}
	m := aMachine(t)
	want := catalogOf(
		catalog.Row{Machine: &m, Region: "east", Price: aPrice(catalog.OnDemand, "16")},
		catalog.Row{Machine: &m, Region: "east", Price: catalog.Price{
			Mode: catalog.Spot, Hourly: aPrice("", "8").Hourly, AsOf: "2026-11-29", Source: "src", Confidence: catalog.Quoted,
			Flags: []catalog.Flag{catalog.ZoneMaximum, catalog.DateUnknown},
		}},
		catalog.Row{Machine: &m, Region: "west"},
	)
	want.Sources = []catalog.Source{{ID: "src", Title: `a "source", quoted`, Reference: "here", Date: "2026", Licence: "none"}}
	if diff := cmp.Diff(dump(want), dump(c)); diff != "" {
		t.Error(diff)
	}
	if c.AsOf != today || len(c.Offers) != 2 || len(c.Offers[1].Prices) != 0 {
		t.Errorf("as of %s, %d offers", c.AsOf, len(c.Offers))
	}
}

func dump(c *catalog.Catalog) string {
	var b strings.Builder
	for _, m := range c.Machines {
		fmt.Fprintf(&b, "%+v\n", *m)
	}
	for _, o := range c.Offers {
		fmt.Fprintf(&b, "%s %s %s %s %+v\n", o.Provider, o.InstanceType, o.Region, o.Zone, o.Prices)
	}
	fmt.Fprintf(&b, "%+v", c.Sources)
	return b.String()
}

// Each fault is reported with its file, line and column, and one does not hide another.
func TestLoadReportsEveryFault(t *testing.T) {
	machine := func(old, new string) string { return strings.Replace(goodMachine, old, new, 1) }
	price := func(old, new string) string { return strings.Replace(goodPrice, old, new, 1) }
	for _, w := range []struct {
		name                      string
		machines, prices, sources string
		want                      []string // file:line column
	}{
		{"unknown chip", machine("H100-SXM-80GB", "H100"), "", goodSource, []string{"machines.csv:2 accelerator"}},
		{"no count", machine(",8,192", ",0,192"), "", goodSource, []string{"machines.csv:2 count"}},
		{"fraction above one", machine(",8,192", ",3/2,192"), "", goodSource, []string{"machines.csv:2 count"}},
		{"negative memory", machine("2048", "-2048"), "", goodSource, []string{"machines.csv:2 ram_gib"}},
		{"infinite memory", machine("2048", "inf"), "", goodSource, []string{"machines.csv:2 ram_gib"}},
		{"bad words", machine("nvswitch", "switch"), "", goodSource, []string{"machines.csv:2 topology"}},
		{"bad network", machine("infiniband", "IB"), "", goodSource, []string{"machines.csv:2 network"}},
		{"bad answer", machine(",no,yes,", ",No,yes,"), "", goodSource, []string{"machines.csv:2 bare_metal"}},
		{"bad date", machine("2026-11-30", "2026-13-30"), "", goodSource, []string{"machines.csv:2 as_of"}},
		{"twice", goodMachine + goodMachine, "", goodSource, []string{"machines.csv:3 instance_type"}},
		{"no source", goodMachine, goodPrice, "", []string{"machines.csv:2 source", "prices/acme.csv:2 source"}},
		{"source twice", "", "", goodSource + goodSource, []string{"sources.csv:3 id"}},
		{"zero price", goodMachine, price("16.00", "0.00"), goodSource, []string{"prices/acme.csv:2 hourly"}},
		{"negative price", goodMachine, price("16.00", "-1"), goodSource, []string{"prices/acme.csv:2 hourly"}},
		{"not a number", goodMachine, price("16.00", "NaN"), goodSource, []string{"prices/acme.csv:2 hourly"}},
		{"price without mode", goodMachine, price("on-demand", ""), goodSource, []string{"prices/acme.csv:2 mode"}},
		{"mode without price", goodMachine, price("16.00", ""), goodSource, []string{"prices/acme.csv:2 hourly"}},
		{"currency", goodMachine, price("USD", "usd"), goodSource, []string{"prices/acme.csv:2 currency"}},
		{"confidence", goodMachine, price("listed", "sure"), goodSource, []string{"prices/acme.csv:2 confidence"}},
		{"unknown machine", goodMachine, price("h100x8", "h100x9"), goodSource, []string{"prices/acme.csv:2 instance_type"}},
		{"zone without region", goodMachine, price("east,", ",east-a"), goodSource, []string{"prices/acme.csv:2 region"}},
		{"short row, then a bad one", goodMachine, "east\n" + price("16.00", "x"), goodSource, []string{"prices/acme.csv:2 ", "prices/acme.csv:3 hourly"}},
	} {
		t.Run(w.name, func(t *testing.T) {
			_, err := catalog.Load(files(w.machines, w.prices, w.sources), accelerator.Embedded())
			var got []string
			for _, e := range problem.All(err) {
				if e.Code != "data.bad_row" || e.Kind != problem.Input {
					t.Errorf("%v", e)
				}
				got = append(got, fmt.Sprintf("%s:%d %v", e.File, e.Line, e.Args["Column"]))
			}
			if diff := cmp.Diff(w.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLoadChecksHeadersAndFiles(t *testing.T) {
	fsys := files(goodMachine, goodPrice, goodSource)
	fsys["prices/acme.csv"] = &fstest.MapFile{Data: []byte(strings.Replace(priceHead, "hourly", "price", 1) + goodPrice)}
	_, err := catalog.Load(fsys, accelerator.Embedded())
	if l := problem.All(err); len(l) != 1 || l[0].Args["Column"] != "header" {
		t.Errorf("%v", err)
	}
	delete(fsys, "sources.csv")
	if _, err := catalog.Load(fsys, accelerator.Embedded()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// Writing what was loaded gives the files back to the byte.
func TestWriteRoundTrip(t *testing.T) {
	c := embedded(t)
	got, err := (&catalog.Snapshot{Machines: c.Machines, Rows: c.Rows(), Sources: c.Sources}).Files()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range got {
		want, err := data.FS.ReadFile(name)
		if err != nil || !bytes.Equal(want, text) {
			t.Errorf("%s differs (%v)", name, err)
		}
	}
}

func TestWriteRefusesLineBreaks(t *testing.T) {
	_, err := (&catalog.Snapshot{Sources: []catalog.Source{{ID: "a", Title: "two\nlines"}}}).Files()
	if err == nil {
		t.Error("a line break in a cell was written")
	}
}

func FuzzLoadPrices(f *testing.F) {
	f.Add(goodPrice)
	f.Add("east,,h100x8,,,,,,,\n\"a,b\",,h100x8,spot,.5,USD,2026-01-01,src,quoted,x;y\n")
	f.Add("\"\n\"\"\"\n,,,,,,,,,\n")
	f.Fuzz(func(t *testing.T, prices string) {
		c, err := catalog.Load(files(goodMachine, prices, goodSource), accelerator.Embedded())
		if err != nil {
			return
		}
		for _, o := range c.Offers {
			for _, p := range o.Prices {
				if p.Hourly.Nanos() <= 0 || p.AsOf == "" || p.Mode == "" {
					t.Errorf("%+v", p)
				}
			}
		}
		catalog.Verify(c, today)
	})
}

// The limits leave a factor for slow machines; a regress to encoding/csv or to maps per row goes past them.
func BenchmarkLoad(b *testing.B) {
	chips := accelerator.Embedded()
	b.ReportAllocs()
	rows := 0
	for b.Loop() {
		c, err := catalog.Load(data.FS, chips)
		if err != nil {
			b.Fatal(err)
		}
		rows = 0
		for _, o := range c.Offers {
			rows += max(1, len(o.Prices))
		}
	}
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

func TestLoadIsLean(t *testing.T) {
	chips := accelerator.Embedded()
	r := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			if _, err := catalog.Load(data.FS, chips); err != nil {
				b.Fatal(err)
			}
		}
	})
	if bytes := r.AllocedBytesPerOp(); bytes > 40e6 {
		t.Errorf("a load allocates %d bytes", bytes)
	}
	if ms := r.NsPerOp() / 1e6; ms > 250 { // 60 ms is the aim on a quiet core
		t.Errorf("a load takes %d ms", ms)
	}
}
