package serve

import (
	"math"
	"sync"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/serve/sim"
)

// promise is what a replica can promise: the most requests a second at which the promised percentiles hold.
type promise struct {
	rate, saturated float64
	sequences       int        // at once at most; 0 is as many as there is room for
	curve           *sim.Curve // nil by the closed form, whose load this then is
	load            load
}

// Rates are simulated on rungs that all replicas share, so that two of them are compared at the same rates: each this much
// above the last, from below leastShare of the most that a fleet is planned to. Where the promises break between two, halvings
// bring them closer.
const (
	rung       = 1.5
	leastShare = 0.75
	halvings   = 3
)

// signature tells replicas apart by what a simulation sees of them: their steps at a few points, their room and how they are
// corrected. Machines that differ otherwise share a simulation.
type signature struct {
	steps           [5]float64
	room, saturated float64
	dp              int
	ttft            float64
}

var probes = [...]sim.Step{
	{Decode: 1, Cached: 100}, {Decode: 64, Cached: 64 * 4000}, {Decode: 512, Cached: 512 * 1000},
	{Prefill: 64, Attended: 64 * 32, Prompts: 1}, {Decode: 16, Cached: 16 * 8000, Prefill: 8000, Attended: 8000 * 4000, Prompts: 4},
}

func (j *job) signature(c *candidate) (k signature) {
	d := j.deployment(c, 0)
	k = signature{room: d.KVTokens, saturated: c.saturated, dp: c.Spread.whole().DP, ttft: c.ttft.Factor}
	for i, x := range probes {
		k.steps[i] = d.Stepper.Seconds(x)
	}
	return k
}

// fleets is the simulations of a job so far.
type fleets struct {
	sync.Mutex
	sim       sim.Sim
	requests  []sim.Request
	stretch   []sim.Request // the busiest part of the traffic's trace
	perSecond float64       // of that
	known     map[signature]*outcome
}

// outcome is what simulations of a replica came to: a promise, or why there is none.
type outcome struct {
	promise
	bad       *estimate.Refusal
	confirmed bool // by a long simulation
}

// promise simulates a replica at rising rates until the promises break. It takes in no more sequences at once than keep the
// mean time per token to its promise: who waits in the queue slows no one's tokens.
func (j *job) promise(c *candidate) *outcome {
	key := j.signature(c)
	if o, ok := j.fleets.known[key]; ok {
		return o
	}
	limit := j.w.SLO.TPOTp99.Seconds()
	o := &outcome{}
	for i, n := range j.caps(c) {
		saturated := j.saturated(c, n)
		if i > 0 && (o.curve.At(o.saturated).TPOT <= limit || saturated*j.c.Serve.TargetLoad <= o.rate) {
			break // it is not the tokens that come late, or fewer could do no more
		}
		if p := j.simulate(c, n, saturated); i == 0 || p.rate > o.rate {
			o.promise = p
		}
	}
	if o.rate <= 0 {
		_, broken := j.worst(promised(o.curve.At(0)))
		o.bad = &broken
	}
	if j.fleets.known == nil {
		j.fleets.known = map[signature]*outcome{}
	}
	j.fleets.known[key] = o
	return o
}

// manages tells, by a short simulation, whether the promises could hold at a rate: far sooner than promise finds the highest.
func (j *job) manages(c *candidate, rate float64) bool {
	if o, ok := j.fleets.known[j.signature(c)]; ok {
		return o.rate >= rate
	}
	for _, n := range j.caps(c) {
		if j.saturated(c, n)*j.c.Serve.TargetLoad >= rate && j.busy(c, j.deployment(c, n), rate, j.draw()).Holds(j.limit()) {
			return true
		}
	}
	return false
}

// calm is the parts of the promised time per token that the mean may take: all of it where few come late, and less where the
// 99th percentile would else break.
var calm = [...]float64{1, 0.96, 0.92, 0.88, 0.84, 0.8}

// caps is the most sequences at once that are worth a look, 0 for all that a replica has room for: as many as keep the mean time
// per token to a part of its promise.
func (j *job) caps(c *candidate) []int {
	limit := j.w.SLO.TPOTp99.Seconds()
	if limit == 0 {
		return []int{0}
	}
	caps := []int{j.within(c, calm[0]*limit)}
	for _, share := range calm[1:] {
		if n := j.within(c, share*limit); n > 0 {
			caps = append(caps, n)
		}
	}
	return caps
}

// within is the most sequences at once whose mean time per token keeps to a limit; 0 where all that the replica takes do, or
// none.
func (j *job) within(c *candidate, limit float64) int {
	low, high := 1.0, c.most()
	if j.at(&c.replica, high).tpot <= limit || j.at(&c.replica, low).tpot > limit {
		return 0
	}
	for high-low > 1 {
		if mid := math.Floor((low + high) / 2); j.at(&c.replica, mid).tpot <= limit {
			low = mid
		} else {
			high = mid
		}
	}
	return int(low)
}

// saturated is the requests a second of a replica that takes in so many sequences at once, where latency does not matter.
func (j *job) saturated(c *candidate, sequences int) float64 {
	if sequences == 0 {
		return c.saturated
	}
	return j.at(&c.replica, float64(sequences)).rate
}

// simulate draws the curve of a replica that takes in so many sequences, 0 for the engine's own limit, up to the most that a
// fleet is planned to or the first rate that does not hold.
func (j *job) simulate(c *candidate, sequences int, saturated float64) promise {
	p := promise{saturated: saturated, sequences: sequences, curve: &sim.Curve{}}
	d, limit := j.deployment(c, sequences), j.limit()
	quiet := j.quiet(c, d)
	p.curve.Add(0, quiet)
	if !quiet.Holds(limit) {
		return p
	}
	holds := func(rate float64) bool {
		t := j.busy(c, d, rate, j.draw())
		p.curve.Add(rate, t)
		return t.Holds(limit)
	}
	top := j.c.Serve.TargetLoad * saturated
	low, high := 0.0, math.Pow(rung, math.Floor(math.Log(leastShare*top)/math.Log(rung)))
	for holds(min(high, top)) {
		if p.rate = top; high >= top {
			return p
		}
		low, high = high, high*rung
	}
	for range halvings {
		if mid := math.Sqrt(max(low, high/rung/rung) * high); mid >= top || !holds(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	p.rate = p.curve.Most(limit)
	return p
}

// sure is the share of a promise that is simulated long before the promise itself: what lies between the two is then known to
// either side.
const sure = 0.7

// confirm holds a promise against long simulations, which see rarer bursts and steadier queues than the short ones that chose
// the candidate, and lowers its rate where it breaks there. The curve is then that of the long ones.
func (j *job) confirm(c *candidate, o *outcome) {
	if o.confirmed || o.bad != nil {
		return
	}
	o.confirmed = true
	d, limit := j.deployment(c, o.sequences), j.limit()
	n := j.longDraw(o.rate, o.curve.At(o.rate).Most)
	curve := &sim.Curve{}
	curve.Add(0, j.quiet(c, d))
	for _, rate := range [...]float64{sure * o.rate, o.rate} {
		curve.Add(rate, j.busy(c, d, rate, n))
	}
	if most := curve.Most(limit); most < o.rate {
		curve.Add(most, j.busy(c, d, most, n))
	}
	o.curve, o.rate = curve, curve.Most(limit)
}
