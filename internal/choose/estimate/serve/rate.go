package serve

import (
	"math"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
)

// timing is a step of the engine, in seconds by what bounds it.
type timing struct{ compute, memory, link, network, launch float64 }

func (t timing) total() float64 { return max(t.compute, t.memory) + t.link + t.network + t.launch }

// reduces is the time of the two all-reduces a layer of so many tokens' hidden states over tensor parallelism: ring
// bytes and one exchange's latency (engines use one-shot kernels for small messages).
func (j *job) reduces(r *replica, tokens float64) float64 {
	if r.t == 1 {
		return 0
	}
	t := float64(r.t)
	bytes := 2 * (t - 1) / t * tokens * float64(j.m.Hidden) * 2
	return float64(j.m.Layers) * 2 * (bytes/r.link.BytesPerSec + 2*r.link.HopSeconds)
}

// hand is the time to pass so many tokens' hidden states on through the stages of a pipeline, by where the next one stands.
func (j *job) hand(r *replica, tokens float64) (link, network float64) {
	if r.p == 1 {
		return 0, 0
	}
	s := float64(r.p-1) * (tokens*2*float64(j.m.Hidden)/r.hand.BytesPerSec + r.hand.HopSeconds)
	if r.span > 1 {
		return 0, s
	}
	return s, 0
}

// touched is the bytes of weights that so many tokens read.
func (j *job) touched(tokens float64) float64 {
	if j.m.MoE == nil {
		return j.dense + j.routed
	}
	return j.dense + j.routed*j.m.TouchedExperts(tokens)/float64(j.m.MoE.Experts)
}

func (r *replica) seconds(w work, tokens float64) float64 {
	return tokens * (w.matmul/r.rate + w.core/r.coreRate)
}

// uneven is how much longer the fullest stage of a pipeline takes than the mean one; each is waited for.
func (r *replica) uneven() float64 { return r.stage * float64(r.p) }

// step is one decoding step of n sequences. A pipeline works on p groups of n/p sequences at once; a step is a group's way
// through all stages, each of which has read its weights once for each group: stages add room, not speed.
func (j *job) step(r *replica, n float64) timing {
	group := math.Max(1, n/float64(r.p))
	t := timing{
		compute: r.uneven() * r.seconds(j.decode, group),
		memory:  r.uneven() * (j.touched(group) + group*r.kvRead) / r.bandwidth,
		link:    j.reduces(r, group),
		launch:  r.launch,
	}
	link, network := j.hand(r, group)
	t.link, t.network = t.link+link, network
	return t
}

// prompt is the prefill of one request alone, from its first stage to its last. Weights are read once a chunk; the chunks of a
// long prompt follow one another through a pipeline.
func (j *job) prompt(r *replica) timing {
	chunks, p := math.Ceil(j.in/prefillChunk), float64(r.p)
	lag := (chunks + p - 1) / (chunks * p) * r.uneven()
	t := timing{
		compute: lag * r.seconds(j.prefill, 1),
		memory:  lag * chunks * j.touched(math.Min(prefillChunk, j.in)) / r.bandwidth,
		link:    lag * j.reduces(r, j.in),
		launch:  chunks * r.launch,
	}
	link, network := j.hand(r, math.Min(prefillChunk, j.in))
	t.link, t.network = t.link+link, network
	return t
}

// prompts is what each prompt takes of a busy engine: all stages work on others meanwhile, and prompts shorter than a
// chunk share one. A chunk rides on a decoding step and adds no launch, unless there are none.
func (j *job) prompts(r *replica, n float64) timing {
	chunks := math.Ceil(j.in / prefillChunk)
	together := max(1, min(n, math.Floor(prefillChunk/j.in)))
	each := r.uneven() / float64(r.p)
	t := timing{
		compute: each * r.seconds(j.prefill, 1),
		memory:  each * chunks * j.touched(math.Min(prefillChunk, j.in*together)) / together / r.bandwidth,
		link:    each * j.reduces(r, j.in*together) / together,
	}
	if j.out <= 1 {
		t.launch = each * chunks * r.launch / together
	}
	return t
}

// load is a replica at a steady mean number of sequences in flight. The more there are the higher the rate, as what a step
// reads once is shared by more.
type load struct {
	n               float64
	rate            float64 // requests a second
	ttft, tpot, e2e float64 // means, seconds; tpot is 0 where an answer has one token
	step, prompt    timing
}

// at is the steady state of n sequences: a prompt gives the first token and each further one is a step; while a sequence
// decodes, the prompts of those that follow are worked in between. So n requests take (out - 1) steps and n prompts.
func (j *job) at(r *replica, n float64) load {
	l := load{n: n, step: j.step(r, n), prompt: j.prompts(r, n)}
	prefill, further := l.prompt.total(), j.out-1
	decoding := further * l.step.total()
	l.rate = n / (decoding + n*prefill)
	busy := math.Min(0.95, l.rate*prefill*(n-1)/n)
	// A prompt waits for the step under way and for those before it, which are the others': mean wait of a single queue with
	// constant service, ρ/2(1−ρ) services, and never more than all of them.
	l.ttft = j.prompt(r).total() + prefill*min(n-1, busy/(2*(1-busy)))
	if further > 0 {
		l.ttft += l.step.total()
		l.tpot = l.step.total() + (n-1)*prefill/further
	}
	l.e2e = l.ttft + further*l.tpot
	return l
}

// tails is the 99th percentiles that a load is planned to see, in seconds.
func (j *job) tails(l load) (ttft, tpot, e2e float64) {
	c := j.c.Serve
	ttft, tpot = l.ttft*c.TailTTFT, l.tpot*c.TailTPOT
	return ttft, tpot, ttft + (j.out-1)*tpot
}

// worst is the promise that a load breaks the most, over it; at most 1 where all hold.
func (j *job) worst(l load) (over, have, want float64) {
	s := j.w.SLO
	ttft, tpot, e2e := j.tails(l)
	for _, v := range [...]struct {
		have  float64
		limit unit.Hours
	}{{ttft, s.TTFTp99}, {tpot, s.TPOTp99}, {e2e, s.E2Ep99}} {
		if limit := v.limit.Seconds(); limit > 0 && v.have/limit > over {
			over, have, want = v.have/limit, v.have, limit
		}
	}
	return over, have, want
}

func (j *job) holds(l load) bool { over, _, _ := j.worst(l); return over <= 1 }

// size finds how many sequences a replica should run and what that gives.
func (j *job) size(g estimate.Group, r *replica) (estimate.Estimate, *estimate.Refusal) {
	if bad := j.fit(g, r); bad != nil {
		return estimate.Estimate{}, bad
	}
	limit := max(1, math.Min(maxSequences, math.Floor(r.free/math.Max(1, r.kvRank))))
	if !j.service {
		return j.batch(g, r, limit)
	}
	one := j.at(r, 1)
	if over, have, want := j.worst(one); over > 1 {
		return estimate.Estimate{}, &estimate.Refusal{Reason: estimate.NoLatency, Have: have, Want: want}
	}
	// Latency rises with n, the mean number in flight, so the most that holds is found by halving.
	lo, hi := 1.0, limit
	if j.holds(j.at(r, limit)) {
		lo = limit
	}
	for hi-lo > 1e-4*lo {
		mid := (lo + hi) / 2
		if j.holds(j.at(r, mid)) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return j.fleet(r, j.at(r, lo), g)
}
