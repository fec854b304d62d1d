package deadline

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
)

// Sweep is a comparison of policies on one job, started at many points of many markets.
type Sweep struct {
	Ask
	Markets  []*Market
	Starts   int // spread evenly over each market
	Policies []Policy
}

// Report is how the policies did.
type Report struct {
	Currency money.Currency
	Overall  []Score
	Markets  []MarketReport
	// Short names the markets that end before the deadline and were left out.
	Short []string
}

// MarketReport is how the policies did in one market.
type MarketReport struct {
	Name   string
	Job    Job
	Gap    unit.Hours
	Up     float64 // share of ticks with a spot instance in some zone
	Runs   int
	Scores []Score
}

// Score is a policy's means over its runs.
type Score struct {
	Policy         string
	Runs           int
	Cost           money.Amount // mean, rounded once to the micro
	RatioToOptimal float64      // mean cost over the optimum's mean cost
	Saving         float64      // share of the mean cost of on-demand only
	Preemptions    float64      // spot instances taken away
	SpotShare      float64      // of the ticks paid
	Hours          unit.Hours   // until the work was done
	Missed         int          // runs that missed the deadline
}

// Name is the names of its zones.
func (m *Market) Name() string {
	name := m.Zones[0].Name
	for _, z := range m.Zones[1:] {
		name += "+" + z.Name
	}
	return name
}

// up is the share of ticks in which some zone has spot instances.
func (m *Market) up() float64 {
	n, ticks := 0, m.Ticks()
	for t := range ticks {
		if slices.ContainsFunc(m.Zones, func(z Zone) bool { return z.Up[t] }) {
			n++
		}
	}
	return float64(n) / float64(ticks)
}

// Compare runs every policy from every start, of which there is at least one. Markets are worked on side by side; the result does not depend on how many at a time.
func (s Sweep) Compare(ctx context.Context) (*Report, error) {
	r := &Report{Currency: s.Markets[0].OnDemand.Currency()}
	var faults problem.List
	var fits []*Market
	for _, m := range s.Markets {
		j := s.In(m.Gap)
		if err := j.Check(m.Gap); err != nil {
			faults = append(faults, problem.All(err)...)
		} else if len(m.Zones) > MaxZones {
			faults = append(faults, problem.New(problem.Input, "spot.too_many_zones", problem.Args{"Zones": len(m.Zones), "Most": MaxZones}))
		} else if !m.countable(j.Deadline) {
			faults = append(faults, problem.New(problem.Input, "spot.too_dear", problem.Args{"Ticks": j.Deadline}))
		} else if m.Ticks() < j.Deadline {
			r.Short = append(r.Short, m.Name())
		} else {
			fits = append(fits, m)
		}
	}
	if err := faults.OrNil(); err != nil {
		return nil, err
	}
	if len(fits) == 0 {
		return nil, problem.New(problem.NoMatch, "spot.traces_short", problem.Args{"Deadline": s.Deadline, "Traces": len(s.Markets)})
	}
	tallies := make([][]tally, len(fits))
	var wg sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, m := range fits {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if ctx.Err() == nil {
				tallies[i] = s.market(m)
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	total := make([]tally, len(tallies[0]))
	for i, m := range fits {
		for k, t := range tallies[i] {
			total[k].add(t)
		}
		r.Markets = append(r.Markets, MarketReport{m.Name(), s.In(m.Gap), m.Gap, m.up(), s.Starts, s.scores(tallies[i], r.Currency)})
	}
	r.Overall = s.scores(total, r.Currency)
	return r, nil
}

// tally is sums over runs.
type tally struct {
	runs, preemptions, missed, spot, ticks int
	nanoHours                              float64 // prices an hour, in nanos, times the hours they were paid for
	hours                                  float64
}

func (t *tally) add(u tally) {
	t.runs += u.runs
	t.preemptions += u.preemptions
	t.missed += u.missed
	t.spot += u.spot
	t.ticks += u.ticks
	t.nanoHours += u.nanoHours
	t.hours += u.hours
}

func (t *tally) run(o Outcome, m *Market) {
	one := tally{runs: 1, preemptions: o.Preemptions, spot: o.Spot, ticks: o.Spot + o.OnDemand, nanoHours: float64(o.Nanos) * float64(m.Gap), hours: float64(o.Finished) * float64(m.Gap)}
	if o.Missed {
		one.missed = 1
	}
	t.add(one)
}

// market runs the policies in one market, and after them what they are measured by: on-demand only and the optimum.
func (s Sweep) market(m *Market) []tally {
	j := s.In(m.Gap)
	policies := append(slices.Clone(s.Policies), onDemandOnly{}, optimal{})
	out := make([]tally, len(policies))
	for k := range s.Starts {
		start := 0
		if s.Starts > 1 {
			start = (m.Ticks() - j.Deadline) * k / (s.Starts - 1)
		}
		best := j.Run(m, start, optimal{})
		for i, p := range policies {
			if _, knows := p.(optimal); knows {
				out[i].run(best, m)
			} else {
				out[i].run(j.Run(m, start, p), m)
			}
		}
	}
	return out
}

// scores are the means of the policies; the last two tallies are those of on-demand only and the optimum.
func (s Sweep) scores(tallies []tally, c money.Currency) []Score {
	mean := func(t tally) float64 { return t.nanoHours / float64(t.runs) }
	onDemand, best := mean(tallies[len(s.Policies)]), mean(tallies[len(s.Policies)+1])
	var out []Score
	for i, p := range s.Policies {
		t := tallies[i]
		out = append(out, Score{
			Policy: p.Name(), Runs: t.runs, Cost: money.Micros(int64(math.Round(mean(t)/1e3)), c),
			RatioToOptimal: mean(t) / best, Saving: 1 - mean(t)/onDemand,
			Preemptions: float64(t.preemptions) / float64(t.runs), SpotShare: float64(t.spot) / float64(t.ticks),
			Hours: unit.Hours(t.hours / float64(t.runs)), Missed: t.missed,
		})
	}
	return out
}
