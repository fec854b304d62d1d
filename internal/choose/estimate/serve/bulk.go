package serve

import (
	"math"

	"github.com/rackrate/rackrate/internal/choose/estimate"
)

// Bulk is requests of one size that all wait at the start, worked on by like engines.
type Bulk struct {
	Setup
	Group    estimate.Group
	Replicas int // engines that share the work
	In, Out  float64
	Requests float64 // in all; 0 is without end
	// Batch, where given, is how many an engine takes at once, the next when all of them have ended; else it takes as many as its
	// caches hold and goes on as each ends.
	Batch int
	// TPOT, where given, is the mean time of a further token that must be held, in seconds.
	TPOT float64
}

// Rate is the requests a second of all engines together, without corrections. It refuses what rests on a fact that is not
// known, and weights that fill the memory.
func (b *Bulk) Rate(c *estimate.Curves) (float64, *estimate.Refusal) {
	step, bad := NewStep(c, &b.Setup, b.Group)
	if bad != nil {
		return 0, bad
	}
	h, bad := b.holding(c, b.Group, b.In, b.Out)
	if bad != nil {
		return 0, bad
	}
	if h.free <= 0 {
		return 0, h.short()
	}
	l, replicas := lengths{b.In, b.Out}, float64(max(1, b.Replicas))
	if b.Batch > 0 {
		return replicas * float64(b.Batch) / step.batch(l, float64(b.Batch)), nil
	}
	n := b.within(step, l, b.most(step, &h, l))
	if b.Requests == 0 {
		return replicas * step.at(l, n).rate, nil
	}
	// Rounds of n, and what is left in a smaller one.
	mine := b.Requests / replicas
	rounds := math.Floor(mine / n)
	seconds := rounds * n / step.at(l, n).rate
	if rest := mine - rounds*n; rest >= 1 {
		seconds += rest / step.at(l, rest).rate
	}
	return b.Requests / seconds, nil
}

// most is the most sequences an engine runs: those whose caches, with the part of the answers it reserves room for, it holds.
func (b *Bulk) most(p *Step, h *holding, l lengths) float64 {
	dp := b.Spread.whole().DP
	length := l.in + l.out*(1+p.engine.Reserve)/2
	n := math.Floor(h.tokens(int(l.in+l.out), dp) / length)
	if limit := p.engine.MaxSequences * dp; limit > 0 {
		n = min(n, float64(limit))
	}
	if b.Requests > 0 {
		n = min(n, math.Ceil(b.Requests/float64(max(1, b.Replicas))))
	}
	return max(1, n)
}

// within is the most sequences up to n whose mean time of a further token keeps to the limit, at least one.
func (b *Bulk) within(p *Step, l lengths, n float64) float64 {
	if b.TPOT == 0 || p.at(l, n).tpot <= b.TPOT {
		return n
	}
	low := 1.0
	for n-low > 0.01*low {
		if mid := (low + n) / 2; p.at(l, mid).tpot <= b.TPOT {
			low = mid
		} else {
			n = mid
		}
	}
	return low
}

// batch is the time of a batch of n that begins and ends together: its prompts in as few steps as there is room for, then a step
// for each further token.
func (p *Step) batch(l lengths, n float64) float64 {
	if n == 1 {
		return p.prompt(l).total() + (l.out-1)*p.parts(l.decoding(1)).total()
	}
	steps, together := l.chunks(p, n)
	return n/together*steps*p.parts(l.chunk(steps, together)).total() + (l.out-1)*p.parts(l.decoding(n)).total()
}
