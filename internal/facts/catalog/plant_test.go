package catalog_test

import (
	"slices"
	"testing"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// rowsOf copies the machines and prices of a catalog into rows that a test may spoil.
func rowsOf(c *catalog.Catalog) ([]*catalog.Machine, []catalog.Row) {
	copies := map[*catalog.Machine]*catalog.Machine{}
	machines := make([]*catalog.Machine, 0, len(c.Machines))
	for _, m := range c.Machines {
		own := *m
		copies[m] = &own
		machines = append(machines, &own)
	}
	var rows []catalog.Row
	for _, o := range c.Offers {
		for _, p := range o.Prices {
			rows = append(rows, catalog.Row{Machine: copies[o.Machine], Region: o.Region, Zone: o.Zone, Price: p})
		}
	}
	return machines, rows
}

func times(r money.Rate, f float64) money.Rate {
	return money.PerHour(int64(float64(r.Nanos())*f), r.Currency())
}

// Each fault is planted once in a copy of the whole embedded catalog. It must be found at the row it was planted in,
// and no other row may become an error by it.
func TestPlantedInTheEmbeddedCatalog(t *testing.T) {
	const provider, instance, region = "azure", "Standard_ND96isr_H100_v5", "eastus"
	for _, w := range []struct {
		name  string
		kind  catalog.FaultKind
		mode  catalog.BillingMode // of the row that is spoilt
		spoil func(rows *[]catalog.Row, at int)
	}{
		{"no model", catalog.BadIdentity, "", func(rows *[]catalog.Row, at int) { (*rows)[at].Accelerator = nil }},
		{"no memory", catalog.BadIdentity, "", func(rows *[]catalog.Row, at int) {
			chip := *(*rows)[at].Accelerator
			chip.NominalGB = unit.None[float64]()
			(*rows)[at].Accelerator = &chip
		}},
		{"no chips", catalog.PartAlone, "", func(rows *[]catalog.Row, at int) { (*rows)[at].Count = 0 }},
		{"monthly", catalog.BadUnits, catalog.OnDemand, scaled(730)},
		{"cents", catalog.BadUnits, catalog.OnDemand, scaled(100)},
		{"divided twice", catalog.BadUnits, catalog.OnDemand, scaled(1.0 / 730)},
		{"dollars as cents", catalog.BadUnits, catalog.OnDemand, scaled(1.0 / 100)},
		{"zero", catalog.ZeroPrice, catalog.OnDemand, scaled(0)},
		{"currency", catalog.BadCurrency, catalog.Spot, func(rows *[]catalog.Row, at int) {
			(*rows)[at].Price.Hourly = money.PerHour((*rows)[at].Price.Hourly.Nanos(), "XYZ")
		}},
		{"source", catalog.BadSource, catalog.Spot, func(rows *[]catalog.Row, at int) { (*rows)[at].Price.Source = "rumour" }},
		{"twice", catalog.Duplicate, catalog.OnDemand, func(rows *[]catalog.Row, at int) { *rows = append(*rows, (*rows)[at]) }},
		{"spot above", catalog.SpotNotBelow, catalog.Spot, scaled(6)},
		{"spot a tenth", catalog.SpotTenth, catalog.Spot, func(rows *[]catalog.Row, at int) {
			(*rows)[at].Price.Hourly = money.PerHour(9_832_000_000, money.USD)
		}},
		{"reserved above", catalog.ReservedAbove, catalog.Reserved1Y, scaled(2)},
		{"stale", catalog.Stale, catalog.OnDemand, func(rows *[]catalog.Row, at int) { (*rows)[at].Price.AsOf = "2020-01-01" }},
		{"topology", catalog.LooseTopology, "", func(rows *[]catalog.Row, at int) { (*rows)[at].TopologyKnown = false }},
		{"falling price", catalog.FallingPrice, catalog.OnDemand, withSmaller(0.5, 0.55)},
		{"same price", catalog.SamePrice, catalog.OnDemand, withSmaller(0.6, 0.6)},
	} {
		t.Run(w.name, func(t *testing.T) {
			c := embedded(t)
			machines, rows := rowsOf(c)
			at := slices.IndexFunc(rows, func(r catalog.Row) bool {
				return r.Provider == provider && r.InstanceType == instance && r.Region == region && (w.mode == "" || r.Price.Mode == w.mode)
			})
			w.spoil(&rows, at)
			found := false
			for _, f := range catalog.Verify(catalog.New(machines, rows, slices.Clone(c.Sources)), today) {
				here := f.Provider == provider && f.InstanceType == instance && (f.Region == "" || f.Region == region)
				found = found || here && f.Kind == w.kind && (w.mode == "" || f.Mode == w.mode)
				if !here && f.Severity == catalog.IsError {
					t.Errorf("elsewhere: %+v", f)
				}
			}
			if !found {
				t.Errorf("%s not found", w.kind)
			}
		})
	}
}

func scaled(f float64) func(*[]catalog.Row, int) {
	return func(rows *[]catalog.Row, at int) {
		(*rows)[at].Price.Hourly = times((*rows)[at].Price.Hourly, f)
	}
}

// withSmaller adds a machine of half the chips and host beside the row, both at shares of its price.
func withSmaller(small, big float64) func(*[]catalog.Row, int) {
	return func(rows *[]catalog.Row, at int) {
		row := (*rows)[at]
		half := *row.Machine
		half.InstanceType, half.Count, half.VCPU = "Standard_half", half.Count/2, unit.Some(half.VCPU.Or(0)/2)
		full := row.Price.Hourly
		(*rows)[at].Price.Hourly = times(full, big)
		row.Machine, row.Price.Hourly = &half, times(full, small)
		*rows = append(*rows, row)
	}
}

// Slips of unit that catalogs have shipped with (monthly, cents, divided by 730 again) must be found wherever they happen.
func TestUnitSlipsAreFoundAnywhere(t *testing.T) {
	c := embedded(t)
	for _, w := range []struct {
		name  string
		by    float64
		least float64 // share of all on-demand prices
	}{{"monthly", 730, 1}, {"divided by 730", 1.0 / 730, 0.999}, {"cents", 100, 0.995}, {"dollars as cents", 1.0 / 100, 0.75}} {
		_, rows := rowsOf(c)
		var spoilt []catalog.Row
		for _, r := range rows {
			if r.Price.Mode == catalog.OnDemand {
				r.Price.Hourly = times(r.Price.Hourly, w.by)
				spoilt = append(spoilt, r)
			}
		}
		found := 0
		for _, f := range catalog.Verify(catalog.New(nil, spoilt, slices.Clone(c.Sources)), today) {
			if f.Kind == catalog.BadUnits {
				found++
			}
		}
		if share := float64(found) / float64(len(spoilt)); share < w.least {
			t.Errorf("%s: %d of %d found", w.name, found, len(spoilt))
		} else {
			t.Logf("%s: %d of %d found", w.name, found, len(spoilt))
		}
	}
}
