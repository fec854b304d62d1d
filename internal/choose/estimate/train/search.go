package train

import "github.com/rackrate/rackrate/internal/choose/estimate"

// choice is a layout with its step time; the zero value is none.
type choice struct {
	k     cut
	o     schedule
	parts parts
	step  step
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

// Best walks every (t, p, v, c, e, b, ZeRO, recompute) that divides the model and the group, drops those over memory
// before their speed is worked out, and keeps the fastest.
func (j *job) Best(g estimate.Group) (estimate.Estimate, *estimate.Refusal, int) {
	mc, refusal := j.machine(g)
	if refusal != nil {
		return estimate.Estimate{}, refusal, 0
	}
	s := search{j: j, mc: &mc}
	pin := j.w.Layout
	n := g.Accelerators()
	for t := 1; t <= g.PerNode; t++ {
		if !allowed(pin.TP, t) || pin.TP == 0 && t > maxTensor || g.PerNode%t != 0 || j.shape.heads%t != 0 {
			continue
		}
		for p := 1; t*p <= n && p <= j.shape.layers; p++ {
			if allowed(pin.PP, p) && n%(t*p) == 0 && (pin.PP == p || j.stages(p)) {
				s.contexts(t, p, n)
			}
		}
	}
	if s.best.o.m == 0 {
		return estimate.Estimate{}, s.refusal(), s.looked
	}
	return j.report(&mc, &s.best), nil, s.looked
}

// maxTensor is the widest tensor parallelism looked at unasked: beyond it each rank has less than a head of keys and slivers of matrices.
const maxTensor = 16

// stages says whether so many stages share the layers evenly, embedding and head counted as one layer each or not at all.
func (j *job) stages(p int) bool {
	return p <= 2 || j.shape.layers%p == 0 || j.shape.countsEnds(p)
}

func allowed(pinned, v int) bool { return pinned == 0 || pinned == v }

// longContext is the sequence from which context parallelism is worth looking at.
const longContext = 16384

// maxContexts is the widest context parallelism looked at unasked.
const maxContexts = 64

func (s *search) contexts(t, p, n int) {
	try := func(c int) {
		if n%(t*p*c) == 0 && s.j.shape.seq%c == 0 {
			s.experts(t, p, c, n/(t*p*c))
		}
	}
	if c := s.j.w.Layout.CP; c != 0 {
		if c <= n { // beyond it the product could overflow
			try(c)
		}
		return
	}
	most := 1
	if s.j.shape.seq >= longContext {
		most = maxContexts
	}
	for c := 1; c <= most && t*p*c <= n; c *= 2 {
		try(c)
	}
}

func (s *search) experts(t, p, c, d int) {
	pin, sh := s.j.w.Layout, &s.j.shape
	if !allowed(pin.DP, d) || d > sh.batch {
		return
	}
	try := func(e int) {
		if e == 1 || s.spreads(e, t, c*d) {
			k := s.j.cut(t, p, c, e, d)
			s.batches(&k)
		}
	}
	if pin.EP != 0 {
		try(pin.EP)
		return
	}
	for e := 1; e <= t*d*c && e <= max(1, sh.experts); e *= 2 {
		try(e)
	}
}

// spreads says whether experts can stand on e of the ranks: whole ones where there are as many as tensor parallelism joins.
func (s *search) spreads(e, t, others int) bool {
	n := s.j.shape.experts
	return n > 0 && n%e == 0 && (t*others)%max(e, t) == 0 && (e%t == 0 || t%e == 0)
}

func (s *search) batches(k *cut) {
	pin, sh := s.j.w.Layout, &s.j.shape
	if b := pin.MicroBatch; b != 0 {
		if b <= sh.batch/k.d {
			s.shards(k, b)
		}
		return
	}
	for b := 1; b <= 64 && b*k.d <= sh.batch; b *= 2 {
		if !s.shards(k, b) {
			return // a larger micro-batch needs more memory still
		}
	}
}

// shards tries each ZeRO stage, recomputation and interleaving for a micro-batch; false when none of them fits.
func (s *search) shards(k *cut, b int) bool {
	pin, fits := s.j.w.Layout, false
	// The last micro-batch is padded where the batch does not divide.
	var w work // priced when the first of the schedules fits
	o := schedule{b: b, m: (s.j.shape.batch + k.d*b - 1) / (k.d * b), fused: s.mc.fused}
	for o.virtual = 1; o.virtual <= s.mostVirtual(k); o.virtual++ {
		if !s.interleaves(k, o) {
			continue
		}
		for _, o.zero = range zeroStages(k.p, k.d*k.c, pin.ZeRO) {
			for _, o.recompute = range recomputations(pin.Recompute) {
				if s.try(k, o, &w) {
					fits = true
				}
			}
		}
	}
	return fits
}

// maxVirtual is the most stages a rank is given unasked: beyond it the hand-overs outweigh the bubble.
const maxVirtual = 8

func (s *search) mostVirtual(k *cut) int {
	most := min(maxVirtual, int(k.stageLayers))
	if v := s.j.w.Layout.Virtual; v != 0 {
		most = v
	}
	if k.p == 1 {
		most = min(most, 1)
	}
	return min(most, int(k.stageLayers))
}

// interleaves says whether the virtual stages of a layout can be laid. Unasked they share the layers evenly, and
// micro-batches come in groups of p (Megatron-LM's own conditions).
func (s *search) interleaves(k *cut, o schedule) bool {
	if v := s.j.w.Layout.Virtual; v != 0 {
		return o.virtual == v
	}
	return o.virtual == 1 || s.j.stages(k.p*o.virtual) && o.m%k.p == 0
}

// try holds one layout against memory and the best so far; it says whether it fits.
func (s *search) try(k *cut, o schedule, w *work) bool {
	s.looked++
	s.anyDivision = true
	mem := s.j.memory(k, o)
	if over := mem.total()*s.mc.memory - float64(s.mc.Usable); over > 0 {
		if s.leastOver == 0 || over < s.leastOver {
			s.leastOver = over
		}
		return false
	}
	if !w.priced {
		*w = s.j.work(s.mc, k, o.b)
	}
	st, ok := s.j.speed(s.mc, k, o, w)
	switch {
	case !ok:
		s.noLink = true
	case s.best.o.m == 0 || st.total() < s.best.step.total():
		s.best = choice{*k, o, mem, st}
	}
	return true
}

var (
	noZeRO, zeRO1, zeROAll = []int{0}, []int{1}, []int{1, 2, 3}
	pinnedZeRO             = [...][]int{{0}, {1}, {2}, {3}}
	allRecomputes          = []string{"none", "selective", "full"}
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

func recomputations(pinned string) []string {
	for i, r := range allRecomputes {
		if pinned == r {
			return allRecomputes[i : i+1]
		}
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
	have := float64(s.mc.Usable)
	return &estimate.Refusal{Reason: estimate.NoMemory, Have: have, Want: have + s.leastOver}
}
