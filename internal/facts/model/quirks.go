package model

// Each function here is the part of one family that no common field describes.

// latent reads DeepSeek's multi-head latent attention.
func latent(r *reader, d *draft) {
	a := &d.layer.attn
	nope := r.need("qk_nope_head_dim", maxHeadDim)
	a.kind = LatentAttention
	a.kvHeads = a.heads
	a.rope = r.need("qk_rope_head_dim", maxHeadDim)
	a.latent = r.need("kv_lora_rank", maxWidth)
	a.qLora = r.or("q_lora_rank", 0, maxWidth)
	a.qk, a.v = nope+a.rope, r.need("v_head_dim", maxHeadDim)
	a.oBias = a.qBias
	// The auxiliary-free balancing bias is a buffer that is saved with the weights, one a expert.
	d.layer.mlp.routerBias = r.str("topk_method") == "noaux_tc"
}

func qwen3Next(r *reader, d *draft) {
	d.layer.attn.gate = true
	d.layer.attn.linear = linearSpec{
		kind: gatedDelta, heads: r.or("linear_num_value_heads", 32, maxHeads), keys: r.or("linear_num_key_heads", 16, maxHeads),
		kDim: r.or("linear_key_head_dim", 128, maxHeadDim), vDim: r.or("linear_value_head_dim", 128, maxHeadDim),
		conv: r.or("linear_conv_kernel_dim", 4, 64),
	}
}

// multiQuery is StarCoder 1's single key/value head.
func multiQuery(r *reader, d *draft) {
	if r.flag("multi_query", true) {
		d.layer.attn.kvHeads = 1
	}
}

// opt embeds in a narrower space at 350M and there norms after each block, with none at the end.
func opt(r *reader, d *draft) {
	if width := r.or("word_embed_proj_dim", d.hidden, maxHidden); width != d.hidden {
		d.embedding += int64(d.vocab)*int64(width-d.hidden) + 2*int64(width)*int64(d.hidden)
	}
	d.style.noEndNorm = !r.flag("do_layer_norm_before", true)
}

// embeddingNorm is BLOOM's layer norm on the embedding.
func embeddingNorm(_ *reader, d *draft) { d.norm += int64(d.hidden * d.layer.normParams) }

// falcon reads the three generations: 7B shares one key/value head and one norm between its parallel branches,
// 40B and 180B group heads and norm each branch, RW-1B is sequential with biases.
func falcon(r *reader, d *draft) {
	a := &d.layer.attn
	switch {
	case r.flag("new_decoder_architecture", false):
		d.layer.norms = r.or("num_ln_in_parallel_attn", 2, 2)
	default:
		if r.flag("multi_query", true) {
			a.kvHeads = 1
		}
		if r.flag("parallel_attn", true) {
			d.layer.norms = 1
		}
	}
	bias := r.flag("bias", false)
	a.qBias, a.kBias, a.vBias, a.oBias, d.layer.mlp.bias = bias, bias, bias, bias, bias
}

// mpt has no bias anywhere by default, and ALiBi in place of learned positions.
func mpt(r *reader, d *draft) {
	a := &d.layer.attn
	if ratio := r.or("expansion_ratio", 4, 64); d.ffn == 4*d.hidden {
		d.ffn = ratio * d.hidden
		d.layer.mlp.width = d.ffn
	}
	alibi := true
	if inner := r.inner("attn_config"); inner != nil {
		alibi = inner.flag("alibi", false)
		a.kvHeads = inner.or("kv_n_heads", a.kvHeads, maxHeads)
		if inner.str("attn_type") == "multiquery_attention" {
			a.kvHeads = 1
		}
		if inner.flag("qk_ln", false) {
			a.norm = wholeQKNorm
		}
		r.faults = append(r.faults, inner.faults...)
	}
	d.style.learned = r.flag("learned_pos_emb", !alibi) && !alibi
	if !r.flag("no_bias", true) {
		a.qBias, a.kBias, a.vBias, a.oBias, d.layer.mlp.bias = true, true, true, true, true
		d.layer.normParams, a.normParams = 2, 2
	}
}

func internLM(r *reader, d *draft) {
	bias := r.flag("bias", d.family == "internlm")
	a := &d.layer.attn
	a.qBias, a.kBias, a.vBias, a.oBias = bias, bias, bias, bias
}

// chatGLM groups heads only where it says so, and may bias every linear layer.
func chatGLM(r *reader, d *draft) {
	a := &d.layer.attn
	if !r.flag("multi_query_attention", false) {
		a.kvHeads = a.heads
	}
	if r.flag("add_bias_linear", false) {
		a.oBias, d.layer.mlp.bias = true, true
	}
}

func glmMoE(r *reader, d *draft) {
	if r.flag("use_qk_norm", false) {
		d.layer.attn.norm = perHeadQKNorm
	}
	d.layer.mlp.routerBias = true
}

func cohere(r *reader, d *draft) {
	if r.flag("use_qk_norm", false) {
		d.layer.attn.norm = wholeQKNorm
	}
}

func miniMax(r *reader, d *draft) {
	cohere(r, d)
	d.layer.mlp.routerBias = r.flag("use_routing_bias", false)
}

// gptOSS biases attention, router and experts, and learns a sink a head.
func gptOSS(_ *reader, d *draft) {
	d.layer.attn.sinks = true
	d.layer.mlp.expertBias, d.layer.mlp.routerBias = true, true
}

// llama4 calls the dense width intermediate_size_mlp and the experts' intermediate_size; each routing layer
// has one shared expert of that width. Its qk norm has no weights.
func llama4(r *reader, d *draft) {
	expert := d.layer.mlp.width
	d.layer.mlp.width = r.or("intermediate_size_mlp", expert, maxWidth)
	d.ffn = d.layer.mlp.width
	d.force(r, "moe_intermediate_size", expert)
	d.force(r, "n_shared_experts", 1)
}

// force gives a field that the family derives from others to the code that reads the common fields.
func (d *draft) force(r *reader, key string, v int) {
	defaults := map[string]int{key: v}
	for k, old := range r.defaults {
		if k != key {
			defaults[k] = old
		}
	}
	r.defaults = defaults
}

func useQKVBias(r *reader, d *draft) {
	bias := r.flag("use_qkv_bias", false)
	a := &d.layer.attn
	a.qBias, a.kBias, a.vBias = bias, bias, bias
	if r.flag("qk_layernorm", false) {
		a.norm = wholeQKNorm
	}
	if r.flag("use_parallel_residual", false) {
		d.layer.norms = 1
	}
}
