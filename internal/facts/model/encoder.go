package model

import "github.com/rackrate/rackrate/internal/base/unit"

// blockSpec is the transformer block of 2017 that BERT, ViT and Whisper share: biases everywhere, two matrices.
func blockSpec(heads, head, ffn int) layerSpec {
	return layerSpec{
		attn: attnSpec{
			kind: FullAttention, heads: heads, kvHeads: heads, qk: head, v: head,
			qBias: true, kBias: true, vBias: true, oBias: true, bidirectional: true,
		},
		mlp: mlpSpec{width: ffn, bias: true}, norms: 2, normParams: 2,
	}
}

// encoderKind says what surrounds BERT-like layers.
type encoderKind struct {
	family string
	types  int // rows of token types where type_vocab_size is absent
	pooler bool
}

// encoders by model_type; counts are of the bare model, without a task's head (transformers 4.57).
var encoders = map[string]encoderKind{
	"bert":        {"bert", 2, true},
	"roberta":     {"roberta", 1, true},
	"xlm-roberta": {"roberta", 1, true},
	"distilbert":  {"bert", 0, false},
}

func encoder(r *reader, k encoderKind) *blueprint {
	h := r.need("hidden_size", maxHidden)
	heads := r.need("num_attention_heads", maxHeads)
	b := &blueprint{
		family: k.family, class: Encoder, hidden: h, heads: heads, vocab: r.need("vocab_size", maxVocab), tied: true,
		context: r.or("max_position_embeddings", 512, maxTokens), ffn: r.need("intermediate_size", maxWidth),
	}
	b.add(blockSpec(heads, max(1, h/heads), b.ffn), r.need("num_hidden_layers", maxLayers))
	types := r.or("type_vocab_size", k.types, maxVocab)
	b.embedding = int64(b.vocab+b.context+types) * int64(h)
	b.norm = 2 * int64(h)
	if k.pooler {
		b.other = affine(int64(h), int64(h), true)
	}
	return b
}

// vision reads a ViT classifier: patches through a convolution, a class token, learned positions, one linear head.
func vision(r *reader) *blueprint {
	h := r.need("hidden_size", maxHidden)
	heads := r.need("num_attention_heads", maxHeads)
	size, patch := r.or("image_size", 224, 1<<14), r.or("patch_size", 16, 1<<14)
	side := int64(max(1, size/patch))
	tokens := side*side + 1
	b := &blueprint{
		family: "vit", class: Vision, hidden: h, heads: heads, context: int(tokens), ffn: r.need("intermediate_size", maxWidth),
	}
	layer := blockSpec(heads, max(1, h/heads), b.ffn)
	depth := r.need("num_hidden_layers", maxLayers)
	b.add(layer, depth)
	w := int64(h)
	conv := affine(int64(r.or("num_channels", 3, 64))*int64(patch)*int64(patch), w, true)
	b.embedding = (tokens + 1) * w
	b.other = conv
	b.head = affine(w, int64(r.or("num_labels", 1000, maxVocab)), true)
	b.norm = 2 * w
	work := encoderFLOP(layer, depth, h, tokens) + 2*float64(conv)*float64(tokens-1) + 2*float64(b.head)
	b.perSample = unit.Some(unit.FLOP(work))
	return b
}

// encoderFLOP is one pass of like layers over so many tokens that all see each other.
func encoderFLOP(l layerSpec, depth, hidden int, tokens int64) float64 {
	p := l.count(int64(hidden))
	n := float64(tokens)
	return float64(depth) * (2*n*float64(p.Attention+p.MLP) + 2*float64(l.attn.heads*(l.attn.qk+l.attn.v))*n*n)
}

// whisper reads an encoder-decoder for speech. The decoder is what is counted by part, since its layers run for every
// token; the encoder is Other, and one 30 s window through it is PerSample.
func whisper(r *reader) *blueprint {
	h := r.need("hidden_size", maxHidden)
	heads, encHeads := r.need("num_attention_heads", maxHeads), r.need("encoder_attention_heads", maxHeads)
	frames := r.or("max_source_positions", 1500, maxTokens)
	bins := r.or("num_mel_bins", 80, 1<<12)
	b := &blueprint{
		family: "whisper", class: EncoderDecoder, hidden: h, heads: heads, vocab: r.need("vocab_size", maxVocab), tied: true,
		context: r.or("max_position_embeddings", 448, maxTokens), ffn: r.need("intermediate_size", maxWidth),
	}
	enc := blockSpec(encHeads, max(1, h/encHeads), r.need("encoder_ffn_dim", maxWidth))
	enc.attn.kBias = false
	dec := blockSpec(heads, max(1, h/heads), b.ffn)
	dec.attn.kBias, dec.attn.bidirectional, dec.attn.cross, dec.norms = false, false, frames, 3
	w, depth := int64(h), r.need("encoder_layers", maxLayers)
	conv1, conv2 := affine(3*int64(bins), w, true), affine(3*w, w, true)
	b.other = int64(frames)*w + conv1 + conv2 + 2*w + int64(depth)*enc.count(w).Total
	layers := r.need("num_hidden_layers", maxLayers)
	b.add(dec, layers)
	// The first convolution runs over 10 ms frames and the second halves them; each decoder layer projects its
	// cross-attention's keys and values from every frame.
	work := encoderFLOP(enc, depth, h, int64(frames)) + 2*float64(frames)*float64(2*conv1+conv2+int64(layers)*2*w*w)
	b.perSample = unit.Some(unit.FLOP(work))
	b.embedding = int64(b.vocab+b.context) * w
	b.norm = 2 * w
	return b
}

// stateSpace reads Mamba 1 and 2, which have neither attention nor a feed-forward part.
func stateSpace(r *reader, second bool) *blueprint {
	h := r.need("hidden_size", maxHidden)
	b := &blueprint{family: "mamba", class: Decoder, hidden: h, vocab: r.need("vocab_size", maxVocab)}
	b.tied = r.flag("tie_word_embeddings", !second)
	s := linearSpec{
		kind: mamba1, kDim: r.or("state_size", 16, maxHeadDim), conv: r.or("conv_kernel", 4, 64),
		bias: r.flag("use_bias", false), cvBias: r.flag("use_conv_bias", true),
	}
	s.inner = r.or("expand", 2, 16) * h
	if second {
		s.kind, s.kDim = mamba2, r.or("state_size", 128, maxHeadDim)
		s.heads, s.vDim = r.or("num_heads", 128, maxHeads), r.or("head_dim", 64, maxHeadDim)
		s.keys = r.or("n_groups", 8, maxHeads)
	} else {
		s.inner = r.or("intermediate_size", s.inner, maxWidth)
		s.rank = r.or("time_step_rank", (h+15)/16, maxWidth)
	}
	l := layerSpec{attn: attnSpec{kind: LinearAttention, linear: s}, norms: 1, normParams: 1}
	b.add(l, r.need("num_hidden_layers", maxLayers))
	b.embedding, b.norm = int64(b.vocab)*int64(h), int64(h)
	if !b.tied {
		b.head = b.embedding
	}
	return b
}
