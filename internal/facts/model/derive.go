package model

import (
	"math"

	"github.com/rackrate/rackrate/internal/base/unit"
)

// MatmulParams is the weights one token is multiplied with: attention, dense and active routed feed-forward,
// router, and the output head (once more the embedding where they are tied). The input look-up, learned
// positions and norms are not multiplied; the encoder of an encoder-decoder runs apart. Biases count with their matrices, below 0.1 %.
func (m *Model) MatmulParams() float64 { return m.bodyParams() + m.HeadParams() }

// bodyParams is MatmulParams without the head. Cross-attention projects the encoder's keys and values once a
// sequence and not for every token: that work is part of PerSample.
func (m *Model) bodyParams() float64 {
	p := m.Params
	sum := float64(p.Attention+p.MLP+p.Router) + float64(p.Routed)*m.expertShare()
	for _, a := range m.Attention {
		if a.Cross > 0 {
			sum -= float64(a.Layers) * float64(m.Hidden) * float64(a.KVHeads*(a.QKDim+a.VDim))
		}
	}
	return sum
}

// expertShare is the share of routed experts a token uses.
func (m *Model) expertShare() float64 {
	if m.MoE == nil || m.MoE.Experts == 0 {
		return 1
	}
	return float64(m.MoE.TopK) / float64(m.MoE.Experts)
}

// HeadParams is the output head's weights; 0 for an encoder, which has none.
func (m *Model) HeadParams() float64 {
	if m.Params.Head == 0 && m.TieEmbeddings && m.Class != Encoder {
		return float64(m.Vocab) * float64(m.Hidden)
	}
	return float64(m.Params.Head)
}

// MatmulParamsPerLayer is the average layer's share of MatmulParams, head left out.
func (m *Model) MatmulParamsPerLayer() float64 {
	if m.Layers == 0 {
		return 0
	}
	return m.bodyParams() / float64(m.Layers)
}

// DecodeAttentionFLOPs is the attention of one generated token that sees context tokens, scores and weighted values: the sum over
// layers of 2 (qk + v) heads min(context, window), and the constant work of linear layers. Latent attention is absorbed, as
// decoding runs it: every head meets the latent itself, 2 (2 latent + rope) heads context.
func (m *Model) DecodeAttentionFLOPs(context float64) unit.FLOP {
	var sum float64
	for _, a := range m.Attention {
		if a.Kind == LinearAttention {
			// Per state value: decay, a multiply-add to update, a multiply-add to read, and the delta rule's read-back.
			sum += float64(a.Layers) * 6 * float64(a.StateBytes) / 2
			continue
		}
		width := a.QKDim + a.VDim
		if a.Kind == LatentAttention {
			width = 2*a.Latent + a.Rope
		}
		sum += float64(a.Layers) * 2 * float64(width) * float64(a.Heads) * (a.visible(context) + float64(a.Cross))
	}
	return unit.FLOP(sum)
}

// visible is how much of a context the layer sees.
func (a Attention) visible(context float64) float64 {
	if a.Window > 0 {
		return math.Min(context, float64(a.Window))
	}
	return context
}

// Transcribes says that a network writes down what it hears: its samples are windows of 30 s of speech, and PerSample is the
// arithmetic of reading one.
func (m *Model) Transcribes() bool {
	_, ok := m.PerSample.Get()
	return ok && m.Class == EncoderDecoder
}

// SequenceFLOPs is the exact forward pass over one sequence from its beginning: causal layers see what is before them,
// windows slide, chunks restart. The head counts for every token, as in training; serving needs it for the last only.
func (m *Model) SequenceFLOPs(tokens int) unit.FLOP {
	n := float64(tokens)
	sum := 2 * m.MatmulParams() * n
	for _, a := range m.Attention {
		if a.Kind == LinearAttention {
			sum += float64(a.Layers) * 3 * float64(a.StateBytes) * n
			continue
		}
		sum += float64(a.Layers) * 2 * float64(a.QKDim+a.VDim) * float64(a.Heads) * (a.Pairs(n) + n*float64(a.Cross))
	}
	return unit.FLOP(sum)
}

// Pairs is how many (query, key) pairs a sequence of n tokens has.
func (a Attention) Pairs(n float64) float64 {
	triangle := func(k float64) float64 { return k * (k + 1) / 2 }
	w := float64(a.Window)
	switch {
	case a.Bidirectional:
		return n * a.visible(n)
	case w == 0 || n <= w:
		return triangle(n)
	case a.Kind == ChunkedWindow:
		chunks := math.Floor(n / w)
		return chunks*triangle(w) + triangle(n-chunks*w)
	}
	return triangle(w) + (n-w)*w
}

// TouchedExperts is how many of a layer's E experts n tokens use, each choosing k at random: E (1 - (1 - k/E)^n).
// Real routing is less even, so fewer are touched; 0 for a dense network.
func (m *Model) TouchedExperts(n float64) float64 {
	if m.MoE == nil || n <= 0 {
		return 0
	}
	e := float64(m.MoE.Experts)
	return e * (1 - math.Pow(1-m.expertShare(), n))
}

// WeightBytes is the whole network at a format: weights at its true bits, norms and routers at 16 bit, embedding and
// head at 16 bit where the format keeps them so. Encoders beside a language model (Other) are held like its layers.
func (m *Model) WeightBytes(f FormatInfo) unit.Bytes {
	p := m.Params
	bits := m.layerBits(f)*float64(p.Attention+p.MLP+p.Other) + f.Bits*float64(p.Routed) +
		sideBits(f)*float64(p.Router+p.Norm) + headBits(f)*float64(p.Embedding+p.Head)
	return unit.Bytes(math.Ceil(bits / 8))
}

// WeightBytesTouched is what one step over so many tokens reads: everything but the embedding look-up and the experts no token chose.
func (m *Model) WeightBytesTouched(f FormatInfo, tokens float64) unit.Bytes {
	p := m.Params
	routed := f.Bits * float64(p.Routed)
	if m.MoE != nil && m.MoE.Experts > 0 {
		routed *= m.TouchedExperts(tokens) / float64(m.MoE.Experts)
	}
	bits := m.layerBits(f)*float64(p.Attention+p.MLP) + routed + sideBits(f)*float64(p.Router+p.Norm) + headBits(f)*m.HeadParams()
	switch m.Class {
	case Vision, Speech, Recommender, Graph, Generator:
		bits += m.layerBits(f) * float64(p.Other)
	}
	return unit.Bytes(math.Ceil(bits / 8))
}

// layerBits is the width of dense layers: a format for experts only leaves them at 16 bit.
func (m *Model) layerBits(f FormatInfo) float64 {
	if f.ExpertsOnly && m.Params.Routed > 0 {
		return 16
	}
	return f.Bits
}

// sideBits is the width of norms and routers, which no exporter narrows.
func sideBits(f FormatInfo) float64 { return math.Max(16, f.Bits) }

func headBits(f FormatInfo) float64 {
	if f.KeepsHead {
		return math.Max(16, f.Bits)
	}
	return f.Bits
}

// Layer is the parameters of the largest single layer: what FSDP gathers at once.
func (m *Model) Layer() int64 {
	var most int64
	for _, l := range m.Stack {
		most = max(most, l.Params.Total)
	}
	return most
}
