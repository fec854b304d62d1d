package model

// A layer's parameters are counted from three small descriptions, each comparable, so that like layers are
// found by ==. Widths are per head unless they say otherwise; h is the hidden width.

// qkNorm is how queries and keys are normalised before they meet.
type qkNorm uint8

const (
	noQKNorm      qkNorm = iota
	perHeadQKNorm        // one gain of a head's width shared by all heads: Qwen3, Gemma 3
	wholeQKNorm          // a gain for every head: Cohere, OLMo 2
)

// attnSpec describes one attention (or linear, state-space) layer.
type attnSpec struct {
	kind           AttentionKind
	heads, kvHeads int
	qk, v          int
	window         int
	qLora          int // MLA: compressed query width, 0 where queries are projected at once
	latent, rope   int
	qBias, kBias   bool
	vBias, oBias   bool
	norm           qkNorm
	normParams     int  // parameters of a norm per element: 1 gain only, 2 gain and bias
	sinks          bool // gpt-oss: a learned logit a head
	gate           bool // Qwen3-Next: the query projection also yields an output gate
	cross          int  // encoder tokens the layer also attends to, with projections of its own
	linear         linearSpec
	bidirectional  bool
}

// mlpSpec describes the feed-forward part of one layer.
type mlpSpec struct {
	width       int  // dense width; 0 where the layer routes only
	gated       bool // three matrices (gate, up, down) rather than two
	bias        bool
	experts     int
	topK        int
	expertWidth int
	expertBias  bool
	routerBias  bool // a bias of the router's or DeepSeek-V3's e_score_correction_bias: one a expert
	shared      int  // shared experts
	sharedWidth int  // width of each
	sharedGate  bool // Qwen2-MoE: a sigmoid gate of h weights
	latent      int  // Nemotron 3: width that routed experts work in, with a projection down and up again a layer; 0 is the hidden one
}

// layerSpec describes one layer.
type layerSpec struct {
	attn       attnSpec
	mlp        mlpSpec
	norms      int // norms of the hidden width
	normParams int // parameters of a norm per element: 0 none, 1 gain, 2 gain and bias
}

// count gives the layer's parameters by part.
func (l layerSpec) count(h int64) Params {
	var p Params
	p.Attention, p.Norm = l.attn.count(h)
	p.Norm += h * int64(l.norms*l.normParams)
	l.mlp.count(h, &p)
	p.Total = p.Attention + p.MLP + p.Routed + p.Router + p.Norm
	p.Active = p.Total
	if l.mlp.experts > 0 {
		p.Active -= p.Routed / int64(l.mlp.experts) * int64(l.mlp.experts-l.mlp.topK)
	}
	return p
}

// affine is a matrix with or without its bias.
func affine(in, out int64, bias bool) int64 {
	if bias {
		return in*out + out
	}
	return in * out
}

// count gives the projections and, apart, the norms on heads and latents.
func (a attnSpec) count(h int64) (weights, norms int64) {
	switch {
	case a.kind == LinearAttention:
		return a.linear.count(h)
	case a.kind == LatentAttention:
		return a.countLatent(h)
	case a.heads == 0: // a layer without attention, as in a hybrid
		return 0, 0
	}
	q, k := int64(a.heads*a.qk), int64(a.kvHeads*a.qk)
	v, o := int64(a.kvHeads*a.v), int64(a.heads*a.v)
	weights = affine(h, k, a.kBias) + affine(h, v, a.vBias) + affine(o, h, a.oBias)
	if a.gate {
		weights += affine(h, 2*q, a.qBias)
	} else {
		weights += affine(h, q, a.qBias)
	}
	if a.cross > 0 {
		weights *= 2
	}
	if a.sinks {
		weights += int64(a.heads)
	}
	switch a.norm {
	case perHeadQKNorm:
		norms = 2 * int64(a.qk)
	case wholeQKNorm:
		norms = q + k
	}
	return weights, norms * int64(max(1, a.normParams))
}

// countLatent counts DeepSeek's attention: queries through a latent of their own or at once; keys and values
// down to one latent (with the shared rope key beside it) and up again per head; a norm on each latent.
func (a attnSpec) countLatent(h int64) (weights, norms int64) {
	heads, qk, v := int64(a.heads), int64(a.qk), int64(a.v)
	latent, rope, q := int64(a.latent), int64(a.rope), int64(a.qLora)
	if q > 0 {
		weights += affine(h, q, a.qBias) + q*heads*qk
		norms += q
	} else {
		weights += affine(h, heads*qk, a.qBias)
	}
	weights += affine(h, latent+rope, a.kBias) + latent*heads*(qk-rope+v) + affine(heads*v, h, a.oBias)
	return weights, norms + latent
}

func (m mlpSpec) count(h int64, p *Params) {
	p.MLP = m.one(h, int64(m.width), m.bias)
	if m.experts == 0 {
		return
	}
	inside := h
	if m.latent > 0 {
		inside = int64(m.latent)
		p.MLP += 2 * h * inside
	}
	p.Routed = int64(m.experts) * m.one(inside, int64(m.expertWidth), m.expertBias)
	p.Router = affine(h, int64(m.experts), m.routerBias)
	p.MLP += int64(m.shared) * m.one(h, int64(m.sharedWidth), m.bias)
	if m.sharedGate {
		p.Router += h
	}
}

// one is one feed-forward network of a width.
func (m mlpSpec) one(h, width int64, bias bool) int64 {
	if width == 0 {
		return 0
	}
	up := affine(h, width, bias)
	if m.gated {
		up *= 2
	}
	return up + affine(width, h, bias)
}

// linearSpec describes a layer with a constant state instead of a cache.
type linearSpec struct {
	kind   linearKind
	heads  int // value heads (gated delta), state heads (Mamba 2); 0 for Mamba 1
	keys   int // key heads (gated delta), groups (Mamba 2)
	kDim   int // key width (gated delta), state size (Mamba)
	vDim   int // value width (gated delta), head width (Mamba 2)
	inner  int // channels: Mamba's expanded width
	conv   int // taps of the short convolution
	rank   int // Mamba 1: width of the step-size projection
	bias   bool
	cvBias bool
}

type linearKind uint8

const (
	gatedDelta linearKind = iota + 1 // Qwen3-Next
	mamba1
	mamba2
)

// channels is what the short convolution runs over.
func (s linearSpec) channels() int64 {
	switch s.kind {
	case gatedDelta:
		return int64(2*s.keys*s.kDim + s.heads*s.vDim)
	case mamba2:
		return int64(s.inner + 2*s.keys*s.kDim)
	}
	return int64(s.inner)
}

func (s linearSpec) count(h int64) (weights, norms int64) {
	inner, heads, state := int64(s.inner), int64(s.heads), int64(s.kDim)
	conv := s.channels() * int64(s.conv)
	if s.cvBias {
		conv += s.channels()
	}
	switch s.kind {
	case gatedDelta: // q, k, v, z; beta and decay; conv; A and dt bias a head; gated norm a head width; output
		v := heads * int64(s.vDim)
		return h*(s.channels()+v) + h*2*heads + conv + 2*heads + v*h, int64(s.vDim)
	case mamba1: // in (x and z), conv, x -> (dt, B, C), dt up with bias, A, D, out
		rank := int64(s.rank)
		return affine(h, 2*inner, s.bias) + conv + inner*(rank+2*state) + affine(rank, inner, true) +
			inner*state + inner + affine(inner, h, s.bias), 0
	default: // Mamba 2: in (z, x, B, C, dt), conv, dt bias, A and D a head, gated norm, out
		return affine(h, inner+s.channels()+heads, s.bias) + conv + 3*heads + affine(inner, h, s.bias), inner
	}
}

// stateValues is how many numbers the layer keeps per sequence: the recurrent state and the convolution's tail.
func (s linearSpec) stateValues() int64 {
	tail := s.channels() * int64(max(0, s.conv-1))
	if s.kind == mamba1 {
		return tail + int64(s.inner*s.kDim)
	}
	return tail + int64(s.heads*s.kDim*s.vDim)
}
