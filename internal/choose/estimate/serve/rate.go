package serve

import (
	"math"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/workload"
)

// timing is a step of the engine, in seconds by what bounds it.
type timing struct{ compute, memory, link, launch float64 }

func (t timing) total() float64 { return max(t.compute, t.memory) + t.link + t.launch }

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

// step is one decoding step of n sequences.
func (j *job) step(r *replica, n float64) timing {
	routed := j.routed
	if j.m.MoE != nil {
		routed *= j.m.TouchedExperts(n) / float64(j.m.MoE.Experts)
	}
	// Where tensor parallelism cannot cut the key/value heads each rank reads its own copy.
	kv := j.kvMean * j.m.KVShard(r.t) * float64(r.t)
	return timing{
		compute: n * j.decode / r.rate,
		memory:  (j.dense + routed + n*kv) / r.bandwidth,
		link:    j.reduces(r, n),
		launch:  r.launch,
	}
}

// prompt is the prefill of one request. Weights are read once a chunk.
func (j *job) prompt(r *replica) timing {
	chunks := math.Ceil(j.in / prefillChunk)
	return timing{
		compute: j.prefill / r.rate,
		memory:  chunks * (j.dense + j.routed) / r.bandwidth / math.Max(1, prefillChunk/math.Max(1, j.in)),
		link:    j.reduces(r, j.in),
	}
}

// load is a replica at a steady number of sequences in flight.
type load struct {
	n               float64
	rate            float64 // requests a second
	ttft, tpot, e2e float64 // means, seconds
	step, prompt    timing
}

// at is the steady state of n sequences: while each decodes its tokens, the prompts of the n that follow one another are
// worked in between, so that n requests take out x step + n x prefill.
func (j *job) at(r *replica, n float64) load {
	l := load{n: n, step: j.step(r, n), prompt: j.prompt(r)}
	// A pipeline holds p groups of sequences at once, each waiting its turn.
	stretch := 1.0
	if r.p > 1 {
		stretch = 1 + 0.1*float64(r.p-1)
	}
	prefill := l.prompt.total()
	cycle := (j.out*l.step.total() + n*prefill) * stretch
	l.rate = n / cycle
	busy := math.Min(0.95, l.rate*prefill)
	// A prompt waits for those before it: mean wait of a single queue with constant service, ρ/2(1−ρ) services.
	l.ttft = (prefill*(1+busy/(2*(1-busy))) + l.step.total()) * stretch
	l.tpot = cycle / j.out
	l.e2e = l.ttft + math.Max(0, j.out-1)*l.tpot
	return l
}

// holds says whether the tails of a load stay within the promises.
func (j *job) holds(l load) bool {
	s, c := j.w.SLO, j.c.Serve
	within := func(limit unit.Hours, v float64) bool { return limit == 0 || v <= limit.Seconds() }
	return within(s.TTFTp99, l.ttft*c.TailTTFT) && within(s.TPOTp99, l.tpot*c.TailTPOT) && within(s.E2Ep99, l.e2e*c.TailTPOT)
}

// size finds how many sequences a replica should run and what that gives.
func (j *job) size(g estimate.Group, r *replica) (estimate.Estimate, *estimate.Refusal) {
	if bad := j.fit(g, r); bad != nil {
		return estimate.Estimate{}, bad
	}
	limit := math.Min(maxSequences, math.Floor(r.free/math.Max(1, r.kvRank)))
	if !j.service {
		limit = math.Min(limit, math.Max(1, j.w.Batch.Requests))
		return j.report(g, r, j.fullest(r, limit), 1), nil
	}
	one := j.at(r, 1)
	if !j.holds(one) {
		return estimate.Estimate{}, j.tooSlow(one)
	}
	// Latency rises with n, so the most that holds is found by halving.
	lo, hi := 1.0, limit
	for hi-lo > 1 {
		mid := math.Floor((lo + hi) / 2)
		if j.holds(j.at(r, mid)) {
			lo = mid
		} else {
			hi = mid
		}
	}
	if top := j.at(r, limit); j.holds(top) {
		lo = limit
	}
	return j.report(g, r, j.fullest(r, lo), j.c.Serve.TargetLoad), nil
}

// fullest is the load with the highest rate up to n sequences: more sequences only help until compute is full.
func (j *job) fullest(r *replica, n float64) load {
	best := j.at(r, n)
	for m := n / 2; m >= 1; m /= 2 {
		if l := j.at(r, math.Floor(m)); l.rate > best.rate*1.001 {
			best = l
		}
	}
	return best
}

func (j *job) tooSlow(l load) *estimate.Refusal {
	s, c := j.w.SLO, j.c.Serve
	worst := &estimate.Refusal{Reason: estimate.NoLatency}
	over := 0.0
	for _, v := range []struct{ have, limit float64 }{
		{l.ttft * c.TailTTFT, s.TTFTp99.Seconds()}, {l.tpot * c.TailTPOT, s.TPOTp99.Seconds()}, {l.e2e * c.TailTPOT, s.E2Ep99.Seconds()},
	} {
		if v.limit > 0 && v.have/v.limit > over {
			over = v.have / v.limit
			worst.Have, worst.Want = v.have, v.limit
		}
	}
	return worst
}

// report turns a load into an estimate of the group, of which each replica is planned to the target share.
func (j *job) report(g estimate.Group, r *replica, l load, target float64) estimate.Estimate {
	each := r.t * r.p
	iv := j.c.Interval(string(j.w.Kind), r.curve.Like)
	e := estimate.Estimate{
		Layout:    estimate.Layout{TP: r.t, PP: r.p, DP: 1, Batch: int(l.n)},
		Precision: r.precision,
		Memory:    j.memory(r, l.n),
		Serving: estimate.Serving{
			TTFT: unit.FromSeconds(l.ttft * j.c.Serve.TailTTFT), TPOT: unit.FromSeconds(l.tpot * j.c.Serve.TailTPOT),
			E2E: unit.FromSeconds(l.e2e * j.c.Serve.TailTPOT), Concurrency: int(l.n), AcceleratorsPerReplica: each,
		},
	}
	cycle := j.out * l.step.total()
	prefill := l.n * l.prompt.total()
	split := func(t timing, seconds float64, s *estimate.Shares) {
		if t.compute >= t.memory {
			s.Compute += seconds * t.compute / t.total()
		} else {
			s.Memory += seconds * t.memory / t.total()
		}
		s.Link += seconds * t.link / t.total()
		s.Overhead += seconds * t.launch / t.total()
	}
	var shares estimate.Shares
	split(l.step, cycle, &shares)
	split(l.prompt, prefill, &shares)
	e.Bottleneck = shares.Fractions()
	e.Load = e.Bottleneck.Power() * target
	e.MFU = (j.prefill + j.out*j.decode) * l.rate / (r.peak * float64(each))
	perReplica := l.rate * target
	if j.service {
		j.fleet(g, &e, perReplica, iv)
	} else {
		j.batch(g, &e, perReplica, iv)
	}
	e.Speed.Basis, e.Speed.Source, e.Speed.Like = estimate.Predicted, r.curve.Source, r.curve.Like
	return e
}

// fleet sizes the fleet for the traffic's peak. Capacity and speed are those of the replicas needed; the planner fills
// the machines they stand in.
func (j *job) fleet(g estimate.Group, e *estimate.Estimate, perReplica float64, iv estimate.Interval) {
	t := j.w.Traffic
	need := max(1, int(math.Ceil(t.RequestsPerSecond/perReplica-1e-9)))
	each := e.Serving.AcceleratorsPerReplica
	e.Serving.ReplicasNeeded = need
	e.Serving.Replicas = need
	if each < g.PerNode {
		e.Serving.Replicas = Machines(e.Serving, g.PerNode) * (g.PerNode / each)
	}
	e.Layout.Replicas = e.Serving.Replicas
	e.Serving.RequestsPerSecond = perReplica * float64(e.Serving.Replicas)
	v := e.Serving.RequestsPerSecond * j.out
	e.Speed = estimate.Speed{Value: v, Low: v * iv.Low, High: v * iv.High, Unit: "tokens/s"}
	e.Hours, e.LowHours, e.HighHours = j.w.Duration, j.w.Duration, j.w.Duration
	e.Work = MeanLoad(t) * t.RequestsPerSecond * j.out * j.w.Duration.Seconds()
}

func (j *job) batch(g estimate.Group, e *estimate.Estimate, perReplica float64, iv estimate.Interval) {
	each := e.Serving.AcceleratorsPerReplica
	replicas := g.Accelerators() / each
	if each < g.PerNode {
		replicas = g.Nodes * (g.PerNode / each)
	}
	e.Serving.Replicas, e.Layout.Replicas = replicas, replicas
	v := perReplica * float64(replicas)
	e.Serving.RequestsPerSecond = v
	e.Speed = estimate.Speed{Value: v, Low: v * iv.Low, High: v * iv.High, Unit: "requests/s"}
	e.Work = j.w.Batch.Requests
	// The last requests of a batch run alone: never faster than one request takes.
	seconds := math.Max(e.Work/v, e.Serving.E2E.Seconds()/j.c.Serve.TailTPOT)
	e.Hours, e.LowHours, e.HighHours = unit.FromSeconds(seconds), unit.FromSeconds(seconds/iv.High), unit.FromSeconds(seconds/iv.Low)
}

// MeanLoad is the mean of a traffic's daily profile over its peak; 1 when it is flat.
func MeanLoad(t *workload.Traffic) float64 {
	if len(t.Profile) == 0 {
		return 1
	}
	sum := 0.0
	for _, v := range t.Profile {
		sum += v
	}
	return sum / float64(len(t.Profile))
}

func (j *job) memory(r *replica, n float64) estimate.Memory {
	b := func(name string, v float64) estimate.Part { return estimate.Part{Name: name, Bytes: unit.Bytes(v)} }
	return estimate.Collect(r.usable, b("weights", j.weights/float64(r.t*r.p)), b("kv_cache", n*r.kvRank),
		b("workspace", j.workspace/float64(r.t)), b("runtime", j.runtime(r)))
}
