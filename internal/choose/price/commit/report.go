package commit

import (
	"math"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/price"
)

// Report is the cheapest mix over one horizon with what to know before buying it.
type Report struct {
	Problem Problem
	Mix     *Mix
	Use     Use
	Summary
}

// Summary is what a mix comes to, of one group or of several together.
type Summary struct {
	Cost                      money.Amount // expected; the sum of the three parts, and of the flow
	Committed, OnDemand, Spot money.Amount
	Flow                      price.Flow
	AllOnDemand               money.Amount // the same demand without commitments and spot
	Uncommitted               money.Amount // without commitments
	Hours                     MonthUse     // of the whole horizon
	Outcomes                  []Outcome    // by scenario; of several groups, all in the same
	Falls                     []Fall       // by FallShares
	// Holds is the largest share by which demand may be lower from the start, in all scenarios, before the commitments cost more than
	// they save; unknown where there are none.
	Holds unit.Maybe[float64]
}

// Outcome is a mix in one scenario.
type Outcome struct {
	Cost money.Amount
	Best money.Amount // of the cheapest mix for that scenario, had it been known
}

// Regret is what not having known costs; never negative.
func (o Outcome) Regret() money.Amount { return o.Cost.Sub(o.Best) }

// Fall is a mix when demand is lower by a share, from the start and in all scenarios.
type Fall struct {
	Share             float64
	Cost, AllOnDemand money.Amount
	Hours             MonthUse
}

// FallShares are the falls that are looked at.
var FallShares = []float64{0.1, 0.25, 0.5}

// Solution solves a problem and looks at the answer from all sides.
func Solution(p Problem) (*Report, error) {
	mix, err := Solve(p)
	if err != nil {
		return nil, err
	}
	months := p.curves(nil)
	u := p.use(mix.Purchases, months)
	r := &Report{Problem: p, Mix: mix, Use: u, Summary: Summary{
		Cost: u.Cost, Committed: u.Committed, OnDemand: u.OnDemand, Spot: u.Spot, Flow: u.Flow, Hours: u.Hours(),
		AllOnDemand: p.allOnDemand(months), Uncommitted: p.use(nil, months).Cost,
	}}
	for s := range p.Scenarios {
		alone := p.only(s)
		best, err := Solve(alone)
		if err != nil {
			return nil, err
		}
		r.Outcomes = append(r.Outcomes, Outcome{alone.Use(mix.Purchases).Cost, best.Cost})
	}
	for _, share := range FallShares {
		months := p.curves(lower(share))
		u := p.use(mix.Purchases, months)
		r.Falls = append(r.Falls, Fall{share, u.Cost, p.allOnDemand(months), u.Hours()})
	}
	r.Holds = holds(r)
	return r, nil
}

// Total sums reports of one currency, horizon and number of scenarios, at least one; together they are bounded as each is.
func Total(reports []*Report) (Summary, error) {
	most, peak := 0.0, 0.0
	for _, r := range reports {
		most, peak = most+r.Problem.most(), peak+r.Problem.peak()
	}
	if most > maxCost {
		return Summary{}, problem.New(problem.Input, "commit.too_dear", problem.Args{"Units": math.Ceil(peak)})
	}
	sum := reports[0].Summary
	for _, r := range reports[1:] {
		sum.Cost, sum.Committed = sum.Cost.Add(r.Cost), sum.Committed.Add(r.Committed)
		sum.OnDemand, sum.Spot = sum.OnDemand.Add(r.OnDemand), sum.Spot.Add(r.Spot)
		sum.AllOnDemand, sum.Uncommitted = sum.AllOnDemand.Add(r.AllOnDemand), sum.Uncommitted.Add(r.Uncommitted)
		sum.Flow, sum.Hours = sum.Flow.Plus(r.Flow), sum.Hours.plus(r.Hours)
		outcomes, falls := make([]Outcome, len(sum.Outcomes)), make([]Fall, len(sum.Falls))
		for i, o := range sum.Outcomes {
			outcomes[i] = Outcome{o.Cost.Add(r.Outcomes[i].Cost), o.Best.Add(r.Outcomes[i].Best)}
		}
		for i, f := range sum.Falls {
			falls[i] = Fall{f.Share, f.Cost.Add(r.Falls[i].Cost), f.AllOnDemand.Add(r.Falls[i].AllOnDemand), f.Hours.plus(r.Falls[i].Hours)}
		}
		sum.Outcomes, sum.Falls = outcomes, falls
	}
	sum.Holds = holds(reports...)
	return sum, nil
}

// lower takes a share from the demand of a step.
func lower(share float64) func(Step) Step {
	return func(s Step) Step { return Step{s.Units * (1 - share), s.Firm * (1 - share), s.Hours} }
}

// holds finds the fall at which all commitments together save just what they cost, to a thousandth and never more. What they save
// falls with demand, because each hour's does, so that halving finds it.
func holds(reports ...*Report) unit.Maybe[float64] {
	price := int64(0)
	for _, r := range reports {
		price += r.Committed.Micros()
	}
	if price == 0 {
		return unit.None[float64]()
	}
	pays := func(share float64) bool {
		saved := int64(0)
		for _, r := range reports {
			for m, c := range r.Problem.curves(lower(share)) {
				worth := r.Problem.worth(c)
				saved += over(worth, 0) - over(worth, r.Mix.Active[m])
			}
		}
		return saved >= price
	}
	low, high := 0, 1000 // thousandths; with all the demand gone nothing is saved
	for high-low > 1 {
		if mid := (low + high) / 2; pays(float64(mid) / 1000) {
			low = mid
		} else {
			high = mid
		}
	}
	return unit.Some(float64(low) / 1000)
}

// allOnDemand is what a demand costs without commitments and spot.
func (p Problem) allOnDemand(months []curve) money.Amount {
	sum := int64(0)
	for _, c := range months {
		sum += over(cost(p.OnDemand, c.total, money.Rate{}, nil, p.weight()), 0)
	}
	return money.Micros(sum, p.OnDemand.Currency())
}

// BreakEven is the share of its hours that a committed unit must be used, all of them otherwise on demand, to be worth its price.
func (p Problem) BreakEven(option int) float64 {
	return p.Options[option].Hourly.Float() / p.OnDemand.Float()
}

// Utilisation is the share of a purchase's hours within the horizon that is used.
func (u Use) Utilisation(purchase int) float64 {
	return u.Used[purchase] / (u.Used[purchase] + u.Idle[purchase])
}

// Utilised is the share of all committed hours that is used; unknown where there are none.
func (m MonthUse) Utilised() unit.Maybe[float64] {
	if m.Used+m.Idle == 0 {
		return unit.None[float64]()
	}
	return unit.Some(m.Used / (m.Used + m.Idle))
}

// Hours sums the months.
func (u Use) Hours() MonthUse {
	var sum MonthUse
	for _, m := range u.Months {
		sum = sum.plus(m)
	}
	return sum
}

func (m MonthUse) plus(o MonthUse) MonthUse {
	return MonthUse{m.Demand + o.Demand, m.Used + o.Used, m.Idle + o.Idle, m.Spot + o.Spot, m.OnDemand + o.OnDemand}
}

// Saving is the share of a price that is saved by paying another; unknown where there is nothing to pay.
func Saving(instead, cost money.Amount) unit.Maybe[float64] {
	if instead.IsZero() {
		return unit.None[float64]()
	}
	return unit.Some(1 - cost.Float()/instead.Float())
}
