package serve

import (
	"math"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
)

// load is a replica at a steady mean number of sequences in flight. The more there are the higher the rate, as what a step
// reads once is shared by more.
type load struct {
	n               float64
	rate            float64 // requests a second
	ttft, tpot, e2e float64 // means, seconds; tpot is 0 where an answer has one token
	cycle           timing  // of n requests one after another
	each, busy      float64 // what a prompt takes of the engine, and the share of its time that those of others do
}

// lengths is the tokens of prompts and answers.
type lengths struct{ in, out float64 }

// mean is the tokens of a sequence in the middle of its decoding.
func (l lengths) mean() float64 { return l.in + l.out/2 }

// decoding is one decoding step of n sequences.
func (l lengths) decoding(n float64) work { return work{decode: n, cached: n * l.mean()} }

// chunks is in how many steps a prompt is worked on, and how many prompts share one where n are in flight.
// Ranks that attend apart each have a chunk of their own.
func (l lengths) chunks(p *Step, n float64) (steps, together float64) {
	room := float64(p.engine.ChunkTokens)
	if room == 0 {
		room = math.Inf(1)
	}
	return max(1, math.Ceil(l.in/room)), max(1, min(n, math.Floor(p.ranks*room/l.in)))
}

// chunk is one step's part of so many prompts.
func (l lengths) chunk(steps, together float64) work {
	return work{prefill: together * l.in / steps, attended: together * l.in * (l.in + 1) / 2 / steps, prompts: together}
}

// prompt is the prefill of one request alone, from its first stage to its last. The chunks of a long prompt follow one another
// through a pipeline, each as wide as if every stage had one.
func (p *Step) prompt(l lengths) timing {
	steps, _ := l.chunks(p, 1)
	x := l.chunk(steps, p.stages)
	var t timing
	t.add(p.parts(x), (steps+p.stages-1)/p.stages)
	return t
}

// at is the steady state of n sequences: a prompt gives the first token and each further one is a step. So n requests take as
// many steps as answers have further tokens, some of which work on chunks of prompts, too; engines that put prompts first take
// steps of their own for them.
func (p *Step) at(l lengths, n float64) load {
	out := load{n: n}
	further := l.out - 1
	steps, together := l.chunks(p, n)
	mixed := n * steps / together
	step := p.parts(l.decoding(n))
	chunk := l.chunk(steps, together)
	with := chunk // decoding goes on
	with.decode, with.cached = n, n*l.mean()
	riding := 0.0 // steps that do both
	if !p.engine.PromptsFirst {
		riding = math.Min(further, mixed)
	}
	out.cycle.add(step, further-riding)
	out.cycle.add(p.parts(with), riding)
	out.cycle.add(p.parts(chunk), mixed-riding)
	prefill := out.cycle.total() - further*step.total() // what the prompts of n requests add
	total := out.cycle.total()
	out.rate = n / total
	each := math.Max(0, prefill) / n
	busy := math.Min(0.95, out.rate*each*(n-1)/n)
	out.each, out.busy = each, busy
	// A prompt waits for the step under way and for those before it, which are the others': mean wait of a single queue with
	// constant service, ρ/2(1−ρ) services, and never more than all of them.
	out.ttft = p.front(l, n-1) + p.prompt(l).total() + each*min(n-1, busy/(2*(1-busy)))
	if further > 0 {
		out.ttft += step.total()
		out.tpot = step.total() + each*(n-1)/further
	}
	out.e2e = out.ttft + further*out.tpot
	return out
}

// at is the steady state of n sequences of the job, as measurements correct it. A service's rate follows
// from its latencies and is no more than its steps allow.
func (j *job) at(r *replica, n float64) load {
	l := r.step.at(j.lengths(), n)
	l.tpot *= r.tpot.Factor
	l.ttft *= r.ttft.Factor
	l.e2e = l.ttft + (j.out-1)*l.tpot
	if j.service {
		l.rate = min(l.rate, n/l.e2e)
	} else {
		l.rate *= r.offline.Factor
	}
	return l
}

// worst is the promise that a load breaks the most, over it; at most 1 where all hold.
func (j *job) worst(l load) (over float64, broken estimate.Refusal) {
	s := j.w.SLO
	broken.Reason = estimate.NoLatency
	for _, v := range [...]struct {
		name  string
		have  float64
		limit unit.Hours
	}{{"ttft", l.ttft, s.TTFTp99}, {"tpot", l.tpot, s.TPOTp99}, {"e2e", l.e2e, s.E2Ep99}} {
		if limit := v.limit.Seconds(); limit > 0 && v.have/limit > over {
			over, broken.Promise, broken.Have, broken.Want = v.have/limit, v.name, v.have, limit
		}
	}
	return over, broken
}

// late is a load with the 99th percentile of its first token, roughly: in heavy traffic waits for constant service are
// exponential, with mean 1/2(1−ρ) services (Kingman).
func (r *replica) late(l load) load {
	beyond := (max(0, math.Log(100*l.busy)) - l.busy) / (2 * (1 - l.busy))
	wait := l.each * min(l.n-1, max(0, beyond)) * r.ttft.Factor
	l.ttft, l.e2e = l.ttft+wait, l.e2e+wait
	return l
}

func (j *job) holds(l load) bool { over, _ := j.worst(l); return over <= 1 }

// most is the most sequences a replica runs: what its caches hold and the engine batches.
func (r *replica) most() float64 {
	n := r.sequences(r.Spread.whole().DP)
	if limit := r.step.engine.MaxSequences; limit > 0 {
		n = min(n, float64(limit*r.Spread.whole().DP))
	}
	return max(1, n)
}

// size finds what a replica does at best.
func (j *job) size(b *base, r *replica) (candidate, *estimate.Refusal) {
	if bad := j.fit(b, r); bad != nil {
		return candidate{}, bad
	}
	if j.service {
		return j.screen(b.group, r)
	}
	e, bad := j.batch(b.group, r, r.most())
	return candidate{replica: *r, bound: e}, bad
}
