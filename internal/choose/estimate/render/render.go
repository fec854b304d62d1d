// Package render estimates rendering: independent frames whose time was measured on one device.
//
// Invariants: the very device that was measured reproduces its frame time exactly; elsewhere the time is scaled by the
// medians of a benchmark that the user supplies, over the scenes that both devices rendered, and without them by what is
// known of both chips, with a wide interval, wider between vendors, because almost nothing is published to hold a render
// model against; ray tracing wants cores that are known to be there. Pure. Imported by the caller that picks a Job by kind
// of work.
package render

import (
	"maps"
	"math"
	"slices"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/scale"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

// kind is how a fault names this work.
const kind = "render"

// Notes on an estimate.
const (
	// noteScaled says that the frame time was carried over from another device by figures of both, which nothing confirms.
	// Args: Device.
	noteScaled = "render.scaled"
	// noteBenchmark says that it was carried over by a benchmark's medians. Args: Device.
	noteBenchmark = "render.benchmark"
	// noteNoResult says that a benchmark was given but has no scene that both devices rendered. Args: Device, Path.
	noteNoResult = "render.no_result"
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
	// Benchmark is the interval of a scene of the user's where a benchmark's scenes say how much faster a device is.
	Benchmark estimate.Interval `yaml:"benchmark"`
	// Kindred and Foreign are those where a mix says it, of a chip of the measured one's vendor and of another's.
	Kindred estimate.Interval `yaml:"kindred"`
	Foreign estimate.Interval `yaml:"foreign"`
}

var embedded = estimate.Embedded[constants]("efficiency/render.yaml")

type job struct {
	work   *workload.RenderWork
	curves *estimate.Curves
	on     *scale.Reference
	mix    mix
	source string
	notes  [4][]estimate.Note // by noted*: made once, shared by every estimate
}

// Where a frame time comes from, as an index of notes.
const (
	notedHere = iota
	notedScaled
	notedBenchmark
	notedNoResult
)

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
	var scene []estimate.Note
	if w.Render.SceneMemory == 0 {
		scene = []estimate.Note{{Code: noteScene}}
	}
	scaled := estimate.Note{Code: noteScaled, Args: map[string]any{"Device": j.source}}
	j.notes[notedHere] = scene
	j.notes[notedScaled] = append([]estimate.Note{scaled}, scene...)
	j.notes[notedBenchmark] = append([]estimate.Note{{Code: noteBenchmark, Args: map[string]any{"Device": j.source}}}, scene...)
	if s := w.Render.Scores; s != nil {
		missing := estimate.Note{Code: noteNoResult, Args: map[string]any{"Device": j.source, "Path": s.Path}}
		j.notes[notedNoResult] = append([]estimate.Note{scaled, missing}, scene...)
	}
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
	interval, times, noted := scale.Repeat(), estimate.Shares{Compute: j.mix.FP32 + j.mix.RTCores, Memory: j.mix.Bandwidth}, notedHere
	if j.on.Same(g) {
		e.Speed.Basis, e.Speed.Like = estimate.Measured, estimate.LikeChip
	} else if slower, ok := j.slower(g); ok {
		times.Compute, times.Memory = times.Compute*slower, times.Memory*slower
		e.Speed.Basis, e.Speed.Like, noted = estimate.Published, estimate.LikeChip, notedBenchmark
		e.Speed.Source, interval = j.work.Scores.Path, embedded().Benchmark
	} else {
		if times, refusal = j.times(g); refusal != nil {
			return estimate.Estimate{Memory: memory}, refusal, 1
		}
		// The mix is assumed for all renderers alike, so that a chip of the same family is no nearer.
		e.Speed.Basis, e.Speed.Like, noted = estimate.Predicted, estimate.LikeKind, notedScaled
		if j.work.Scores != nil {
			noted = notedNoResult
		}
		interval = embedded().Kindred
		if g.Chip.Vendor != j.on.Chip.Vendor {
			e.Speed.Like, interval = estimate.LikeNone, embedded().Foreign
		}
	}
	e.Notes = j.notes[noted]
	e.Bottleneck = times.Fractions()
	e.Load = e.Bottleneck.Power()
	// Several devices that were measured together shared the frame, as they would share many.
	perFrame := j.work.SecondsPerFrame * float64(j.on.Count) * (times.Compute + times.Memory)
	active := min(float64(g.Accelerators()), max(1, j.work.Frames)) // an accelerator without a frame idles
	e.Speed.Value = 3600 / perFrame * active
	scale.Finish(&e, interval, j.work.Frames, 3600)
	return e, nil, 1
}

// slower is how many times as long as the measured device an accelerator of the group takes, by the geometric mean over the
// scenes that a benchmark has of both; false where there is none.
func (j *job) slower(g estimate.Group) (float64, bool) {
	if j.work.Scores == nil {
		return 0, false
	}
	theirs, mine := j.work.Scores.Devices[j.on.Chip.Name], j.work.Scores.Devices[g.Chip.Name]
	sum, n := 0.0, 0.0
	for _, scene := range slices.Sorted(maps.Keys(theirs)) { // in order: sums of floats depend on it
		if s, ok := mine[scene]; ok {
			sum += math.Log(theirs[scene].PerMinute / s.PerMinute)
			n++
		}
	}
	if n == 0 {
		return 0, false
	}
	return math.Exp(sum/n) / g.Fraction(), true
}

// times is what one measured second becomes on one accelerator of the group, by nominal rates: rendering is vector arithmetic, of which
// no more is known than that.
func (j *job) times(g estimate.Group) (estimate.Shares, *estimate.Refusal) {
	on := estimate.Group{Chip: j.on.Chip}
	compute, refusal := longer(scale.Peak, on, g)
	if refusal != nil {
		return estimate.Shares{}, refusal
	}
	memory, refusal := longer(bandwidth, on, g)
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

func bandwidth(g estimate.Group, _ accelerator.Precision) (float64, *estimate.Refusal) {
	return scale.Bandwidth(g)
}

// longer is how many times as long an accelerator of a group takes over what goes with a rate as the measured one.
func longer(rate func(estimate.Group, accelerator.Precision) (float64, *estimate.Refusal), on, g estimate.Group) (float64, *estimate.Refusal) {
	mine, refusal := rate(g, accelerator.FP32)
	if refusal != nil {
		return 0, refusal
	}
	theirs, unknown := rate(on, accelerator.FP32)
	if unknown != nil {
		return 0, &estimate.Refusal{Reason: estimate.NoReference}
	}
	return theirs / mine, nil
}
