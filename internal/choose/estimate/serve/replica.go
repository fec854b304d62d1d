package serve

import (
	"math"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
)

// replica is one engine on t x p accelerators of a group.
type replica struct {
	t, p           int
	span           int     // machines
	stage          float64 // layers of the fullest pipeline stage over all layers
	weights        float64 // bytes of weights a rank holds at most
	free           float64 // bytes of key/value budget a rank
	kvRank         float64 // bytes a rank holds of one full-length sequence
	kvRead         float64 // bytes the t ranks of a stage read of one sequence of mean length, over all stages
	rate           float64 // FLOPS of the t ranks of a stage in large multiplies
	coreRate       float64 // and in attention
	bandwidth      float64 // bytes/s of the t ranks of a stage
	link           estimate.Link
	hand           estimate.Link // between stages
	launch         float64       // fixed seconds of a step
	estimate.Reach               // of one accelerator
}

// Best sizes the replica that serves the most per accelerator (for a service: needs the fewest machines). A replica
// stays inside a machine or spans several of the group's as a pipeline.
func (j *job) Best(g estimate.Group) (best estimate.Estimate, refusal *estimate.Refusal, looked int) {
	base, refusal := j.base(g)
	if refusal != nil {
		return estimate.Estimate{}, refusal, 0
	}
	refusal = &estimate.Refusal{Reason: estimate.NoLayout}
	found := false
	for span := 1; span <= min(g.Nodes, maxSpan); span++ {
		e, bad, n := j.widest(g, base, span)
		looked += n
		switch {
		case bad == nil && (!found || j.better(e, best, g)):
			best, found = e, true
		// What keeps a replica inside one machine says more than what keeps it from spanning several.
		case bad != nil && (refusal.Reason == estimate.NoLayout || bad.Reason == estimate.NoMemory && refusal.Reason == estimate.NoMemory):
			refusal = bad
		}
	}
	if found {
		return best, nil, looked
	}
	return estimate.Estimate{}, refusal, looked
}

// maxSpan is the most machines one replica spans: more are slower than any service wants.
const maxSpan = 8

// base is what every replica on the group has in common.
func (j *job) base(g estimate.Group) (replica, *estimate.Refusal) {
	p, peak, ok := g.Chip.Best(j.format.Compute...)
	if !ok {
		return replica{}, &estimate.Refusal{Reason: estimate.NoPrecision}
	}
	r, refusal := j.c.Reach(g, p, peak)
	kernels := j.c.Serve.KernelShare
	return replica{Reach: r, rate: r.Multiply * kernels, coreRate: r.Attention, bandwidth: r.Bandwidth * kernels}, refusal
}

// stages is how many pipeline stages a replica of width t has over so many machines; 0 where they cannot be laid. Unasked
// a replica is a pipeline of machines; a pin may cut one machine, too.
func (j *job) stages(g estimate.Group, t, span int) int {
	p := span
	if pin := j.w.Layout.PP; pin != 0 {
		p = pin
	}
	whole := t*p == span*g.PerNode
	inside := span == 1 && t*p <= g.PerNode && g.PerNode%(t*p) == 0
	if p > j.m.Layers || !whole && !inside {
		return 0
	}
	return p
}

// widest tries each tensor-parallel width of a replica that spans so many machines.
func (j *job) widest(g estimate.Group, base replica, span int) (best estimate.Estimate, refusal *estimate.Refusal, looked int) {
	pin := j.w.Layout
	found := false
	for t := 1; t <= g.PerNode; t++ {
		if g.PerNode%t != 0 || j.m.Heads%t != 0 || pin.TP != 0 && pin.TP != t {
			continue
		}
		// Experts spread over the ranks of a replica hold and read as much as experts cut in slices.
		if pin.EP > 1 && (j.m.MoE == nil || pin.EP != t) {
			continue
		}
		p := j.stages(g, t, span)
		if p == 0 {
			continue
		}
		looked++
		r := base
		r.t, r.p, r.span = t, p, span
		e, bad := j.size(g, &r)
		switch {
		case bad != nil:
			if refusal == nil || bad.Reason == estimate.NoLatency || bad.Reason == refusal.Reason && bad.Short() < refusal.Short() {
				refusal = bad
			}
		case !found || j.better(e, best, g):
			best, found = e, true
		}
	}
	if found {
		return best, nil, looked
	}
	if refusal == nil {
		refusal = &estimate.Refusal{Reason: estimate.NoLayout}
	}
	return best, refusal, looked
}

// better prefers fewer machines for a service and a shorter run for a batch, then more capacity an accelerator.
func (j *job) better(a, b estimate.Estimate, g estimate.Group) bool {
	if j.service {
		if x, y := Machines(a.Serving, g.PerNode), Machines(b.Serving, g.PerNode); x != y {
			return x < y
		}
	} else if a.Hours != b.Hours {
		return a.Hours < b.Hours
	}
	return a.Speed.Value > b.Speed.Value
}

// Machines is how many machines of so many accelerators the needed replicas take: whole machines a replica that fills
// one or more, and else as many replicas a machine as it has room for.
func Machines(s estimate.Serving, perNode int) int {
	if s.AcceleratorsPerReplica >= perNode {
		return s.ReplicasNeeded * ((s.AcceleratorsPerReplica + perNode - 1) / perNode)
	}
	each := perNode / s.AcceleratorsPerReplica
	return (s.ReplicasNeeded + each - 1) / each
}

// room is how many replicas the whole group has room for.
func room(g estimate.Group, r *replica) int {
	if each := r.t * r.p; each < g.PerNode {
		return g.Nodes * (g.PerNode / each)
	}
	return g.Nodes / max(1, r.span)
}

// fit works out the key/value budget of a replica and what its ranks reach together; the refusal says what a rank lacks to
// hold one sequence.
func (j *job) fit(g estimate.Group, r *replica) *estimate.Refusal {
	t, p := float64(r.t), float64(r.p)
	L := float64(j.m.Layers)
	r.stage = math.Ceil(L/p) / L
	r.weights = j.weights / t
	if r.p > 1 {
		r.weights = ((j.weights-j.edges)*r.stage + j.edge) / t
	}
	r.kvRank = j.m.KVRankBytes(j.full(), j.kvBits, r.t) * r.stage
	// Where tensor parallelism cannot cut the key/value heads each rank reads its own copy.
	r.kvRead = j.m.KVRankBytes(j.mean(), j.kvBits, r.t) * t
	r.free = float64(r.Usable)*j.c.Serve.MemoryFraction - r.weights - j.workspace/t - j.runtime(r)
	if r.free < r.kvRank {
		return &estimate.Refusal{Reason: estimate.NoMemory, Have: float64(r.Usable), Want: float64(r.Usable) + r.kvRank - r.free}
	}
	var ok bool
	if r.link, ok = j.c.Inside(g, r.t); !ok {
		return &estimate.Refusal{Reason: estimate.NoNetworkFact}
	}
	if r.p > 1 {
		if r.hand, ok = j.c.Between(g); r.span <= 1 {
			r.hand, ok = j.c.Inside(g, r.t*r.p)
		}
		if !ok {
			return &estimate.Refusal{Reason: estimate.NoNetworkFact}
		}
	}
	r.rate, r.coreRate, r.bandwidth = r.rate*t, r.coreRate*t, r.bandwidth*t
	// Each micro-batch is an engine step of its own.
	r.launch = p*j.c.Serve.StepUS*1e-6 + L*2*r.Curve.OpSeconds()
	return nil
}

func (j *job) runtime(r *replica) float64 {
	gib := j.c.Memory.RuntimeGiB
	if r.t*r.p > 1 {
		gib += j.c.Memory.CommGiB
	}
	return gib * float64(unit.GiB)
}

func (j *job) memory(r *replica, n float64) estimate.Memory {
	b := func(name string, v float64) estimate.Part { return estimate.Part{Name: name, Bytes: unit.Bytes(v)} }
	return estimate.Collect(r.Usable, b("weights", r.weights), b("kv_cache", n*r.kvRank),
		b("workspace", j.workspace/float64(r.t)), b("runtime", j.runtime(r)))
}
