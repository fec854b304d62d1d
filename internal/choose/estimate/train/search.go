package train

import (
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
)

// choice is a layout with its step time; the zero value is none.
type choice struct {
	k         cut
	b, m      int
	virtual   int
	zero      int
	recompute string
	parts     parts
	step      step
}

// search walks the layouts of one group.
type search struct {
	j      *job
	mc     *machine
	best   choice
	looked int
	// what stood in the way where nothing fits: the least memory over capacity, and whether a link was unknown
	leastOver   float64
	noLink      bool
	anyDivision bool
}

// Best walks every (t, p, c, e, b, ZeRO, recompute) that divides the model and the group, drops those over memory
// before their speed is worked out, and keeps the fastest.
func (j *job) Best(g estimate.Group) (estimate.Estimate, *estimate.Refusal, int) {
	mc, refusal := j.machine(g)
	if refusal != nil {
		return estimate.Estimate{}, refusal, 0
	}
	s := search{j: j, mc: &mc}
	pin := j.w.Layout
	n := g.Accelerators()
	for t := 1; t <= g.PerNode; t *= 2 {
		if !allowed(pin.TP, t) || g.PerNode%t != 0 || j.shape.heads%t != 0 {
			continue
		}
		for p := 1; t*p <= n && p <= j.shape.layers; p++ {
			if allowed(pin.PP, p) && n%(t*p) == 0 && (p <= 2 || j.shape.layers%p == 0 || pin.PP == p) {
				s.contexts(t, p, n)
			}
		}
	}
	if s.best.m == 0 {
		return estimate.Estimate{}, s.refusal(), s.looked
	}
	return j.report(&mc, &s.best), nil, s.looked
}

func allowed(pinned, v int) bool { return pinned == 0 || pinned == v }

// longContext is the sequence from which context parallelism is worth looking at.
const longContext = 16384

func (s *search) contexts(t, p, n int) {
	pin := s.j.w.Layout
	for c := 1; c <= 64 && t*p*c <= n; c *= 2 {
		if c > 1 && s.j.shape.seq < longContext && pin.CP != c {
			break
		}
		if allowed(pin.CP, c) && n%(t*p*c) == 0 && s.j.shape.seq%c == 0 {
			s.experts(t, p, c, n/(t*p*c))
		}
	}
}

func (s *search) experts(t, p, c, d int) {
	pin, sh := s.j.w.Layout, &s.j.shape
	if !allowed(pin.DP, d) || d > sh.batch {
		return
	}
	for e := 1; e <= d*c && e <= max(1, sh.experts); e *= 2 {
		if allowed(pin.EP, e) && (e == 1 || (d*c)%e == 0 && sh.experts%e == 0) {
			k := s.j.cut(t, p, c, e, d)
			s.batches(&k)
		}
	}
}

func (s *search) batches(k *cut) {
	pin, sh := s.j.w.Layout, &s.j.shape
	for b := 1; b <= 64 && b*k.d <= sh.batch; b *= 2 {
		if pin.MicroBatch != 0 {
			b = pin.MicroBatch
			if b*k.d > sh.batch {
				return
			}
		}
		fits := s.shards(k, b)
		if pin.MicroBatch != 0 || !fits {
			return // a larger micro-batch needs more memory still
		}
	}
}

// shards tries each ZeRO stage and recomputation for a micro-batch; false when none of them fits.
func (s *search) shards(k *cut, b int) bool {
	pin, fits := s.j.w.Layout, false
	// The last micro-batch is padded where the batch does not divide.
	m := (s.j.shape.batch + k.d*b - 1) / (k.d * b)
	for _, zero := range zeroStages(k.p, k.d*k.c, pin.ZeRO) {
		for _, recompute := range recomputations(s.mc.fused, pin.Recompute) {
			virtual := max(1, pin.Virtual)
			s.looked++
			s.anyDivision = true
			mem := s.j.memory(*k, b, m, virtual, zero, recompute, s.mc.fused)
			if over := mem.total() - float64(s.mc.usable); over > 0 {
				if s.leastOver == 0 || over < s.leastOver {
					s.leastOver = over
				}
				continue
			}
			fits = true
			st, ok := s.j.speed(s.mc, *k, b, m, virtual, zero, recompute)
			if !ok {
				s.noLink = true
				continue
			}
			if s.best.m == 0 || st.total() < s.best.step.total() {
				s.best = choice{*k, b, m, virtual, zero, recompute, mem, st}
			}
		}
	}
	return fits
}

var (
	noZeRO, zeRO1, zeROAll        = []int{0}, []int{1}, []int{1, 3}
	pinnedZeRO                    = [...][]int{{0}, {1}, {2}, {3}}
	fusedRecompute, allRecomputes = []string{"none", "full"}, []string{"none", "selective", "full"}
)

// zeroStages: sharding needs ranks to share over; ZeRO-3 does not go with pipelines in the usual frameworks.
func zeroStages(p, ranks, pinned int) []int {
	switch {
	case pinned >= 0 && pinned < len(pinnedZeRO):
		return pinnedZeRO[pinned]
	case ranks == 1:
		return noZeRO
	case p > 1:
		return zeRO1
	}
	return zeROAll
}

// recomputations: under fused attention "selective" recomputes nothing that is kept, so it is left out.
func recomputations(fused bool, pinned string) []string {
	for i, r := range allRecomputes {
		if pinned == r {
			return allRecomputes[i : i+1]
		}
	}
	if fused {
		return fusedRecompute
	}
	return allRecomputes
}

func (s *search) refusal() *estimate.Refusal {
	switch {
	case s.noLink:
		return &estimate.Refusal{Reason: estimate.NoNetworkFact}
	case !s.anyDivision:
		return &estimate.Refusal{Reason: estimate.NoLayout}
	}
	have := float64(s.mc.usable)
	return &estimate.Refusal{Reason: estimate.NoMemory, Have: have, Want: have + s.leastOver}
}

// report turns the chosen layout into an estimate.
func (j *job) report(mc *machine, ch *choice) estimate.Estimate {
	sh := &j.shape
	tokens := float64(sh.batch * sh.seq)
	rate := tokens / ch.step.total()
	like := mc.curve.Like
	iv := j.c.Interval(string(j.w.Kind), like)
	e := estimate.Estimate{
		Layout:    estimate.Layout{TP: ch.k.t, PP: ch.k.p, DP: ch.k.d, CP: ch.k.c, EP: ch.k.e, MicroBatch: ch.b, Virtual: ch.virtual, ZeRO: ch.zero, Recompute: ch.recompute},
		Memory:    ch.parts.collect(mc.usable),
		Speed:     estimate.Speed{Value: rate, Low: rate * iv.Low, High: rate * iv.High, Unit: "tokens/s", Basis: estimate.Predicted, Source: mc.curve.Source, Like: like},
		Work:      j.w.Tokens,
		Precision: mc.precision,
	}
	seconds := j.w.Tokens / rate
	e.Hours, e.LowHours, e.HighHours = unit.FromSeconds(seconds), unit.FromSeconds(seconds/iv.High), unit.FromSeconds(seconds/iv.Low)
	st := ch.step
	e.Bottleneck = estimate.Shares{Compute: st.compute, Memory: st.memory, Link: st.link, Network: st.network, Bubble: st.bubble, Overhead: st.overhead}.Fractions()
	e.MFU = j.modelFLOP() * rate / (mc.peak * float64(mc.g.Accelerators()))
	e.Load = e.Bottleneck.Power()
	e.Checkpoint = j.checkpoint()
	return e
}

// modelFLOP is the arithmetic of a trained token without recomputation: three forward passes, two where the
// weights are frozen (PaLM's definition of MFU, appendix B, with causal attention).
func (j *job) modelFLOP() float64 {
	mm, core := j.passes("none")
	s := &j.shape
	return float64(s.layers)*(mm*s.matmul+core*s.core) + mm*s.headFLOP
}

// checkpoint is what a restart needs: trainable weights and optimizer states.
func (j *job) checkpoint() unit.Bytes {
	n := float64(j.m.Params.Total)
	if !j.states.full {
		n = j.shape.adapters
	}
	return unit.Bytes(n * (j.states.wide + j.states.opt))
}

// FLOP is the arithmetic of the whole job.
func (j *job) FLOP() unit.FLOP { return unit.FLOP(j.modelFLOP() * j.w.Tokens) }
