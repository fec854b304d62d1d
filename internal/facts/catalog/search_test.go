package catalog_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// narrowings each set one field of a filter.
var narrowings = []func(*rapid.T, *catalog.Filter){
	func(t *rapid.T, f *catalog.Filter) {
		text := rapid.SampledFrom([]string{"H100", "A100", "H100-SXM", "L4", "T4", "MI300X"}).Draw(t, "gpu")
		f.Selectors = []accelerator.Selector{{Chips: accelerator.Embedded().Resolve(text), MinCount: rapid.SampledFrom([]float64{0, 1, 8}).Draw(t, "count")}}
	},
	func(t *rapid.T, f *catalog.Filter) {
		f.Providers = rapid.SliceOfN(rapid.SampledFrom([]string{"aws", "gcp", "oci", "vast", "tencent"}), 1, 3).Draw(t, "providers")
	},
	func(t *rapid.T, f *catalog.Filter) {
		f.Regions = rapid.SliceOfN(rapid.SampledFrom([]string{"us-east-1", "eastus", "US", "us-central1", ""}), 1, 3).Draw(t, "regions")
	},
	func(t *rapid.T, f *catalog.Filter) {
		f.Modes = rapid.SliceOfN(rapid.SampledFrom(catalog.Modes()), 1, 3).Draw(t, "modes")
	},
	func(t *rapid.T, f *catalog.Filter) {
		f.MaxHourly = unit.Some(money.PerHour(rapid.Int64Range(1, 200).Draw(t, "dollars")*1e9, money.USD))
	},
	func(t *rapid.T, f *catalog.Filter) {
		f.Since = rapid.SampledFrom([]string{"2024-01-01", "2025-06-01", "2026-06-01", "2027-01-01"}).Draw(t, "since")
	},
	func(t *rapid.T, f *catalog.Filter) {
		f.MinRAM = unit.Bytes(rapid.Int64Range(1, 2000).Draw(t, "gib")) * unit.GiB
	},
	func(t *rapid.T, f *catalog.Filter) { f.MinVCPU = rapid.Float64Range(1, 200).Draw(t, "vcpu") },
	func(t *rapid.T, f *catalog.Filter) { f.MinGbps = rapid.Float64Range(1, 3200).Draw(t, "gbps") },
	func(t *rapid.T, f *catalog.Filter) { f.RDMA = true },
	func(t *rapid.T, f *catalog.Filter) { f.BareMetal = true },
	func(t *rapid.T, f *catalog.Filter) {
		f.Topologies = []catalog.Topology{rapid.SampledFrom([]catalog.Topology{catalog.Single, catalog.NVSwitch, catalog.PCIeOnly}).Draw(t, "topology")}
	},
}

// Case 7: adding a filter never gains a row, so relaxing one never loses any; the rows are those that match, in
// order; a filter that every row passes changes nothing.
func TestSearchIsMonotone(t *testing.T) {
	c := embedded(t)
	rapid.Check(t, func(t *rapid.T) {
		var f catalog.Filter
		rows, removed := c.Search(f)
		if len(rows) != len(c.Offers) || len(removed) != 0 {
			t.Fatalf("the empty filter keeps %d of %d", len(rows), len(c.Offers))
		}
		steps := rapid.SliceOfNDistinct(rapid.IntRange(0, len(narrowings)-1), 1, 5, rapid.ID[int]).Draw(t, "steps")
		for _, i := range steps {
			narrowings[i](t, &f)
			next, removed := c.Search(f)
			if !subsequence(next, rows) {
				t.Fatalf("adding a filter gained a row or changed the order")
			}
			if len(next) < len(c.Offers) && len(removed) == 0 {
				t.Fatalf("rows are gone and no filter says so")
			}
			for _, n := range removed {
				if n <= 0 || n > len(c.Offers)-len(next) {
					t.Fatalf("a filter removed %d of %d", n, len(c.Offers)-len(next))
				}
			}
			rows = next
		}
		for _, o := range c.Offers {
			if f.Match(o) != slices.Contains(rows, o) {
				t.Fatalf("%s in %s: Match and Search disagree", o.InstanceType, o.Region)
			}
			if len(rows) > 200 {
				break // the check is quadratic
			}
		}
	})
}

func subsequence(part, whole []*catalog.Offer) bool {
	i := 0
	for _, o := range whole {
		if i < len(part) && part[i] == o {
			i++
		}
	}
	return i == len(part)
}

// Case 8: a grouped count is the fold of the flat list, whatever it is grouped by.
func TestGroupsFoldToTheFlatList(t *testing.T) {
	c := embedded(t)
	h100 := []accelerator.Selector{{Chips: accelerator.Embedded().Resolve("H100"), MinCount: 1, MaxCount: 8}}
	flat, _ := c.Search(catalog.Filter{Selectors: h100})
	sum := 0
	for _, a := range h100[0].Chips {
		one := []accelerator.Selector{{Chips: []*accelerator.Accelerator{a}, MinCount: 1, MaxCount: 8}}
		rows, _ := c.Search(catalog.Filter{Selectors: one})
		sum += len(rows)
	}
	if sum != len(flat) || sum == 0 {
		t.Errorf("forms sum to %d, the list has %d", sum, len(flat))
	}
}

// A price must meet all conditions on prices by itself.
func TestPriceConditionsMeetInOnePrice(t *testing.T) {
	m := aMachine(t)
	c := catalogOf(
		catalog.Row{Machine: &m, Region: "east", Price: aPrice(catalog.OnDemand, "24")},
		catalog.Row{Machine: &m, Region: "east", Price: aPrice(catalog.Spot, "8")},
	)
	ten := unit.Some(money.PerHour(10e9, money.USD))
	for _, w := range []struct {
		f       catalog.Filter
		rows    int
		removed map[string]int
	}{
		{catalog.Filter{Modes: []catalog.BillingMode{catalog.OnDemand}}, 1, nil},
		{catalog.Filter{MaxHourly: ten}, 1, nil},
		{catalog.Filter{Modes: []catalog.BillingMode{catalog.OnDemand}, MaxHourly: ten}, 0, map[string]int{"max_hourly": 1}},
		{catalog.Filter{Modes: []catalog.BillingMode{catalog.Reserved1Y}, MaxHourly: ten}, 0, map[string]int{"billing": 1}},
		{catalog.Filter{MaxHourly: unit.Some(money.PerHour(100e9, money.EUR))}, 0, map[string]int{"max_hourly": 1}},
	} {
		rows, removed := c.Search(w.f)
		if len(rows) != w.rows || len(removed) != len(w.removed) {
			t.Errorf("%+v: %d rows, removed %v", w.f, len(rows), removed)
		}
		for k, n := range w.removed {
			if removed[k] != n {
				t.Errorf("%+v: removed %v", w.f, removed)
			}
		}
	}
}

// An offer of unknown price, memory or network never passes a bound on it.
func TestUnknownNeverPasses(t *testing.T) {
	m := aMachine(t)
	m.RAM, m.NetworkGbps, m.BareMetal = unit.None[unit.Bytes](), unit.None[float64](), unit.None[bool]()
	c := catalogOf(catalog.Row{Machine: &m, Region: "east"})
	for name, f := range map[string]catalog.Filter{
		"ram": {MinRAM: 1}, "network": {MinGbps: 1}, "bare_metal": {BareMetal: true},
		"max_hourly": {MaxHourly: unit.Some(money.PerHour(1e15, money.USD))}, "billing": {Modes: catalog.Modes()}, "price_age": {Since: "2000-01-01"},
	} {
		if rows, removed := c.Search(f); len(rows) != 0 || removed[name] != 1 {
			t.Errorf("%s: %d rows, removed %v", name, len(rows), removed)
		}
	}
}
