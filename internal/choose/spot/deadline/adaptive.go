package deadline

import (
	"math"
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
	under map[belief]decisions
}

// NewAdaptive is the adaptive policy, which starts from what availability was seen before; none is needed.
func NewAdaptive(history ...spot.Trace) Policy {
	return &adaptive{law: usual, history: history, grids: map[gridKey]*solved{}}
}

func (*adaptive) Name() string { return "adaptive" }

// Begin forgets all runs but keeps decisions, which depend on beliefs and not on what led to them.
func (a *adaptive) Begin(j Job, m *Market, _ int) func(*View) Choice {
	r := &adaptiveRun{policy: a, job: j, gap: float64(m.Gap), zones: make([]watch, len(m.Zones)), all: a.law.watch(), up: make([]bool, len(m.Zones))}
	known := a.law.watch()
	for _, t := range a.history {
		known.learn(t)
	}
	for i := range r.zones {
		r.zones[i] = known
	}
	if len(r.zones) == 1 { // of several, that all are down at once is something history does not tell
		r.all = known
	}
	return r.decide
}

// adaptiveRun is what one run has seen.
type adaptiveRun struct {
	policy *adaptive
	job    Job
	gap    float64
	zones  []watch
	all    watch // of whether any zone has an instance
	up     []bool

	losses, others float64 // instances that went, and those at which another zone had one
	paid, seen     float64 // sum and number of the spot prices seen, as shares of that of on-demand
}

// decide is the choice at a tick. A spot price at or above that of on-demand is as good as no spot instance.
func (r *adaptiveRun) decide(v *View) Choice {
	r.see(v)
	if v.Holding >= 0 && r.up[v.Holding] {
		return v.Holding
	}
	best := r.best(v)
	situation, age := offDown, r.all.age
	if best >= 0 {
		situation, age = offUp, r.zones[best].age
	}
	if v.Holding == OnDemand {
		if v.Waiting > 0 {
			return OnDemand
		}
		situation += odDown - offDown
	}
	d, at := r.decisions(v, classOf(age), best)
	switch d[at] >> situation & 3 {
	case takeOnDemand:
		return OnDemand
	case takeSpot:
		return best
	}
	return Off
}

// see takes in what a tick shows.
func (r *adaptiveRun) see(v *View) {
	any := false
	for i, up := range v.Up {
		up = up && v.Price[i] < v.OnDemand
		if r.up[i] && !up {
			r.losses++
			for k := range v.Up {
				if k != i && v.Up[k] && v.Price[k] < v.OnDemand {
					r.others++
					break
				}
			}
		}
		r.up[i] = up
		if up {
			any = true
			r.paid += float64(v.Price[i]) / float64(v.OnDemand)
			r.seen++
		}
		r.zones[i].see(up, r.gap)
	}
	r.all.see(any, r.gap)
}

// best is the zone to start in: where an hour of progress costs least, counting the overheads that losses bring; Off when there is none.
func (r *adaptiveRun) best(v *View) Choice {
	best, least := Off, math.Inf(1)
	for i, up := range r.up {
		if !up {
			continue
		}
		overhead := float64(r.job.Overhead) * r.gap
		if rate := float64(v.Price[i]) * (1 + overhead*r.zones[i].up.hazard(r.zones[i].age)); rate < least {
			best, least = Choice(i), rate
		}
	}
	return best
}

// decisions are those under what is believed now.
func (r *adaptiveRun) decisions(v *View, class int, zone Choice) (decisions, int) {
	b := belief{down: step(r.all.down.shape()), price: step(r.priceShare(v))}
	if zone < 0 {
		zone = 0
	}
	b.up = step(r.zones[zone].up.shape())
	if len(r.zones) > 1 {
		b.other = tenth((r.others + 1) / (r.losses + 2))
	}
	a := r.policy
	a.mu.Lock()
	defer a.mu.Unlock()
	key := gridKey{r.job, r.gap}
	s := a.grids[key]
	if s == nil {
		s = &solved{newGrid(a.law, r.job, r.gap), map[belief]decisions{}}
		a.grids[key] = s
	}
	d, ok := s.under[b]
	if !ok {
		d = s.decide(b)
		s.under[b] = d
	}
	return d, s.at(v, class)
}

// priceShare is the mean price of spot seen so far over that of on-demand; before any was seen, the cheapest on offer.
func (r *adaptiveRun) priceShare(v *View) float64 {
	if r.seen > 0 {
		return r.paid / r.seen
	}
	least := v.OnDemand
	for _, p := range v.Price {
		least = min(least, p)
	}
	return float64(least) / float64(v.OnDemand)
}
