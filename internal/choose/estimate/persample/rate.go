package persample

import (
	"math"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

// Mode is how samples come.
type Mode string

// The modes.
const (
	Bulk   Mode = "bulk"   // all there from the start
	Served Mode = "served" // at random, each to be answered within a bound
	Single Mode = "single" // the next when the last is done
)

// Setting is how a network is run.
type Setting struct {
	Mode      Mode
	Precision accelerator.Precision
	Bound     float64 // seconds that 99 of 100 samples are answered in; 0 is none
	Framework string  // empty is not stated
	// Limited says that the board is held below its rated power for the sake of efficiency, by how much unknown.
	Limited bool
}

// Rate is what a group does of a network.
type Rate struct {
	estimate.Correction
	PerSecond float64 // samples, all accelerators together, corrected
	Batch     float64 // samples a batch on one accelerator
	Latency   float64 // seconds that 99 of 100 samples are answered in; without waiting unless Served
	parts
}

// Rate predicts how many samples a second a group does. Accelerators work on samples of their own and, when served, draw
// from one queue.
func (n *Net) Rate(c *estimate.Curves, g estimate.Group, s Setting) (Rate, *estimate.Refusal) {
	t, refusal := n.parts(c, g, s.Precision)
	if refusal != nil {
		return Rate{}, refusal
	}
	r := Rate{Correction: correct(c, estimate.Vision, n.Tags(g, s), n.N), parts: t}
	count := float64(g.Accelerators())
	var raw float64
	switch s.Mode {
	case Single:
		r.Batch, r.Latency = 1, t.batch(1, n.Alone)
		raw = count / r.Latency
	case Served:
		if refusal := n.serve(&r, s.Bound, count); refusal != nil {
			return Rate{}, refusal
		}
		raw = r.PerSecond
	default:
		raw = count / t.sample()
		r.Batch = n.Most
		r.Latency = t.batch(r.Batch, n.Alone)
	}
	r.PerSecond = raw * r.Factor
	return r, nil
}

// correct is the correction of a network with so many groups of measurements behind its level, its interval spread. One without
// any is no nearer than others of its kind, whatever the chip.
func correct(c *estimate.Curves, target estimate.Target, tags estimate.Tags, groups int) estimate.Correction {
	k := c.Correct(target, tags)
	w := embedded().Spread
	if groups == 0 && (k.Like == estimate.LikeChip || k.Like == estimate.LikeFamily) {
		k.Like = estimate.LikeKind
		w *= math.Max(1, c.Widen[estimate.LikeKind])
	}
	k.Low, k.High = math.Pow(k.Low, w), math.Pow(k.High, w)
	return k
}

// serve fills in the most samples a second that hold a bound: while one batch runs the next one gathers, so two batches fit
// the bound; and the load leaves room for samples that come in clusters.
func (n *Net) serve(r *Rate, bound, count float64) *estimate.Refusal {
	k, t := embedded(), r.parts
	first := t.batch(1, n.Alone)
	if bound == 0 {
		r.Batch = n.Most
		r.Latency = 2 * t.batch(r.Batch, n.Alone)
		r.PerSecond = count * r.Batch / t.batch(r.Batch, n.Alone)
		return nil
	}
	if first >= bound {
		return &estimate.Refusal{Reason: estimate.NoLatency, Have: first, Want: bound}
	}
	r.Batch = min(n.Most, math.Max(n.Alone, (bound/2-t.fixed)/t.sample()))
	each := r.Batch / t.batch(r.Batch, n.Alone)
	r.PerSecond = count * each / (1 + k.Tail/(each*count*(bound-first)))
	r.Latency = bound
	return nil
}

// Tags is what a prediction shares with measurements.
func (n *Net) Tags(g estimate.Group, s Setting) estimate.Tags {
	t := estimate.ChipTags(g.Chip)
	t.Model, t.Family, t.Structure, t.Framework = n.Name, n.Family, n.Kind, s.Framework
	t.Precision, t.Mode = s.Precision.String(), string(s.Mode)
	if s.Limited {
		t.Mode += " limited"
	}
	if g.Fraction() < 1 {
		t.Mode += " slice"
	}
	return t
}
