// Package commit finds the cheapest mix of commitments, on-demand and spot machines for a demand over a number of months: how many
// units of which term to buy in which month.
//
// Invariants: a commitment costs its whole price, used or not, and one that outlives the horizon is paid whole; money is in whole
// micros, and the cost of a solution is the sum of its payments; a solution carries a lower bound that is worked out apart from the
// search, so that "optimal" is a statement anyone can check. Pure. Imported by choose/plan and front.
package commit

import (
	"cmp"
	"math"
	"slices"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/price"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// Step is a stretch of a month at one demand.
type Step struct {
	// Units is what is needed, and Firm how much of it cannot be interrupted; both count to a millionth, and Firm is at most Units.
	Units, Firm float64
	Hours       unit.Hours // counts to the second
}

// Scenario is one way demand may turn out.
type Scenario struct {
	Weight int // out of the sum of all weights; positive
	// Months holds the demand of each month of the horizon; the steps of a month may be in any order.
	Months [][]Step
}

// Option is one commitment on offer. Its mode has a term of whole months.
type Option struct {
	Mode   catalog.BillingMode
	Hourly money.Rate // effective: the whole price over the term
}

// Months is the length of the term.
func (o Option) Months() int { return price.Months(o.Mode.Term()) }

// Price is what one unit costs for its term, used or not.
func (o Option) Price() money.Amount { return price.Compute(o.Hourly, 1, o.Mode.Term()) }

// Commits says whether a mode is a commitment that can be planned by the month: a capacity block is for days, and pay as you go
// commits to nothing.
func Commits(m catalog.BillingMode) bool { return m.Term() >= unit.HoursPerMonth }

// Problem is a demand and the prices at which it can be met: one currency, one kind of unit.
type Problem struct {
	OnDemand money.Rate
	// Spot is what an hour of work costs on spot, with the time that interruptions waste; it only takes demand that is not firm, and
	// only where it is cheaper than on-demand.
	Spot    unit.Maybe[money.Rate]
	Options []Option
	// Every is how many months lie between the dates at which commitments can be bought, the first at the start; 0 is every month.
	Every     int
	Scenarios []Scenario // at least one; all as long, at least a month
}

// Purchase is units of one option bought together.
type Purchase struct {
	Option int // index into the problem's options
	Month  int // bought at its start; 0 is the first
	Units  int
}

// Mix is a solution.
type Mix struct {
	Purchases []Purchase // by month, then option
	Active    []int      // units under commitment in each month
	Cost      money.Amount
	// Bound is a price below which no mix can cost, by linear duality. It equals Cost.
	Bound money.Amount
}

const (
	maxTerm = 36   // months of the longest commitment
	maxCost = 4e12 // what a demand may cost, so that sums in micros stay exact; half of what money holds
)

// MaxUnits bounds the demand of a problem: more are better counted in tens.
const MaxUnits = 100_000

//

// Solve finds the mix with the least expected cost.
//
// With C units committed, an hour of demand d and firm demand f costs (C at hand, spot up to d - f, the rest on demand)
//
//	spot min(e, d-f) + on-demand max(0, e-(d-f)),   e = max(0, d-C)
//
// which is convex in C, and so is the expectation over hours and scenarios. A purchase covers a run of months, so that the matrix of
// purchases and months has consecutive ones: it is the matrix of a network along the time line, where a unit travels from the first
// month to the last by purchases, or a month at a time uncommitted at the marginal price of a unit fewer. The cheapest flow of as many
// units as the peak needs is the cheapest mix, and it is whole by itself (Ahuja, Magnanti and Orlin, Network Flows, 1993, chapters 9,
// 14 and 19: successive shortest paths, convex costs, consecutive ones).
func Solve(p Problem) (*Mix, error) {
	peak := p.peak()
	if peak > MaxUnits {
		return nil, problem.New(problem.Input, "commit.too_many_units", problem.Args{"Units": math.Ceil(peak), "Limit": MaxUnits})
	}
	if p.most() > maxCost {
		return nil, problem.New(problem.Input, "commit.too_dear", problem.Args{"Units": math.Ceil(peak)})
	}
	months := p.curves(nil)
	top := 0
	for _, m := range months {
		top = max(top, len(m.total))
	}
	n := network(p, months, top)
	n.ship()
	mix := &Mix{Active: make([]int, len(months))}
	for m := range months {
		mix.Active[m] = top - n.loose[m]
	}
	cost := int64(0)
	for _, a := range n.arcs {
		if a.flow > 0 {
			mix.Purchases = append(mix.Purchases, Purchase{a.option, a.from, a.flow})
			cost += a.cost * int64(a.flow)
		}
	}
	slices.SortFunc(mix.Purchases, func(a, b Purchase) int { return cmp.Or(a.Month-b.Month, a.Option-b.Option) })
	for m, active := range mix.Active {
		cost += over(n.worth[m], active)
	}
	c := p.OnDemand.Currency()
	mix.Cost, mix.Bound = money.Micros(cost, c), money.Micros(n.bound(), c)
	return mix, nil
}

// spot is the price of an hour on spot where it is of use.
func (p Problem) spot() (money.Rate, bool) {
	r, ok := p.Spot.Get()
	return r, ok && r.Nanos() < p.OnDemand.Nanos()
}

// months is the length of the horizon.
func (p Problem) months() int { return len(p.Scenarios[0].Months) }

// weight is the sum of all weights.
func (p Problem) weight() int64 {
	sum := int64(0)
	for _, s := range p.Scenarios {
		sum += int64(s.Weight)
	}
	return sum
}

// peak is the highest demand.
func (p Problem) peak() float64 {
	most := 0.0
	for _, s := range p.Scenarios {
		for _, steps := range s.Months {
			for _, step := range steps {
				most = max(most, step.Units)
			}
		}
	}
	return most
}

// most is more than any mix in any scenario can cost: the peak at the highest price, over the horizon and the longest term.
func (p Problem) most() float64 {
	dearest := p.OnDemand.Float()
	for _, o := range p.Options {
		dearest = math.Max(dearest, o.Hourly.Float())
	}
	return dearest * p.peak() * float64(p.months()+maxTerm) * unit.HoursPerMonth
}

// only is the problem with one scenario.
func (p Problem) only(s int) Problem {
	p.Scenarios = p.Scenarios[s : s+1]
	return p
}

// millionths is an amount of units as a whole number.
func millionths(units float64) int64 { return int64(math.Round(units * 1e6)) }
