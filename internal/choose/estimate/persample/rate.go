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
	// Cores says that the parts of accelerators that the group counts make up whole ones, each part with samples of its own.
	Cores bool
}

// Rate is what a group does of a network.
type Rate struct {
	estimate.Correction
	PerSecond float64 // samples, all accelerators together, corrected
	Batch     float64 // samples a batch on one accelerator
	Latency   float64 // seconds that 99 of 100 samples are answered in; without waiting unless Served
	From      string  // what the network's level rests on
	parts
}

// Rate predicts how many samples a second a group does. Accelerators work on samples of their own and, when served, draw
// from one queue.
func (n *Net) Rate(c *estimate.Curves, g estimate.Group, s Setting) (Rate, *estimate.Refusal) {
	f := n.Reached(c, estimate.Vision)
	t, refusal := n.parts(c, g, s.Precision, f)
	if refusal != nil {
		return Rate{}, refusal
	}
	r := Rate{Correction: correct(c, estimate.Vision, n.Tags(g, s), f.Groups), parts: t, From: f.Source}
	count := float64(g.Accelerators())
	var raw float64
	switch s.Mode {
	case Single:
		r.Batch, r.Latency = 1, t.batch(1)
		raw = count / r.Latency
	case Served:
		if refusal := r.serve(f.Most, s.Bound, count); refusal != nil {
			return Rate{}, refusal
		}
		raw = r.PerSecond
	default:
		raw = count / t.sample()
		r.Batch = f.Most
		r.Latency = t.batch(r.Batch)
	}
	r.PerSecond = raw * r.Factor
	return r, nil
}

// correct is the correction of a network with so many groups of measurements behind its level. One with fewer than two is no nearer
// than others of its kind, whatever the chip, and its interval that of networks left out of the fit.
func correct(c *estimate.Curves, target estimate.Target, tags estimate.Tags, groups int) estimate.Correction {
	k := c.Correct(target, tags)
	if groups > 1 {
		return k
	}
	if k.Like == estimate.LikeChip || k.Like == estimate.LikeFamily {
		k.Like = estimate.LikeKind
	}
	if fitted := c.Calibrations[target]; fitted != nil {
		if iv, ok := fitted.Intervals[estimate.OtherNetworks]; ok {
			k.Low, k.High = math.Min(k.Low, iv.Low), math.Max(k.High, iv.High)
		}
	}
	return k
}

// tail is how far waiting reaches: with samples one after the other at a load, the wait passes x with probability
// exp(-2 x (1 - load) / (load x seconds a sample)), so the load that holds a bound in 99 of 100 is
// 1 / (1 + tail x seconds a sample / slack), tail half the logarithm of 100.
var tail = math.Log(100) / 2

// worthwhile is the share of the best rate that the smallest batch must reach where nothing bounds it.
const worthwhile = 0.95

// reach is the share of the best rate that batches of b reach.
func (p parts) reach(b float64) float64 { return b * p.sample() / p.batch(b) }

// serve fills in the most samples a second that hold a bound: while one batch, of so many at the most, runs, the next one gathers,
// so two batches fit the bound; and the load leaves room for samples that come in clusters.
func (r *Rate) serve(most, bound, count float64) *estimate.Refusal {
	first := r.batch(1)
	if bound == 0 {
		for r.Batch = 1; r.Batch < most && r.reach(r.Batch) < worthwhile; r.Batch *= 2 {
		}
		r.Latency = 2 * r.batch(r.Batch)
		r.PerSecond = count * r.Batch / r.batch(r.Batch)
		return nil
	}
	if first >= bound {
		return &estimate.Refusal{Reason: estimate.NoLatency, Have: first, Want: bound}
	}
	r.Batch = min(most, math.Max(r.alone, (bound/2-r.fixed)/r.sample()))
	each := r.Batch / r.batch(r.Batch)
	r.PerSecond = count * each / (1 + tail/(each*count*(bound-first)))
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
	if g.Fraction() < 1 && !s.Cores {
		t.Mode += " slice"
	}
	return t
}
