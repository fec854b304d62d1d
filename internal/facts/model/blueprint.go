package model

import "github.com/rackrate/rackrate/internal/base/unit"

// run is a number of like layers, not always neighbours.
type run struct {
	layerSpec
	count int
}

// blueprint is a network reduced to what is counted: its layers and what stands around them.
type blueprint struct {
	family  string
	class   Class
	hidden  int
	heads   int
	ffn     int
	vocab   int
	context int
	tied    bool
	runs    []run
	last    int // the run that the last layer belongs to

	embedding int64 // input rows, learned positions, token types
	head      int64 // nothing where it is the embedding again
	norm      int64 // norms outside the layers
	other     int64 // encoders, poolers, patch projections

	mtp       int // multi-token-prediction layers
	perSample unit.Maybe[unit.FLOP]
	native    Format
	notes     []string // codes, such as architecture.assumed
}

// add appends n like layers.
func (b *blueprint) add(l layerSpec, n int) {
	for i := range b.runs {
		if b.runs[i].layerSpec == l {
			b.runs[i].count += n
			b.last = i
			return
		}
	}
	b.last = len(b.runs)
	b.runs = append(b.runs, run{l, n})
}

// model counts the blueprint.
func (b *blueprint) model(name string) *Model {
	m := &Model{
		Name: name, Family: b.family, Class: b.class, Hidden: b.hidden, Heads: b.heads,
		Vocab: b.vocab, MaxContext: b.context, TieEmbeddings: b.tied, PerSample: b.perSample, NativeFormat: b.native,
		Params: Params{Embedding: b.embedding, Head: b.head, Norm: b.norm, Other: b.other},
	}
	for _, l := range b.runs {
		layer := Layer{
			Count: l.count, Attention: l.attn.exported(), Params: l.layerSpec.count(int64(b.hidden)), FFN: l.mlp.width, MoE: l.mlp.experts > 0,
		}
		layer.Attention.Layers = l.count
		m.Stack = append(m.Stack, layer)
		m.Layers += l.count
		m.addAttention(layer.Attention)
		m.Params.add(layer.Params, int64(l.count))
		m.FFN = max(m.FFN, l.mlp.width)
		if layer.MoE {
			m.addMoE(l.mlp, l.count)
		}
	}
	if b.mtp > 0 && len(m.Stack) > 0 {
		// Each is a last layer more, a 2h x h projection of the two inputs and three norms (DeepSeek-V3 report, section 2.2).
		h := int64(b.hidden)
		m.MTP = int64(b.mtp) * (m.Stack[b.last].Params.Total + 2*h*h + 3*h)
	}
	outside := b.embedding + b.head + b.norm + b.other
	m.Params.Total += outside
	m.Params.Active += outside
	return m
}

func (m *Model) addMoE(s mlpSpec, layers int) {
	if m.MoE == nil {
		m.MoE = &MoE{Experts: s.experts, TopK: s.topK, Shared: s.shared, FFN: s.expertWidth, SharedFFN: s.sharedWidth, Latent: s.latent}
	}
	m.MoE.Layers += layers
}

// addAttention merges layers that attend alike and differ only in their feed-forward part.
func (m *Model) addAttention(a Attention) {
	for i, have := range m.Attention {
		same := have
		same.Layers = a.Layers
		if same == a {
			m.Attention[i].Layers += a.Layers
			return
		}
	}
	m.Attention = append(m.Attention, a)
}

// add sums the parts of n layers into p.
func (p *Params) add(l Params, n int64) {
	p.Total += n * l.Total
	p.Active += n * l.Active
	p.Attention += n * l.Attention
	p.MLP += n * l.MLP
	p.Routed += n * l.Routed
	p.Router += n * l.Router
	p.Norm += n * l.Norm
}

// Sum adds the parts up; it equals Total.
func (p Params) Sum() int64 {
	return p.Embedding + p.Head + p.Attention + p.MLP + p.Routed + p.Router + p.Norm + p.Other
}

func (a attnSpec) exported() Attention {
	if a.kind == LinearAttention {
		return Attention{Kind: a.kind, StateBytes: 2 * a.linear.stateValues()}
	}
	kind := a.kind
	if kind == "" {
		kind = FullAttention
	}
	return Attention{
		Kind: kind, Heads: a.heads, KVHeads: a.kvHeads, QKDim: a.qk, VDim: a.v, Window: a.window,
		Latent: a.latent, Rope: a.rope, Cross: a.cross, Bidirectional: a.bidirectional,
	}
}
