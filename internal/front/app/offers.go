package app

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// OfferQuery says which offers are wanted; each field that is set only narrows.
type OfferQuery struct {
	Selectors  []accelerator.Selector
	Providers  []string
	Places     []string // region ids, countries or groups of countries
	Modes      []catalog.BillingMode
	MinRAM     unit.Bytes
	MinVCPU    float64
	MinGbps    float64
	RDMA       bool
	BareMetal  bool
	MaxHourly  unit.Maybe[money.Rate]
	MaxAgeDays int
	Sort       OfferSort
}

// OfferSort is what a list of offers is sorted by.
type OfferSort string

// The orders. Unknown prices come last in each.
const (
	ByPrice    OfferSort = "price"
	ByGPUPrice OfferSort = "gpu-price"
	ByMemory   OfferSort = "memory"
	ByAge      OfferSort = "age"
	ByName     OfferSort = "name"
)

// OfferSorts lists the orders.
func OfferSorts() []string {
	return []string{string(ByPrice), string(ByGPUPrice), string(ByMemory), string(ByAge), string(ByName)}
}

// OfferList is the offers that pass, and what each condition removed.
type OfferList struct {
	Currency money.Currency
	Query    OfferQuery
	Total    int // offers in the catalog
	Rows     []OfferRow
	Machines []MachineRow // the fold of Rows
	Removed  []Removed
}

// OfferRow is one way of paying for one machine in one place; without a price where none is known.
type OfferRow struct {
	*catalog.Offer
	Price  catalog.Price // its mode is empty where no price is known
	Hourly money.Rate    // in the list's currency
	Known  bool          // the price is known and could be converted
}

// PerAccelerator is the hourly price of one whole accelerator.
func (r OfferRow) PerAccelerator() money.Rate { return r.Hourly.Mul(1 / r.Count) }

// MachineRow is the rows of one machine folded: Offers counts them.
type MachineRow struct {
	*catalog.Machine
	Offers, Regions int
	// Cheapest is the cheapest row of each way of paying that has a known price.
	Cheapest map[catalog.BillingMode]OfferRow
	Least    OfferRow // the cheapest of all; not Known where no price is
}

// Removed says how many offers of the whole catalog fail a condition, and how many fail no other.
type Removed struct {
	Filter      string
	Count, Only int
	// Nearest is the offer that comes nearest to this condition of those that fail no other, the cheapest of several;
	// nil where none does.
	Nearest *OfferRow
}

// condition is one condition of a query by itself.
type condition struct {
	name string
	pass func(*catalog.Offer) bool
	// near says how near an offer comes to the condition, more being nearer; nil where all that fail it are as far.
	near func(*catalog.Offer) float64
}

// Offers lists the offers that pass a query.
func (a *App) Offers(q OfferQuery) (*OfferList, error) {
	m, err := a.market()
	if err != nil {
		return nil, err
	}
	for _, place := range q.Places {
		if ok, near := a.Providers().ValidPlace(place); !ok {
			return nil, problem.New(problem.Input, "cli.unknown_place", problem.Args{"Place": place}).With(near...)
		}
	}
	prices := a.priceFilter(q, m.exchange)
	list := &OfferList{Currency: m.currency, Query: q, Total: len(m.Offers)}
	conditions := a.conditions(q, prices)
	removed := make([]Removed, len(conditions))
	for _, o := range m.Offers {
		failed, which := 0, 0
		for i, c := range conditions {
			if !c.pass(o) {
				removed[i].Count++
				failed, which = failed+1, i
			}
		}
		switch failed {
		case 0:
			list.Rows = append(list.Rows, rowsOf(o, prices, m.exchange, m.currency)...)
		case 1:
			removed[which].Only++
			rows := rowsOf(o, catalog.Filter{}, m.exchange, m.currency)
			removed[which].Nearest = nearer(removed[which].Nearest, rows, conditions[which].near)
		}
	}
	for i, c := range conditions {
		removed[i].Filter = c.name
		if removed[i].Count > 0 {
			list.Removed = append(list.Removed, removed[i])
		}
	}
	sortRows(list.Rows, q.Sort)
	list.Machines = foldRows(list.Rows, q.Sort)
	return list, nil
}

// priceFilter is the conditions that must hold of one and the same price.
func (a *App) priceFilter(q OfferQuery, x money.Exchange) catalog.Filter {
	f := catalog.Filter{Modes: q.Modes, MaxHourly: q.MaxHourly, Exchange: x}
	if q.MaxAgeDays > 0 {
		f.Since = a.DaysAgo(q.MaxAgeDays)
	}
	return f
}

// conditions are the parts of a query. What must hold of one price together is one condition, so that what it
// removed does not depend on an order.
func (a *App) conditions(q OfferQuery, prices catalog.Filter) []condition {
	var cs []condition
	one := func(set bool, name string, f catalog.Filter) {
		if set {
			cs = append(cs, condition{name, f.Match, nil})
		}
	}
	one(len(q.Selectors) > 0, "gpu", catalog.Filter{Selectors: q.Selectors})
	one(len(q.Providers) > 0, "provider", catalog.Filter{Providers: q.Providers})
	if len(q.Places) > 0 {
		in := a.Providers().AnyPlace(q.Places...)
		cs = append(cs, condition{"region", func(o *catalog.Offer) bool { return in(a.Providers().Region(o.Provider, o.Region)) }, nil})
	}
	measured := func(set bool, name string, f catalog.Filter, near func(*catalog.Offer) float64) {
		if set {
			cs = append(cs, condition{name, f.Match, near})
		}
	}
	measured(q.MinRAM > 0, "min-ram", catalog.Filter{MinRAM: q.MinRAM}, func(o *catalog.Offer) float64 { return float64(o.RAM.Or(0)) })
	measured(q.MinVCPU > 0, "min-vcpu", catalog.Filter{MinVCPU: q.MinVCPU}, func(o *catalog.Offer) float64 { return o.VCPU.Or(0) })
	measured(q.MinGbps > 0, "min-network", catalog.Filter{MinGbps: q.MinGbps}, func(o *catalog.Offer) float64 { return o.NetworkGbps.Or(0) })
	one(q.RDMA, "rdma", catalog.Filter{RDMA: true})
	one(q.BareMetal, "bare-metal", catalog.Filter{BareMetal: true})
	var names []string
	for _, part := range []struct {
		set  bool
		name string
	}{{len(q.Modes) > 0, "billing"}, {q.MaxHourly.Known(), "max-price"}, {q.MaxAgeDays > 0, "max-price-age"}} {
		if part.set {
			names = append(names, part.name)
		}
	}
	one(len(names) > 0, strings.Join(names, "+"), prices)
	return cs
}

// rowsOf are the prices of an offer that pass; an offer of unknown price is one row where prices do not matter.
func rowsOf(o *catalog.Offer, f catalog.Filter, x money.Exchange, to money.Currency) []OfferRow {
	if len(o.Prices) == 0 {
		return []OfferRow{{Offer: o}}
	}
	var rows []OfferRow
	for i := range o.Prices {
		alone := catalog.Offer{Machine: o.Machine, Region: o.Region, Zone: o.Zone, Prices: o.Prices[i : i+1]}
		if f.Match(&alone) {
			hourly, ok := x.Rate(o.Prices[i].Hourly, to)
			rows = append(rows, OfferRow{o, o.Prices[i], hourly, ok})
		}
	}
	return rows
}

// nearer gives the row that comes nearer to a condition, the cheaper of equals.
func nearer(best *OfferRow, rows []OfferRow, near func(*catalog.Offer) float64) *OfferRow {
	if near == nil || best == nil || len(rows) == 0 {
		return cheaper(best, rows)
	}
	switch d := near(rows[0].Offer) - near(best.Offer); {
	case d > 0:
		return cheaper(nil, rows)
	case d < 0:
		return best
	}
	return cheaper(best, rows)
}

func cheaper(best *OfferRow, rows []OfferRow) *OfferRow {
	for i := range rows {
		if best == nil || compareRows(rows[i], *best, ByPrice) < 0 {
			best = &rows[i]
		}
	}
	return best
}

func sortRows(rows []OfferRow, by OfferSort) {
	slices.SortStableFunc(rows, func(a, b OfferRow) int { return compareRows(a, b, by) })
}

func compareRows(a, b OfferRow, by OfferSort) int {
	byPrice := func(rate func(OfferRow) money.Rate) int {
		switch {
		case a.Known != b.Known:
			if a.Known {
				return -1
			}
			return 1
		case !a.Known:
			return 0
		}
		return cmp.Compare(rate(a).Nanos(), rate(b).Nanos())
	}
	hourly := func(r OfferRow) money.Rate { return r.Hourly }
	first := 0
	switch by {
	case ByGPUPrice:
		first = byPrice(OfferRow.PerAccelerator)
	case ByMemory:
		first = -cmp.Compare(memoryOf(a.Machine), memoryOf(b.Machine))
	case ByAge:
		first = -strings.Compare(a.Price.AsOf, b.Price.AsOf)
	case ByName:
	default:
		first = byPrice(hourly)
	}
	return cmp.Or(first, strings.Compare(a.Provider, b.Provider), strings.Compare(a.InstanceType, b.InstanceType),
		byPrice(hourly), strings.Compare(a.Region, b.Region), strings.Compare(a.Zone, b.Zone))
}

// memoryOf is the accelerator memory of a machine, for an order only; unknown comes last.
func memoryOf(m *catalog.Machine) float64 { return m.Accelerator.NominalGB.Or(0) * m.Count }

// foldRows folds rows by machine, in the order of the first row of each.
func foldRows(rows []OfferRow, by OfferSort) []MachineRow {
	index := map[*catalog.Machine]int{}
	regions := map[[2]string]bool{}
	var out []MachineRow
	for _, r := range rows {
		i, seen := index[r.Machine]
		if !seen {
			i = len(out)
			index[r.Machine] = i
			out = append(out, MachineRow{Machine: r.Machine, Cheapest: map[catalog.BillingMode]OfferRow{}, Least: r})
		}
		m := &out[i]
		m.Offers++
		place := [2]string{r.Provider + "/" + r.InstanceType, r.Region}
		if !regions[place] {
			regions[place] = true
			m.Regions++
		}
		if !r.Known {
			continue
		}
		if best, ok := m.Cheapest[r.Price.Mode]; !ok || compareRows(r, best, ByPrice) < 0 {
			m.Cheapest[r.Price.Mode] = r
		}
		if compareRows(r, m.Least, ByPrice) < 0 {
			m.Least = r
		}
	}
	if by == ByMemory || by == ByAge || by == ByName {
		return out
	}
	slices.SortStableFunc(out, func(a, b MachineRow) int { return compareRows(a.Least, b.Least, by) })
	return out
}
