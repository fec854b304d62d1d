package serve

import (
	"math"

	"github.com/rackrate/rackrate/internal/choose/estimate/serve/sim"
)

// How many requests are simulated.
const (
	fullDraw  = 800   // at each rate of a search: eight of them are beyond the 99th percentile
	leastDraw = 100   // and where prompts are of many chunks
	mostSteps = 20000 // steps with chunks of prompts at each rate
	longer    = 4     // times as many to confirm a promise
	rounds    = 10    // and as many as there are in their answers at once, this many times over: a tenth at either end is left out
	mostDraw  = 20000 // but no more
	aloneDraw = 400   // of a client alone, where requests differ
	fleetSeed = 1
)

// draw is how many requests a search simulates at a rate.
func (j *job) draw() int {
	chunks := 1.0
	if n := j.engine.ChunkTokens; n > 0 {
		chunks = math.Ceil(j.in / float64(n))
	}
	return int(min(fullDraw, max(leastDraw, mostSteps/chunks)))
}

// longDraw is how many confirm a promise at a rate, when the replica has up to so many in their answers at once: of a trace at
// least its share of the busiest part.
func (j *job) longDraw(rate, atOnce float64) int {
	n := max(longer*float64(j.draw()), rounds*atOnce)
	if j.w.Traffic.Trace != nil {
		stretch, own := j.stretch()
		n = max(n, float64(len(stretch))*min(1, rate/own))
	}
	return int(min(mostDraw, n))
}

// pace stretches an engine's steps as measurements correct them.
type pace struct {
	step   *Step
	factor float64
}

// Seconds is the corrected time of a step.
func (p *pace) Seconds(x sim.Step) float64 { return p.factor * p.step.Seconds(x) }

// deployment is a candidate as it is simulated, with so many sequences at once at most; 0 is the engine's own limit.
func (j *job) deployment(c *candidate, sequences int) sim.Deployment {
	d := sim.Deployment{Engine: c.step.Engine(c.tokens(j.full(), c.Spread.whole().DP), 1), FrontSeconds: c.step.front(j.lengths(), 0)}
	d.Stepper = &pace{c.step, c.tpot.Factor}
	if sequences > 0 {
		d.MaxSequences = sequences
	}
	return d
}

// inHand is how many sequences a replica works on at a rate of requests, by the closed form.
func (j *job) inHand(c *candidate, rate float64) float64 {
	low, high := 0.0, c.most()
	for high-low > max(0.5, 0.02*low) {
		if mid := (low + high) / 2; j.at(&c.replica, max(1, mid)).rate < rate {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// limit is the promised percentiles; 0 is none.
func (j *job) limit() sim.Tail {
	s := j.w.SLO
	return sim.Tail{TTFT: s.TTFTp99.Seconds(), TPOT: s.TPOTp99.Seconds(), E2E: s.E2Ep99.Seconds()}
}

// quiet is what a client alone sees.
func (j *job) quiet(c *candidate, d sim.Deployment) sim.Tail {
	n := 1
	if j.w.Traffic.Trace != nil {
		n = aloneDraw
	}
	return c.corrected(j.fleets.sim.Quiet(d, j.sent(1, n)), d.FrontSeconds)
}

// busy is what clients see at a rate, by so many requests.
func (j *job) busy(c *candidate, d sim.Deployment, rate float64, n int) sim.Tail {
	d.FrontSeconds = c.step.front(j.lengths(), j.inHand(c, rate)-1)
	return c.corrected(j.fleets.sim.Busy(d, j.sent(rate, n)), d.FrontSeconds)
}

// corrected is simulated tails as measurements correct them. Steps already are; the first token is corrected for its own.
func (r *replica) corrected(t sim.Tail, front float64) sim.Tail {
	rest := max(0, t.E2E-t.TTFT)
	t.TTFT = ((t.TTFT-front)/r.tpot.Factor + front) * r.ttft.Factor
	t.E2E = t.TTFT + rest
	return t
}

// sent is n requests as one replica of the fleet gets them at a rate, by a random split of the traffic, than which a router
// that looks at queues does better: Poisson arrivals of one size, or its share of the trace's busiest part.
func (j *job) sent(rate float64, n int) []sim.Request {
	f, t := &j.fleets, j.w.Traffic
	if t.Trace == nil {
		f.requests = sim.Poisson(f.requests[:0], n, rate, sim.Fixed(t.InputTokens, t.OutputTokens), fleetSeed)
		return f.requests
	}
	stretch, own := j.stretch()
	f.requests = sim.Share(f.requests[:0], stretch, own, rate, n, fleetSeed)
	return f.requests
}

// stretch is the busiest part of the traffic's trace, and its requests a second.
func (j *job) stretch() (requests []sim.Request, perSecond float64) {
	f, t := &j.fleets, j.w.Traffic.Trace
	if f.stretch == nil {
		for _, a := range t.Busiest() {
			f.stretch = append(f.stretch, sim.Request{At: a.Seconds, In: a.InputTokens, Out: a.OutputTokens})
		}
		f.perSecond = t.Peak()
	}
	return f.stretch, f.perSecond
}
