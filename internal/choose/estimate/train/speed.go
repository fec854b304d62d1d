package train

import (
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/software"
)

// machine is the group as a training step sees it, worked out once for all layouts.
type machine struct {
	g estimate.Group
	estimate.Reach
	multiply estimate.Multiply // of the layers
	eight    estimate.Multiply // of what stays at 8 bit where the rest runs at 4
	wide     estimate.Multiply // at the precision of attention: the head
	core     estimate.Attention
	coreRate float64 // FLOPS in recurrent states, which stand in for attention
	fused    bool
	memory   float64 // what measurements say that the count of memory is multiplied by
	between  estimate.Link
	hasNet   bool
	inside   []estimate.Link // by ranks that talk; a link that is not known has no rate
}

func (j *job) machine(g estimate.Group) (machine, *estimate.Refusal) {
	p, peak, refusal := j.precision(g.Chip)
	if refusal != nil {
		return machine{}, refusal
	}
	r, refusal := j.c.Reach(g, p, peak)
	if refusal != nil {
		return machine{}, refusal
	}
	m := machine{g: g, Reach: r, coreRate: r.Attention, fused: fusedAttention(g.Chip) && !j.details.Unfused}
	// A count is never lowered because others were too high: to run out is worse than to leave some free.
	m.memory = max(1, j.c.Correct(estimate.PeakMemory, j.tags(g)).Factor) * j.c.MemoryMargin()
	if refusal := m.multiplies(j.c, g, sixteen(g.Chip, p), plainAttention(j.w.Software.Framework, g.Chip)); refusal != nil {
		return machine{}, refusal
	}
	m.between, m.hasNet = j.c.Between(g)
	m.inside = make([]estimate.Link, g.PerNode+1)
	for n := 1; n <= g.PerNode; n++ {
		m.inside[n], _ = j.c.Inside(g, n)
	}
	return m, nil
}

// sixteen is the precision of what stays at 16 bit beside multiplies at p; a chip without such arithmetic runs it at p.
func sixteen(a *accelerator.Accelerator, p accelerator.Precision) accelerator.Precision {
	switch p {
	case accelerator.FP8, accelerator.FP4, accelerator.INT8, accelerator.INT4:
		if q, _, ok := a.Best(accelerator.BF16, accelerator.FP16); ok {
			return q
		}
	}
	return p
}

// fusedAttention says whether flash attention runs there: compute capability 8.0 and later of NVIDIA, and the
// vendors' own kernels elsewhere.
func fusedAttention(a *accelerator.Accelerator) bool {
	v, err := software.ParseVersion(a.Compute)
	return a.Vendor != "NVIDIA" || err == nil && v.Major() >= 8
}

// plainAttention says whether a framework runs flash attention as written for A100 on later chips of NVIDIA: all but the maker's own,
// which has kernels of each generation. A framework that is not stated is taken to have them.
func plainAttention(framework string, a *accelerator.Accelerator) bool {
	switch {
	case a.Vendor != "NVIDIA", a.Arch == "Ampere", framework == "":
		return false
	case megatron(framework):
		return false
	}
	return true
}

// step is the time of one optimizer step in seconds, by what it is spent on.
type step struct {
	compute, memory, link, network, bubble, overhead float64
}

func (s step) total() float64 {
	return s.compute + s.memory + s.link + s.network + s.bubble + s.overhead
}

// passes is how many forward passes' worth of arithmetic a step does for each matrix: forward, gradient of the
// input, gradient of the weight, and a second forward under full recomputation. Of frozen weights only the adapters
// beside them have a gradient. Selective recomputation repeats the attention core where it is not fused, else only what costs no
// multiplies.
func (j *job) passes(recompute string, fused bool) (matmul, core float64) {
	matmul, core = 3, 3
	if !j.states.full {
		matmul = 2 + 3*j.shape.adapterPart
	}
	switch recompute {
	case "full":
		matmul, core = matmul+1, core+1
	case "selective":
		if !fused {
			core++
		}
	}
	return matmul, core
}

// headPasses leaves recomputation out: only layers run twice.
func (j *job) headPasses() float64 {
	if j.states.full {
		return 3
	}
	return 2
}

// speed is the time of a step; false where a link it needs is not known.
func (j *job) speed(mc *machine, k *cut, o schedule, w *work) (step, bool) {
	one, ok := j.micro(mc, k, o, w)
	if !ok {
		return step{}, false
	}
	out := one.times(float64(o.m))
	if k.p > 1 {
		out.bubble = out.total() * float64(k.p-1) / float64(o.m*o.virtual)
	}
	busy := out.compute + out.memory + out.overhead
	sync, ok := j.data(mc, k, o)
	if !ok {
		return step{}, false
	}
	// Shards are gathered and scattered all along; a single reduction starts in the last micro-batch's backward pass.
	if o.zero < 2 {
		busy /= float64(o.m)
	}
	if t := sync.link + sync.network; t > 0 {
		left := exposed(t, j.c.Train.Overlap.Data, busy) / t
		out.link += sync.link * left
		out.network += sync.network * left
	}
	out.memory += j.update(k, o.zero) / mc.Bandwidth
	out.overhead += j.c.Train.StepUS * 1e-6
	return out, true
}

// exposed is what of a transfer does not hide behind busy: at least the share that never overlaps, at most what exceeds it.
func exposed(t, overlap, busy float64) float64 { return max(t*(1-overlap), t-busy) }

// micro is one micro-batch, forward and backward, through the stage that takes the longest.
func (j *job) micro(mc *machine, k *cut, o schedule, w *work) (step, bool) {
	s := &j.shape
	forward, weights := 1.0, 1.0
	if o.recompute == "full" {
		forward = 2
	}
	adapters := 0.0
	if !j.states.full {
		weights, adapters = 0, 3*s.adapterPart
	}
	frozen := (forward+j.details.Again)*w.forward + w.inputs
	matmul, core := j.passes(o.recompute, o.fused)
	matmul += j.details.Again
	layer := frozen + weights*w.weights + adapters*w.forward + core*w.attention
	kept := w.elementwise * (2 + matmul)
	if o.recompute == "selective" && o.fused {
		kept += w.elementwise
	}
	if j.states.weight < 1 {
		kept += (forward + j.details.Again + 1) * j.widening(mc, k)
	}
	host := (2 + matmul) * (j.c.Train.HostUS + s.moeShare*j.c.Train.HostExpertUS) * 1e-6
	stage := func(layers, head float64) step {
		x := step{compute: layers*layer + head*j.headPasses()*w.head, memory: layers*kept + head*w.loss}
		x.overhead = max(0, layers*host-x.compute-x.memory)
		return x
	}
	out := stage(k.last, 1)
	if x := stage(k.stageLayers, 0); x.total() > out.total() {
		out = x
	}
	tokens := float64(o.b) * float64(s.seq) / float64(k.c)
	for _, f := range [...]func(*machine, *cut, schedule, float64) (traffic, bool){j.tensor, j.expert, j.context, j.pipeline} {
		x, ok := f(mc, k, o, tokens)
		if !ok {
			return step{}, false
		}
		out.link += x.link
		out.network += x.network
	}
	return out, true
}

// widening is the seconds it takes to widen the weights of an average layer on a rank to 16 bit: read narrow, written wide. It does
// not depend on the tokens they are multiplied with.
func (j *job) widening(mc *machine, k *cut) float64 {
	n := j.shape.dense/float64(k.t) + j.shape.routed/float64(k.spread())
	return n * (j.states.weight + 2) / (mc.Bandwidth * j.c.Train.Widening)
}

func (s step) times(n float64) step {
	return step{s.compute * n, s.memory * n, s.link * n, s.network * n, s.bubble * n, s.overhead * n}
}

// update is the bytes that the optimizer reads and writes on a rank: each state once each way.
func (j *job) update(k *cut, zero int) float64 {
	st := &j.states
	dense, routed := k.dense+k.wide(), k.routed
	if !st.full {
		dense, routed = j.shape.adapters/float64(k.p*k.t), 0
	}
	if zero >= 1 {
		dense /= float64(j.shared(k))
		routed /= max(1, float64(k.d*k.c*k.t)/float64(k.spread()))
	}
	return 2 * (dense + routed) * (st.opt + st.grad + st.wide)
}
