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

const (
	fullDraw  = 800   // requests at each rate: eight of them are beyond the 99th percentile
	leastDraw = 100   // and where prompts are of many chunks
	mostSteps = 20000 // steps with chunks of prompts at each rate
	aloneDraw = 64    // requests of a client alone, where they differ
	fleetSeed = 1
)

// pace stretches an engine's steps as measurements correct them.
type pace struct {
	step   *Step
	factor float64
}

// Seconds is the corrected time of a step.
func (p *pace) Seconds(x sim.Step) float64 { return p.factor * p.step.Seconds(x) }

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
	k = signature{room: c.tokens(j.full(), c.Spread.whole().DP), saturated: c.saturated, dp: c.Spread.whole().DP, ttft: c.ttft.Factor}
	for i, x := range probes {
		k.steps[i] = c.step.Seconds(x) * c.tpot.Factor
	}
	return k
}

// fleets is the simulations of a job so far.
type fleets struct {
	sync.Mutex
	sim      sim.Sim
	requests []sim.Request
	trace    []sim.Request
	known    map[signature]outcome
}

type outcome struct {
	promise
	bad *estimate.Refusal
}

// promise simulates a replica at rising rates until the promises break. It takes in no more sequences at once than keep the
// mean time per token to its promise: who waits in the queue slows no one's tokens.
func (j *job) promise(c *candidate) (promise, *estimate.Refusal) {
	f := &j.fleets
	f.Lock()
	defer f.Unlock()
	key := j.signature(c)
	if o, ok := f.known[key]; ok {
		return o.promise, o.bad
	}
	limit := j.w.SLO.TPOTp99.Seconds()
	var o outcome
	for i, share := range calm {
		n, saturated := j.within(c, share*limit), c.saturated
		if n > 0 {
			saturated = j.at(&c.replica, float64(n)).rate
		}
		if i > 0 && (n == 0 || o.curve.At(o.saturated).TPOT <= limit || saturated*j.c.Serve.TargetLoad <= o.rate) {
			break // it is not the tokens that come late, or fewer could do no more
		}
		if p := j.simulate(c, key.room, n, saturated); i == 0 || p.rate > o.rate {
			o.promise = p
		}
		if limit == 0 {
			break
		}
	}
	if o.rate <= 0 {
		_, have, want := j.worst(promised(o.curve.At(0)))
		o.bad = &estimate.Refusal{Reason: estimate.NoLatency, Have: have, Want: want}
	}
	if f.known == nil {
		f.known = map[signature]outcome{}
	}
	f.known[key] = o
	return o.promise, o.bad
}

// calm is the parts of the promised time per token that the mean may take: all of it where few come late, and less where the
// 99th percentile would else break.
var calm = [...]float64{1, 0.9}

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

// simulate draws the curve of a replica with room for so many tokens and sequences, 0 for the engine's own limit, up to the
// most that a fleet is planned to or the first rate that does not hold.
func (j *job) simulate(c *candidate, room float64, sequences int, saturated float64) promise {
	f, slo := &j.fleets, j.w.SLO
	p := promise{saturated: saturated, sequences: sequences, curve: &sim.Curve{}}
	d := sim.Deployment{Engine: c.step.Engine(room, 1), FrontSeconds: j.front()}
	d.Stepper = &pace{c.step, c.tpot.Factor}
	if sequences > 0 {
		d.MaxSequences = sequences
	}
	limit := sim.Tail{TTFT: slo.TTFTp99.Seconds(), TPOT: slo.TPOTp99.Seconds(), E2E: slo.E2Ep99.Seconds()}
	measure := func(rate float64, t sim.Tail) bool {
		t = c.corrected(t, d.FrontSeconds)
		p.curve.Add(rate, t)
		return t.Holds(limit)
	}
	busy := func(rate float64) bool { return measure(rate, f.sim.Busy(d, j.sent(f, rate, j.busy()))) }
	top := j.c.Serve.TargetLoad * saturated
	if !measure(0, f.sim.Quiet(d, j.sent(f, top, j.alone()))) {
		return p
	}
	low, high := 0.0, math.Pow(rung, math.Floor(math.Log(leastShare*top)/math.Log(rung)))
	for busy(min(high, top)) {
		if p.rate = top; high >= top {
			return p
		}
		low, high = high, high*rung
	}
	for range halvings {
		if mid := math.Sqrt(max(low, high/rung/rung) * high); mid >= top || !busy(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	p.rate = p.curve.Most(limit)
	return p
}

// front is the time from a client's sending to the engine's queue for a prompt of mean length.
func (j *job) front() float64 { return j.engine.FrontMS*1e-3 + j.engine.TokenUS*1e-6*j.in }

// corrected is simulated tails as measurements correct them. Steps already are; the first token is corrected for its own.
func (r *replica) corrected(t sim.Tail, front float64) sim.Tail {
	first := ((t.TTFT-front)/r.tpot.Factor + front) * r.ttft.Factor
	t.E2E = max(first, t.E2E+first-t.TTFT)
	t.TTFT = first
	return t
}

// busy is how many requests are simulated at a rate, and alone how many of a client alone.
func (j *job) busy() int {
	chunks := 1.0
	if n := j.engine.ChunkTokens; n > 0 {
		chunks = math.Ceil(j.in / float64(n))
	}
	return int(min(fullDraw, max(leastDraw, mostSteps/chunks)))
}

func (j *job) alone() int {
	if j.w.Traffic.Trace == nil {
		return 1
	}
	return aloneDraw
}

// sent is n requests as one replica of the fleet gets them at a rate: Poisson arrivals of one size, which splitting a stream
// at random gives each; or its share of the trace.
func (j *job) sent(f *fleets, rate float64, n int) []sim.Request {
	t := j.w.Traffic
	if t.Trace == nil {
		f.requests = sim.Poisson(f.requests[:0], n, rate, sim.Fixed(t.InputTokens, t.OutputTokens), fleetSeed)
		return f.requests
	}
	if f.trace == nil {
		for _, a := range t.Trace.Requests {
			f.trace = append(f.trace, sim.Request{At: a.Seconds, In: a.InputTokens, Out: a.OutputTokens})
		}
	}
	f.requests = sim.Thin(f.requests[:0], f.trace, t.RequestsPerSecond, rate, n)
	return f.requests[:min(n, len(f.requests))]
}
