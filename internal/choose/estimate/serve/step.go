package serve

import (
	"math"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/serve/sim"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// timing is a time in seconds by what bounds it.
type timing struct{ compute, memory, link, network, launch float64 }

func (t timing) total() float64 { return t.compute + t.memory + t.link + t.network + t.launch }

func (t *timing) add(u timing, times float64) {
	t.compute += times * u.compute
	t.memory += times * u.memory
	t.link += times * u.link
	t.network += times * u.network
	t.launch += times * u.launch
}

// Step is the time of one step of an engine: the multiplies of each layer at the sizes of a rank, attention over the caches,
// collectives, and what the engine adds. What depends only on the number of tokens is worked out beforehand for a grid of
// numbers, so that a call is a few look-ups. It is a sim.Stepper: pass a pointer. Safe for concurrent use.
type Step struct {
	Precision accelerator.Precision // of the multiplies with the weights
	Like      estimate.Likeness

	shape  *shape
	attend estimate.Attention // of new tokens to their caches
	fresh  estimate.Attention // of prompts
	a      arithmetic
	engine *estimate.EngineCurve
	fabric fabric
	alike  float64
	linear float64 // share of the rate of attention that the small multiplies of linear layers reach
	passes float64 // seconds to read or write the activations of one token between a layer's kernels
	hidden float64
	stages float64 // of a pipeline, each of which works on its part of the sequences
	uneven float64
	ranks  float64 // groups that attend to sequences of their own
	spread Spread

	rank, shared, sampled grid // by tokens of a rank, of all ranks, and by sequences that get a token
}

// NewStep prepares the steps of a setup on a group. It refuses what rests on an unknown fact.
func NewStep(c *estimate.Curves, s *Setup, g estimate.Group) (*Step, *estimate.Refusal) {
	k, bad := estimate.EmbeddedKernels().For(c, g)
	if bad != nil {
		return nil, bad
	}
	p, bad := newStep(c, k, s, g)
	if bad == nil {
		p.fill()
	}
	return p, bad
}

// newStep prepares a step without its grids: for a search, which asks for its parts alone.
func newStep(c *estimate.Curves, k *estimate.Kernels, s *Setup, g estimate.Group) (*Step, *estimate.Refusal) {
	x := s.Spread.whole()
	_, engine := c.Serve.Engines.Of(s.Engine)
	p := &Step{
		Like: k.Like, engine: engine, alike: c.Serve.Alike, linear: c.Serve.LinearShare, hidden: float64(s.Model.Hidden), spread: x,
		stages: float64(x.PP), ranks: float64(x.DP), uneven: x.uneven(s.Model.Layers),
	}
	var bad *estimate.Refusal
	if p.a, p.Precision, bad = s.multiplies(&c.Serve, k, g.Chip); bad != nil {
		return nil, bad
	}
	if p.fabric, bad = newFabric(c, k, g, x); bad != nil {
		return nil, bad
	}
	wide, _, ok := g.Chip.Best(accelerator.BF16, accelerator.FP16, p.Precision)
	if !ok {
		return nil, &estimate.Refusal{Reason: estimate.NoRate}
	}
	if p.attend, ok = k.Attention(wide, s.KVBits); !ok {
		return nil, &estimate.Refusal{Reason: estimate.NoRate}
	}
	p.fresh = p.attend
	for _, peak := range [...]*float64{&p.a.weights.Peak, &p.a.dense.Peak, &p.a.head.Peak, &p.fresh.Peak} {
		*peak *= engine.BusyShare * engine.Instructions(g.Chip)
	}
	for _, fixed := range [...]*float64{&p.a.weights.Curve.FixedUS, &p.a.dense.Curve.FixedUS, &p.a.head.Curve.FixedUS, &p.attend.Decode.FixedUS} {
		*fixed *= c.Serve.Captured
	}
	p.passes = c.Serve.Passes * p.hidden * 2 / (p.attend.Bandwidth * p.attend.Decode.Bandwidth)
	p.shape = s.shapes(&p.a)
	return p, nil
}

// fill works out the grids that Seconds looks up.
func (p *Step) fill() {
	p.rank.fill(func(n float64) float64 { return p.onRank(n).total() })
	p.shared.fill(func(n float64) float64 { return p.onShared(n).total() })
	p.sampled.fill(func(n float64) float64 { return p.onSampled(n).total() })
}

// work is a sim.Step of numbers that need not be whole.
type work struct{ decode, cached, prefill, attended, prompts float64 }

// Seconds is the time of one step. Of a pipeline it is that of every stage working on its part of the sequences in turn:
// stages add room, not speed.
func (p *Step) Seconds(x sim.Step) float64 {
	w := work{float64(x.Decode), x.Cached, x.Prefill, x.Attended, float64(x.Prompts)}
	mine := p.mine(&w)
	t := p.rank.at((mine+w.prefill/p.busy(w.prompts))/p.stages) + p.shared.at((w.decode+w.prefill)/p.stages) + p.sampled.at((w.decode+w.prompts)/p.stages)
	for i := range p.shape.attend {
		a := &p.shape.attend[i]
		if x.Decode > 0 {
			t += p.decode(a, mine/p.stages, w.cached/w.decode)
		}
		if w.prefill > 0 {
			t += p.prefill(a, &w)
		}
	}
	return p.fixed(&w) + t
}

// mine is how many sequences the fullest rank decodes.
func (p *Step) mine(w *work) float64 {
	if w.decode == 0 {
		return 0
	}
	return max(1, w.decode/p.ranks)
}

// fixed is what the engine takes for a step beside the chip.
func (p *Step) fixed(w *work) float64 {
	return p.engine.StepUS*1e-6*p.stages + p.engine.SequenceUS*1e-6*(w.decode+w.prompts)/p.ranks
}

// busy is how many ranks work on so many prompts, each on whole ones.
func (p *Step) busy(prompts float64) float64 { return max(1, min(p.ranks, prompts)) }

// decode is the attention of n sequences' new tokens in all layers of a kind.
func (p *Step) decode(a *attends, n, context float64) float64 {
	n = max(1, n)
	var t float64
	switch a.kind {
	case model.LinearAttention:
		// The state is read and written.
		t = p.attend.Decode.FixedUS*1e-6 + 2*n*a.state/(p.attend.Bandwidth*p.attend.Decode.Bandwidth)
	case model.LatentAttention:
		t = p.attend.LatentSeconds(n, context, a.heads, a.latent+a.rope, a.latent)
	default:
		t = p.attend.DecodeSeconds(n, a.sees(context), a.heads, a.kvHeads, a.width)
	}
	return t * a.layers * p.uneven / p.engine.KernelShare
}

// sees is how much of a context the layers see.
func (a *attends) sees(context float64) float64 {
	if a.window > 0 {
		context = min(context, a.window)
	}
	return context + a.cross
}

// prefill is the attention of a step's new prompt tokens in all layers of a kind.
func (p *Step) prefill(a *attends, w *work) float64 {
	busy := p.busy(w.prompts) * p.stages
	n := max(1, w.prompts/busy)
	tokens := w.prefill / busy / n
	seen := w.attended / w.prefill // by a new token on average
	var t float64
	switch a.kind {
	case model.LinearAttention:
		// As model.SequenceFLOPs counts it; chunks of a linear layer are small multiplies.
		t = p.fresh.Prefill.FixedUS*1e-6 + 3*n*tokens*a.state/(p.fresh.Peak*p.fresh.Prefill.Compute*p.linear)
	default:
		t = p.fresh.PrefillSeconds(n, tokens, a.sees(seen)-tokens/2, a.heads, a.kvHeads, a.width)
	}
	return t * a.layers * p.uneven / p.engine.KernelShare
}

// one is a multiply of so many rows in each group, by what bounds it.
func (p *Step) one(m *multiply, groups, rows float64) (t timing) {
	w := m.with
	s := w.Grouped(groups, rows, m.n, m.k) * m.layers * p.uneven / p.engine.KernelShare
	compute := 2 * groups * rows * m.n * m.k / (w.Peak * w.Curve.Compute)
	if compute*w.Bandwidth*w.Curve.Bandwidth > groups*m.n*m.k*w.WeightBytes {
		t.compute = s
	} else {
		t.memory = s
	}
	return t
}

// onRank is what a rank does for the tokens of its own sequences in all layers: projections, dense feed-forward, tensor
// parallelism's two all-reduces a layer, and small kernels.
func (p *Step) onRank(n float64) (t timing) {
	n = max(1, n)
	for i := range p.shape.dense {
		m := &p.shape.dense[i]
		t.add(p.one(m, m.groups, n), 1)
	}
	link, network := p.fabric.reduce(p.spread.TP, n*p.hidden*2)
	each := 2.0
	if p.ranks > 1 {
		each = 1 // what experts give is combined otherwise
	}
	t.add(timing{link: link, network: network}, each*p.shape.layers)
	t.memory += p.passes * n * p.shape.layers * p.uneven
	t.launch += p.engine.LayerUS * 1e-6 * (p.shape.layers + p.shape.expertly) * p.uneven
	if p.stages > 1 {
		link, network = p.fabric.hand(n * p.hidden * 2)
		t.add(timing{link: link, network: network}, p.stages-1)
	}
	return t
}

// onShared is what the experts of a rank do for the tokens of all ranks, and with attention data parallelism the exchange of
// tokens before and after.
func (p *Step) onShared(n float64) (t timing) {
	if p.shape.expertly == 0 {
		return t
	}
	n = max(1, n)
	experts, rows := p.shape.touched(n, p.alike)
	for i := range p.shape.routed {
		m := &p.shape.routed[i]
		t.add(p.one(m, experts, rows/experts), 1)
	}
	t.memory += p.passes * rows * p.shape.expertly * p.uneven
	if p.ranks > 1 {
		link, network := p.fabric.exchange(p.spread.Stage(), n*p.hidden, p.shape.topK)
		t.add(timing{link: link, network: network}, p.shape.expertly)
	}
	return t
}

// onSampled is the head over the sequences that get a token.
func (p *Step) onSampled(n float64) timing {
	return p.one(&p.shape.head, 1, max(1, n/p.ranks))
}

// parts is Seconds by what bounds it, slowly.
func (p *Step) parts(w work) timing {
	mine := p.mine(&w)
	t := p.onRank((mine + w.prefill/p.busy(w.prompts)) / p.stages)
	t.add(p.onShared((w.decode+w.prefill)/p.stages), 1)
	t.add(p.onSampled((w.decode+w.prompts)/p.stages), 1)
	for i := range p.shape.attend {
		a := &p.shape.attend[i]
		if w.decode > 0 {
			t.memory += p.decode(a, mine/p.stages, w.cached/w.decode)
		}
		if w.prefill > 0 {
			t.compute += p.prefill(a, &w)
		}
	}
	t.launch += p.fixed(&w)
	return t
}

// grid is a function of a number from 1 to 2^18, by straight lines between four numbers an octave.
type grid [18*4 + 1]float64

func gridPoint(i int) float64 { return math.Ldexp(1+float64(i%4)/4, i/4) }

func (g *grid) fill(f func(float64) float64) {
	for i := range g {
		g[i] = f(gridPoint(i))
	}
}

// at takes the exponent and the first two bits of the fraction for the place in the grid. Past either end it goes on straight.
func (g *grid) at(v float64) float64 {
	i := 0
	if v > 1 {
		bits := math.Float64bits(v)
		i = min(len(g)-2, (int(bits>>52)-1023)*4+int(bits>>50&3))
	} else {
		v = 1
	}
	low := math.Float64frombits(uint64(i/4+1023)<<52 | uint64(i%4)<<50)
	width := math.Float64frombits(uint64(i/4-2+1023) << 52)
	return g[i] + (g[i+1]-g[i])*(v-low)/width
}
