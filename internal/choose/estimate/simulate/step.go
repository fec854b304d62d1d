package simulate

import (
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/scale"
)

// stepTime is one time step on one part, without the exchange between parts.
type stepTime struct {
	seconds float64
	shares  estimate.Shares // in seconds; they sum to seconds
	flops   float64         // FLOPs over the peak rate, in seconds: the step time at the peak; 0 where not counted
}

// roofline is the longer of the arithmetic and the memory traffic of one part.
func (j *job) roofline(g estimate.Group, c cut) (stepTime, *estimate.Refusal) {
	var t stepTime
	n := float64(c.parts)
	var compute, memory float64
	if j.work.FLOPStep > 0 {
		peak, refusal := scale.Peak(g, j.precision)
		if refusal != nil {
			return t, refusal
		}
		t.flops = float64(j.work.FLOPStep) / n / peak
		compute = t.flops / embedded().Vector.Share
	}
	if j.work.ByteStep > 0 {
		bw, refusal := scale.Bandwidth(g)
		if refusal != nil {
			return t, refusal
		}
		memory = float64(j.work.ByteStep) / n / (bw * j.reach.of(g.Chip))
	}
	t.seconds = max(compute, memory)
	if compute >= memory {
		t.shares.Compute = t.seconds
	} else {
		t.shares.Memory = t.seconds
	}
	return t, nil
}

// carried is the measured step on another device or count. Arithmetic and traffic divide over the parts; what the
// host does stays; what the measured devices sent each other grows and shrinks with the surface of a part.
func (j *job) carried(g estimate.Group, c cut) (stepTime, *estimate.Refusal) {
	var t stepTime
	mix, whole := j.work.Bound, j.work.SecondsPerStep
	divided := float64(j.on.Count) / float64(c.parts)
	if mix.Compute > 0 {
		peak, refusal := scale.Peak(g, j.precision)
		if refusal != nil {
			return t, refusal
		}
		if j.onPeak == 0 {
			return t, &estimate.Refusal{Reason: estimate.NoReference}
		}
		t.shares.Compute = whole * mix.Compute * j.onPeak / peak * divided
	}
	if mix.Memory > 0 {
		bw, refusal := scale.Bandwidth(g)
		if refusal != nil {
			return t, refusal
		}
		if j.onBandwidth == 0 {
			return t, &estimate.Refusal{Reason: estimate.NoReference}
		}
		t.shares.Memory = whole * mix.Memory * j.onBandwidth / (bw * j.reach.of(g.Chip)) * divided
	}
	link, refusal := j.carriedLink(g, c, divided)
	if refusal != nil {
		return t, refusal
	}
	if g.Nodes > 1 && j.on.Count > 1 {
		t.shares.Network = link
	} else {
		t.shares.Link = link
	}
	t.shares.Input = whole * mix.Host
	t.seconds = t.shares.Compute + t.shares.Memory + t.shares.Link + t.shares.Network + t.shares.Input
	return t, nil
}

// carriedLink is the seconds of the measured link share. One device's is traffic to its host and divides like its
// work. Several devices' is the exchange between them: where its bytes are stated it is counted from them, and else
// scaled by the surface of a part.
func (j *job) carriedLink(g estimate.Group, c cut, divided float64) (float64, *estimate.Refusal) {
	measured := j.work.SecondsPerStep * j.work.Bound.Link
	switch {
	case measured == 0:
		return 0, nil
	case j.on.Count == 1:
		ratio, refusal := j.on.Link(g)
		return measured * ratio * divided, refusal
	case c.parts == 1 || j.work.HaloBytes > 0:
		return 0, nil
	}
	ratio, refusal := j.on.Link(g)
	return measured * ratio * c.area / j.measured.area, refusal
}
