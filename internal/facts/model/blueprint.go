package model

import "github.com/rackrate/rackrate/internal/base/unit"

// blueprint is a network reduced to what is counted: its layers one by one and what stands around them.
type blueprint struct {
	family  string
	class   Class
	hidden  int
	heads   int
	ffn     int
	vocab   int
	context int
	tied    bool
	layers  []layerSpec

	embedding int64 // input rows, learned positions, token types
	head      int64 // nothing where it is the embedding again
	norm      int64 // norms outside the layers
	other     int64 // encoders, poolers, patch projections

	mtp       int // multi-token-prediction layers
	perSample unit.Maybe[unit.FLOP]
	native    Format
	notes     []string // codes, such as architecture.assumed
}

// model counts the blueprint.
func (b *blueprint) model(name string) *Model {
	m := &Model{
		Name: name, Family: b.family, Class: b.class, Layers: len(b.layers), Hidden: b.hidden, Heads: b.heads,
		Vocab: b.vocab, MaxContext: b.context, TieEmbeddings: b.tied, PerSample: b.perSample, NativeFormat: b.native,
		Params: Params{Embedding: b.embedding, Head: b.head, Norm: b.norm, Other: b.other},
	}
	index := map[layerSpec]int{}
	for _, l := range b.layers {
		i, seen := index[l]
		if !seen {
			i = len(m.Stack)
			index[l] = i
			m.Stack = append(m.Stack, Layer{Attention: l.attn.exported(), Params: l.count(int64(b.hidden)), FFN: l.mlp.width, MoE: l.mlp.experts > 0})
		}
		m.Stack[i].Count++
		if l.mlp.width > 0 {
			m.FFN = l.mlp.width
		}
		if l.mlp.experts > 0 {
			m.addMoE(l.mlp)
		}
	}
	for i := range m.Stack {
		m.Stack[i].Attention.Layers = m.Stack[i].Count
		m.addAttention(m.Stack[i].Attention)
		m.Params.add(m.Stack[i].Params, int64(m.Stack[i].Count))
	}
	if b.mtp > 0 {
		// Each is a last layer more, a 2h x h projection of the two inputs and three norms (DeepSeek-V3 report, section 2.2).
		h := int64(b.hidden)
		m.MTP = int64(b.mtp) * (b.layers[len(b.layers)-1].count(h).Total + 2*h*h + 3*h)
	}
	outside := b.embedding + b.head + b.norm + b.other
	m.Params.Total += outside
	m.Params.Active += outside
	return m
}

func (m *Model) addMoE(s mlpSpec) {
	if m.MoE == nil {
		m.MoE = &MoE{Experts: s.experts, TopK: s.topK, Shared: s.shared, FFN: s.expertWidth, SharedFFN: s.sharedWidth}
	}
	m.MoE.Layers++
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
