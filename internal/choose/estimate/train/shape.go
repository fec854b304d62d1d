package train

import (
	"math"

	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// shape is the network seen per token and per layer, averaged over the layers.
type shape struct {
	layers, hidden, vocab, heads int // vocab is 0 where no logits are computed
	seq, batch                   int
	// parameters: dense ones (attention, MLP, router, norms, encoder) and routed experts of an average layer; embedding and head
	dense, routed, embed, head float64
	adapters                   float64 // trainable parameters of LoRA over all layers
	adapterPart                float64 // of those, over the weights a token is multiplied with in the layers
	// forward FLOPs of a token: matrix multiplies a layer, attention core a layer, output head
	matmul, core, headFLOP float64
	// bytes a token and layer that backward needs under fused attention, 16-bit; and those of unfused attention a
	// token and layer, which grow with the sequence
	act, unfused float64
	cheap        float64 // of act, what selective recomputation computes again without a multiply: outputs of norms and of the activation function
	kvDim        float64 // key and value width of an average layer; and of one of its heads, the least a rank exchanges
	kvHead       float64
	widest       float64 // parameters of the widest matrix, which QLoRA widens to 16 bit one at a time
	topK         float64
	expertWidth  float64 // what a token is when it is sent to an expert
	recurrent    float64 // forward FLOPs of a token and layer in recurrent states, as model.SequenceFLOPs counts them
	extra        float64 // forward FLOPs of a token and layer beside the matrix multiplies told apart
	moeShare     float64 // layers that route over layers
	experts      int
	rootNorms    float64 // norms of an average layer by root mean square, which go with gated feed-forwards
	tied         bool
}

func shapeOf(w *workload.Workload, narrow bool) shape {
	m := w.Model
	L, seq := float64(m.Layers), float64(w.Sequence)
	s := shape{layers: m.Layers, hidden: m.Hidden, vocab: m.Vocab, heads: m.Heads, seq: w.Sequence, batch: w.GlobalBatch, tied: m.TieEmbeddings}
	p := m.Params
	s.dense = float64(p.Attention+p.MLP+p.Router+p.Norm+p.Other) / L
	s.routed = float64(p.Routed) / L
	s.embed, s.head = float64(p.Embedding), float64(p.Head)
	if m.MoE != nil && m.MoE.Experts > 0 {
		s.topK, s.experts, s.expertWidth = float64(m.MoE.TopK), m.MoE.Experts, float64(m.MoE.Width(m.Hidden))
		s.moeShare = float64(m.MoE.Layers) / L
	}
	body := 2 * m.MatmulParamsPerLayer()
	// Exact over the sequence: causal halves, windows slide, chunks restart.
	s.core = max(0, float64(m.SequenceFLOPs(w.Sequence))/seq-2*m.MatmulParams()) / L
	s.headFLOP = 2 * m.HeadParams()
	if m.Class == model.Encoder {
		// Pretraining multiplies each token with the embedding again (BertForMaskedLM); a fine-tuned head is small.
		if s.headFLOP = 2 * float64(m.Vocab) * float64(m.Hidden); w.Kind != workload.Train {
			s.vocab, s.headFLOP = 0, 0
		}
	}
	for _, l := range m.Stack {
		n, a := float64(l.Count)/L, l.Attention
		s.act += n * (attentionActivation(m, l, seq, narrow) + mlpActivation(m, l, narrow))
		s.cheap += n * cheapActivation(m, l)
		if matrices(l.Params.MLP, 1, m.Hidden, l.FFN) == 3 {
			s.rootNorms += 2 * n
		}
		s.recurrent += n * 3 * float64(a.StateBytes)
		s.kvDim += n * float64(a.KVHeads*(a.QKDim+a.VDim))
		s.kvHead += n * float64(a.QKDim+a.VDim)
		// Scores, softmax and dropout mask of unfused attention: 5 bytes a head and pair (Korthikanti et al. 2022).
		s.unfused += n * 5 * float64(a.Heads) * (seq + float64(a.Cross))
		s.adapters += float64(l.Count*w.LoRARank) * adapterWidth(m, l)
		s.widest = max(s.widest, float64(m.Hidden)*float64(max(l.FFN, a.Heads*a.QKDim)))
	}
	s.adapterPart = 2 * s.adapters / math.Max(1, L*body)
	s.matmul = body
	s.encoder(m, seq)
	return s
}

// countsEnds says whether p stages share the layers evenly only where embedding and head count as a layer each, so that the first and the
// last have one less.
func (s *shape) countsEnds(p int) bool { return p > 2 && s.layers%p != 0 && (s.layers+2)%p == 0 }

// encoder adds what an encoder beside the decoder does once a sequence, spread over its tokens. Its layers are not told
// apart, so what it keeps goes by its weights: a block of 12 h x h keeps 34 h bytes a frame (Korthikanti et al. 2022).
func (s *shape) encoder(m *model.Model, seq float64) {
	flop, ok := m.PerSample.Get()
	if !ok || m.Class != model.EncoderDecoder {
		return
	}
	frames := 0
	for _, a := range m.Attention {
		frames = max(frames, a.Cross)
	}
	L := float64(m.Layers)
	s.matmul += float64(flop) / seq / L
	s.act += 34.0 / 12 * float64(m.Params.Other) / float64(m.Hidden) * float64(frames) / seq / L
}

// matrices is how many matrices of hidden x width so many parameters make: three when gated, two when not.
func matrices(params int64, count, hidden, width int) float64 {
	if n := float64(count) * float64(hidden) * float64(width); n > 0 {
		return math.Round(float64(params) / n)
	}
	return 0
}

// sharedMatrices is how many matrices a shared expert has; projections into the routed experts' own width are not among them.
func sharedMatrices(m *model.Model, l model.Layer) float64 {
	e, around := m.MoE, 0
	if e.Latent > 0 {
		around = 2 * m.Hidden * e.Latent
	}
	return matrices(l.Params.MLP-int64(around), e.Shared, m.Hidden, e.SharedFFN)
}

// attentionActivation is the bytes a token that backward needs of a layer's norms and attention at 16 bit: the two norms'
// inputs and outputs, query, key, value and the attention's output. Of the 34 h that Korthikanti et al. 2022 count for GPT with
// its feed-forward part, what lacks is the two dropout masks. Where a framework keeps what narrower multiplies read as they read it, that is
// at 8 bit: the norms' outputs, and a copy of the attention's.
func attentionActivation(m *model.Model, l model.Layer, seq float64, narrow bool) float64 {
	a, h := l.Attention, float64(m.Hidden)
	if a.Kind == model.LinearAttention {
		// Recurrent layers keep what their projections put out and take in: as many values as weights a hidden unit.
		return 2 * (4*h + float64(l.Params.Attention)/h)
	}
	q, kv := float64(a.Heads*(a.QKDim+a.VDim)), float64(a.KVHeads*(a.QKDim+a.VDim))
	n := 4*h + q + kv + float64(a.Latent+a.Rope)
	if a.Cross > 0 {
		n += 2*h + q + kv*float64(a.Cross)/seq
	}
	if narrow {
		return 2*n - 2*h + float64(a.Heads*a.VDim)
	}
	return 2 * n
}

// mlpActivation is the bytes a token that a layer's feed-forward keeps at 16 bit: gate, up and their product of a gated one, the
// activation's input and output of a plain one; of experts for the tokens routed to them, with their dispatched inputs. The last
// multiply reads 8 bit where arithmetic is narrow.
func mlpActivation(m *model.Model, l model.Layer, narrow bool) float64 {
	saved := 0.0
	if narrow {
		saved = 0.5
	}
	kept := func(matrices, width float64) float64 { // values at 16 bit
		if matrices == 0 {
			return 0
		}
		return (matrices - saved) * width
	}
	n := kept(matrices(l.Params.MLP, 1, m.Hidden, l.FFN), float64(l.FFN))
	if e := m.MoE; l.MoE && e != nil {
		inside := e.Width(m.Hidden)
		n += float64(e.TopK) * ((1-saved)*float64(inside) + kept(matrices(l.Params.Routed, e.Experts, inside, e.FFN), float64(e.FFN)))
		n += kept(sharedMatrices(m, l), float64(e.Shared*e.SharedFFN))
	}
	return 2 * n
}

// cheapActivation is the bytes a token of a layer that follow from others kept, element by element: both norms' outputs, and the
// product inside each gated feed-forward or the activation's output of a plain one.
func cheapActivation(m *model.Model, l model.Layer) float64 {
	n := 2*float64(m.Hidden) + float64(l.FFN)
	if e := m.MoE; l.MoE && e != nil {
		n += float64(e.TopK*e.FFN + e.Shared*e.SharedFFN)
	}
	return 2 * n
}

// adapterWidth is LoRA's trainable parameters of a layer a rank: in + out of every attention and dense feed-forward
// matrix (Hu et al. 2021). Routed experts carry none, as the usual recipes have it.
func adapterWidth(m *model.Model, l model.Layer) float64 {
	a, h := l.Attention, float64(m.Hidden)
	q, k, v, o := float64(a.Heads*a.QKDim), float64(a.KVHeads*a.QKDim), float64(a.KVHeads*a.VDim), float64(a.Heads*a.VDim)
	n := 4*h + q + k + v + o
	switch {
	case a.Kind == model.LinearAttention:
		n = 2*h + float64(l.Params.Attention)/h // one projection in and one out
	case a.Kind == model.LatentAttention: // down to the latent and up again; the query taken as one matrix
		n = h + q + h + float64(a.Latent+a.Rope) + float64(a.Latent) + float64(a.Heads*(a.QKDim-a.Rope+a.VDim)) + o + h
	case a.Cross > 0:
		n *= 2
	}
	n += matrices(l.Params.MLP, 1, m.Hidden, l.FFN) * (h + float64(l.FFN))
	if e := m.MoE; l.MoE && e != nil {
		n += sharedMatrices(m, l) * float64(e.Shared) * (h + float64(e.SharedFFN))
	}
	return n
}
