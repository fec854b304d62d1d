package main

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// builder gathers machines and prices from the sources and merges what they say of the same thing.
type builder struct {
	src      fs.FS
	chips    *accelerator.Table
	machines map[machineKey]*catalog.Machine
	prices   map[priceKey]catalog.Price
	listed   map[placeKey]bool
	report   *report
}

type machineKey struct{ provider, instanceType string }

type placeKey struct {
	machineKey
	region, zone string
}

type priceKey struct {
	placeKey
	mode catalog.BillingMode
}

func newBuilder(src fs.FS, chips *accelerator.Table) *builder {
	return &builder{
		src: src, chips: chips, machines: map[machineKey]*catalog.Machine{}, prices: map[priceKey]catalog.Price{},
		listed: map[placeKey]bool{}, report: newReport(),
	}
}

// machine adds a machine or what m says beyond what is known of it; nil, with an entry in the report, where
// the two disagree on the chips.
func (b *builder) machine(m catalog.Machine) *catalog.Machine {
	k := machineKey{m.Provider, m.InstanceType}
	have := b.machines[k]
	if have == nil {
		b.machines[k] = &m
		return &m
	}
	if have.Accelerator != m.Accelerator || have.Count != m.Count {
		b.report.left(m.Provider, fmt.Sprintf("%s: %g x %s here, %g x %s elsewhere",
			m.InstanceType, m.Count, m.Accelerator.Name, have.Count, have.Accelerator.Name))
		return nil
	}
	have.JoinHost(m.VCPU, m.RAM, m.NVMe, m.NetworkGbps)
	return have
}

// list says that a machine is sold in a place, at whatever price.
func (b *builder) list(m *catalog.Machine, region, zone string) {
	b.listed[placeKey{machineKey{m.Provider, m.InstanceType}, region, zone}] = true
}

// price adds a price. Of two for the same thing the newer stays, of two of one day the cheaper: on a marketplace
// these are two machines, and either can be had.
func (b *builder) price(m *catalog.Machine, region, zone string, p catalog.Price) {
	b.list(m, region, zone)
	k := priceKey{placeKey{machineKey{m.Provider, m.InstanceType}, region, zone}, p.Mode}
	have, ok := b.prices[k]
	if !ok || p.AsOf > have.AsOf || p.AsOf == have.AsOf && p.Hourly.Nanos() < have.Hourly.Nanos() {
		b.prices[k] = p
	}
}

func (b *builder) sortedMachines() []*catalog.Machine {
	keys := slices.SortedFunc(maps.Keys(b.machines), func(x, y machineKey) int {
		if c := strings.Compare(x.provider, y.provider); c != 0 {
			return c
		}
		return strings.Compare(x.instanceType, y.instanceType)
	})
	list := make([]*catalog.Machine, len(keys))
	for i, k := range keys {
		list[i] = b.machines[k]
	}
	return list
}

// finalRows folds zones, drops discounts that do not go with the list price beside them, and gives one row a price.
func (b *builder) finalRows() []catalog.Row {
	b.foldZones()
	var rows []catalog.Row
	for place := range b.listed {
		row := catalog.Row{Machine: b.machines[place.machineKey], Region: place.region, Zone: place.zone}
		onDemand, hasOnDemand := b.prices[priceKey{place, catalog.OnDemand}]
		n := len(rows)
		for _, mode := range catalog.Modes() {
			p, ok := b.prices[priceKey{place, mode}]
			if ok && hasOnDemand && mode != catalog.OnDemand && mode != catalog.CapacityBlock && !below(p, onDemand) {
				b.report.left(place.provider, string(mode)+" not below the on-demand price beside it")
				ok = false
			}
			if ok {
				row.Price = p
				rows = append(rows, row)
			}
		}
		if len(rows) == n {
			row.Price = catalog.Price{}
			rows = append(rows, row)
		}
	}
	return rows
}

func below(p, onDemand catalog.Price) bool {
	return p.Hourly.Currency() != onDemand.Hourly.Currency() || p.Hourly.Nanos() < onDemand.Hourly.Nanos()
}

// foldZones replaces the zones of a region by the region where all have the same prices: a zone is kept only where
// it matters.
func (b *builder) foldZones() {
	type regionKey struct {
		machineKey
		region string
	}
	zones := map[regionKey][]placeKey{}
	for place := range b.listed {
		if place.zone != "" {
			k := regionKey{place.machineKey, place.region}
			zones[k] = append(zones[k], place)
		}
	}
	for _, places := range zones {
		if !b.sameEverywhere(places) {
			continue
		}
		whole := placeKey{places[0].machineKey, places[0].region, ""}
		b.listed[whole] = true
		for _, place := range places {
			delete(b.listed, place)
			for _, mode := range catalog.Modes() {
				if p, ok := b.prices[priceKey{place, mode}]; ok {
					delete(b.prices, priceKey{place, mode})
					b.prices[priceKey{whole, mode}] = p
				}
			}
		}
	}
}

func (b *builder) sameEverywhere(places []placeKey) bool {
	for _, mode := range catalog.Modes() {
		first, ok := b.prices[priceKey{places[0], mode}]
		for _, place := range places[1:] {
			p, ok2 := b.prices[priceKey{place, mode}]
			if ok != ok2 || p.Hourly != first.Hourly || p.AsOf != first.AsOf {
				return false
			}
		}
	}
	return true
}

// rate reads a price cell; false where it is empty or zero, which several sources write for none.
func rate(s string, c money.Currency) (money.Rate, bool) {
	r, err := money.ParseRate(s, c)
	return r, err == nil && !r.IsZero()
}
