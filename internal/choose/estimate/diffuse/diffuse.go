// Package diffuse estimates image generation by diffusion: so many denoiser passes, a text encoder and a decoder an
// image, in batches as large as memory and the work allow. Accelerators work on images of their own.
//
// Invariants: weights, text encoder, VAE and the activations of a batch fit one accelerator; the chip's rate in a
// precision that the format can be multiplied at is known; constants are data. Pure. Imported by the caller that
// picks a Job by kind of work, and by choose/accuracy.
package diffuse

import (
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/scale"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// kind is how a fault names this work.
const kind = "diffuse"

// maxBatch is past where batching still gains anything: a pass over a few images fills any chip.
const maxBatch = 64

// worthwhile is the gain in speed that a doubled batch must bring for the latency and memory it costs.
const worthwhile = 1.01

// source is what the constants were fitted to.
const source = "published latencies of diffusion models (data/efficiency/fit/diffusion.yaml)"

// Notes on an estimate.
const (
	// noteSize says that the images are of another size than the model was made for. Args: Width, Height, RefWidth, RefHeight.
	noteSize = "diffuse.size"
	// noteSteps says that the number of steps is not the usual one of the model. Args: Steps, Usual.
	noteSteps = "diffuse.steps"
)

type job struct {
	curves *estimate.Curves
	images float64
	net    *Network
	set    Setting // of one image
	holding
	notes []estimate.Note
}

// New prepares an image generation.
func New(w *workload.Workload, c *estimate.Curves) (estimate.Job, error) {
	d, m := w.Diffuse, w.Model
	if d == nil || m == nil || m.Diffusion == nil || d.Images <= 0 || d.Width <= 0 || d.Height <= 0 || d.Steps <= 0 {
		return nil, problem.New(problem.Internal, "estimate.not_this_kind", problem.Args{"Kind": kind})
	}
	net, ok := Of(m)
	if !ok {
		return nil, problem.New(problem.Input, "diffuse.no_arithmetic", problem.Args{"Model": m.Name})
	}
	format := w.Format
	if format == "" {
		format = m.NativeFormat
	}
	info, err := model.LookupFormat(string(format))
	if err != nil {
		return nil, err
	}
	j := &job{curves: c, images: d.Images, net: net, holding: held(m, d.Width, d.Height, info)}
	j.set = Setting{
		Width: d.Width, Height: d.Height, Frames: 1, Steps: d.Steps, Guidance: max(1, d.Guidance), Batch: 1,
		Compute: info.Compute, Bits: info.Bits, Engine: Compiled, Format: kept(info),
	}
	if ref := m.Diffusion; d.Width != ref.RefWidth || d.Height != ref.RefHeight {
		j.notes = append(j.notes, estimate.Note{Code: noteSize, Args: map[string]any{
			"Width": d.Width, "Height": d.Height, "RefWidth": ref.RefWidth, "RefHeight": ref.RefHeight}})
	}
	if usual := m.Diffusion.Steps; d.Steps != usual && usual > 0 {
		j.notes = append(j.notes, estimate.Note{Code: noteSteps, Args: map[string]any{"Steps": d.Steps, "Usual": usual}})
	}
	return j, nil
}

// kept is the format as the calibration names it.
func kept(f model.FormatInfo) string {
	switch {
	case f.Bits >= 16 || len(f.Compute) == 0:
		return Wide
	case f.Compute[0] == accelerator.FP8:
		return FP8
	case f.Compute[0] == accelerator.INT8:
		return INT8
	}
	return Weights
}

// Service says no: the images are to be finished.
func (j *job) Service() bool { return false }

// Independent says yes: an image needs nothing of another.
func (j *job) Independent() bool { return true }

// Best finds the batch with which one accelerator is fastest. It counts a batch as a layout looked at.
func (j *job) Best(g estimate.Group) (estimate.Estimate, *estimate.Refusal, int) {
	memory, refusal := j.memory(g, 1)
	if refusal != nil {
		return estimate.Estimate{Memory: memory}, refusal, 1
	}
	r, refusal := j.net.ratesOf(j.curves, g, j.set)
	if refusal != nil {
		return estimate.Estimate{Memory: memory}, refusal, 1
	}
	active := min(float64(g.Accelerators()), max(1, j.images)) // an accelerator without an image idles
	batch, looked := 1, 1
	best := j.seconds(g, r, 1)
	for b := 2; b <= maxBatch && float64(b) <= j.images/active && j.fits(g, b); b *= 2 {
		t := j.seconds(g, r, b)
		looked++
		if best.Total()/float64(batch) < worthwhile*t.Total()/float64(b) {
			break
		}
		batch, best = b, t
	}
	if batch > 1 {
		memory, _ = j.memory(g, batch)
	}
	set := j.set
	set.Batch = batch
	speed := j.net.Corrected(j.curves, g, set, float64(batch)*active, best)
	speed.Source = source
	multiply, attention := j.net.pass(j.set)
	denoise := float64(j.set.Steps*j.set.Guidance) * (multiply + attention)
	e := estimate.Estimate{
		Layout: estimate.Layout{Replicas: g.Accelerators(), Batch: batch}, Memory: memory,
		Bottleneck: estimate.Shares{Compute: best.Compute, Memory: best.Memory, Overhead: best.Overhead}.Fractions(),
		Precision:  r.precision, MFU: min(1, speed.Value/active*denoise/r.peak), Notes: j.notes, Speed: speed,
	}
	e.Load = e.Bottleneck.Power()
	scale.Finish(&e, estimate.Interval{Low: speed.Low / speed.Value, High: speed.High / speed.Value}, j.images, 1)
	return e, nil, looked
}

// memory is one accelerator's with a batch.
func (j *job) memory(g estimate.Group, batch int) (estimate.Memory, *estimate.Refusal) {
	activations := j.activations * unit.Bytes(batch)
	return scale.Fit(g, j.curves,
		estimate.Part{Name: "weights", Bytes: j.weights},
		estimate.Part{Name: "text_encoder", Bytes: j.textEncoder},
		estimate.Part{Name: "vae", Bytes: j.vae},
		estimate.Part{Name: "activations", Bytes: activations},
		scale.Slack(j.curves, activations),
		scale.Runtime(j.curves))
}

// fits is memory without the parts.
func (j *job) fits(g estimate.Group, batch int) bool {
	usable, ok := j.curves.Usable(g)
	activations := j.activations * unit.Bytes(batch)
	used := j.weights + j.textEncoder + j.vae + activations + scale.Slack(j.curves, activations).Bytes + scale.Runtime(j.curves).Bytes
	return ok && used <= usable
}

// seconds is the time of a batch on one accelerator.
func (j *job) seconds(g estimate.Group, r rates, batch int) Seconds {
	g.PerNode, g.Nodes = 1, 1
	s := j.set
	s.Batch = batch
	t, _ := j.net.batch(j.curves, g, r, s) // one accelerator has no link that could be unknown
	return t
}
