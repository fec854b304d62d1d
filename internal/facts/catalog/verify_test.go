package catalog_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

func TestVerifyFindsNothingInAGoodCatalog(t *testing.T) {
	m := aMachine(t)
	c := catalogOf(
		catalog.Row{Machine: &m, Region: "east", Price: aPrice(catalog.OnDemand, "24")},
		catalog.Row{Machine: &m, Region: "east", Price: aPrice(catalog.Spot, "9")},
		catalog.Row{Machine: &m, Region: "east", Price: aPrice(catalog.Reserved1Y, "18")},
	)
	if f := catalog.Verify(c, today); len(f) > 0 {
		t.Errorf("%+v", f)
	}
}

// One planted fault a kind; each must be found alone.
func TestVerifyFindsPlantedFaults(t *testing.T) {
	type rows = []catalog.Row
	priced := func(m *catalog.Machine, ps ...catalog.Price) (rs rows) {
		for _, p := range ps {
			rs = append(rs, catalog.Row{Machine: m, Region: "east", Price: p})
		}
		return rs
	}
	in := func(p catalog.Price, change func(*catalog.Price)) catalog.Price { change(&p); return p }
	onDemand := func(s string) catalog.Price { return aPrice(catalog.OnDemand, s) }
	for _, w := range []struct {
		name     string
		kind     catalog.FaultKind
		severity catalog.Severity
		args     map[string]any
		rows     func(m *catalog.Machine) rows
	}{
		{"no model", catalog.BadIdentity, catalog.IsError, map[string]any{"Missing": "model"}, func(m *catalog.Machine) rows {
			m.Accelerator = nil
			return priced(m, onDemand("24"))
		}},
		{"no memory", catalog.BadIdentity, catalog.IsError, map[string]any{"Missing": "memory"}, func(m *catalog.Machine) rows {
			a := *m.Accelerator
			a.NominalGB = unit.None[float64]()
			m.Accelerator = &a
			return priced(m, onDemand("24"))
		}},
		{"monthly as hourly", catalog.BadUnits, catalog.IsError, map[string]any{"Looks": "monthly"}, func(m *catalog.Machine) rows { return priced(m, onDemand("17520")) }},
		{"cents", catalog.BadUnits, catalog.IsError, map[string]any{"Looks": "cents"}, func(m *catalog.Machine) rows { return priced(m, onDemand("2392")) }},
		{"divided by 730 again", catalog.BadUnits, catalog.IsError, map[string]any{"Looks": "divided_by_730"}, func(m *catalog.Machine) rows { return priced(m, onDemand("0.0329")) }},
		{"zero", catalog.ZeroPrice, catalog.IsError, nil, func(m *catalog.Machine) rows { return priced(m, onDemand("0")) }},
		{"currency", catalog.BadCurrency, catalog.IsError, map[string]any{"Currency": "XYZ"}, func(m *catalog.Machine) rows {
			return priced(m, in(onDemand("24"), func(p *catalog.Price) { p.Hourly = money.PerHour(24e9, "XYZ") }))
		}},
		{"source", catalog.BadSource, catalog.IsError, nil, func(m *catalog.Machine) rows {
			return priced(m, in(onDemand("24"), func(p *catalog.Price) { p.Source = "rumour" }))
		}},
		{"machine's source", catalog.BadSource, catalog.IsError, nil, func(m *catalog.Machine) rows { m.Source = ""; return priced(m, onDemand("24")) }},
		{"twice", catalog.Duplicate, catalog.IsError, nil, func(m *catalog.Machine) rows { return priced(m, onDemand("24"), onDemand("25")) }},
		{"spot above", catalog.SpotNotBelow, catalog.IsError, nil, func(m *catalog.Machine) rows { return priced(m, onDemand("24"), aPrice(catalog.Spot, "24")) }},
		{"spot a tenth", catalog.SpotTenth, catalog.IsFlag, nil, func(m *catalog.Machine) rows { return priced(m, onDemand("24"), aPrice(catalog.Spot, "2.4")) }},
		{"spot below a tenth", catalog.SpotTenth, catalog.IsFlag, nil, func(m *catalog.Machine) rows {
			return priced(m, onDemand("24"), aPrice(catalog.Spot, "2.16"))
		}},
		{"reserved above", catalog.ReservedAbove, catalog.IsError, nil, func(m *catalog.Machine) rows {
			return priced(m, onDemand("24"), aPrice(catalog.Reserved3Y, "30"))
		}},
		{"stale", catalog.Stale, catalog.IsFlag, nil, func(m *catalog.Machine) rows {
			return priced(m, in(onDemand("24"), func(p *catalog.Price) { p.AsOf = "2025-11-29" }))
		}},
		{"topology", catalog.LooseTopology, catalog.IsFlag, nil, func(m *catalog.Machine) rows { m.TopologyKnown = false; return priced(m, onDemand("24")) }},
		{"no chips", catalog.PartAlone, catalog.IsError, nil, func(m *catalog.Machine) rows { m.Count = 0; return priced(m, onDemand("24")) }},
		{"falling price", catalog.FallingPrice, catalog.IsFlag, nil, func(m *catalog.Machine) rows { return append(priced(m, onDemand("12")), oneChip(m, "3")...) }},
		{"same price", catalog.SamePrice, catalog.IsFlag, nil, func(m *catalog.Machine) rows { return append(priced(m, onDemand("3")), oneChip(m, "3")...) }},
	} {
		t.Run(w.name, func(t *testing.T) {
			m := aMachine(t)
			faults := catalog.Verify(catalogOf(w.rows(&m)...), today)
			if diff := cmp.Diff([]catalog.FaultKind{w.kind}, kinds(faults)); diff != "" {
				t.Fatal(diff)
			}
			f := faults[0]
			if f.Severity != w.severity || f.Provider != "acme" {
				t.Errorf("%+v", f)
			}
			for k, v := range w.args {
				if f.Args[k] != v {
					t.Errorf("%s is %v, want %v", k, f.Args[k], v)
				}
			}
		})
	}
}

// A provider may sell a chip in two series, one at a discount. Neither price is a slip, whichever the order.
func TestTwoSeriesAreNoFault(t *testing.T) {
	m := aMachine(t)
	dear, cheap := m, m
	dear.InstanceType, dear.Count, dear.VCPU = "t1-one", 1, unit.Some(24.0)
	cheap.InstanceType, cheap.Count, cheap.VCPU = "t1-le-one", 1, unit.Some(24.0)
	m.InstanceType = "t1-le-eight"
	c := catalogOf(
		catalog.Row{Machine: &cheap, Region: "east", Price: aPrice(catalog.OnDemand, "1.2")},
		catalog.Row{Machine: &dear, Region: "east", Price: aPrice(catalog.OnDemand, "3")},
		catalog.Row{Machine: &m, Region: "east", Price: aPrice(catalog.OnDemand, "9.6")},
	)
	for _, f := range catalog.Verify(c, today) {
		if f.Kind == catalog.FallingPrice || f.Kind == catalog.SamePrice {
			t.Errorf("%+v", f)
		}
	}
}

// Only warnings may stand in the catalog.
func TestFaultKinds(t *testing.T) {
	for _, k := range []catalog.FaultKind{catalog.BadIdentity, catalog.BadMemory, catalog.PartAlone, catalog.BadRow, catalog.CountMissing} {
		if k.Severity() != catalog.IsError {
			t.Errorf("%s is only a warning", k)
		}
	}
}

// oneChip is a machine like m with one chip and an eighth of the host.
func oneChip(m *catalog.Machine, price string) []catalog.Row {
	s := *m
	s.InstanceType, s.Count, s.VCPU, s.Topology = "h100x1", 1, unit.Some(24.0), catalog.Single
	return []catalog.Row{{Machine: &s, Region: "east", Price: aPrice(catalog.OnDemand, price)}}
}

// Alibaba's and seeweb's prices are judged in their own scale, and a share of a chip by the whole one.
func TestVerifyKnowsCurrenciesAndShares(t *testing.T) {
	m := aMachine(t)
	m.Accelerator, m.Count = chip(t, "V100-SXM2-16GB"), 1
	cny := aPrice(catalog.OnDemand, "0")
	cny.Hourly = money.PerHour(26_460_000_000, money.CNY)
	slice := aMachine(t)
	slice.InstanceType, slice.Accelerator, slice.Count, slice.Topology = "a10-sixth", chip(t, "A10"), 1.0/6, catalog.Single
	c := catalogOf(
		catalog.Row{Machine: &m, Region: "cn", Price: cny},
		catalog.Row{Machine: &slice, Region: "eastus", Price: aPrice(catalog.OnDemand, "0.454")},
	)
	if f := catalog.Verify(c, today); len(f) > 0 {
		t.Errorf("%+v", f)
	}
}

// The faults of a catalog do not depend on the order of its rows.
func TestVerifyIgnoresOrder(t *testing.T) {
	m := aMachine(t)
	rows := append(oneChip(&m, "3"),
		catalog.Row{Machine: &m, Region: "east", Price: aPrice(catalog.OnDemand, "12")},
		catalog.Row{Machine: &m, Region: "west", Price: aPrice(catalog.Spot, "1")})
	want := catalog.Verify(catalogOf(slices.Clone(rows)...), today)
	slices.Reverse(rows)
	if diff := cmp.Diff(want, catalog.Verify(catalogOf(rows...), today)); diff != "" || len(want) == 0 {
		t.Errorf("%v\n%s", want, diff)
	}
}

func TestInferTopology(t *testing.T) {
	for _, w := range []struct {
		chip  string
		count float64
		want  catalog.Topology
	}{
		{"H100-SXM-80GB", 8, catalog.NVSwitch}, {"H100-SXM-80GB", 1, catalog.Single}, {"V100-SXM2-16GB", 8, catalog.NVLinkMesh},
		{"H100-PCIe-80GB", 8, catalog.PCIeOnly}, {"H100-NVL-94GB", 2, catalog.PCIeOnly}, {"L4", 4, catalog.PCIeOnly},
		{"MI300X", 8, catalog.XGMI}, {"GB200", 4, catalog.NVSwitch}, {"Trainium1", 16, catalog.NeuronLink}, {"TPU-v5e", 8, catalog.ICI},
		{"Inferentia2", 6, catalog.NeuronLink},
	} {
		a, ok := accelerator.Embedded().Get(w.chip)
		if !ok {
			t.Fatal(w.chip)
		}
		if got := catalog.InferTopology(a, w.count); got != w.want {
			t.Errorf("%g x %s: %s, want %s", w.count, w.chip, got, w.want)
		}
	}
}
