// Package deadline does work under a deadline on spot instances that come and go, with on-demand instances to fall back on: policies,
// the optimum of one who knows the future, and the comparison of them on recorded availability.
//
// Time runs in the ticks of a trace. Every start of an instance, of either kind or in another zone, takes its overhead, paid and without
// progress; a spot instance whose zone has none left is gone before the tick is paid; progress made is kept. Invariants: no policy
// misses a deadline that on-demand instances alone can meet; no policy is cheaper than the optimum; a policy sees no tick
// before it comes. Pure and deterministic: random policies draw from a seed. Imported by front and plan.
package deadline

import (
	"math"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
)

// Job is work under a deadline, in ticks of a trace.
type Job struct {
	Work     int // ticks of progress to make
	Deadline int // ticks from the start
	Overhead int // ticks that every start of an instance takes, paid and without progress
}

// Ask is a job as its owner states it.
type Ask struct {
	Work, Overhead unit.Hours
	Deadline       unit.Hours // from the start
}

// In is the job in ticks of so many hours: the work and the deadline rounded, half a tick up, and the overhead rounded up. What floating
// point adds to a number of ticks or takes from it does not count.
func (a Ask) In(gap unit.Hours) Job {
	const noise = 1e-9
	ticks := func(h unit.Hours) float64 { return float64(h / gap) }
	return Job{
		Work: int(math.Floor(ticks(a.Work) + 0.5 + noise)), Deadline: int(math.Floor(ticks(a.Deadline) + 0.5 + noise)),
		Overhead: int(math.Ceil(ticks(a.Overhead) - noise)),
	}
}

// Check refuses a job that cannot be done in time even on demand, or that has more ticks than an optimum can be found for.
func (j Job) Check(gap unit.Hours) error {
	if j.Work < 1 {
		return problem.New(problem.Input, "spot.no_work", problem.Args{"Tick": gap})
	}
	if j.Work+j.Overhead > j.Deadline {
		h := func(ticks int) unit.Hours { return unit.Hours(ticks) * gap }
		return problem.New(problem.Input, "spot.too_late", problem.Args{"Work": h(j.Work), "Overhead": h(j.Overhead), "Deadline": h(j.Deadline)})
	}
	if j.Deadline > maxCells/j.width() {
		return problem.New(problem.Input, "spot.too_fine", problem.Args{"Tick": gap, "Ticks": j.Deadline})
	}
	return nil
}

// Market is what can be had where, and for how much. All zones have the same ticks.
type Market struct {
	Gap      unit.Hours
	OnDemand money.Rate
	Zones    []Zone
}

// Zone is a place to rent spot instances.
type Zone struct {
	Name  string
	Up    []bool
	Price []int64 // nanos of the currency an hour, by tick; a single one holds throughout
}

// price is what an hour costs at a tick, in nanos.
func (z *Zone) price(tick int) int64 {
	if len(z.Price) == 1 {
		return z.Price[0]
	}
	return z.Price[tick]
}

// countable says whether the cost of so many ticks at the highest price fits into what sums are kept in.
func (m *Market) countable(ticks int) bool {
	highest := m.OnDemand.Nanos()
	for _, z := range m.Zones {
		for _, p := range z.Price {
			highest = max(highest, p)
		}
	}
	return highest <= never/int64(ticks)
}

// Ticks is how long the market is known.
func (m *Market) Ticks() int {
	n := len(m.Zones[0].Up)
	for _, z := range m.Zones[1:] {
		n = min(n, len(z.Up))
	}
	return n
}

// Choice is what runs in a tick: nothing, an on-demand instance, or a spot instance in a zone from 0 on.
type Choice int

// The choices that are not a zone.
const (
	Off      Choice = -2
	OnDemand Choice = -1
)

// View is all that a policy may know at a tick.
type View struct {
	Tick     int // since the start
	Progress int
	Holding  Choice // an instance that is still there; one that was taken away is not
	Waiting  int    // ticks of overhead left of it
	Up       []bool // zones that have spot instances now
	Price    []int64
	OnDemand int64 // nanos an hour, as Price
}

// Policy decides what to run.
type Policy interface {
	Name() string
	// Begin gives the decisions of one run, which starts at a tick of the market; what it learns stays in the run. Only the optimum may
	// look at the market's ticks: the others get to know them from the View.
	Begin(j Job, m *Market, start int) func(*View) Choice
}

// Outcome is what a run came to.
type Outcome struct {
	Spot, OnDemand int   // ticks paid
	Nanos          int64 // sum over the ticks of the hourly price
	Preemptions    int   // spot instances taken away
	Finished       int   // ticks from the start
	Missed         bool
}

// Run plays a job from a tick of the market on. A policy that does not know the future is held by a safety net: when what it chooses
// would leave too little time to finish on demand, the job moves to on-demand, which is the last tick it safely can.
func (j Job) Run(m *Market, start int, p Policy) Outcome {
	decide := p.Begin(j, m, start)
	_, knows := p.(optimal)
	v := View{Holding: Off, Up: make([]bool, len(m.Zones)), Price: make([]int64, len(m.Zones)), OnDemand: m.OnDemand.Nanos()}
	var o Outcome
	for ; v.Tick < j.Deadline && v.Progress < j.Work; v.Tick++ {
		now := start + v.Tick
		for i := range m.Zones {
			v.Up[i], v.Price[i] = m.Zones[i].Up[now], m.Zones[i].price(now)
		}
		if v.Holding >= 0 && !v.Up[v.Holding] {
			v.Holding, v.Waiting = Off, 0
			o.Preemptions++
		}
		c := decide(&v)
		if c >= 0 && !v.Up[c] {
			c = Off
		}
		if !knows && !j.safe(&v, c) {
			c = OnDemand
		}
		if c != v.Holding {
			v.Holding, v.Waiting = c, j.Overhead
		}
		switch {
		case c == Off:
			continue
		case c == OnDemand:
			o.OnDemand++
			o.Nanos += v.OnDemand
		default:
			o.Spot++
			o.Nanos += v.Price[c]
		}
		if v.Waiting > 0 {
			v.Waiting--
		} else {
			v.Progress++
		}
	}
	o.Finished, o.Missed = v.Tick, v.Progress < j.Work
	return o
}

// safe says that the work can still be finished on demand after this tick, whatever happens to spot instances.
func (j Job) safe(v *View, c Choice) bool {
	left, need := j.Deadline-v.Tick, j.Work-v.Progress
	if c == OnDemand {
		return true
	}
	if c >= 0 && (c == v.Holding && v.Waiting == 0 || c != v.Holding && j.Overhead == 0) {
		need--
	}
	return need == 0 || need+j.Overhead <= left-1
}
