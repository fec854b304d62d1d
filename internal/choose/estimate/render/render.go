// Package render estimates rendering: independent frames whose time was measured on one device.
//
// Invariants: the very device that was measured reproduces its frame time exactly; elsewhere the time is scaled by
// what is known of both chips, with a wide interval, because almost nothing is published to hold a render model
// against; ray tracing wants cores that are known to be there. Pure. Imported by the caller that picks a Job by kind
// of work.
package render

import (
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/scale"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

// kind names the interval of this work in the curves.
const kind = "render"

// Notes on an estimate.
const (
	// noteScaled says that the frame time was carried over from another device. Args: Device.
	noteScaled = "render.scaled"
	// noteScene says that the scene's memory was not stated, so that only the renderer itself was held against
	// the chip's. No args.
	noteScene = "render.scene_unknown"
)

// mix is how much of a frame's time goes with each figure of a chip.
type mix struct {
	FP32      float64 `yaml:"fp32"`
	Bandwidth float64 `yaml:"bandwidth"`
	RTCores   float64 `yaml:"rt_cores"`
	Source    string  `yaml:"source"`
}

type constants struct {
	AsOf   string `yaml:"as_of"`
	Shaded mix    `yaml:"shaded"` // without ray-tracing cores
	Traced mix    `yaml:"traced"`
}

var embedded = estimate.Embedded[constants]("efficiency/render.yaml")

type job struct {
	work   *workload.RenderWork
	curves *estimate.Curves
	on     *scale.Reference
	mix    mix
	source string
	notes  [2][]estimate.Note // on the measured device, elsewhere: made once, shared by every estimate
}

// New prepares a render workload.
func New(w *workload.Workload, c *estimate.Curves) (estimate.Job, error) {
	if w.Render == nil || w.Render.On.Device == nil || w.Render.SecondsPerFrame <= 0 || w.Render.Frames <= 0 {
		return nil, problem.New(problem.Internal, "estimate.not_this_kind", problem.Args{"Kind": kind})
	}
	j := &job{
		work: w.Render, curves: c, on: scale.NewReference(w.Render.On, accelerator.FP32, c),
		mix: embedded().Shaded, source: w.Render.On.Device.Name,
	}
	if w.Render.RayTracing {
		j.mix = embedded().Traced
	}
	if w.Render.SceneMemory == 0 {
		j.notes[0] = []estimate.Note{{Code: noteScene}}
	}
	j.notes[1] = append([]estimate.Note{{Code: noteScaled, Args: map[string]any{"Device": j.source}}}, j.notes[0]...)
	return j, nil
}

// Service says no: the frames are to be finished.
func (j *job) Service() bool { return false }

// Independent says yes: a frame needs nothing of another.
func (j *job) Independent() bool { return true }

// Best gives every accelerator frames of its own.
func (j *job) Best(g estimate.Group) (estimate.Estimate, *estimate.Refusal, int) {
	if cores, ok := g.Chip.RTCores.Get(); j.work.RayTracing && (!ok || cores <= 0) {
		return estimate.Estimate{}, &estimate.Refusal{Reason: estimate.NoRayTracing}, 1
	}
	memory, refusal := scale.Fit(g, j.curves, estimate.Part{Name: "scene", Bytes: j.work.SceneMemory}, scale.Runtime(j.curves))
	if refusal != nil {
		return estimate.Estimate{Memory: memory}, refusal, 1
	}
	e := estimate.Estimate{
		Layout: estimate.Layout{Replicas: g.Accelerators()}, Memory: memory, Precision: accelerator.FP32,
		Speed: estimate.Speed{Unit: "frames/h", Source: j.source},
	}
	interval, times := scale.Repeat(), estimate.Shares{Compute: j.mix.FP32 + j.mix.RTCores, Memory: j.mix.Bandwidth}
	if j.on.Same(g) {
		e.Speed.Basis, e.Speed.Like, e.Notes = estimate.Measured, estimate.LikeChip, j.notes[0]
	} else {
		if times, refusal = j.times(g); refusal != nil {
			return estimate.Estimate{Memory: memory}, refusal, 1
		}
		// The mix is assumed for all renderers alike, so that a chip of the same family is no nearer.
		e.Speed.Basis, e.Speed.Like, e.Notes = estimate.Predicted, estimate.LikeKind, j.notes[1]
		interval = j.curves.Interval(kind, estimate.LikeKind)
	}
	e.Bottleneck = times.Fractions()
	e.Load = e.Bottleneck.Power()
	// Several devices that were measured together shared the frame, as they would share many.
	perFrame := j.work.SecondsPerFrame * float64(j.on.Count) * (times.Compute + times.Memory)
	active := min(float64(g.Accelerators()), max(1, j.work.Frames)) // an accelerator without a frame idles
	e.Speed.Value = 3600 / perFrame * active
	scale.Finish(&e, interval, j.work.Frames, 3600)
	return e, nil, 1
}

// times is what one measured second becomes on one accelerator of the group.
func (j *job) times(g estimate.Group) (estimate.Shares, *estimate.Refusal) {
	compute, refusal := j.on.Compute(g)
	if refusal != nil {
		return estimate.Shares{}, refusal
	}
	memory, refusal := j.on.Memory(g)
	if refusal != nil {
		return estimate.Shares{}, refusal
	}
	cores := 0.0
	if j.mix.RTCores > 0 {
		from, ok := j.on.Chip.RTCores.Get()
		if !ok || from <= 0 {
			return estimate.Shares{}, &estimate.Refusal{Reason: estimate.NoReference}
		}
		cores = float64(from) / (float64(g.Chip.RTCores.Or(0)) * g.Fraction()) // known: checked before
	}
	return estimate.Shares{Compute: j.mix.FP32*compute + j.mix.RTCores*cores, Memory: j.mix.Bandwidth * memory}, nil
}
