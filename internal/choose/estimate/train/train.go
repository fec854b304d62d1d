// Package train estimates training and fine-tuning of transformers: memory by parts under tensor, pipeline,
// data, context and expert parallelism with ZeRO and recomputation, the time of an optimizer step with what bounds
// it, and the fastest layout that fits.
//
// Each formula names its paper; the symbols are those of Megatron-LM (t, p, c, e, D, b, m, v).
// Invariants as in package estimate. Imported by choose/plan.
package train

import (
	"math"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// job is a training run prepared for estimating: everything that does not depend on the machine.
type job struct {
	w      *workload.Workload
	c      *estimate.Curves
	m      *model.Model
	shape  shape
	states states
	format model.FormatInfo
}

// New prepares a training or fine-tuning workload.
func New(w *workload.Workload, c *estimate.Curves) (estimate.Job, error) {
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
	sh := shapeOf(w)
	return &job{w: w, c: c, m: w.Model, shape: sh, states: statesOf(w, f, base, sh), format: f}, nil
}

func (j *job) Service() bool     { return false }
func (j *job) Independent() bool { return false }

// shape is the network seen per token and per layer, averaged over the layers.
type shape struct {
	layers, hidden, vocab, heads int
	seq, batch                   int
	// parameters: dense ones (attention, MLP, router, norms) and routed experts of an average layer; embedding and head
	dense, routed, embed, head float64
	adapters                   float64 // trainable parameters of LoRA over all layers
	// forward FLOPs of a token: matrix multiplies a layer, attention core a layer, output head
	matmul, core, headFLOP float64
	// bytes a token and layer that backward needs under fused attention, 16-bit; and those of unfused attention a
	// token and layer, which grow with the sequence
	act, unfused float64
	kvDim        float64 // key and value width of an average layer
	topK         float64
	moeShare     float64 // layers that route over layers
	experts      int
	tied         bool
}

func shapeOf(w *workload.Workload) shape {
	m := w.Model
	L := float64(m.Layers)
	s := shape{layers: m.Layers, hidden: m.Hidden, vocab: m.Vocab, heads: m.Heads, seq: w.Sequence, batch: w.GlobalBatch, tied: m.TieEmbeddings}
	p := m.Params
	s.dense = float64(p.Attention+p.MLP+p.Router+p.Norm+p.Other) / L
	s.routed = float64(p.Routed) / L
	s.embed, s.head = float64(p.Embedding), float64(p.Head)
	active := 1.0
	if m.MoE != nil && m.MoE.Experts > 0 {
		active = float64(m.MoE.TopK) / float64(m.MoE.Experts)
		s.topK, s.experts = float64(m.MoE.TopK), m.MoE.Experts
		s.moeShare = float64(m.MoE.Layers) / L
	}
	s.matmul = 2 * (float64(p.Attention+p.MLP+p.Router+p.Other) + float64(p.Routed)*active) / L
	s.headFLOP = 2 * float64(m.Hidden) * float64(m.Vocab)
	for _, a := range m.Attention {
		n := float64(a.Layers) / L
		// A causal token sees half the sequence on average, a windowed one its window once that is shorter.
		seen := float64(w.Sequence) / 2
		if a.Bidirectional {
			seen *= 2
		}
		if a.Window > 0 {
			seen = min(seen, float64(a.Window))
		}
		if a.Kind == model.LinearAttention {
			seen = 0
		}
		s.core += n * 2 * float64(a.QKDim+a.VDim) * float64(a.Heads) * seen
		s.kvDim += n * float64(a.KVHeads*(a.QKDim+a.VDim))
		// Kept for backward: the two norms' inputs and outputs, query, key, value, the attention's output.
		s.act += n * 2 * float64(4*m.Hidden+a.Heads*(a.QKDim+a.VDim)+a.KVHeads*(a.QKDim+a.VDim))
		// Scores, softmax and dropout mask of unfused attention: 5 bytes a head and pair (Korthikanti et al. 2022).
		s.unfused += n * 5 * float64(a.Heads) * float64(w.Sequence)
	}
	s.act += mlpActivation(m)
	s.adapters = adapters(m, w.LoRARank)
	return s
}

// mlpActivation is the bytes a token and layer that the feed-forward keeps at 16 bit: gate, up and their product of
// a gated one, the activation's input and output of a plain one; of experts for the tokens routed to them, with their
// dispatched inputs.
func mlpActivation(m *model.Model) float64 {
	L := float64(m.Layers)
	if m.MoE == nil {
		// Matrices of a layer's feed-forward: three when gated, two when not; as many tensors are kept.
		matrices := math.Round(float64(m.Params.MLP) / (L * float64(m.Hidden) * math.Max(1, float64(m.FFN))))
		return 2 * matrices * float64(m.FFN)
	}
	e := m.MoE
	moe := float64(e.Layers) / L
	routed := float64(e.TopK) * (2*float64(m.Hidden) + 2*3*float64(e.FFN))
	shared := float64(e.Shared) * 2 * 3 * float64(e.SharedFFN)
	return moe*(routed+shared) + (1-moe)*2*3*float64(m.FFN)
}

// adapters counts LoRA's trainable parameters at a rank on every attention and dense feed-forward matrix:
// rank x (in + out) each (Hu et al. 2021). Routed experts carry none, as the usual recipes have it.
func adapters(m *model.Model, rank int) float64 {
	h, n := float64(m.Hidden), 0.0
	for _, a := range m.Attention {
		q, k, v := float64(a.Heads*a.QKDim), float64(a.KVHeads*a.QKDim), float64(a.KVHeads*a.VDim)
		o := float64(a.Heads * a.VDim)
		n += float64(a.Layers) * (4*h + q + k + v + o)
	}
	dense, width := float64(m.Layers), float64(m.FFN)
	if m.MoE != nil {
		dense -= float64(m.MoE.Layers)
		n += float64(m.MoE.Layers*m.MoE.Shared) * 3 * (h + float64(m.MoE.SharedFFN))
	}
	n += dense * 3 * (h + width)
	return n * float64(rank)
}

// states is the bytes held for each parameter.
type states struct {
	weight    float64 // of the weights as held: 2 for 16-bit, 0.516 for NF4
	wide      float64 // of embeddings, head and adapters
	grad, opt float64 // of each trainable parameter
	full      bool    // every weight is trainable
}

// optimizerBytes is the fp32 master copy where there is one and the moments (Rajbhandari et al. 2020 for AdamW).
var optimizerBytes = map[workload.Optimizer]float64{
	workload.AdamW: 12, workload.AdamW8bit: 6, workload.AdamWBF16: 4,
	workload.Adafactor: 4, workload.SGD: 8, workload.Muon: 8,
}

func statesOf(w *workload.Workload, f, base model.FormatInfo, sh shape) states {
	s := states{weight: base.Bits / 8, wide: 2, grad: 2, opt: optimizerBytes[w.Optimizer], full: w.Method == workload.Full || w.Kind == workload.Train}
	if f.Bits >= 32 {
		s.wide, s.grad = 4, 4
		s.opt = max(0, s.opt-4) // the weights are their own master copy
	}
	if s.full || w.Method == workload.LoRA {
		// 8-bit arithmetic still keeps 16-bit weights to update.
		s.weight = s.wide
	}
	return s
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
