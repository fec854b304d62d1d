package catalog

import (
	"slices"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

// Filter says which offers are wanted. The zero Filter wants all; each field that is set only narrows.
type Filter struct {
	Selectors []accelerator.Selector // any of them
	Providers []string
	Regions   []string
	// Modes, MaxHourly and Since must hold of one and the same price. An offer of unknown price fails all three.
	Modes     []BillingMode
	MaxHourly unit.Maybe[money.Rate]
	Since     string // ISO date: the price is of that day or later
	// Exchange converts prices for MaxHourly; a price whose currency it lacks fails.
	Exchange money.Exchange
	// Of figures that are unknown none fulfils a minimum.
	MinRAM     unit.Bytes
	MinVCPU    float64
	MinGbps    float64
	RDMA       bool
	Topologies []Topology
	BareMetal  bool
}

// test is one condition of a filter, by the name it is counted under.
type test struct {
	name string
	pass func(*Offer) bool
}

// Search lists the offers that pass, in catalog order, and counts for each condition how many offers it fails. An
// offer that fails two is counted under both, so the counts do not depend on the order of the conditions.
func (c *Catalog) Search(f Filter) (rows []*Offer, removed map[string]int) {
	tests := f.tests()
	removed = map[string]int{}
	for _, o := range c.Offers {
		keep := true
		for _, t := range tests {
			if !t.pass(o) {
				keep = false
				removed[t.name]++
			}
		}
		if keep {
			rows = append(rows, o)
		}
	}
	return rows, removed
}

// Match says whether one offer passes.
func (f Filter) Match(o *Offer) bool {
	for _, t := range f.tests() {
		if !t.pass(o) {
			return false
		}
	}
	return true
}

func (f Filter) tests() []test {
	var ts []test
	add := func(set bool, name string, pass func(*Offer) bool) {
		if set {
			ts = append(ts, test{name, pass})
		}
	}
	add(len(f.Selectors) > 0, "gpu", func(o *Offer) bool {
		return slices.ContainsFunc(f.Selectors, func(s accelerator.Selector) bool { return s.Matches(o.Accelerator, o.Count) })
	})
	add(len(f.Providers) > 0, "provider", func(o *Offer) bool { return slices.Contains(f.Providers, o.Provider) })
	add(len(f.Regions) > 0, "region", func(o *Offer) bool { return slices.Contains(f.Regions, o.Region) })
	add(f.MinRAM > 0, "ram", func(o *Offer) bool { v, ok := o.RAM.Get(); return ok && v >= f.MinRAM })
	add(f.MinVCPU > 0, "vcpu", func(o *Offer) bool { v, ok := o.VCPU.Get(); return ok && v >= f.MinVCPU })
	add(f.MinGbps > 0, "network", func(o *Offer) bool { v, ok := o.NetworkGbps.Get(); return ok && v >= f.MinGbps })
	add(f.RDMA, "rdma", func(o *Offer) bool { return o.Network.RDMA() })
	add(len(f.Topologies) > 0, "topology", func(o *Offer) bool { return slices.Contains(f.Topologies, o.Topology) })
	add(f.BareMetal, "bare_metal", func(o *Offer) bool { return o.BareMetal.Or(false) }) // unknown is not a yes
	return append(ts, f.priceTests()...)
}

// priceTests are the conditions on a price. Each fails an offer none of whose prices holds it; the last fails an
// offer that holds each by another price: a cheap spot price and a dear reserved one are not a cheap reserved one.
func (f Filter) priceTests() []test {
	var ts []test
	var holds []func(Price) bool
	add := func(set bool, name string, pass func(Price) bool) {
		if set {
			holds = append(holds, pass)
			ts = append(ts, test{name, func(o *Offer) bool { return slices.ContainsFunc(o.Prices, pass) }})
		}
	}
	add(len(f.Modes) > 0, "billing", func(p Price) bool { return slices.Contains(f.Modes, p.Mode) })
	add(f.Since != "", "price_age", func(p Price) bool { return p.AsOf >= f.Since })
	limit, limited := f.MaxHourly.Get()
	add(limited, "max_hourly", func(p Price) bool {
		r, ok := p.Hourly, p.Hourly.Currency() == limit.Currency()
		if !ok {
			r, ok = f.Exchange.Rate(p.Hourly, limit.Currency())
		}
		return ok && r.Nanos() <= limit.Nanos()
	})
	if len(holds) < 2 {
		return ts
	}
	alone := slices.Clone(ts)
	return append(ts, test{ts[len(ts)-1].name, func(o *Offer) bool {
		if slices.ContainsFunc(alone, func(t test) bool { return !t.pass(o) }) {
			return true // counted already
		}
		return slices.ContainsFunc(o.Prices, func(p Price) bool {
			return !slices.ContainsFunc(holds, func(h func(Price) bool) bool { return !h(p) })
		})
	}})
}
