package train

import (
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/workload"
)

// Details is what a published run states of itself and a workload has no key for.
type Details struct {
	// Shard is how many ranks share the optimizer states (and what else is shared): hierarchical or "zero1-8"; 0 is all of them.
	Shard int
	// Again is the share of the layers' multiplies that the backward pass repeats, where neither none nor all are.
	Again float64
	// Unfused says that scores go through memory, as before flash attention.
	Unfused bool
	// WeightBytes, GradientBytes and OptimizerBytes are what is held of each parameter, LogitBytes of each logit, where a run departs from
	// the usual; 0 is not so.
	WeightBytes, GradientBytes, OptimizerBytes, LogitBytes float64
	// KeptInputs says that multiplies keep what they read although their weights are frozen, as those of bitsandbytes did until
	// July 2024 (its pull request 1270).
	KeptInputs bool
	// WideNorms says that norms by root mean square are written out, and keep their input at 32 bit beside the layer's own.
	WideNorms bool
	// WholeNorms says that tensor-parallel ranks each keep all inputs and outputs of norms: no sequence parallelism.
	WholeNorms bool
	// Kept is the share of a layer's activations that selective recomputation of single operators keeps; 0 is not so.
	Kept float64
	// WholeCopy says that the peak is while all weights are gathered beside their shards, to be saved.
	WholeCopy bool
	// Counted is what a stated peak of memory counts; empty is all that the device has given away.
	Counted Counted
	// Precision and Mode are tags of the run where its source tells kinds of a format or of a run apart.
	Precision, Mode string
}

// Counted is what a figure of memory counts.
type Counted string

// The ways to count.
const (
	Reserved  Counted = "reserved"  // what the allocator holds: no context, no buffers of libraries
	Allocated Counted = "allocated" // live tensors at their peak: no rounding or fragmentation either
)

// Run is a published run whose layout is known in full or in part.
type Run struct{ job *job }

// NewRun prepares a run.
func NewRun(w *workload.Workload, c *estimate.Curves, d Details) (*Run, error) {
	j, err := newJob(w, c)
	if err != nil {
		return nil, err
	}
	j.details = d
	st := &j.states
	for _, x := range [...]struct {
		held   *float64
		stated float64
	}{{&st.weight, d.WeightBytes}, {&st.grad, d.GradientBytes}, {&st.opt, d.OptimizerBytes}, {&st.logit, d.LogitBytes}} {
		if x.stated > 0 {
			*x.held = x.stated
		}
	}
	return &Run{j}, nil
}

// boundless is how many times a chip's memory a run may take that we would not have thought to fit: it did fit.
const boundless = 64

// At is the estimate of the run on a group: of the layout it states, the rest as the search fills it in. What does not fit by our
// count is estimated all the same.
func (r *Run) At(g estimate.Group) (estimate.Estimate, *estimate.Refusal) {
	e, refusal, _ := r.job.Best(g)
	if refusal == nil || refusal.Reason != estimate.NoMemory {
		return e, refusal
	}
	chip := *g.Chip
	if gb, ok := chip.NominalGB.Get(); ok {
		chip.NominalGB = unit.Some(gb * boundless)
	}
	g.Chip = &chip
	e, refusal, _ = r.job.Best(g)
	return e, refusal
}

// ModelFLOP is the arithmetic of a trained token without recomputation, as MFU counts it: with the half of attention that a causal mask
// leaves, or with all of it, as some count.
func (r *Run) ModelFLOP(whole bool) float64 {
	flop := r.job.modelFLOP()
	if whole {
		_, core := r.job.passes("none", true)
		flop += float64(r.job.shape.layers) * core * r.job.shape.core
	}
	return flop
}

// Tags is what measurements like the run may share with it.
func (r *Run) Tags(g estimate.Group) estimate.Tags { return r.job.tags(g) }

// tags is what measurements like this job's may share with it.
func (j *job) tags(g estimate.Group) estimate.Tags {
	t := estimate.ChipTags(g.Chip)
	t.Model, t.Family, t.Structure = j.m.Name, j.m.Family, structure(j)
	t.Framework, t.Precision, t.Mode = j.w.Software.Framework, string(j.format.Name), method(j.w)
	if j.details.Precision != "" {
		t.Precision = j.details.Precision
	}
	if j.details.Mode != "" {
		t.Mode = j.details.Mode
	}
	return t
}

// structure is what the network is made of.
func structure(j *job) string {
	if j.shape.experts > 0 {
		return "moe"
	}
	return "dense"
}

// method is pretrain, or how a fine-tune changes the weights.
func method(w *workload.Workload) string {
	if w.Kind == workload.Train {
		return "pretrain"
	}
	return string(w.Method)
}
