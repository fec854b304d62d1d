package refresh

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/provider"
)

// carry adds the last good rows of the parts that were lost, with the day they were read on, and says how many stand in. What was
// read whole then is still known to have held no more: else what is gone would come back from older sources.
func carry(snap, before *catalog.Snapshot, lost []Loss) []Loss {
	if before == nil || len(lost) == 0 {
		return lost
	}
	type machineKey struct{ provider, instanceType string }
	type rowKey struct {
		machineKey
		region, zone string
		mode         catalog.BillingMode
	}
	keyOf := func(r *catalog.Row) rowKey {
		return rowKey{machineKey{r.Provider, r.InstanceType}, r.Region, r.Zone, r.Price.Mode}
	}
	machines, have, cited := map[machineKey]*catalog.Machine{}, map[rowKey]bool{}, map[string]bool{}
	for _, m := range snap.Machines {
		machines[machineKey{m.Provider, m.InstanceType}] = m
	}
	for i := range snap.Rows {
		have[keyOf(&snap.Rows[i])] = true
	}
	for i := range lost {
		l := &lost[i]
		for _, r := range before.Rows {
			k := keyOf(&r)
			if !l.holds(r.Provider, r.Region) || have[k] || covered(snap.Covers, &r) {
				continue
			}
			m := machines[k.machineKey]
			switch {
			case m == nil:
				m = r.Machine
				machines[k.machineKey] = m
				snap.Machines = append(snap.Machines, m)
			case m.Accelerator != r.Accelerator || m.Count != r.Count:
				continue // the type is another machine now
			}
			r.Machine = m
			have[k] = true
			snap.Rows = append(snap.Rows, r)
			cited[r.Price.Source], cited[m.Source] = true, true
			l.Kept++
		}
		for _, c := range before.Covers {
			day := cmp.Or(c.AsOf, before.AsOf)
			c.AsOf = ""
			if l.holds(c.Provider, cmp.Or(c.Region, l.Region)) && !slices.ContainsFunc(snap.Covers, sameCover(c)) {
				c.AsOf = day
				snap.Covers = append(snap.Covers, c)
			}
		}
		for _, b := range before.Bands {
			if l.holds(b.Provider, b.Region) && !slices.ContainsFunc(snap.Bands, sameBand(b)) {
				snap.Bands = append(snap.Bands, b)
			}
		}
	}
	for _, s := range before.Sources {
		if cited[s.ID] && !slices.ContainsFunc(snap.Sources, func(t catalog.Source) bool { return t.ID == s.ID }) {
			snap.Sources = append(snap.Sources, s)
		}
	}
	return lost
}

// covered says that a source has read all of a row's region in its way of paying, whatever else of the region was lost.
func covered(covers []catalog.Cover, r *catalog.Row) bool {
	return slices.Contains(covers, catalog.Cover{Provider: r.Provider, Region: r.Region, Mode: r.Price.Mode}) ||
		slices.Contains(covers, catalog.Cover{Provider: r.Provider, Mode: r.Price.Mode})
}

// sameCover compares with covers of any day; c has none.
func sameCover(c catalog.Cover) func(catalog.Cover) bool {
	return func(o catalog.Cover) bool { o.AsOf = ""; return o == c }
}

func sameBand(b provider.Band) func(provider.Band) bool {
	return func(o provider.Band) bool {
		return o.Provider == b.Provider && o.Region == b.Region && o.InstanceType == b.InstanceType
	}
}

// The bounds of what a source may plausibly change at once. A price list may lose a region or a family of machines, and a market
// may double; half of a list gone, or all prices three times what they were, is a fault of the list or of its reading.
const (
	fewOffers   = 20  // smaller sources may change as they like
	leastKept   = 0.5 // of the offers
	mostFactor  = 3.0 // the median of new price over old
	leastCommon = 20  // prices to take that median of
)

func empty(s *catalog.Snapshot) bool {
	return len(s.Rows) == 0 && len(s.Bands) == 0 && len(s.Terms) == 0
}

// plausible says what speaks against a snapshot as a whole.
func plausible(source string, snap *catalog.Snapshot, was, after *catalog.Catalog, changes []catalog.Change) error {
	if empty(snap) {
		return problem.New(problem.Input, "refresh.empty", problem.Args{"Source": source})
	}
	if n := len(was.Offers); n >= fewOffers && float64(len(after.Offers)) < leastKept*float64(n) {
		return problem.New(problem.Input, "refresh.shrunk", problem.Args{"Source": source, "Before": n, "After": len(after.Offers)})
	}
	if f, ok := medianFactor(changes, after); ok && (f > mostFactor || f < 1/mostFactor) {
		return problem.New(problem.Input, "refresh.jumped", problem.Args{"Source": source, "Factor": f})
	}
	return nil
}

// medianFactor is the median of new price over old, of all prices there were and are; false where they are too few.
func medianFactor(changes []catalog.Change, after *catalog.Catalog) (float64, bool) {
	var logs []float64
	common := 0
	for i := range changes {
		c := &changes[i]
		if c.Kind() == catalog.Dearer || c.Kind() == catalog.Cheaper {
			logs = append(logs, math.Log(c.New.Float()/c.Old.Float()))
		}
		if c.Kind() != catalog.Gone && c.Kind() != catalog.Stock {
			common--
		}
	}
	// Prices that are in both and the same are no changes: their factor is one.
	common += after.Prices()
	n := len(logs) + common
	if n < leastCommon {
		return 0, false
	}
	slices.Sort(logs)
	low := sort.SearchFloat64s(logs, 0) // changes that lie below the prices that stayed
	switch mid := n / 2; {
	case mid < low:
		return math.Exp(logs[mid]), true
	case mid < low+common:
		return 1, true
	default:
		return math.Exp(logs[mid-common]), true
	}
}
