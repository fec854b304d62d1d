package intake_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/catalog/intake"
)

const day = "2026-06-01"

func open(t testing.TB) *intake.Intake {
	t.Helper()
	known, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return options(known)
}

func options(known *catalog.Catalog) *intake.Intake {
	return intake.New(intake.Options{
		Source: catalog.Source{ID: "list", Title: "A list", Reference: "here", Date: day, Licence: "not stated"}, AsOf: day,
		Confidence: catalog.Listed, Chips: accelerator.Embedded(), Known: known,
	})
}

func usd(mode catalog.BillingMode, hourly float64) catalog.Price {
	return catalog.Price{Mode: mode, Hourly: money.PerHour(int64(hourly*1e9), money.USD)}
}

// lines are the prices of a result, sorted, with their flags.
func lines(r intake.Result) []string {
	var out []string
	for _, row := range r.Rows {
		line := fmt.Sprintf("%s %s %s/%s %s x %s", row.Provider, row.InstanceType, row.Region, row.Zone, catalog.FormatCount(row.Count), row.Accelerator.Name)
		if row.Price.Mode != "" {
			line += fmt.Sprintf(" %s %s %s %v", row.Price.Mode, row.Price.Hourly, row.Price.AsOf, row.Price.Flags)
		}
		out = append(out, line)
	}
	slices.Sort(out)
	return out
}

func checkTally(t interface {
	Helper()
	Errorf(string, ...any)
}, r intake.Result, passed int) {
	t.Helper()
	if r.Tally.Read != r.Tally.Kept+r.Tally.Merged+r.Tally.Rejected || r.Tally.Rejected != len(r.Rejections)+passed {
		t.Errorf("%+v with %d rejections and %d passed", r.Tally, len(r.Rejections), passed)
	}
}

// Whatever rows come, in whatever order: the parts add up, the offers are the same, and asking twice changes nothing.
func TestRowsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pick := func(label string, of ...string) string { return rapid.SampledFrom(of).Draw(t, label) }
		var rows []intake.Listing
		passed := 0
		for i := range rapid.IntRange(0, 30).Draw(t, "rows") {
			l := intake.Listing{
				Provider: pick("provider", "acme", "aws", "Acme Inc", ""), InstanceType: pick("type", "a", "b", "p5.48xlarge", "", "x\ny"),
				Region: pick("region", "r1", "r2", ""), Zone: pick("zone", "", "z1", "z2"), Accelerator: pick("chip", "H100", "H100-SXM", "A100", "Nonesuch", ""),
				Count: rapid.SampledFrom([]float64{0, 1, 2, 8, 0.333, 1.5}).Draw(t, "count"), MiB: rapid.SampledFrom([]float64{0, 81920, 655360, 1000}).Draw(t, "MiB"),
				At: intake.Place{File: "f.csv", Line: i + 2},
			}
			for _, mode := range []catalog.BillingMode{catalog.OnDemand, catalog.Spot, "barter"} {
				if rapid.Bool().Draw(t, "priced") {
					l.Prices = append(l.Prices, usd(mode, rapid.SampledFrom([]float64{0, 0.4, 4, 12, 40, 4000}).Draw(t, "price")))
				}
			}
			rows = append(rows, l)
		}
		known, err := catalog.Embedded()
		if err != nil {
			t.Fatal(err)
		}
		take := func(rows []intake.Listing) intake.Result {
			in := options(known)
			for _, l := range rows {
				in.Add(l)
			}
			in.Pass(passed)
			first := in.Result()
			if diff := cmp.Diff(lines(first), lines(in.Result())); diff != "" {
				t.Fatalf("asked twice: %s", diff)
			}
			return first
		}
		passed = rapid.IntRange(0, 5).Draw(t, "passed")
		r := take(rows)
		checkTally(t, r, passed)
		if r.Tally.Read != len(rows)+passed {
			t.Fatalf("read %d of %d", r.Tally.Read, len(rows)+passed)
		}
		for _, f := range catalog.Verify(catalog.New(r.Machines, slices.Clone(r.Rows), r.Sources), day) {
			if f.Severity == catalog.IsError {
				t.Fatalf("what was kept fails: %+v", f)
			}
		}
		for _, s := range r.Rejections {
			if s.Kind == "" || s.At.Line == 0 {
				t.Fatalf("%+v", s)
			}
		}
	})
}

// Where rows agree on what each machine is, their order does not show.
func TestOrderDoesNotShow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		chips := map[string]string{"a": "H100-SXM", "b": "A100-80GB", "c": "L40S"}
		var rows []intake.Listing
		for i := range rapid.IntRange(1, 25).Draw(t, "rows") {
			name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "type")
			rows = append(rows, intake.Listing{
				Provider: "acme", InstanceType: name, Accelerator: chips[name], Count: 8, Region: rapid.SampledFrom([]string{"r1", "r2"}).Draw(t, "region"),
				Zone: rapid.SampledFrom([]string{"z1", "z2"}).Draw(t, "zone"), VCPU: unit.Some(rapid.SampledFrom([]float64{64, 96}).Draw(t, "cpu")), At: intake.Place{File: "f", Line: i + 1},
				Prices: []catalog.Price{usd(catalog.OnDemand, rapid.SampledFrom([]float64{12, 16, 20}).Draw(t, "price"))},
			})
		}
		take := func(rows []intake.Listing) []string {
			in := options(nil)
			for _, l := range rows {
				in.Add(l)
			}
			r := in.Result()
			checkTally(t, r, 0)
			return lines(r)
		}
		if diff := cmp.Diff(take(rows), take(rapid.Permutation(rows).Draw(t, "order"))); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestIdentity(t *testing.T) {
	for name, c := range map[string]struct {
		l     intake.Listing
		chip  string
		count string
		flags []catalog.Flag
	}{
		"stated in full":                          {intake.Listing{Provider: "acme", InstanceType: "x", Accelerator: "H100 SXM5", Count: 8, MiB: 81920}, "H100-SXM-80GB", "8", nil},
		"the form factor is assumed":              {intake.Listing{Provider: "acme", InstanceType: "x", Accelerator: "H100", Count: 8, MiB: 81920}, "H100-PCIe-80GB", "8", []catalog.Flag{catalog.FormFactorAssumed}},
		"a known machine settles it":              {intake.Listing{Provider: "aws", InstanceType: "p5.48xlarge", Accelerator: "H100", Count: 8}, "H100-SXM-80GB", "8", nil},
		"a known machine, no chip named":          {intake.Listing{Provider: "aws", InstanceType: "p5.48xlarge"}, "H100-SXM-80GB", "8", nil},
		"a new size of a known family":            {intake.Listing{Provider: "aws", InstanceType: "p5.96xlarge", Count: 16}, "H100-SXM-80GB", "16", nil},
		"a share of a known family's":             {intake.Listing{Provider: "tencent", InstanceType: "GNV4v.XLARGE12", Count: 0.25}, "A10", "1/4", nil},
		"a family and a remark":                   {intake.Listing{Provider: "tencent", InstanceType: "HCCPNV5.48XLARGE2048", Count: 8, Hints: []string{"NVIDIA H800"}}, "H800-SXM-80GB", "8", []catalog.Flag{catalog.FormFactorAssumed}},
		"not a longer name's family":              {intake.Listing{Provider: "tencent", InstanceType: "HCCPNV5x.48XLARGE2048", Count: 8, Hints: []string{"NVIDIA H20"}}, "H20-96GB", "8", []catalog.Flag{catalog.AcceleratorInferred}},
		"memory of a name with several":           {intake.Listing{Provider: "huawei", InstanceType: "p2s.2xlarge.8", Accelerator: "NVIDIA V100", Count: 1, MiB: 32768}, "V100-PCIe-32GB", "1", nil},
		"another chip than the family's":          {intake.Listing{Provider: "azure", InstanceType: "Standard_ND96isr_MI300X_v5", Accelerator: "MI300X", Count: 8}, "MI300X", "8", nil},
		"a share that is stated as one":           {intake.Listing{Provider: "azure", InstanceType: "Standard_NV6ads_A10_v5", Accelerator: "A10", Count: 1}, "A10", "1/6", nil},
		"a share that is rounded":                 {intake.Listing{Provider: "azure", InstanceType: "Standard_NV12ads_A10_v5", Accelerator: "A10", Count: 0.333}, "A10", "1/3", nil},
		"94 GB is the NVL part":                   {intake.Listing{Provider: "acme", InstanceType: "x", Accelerator: "H100", Count: 2, MiB: 96256}, "H100-NVL-94GB", "2", nil},
		"the memory of all, given as that of one": {intake.Listing{Provider: "acme", InstanceType: "x", Accelerator: "A100-80GB SXM4", Count: 8, MiB: 655360}, "A100-SXM-80GB", "8", nil},
		"an NPU": {intake.Listing{Provider: "aws", InstanceType: "inf2.xlarge", Accelerator: "Inferentia2", Count: 1}, "Inferentia2", "1", nil},
	} {
		t.Run(name, func(t *testing.T) {
			in := open(t)
			c.l.Prices = []catalog.Price{usd(catalog.OnDemand, 3*max(1, c.l.Count))}
			in.Add(c.l)
			r := in.Result()
			checkTally(t, r, 0)
			if len(r.Machines) != 1 {
				t.Fatalf("%+v", r.Rejections)
			}
			m := r.Machines[0]
			var doubts []catalog.Flag
			for _, f := range m.Flags {
				if f == catalog.FormFactorAssumed || f == catalog.AcceleratorInferred {
					doubts = append(doubts, f)
				}
			}
			if m.Accelerator.Name != c.chip || catalog.FormatCount(m.Count) != c.count || !slices.Equal(doubts, c.flags) {
				t.Errorf("%s x %s %v, want %s x %s %v", catalog.FormatCount(m.Count), m.Accelerator.Name, doubts, c.count, c.chip, c.flags)
			}
		})
	}
}

func TestRejections(t *testing.T) {
	good := intake.Listing{Provider: "acme", InstanceType: "x", Accelerator: "H100-SXM", Count: 8, Region: "r", Prices: []catalog.Price{usd(catalog.OnDemand, 20)}}
	for name, c := range map[string]struct {
		change func(*intake.Listing)
		want   intake.Kind
	}{
		"no chip of that name": {func(l *intake.Listing) { l.Accelerator = "H900" }, intake.UnknownChip},
		"no chip at all":       {func(l *intake.Listing) { l.Accelerator = "" }, intake.UnknownMachine},
		"no count":             {func(l *intake.Listing) { l.Count = 0 }, intake.Kind(catalog.CountMissing)},
		"memory of no H100":    {func(l *intake.Listing) { l.MiB = 24576 }, intake.Kind(catalog.BadMemory)},
		"the chip alone":       {func(l *intake.Listing) { l.InstanceType = "" }, intake.Kind(catalog.PartAlone)},
		"free":                 {func(l *intake.Listing) { l.Prices[0].Hourly = money.PerHour(0, money.USD) }, intake.Kind(catalog.ZeroPrice)},
		"the price of a month": {func(l *intake.Listing) { l.Prices[0] = usd(catalog.OnDemand, 20*730) }, intake.Kind(catalog.BadUnits)},
		"cents":                {func(l *intake.Listing) { l.Prices[0] = usd(catalog.OnDemand, 2000) }, intake.Kind(catalog.BadUnits)},
		"no provider":          {func(l *intake.Listing) { l.Provider = "" }, intake.Malformed},
		"a path":               {func(l *intake.Listing) { l.Provider = "../etc" }, intake.Malformed},
		"a line break":         {func(l *intake.Listing) { l.Region = "r\nx" }, intake.Malformed},
	} {
		t.Run(name, func(t *testing.T) {
			l := good
			l.Prices = slices.Clone(good.Prices)
			l.At = intake.Place{File: "f.csv", Line: 7}
			c.change(&l)
			in := open(t)
			in.Add(l)
			r := in.Result()
			checkTally(t, r, 0)
			if len(r.Rejections) != 1 || r.Rejections[0].Kind != c.want || r.Rejections[0].At.Line != 7 {
				t.Errorf("%+v, want %s at line 7", r.Rejections, c.want)
			}
			unknown := c.want == intake.UnknownChip || c.want == intake.UnknownMachine
			if (len(r.Unrecognised) > 0) != unknown {
				t.Errorf("not recognised: %+v", r.Unrecognised)
			}
		})
	}
}

// One bad price of several is dropped and told; the row stays.
func TestBadPriceOfAGoodRow(t *testing.T) {
	in := open(t)
	in.Add(intake.Listing{Provider: "acme", InstanceType: "x", Accelerator: "H100-SXM", Count: 8, Region: "r", At: intake.Place{File: "f", Line: 3},
		Prices: []catalog.Price{usd(catalog.OnDemand, 20), usd(catalog.Spot, 25), usd(catalog.Reserved1Y, 0)}})
	r := in.Result()
	checkTally(t, r, 0)
	var kinds []string
	for _, f := range r.Faults {
		kinds = append(kinds, fmt.Sprintf("%s:%d", f.Kind, f.Line))
	}
	if len(r.Rows) != 1 || r.Rows[0].Price.Mode != catalog.OnDemand || !slices.Equal(kinds, []string{"zero_price:3", "spot_not_below:3"}) {
		t.Errorf("%v %v", lines(r), kinds)
	}
}

func TestMerging(t *testing.T) {
	row := func(line int, zone string, prices ...catalog.Price) intake.Listing {
		return intake.Listing{Provider: "acme", InstanceType: "x", Accelerator: "H100-SXM", Count: 8, Region: "r", Zone: zone, Prices: prices, At: intake.Place{File: "f", Line: line}}
	}
	for name, c := range map[string]struct {
		rows         []intake.Listing
		kept, merged int
		want         []string
	}{
		"spot in a row of its own": {[]intake.Listing{row(1, "", usd(catalog.OnDemand, 20)), row(2, "", usd(catalog.Spot, 9))}, 1, 1,
			[]string{"r/ on-demand 20.00", "r/ spot 9.00"}},
		"of two machines of a market the cheaper": {[]intake.Listing{row(1, "", usd(catalog.OnDemand, 20)), row(2, "", usd(catalog.OnDemand, 18))}, 1, 1,
			[]string{"r/ on-demand 18.00"}},
		"zones that do not differ": {[]intake.Listing{row(1, "z1", usd(catalog.OnDemand, 20)), row(2, "z2", usd(catalog.OnDemand, 20)), row(3, "z3", usd(catalog.OnDemand, 20))}, 1, 2,
			[]string{"r/ on-demand 20.00"}},
		"zones that differ": {[]intake.Listing{row(1, "z1", usd(catalog.OnDemand, 20)), row(2, "z2", usd(catalog.OnDemand, 21))}, 2, 0,
			[]string{"r/z1 on-demand 20.00", "r/z2 on-demand 21.00"}},
		"listed without a price": {[]intake.Listing{row(1, "")}, 1, 0, []string{"r/"}},
		"a tenth is doubted":     {[]intake.Listing{row(1, "", usd(catalog.OnDemand, 20), usd(catalog.Spot, 2))}, 1, 0, []string{"r/ on-demand 20.00", "r/ spot 2.00 spot_tenth"}},
	} {
		t.Run(name, func(t *testing.T) {
			in := open(t)
			for _, l := range c.rows {
				in.Add(l)
			}
			r := in.Result()
			checkTally(t, r, 0)
			var got []string
			for _, row := range r.Rows {
				line := row.Region + "/" + row.Zone
				if row.Price.Mode != "" {
					line += " " + string(row.Price.Mode) + " " + row.Price.Hourly.Decimal()
				}
				for _, f := range row.Price.Flags {
					line += " " + string(f)
				}
				got = append(got, line)
			}
			slices.Sort(got)
			if r.Tally.Kept != c.kept || r.Tally.Merged != c.merged || !slices.Equal(got, c.want) {
				t.Errorf("%+v\n%s", r.Tally, strings.Join(got, "\n"))
			}
		})
	}
}
