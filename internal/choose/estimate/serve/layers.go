package serve

import (
	"math"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// multiply is one kind of matrix multiply that a rank does for each token: of every layer of some kind, in so many
// independent groups (heads of latent attention), n x k each.
type multiply struct {
	layers, groups, n, k float64
	with                 *estimate.Multiply
}

// attends is one kind of attention layer as a rank runs it.
type attends struct {
	layers, heads, kvHeads, width float64
	kind                          model.AttentionKind
	latent, rope                  float64
	window, cross                 float64
	state                         float64 // bytes of a linear layer's state on this rank
}

// shape is what one rank does, by kinds of layer.
type shape struct {
	dense    []multiply // on the tokens of a rank: attention's and the feed-forward's that is not routed
	routed   []multiply // on the tokens of all ranks that share experts
	head     multiply
	attend   []attends
	layers   float64
	expertly float64 // layers that route

	experts, topK float64 // on this rank, and in all of them a token's
	ofAll         float64 // experts of a layer
}

// arithmetic is the prepared multiplies of a setup on a chip.
type arithmetic struct{ weights, dense, head estimate.Multiply }

// multiplies prepares the multiplies of a setup: routed experts at the format, the rest at the format or, where it is for
// experts only, at 16 bit; the head at 16 bit where the format keeps it so.
func (s *Setup) multiplies(c *estimate.ServeCurve, k *estimate.Kernels, chip *accelerator.Accelerator) (a arithmetic, p accelerator.Precision, bad *estimate.Refusal) {
	p, _, ok := chip.Best(s.Format.Compute...)
	if !ok {
		return a, p, &estimate.Refusal{Reason: estimate.NoPrecision}
	}
	wide, _, ok := chip.Best(accelerator.BF16, accelerator.FP16)
	if !ok {
		wide = p
	}
	of := func(q accelerator.Precision, bits float64) (m estimate.Multiply) {
		m, found := k.Multiply(estimate.Arithmetic{Precision: q, WeightBits: bits, Block: s.Block, Fused: true, Sustain: c.Sustain})
		if m.WeightBytes < m.InputBytes {
			m.Peak *= c.Widened
		}
		ok = ok && found
		return m
	}
	ok = true
	a.weights = of(p, s.Format.Bits)
	a.dense, a.head = a.weights, a.weights
	if s.expertsOnly() && s.Model.Params.Routed > 0 {
		a.dense = of(wide, 16)
	}
	if s.Format.KeepsHead {
		a.head = of(wide, 16)
	}
	if !ok {
		return a, p, &estimate.Refusal{Reason: estimate.NoRate}
	}
	return a, p, nil
}

// expertsOnly says that all but routed experts stay at 16 bit: by the format, or as a checkpoint with experts ships that
// stores its weights narrower than it multiplies them.
func (s *Setup) expertsOnly() bool {
	return s.Format.ExpertsOnly || s.Format.WeightOnly && s.Model.MoE != nil && s.Format.Name == s.Model.NativeFormat
}

// shapes lists what a rank of the setup does. The sizes of projections follow from the parameters of each kind of layer.
func (s *Setup) shapes(a *arithmetic) *shape {
	m, x := s.Model, s.Spread.whole()
	t, h := float64(x.TP), float64(m.Hidden)
	out := &shape{layers: float64(m.Layers)}
	out.head = multiply{1, 1, float64(m.Vocab) / t, h, &a.head}
	for i := range m.Stack {
		l := &m.Stack[i]
		n := float64(l.Count)
		out.attention(l, n, t, h, &a.dense)
		if mlp := float64(l.Params.MLP); mlp > 0 {
			wide, mats := mlp/(3*h), 3.0
			if l.FFN > 0 && !l.MoE {
				wide = float64(l.FFN)
				mats = max(2, math.Round(mlp/(wide*h)))
			}
			out.dense = append(out.dense, multiply{n, 1, (mats - 1) * wide / t, h, &a.dense}, multiply{n, 1, h, wide / t, &a.dense})
		}
		if l.MoE && m.MoE != nil {
			e := m.MoE
			ep, cut := float64(x.EP), float64(x.slices())
			mats := max(2, math.Round(float64(l.Params.Routed)/(float64(e.Experts)*float64(e.FFN)*h)))
			out.expertly += n
			out.experts, out.topK, out.ofAll = float64(e.Experts)/ep, float64(e.TopK), float64(e.Experts)
			out.dense = append(out.dense, multiply{n, 1, float64(e.Experts), h, &a.head})
			out.routed = append(out.routed, multiply{n, 1, (mats - 1) * float64(e.FFN) / cut, h, &a.weights}, multiply{n, 1, h, float64(e.FFN) / cut, &a.weights})
		}
	}
	return out
}

// attention adds the projections and the attention of one kind of layer.
func (x *shape) attention(l *model.Layer, n, t, h float64, dense *estimate.Multiply) {
	a := l.Attention
	heads, params := float64(a.Heads), float64(l.Params.Attention)
	kv := math.Ceil(float64(a.KVHeads) / t)
	at := attends{layers: n, kind: a.Kind, heads: heads / t, kvHeads: kv, width: float64(a.QKDim+a.VDim) / 2, window: float64(a.Window), cross: float64(a.Cross)}
	add := func(groups, cols, depth float64) {
		x.dense = append(x.dense, multiply{n, groups, cols, depth, dense})
	}
	switch a.Kind {
	case model.LinearAttention:
		// Three quarters go in (query, key, value, gates), a quarter comes out.
		at.state = float64(a.StateBytes) / t
		add(1, params*0.75/h/t, h)
		add(1, h, params*0.25/h/t)
	case model.LatentAttention:
		latent, rope, qk, v := float64(a.Latent), float64(a.Rope), float64(a.QKDim), float64(a.VDim)
		nope := qk - rope
		at.latent, at.rope, at.kvHeads = latent, rope, heads/t
		rest := params - h*(latent+rope) - latent*heads*(nope+v) - heads*v*h
		rank := max(1, rest/(h+heads*qk)) // of the queries' own compression
		add(1, rank+latent+rope, h)       // down, whole on every rank
		add(1, heads/t*qk, rank)
		add(heads/t, latent, nope) // keys and values absorbed into queries and results, head by head
		add(heads/t, v, latent)
		add(1, h, heads/t*v)
	default:
		result := heads * float64(a.VDim)
		pair := float64(a.QKDim + a.VDim)
		queries := max(0, params/h-result-float64(a.KVHeads)*pair)
		add(1, queries/t+kv*pair, h)
		add(1, h, result/t)
	}
	x.attend = append(x.attend, at)
}

// touched is how many of a rank's experts so many tokens use, and the rows that fall to it: n tokens that chose at random
// would use E (1 - (1 - k/E)^n); those that route alike use as many as fewer would.
func (x *shape) touched(n, alike float64) (experts, rows float64) {
	experts = x.experts * (1 - math.Pow(1-x.topK/x.ofAll, math.Pow(n, 1-alike)))
	return max(experts, min(x.experts, 1)), n * x.topK * x.experts / x.ofAll
}
