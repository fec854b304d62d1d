// Package custom estimates any work whose rate was measured on one device, from that rate and from what held the
// measurement up.
//
// Invariants: the very device and count that were measured reproduce their rate exactly; elsewhere each share of the
// measured time is scaled by what its own resource reaches, and the host's share never shrinks; a share whose
// resource is unknown on either side is refused. Pure. Imported by the caller that picks a Job by kind of work.
package custom

import (
	"math"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/scale"
	"github.com/rackrate/rackrate/internal/choose/workload"
)

// kind names the interval of this work in the curves.
const kind = "custom"

// Notes on an estimate.
const (
	// noteScaled says that the rate was carried over from another device. Args: Device, Count.
	noteScaled = "custom.scaled"
	// noteScaling says that the rate rests on the stated share kept per doubling, from so many accelerators on.
	// Args: Scaling, From.
	noteScaling = "custom.scaling"
)

type job struct {
	work   *workload.CustomWork
	curves *estimate.Curves
	on     *scale.Reference
	unit   string
	source string
	// notes by what was carried over: nothing, the count, the device, both; made once, shared by every estimate.
	notes [4][]estimate.Note
}

// What an estimate carries over, as an index of notes.
const (
	otherCount  = 1
	otherDevice = 2
)

// New prepares a custom workload.
func New(w *workload.Workload, c *estimate.Curves) (estimate.Job, error) {
	if w.Custom == nil || w.Custom.On.Device == nil || w.Custom.Rate <= 0 || w.Custom.Units <= 0 {
		return nil, problem.New(problem.Internal, "estimate.not_this_kind", problem.Args{"Kind": kind})
	}
	j := &job{
		work: w.Custom, curves: c, on: scale.NewReference(w.Custom.On, w.Custom.Precision, c),
		unit: w.Custom.Unit + "/s", source: w.Custom.On.Device.Name,
	}
	scaled := estimate.Note{Code: noteScaled, Args: map[string]any{"Device": j.source, "Count": j.on.Count}}
	scaling := estimate.Note{Code: noteScaling, Args: map[string]any{"Scaling": j.work.Scaling, "From": j.on.Count}}
	j.notes = [4][]estimate.Note{nil, {scaling}, {scaled}, {scaled, scaling}}
	return j, nil
}

// Service says no: the units are to be finished.
func (j *job) Service() bool { return false }

// Independent says whether accelerators keep their whole speed however many there are, which only pieces that do
// not talk to each other do.
func (j *job) Independent() bool {
	return j.work.Scaling >= 1 && (j.work.Bound.Link == 0 || j.on.Count == 1)
}

// Best carries the measured rate to the group.
func (j *job) Best(g estimate.Group) (estimate.Estimate, *estimate.Refusal, int) {
	n := g.Accelerators()
	if n != j.on.Count && j.work.Scaling <= 0 {
		return estimate.Estimate{}, &estimate.Refusal{Reason: estimate.NotDivisible, Have: float64(n), Want: float64(j.on.Count)}, 1
	}
	memory, refusal := scale.Fit(g, j.curves, estimate.Part{Name: "working_set", Bytes: j.work.Memory}, scale.Runtime(j.curves))
	if refusal != nil {
		return estimate.Estimate{Memory: memory}, refusal, 1
	}
	times, refusal := j.times(g)
	if refusal != nil {
		return estimate.Estimate{Memory: memory}, refusal, 1
	}
	e := estimate.Estimate{
		Layout: estimate.Layout{Replicas: n}, Memory: memory, Precision: j.work.Precision,
		Bottleneck: times.Fractions(),
		Speed:      estimate.Speed{Unit: j.unit, Source: j.source, Basis: estimate.Predicted, Like: j.on.Like(g.Chip)},
	}
	total := times.Compute + times.Memory + times.Link + times.Network + times.Input
	e.Speed.Value = j.work.Rate / total * gain(j.work.Scaling, j.on.Count, n)
	e.Load = e.Bottleneck.Power()
	interval, carried := j.curves.Interval(kind, e.Speed.Like), 0
	if n != j.on.Count {
		carried |= otherCount
	}
	if !j.on.Same(g) {
		carried |= otherDevice
	}
	if carried == 0 {
		e.Speed.Basis = estimate.Measured
		interval = scale.Repeat()
	}
	e.Notes = j.notes[carried]
	scale.Finish(&e, interval, j.work.Units, 1)
	return e, nil, 1
}

// gain is how much faster n accelerators are than the measured count: every doubling keeps a share of its ideal
// factor of two, so the speed grows as (2 x share) to the power of the doublings.
func gain(share float64, from, to int) float64 {
	if from == to {
		return 1
	}
	return math.Pow(2*share, math.Log2(float64(to)/float64(from)))
}

// times is the seconds on each resource that the measured second becomes, at an equal number of accelerators.
func (j *job) times(g estimate.Group) (estimate.Shares, *estimate.Refusal) {
	mix := j.work.Bound
	t := estimate.Shares{Compute: mix.Compute, Memory: mix.Memory, Link: mix.Link, Input: mix.Host}
	if j.on.Same(g) && g.Accelerators() == j.on.Count {
		return t, nil
	}
	resources := [...]struct {
		seconds *float64
		ratio   func(*scale.Reference, estimate.Group) (float64, *estimate.Refusal)
	}{{&t.Compute, (*scale.Reference).Compute}, {&t.Memory, (*scale.Reference).Memory}, {&t.Link, (*scale.Reference).Link}}
	for _, r := range resources {
		if *r.seconds == 0 {
			continue
		}
		ratio, refusal := r.ratio(j.on, g)
		if refusal != nil {
			return t, refusal
		}
		*r.seconds *= ratio
	}
	if g.Nodes > 1 && j.on.Count > 1 {
		t.Link, t.Network = 0, t.Link
	}
	return t, nil
}
