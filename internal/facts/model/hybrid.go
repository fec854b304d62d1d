package model

import "github.com/rackrate/rackrate/internal/base/problem"

// hybrid reads Nemotron-H and its successors, whose layers are written as one letter each: M for Mamba 2, * for attention, - for a
// feed-forward network and E for experts. A mixer and the feed-forward after it are counted as one layer, as in other networks.
func hybrid(r *reader) *blueprint {
	h := r.need("hidden_size", maxHidden)
	heads := r.need("num_attention_heads", maxHeads)
	b := &blueprint{
		family: "nemotron-h", class: Decoder, hidden: h, heads: heads, vocab: r.need("vocab_size", maxVocab),
		context: r.or("max_position_embeddings", 0, maxTokens), tied: r.flag("tie_word_embeddings", false), mtp: r.or("num_nextn_predict_layers", 0, 64),
	}
	width := r.or("head_dim", max(1, h/heads), maxHeadDim)
	attention := attnSpec{heads: heads, kvHeads: r.or("num_key_value_heads", heads, maxHeads), qk: width, v: width}
	mamba := attnSpec{kind: LinearAttention, linear: linearSpec{
		kind: mamba2, kDim: r.or("ssm_state_size", 128, maxHeadDim), conv: r.or("conv_kernel", 4, 64), cvBias: r.flag("use_conv_bias", true),
		heads: r.or("mamba_num_heads", 128, maxHeads), vDim: r.or("mamba_head_dim", 64, maxHeadDim), keys: r.or("n_groups", 8, maxHeads),
	}}
	mamba.linear.inner = mamba.linear.heads * mamba.linear.vDim
	dense := mlpSpec{width: r.or("intermediate_size", 0, maxWidth)}
	experts := mlpSpec{experts: r.or("num_local_experts", 0, maxExperts), routerBias: true, latent: r.or("moe_latent_size", 0, maxHidden)}
	if experts.experts > 0 {
		experts.topK, experts.expertWidth = r.need("num_experts_per_tok", experts.experts), r.need("moe_intermediate_size", maxWidth)
		experts.shared, experts.sharedWidth = r.or("n_shared_experts", 0, maxExperts), r.or("moe_shared_expert_intermediate_size", experts.expertWidth, maxWidth)
	}
	b.letters(r, attention, mamba, dense, experts)
	b.embedding, b.norm = int64(b.vocab)*int64(h), int64(h)
	if !b.tied {
		b.head = b.embedding
	}
	return b
}

// letters adds the layers of a pattern.
func (b *blueprint) letters(r *reader, attention, mamba attnSpec, dense, experts mlpSpec) {
	pattern := r.str("hybrid_override_pattern")
	if pattern == "" {
		r.fault("config.missing", r.line(), problem.Args{"Key": "hybrid_override_pattern"})
	}
	var open *layerSpec // a mixer that still may have a feed-forward network
	shut := func() {
		if open != nil {
			b.add(*open, 1)
		}
		open = nil
	}
	for _, letter := range pattern {
		l := layerSpec{norms: 1, normParams: 1}
		switch letter {
		case 'M', '*':
			shut()
			if l.attn = attention; letter == 'M' {
				l.attn = mamba
			}
			open = &l
			continue
		case '-', 'E':
			if open != nil {
				l, l.norms = *open, 2
			}
			if l.mlp = dense; letter == 'E' {
				l.mlp = experts
			}
			b.ffn = max(b.ffn, l.mlp.width)
			b.add(l, 1)
			open = nil
		default:
			r.fault("config.out_of_range", r.line(), problem.Args{"Key": "hybrid_override_pattern", "Value": string(letter)})
		}
	}
	shut()
}
