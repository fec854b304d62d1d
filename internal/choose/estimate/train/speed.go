package train

import (
	"math"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

// machine is the group as a training step sees it, worked out once for all layouts.
type machine struct {
	g         estimate.Group
	curve     estimate.ChipCurve
	usable    unit.Bytes
	rate      float64 // FLOPS that a large matrix multiply reaches, kernels' share included
	coreRate  float64 // FLOPS of fused attention, which stays at 16 bit
	bandwidth float64
	peak      float64 // dense peak of the precision, for MFU
	fused     bool
	between   estimate.Link
	hasNet    bool
	inside    []estimate.Link // by ranks that talk; a link that is not known has no rate
	precision accelerator.Precision
}

func (j *job) machine(g estimate.Group) (machine, *estimate.Refusal) {
	p, peak, refusal := j.precision(g.Chip)
	if refusal != nil {
		return machine{}, refusal
	}
	bw, ok := g.Chip.Bandwidth.Get()
	if !ok {
		return machine{}, &estimate.Refusal{Reason: estimate.NoRate}
	}
	usable, ok := j.c.Usable(g)
	if !ok {
		return machine{}, &estimate.Refusal{Reason: estimate.NoMemoryFact}
	}
	share := 1.0
	if g.Share > 0 {
		share = g.Share
	}
	curve := j.c.Chip(g.Chip)
	m := machine{g: g, curve: curve, usable: usable, peak: float64(peak) * share, precision: p, fused: fusedAttention(g.Chip)}
	m.rate = m.peak * curve.Share(p) * j.c.Train.KernelShare
	corePeak, coreP := peak, p
	if q, r, ok := g.Chip.Best(accelerator.BF16, accelerator.FP16, p); ok {
		corePeak, coreP = r, q
	}
	m.coreRate = float64(corePeak) * share * curve.Share(coreP) * j.c.Train.AttentionShare
	if !m.fused {
		m.coreRate /= 2 // scores go through memory
	}
	m.bandwidth = float64(bw) * share * curve.Bandwidth
	m.between, m.hasNet = j.c.Between(g)
	m.inside = make([]estimate.Link, g.PerNode+1)
	for n := 1; n <= g.PerNode; n++ {
		m.inside[n], _ = j.c.Inside(g, n)
	}
	return m, nil
}

// fusedAttention says whether flash attention runs there: compute capability 8.0 and later of NVIDIA, and the
// vendors' own kernels elsewhere.
func fusedAttention(a *accelerator.Accelerator) bool {
	return a.Vendor != "NVIDIA" || a.Compute >= "8" || len(a.Compute) > 3 // "10.0" and "12.0" sort below "8"
}

// step is the time of one optimizer step in seconds, by what it is spent on.
type step struct {
	compute, memory, link, network, bubble, overhead float64
}

func (s step) total() float64 {
	return s.compute + s.memory + s.link + s.network + s.bubble + s.overhead
}

// opsPerLayer is the large kernels of a layer's forward pass, each of which pays the chip's fixed time.
const opsPerLayer = 12

// passes is how many forward passes' worth of arithmetic a step does for each matrix: forward, gradient of the
// input, gradient of the weight (not for frozen ones), and a second forward under full recomputation.
func (j *job) passes(recompute string) (matmul, core float64) {
	matmul, core = 3, 3
	if !j.states.full {
		matmul = 2 * (1 + j.shape.adapters/math.Max(1, float64(j.shape.layers)*(j.shape.dense+j.shape.routed)))
	}
	switch recompute {
	case "full":
		matmul, core = matmul+1, core+1
	case "selective":
		core++
	}
	return matmul, core
}

// speed is the time of a step; false where a link it needs is not known.
func (j *job) speed(mc *machine, k cut, b, m, virtual, zero int, recompute string) (step, bool) {
	s := &j.shape
	tokens := float64(b*s.seq) / float64(k.c)
	matmul, core := j.passes(recompute)
	mm := matmul * s.matmul
	if j.states.weight < 1 {
		mm *= 1 + j.c.Train.Dequantise
	}
	// One micro-batch through the fullest stage. The head's multiply counts on the stage that has it.
	layerC := tokens / float64(k.t) * (mm/mc.rate + core*s.core/mc.coreRate)
	compute := k.stageLayers*layerC + tokens/float64(k.t)*matmul*s.headFLOP/mc.rate/float64(k.p)
	elementwise := k.stageLayers * tokens * s.act / float64(k.t) * (2 + matmul) / mc.bandwidth
	launch := k.stageLayers * opsPerLayer * matmul * mc.curve.OpSeconds()
	tp, ok := j.tensor(mc, k, tokens, recompute)
	if !ok {
		return step{}, false
	}
	ep, epNet, ok := j.expert(mc, k, tokens)
	if !ok {
		return step{}, false
	}
	cp, cpNet, ok := j.context(mc, k, tokens)
	if !ok {
		return step{}, false
	}
	pp, ok := j.pipeline(mc, k, tokens)
	if !ok {
		return step{}, false
	}
	micro := float64(m)
	out := step{compute: micro * compute, memory: micro * elementwise, overhead: micro * launch, link: micro * (tp + ep + cp), network: micro * (epNet + cpNet + pp)}
	if k.p > 1 {
		out.bubble = out.total() * float64(k.p-1) / float64(m*virtual)
	}
	dpIn, dpNet, ok := j.data(mc, k, zero, m)
	if !ok {
		return step{}, false
	}
	busy := out.compute + out.memory
	out.link += exposed(dpIn, j.c.Train.Overlap.Data, busy)
	out.network += exposed(dpNet, j.c.Train.Overlap.Data, busy)
	out.memory += j.update(k, zero) / mc.bandwidth
	return out, true
}

// exposed is what of a transfer does not hide behind busy: at least the share that never overlaps, at most what exceeds it.
func exposed(t, overlap, busy float64) float64 { return max(t*(1-overlap), t-busy) }

// tensor is the all-reduces of tensor parallelism: two a layer forward, two backward, two more when the forward
// is repeated, each of the hidden states at 16 bit (gather and scatter pairs move the same bytes).
func (j *job) tensor(mc *machine, k cut, tokens float64, recompute string) (float64, bool) {
	if k.t == 1 {
		return 0, true
	}
	l := mc.inside[k.t]
	if l.BytesPerSec <= 0 {
		return 0, false
	}
	n := 4.0
	if recompute == "full" {
		n = 6
	}
	t := float64(k.t)
	once := 2*(t-1)/t*2*tokens*float64(j.shape.hidden)/l.BytesPerSec + 2*(t-1)*l.HopSeconds
	return k.stageLayers * n * once * (1 - j.c.Train.Overlap.Tensor), true
}

// expert is the all-to-alls of expert parallelism: tokens out and back, forward and backward.
func (j *job) expert(mc *machine, k cut, tokens float64) (link, network float64, ok bool) {
	if k.e == 1 || j.shape.moeShare == 0 {
		return 0, 0, true
	}
	bytes := 4 * tokens / float64(k.t) * j.shape.topK * 2 * float64(j.shape.hidden) * float64(k.e-1) / float64(k.e)
	layers := k.stageLayers * j.shape.moeShare * (1 - j.c.Train.Overlap.Expert)
	if k.t*k.e <= mc.g.PerNode {
		l := mc.inside[k.t*k.e]
		return layers * (bytes/l.BytesPerSec + 4*float64(k.e)*l.HopSeconds), 0, l.BytesPerSec > 0
	}
	if !mc.hasNet {
		return 0, 0, false
	}
	per := mc.between.BytesPerSec / float64(mc.g.PerNode)
	return 0, layers * (bytes/per + 4*mc.between.HopSeconds*math.Sqrt(float64(k.e))), true
}

// context is the ring exchange of keys and values under context parallelism, forward and twice backward.
func (j *job) context(mc *machine, k cut, tokens float64) (link, network float64, ok bool) {
	if k.c == 1 {
		return 0, 0, true
	}
	bytes := 3 * float64(k.c-1) * tokens * 2 * j.shape.kvDim / float64(k.t)
	part := k.stageLayers * (1 - j.c.Train.Overlap.Context)
	if k.t*k.c <= mc.g.PerNode {
		l := mc.inside[k.t*k.c]
		return part * bytes / l.BytesPerSec, 0, l.BytesPerSec > 0
	}
	if !mc.hasNet {
		return 0, 0, false
	}
	return 0, part * bytes / (mc.between.BytesPerSec / float64(mc.g.PerNode)), true
}

// pipeline is the hand-over of one micro-batch to the next stage and its gradient back.
func (j *job) pipeline(mc *machine, k cut, tokens float64) (float64, bool) {
	if k.p == 1 {
		return 0, true
	}
	per := 0.0
	if mc.g.Nodes > 1 {
		if !mc.hasNet {
			return 0, false
		}
		per = mc.between.BytesPerSec / float64(mc.g.PerNode)
	} else {
		if per = mc.inside[mc.g.PerNode].BytesPerSec; per <= 0 {
			return 0, false
		}
	}
	return 2 * 2 * tokens * float64(j.shape.hidden) / float64(k.t) / per * (1 - j.c.Train.Overlap.Pipeline), true
}

// data is the gradient reduction, and under ZeRO-3 the gathering of weights twice a micro-batch, in seconds a step,
// apart for the links inside a machine and between machines. A group of d x c ranks strides over t neighbours: each machine
// holds k of its ranks and g = t groups share the machine's network.
func (j *job) data(mc *machine, k cut, zero, m int) (link, network float64, ok bool) {
	n := k.d * k.c
	if n == 1 {
		return 0, 0, true
	}
	st, s := &j.states, &j.shape
	dense := k.first + max(k.embed, k.head)
	grads := st.grad * (dense + k.routed/float64(max(1, k.e)))
	if !st.full {
		grads = st.grad * s.adapters / float64(k.p*k.t)
	}
	volume := 2 * grads
	if zero == 3 {
		weights := st.weight*(k.first+k.routed) + st.wide*(k.embed+k.head)
		volume = float64(m) * (2*weights + grads)
		if !st.full {
			volume = float64(m)*2*weights + 2*grads
		}
	}
	local := max(1, min(n, mc.g.PerNode/k.t))
	nodes := (n + local - 1) / local
	if local > 1 {
		l := mc.inside[min(local*k.t, mc.g.PerNode)]
		if l.BytesPerSec <= 0 {
			return 0, 0, false
		}
		link = volume*float64(local-1)/float64(local)/l.BytesPerSec + 2*float64(local)*l.HopSeconds
	}
	if nodes > 1 {
		if !mc.hasNet {
			return 0, 0, false
		}
		groups := float64(min(k.t, mc.g.PerNode))
		network = volume*groups*float64(nodes-1)/float64(nodes)/mc.between.BytesPerSec + 2*math.Log2(float64(nodes))*mc.between.HopSeconds
	}
	return link, network, true
}

// update is the bytes that the optimizer reads and writes on a rank: each state once each way.
func (j *job) update(k cut, zero int) float64 {
	st := &j.states
	n := k.first + k.routed + k.embed + k.head
	if !st.full {
		n = j.shape.adapters / float64(k.p*k.t)
	}
	if zero >= 1 {
		n /= float64(k.d * k.c)
	}
	return 2 * n * (st.opt + st.grad + st.wide)
}
