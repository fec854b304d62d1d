package intake

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// folding makes a result of the offers of an intake. They are the intake's own: one that changes is replaced.
type folding struct {
	in     *Intake
	offers map[offerKey]*offer
	result *Result
	// machines and inOrder are the offers as rows; nil once an offer has changed.
	machines []*catalog.Machine
	inOrder  []catalog.Row
}

// check holds prices against each other, as catalog.Verify does: what must not rank is dropped, what is doubtful is flagged. An
// offer that loses its last price is rejected with all its rows.
func (f *folding) check() {
	for _, fault := range catalog.VerifyPrices(f.catalog(), f.in.o.AsOf) {
		key := offerKey{machineKey{fault.Provider, fault.InstanceType}, fault.Region, fault.Zone}
		o := f.offers[key]
		switch {
		case o == nil || fault.Mode == "":
		case fault.Severity == catalog.IsError:
			f.drop(key, o, fault)
		case fault.Kind.Lasts():
			if i := o.mode(fault.Mode); i >= 0 {
				o = f.own(key, o)
				o.prices[i].Flags = catalog.WithFlags(o.prices[i].Flags, catalog.Flag(fault.Kind))
				f.tell(fault, o.prices[i].at)
			}
		}
	}
}

// own gives an offer whose prices may be changed.
func (f *folding) own(key offerKey, o *offer) *offer {
	c := *o
	c.prices = slices.Clone(o.prices)
	f.offers[key], f.inOrder = &c, nil
	return &c
}

// tell notes a fault of a price at its row.
func (f *folding) tell(fault catalog.Fault, at Place) {
	fault.Line = at.Line
	f.result.Faults = append(f.result.Faults, fault)
}

// drop takes out a price that must not rank.
func (f *folding) drop(key offerKey, o *offer, fault catalog.Fault) {
	i := o.mode(fault.Mode)
	if i < 0 {
		return // for another reason already
	}
	at := o.prices[i].at
	if len(o.prices) > 1 {
		o = f.own(key, o)
		o.prices = slices.Delete(o.prices, i, i+1)
		f.tell(fault, at)
		return
	}
	f.inOrder = nil
	delete(f.offers, key)
	for _, at := range o.rows {
		f.result.Rejections = append(f.result.Rejections, Rejection{
			Kind: Kind(fault.Kind), Provider: key.provider, InstanceType: key.instanceType, Region: key.region, At: at, Args: withMode(fault.Args, fault.Mode),
		})
	}
}

func withMode(args problem.Args, mode catalog.BillingMode) problem.Args {
	out := maps.Clone(args)
	if out == nil {
		out = problem.Args{}
	}
	out["Mode"] = string(mode)
	return out
}

// catalog folds the offers into a catalog.
func (f *folding) catalog() *catalog.Catalog {
	machines, rows := f.rows()
	return catalog.New(machines, rows, slices.Collect(maps.Values(f.in.sources)))
}

// rows gives machines and rows in the order that a catalog has them in: putting large rows in order costs more than all the rest.
func (f *folding) rows() (machines []*catalog.Machine, rows []catalog.Row) {
	if f.inOrder != nil {
		return f.machines, f.inOrder
	}
	n := 0
	keys := make([]offerKey, 0, len(f.offers))
	for k, o := range f.offers {
		keys = append(keys, k)
		n += max(1, len(o.prices))
	}
	slices.SortFunc(keys, func(a, b offerKey) int {
		if c := strings.Compare(a.instanceType, b.instanceType); c != 0 && a.provider == b.provider {
			return c
		}
		return cmp.Or(strings.Compare(a.provider, b.provider), strings.Compare(a.region, b.region), strings.Compare(a.zone, b.zone))
	})
	rows = make([]catalog.Row, 0, n)
	modes := catalog.Modes()
	for _, k := range keys {
		o := f.offers[k]
		if len(machines) == 0 || machines[len(machines)-1] != o.machine {
			machines = append(machines, o.machine)
		}
		row := catalog.Row{Machine: o.machine, Region: k.region, Zone: k.zone}
		if len(o.prices) == 0 {
			rows = append(rows, row)
		}
		for _, mode := range modes {
			if i := o.mode(mode); i >= 0 {
				row.Price = o.prices[i].Price
				rows = append(rows, row)
			}
		}
	}
	f.machines, f.inOrder = machines, rows
	return machines, rows
}

// foldZones replaces the zones of a region by the region where all have the same prices: a zone is kept only where it matters.
func (f *folding) foldZones() {
	type regionKey struct {
		machineKey
		region string
	}
	zones := map[regionKey][]offerKey{}
	for k := range f.offers {
		if k.zone != "" {
			rk := regionKey{k.machineKey, k.region}
			zones[rk] = append(zones[rk], k)
		}
	}
	for rk, keys := range zones {
		if all := (offerKey{rk.machineKey, rk.region, ""}); f.offers[all] != nil {
			keys = append(keys, all)
		}
		if !f.same(keys) {
			continue
		}
		slices.SortFunc(keys, func(a, b offerKey) int { return strings.Compare(a.zone, b.zone) })
		whole := *f.offers[keys[0]]
		whole.rows = slices.Clone(whole.rows)
		for _, k := range keys[1:] {
			whole.rows = append(whole.rows, f.offers[k].rows...)
		}
		for _, k := range keys {
			delete(f.offers, k)
		}
		f.offers[offerKey{rk.machineKey, rk.region, ""}], f.inOrder = &whole, nil
	}
}

// same says whether offers have the same prices.
func (f *folding) same(keys []offerKey) bool {
	first := f.offers[keys[0]]
	return !slices.ContainsFunc(keys[1:], func(k offerKey) bool {
		o := f.offers[k]
		return len(o.prices) != len(first.prices) || slices.ContainsFunc(o.prices, func(p quoted) bool {
			i := first.mode(p.Mode)
			if i < 0 {
				return true
			}
			q := first.prices[i]
			return p.Hourly != q.Hourly || p.AsOf != q.AsOf || !slices.Equal(p.Flags, q.Flags)
		})
	})
}

// finish sorts and counts.
func (f *folding) finish() {
	r := f.result
	r.Machines, r.Rows = f.rows()
	cited := map[string]bool{}
	for i := range r.Rows {
		cited[r.Rows[i].Machine.Source] = true
		cited[r.Rows[i].Price.Source] = true
	}
	for _, id := range slices.Sorted(maps.Keys(f.in.sources)) {
		if cited[id] {
			r.Sources = append(r.Sources, f.in.sources[id])
		}
	}
	rows := 0
	for _, o := range f.offers {
		rows += len(o.rows)
	}
	r.Tally = Tally{Read: f.in.read, Kept: len(f.offers), Merged: rows - len(f.offers), Rejected: len(r.Rejections) + f.in.passed}
	slices.SortStableFunc(r.Rejections, func(a, b Rejection) int {
		return cmp.Or(strings.Compare(a.At.File, b.At.File), cmp.Compare(a.At.Line, b.At.Line))
	})
	slices.SortStableFunc(r.Faults, func(a, b catalog.Fault) int { return cmp.Compare(a.Line, b.Line) })
	for _, s := range f.in.spellings {
		r.Unrecognised = append(r.Unrecognised, *s)
	}
	slices.SortFunc(r.Unrecognised, func(a, b Spelling) int {
		return cmp.Or(-cmp.Compare(a.Count, b.Count), strings.Compare(a.Text, b.Text), strings.Compare(a.Provider, b.Provider))
	})
}
