package intake_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/data"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/catalog/intake"
	"github.com/rackrate/rackrate/internal/facts/provider"
)

// Tables as people write and publish them.
func TestFlatTables(t *testing.T) {
	for _, w := range []struct{ name, file, text, want string }{
		{"modes as columns, each with its currency", "acme.csv",
			"region,instance_type,gpu,count,on_demand_usd_hour,spot_usd_hour,sp1y_usd_hour,capacity_block_usd_hour\nr,g,L40S,2,4,1.2,3.1,3.5\n",
			"acme g 2 x L40S r capacity-block 3.50 USD/h; acme g 2 x L40S r on-demand 4.00 USD/h; acme g 2 x L40S r savings-plan-1y 3.10 USD/h; acme g 2 x L40S r spot 1.20 USD/h"},
		{"names in other spellings", "acme.csv", "Provider,Location,Machine-Type,GPU Name,GPU Count,Price,Currency,Mode\nLambda Labs,r,g,H100 SXM,8,24,eur,Reserved 1y\n",
			"lambda g 8 x H100-SXM-80GB r reserved-1y 24.00 EUR/h"},
		{"one price a row", "acme.csv", "instance_type,gpu,count,price,currency,unit\ng,L4,1,9,CNY,hour\n", "acme g 1 x L4  on-demand 9.00 CNY/h"},
		{"the price of one of several accelerators", "acme.csv", "instance_type,gpu,count,price,unit\ng,L4,4,0.7,gpu-hour\n", "acme g 4 x L4  on-demand 2.80 USD/h !per_gpu_quote"},
		{"of an accelerator without a machine", "acme.csv", "gpu,price,unit\nL4,0.7,gpu-hour\n", "part_alone:2"},
		{"shares", "acme.csv", "instance_type,gpu,count,gpu_label,price\na,A10,1/6,,0.5\nb,A10,0.333,,1\nc,A10,1,1/2X A10,1.5\n",
			"acme a 1/6 x A10  on-demand 0.50 USD/h; acme b 1/3 x A10  on-demand 1.00 USD/h; acme c 1/2 x A10  on-demand 1.50 USD/h"},
		{"boards of two chips", "aws_gpu.csv", "instance_type,accelerator,count,gpu_mem_mib,on_demand_usd_hour\np2,K80,8,24576,14.4\n", "aws p2 16 x K80  on-demand 14.40 USD/h"},
		{"no price is listed", "acme.csv", "instance_type,gpu,count\ng,L4,1\n", "acme g 1 x L4 "},
		{"a zero is no price", "acme.csv", "instance_type,gpu,count,on_demand_usd_hour\ng,L4,1,0\n", "acme g 1 x L4 "},
		{"no accelerator", "acme.csv", "instance_type,gpu,count,on_demand_usd_hour\ng,,,1\n", "no_accelerator:2"},
		{"no accelerator column, and no such machine", "acme.csv", "instance_type,on_demand_usd_hour\ng,1\n", "unknown_machine:2"},
		{"a TPU's whole price", "gcp.csv", "region,instance_type,accelerator,count,on_demand_usd_hour\nr,,tpu-v6e-8,1,21.6\nr,,T4,1,0.35\n", "gcp tpu-v6e-8 8 x TPU-v6e r on-demand 21.60 USD/h; part_alone:3"},
		{"AWS's terms", "aws.csv", "region,instance_type,gpu,count,on_demand_usd_hour,spot_min,spot_avg,spot_max,ri_1Standard_noUpfront,ri_3Standard_allUpfront,ri_1Convertible_noUpfront\n" +
			"r,g,L4,1,1,.2,.3,.4,.7,.4,.8\ns,g,L4,1,1,,.3,,,,\n",
			"aws g 1 x L4 r on-demand 1.00 USD/h; aws g 1 x L4 r reserved-1y 0.70 USD/h; aws g 1 x L4 r reserved-3y-all-upfront 0.40 USD/h; aws g 1 x L4 r spot 0.40 USD/h !zone_maximum; " +
				"aws g 1 x L4 s on-demand 1.00 USD/h; aws g 1 x L4 s spot 0.30 USD/h !spot_computed"},
		{"a region beside the provider, and a group of regions", "quotes.csv", "provider,sku_or_gpu,gpu,count,price,unit\ngcp us-central1,x,L4,1,1,instance-hour\naws US,y,L4,1,1,instance-hour\n",
			"aws y 1 x L4 US on-demand 1.00 USD/h !region_unconfirmed; gcp x 1 x L4 us-central1 on-demand 1.00 USD/h"},
		{"what cannot be read", "acme.csv", "provider,instance_type,gpu,count,price,currency,mode,unit,date,bare_metal\n" +
			"acme,g,L4,x,1,USD,spot,hour,2026-01-01,no\nacme,g,L4,1,?,USD,spot,hour,2026-01-01,no\nacme,g,L4,1,1,dollars,spot,hour,2026-01-01,no\n" +
			"acme,g,L4,1,1,USD,barter,hour,2026-01-01,no\nacme,g,L4,1,1,USD,spot,month,2026-01-01,no\nacme,g,L4,1,1,USD,spot,hour,yesterday,no\n" +
			"acme,g,L4,1,1,USD,spot,hour,2026-01-01,maybe\nA B,g,L4,1,1,USD,spot,hour,2026-01-01,no\nacme,g,L4,0/0,1,USD,spot,hour,2026-13-01,no\n",
			"row:2; row:3; row:4; row:5; row:6; row:7; row:8; row:9; row:10"},
	} {
		t.Run(w.name, func(t *testing.T) {
			if got := taken(t, w.file, w.text, readOptions(nil)); got != w.want {
				t.Errorf("%s\nwant %s", got, w.want)
			}
		})
	}
}

// The day of a price is that of its column, of its row, or of the file; a month or a span counts from its first day and says so.
func TestDaysOfFlatTables(t *testing.T) {
	for _, w := range []struct{ file, head, row, want string }{
		{"acme.csv", "on_demand_usd_hour_20250528,spot_usd_hour_2025-06-01", "2,1", "on-demand 2025-05-28 [] spot 2025-06-01 []"},
		{"acme.csv", "on_demand_usd_hour,price_date,spot_usd_hour,spot_date", "2,2026-02-03,1,2026-02-04", "on-demand 2026-02-03 [] spot 2026-02-04 []"},
		{"acme.csv", "on_demand_usd_hour,price_date", "2,2025-11-30..2026-01-21", "on-demand 2025-11-30 [date_unknown]"},
		{"acme.csv", "on_demand_usd_hour,price_date", "2,2026", "on-demand 2026-01-01 [date_unknown]"},
		{"acme.csv", "on_demand_usd_hour,price_date", "2,2026-07 (undated)", "on-demand 2026-07-01 [date_unknown]"},
		{"acme_2026-05-20.csv", "on_demand_usd_hour", "2", "on-demand 2026-05-20 []"},
		{"acme.csv", "on_demand_usd_hour", "2", "on-demand  []"},
	} {
		var h heard
		if err := intake.Read(w.file, strings.NewReader("instance_type,gpu,count,"+w.head+"\ng,L4,1,"+w.row+"\n"), &h, readOptions(nil)); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range h.rows[0].Prices {
			got = append(got, fmt.Sprintf("%s %s %v", p.Mode, p.AsOf, p.Flags))
		}
		if s := strings.Join(got, " "); s != w.want {
			t.Errorf("%s: %s, want %s", w.head, s, w.want)
		}
	}
}

// Everything a table may say of a machine arrives.
func TestMachinesOfFlatTables(t *testing.T) {
	var h heard
	text := "zone,region,instance_type,gpu,count,gpu_mem_gb,vcpu,mem_mib,network_gbps,local_nvme_gb,efa,bare_metal,confidential,note\n" +
		"r-a,r,g,A100,8,80,96,1.04858e+06,400,8000,4,yes,True,invite-only test\n"
	if err := intake.Read("acme.csv", strings.NewReader(text), &h, readOptions(nil)); err != nil {
		t.Fatal(err)
	}
	l := h.rows[0]
	got := fmt.Sprint(l.Zone, l.Region, l.MiB, l.VCPU.Or(0), int64(l.RAM.Or(0))>>30, l.NetworkGbps.Or(0), int64(l.NVMe.Or(0)), l.Network, l.BareMetal.Or(false), l.Confidential.Or(false), l.Flags)
	if want := fmt.Sprint("r-a", "r", 81920.0, 96.0, 1024, 400.0, int64(8000e9), "efa", true, true, []catalog.Flag{catalog.InviteOnly}); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A price of one accelerator is that of a machine where the machine is known.
func TestQuoteOfAKnownMachine(t *testing.T) {
	known, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	in := options(known)
	text := "provider,sku_or_gpu,price,currency,unit,tier\naws,p5.48xlarge,6.88,USD,gpu-hour,on-demand\naws,p5.48xlarge,31,USD,instance-hour,Capacity Block\n"
	if err := intake.Read("quotes.csv", strings.NewReader(text), in, readOptions(known)); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"aws p5.48xlarge / 8 x H100-SXM-80GB capacity-block 31.00 USD/h 2026-06-01 [region_unconfirmed]",
		"aws p5.48xlarge / 8 x H100-SXM-80GB on-demand 55.04 USD/h 2026-06-01 [per_gpu_quote region_unconfirmed]",
	}
	if diff := cmp.Diff(want, lines(in.Result())); diff != "" {
		t.Error(diff)
	}
}

// What ships with the program reads back as itself, from its own files.
func TestOwnFormReadsBack(t *testing.T) {
	known, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"aws", "vast", "gcp", "seeweb"} {
		text, err := data.FS.ReadFile("prices/" + name + ".csv")
		if err != nil {
			t.Fatal(err)
		}
		in := options(known)
		if err := intake.Read("prices/"+name+".csv", bytes.NewReader(text), in, readOptions(known)); err != nil {
			t.Fatal(err)
		}
		r := in.Result()
		checkTally(t, r, 0)
		var want []string
		for _, row := range known.Rows() {
			if row.Provider == name {
				want = append(want, priceLine(row))
			}
		}
		var got []string
		for _, row := range r.Rows {
			got = append(got, priceLine(row))
		}
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" || r.Tally.Rejected > 0 || len(got) == 0 {
			t.Errorf("%s, %+v: %s", name, r.Tally, diff)
		}
	}
}

func priceLine(row catalog.Row) string {
	return fmt.Sprint(row.InstanceType, row.Region, row.Zone, row.Accelerator.Name, row.Price)
}

func TestOwnFormTellsEveryFault(t *testing.T) {
	text := catalog.PriceColumns + "\nr,,p5.48xlarge,on-demand,55,USD,2026-01-01,list,listed,\nr,,p5.48xlarge,barter,55,USD,2026-01-01,list,listed,\nr,,p5.48xlarge,spot,x,USD,2026-01-01,list,listed,\n" +
		"r,,p5.48xlarge,spot,20,usd,2026-01-01,list,listed,\nr,,p5.48xlarge,spot,20,USD,2026-1-1,list,listed,\nr,,p5.48xlarge,spot,20,USD,2026-01-01,list,sure,\n" +
		"r,,p5.48xlarge,spot,20,USD,2026-01-01,list,listed,nonesuch\nr,,p5.48xlarge,spot,20,USD,2026-01-01,elsewhere,listed,\nr,,p99.metal,spot,20,USD,2026-01-01,list,listed,\ns,,p5.48xlarge,,,,,,,\n"
	known, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	in := options(known)
	if err := intake.Read("aws.csv", strings.NewReader(text), in, readOptions(known)); err != nil {
		t.Fatal(err)
	}
	r := in.Result()
	checkTally(t, r, 0)
	var got []string
	for _, x := range r.Rejections {
		got = append(got, fmt.Sprintf("%s:%d %v", x.Kind, x.At.Line, x.Args["Column"]))
	}
	want := []string{"row:3 mode", "row:4 hourly", "row:5 currency", "row:6 as_of", "row:7 confidence", "row:8 flags", "source:9 <nil>", "unknown_machine:10 <nil>"}
	if diff := cmp.Diff(want, got); diff != "" || r.Tally.Kept != 2 {
		t.Errorf("%+v %s", r.Tally, diff)
	}
}

// An exported archive reads back to the same offers, prices, sources and machines.
func TestArchiveReadsBack(t *testing.T) {
	known, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	s := &catalog.Snapshot{
		Source: "built-in", AsOf: day, Machines: slices.Clone(known.Machines), Rows: known.Rows(), Sources: slices.Clone(known.Sources),
		Covers: []catalog.Cover{{Provider: "aws", Mode: catalog.OnDemand}}, Bands: []provider.Band{{Provider: "aws", Region: "us-east-1", InstanceType: "p5.48xlarge", Range: "5-10", AsOf: day, Source: "there"}},
		Terms: []catalog.Term{{Provider: "aws", Source: known.Sources[0].ID, AsOf: day, Hourly: usd(catalog.OnDemand, 40).Hourly}},
	}
	for i := range s.Rows { // of the day of the archive, which it does not repeat
		if s.Rows[i].Provider == "lambda" && s.Rows[i].Price.Mode != "" {
			s.Rows[i].Price.AsOf = day
		}
	}
	files, err := s.Files()
	if err != nil {
		t.Fatal(err)
	}
	packed, _, err := catalog.Archive(files)
	if err != nil {
		t.Fatal(err)
	}
	to := &everything{Intake: options(nil)}
	if err := intake.Read("export.zip", bytes.NewReader(packed), to, readOptions(nil)); err != nil {
		t.Fatal(err)
	}
	r := to.Result()
	checkTally(t, r, 0)
	var want, got []string
	for _, row := range s.Rows {
		want = append(want, row.Provider+priceLine(row))
	}
	for _, row := range r.Rows {
		got = append(got, row.Provider+priceLine(row))
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%+v: %s", r.Tally, diff)
	}
	by := map[string]*catalog.Machine{}
	for _, m := range known.Machines {
		by[m.Provider+" "+m.InstanceType] = m
	}
	for _, m := range r.Machines {
		o := *by[m.Provider+" "+m.InstanceType]
		o.Source, o.AsOf = m.Source, m.AsOf // of the reading
		if !o.TopologyKnown {
			o.Topology, o.Flags = m.Topology, m.Flags // inferred anew
		}
		if diff := cmp.Diff(fmt.Sprintf("%+v", o), fmt.Sprintf("%+v", *m)); diff != "" {
			t.Errorf("%s %s: %s", m.Provider, m.InstanceType, diff)
		}
	}
	if to.terms != 1 || to.bands != 1 || to.covers != 1 {
		t.Errorf("%d terms, %d bands, %d covers", to.terms, to.bands, to.covers)
	}
	// A damaged byte is found, or is one that says nothing, as the time in a header.
	refused := 0
	for i := range 20 {
		damaged := bytes.Clone(packed)
		damaged[(2*i+1)*len(packed)/40] ^= 0xff
		in := options(nil)
		if err := intake.Read("export.zip", bytes.NewReader(damaged), in, readOptions(nil)); err != nil {
			refused++
			continue
		}
		var lines []string
		for _, row := range in.Result().Rows {
			lines = append(lines, row.Provider+priceLine(row))
		}
		if slices.Sort(lines); !slices.Equal(lines, got) {
			t.Errorf("an archive with byte %d damaged reads otherwise", (2*i+1)*len(packed)/40)
		}
	}
	if refused < 15 {
		t.Errorf("%d of 20 damaged archives were refused", refused)
	}
	wantCode(t, "another zip", intake.Read("export.zip", strings.NewReader("PK\x03\x04no archive"), options(nil), readOptions(nil)), "intake.encoding")
}

// everything is an intake that counts the rest of an archive.
type everything struct {
	*intake.Intake
	terms, bands, covers int
}

func (e *everything) Term(catalog.Term)                             { e.terms++ }
func (e *everything) Band(provider.Band)                            { e.bands++ }
func (e *everything) Covers(string, string, ...catalog.BillingMode) { e.covers++ }

// Every chip's own name is its name to a reader too: archives name chips so.
func TestChipsByTheirOwnNames(t *testing.T) {
	for _, c := range accelerator.Embedded().All() {
		id, ok := catalog.Identify(accelerator.Embedded(), catalog.Evidence{Name: c.Name})
		if !ok || id.Chip != c {
			t.Errorf("%s is taken for %v", c.Name, id.Chip)
		}
	}
}

// hostile is a file of whatever comes, near enough to a price list to be read.
func hostile(t *rapid.T) string {
	cell := rapid.OneOf(
		rapid.SampledFrom([]string{"", "H100", "A100-80GB", "L4", "None", "8", "1", "0.5", "1/6", "2.5", "-1", "NaN", "1e309", "p5.48xlarge", "x", "USD", "spot", "gpu-hour",
			"2026-01-01", `"a,b"`, `"{'Gpus': [{'Name': 'L4', 'MemoryInfo': {'SizeInMiB': 24576}}]}"`, `"`, `a"b`, "\"two\nlines\"", "tpu-v5p-8", "é", "\x1b[31m"}),
		rapid.StringN(0, 8, 20),
	)
	heads := []string{
		strings.TrimSuffix(skyHead, "\n"), catalog.PriceColumns, "provider,region,zone,instance_type,gpu,count,gpu_label,gpu_mem_mib,price,currency,unit,tier,date",
		"instance_type,gpu,count,on_demand_usd_hour,spot_max,ri_1Standard_noUpfront,spot_avg,price_date", "x,y",
	}
	text := rapid.SampledFrom(heads).Draw(t, "head") + "\n"
	for range rapid.IntRange(0, 12).Draw(t, "rows") {
		text += strings.Join(rapid.SliceOfN(cell, 0, 14).Draw(t, "cells"), ",") + rapid.SampledFrom([]string{"\n", "\r\n", "\n\n"}).Draw(t, "end")
	}
	return text
}

// Whatever a file holds: what was read is kept, merged or rejected, rows that stand pass the checks, and a second reading is the same.
func TestHostileFiles(t *testing.T) {
	known, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) { checkReading(t, hostile(t), known) })
}

func checkReading(t interface {
	Helper()
	Errorf(string, ...any)
}, text string, known *catalog.Catalog) {
	t.Helper()
	read := func() (intake.Result, error) {
		in := options(known)
		err := intake.Read("gcp/vms.csv", strings.NewReader(text), in, readOptions(known))
		return in.Result(), err
	}
	r, err := read()
	if err != nil {
		return
	}
	checkTally(t, r, 0)
	for _, f := range catalog.Verify(catalog.New(r.Machines, slices.Clone(r.Rows), r.Sources), day) {
		if f.Severity == catalog.IsError {
			t.Errorf("what was kept fails: %+v", f)
		}
	}
	for _, x := range r.Rejections {
		if x.Kind == "" || x.At.Line < 2 || x.At.File == "" {
			t.Errorf("rejected without a reason or place: %+v", x)
		}
	}
	again, err := read()
	if err != nil || again.Tally != r.Tally || fmt.Sprint(lines(again)) != fmt.Sprint(lines(r)) {
		t.Errorf("read again: %v %+v, not %+v", err, again.Tally, r.Tally)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(skyHead + `x,H200,2,32,64,"{'Gpus': [{'Name': 'H200', 'Count': 2, 'MemoryInfo': {'SizeInMiB': 287542}}]}",5.18,0.00,"France, FR, EU",V1`)
	f.Add(skyHead + "x,V100-32GB,2.0,8,64,V100-32GB,4.9,,us,V1,V2\r\n\"")
	f.Add("InstanceType,AcceleratorName,AcceleratorCount,Price,Region\nx,A100,1e300,1e9,\n,tpu-v4-1e5,1,1,r")
	f.Add(catalog.PriceColumns + "\nr,,a2-highgpu-1g,on-demand,4,USD,2026-01-01,list,listed,a;b\n")
	f.Add("provider,sku_or_gpu,price,unit,tier,date\ngcp us,\"a,\nb\",1,gpu-hour,spot,2026-01\n")
	f.Add("gpu,count,instance_type,on_demand_usd_hour_20250528\nA10,1/6,x,1\n")
	f.Add("PK\x03\x04")
	known, err := catalog.Embedded()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) { checkReading(t, text, known) })
}

// The documented examples are what the reader takes.
func TestDocumentedExamples(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "formats", "import.md"))
	if err != nil {
		t.Fatal(err)
	}
	known, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "```csv\n")[1:]
	if len(blocks) < 3 {
		t.Fatalf("%d examples", len(blocks))
	}
	for _, b := range blocks {
		b, _, _ = strings.Cut(b, "```")
		in := options(known)
		if err := intake.Read("aws/prices.csv", strings.NewReader(b), in, readOptions(known)); err != nil {
			t.Errorf("%v\n%s", err, b)
			continue
		}
		if r := in.Result(); r.Tally.Rejected > 0 || r.Tally.Kept == 0 || len(r.Faults) > 0 {
			t.Errorf("%+v %+v %+v\n%s", r.Tally, r.Rejections, r.Faults, b)
		}
	}
}
