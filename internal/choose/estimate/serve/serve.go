// Package serve estimates inference of token models: what a replica holds, how many sequences its key/value
// budget carries, how fast an engine step is, and how many replicas a service or a batch of requests needs.
//
// First form: mean step times of continuous batching in closed form with fixed tails, not yet a simulation. An
// engine never runs more sequences than its key/value budget holds at their full length. Invariants as in package
// estimate. Imported by choose/plan.
package serve

import (
	"math"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// maxSequences is the most sequences an engine batches, the usual engines' own limit.
const maxSequences = 1024

// prefillChunk is the most prompt tokens an engine works on at once (chunked prefill), which bounds its workspace.
const prefillChunk = 8192

// job is an inference workload prepared for estimating.
type job struct {
	w       *workload.Workload
	c       *estimate.Curves
	m       *model.Model
	format  model.FormatInfo
	kvBits  float64
	in, out float64
	service bool

	weights   float64 // bytes of all weights at the format
	dense     float64 // bytes that every step reads
	routed    float64 // bytes of all routed experts
	kvFull    float64 // bytes of one sequence at its full length, unsharded
	kvMean    float64 // at its mean length while decoding
	decode    float64 // FLOPs of one generated token at the mean context
	prefill   float64 // FLOPs of one prompt
	workspace float64
}

// New prepares a serving or batch-inference workload.
func New(w *workload.Workload, c *estimate.Curves) (estimate.Job, error) {
	m := w.Model
	if m.Class != model.Decoder && m.Class != model.EncoderDecoder {
		return nil, problem.New(problem.Input, "serve.not_generative", problem.Args{"Model": m.Name})
	}
	f, err := model.LookupFormat(string(w.Format))
	if err != nil {
		return nil, err
	}
	j := &job{w: w, c: c, m: m, format: f, kvBits: 16, service: w.Kind == workload.Serve}
	if w.KVFormat != "" {
		kv, err := model.LookupFormat(string(w.KVFormat))
		if err != nil {
			return nil, err
		}
		j.kvBits = kv.Bits
	}
	if j.service {
		j.in, j.out = float64(w.Traffic.InputTokens), float64(w.Traffic.OutputTokens)
	} else {
		j.in, j.out = float64(w.Batch.InputTokens), float64(w.Batch.OutputTokens)
	}
	j.prepare()
	return j, nil
}

func (j *job) prepare() {
	m := j.m
	j.weights = float64(m.WeightBytes(j.format))
	j.routed = float64(m.Params.Routed) * j.format.Bits / 8
	j.dense = j.weights - j.routed
	if !m.TieEmbeddings {
		// A step reads the rows of the tokens in play, not the whole input embedding.
		bits := j.format.Bits
		if j.format.KeepsHead {
			bits = 16
		}
		j.dense -= float64(m.Params.Embedding) * bits / 8
	}
	j.kvFull = m.KVBytes(int(j.in+j.out), j.kvBits)
	j.kvMean = m.KVBytes(int(j.in+j.out/2), j.kvBits)
	j.decode = float64(m.ForwardFLOPs(j.in + j.out/2))
	// A prompt token sees half the prompt on average; only the last token needs the head.
	head := 2 * float64(m.Hidden) * float64(m.Vocab)
	j.prefill = j.in*(float64(m.ForwardFLOPs(j.in/2))-head) + head
	chunk := math.Min(prefillChunk, math.Max(j.in, 256))
	// The widest live tensors of a chunk: hidden states in and out, the wider of MLP gate and up or the heads, and logits
	// of the sequences that sample.
	width := float64(2*m.FFN + 4*m.Hidden)
	if m.MoE != nil {
		width = math.Max(width, float64(m.MoE.TopK)*float64(2*m.MoE.FFN+m.Hidden)+4*float64(m.Hidden))
	}
	j.workspace = chunk*width*2 + 256*float64(m.Vocab)*4
}

func (j *job) Service() bool     { return j.service }
func (j *job) Independent() bool { return true }

// replica is one engine on t x p accelerators of a group.
type replica struct {
	t, p      int
	free      float64 // bytes of key/value budget a rank
	kvRank    float64 // bytes a rank holds of one full-length sequence
	rate      float64 // FLOPS of all ranks together in large multiplies
	bandwidth float64 // bytes/s of all ranks together
	link      estimate.Link
	launch    float64 // fixed seconds of a step
	precision accelerator.Precision
	curve     estimate.ChipCurve
	peak      float64
	usable    unit.Bytes
}

// Best sizes the replica that serves the most per accelerator (for a service: needs the fewest machines). A replica
// stays inside a machine when it fits one, and else spans the fewest of the group's machines as a pipeline.
func (j *job) Best(g estimate.Group) (estimate.Estimate, *estimate.Refusal, int) {
	base, refusal := j.base(g)
	if refusal != nil {
		return estimate.Estimate{}, refusal, 0
	}
	looked := 0
	for span := 1; span <= min(g.Nodes, maxSpan); span *= 2 {
		if g.Nodes%span != 0 {
			continue
		}
		e, bad, n := j.widest(g, base, span)
		looked += n
		if bad == nil {
			return e, nil, looked
		}
		// What keeps a replica inside one machine says more than what keeps it from spanning several.
		if refusal == nil || bad.Reason == estimate.NoMemory {
			refusal = bad
		}
		if bad.Reason != estimate.NoMemory {
			break
		}
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
	bw, ok := g.Chip.Bandwidth.Get()
	if !ok {
		return replica{}, &estimate.Refusal{Reason: estimate.NoRate}
	}
	usable, ok := j.c.Usable(g)
	if !ok {
		return replica{}, &estimate.Refusal{Reason: estimate.NoMemoryFact}
	}
	share := 1.0
	if g.Share > 0 {
		share = g.Share
	}
	r := replica{precision: p, curve: j.c.Chip(g.Chip), peak: float64(peak) * share, usable: usable}
	r.rate = r.peak * r.curve.Share(p) * j.c.Serve.KernelShare
	r.bandwidth = float64(bw) * share * r.curve.Bandwidth * j.c.Serve.KernelShare
	return r, nil
}

// widest tries each tensor-parallel width of a replica that spans so many machines.
func (j *job) widest(g estimate.Group, base replica, span int) (best estimate.Estimate, refusal *estimate.Refusal, looked int) {
	pin := j.w.Layout.TP
	for t := 1; t <= g.PerNode; t *= 2 {
		if g.PerNode%t != 0 || j.m.Heads%t != 0 || span > 1 && t != g.PerNode || pin != 0 && pin != t {
			continue
		}
		looked++
		r := base
		r.t, r.p = t, span
		e, bad := j.size(g, &r)
		switch {
		case bad != nil:
			if refusal == nil || bad.Reason == estimate.NoLatency || bad.Reason == refusal.Reason && bad.Short() < refusal.Short() {
				refusal = bad
			}
		case best.Speed.Value == 0 || j.better(e, best, g):
			best = e
		}
	}
	if best.Speed.Value > 0 {
		return best, nil, looked
	}
	if refusal == nil {
		refusal = &estimate.Refusal{Reason: estimate.NoLayout}
	}
	return best, refusal, looked
}

// better prefers fewer machines for a service, then more capacity an accelerator.
func (j *job) better(a, b estimate.Estimate, g estimate.Group) bool {
	if j.service {
		if x, y := Machines(a.Serving, g.PerNode), Machines(b.Serving, g.PerNode); x != y {
			return x < y
		}
	}
	return a.Speed.Value > b.Speed.Value
}

// Machines is how many machines of so many accelerators the needed replicas take.
func Machines(s estimate.Serving, perNode int) int {
	if s.AcceleratorsPerReplica >= perNode {
		return s.ReplicasNeeded * s.AcceleratorsPerReplica / perNode
	}
	each := perNode / s.AcceleratorsPerReplica
	return (s.ReplicasNeeded + each - 1) / each
}

// fit works out the key/value budget of a replica; the refusal says what a rank lacks to hold one sequence.
func (j *job) fit(g estimate.Group, r *replica) *estimate.Refusal {
	ranks := float64(r.t * r.p)
	kvShare := j.m.KVShard(r.t) / float64(r.p)
	r.kvRank = j.kvFull * kvShare
	budget := float64(r.usable) * j.c.Serve.MemoryFraction
	fixed := j.weights/ranks + j.workspace/float64(r.t) + j.runtime(r)
	r.free = budget - fixed
	if r.free < r.kvRank {
		return &estimate.Refusal{Reason: estimate.NoMemory, Have: float64(r.usable), Want: float64(r.usable) + r.kvRank - r.free}
	}
	inside, ok := j.c.Inside(g, r.t)
	if !ok {
		return &estimate.Refusal{Reason: estimate.NoNetworkFact}
	}
	r.link = inside
	if r.p > 1 {
		if _, ok := j.c.Between(g); !ok {
			return &estimate.Refusal{Reason: estimate.NoNetworkFact}
		}
	}
	r.rate *= ranks
	r.bandwidth *= ranks
	r.launch = j.c.Serve.StepUS*1e-6 + float64(j.m.Layers)*2*r.curve.OpSeconds()
	return nil
}

func (j *job) runtime(r *replica) float64 {
	gib := j.c.Memory.RuntimeGiB
	if r.t*r.p > 1 {
		gib += j.c.Memory.CommGiB
	}
	return gib * float64(unit.GiB)
}

// FLOP is the arithmetic of the whole job: every prompt and every generated token.
func (j *job) FLOP() unit.FLOP {
	each := j.prefill + j.out*j.decode
	if j.service {
		t := j.w.Traffic
		return unit.FLOP(each * MeanLoad(t) * t.RequestsPerSecond * j.w.Duration.Seconds())
	}
	return unit.FLOP(each * j.w.Batch.Requests)
}
