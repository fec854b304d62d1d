package train

import (
	"math"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// matrix is one matrix multiply of a layer: in values of a token to out. Tensor parallelism cuts the output of the first of a
// pair (query, key, value; up) and the input of the second (attention's output; down), so that only the sum crosses ranks.
type matrix struct {
	in, out float64
	times   float64 // how often an average layer has it
	second  bool
	routed  bool // one of each expert
	eight   bool // no recipe trains it at 4 bit: experts in groups, and the projections of recurrent states
}

// matrices lists the multiplies of the layers. Matrices of like input are one, as the usual kernels run them; latent and recurrent
// attention counts as one matrix in of all its weights but the output's.
func matricesOf(m *model.Model) []matrix {
	var out []matrix
	h := float64(m.Hidden)
	for _, l := range m.Stack {
		n, a := float64(l.Count)/float64(m.Layers), l.Attention
		back := float64(a.Heads * a.VDim)
		if a.Kind == model.LinearAttention {
			back = float64(l.Params.Attention) / h / 3
		}
		if forth := float64(l.Params.Attention)/h - back; forth > 0 {
			eight := a.Kind == model.LinearAttention
			out = append(out, matrix{in: h, out: forth, times: n, eight: eight}, matrix{in: back, out: h, times: n, second: true, eight: eight})
		}
		out = appendMLP(out, n, h, matrices(l.Params.MLP, 1, m.Hidden, l.FFN), float64(l.FFN), false)
		if e := m.MoE; l.MoE && e != nil {
			out = appendMLP(out, n, h, sharedMatrices(m, l), float64(e.Shared*e.SharedFFN), false)
			inside := e.Width(m.Hidden)
			out = appendMLP(out, n, float64(inside), matrices(l.Params.Routed, e.Experts, inside, e.FFN), float64(e.FFN), true)
		}
	}
	return out
}

// appendMLP adds a feed-forward of two or three matrices.
func appendMLP(out []matrix, times, hidden, count, width float64, routed bool) []matrix {
	if count < 2 || width == 0 {
		return out
	}
	return append(out, matrix{in: hidden, out: (count - 1) * width, times: times, routed: routed, eight: routed},
		matrix{in: width, out: hidden, times: times, second: true, routed: routed, eight: routed})
}

// rest is the forward FLOPs of a token and layer that are in none of the matrices: routers, encoders.
func (j *job) rest() float64 {
	left := j.shape.matmul
	for _, x := range j.matrices {
		n := 2 * x.in * x.out * x.times
		if x.routed {
			n *= j.shape.topK
		}
		left -= n
	}
	return max(0, left)
}

// work is the seconds of one average layer and of the head for one micro-batch on a rank, alone on its machine.
type work struct {
	forward, inputs, weights float64 // the layer's multiplies: forward, gradient of inputs, gradient of weights
	attention                float64 // one forward pass of the attention core
	head                     float64 // one pass of the output head
	elementwise              float64 // one pass over what a layer keeps
	loss                     float64 // softmax and its gradient over the vocabulary
	priced                   bool
}

// work prices a cut and a micro-batch, for all schedules of them. Each multiply follows the curve of measured kernels with the
// sustained rate for a ceiling.
func (j *job) work(mc *machine, k *cut, b int) work {
	s := &j.shape
	t := float64(k.t)
	tokens := float64(b) * float64(s.seq) / float64(k.c)
	w := work{priced: true}
	for i := range j.matrices {
		x := &j.matrices[i]
		in, out := x.in, x.out
		if x.routed {
			j.experts(mc, k, x, tokens, &w)
			continue
		}
		if x.second {
			in /= t
		} else {
			out /= t
		}
		in, out = tiled(in), tiled(out)
		multiply := mc.of(x)
		w.forward += x.times * multiply.Seconds(tokens, out, in)
		w.inputs += x.times * multiply.Seconds(tokens, in, out)
		w.weights += x.times * multiply.Seconds(out, in, tokens)
	}
	if s.extra > 0 {
		once := tokens / t * s.extra / mc.Multiply
		w.forward, w.inputs, w.weights = w.forward+once, w.inputs+once, w.weights+once
	}
	share := j.c.Train.KernelShare
	w.forward, w.inputs, w.weights = w.forward/share, w.inputs/share, w.weights/share
	w.attention = j.attention(mc, k, float64(b)) / j.c.Train.AttentionShare
	if s.headFLOP > 0 {
		w.head = mc.wide.Seconds(tokens, s.headFLOP/2/float64(s.hidden)/t, float64(s.hidden)) / share
		w.loss = j.c.Train.Elementwise * tokens / t * s.headFLOP / 2 / float64(s.hidden) * lossBytes / mc.Bandwidth
	}
	w.elementwise = j.c.Train.Elementwise * tokens * s.act / t / mc.Bandwidth
	return w
}

// core is the attention of some layers: so many of an average layer, with what share of the pairs of a causal mask they see.
type core struct {
	times, heads, kv, width, pairs float64
}

// coresOf lists the attention of the layers; recurrent layers have none.
func coresOf(m *model.Model, seq float64) []core {
	var out []core
	for _, l := range m.Stack {
		a := l.Attention
		if a.Kind == model.LinearAttention || a.Heads == 0 {
			continue
		}
		out = append(out, core{times: float64(l.Count) / float64(m.Layers), heads: float64(a.Heads), kv: float64(a.KVHeads), width: float64(a.QKDim+a.VDim) / 2,
			pairs: (a.Pairs(seq) + seq*float64(a.Cross)) / (seq * (seq + 1) / 2)})
	}
	return out
}

// attention is one forward pass of an average layer's attention on a rank: under context parallelism in as many launches as there are
// ranks, each on the keys of one of them. Where scores go through memory it takes twice as long.
func (j *job) attention(mc *machine, k *cut, b float64) float64 {
	seq := float64(j.shape.seq)
	fresh := seq / float64(k.c)
	sum := 0.0
	for i := range j.cores {
		x := &j.cores[i]
		t := min(float64(k.t), x.heads)
		sum += x.times * x.pairs * float64(k.c) * mc.core.PrefillSeconds(b, fresh, 0, x.heads/t, max(1, x.kv/t), x.width)
	}
	if !mc.fused {
		sum *= 2
	}
	return sum + b*fresh/float64(k.t)*j.shape.recurrent/mc.coreRate
}

// lossBytes is what the softmax over the vocabulary reads and writes a logit: 16-bit logits, 32-bit probabilities, their gradient.
const lossBytes = 16

// tile is the width to which matrix units round a multiply: 256 values on TPUs and the larger tiles of GPUs.
const tile = 256

func tiled(n float64) float64 {
	if n < tile {
		return n
	}
	return math.Ceil(n/tile) * tile
}

// experts adds the grouped multiplies of a rank's experts: the tokens of the e ranks, topK experts each, evenly routed. Fewer ranks
// than tensor parallelism has cut each expert.
func (j *job) experts(mc *machine, k *cut, x *matrix, tokens float64, w *work) {
	s := &j.shape
	in, out := x.in, x.out
	cut := max(1, float64(k.t)/float64(k.e))
	if x.second {
		in /= cut
	} else {
		out /= cut
	}
	in, out = tiled(in), tiled(out)
	local := float64(s.experts) / float64(k.e)
	rows := tokens / max(1, float64(k.t)/cut) * s.topK / local
	touched := local
	if rows < 1 {
		touched, rows = rows*local, 1
	}
	n := x.times / j.c.Train.Grouped
	multiply := mc.of(x)
	w.forward += n * multiply.Grouped(touched, rows, out, in)
	w.inputs += n * multiply.Grouped(touched, rows, in, out)
	w.weights += n * multiply.Grouped(touched, out, in, rows)
}

// of is the curve that a matrix is multiplied by.
func (mc *machine) of(x *matrix) *estimate.Multiply {
	if x.eight {
		return &mc.eight
	}
	return &mc.multiply
}

// multiplies prepares the curves of the layers' matrix multiplies, and of the head's, which stays at the precision of attention, with
// the rates that long runs reach for ceilings.
func (mc *machine) multiplies(c *estimate.Curves, g estimate.Group, core accelerator.Precision, plain bool) *estimate.Refusal {
	k, refusal := estimate.EmbeddedKernels().For(c, g)
	if refusal != nil {
		return refusal
	}
	mc.multiply = ceiling(k, mc.Precision, mc.Multiply)
	mc.eight = mc.multiply
	if peak, ok := g.Chip.Peak[accelerator.FP8].Get(); ok && mc.Precision == accelerator.FP4 {
		mc.eight = ceiling(k, accelerator.FP8, float64(peak)*g.Fraction()*mc.Curve.Share(accelerator.FP8))
	}
	mc.wide = ceiling(k, core, mc.Attention/c.Train.AttentionShare)
	mc.core, _ = k.Attention(core, 16)
	mc.core.Peak = mc.Attention / c.Train.AttentionShare
	if plain {
		mc.core.Peak *= c.Train.PlainAttention
	}
	return nil
}

// ceiling is a chip's multiply curve at a precision with another rate for large ones.
func ceiling(k *estimate.Kernels, p accelerator.Precision, rate float64) estimate.Multiply {
	x, _ := k.Multiply(estimate.Arithmetic{Precision: p})
	x.WeightBytes, x.Peak = x.InputBytes, rate/x.Curve.Compute
	return x
}
