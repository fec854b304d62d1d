package deadline

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/rackrate/rackrate/internal/choose/spot"
)

// adaptive learns how spells of availability and scarcity go as it sees them, and weighs what waiting costs against what it may bring: at
// each tick it follows the decisions that are best, over the rest of the job, if the market goes on as it has been.
type adaptive struct {
	law     law
	history []spot.Trace

	mu    sync.Mutex
	grids map[gridKey]*solved
}

type gridKey struct {
	Job
	gap float64
}

// solved is the decisions worked out so far for a job.
type solved struct {
	grid
	under map[belief]*answer
}

// answer is the decisions under a belief, worked out when first asked for.
type answer struct {
	once sync.Once
	decisions
}

// NewAdaptive is the adaptive policy, which starts from what availability was seen before; none is needed.
func NewAdaptive(history ...spot.Trace) Policy {
	return &adaptive{law: usual, history: history, grids: map[gridKey]*solved{}}
}

func (*adaptive) Name() string { return "adaptive" }

// Begin forgets all runs but keeps decisions, which depend on beliefs and not on what led to them.
func (a *adaptive) Begin(j Job, m *Market, _ int) func(*View) Choice {
	n := len(m.Zones)
	r := &adaptiveRun{policy: a, job: j, gap: float64(m.Gap), zones: make([]zone, n), tiers: make([]tier, n), order: make([]int, n)}
	known := a.law.watch()
	for _, t := range a.history {
		known.learn(t)
	}
	for i := range n {
		r.zones[i].watch, r.tiers[i].watch, r.order[i] = known, a.law.watch(), i
	}
	r.tiers[0].watch = known // of several zones, that all are down at once is something history does not tell
	return r.decide
}

// adaptiveRun is what one run has seen.
type adaptiveRun struct {
	policy *adaptive
	job    Job
	gap    float64
	zones  []zone
	order  []int  // the zones by price
	tiers  []tier // the cheapest zone, the two cheapest, and so on
}

// zone is what was seen of a zone.
type zone struct {
	watch
	has        bool    // an instance now, at less than the price of on-demand
	smoothed   float64 // its price in nanos: a peak is no reason to move
	paid, seen float64 // sum and number of its prices while it had one
}

// tier is what was seen of some of the cheapest zones together.
type tier struct {
	watch
	losses, others float64 // instances that went, and those at which another of the zones had one
}

// smoothing is the hours over which prices are smoothed.
const smoothing = 1.0

// reserve is the share of the work left that is kept of the slack for losing what runs, before any is spent on a better price.
const reserve = 0.2

// decide is the choice at a tick. A smoothed spot price at or above that of on-demand is as good as no spot instance.
func (r *adaptiveRun) decide(v *View) Choice {
	r.see(v)
	best, held := r.best(len(r.zones)), v.Holding
	if held >= 0 && r.zones[held].has {
		best = held
	} else {
		if held == OnDemand && v.Waiting > 0 {
			return held
		}
		if c := r.choose(v, OnDemand, len(r.zones), best); c < 0 {
			return c
		}
	}
	// What runs is to spot instances that are cheaper what on-demand is to all of them.
	need := r.job.Work - v.Progress
	slack := r.job.Deadline - v.Tick - need - 2*r.job.Overhead
	below := r.below(r.zones[best].smoothed)
	if below == 0 || v.Waiting > 0 && held == best || float64(slack) <= reserve*float64(need) {
		return best
	}
	return r.choose(v, best, below, r.best(below))
}

// choose decides between a base, waiting, and some of the cheapest zones, of which best has an instance now.
func (r *adaptiveRun) choose(v *View, base Choice, zones int, best Choice) Choice {
	t := &r.tiers[zones-1]
	situation, age, up := offDown, t.age, r.order[0]
	if best >= 0 {
		situation, age, up = offUp, r.zones[best].age, int(best)
	}
	if v.Holding == base {
		situation += odDown - offDown
	}
	b := belief{up: step(r.zones[up].up.shape()), down: step(t.down.shape())}
	price := float64(v.OnDemand)
	if base >= 0 {
		price = r.zones[base].smoothed
		b.missing = r.missing(v, float64(v.OnDemand)/price)
	}
	b.price = step(r.mean(zones, price) / price)
	if zones > 1 {
		b.other = tenth((t.others + 1) / (t.losses + 2))
	}
	d, at := r.decisions(v, b, classOf(age))
	switch d[at] >> situation & 3 {
	case takeOnDemand:
		return base
	case takeSpot:
		return best
	}
	return Off
}

// missing is what it costs that no zone may have an instance later: on-demand, at so many times the price, until one has.
func (r *adaptiveRun) missing(v *View, dearer float64) int {
	all, left := &r.tiers[len(r.tiers)-1], float64(r.job.Work-v.Progress)*r.gap
	up, down := all.up.mean(left), all.down.mean(left)
	return step(down / (up + down) * (dearer - 1) * down)
}

// see takes in what a tick shows.
func (r *adaptiveRun) see(v *View) {
	weight := -math.Expm1(-r.gap / smoothing)
	for i := range r.zones {
		z, now := &r.zones[i], float64(v.Price[i])
		if !z.any {
			z.smoothed = now
		}
		z.smoothed += weight * (now - z.smoothed)
	}
	slices.SortStableFunc(r.order, func(a, b int) int { return cmp.Compare(r.zones[a].smoothed, r.zones[b].smoothed) })
	ups, lost := 0, false
	for n, i := range r.order {
		z, t := &r.zones[i], &r.tiers[n]
		up := v.Up[i] && z.smoothed < float64(v.OnDemand)
		if up {
			ups++
		}
		lost = lost || z.has && !up
		z.has = up
		z.see(up, r.gap)
		t.see(ups > 0, r.gap)
		if up {
			z.paid += z.smoothed
			z.seen++
		}
		if lost {
			t.losses++
			if ups > 0 {
				t.others++
			}
		}
	}
}

// best is the zone of a tier to start in: where an hour of progress costs least, counting the overheads that losses bring; Off when there
// is none.
func (r *adaptiveRun) best(zones int) Choice {
	best, least := Off, math.Inf(1)
	overhead := float64(r.job.Overhead) * r.gap
	for _, i := range r.order[:zones] {
		z := &r.zones[i]
		if rate := z.smoothed * (1 + overhead*z.up.hazard(z.age)); z.has && rate < least {
			best, least = Choice(i), rate
		}
	}
	return best
}

// below is the number of zones that are cheaper than a price.
func (r *adaptiveRun) below(nanos float64) int {
	n := 0
	for n < len(r.order) && r.zones[r.order[n]].smoothed < nanos {
		n++
	}
	return n
}

// mean is the mean price of a tier's instances seen so far, below another price; before any was seen, that of the cheapest zone.
func (r *adaptiveRun) mean(zones int, below float64) float64 {
	paid, seen := 0.0, 0.0
	for _, i := range r.order[:zones] {
		paid, seen = paid+r.zones[i].paid, seen+r.zones[i].seen
	}
	if seen == 0 {
		paid, seen = r.zones[r.order[0]].smoothed, 1
	}
	return min(paid/seen, below)
}

// decisions are those under a belief, and where in them a situation stands.
func (r *adaptiveRun) decisions(v *View, b belief, class int) (decisions, int) {
	a := r.policy
	a.mu.Lock()
	key := gridKey{r.job, r.gap}
	s := a.grids[key]
	if s == nil {
		s = &solved{newGrid(a.law, r.job, r.gap), map[belief]*answer{}}
		a.grids[key] = s
	}
	d := s.under[b]
	if d == nil {
		d = &answer{}
		s.under[b] = d
	}
	a.mu.Unlock()
	d.once.Do(func() { d.decisions = s.decide(b) }) // markets side by side wait for the same answer only
	return d.decisions, s.at(v, class)
}
