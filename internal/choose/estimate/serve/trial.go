package serve

import (
	"sync"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/serve/sim"
)

// Pool is so many like engines.
type Pool struct {
	Setup
	Count int
}

// Trial is a deployment under the load of a public benchmark: so many clients that each send a request when their last one has
// ended, with prompts and answers of at least so much of their nominal length, drawn evenly.
type Trial struct {
	Pool          // decodes, and works on prompts unless Prefill does
	Prefill *Pool // prompts apart; nil where there are no such engines
	Group   estimate.Group
	In, Out int
	Least   float64
	Clients int
	// Bare is an engine timed from within, without a server before it.
	Bare bool
	// Rate, where given, is requests a second that come independently of one another, instead of clients; Requests how many.
	Rate     float64
	Requests int
}

// Latency is mean latencies in seconds.
type Latency struct{ TTFT, TPOT float64 }

// benchmarkRounds is how many requests a client of the public benchmarks sends, one after the other.
const benchmarkRounds = 10

// simulated is how many rounds of so many clients are simulated: the first, and as many more as tell the steady state.
func simulated(clients int) int {
	switch {
	case clients <= 32:
		return benchmarkRounds
	case clients <= 256:
		return 4
	}
	return 3
}

var sims = sync.Pool{New: func() any { return new(bench) }}

type bench struct {
	sim.Sim
	requests []sim.Request
}

// Run simulates the trial, without corrections. It refuses what the step or memory rests on and is not known; a cache that by our
// count holds no sequence is taken to hold one, since what was measured has run.
func (x *Trial) Run(c *estimate.Curves) (Latency, *estimate.Refusal) {
	d, bad := x.deployment(c)
	if bad != nil {
		return Latency{}, bad
	}
	s := sims.Get().(*bench)
	defer sims.Put(s)
	sizes := sim.Uniform(x.In, max(1, x.Out), x.Least)
	const seed = 1
	if x.Rate > 0 {
		s.requests = sim.Poisson(s.requests[:0], x.Requests, x.Rate, sizes, seed)
		s.Open(d, s.requests)
		l := s.All()
		return Latency{l.TTFT.Mean, l.TPOT.Mean}, nil
	}
	rounds := simulated(x.Clients)
	s.requests = sim.Load(s.requests[:0], rounds*x.Clients, sizes, seed)
	s.Closed(d, x.Clients, s.requests)
	first, rest := s.Between(0, x.Clients), s.Between(x.Clients, len(s.requests))
	mean := func(a, b float64) float64 { return (a + (benchmarkRounds-1)*b) / benchmarkRounds }
	return Latency{mean(first.TTFT.Mean, rest.TTFT.Mean), mean(first.TPOT.Mean, rest.TPOT.Mean)}, nil
}

func (x *Trial) deployment(c *estimate.Curves) (d sim.Deployment, bad *estimate.Refusal) {
	if d.Engine, bad = x.engine(c, x.Group, x.In, x.Out); bad != nil {
		return d, bad
	}
	if x.Bare {
		return d, nil
	}
	in := float64(x.In) * (1 + x.Least) / 2
	if x.Prefill == nil {
		others := float64(x.Clients)/float64(max(1, x.Count)) - 1
		d.FrontSeconds = d.Engine.Stepper.(*Step).front(lengths{in, float64(x.Out)}, others)
		return d, nil
	}
	p, bad := x.Prefill.engine(c, x.Group, x.In, 1)
	if bad != nil {
		return d, bad
	}
	p.KVTokens = 0 // prompts wait in the queue; their caches leave at once
	d.Prefill = &p
	// The engine that decodes sends the first token, too, once the prompt's cache has come over.
	d.FrontSeconds = p.Stepper.(*Step).front(lengths{in, 1}, 0) + d.Engine.Stepper.(*Step).engine.HandMS*1e-3
	return d, nil
}

// front is the time from a client's sending a prompt to the engine's taking it up: the server, its tokenizer, the host that
// prepares its layers one by one while the chip is at the steps before, and the steps of so many others that it waits for.
func (p *Step) front(l lengths, others float64) float64 {
	e := p.engine
	t := e.FrontMS*1e-3 + e.TokenUS*1e-6*l.in + e.EagerUS*1e-6*(p.shape.layers+p.shape.expertly)
	if others <= 0 {
		return t
	}
	wait := e.WaitSteps
	if p.ranks > 1 {
		wait += e.ApartSteps
	}
	return t + min(1, others)*wait*p.parts(l.decoding(max(1, others))).total()
}

// engine is a pool as the simulator takes it.
func (p *Pool) engine(c *estimate.Curves, g estimate.Group, in, out int) (e sim.Engine, bad *estimate.Refusal) {
	step, bad := NewStep(c, &p.Setup, g)
	if bad != nil {
		return e, bad
	}
	h, bad := p.holding(c, g, float64(in), float64(out))
	if bad != nil {
		return e, bad
	}
	h.free = max(h.free, leastCache*float64(h.usable))
	return step.Engine(h.tokens(in+out, p.Spread.whole().DP), p.Count), nil
}

// leastCache is the share of the memory that what was measured had for its cache, even where by our count there was less.
const leastCache = 0.05

// Engine is so many engines that take such steps, whose caches hold so many tokens each, under their family's policy.
func (p *Step) Engine(kvTokens float64, count int) sim.Engine {
	if p.rank[0] == 0 {
		p.fill()
	}
	dp := p.spread.DP
	e := sim.Engine{Stepper: p, Count: count, MaxSequences: p.engine.MaxSequences * dp, ChunkTokens: p.engine.ChunkTokens * dp,
		KVTokens: kvTokens, Reserve: p.engine.Reserve}
	if p.engine.PromptsFirst {
		e.Schedule = sim.PromptsFirst
	}
	return e
}

// tokens is what the caches of so many ranks that attend apart hold, at least one sequence of so many tokens.
func (h *holding) tokens(length, dp int) float64 {
	one := float64(length) + 1
	if h.sequence <= 0 {
		return one * 1e6
	}
	return max(one, h.free/h.sequence*one*float64(dp))
}
