// Package train estimates training and fine-tuning of transformers: memory by parts under tensor, pipeline,
// data, context and expert parallelism with ZeRO and recomputation, the time of an optimizer step with what bounds
// it, and the fastest layout that fits.
//
// Each formula names its paper; the symbols are those of Megatron-LM (t, p, c, e, D, b, m, v).
// Invariants as in package estimate. Imported by choose/plan.
package train

import (
	"slices"
	"strings"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// job is a training run prepared for estimating: everything that does not depend on the machine.
type job struct {
	w        *workload.Workload
	c        *estimate.Curves
	m        *model.Model
	shape    shape
	states   states
	format   model.FormatInfo
	details  Details
	matrices []matrix
	cores    []core
}

// New prepares a training or fine-tuning workload.
func New(w *workload.Workload, c *estimate.Curves) (estimate.Job, error) {
	j, err := newJob(w, c)
	if err != nil {
		return nil, err
	}
	return j, nil
}

func newJob(w *workload.Workload, c *estimate.Curves) (*job, error) {
	if w.Model.Class != model.Decoder && w.Model.Class != model.Encoder && w.Model.Class != model.EncoderDecoder {
		return nil, problem.New(problem.Input, "train.not_a_transformer", problem.Args{"Model": w.Model.Name})
	}
	f, err := model.LookupFormat(string(w.Format))
	if err != nil {
		return nil, err
	}
	base := f
	if w.Method == workload.QLoRA {
		if base, err = model.LookupFormat("nf4"); err != nil {
			return nil, err
		}
	}
	sh := shapeOf(w, f.Bits <= 8 && megatron(w.Software.Framework))
	j := &job{w: w, c: c, m: w.Model, shape: sh, states: statesOf(w, f, base), format: f, matrices: matricesOf(w.Model), cores: coresOf(w.Model, float64(w.Sequence))}
	j.shape.extra = j.rest()
	return j, nil
}

func (j *job) Service() bool     { return false }
func (j *job) Independent() bool { return false }

// states is the bytes held for each parameter.
type states struct {
	weight    float64 // of the weights as held: 2 for 16-bit, 0.516 for NF4
	wide      float64 // of embeddings and adapters
	head      float64 // of the output head
	grad, opt float64 // of each trainable parameter
	logit     float64 // of an output for every word
	full      bool    // every weight is trainable
}

func statesOf(w *workload.Workload, f, base model.FormatInfo) states {
	s := states{weight: base.Bits / 8, wide: 2, grad: 2, opt: w.Optimizer.Bytes(), full: w.Method == workload.Full || w.Kind == workload.Train}
	s.logit = EagerLogit
	switch framework := w.Software.Framework; {
	case megatron(framework):
		s.grad, s.logit = 4, leanLogit // gradients summed over micro-batches at 32 bit
	case slices.Contains(leanLosses, framework):
		s.logit = leanLogit
	}
	if f.Bits >= 32 {
		s.wide, s.grad = 4, 4
		if w.Optimizer != workload.AdamWBF16 {
			s.opt -= 4 // the weights are their own master copy
		}
	}
	if s.full || w.Method == workload.LoRA {
		// 8-bit arithmetic still keeps 16-bit weights to update; frozen ones stay in the format they are multiplied in.
		s.weight = s.wide
		if !s.full && f.Bits <= 8 {
			s.weight = 1
		}
	}
	s.head = s.wide
	if w.Method == workload.QLoRA && w.Software.Framework == "litgpt" { // quantizes every linear layer; others leave out the head
		s.head = s.weight
	}
	return s
}

// The bytes of a logit from forward to backward. Written out operation by operation, PyTorch's loss holds logits at 16 and 32 bit, their
// logarithms at 32, and a gradient at 16; in place, in chunks or compiled it holds logits, logarithms and gradient at 16 bit.
const (
	EagerLogit = 12
	leanLogit  = 6
)

// leanLosses is the frameworks beside Megatron's whose loss does not hold all of it at once.
var leanLosses = []string{"litgpt", "maxtext", "torchtitan", "torchtune"}

// megatron says whether a framework is built on Megatron-Core.
func megatron(framework string) bool {
	return strings.HasPrefix(framework, "megatron") || strings.Contains(framework, "nemo")
}

// precision is the format's own arithmetic, which the chip must have with a known rate: training does not fall back to
// another range or width silently.
func (j *job) precision(a *accelerator.Accelerator) (accelerator.Precision, unit.FLOPS, *estimate.Refusal) {
	if a.InferenceOnly {
		return 0, 0, &estimate.Refusal{Reason: estimate.NoTraining}
	}
	if p, r, ok := a.Best(j.format.Compute[:1]...); ok {
		return p, r, nil
	}
	return 0, 0, &estimate.Refusal{Reason: estimate.NoPrecision}
}
