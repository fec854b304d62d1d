package model

import (
	"strconv"

	"github.com/rackrate/rackrate/internal/base/problem"
)

// layerKinds are the names that layer_types (and Granite's, Mamba's and Qwen's variants) use.
var layerKinds = map[string]AttentionKind{
	"full_attention": FullAttention, "attention": FullAttention, "global_attention": FullAttention,
	"sliding_attention": SlidingWindow, "local_attention": SlidingWindow, "chunked_attention": ChunkedWindow,
	"linear_attention": LinearAttention, "mamba": LinearAttention, "mamba2": LinearAttention,
}

// attentionKinds says how each layer attends, and the window of those that have one.
func (d *draft) attentionKinds(r *reader) ([]AttentionKind, int) {
	base := d.layer.attn.kind
	kinds := make([]AttentionKind, d.depth)
	for i := range kinds {
		kinds[i] = base
	}
	if base == LinearAttention || base == LatentAttention {
		return kinds, 0
	}
	window, windowed, kind := d.window(r)
	every := r.or("sliding_window_pattern", r.or("_sliding_window_pattern", d.style.fullEvery, maxLayers), maxLayers)
	late := r.or("max_window_layers", 0, maxLayers)
	noRope := r.list("no_rope_layers", d.depth)
	types := r.list("layer_types", d.depth)
	linearEvery := r.or("full_attention_interval", 0, maxLayers)
	for i := range kinds {
		switch {
		case types != nil:
			named, ok := layerKinds[types[i].text]
			if !ok || named == LinearAttention && d.layer.attn.linear.kind == 0 {
				r.fault("config.unknown_layer_type", types[i].line, problem.Args{"Value": types[i].show()})
			}
			if kinds[i] = named; windowed || named != SlidingWindow && named != ChunkedWindow {
				continue
			}
			kinds[i] = FullAttention // the window is null: the layer sees all
		case d.layer.attn.linear.kind != 0:
			if linearEvery > 0 && (i+1)%linearEvery != 0 {
				kinds[i] = LinearAttention
			}
		case !windowed || d.style.lateWindow && i < late:
		case noRope != nil && noRope[i].text == "0":
		case noRope != nil, every == 1, every > 1 && (i+1)%every != 0:
			kinds[i] = kind
		}
	}
	return kinds, window
}

// window reads the width of sliding or chunked attention and whether any layer uses it.
func (d *draft) window(r *reader) (width int, windowed bool, kind AttentionKind) {
	kind = SlidingWindow
	width, windowed = r.integer("sliding_window", 0, maxTokens)
	if chunk, ok := r.integer("attention_chunk_size", 0, maxTokens); ok {
		width, windowed, kind = chunk, true, ChunkedWindow
	}
	if used := r.flag("use_sliding_window", !d.style.lateWindow); !used || width == 0 {
		windowed = false
	}
	return width, windowed, kind
}

// routing says which layers have experts, and describes those.
func (d *draft) routing(r *reader) ([]bool, mlpSpec) {
	routes := make([]bool, d.depth)
	m := d.layer.mlp
	if m.experts, _ = r.integer("num_local_experts", 0, maxExperts); m.experts < 2 {
		if m.width == 0 && len(r.faults) == 0 {
			r.fault("config.missing", r.line(), problem.Args{"Key": "intermediate_size"})
		}
		return routes, m
	}
	m.topK = r.need("num_experts_per_tok", m.experts)
	m.expertWidth = r.or("moe_intermediate_size", m.width, maxWidth)
	if m.expertWidth == 0 {
		r.fault("config.missing", r.line(), problem.Args{"Key": "moe_intermediate_size"})
	}
	m.width = 0
	if m.shared = r.or("n_shared_experts", 0, maxExperts); m.shared > 0 {
		m.sharedWidth = r.or("shared_intermediate_size", m.expertWidth, maxWidth)
	}
	if width := r.or("shared_expert_intermediate_size", 0, maxWidth); width > 0 {
		m.shared, m.sharedWidth, m.sharedGate = 1, width, true
	}
	dense := r.or("first_k_dense_replace", 0, maxLayers)
	every := max(1, r.or("moe_layer_freq", r.or("decoder_sparse_step", r.or("interleave_moe_layer_step", 1, maxLayers), maxLayers), maxLayers))
	only := map[string]bool{}
	if n, _, ok := r.find("mlp_only_layers"); ok {
		for _, v := range n.vals {
			only[v.text] = true
		}
	}
	// Qwen and Llama 4 route where (i+1) divides; DeepSeek where i does, after its dense layers.
	offset := 1
	if _, _, ok := r.find("moe_layer_freq"); ok {
		offset = 0
	}
	for i := range routes {
		routes[i] = i >= dense && (i+offset)%every == 0 && !only[strconv.Itoa(i)]
	}
	return routes, m
}
