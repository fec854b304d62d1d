package model

import "github.com/rackrate/rackrate/internal/base/problem"

// style is what a family of decoders fixes in its code rather than in its configuration.
type style struct {
	family   string
	defaults map[string]int
	tied     bool // what an absent tie_word_embeddings means

	norms      int  // hidden-wide norms a layer: 2 before attention and MLP, 1 for parallel blocks, 4 with post-norms
	normParams int  // 1 gain, 2 gain and bias, 0 neither
	noEndNorm  bool // no norm before the head
	qkvBias    bool // where attention_bias is absent
	oBias      bool // a bias on the output projection whenever there is one on q, k, v
	mlpBias    bool
	headBias   bool
	plainMLP   bool // two matrices rather than three
	fourfold   bool // an absent feed-forward width is four times the hidden one
	qkNorm     qkNorm
	learned    bool // learned positions, a row each
	extraRows  int  // rows beyond max_position_embeddings (2 for OPT)
	// fullEvery says that every n-th layer attends fully and the others through the window; 1 puts the window on all.
	fullEvery int
	// lateWindow is Qwen's rule: the window only if use_sliding_window, from max_window_layers on.
	lateWindow bool
	// adjust changes the draft as the family's code would.
	adjust func(r *reader, d *draft)
}

// draft is a decoder half read: its common widths and the layer every layer starts from.
type draft struct {
	blueprint
	style style
	layer layerSpec
	depth int
}

// decoder reads a decoder-only network of a style.
func decoder(r *reader, s style) *blueprint {
	r.defaults = s.defaults
	d := &draft{style: s}
	d.class, d.family = Decoder, s.family
	d.depth = r.need("num_hidden_layers", maxLayers)
	depthKnown := len(r.faults) == 0
	d.hidden = r.need("hidden_size", maxHidden)
	d.vocab = r.need("vocab_size", maxVocab)
	d.context = r.or("max_position_embeddings", 0, maxTokens)
	d.tied = r.flag("tie_word_embeddings", s.tied)
	d.mtp = r.or("num_nextn_predict_layers", 0, 64)
	d.layer = layerSpec{norms: s.norms, normParams: s.normParams}
	d.readMLP(r)
	d.readAttention(r)
	if s.adjust != nil {
		s.adjust(r, d)
	}
	d.checkHeads(r)
	if depthKnown { // else every list with an entry a layer would be faulted for nothing
		d.stack(r)
	}
	d.surround()
	return &d.blueprint
}

func (d *draft) readMLP(r *reader) {
	m := mlpSpec{gated: !d.style.plainMLP, bias: r.flag("mlp_bias", d.style.mlpBias)}
	width, ok := r.integer("intermediate_size", 0, maxWidth)
	switch {
	case ok && width > 0:
		m.width = width
	case d.style.fourfold:
		m.width = 4 * d.hidden
	case !ok:
		r.fault("config.missing", r.line(), problem.Args{"Key": "intermediate_size"})
	}
	d.ffn, d.layer.mlp = m.width, m
}

func (d *draft) readAttention(r *reader) {
	a := attnSpec{kind: FullAttention, norm: d.style.qkNorm, normParams: 1}
	d.heads = r.need("num_attention_heads", maxHeads)
	a.heads = d.heads
	a.kvHeads = r.or("num_key_value_heads", d.heads, maxHeads)
	a.qk = r.or("head_dim", max(1, d.hidden/d.heads), maxHeadDim)
	a.v = a.qk
	bias := r.flag("attention_bias", d.style.qkvBias)
	a.qBias, a.kBias, a.vBias, a.oBias = bias, bias, bias, bias && d.style.oBias
	d.layer.attn = a
}

// checkHeads refuses what no code could run: heads that cannot share keys evenly, or a width no head divides.
func (d *draft) checkHeads(r *reader) {
	a := d.layer.attn
	if a.kind != FullAttention || a.heads == 0 || len(r.faults) > 0 { // a figure that was refused would bring up another fault
		return
	}
	if a.heads%max(1, a.kvHeads) != 0 {
		r.fault("config.heads_uneven", r.line(), problem.Args{"Heads": a.heads, "KVHeads": a.kvHeads})
	}
	if _, _, given := r.find("head_dim"); !given && r.defaults["head_dim"] == 0 && d.hidden%a.heads != 0 {
		r.fault("config.hidden_uneven", r.line(), problem.Args{"Heads": a.heads, "Hidden": d.hidden})
	}
}

// stack lays the layers, each with its own kind of attention and feed-forward part.
func (d *draft) stack(r *reader) {
	kinds, window := d.attentionKinds(r)
	routes, expert := d.routing(r)
	for i := range kinds {
		l := d.layer
		switch kinds[i] {
		case SlidingWindow, ChunkedWindow:
			l.attn.kind, l.attn.window = kinds[i], window
		case LinearAttention:
			l.attn = attnSpec{kind: LinearAttention, linear: d.layer.attn.linear}
		}
		if kinds[i] != LinearAttention {
			l.attn.linear = linearSpec{}
		}
		if routes[i] {
			bias := l.mlp.bias
			l.mlp = expert
			l.mlp.bias = bias
		}
		d.add(l, 1)
	}
}

// surround counts what stands around the layers.
func (d *draft) surround() {
	rows := int64(d.vocab)
	if d.style.learned {
		rows += int64(d.context + d.style.extraRows)
	}
	h := int64(d.hidden)
	d.embedding += rows * h
	if !d.tied {
		d.head += int64(d.vocab) * h
	}
	if d.style.headBias {
		d.head += int64(d.vocab)
	}
	if !d.style.noEndNorm {
		d.norm += h * int64(d.layer.normParams)
	}
}
