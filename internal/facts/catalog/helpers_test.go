package catalog_test

import (
	"slices"
	"testing"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// today is the day the tests judge ages from.
const today = "2026-11-30"

func embedded(t testing.TB) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// chip gives an accelerator by its canonical name.
func chip(t testing.TB, name string) *accelerator.Accelerator {
	t.Helper()
	a, ok := accelerator.Embedded().Get(name)
	if !ok {
		t.Fatalf("no accelerator %s", name)
	}
	return a
}

// offer finds one offer of the embedded catalog.
func offer(t testing.TB, c *catalog.Catalog, provider, instanceType, region string) *catalog.Offer {
	t.Helper()
	for _, o := range c.Find(provider + "/" + instanceType) {
		if o.Region == region && o.Zone == "" {
			return o
		}
	}
	t.Fatalf("no offer %s %s in %q", provider, instanceType, region)
	return nil
}

// aMachine is a plausible machine with every field set: eight H100 SXM.
func aMachine(t testing.TB) catalog.Machine {
	t.Helper()
	return catalog.Machine{
		Provider: "acme", InstanceType: "h100x8", Accelerator: chip(t, "H100-SXM-80GB"), Count: 8,
		VCPU: unit.Some(192.0), RAM: unit.Some(2048 * unit.GiB), NVMe: unit.Some(30400 * unit.GB),
		Topology: catalog.NVSwitch, TopologyKnown: true, NetworkGbps: unit.Some(3200.0), Network: catalog.InfiniBand,
		BareMetal: unit.Some(false), MIG: unit.Some(true), Confidential: unit.Some(false), GPUDirect: unit.Some(true),
		Source: "src", AsOf: today, Flags: []catalog.Flag{catalog.MIGRecalled},
	}
}

// aPrice is a plausible price of aMachine.
func aPrice(mode catalog.BillingMode, hourly string) catalog.Price {
	r, err := money.ParseRate(hourly, money.USD)
	if err != nil {
		panic(err)
	}
	return catalog.Price{Mode: mode, Hourly: r, AsOf: today, Source: "src", Confidence: catalog.Listed}
}

// catalogOf makes a catalog of rows with the one source "src".
func catalogOf(rows ...catalog.Row) *catalog.Catalog {
	var machines []*catalog.Machine
	for _, r := range rows {
		if !slices.Contains(machines, r.Machine) {
			machines = append(machines, r.Machine)
		}
	}
	return catalog.New(machines, rows, []catalog.Source{{ID: "src", Title: "a source", Reference: "here", Date: today, Licence: "none"}})
}

func kinds(faults []catalog.Fault) []catalog.FaultKind {
	var ks []catalog.FaultKind
	for _, f := range faults {
		if !slices.Contains(ks, f.Kind) {
			ks = append(ks, f.Kind)
		}
	}
	slices.Sort(ks)
	return ks
}
