package app

import (
	"context"
	"slices"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/plan"
	"github.com/rackrate/rackrate/internal/choose/price/book"
	"github.com/rackrate/rackrate/internal/choose/price/commit"
	"github.com/rackrate/rackrate/internal/choose/price/demand"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// CommitHorizons are the months that commitments are planned over.
var CommitHorizons = []int{12, 36}

// CommitRequest is a demand, where its prices come from, and how both go on.
type CommitRequest struct {
	File string // the demand: a history, or a service with a daily profile
	Read demand.Options
	// Book is the price book; without one the prices are those of Instance in Region, or of the machine that serves best.
	Book             string
	Instance, Region string
	InGPUs           bool // the demand counts accelerators, the prices are of machines
	Outlook          demand.Outlook
	// Interruptible, where it is known, stands for what the service says of itself.
	Interruptible unit.Maybe[float64]
	// Levels are how much of the demand there is at demand.Quantiles; nil for what the history makes likely.
	Levels       []float64
	SpotOverhead float64 // share of time on spot that interruptions waste
	Every        int     // months between purchases
}

// Commitments is the cheapest mix of each group over each horizon.
type Commitments struct {
	Request  CommitRequest
	Currency money.Currency
	Machine  *catalog.Machine // nil with a price book
	Region   string
	Service  *plan.Plan // that the demand is of; nil where it is a history
	Groups   []CommitGroup
	Totals   []commit.Summary // by horizon
}

// CommitGroup is one group's demand, prices and mixes.
type CommitGroup struct {
	demand.History
	Spread  unit.Maybe[demand.Spread] // unknown where the history is too short to tell
	Prices  []CommitPrice             // in the order of ways of paying
	Reports []*commit.Report          // by horizon
}

// CommitPrice is one price that took part, or not.
type CommitPrice struct {
	Mode         catalog.BillingMode
	Hourly       money.Rate // in the currency of the result
	Quoted       money.Rate
	AsOf, Source string // empty for one from a price book
	Used         bool   // a term of days or a price by the request cannot be planned by the month
}

// Commit finds the cheapest mix of commitments, on-demand and spot.
func (a *App) Commit(ctx context.Context, q CommitRequest) (*Commitments, error) {
	out := &Commitments{Request: q}
	var err error
	if out.Currency, err = a.Currency(); err != nil {
		return nil, err
	}
	histories, prices, err := a.commitInput(ctx, out)
	if err != nil {
		return nil, err
	}
	q = out.Request
	var faults problem.List
	for _, h := range histories {
		if q.InGPUs {
			h = h.Machines(out.Machine.Count)
		}
		g := CommitGroup{History: h, Spread: h.Spread(), Prices: prices(h.Group)}
		if !slices.ContainsFunc(g.Prices, func(p CommitPrice) bool { return p.Mode == catalog.OnDemand }) {
			faults = append(faults, problem.New(problem.Input, "commit.no_on_demand", problem.Args{"Group": h.Group}).At(q.Book, 0))
		}
		out.Groups = append(out.Groups, g)
	}
	if len(faults) > 0 {
		return nil, faults
	}
	for _, months := range CommitHorizons {
		var reports []*commit.Report
		for i := range out.Groups {
			g := &out.Groups[i]
			r, err := commit.Solution(g.problem(q, months))
			if err != nil {
				return nil, err
			}
			g.Reports = append(g.Reports, r)
			reports = append(reports, r)
			if err := done(ctx); err != nil {
				return nil, err
			}
		}
		total, err := commit.Total(reports)
		if err != nil {
			return nil, err
		}
		out.Totals = append(out.Totals, total)
	}
	return out, nil
}

// commitInput reads the demand and finds the prices of each group. A service is planned first, since its prices are those of its
// machine; a history's faults and those of the prices are told together.
func (a *App) commitInput(ctx context.Context, out *Commitments) ([]demand.History, func(string) []CommitPrice, error) {
	name, data, err := a.ReadTable(out.Request.File)
	if err == nil && isWorkload(data) {
		h, err := a.commitService(ctx, out, name, data)
		if err != nil {
			return nil, nil, err
		}
		prices, err := a.commitPrices(out, []demand.History{h})
		return []demand.History{h}, prices, err
	}
	out.Request.Outlook.Interruptible = out.Request.Interruptible.Or(0) // nothing is said to be interruptible
	var histories []demand.History
	if err == nil {
		histories, err = demand.Parse(name, data, out.Request.Read)
	}
	prices, pricesErr := a.commitPrices(out, histories)
	return histories, prices, join(err, pricesErr)
}

// commitPrices gives the prices of a group by its name. A price of a group that no history is of is a fault: it would be passed over.
func (a *App) commitPrices(out *Commitments, histories []demand.History) (func(group string) []CommitPrice, error) {
	x, err := a.Exchange()
	if err != nil {
		return nil, err
	}
	if out.Request.Book == "" && out.Request.Instance == "" {
		return nil, problem.New(problem.Input, "commit.no_prices", nil)
	}
	if out.Request.Book == "" {
		prices, err := a.offerPrices(out, x)
		return func(string) []CommitPrice { return prices }, err
	}
	name, data, err := a.ReadTable(out.Request.Book)
	if err != nil {
		return nil, err
	}
	entries, err := book.Parse(name, data)
	if err != nil {
		return nil, err
	}
	var groups []string
	for _, h := range histories {
		groups = append(groups, h.Group)
	}
	var faults problem.List
	for _, e := range entries {
		if e.Group != "" && histories != nil && !slices.Contains(groups, e.Group) {
			faults = append(faults, problem.New(problem.Input, "commit.unknown_group", problem.Args{"Group": e.Group}).At(name, e.Line).
				With(problem.Nearest(e.Group, groups, 2)...))
		}
		if _, ok := x.Rate(e.Hourly, out.Currency); !ok {
			faults = append(faults, problem.New(problem.Input, "commit.no_rate", problem.Args{
				"To": string(out.Currency), "Price": e.Hourly,
			}).At(name, e.Line))
		}
	}
	return func(group string) []CommitPrice { return bookPrices(entries, group, x, out.Currency) }, faults.OrNil()
}

// bookPrices are the prices of a group: its own, and of ways of paying that it has none of, those of all groups.
func bookPrices(entries []book.Entry, group string, x money.Exchange, to money.Currency) []CommitPrice {
	var out []CommitPrice
	for _, mode := range catalog.Modes() {
		best := -1
		for i, e := range entries {
			if e.Mode == mode && (e.Group == group || e.Group == "" && best < 0) {
				best = i
			}
		}
		if best >= 0 {
			hourly, _ := x.Rate(entries[best].Hourly, to)
			out = append(out, CommitPrice{Mode: mode, Hourly: hourly, Quoted: entries[best].Hourly, Used: plannable(mode)})
		}
	}
	return out
}

// plannable says whether a mode can take part in a plan by the month.
func plannable(m catalog.BillingMode) bool {
	return m == catalog.OnDemand || m == catalog.Spot || commit.Commits(m)
}

// offerPrices are the prices of one machine in one region.
func (a *App) offerPrices(out *Commitments, x money.Exchange) ([]CommitPrice, error) {
	offers, _, err := a.find(out.Request.Instance)
	if err != nil {
		return nil, err
	}
	places := regions(offers)
	out.Machine, out.Region = offers[0].Machine, out.Request.Region
	if out.Region == "" && len(places) == 1 {
		out.Region = places[0]
	}
	if !slices.Contains(places, out.Region) {
		return nil, problem.New(problem.Input, "commit.region", problem.Args{"Name": out.Machine.InstanceType, "Regions": places}).
			With(problem.Nearest(out.Region, places, 2)...)
	}
	var prices []CommitPrice
	for _, mode := range catalog.Modes() {
		if p, hourly := leastOf(mode, offers, out.Region, out.Currency, x); p != nil {
			prices = append(prices, CommitPrice{Mode: mode, Hourly: hourly, Quoted: p.Hourly, AsOf: p.AsOf, Source: p.Source, Used: plannable(mode)})
		}
	}
	if !slices.ContainsFunc(prices, func(p CommitPrice) bool { return p.Mode == catalog.OnDemand }) {
		return nil, problem.New(problem.NoMatch, "commit.not_on_demand", problem.Args{"Name": out.Machine.InstanceType, "Region": out.Region})
	}
	return prices, nil
}

// Known says whether the scenarios differ for a reason: the user's, or the history's own changes.
func (g CommitGroup) Known(q CommitRequest) bool { return q.Levels != nil || g.Spread.Known() }

// Level is how much of the median demand there is in a month, from 0, of a scenario.
func (g CommitGroup) Level(q CommitRequest, scenario, month int) float64 {
	if q.Levels != nil {
		return q.Levels[scenario]
	}
	if s, ok := g.Spread.Get(); ok {
		return s.Level(demand.Quantiles[scenario], month)
	}
	return 1
}

// problem states the problem of a group over so many months.
func (g CommitGroup) problem(q CommitRequest, months int) commit.Problem {
	p := commit.Problem{Every: q.Every}
	for _, price := range g.Prices {
		switch {
		case price.Mode == catalog.OnDemand:
			p.OnDemand = price.Hourly
		case price.Mode == catalog.Spot:
			p.Spot = unit.Some(price.Hourly.Mul(1 + q.SpotOverhead))
		case price.Used:
			p.Options = append(p.Options, commit.Option{Mode: price.Mode, Hourly: price.Hourly})
		}
	}
	for s, weight := range demand.Weights {
		p.Scenarios = append(p.Scenarios, commit.Scenario{
			Weight: weight, Months: g.Lay(months, q.Outlook, func(month int) float64 { return g.Level(q, s, month) }),
		})
	}
	return p
}
