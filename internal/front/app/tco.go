package app

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/plan"
	"github.com/rackrate/rackrate/internal/choose/price/tco"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/assumption"
)

// TCORequest is what a full cost is asked for.
type TCORequest struct {
	Workload *workload.Workload
	// Plans names the plans to compare: ranks, or provider:machine:billing, each part after the first optional. Empty is the
	// first three machines.
	Plans      []string
	Buy        *tco.Buy
	Assume     []*assumption.Assumption // beat the file of what is bought
	Months     int                      // as many as the workload's horizon where it has one
	Runs, Used float64
}

// TCO is a full cost with the search its plans come from.
type TCO struct {
	*tco.Result
	Search *plan.Result
}

// defaultPlans is how many plans are compared where none is named.
const defaultPlans = 3

// AssumptionNames are the tables that names in assumptions come from.
func (a *App) AssumptionNames() assumption.Names {
	return assumption.Names{Providers: a.Providers(), Chips: a.Chips()}
}

// TCO compares plans of a workload, and machines bought, over months.
func (a *App) TCO(ctx context.Context, q TCORequest) (*TCO, error) {
	m, err := a.market()
	if err != nil {
		return nil, err
	}
	found, err := a.Plan(ctx, PlanRequest{Workload: q.Workload, Top: topFor(q.Plans)})
	if err != nil {
		return nil, err
	}
	if len(found.Plans) == 0 {
		return &TCO{Search: found}, nil
	}
	plans, err := chosen(found, q.Plans)
	if err != nil {
		return nil, err
	}
	book := assumption.Embedded().With(q.Assume...)
	if q.Buy != nil {
		book = book.With(q.Buy.Given...)
	}
	r, err := tco.Compare(tco.Input{
		Workload: found.Workload, Plans: plans, Buy: q.Buy, Book: book, Providers: a.Providers(), Curves: estimate.EmbeddedCurves(),
		Exchange: m.exchange, Currency: m.currency, Months: q.Months, Runs: q.Runs, Used: q.Used,
	})
	if err != nil {
		return nil, err
	}
	return &TCO{Result: r, Search: found}, nil
}

// topFor is how many plans must be built: down to the last rank that is named; a name may stand anywhere.
func topFor(names []string) int {
	top := 0
	for _, name := range names {
		rank, err := strconv.Atoi(name)
		if err != nil {
			return 0
		}
		top = max(top, rank)
	}
	if top == 0 {
		return defaultPlans
	}
	return top
}

// chosen finds the plans that are named; every name that is no plan is a fault.
func chosen(found *plan.Result, names []string) ([]plan.Plan, error) {
	if len(names) == 0 {
		return found.Plans[:min(defaultPlans, len(found.Plans))], nil
	}
	var plans []plan.Plan
	var faults problem.List
	for _, name := range names {
		i := slices.IndexFunc(found.Plans, func(p plan.Plan) bool { return called(&p, name) })
		if i >= 0 {
			if !slices.ContainsFunc(plans, func(p plan.Plan) bool { return p.Rank == found.Plans[i].Rank }) { // named twice
				plans = append(plans, found.Plans[i])
			}
			continue
		}
		if rank, err := strconv.Atoi(name); err == nil {
			faults = append(faults, problem.New(problem.Input, "plan.no_such_rank", problem.Args{"Rank": rank, "Last": found.Ranked}))
			continue
		}
		var known []string
		for i := range found.Plans {
			known = append(known, planName(&found.Plans[i]))
		}
		faults = append(faults, problem.New(problem.NoMatch, "tco.no_such_plan", problem.Args{"Name": name}).With(problem.Nearest(name, known, 3)...))
	}
	return plans, faults.OrNil()
}

// planName is a plan as --plans names it.
func planName(p *plan.Plan) string {
	return p.Offer.Provider + ":" + p.Offer.InstanceType + ":" + string(p.Billing)
}

// called says that a plan is the one named: by rank, or by provider, machine and way of paying, as far as they are given.
func called(p *plan.Plan, name string) bool {
	if rank, err := strconv.Atoi(name); err == nil {
		return p.Rank == rank
	}
	full := strings.ToLower(planName(p))
	name = strings.ToLower(name)
	return full == name || strings.HasPrefix(full, name+":")
}
