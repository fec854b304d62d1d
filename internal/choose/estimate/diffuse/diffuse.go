// Package diffuse estimates image generation by diffusion: so many denoiser passes, a text encoder and a decoder an
// image, in batches as large as memory and the work allow. Accelerators work on images of their own.
//
// Invariants: weights, text encoder, VAE and the activations of a batch fit one accelerator; the chip's rate in a
// precision that the format can be multiplied at is known; constants are data. Pure. Imported by the caller that
// picks a Job by kind of work.
package diffuse

import (
	"slices"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/scale"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// kind names the interval of this work in the curves.
const kind = "diffuse"

// maxBatch is past where batching still gains anything: a pass over a few images fills any chip.
const maxBatch = 64

// worthwhile is the gain in speed that a doubled batch must bring for the latency and memory it costs.
const worthwhile = 1.01

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
	cost
	format model.FormatInfo
	notes  []estimate.Note
	source string
}

// New prepares an image generation.
func New(w *workload.Workload, c *estimate.Curves) (estimate.Job, error) {
	d, m := w.Diffuse, w.Model
	if d == nil || m == nil || m.Diffusion == nil || d.Images <= 0 || d.Width <= 0 || d.Height <= 0 || d.Steps <= 0 {
		return nil, problem.New(problem.Internal, "estimate.not_this_kind", problem.Args{"Kind": kind})
	}
	perPass, ok := m.PerSample.Get()
	if !ok || perPass <= 0 {
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
	j := &job{curves: c, images: d.Images, format: info}
	j.cost, j.source = price(m, d, float64(perPass), info)
	if ref := m.Diffusion; d.Width != ref.RefWidth || d.Height != ref.RefHeight {
		j.notes = append(j.notes, estimate.Note{Code: noteSize, Args: map[string]any{
			"Width": d.Width, "Height": d.Height, "RefWidth": ref.RefWidth, "RefHeight": ref.RefHeight}})
	}
	if usual := m.Diffusion.Steps; d.Steps != usual && usual > 0 {
		j.notes = append(j.notes, estimate.Note{Code: noteSteps, Args: map[string]any{"Steps": d.Steps, "Usual": usual}})
	}
	return j, nil
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
	r, refusal := j.rates(g)
	if refusal != nil {
		return estimate.Estimate{Memory: memory}, refusal, 1
	}
	active := min(float64(g.Accelerators()), max(1, j.images)) // an accelerator without an image idles
	batch, looked := 1, 1
	best := j.seconds(r, 1)
	for b := 2; b <= maxBatch && float64(b) <= j.images/active && j.fits(g, b); b *= 2 {
		t := j.seconds(r, b)
		looked++
		if best.total()/float64(batch) < worthwhile*t.total()/float64(b) {
			break
		}
		batch, best = b, t
	}
	if batch > 1 {
		memory, _ = j.memory(g, batch)
	}
	each := float64(batch) / best.total()
	e := estimate.Estimate{
		Layout: estimate.Layout{Replicas: g.Accelerators(), Batch: batch}, Memory: memory,
		Bottleneck: estimate.Shares{Compute: best.compute, Memory: best.memory, Overhead: best.overhead}.Fractions(),
		Precision:  r.precision, MFU: each * j.denoise / r.peak, Notes: j.notes,
		Speed: estimate.Speed{
			Value: each * active, Unit: "images/s", Basis: estimate.Predicted, Source: j.source, Like: r.like,
		},
	}
	e.Load = e.Bottleneck.Power()
	scale.Finish(&e, j.curves.Interval(kind, r.like), j.images, 1)
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

// rates is what one accelerator of a group brings to this job.
type rates struct {
	precision accelerator.Precision
	peak      float64 // FLOP/s, dense
	reached   float64 // FLOP/s in a denoiser pass
	bandwidth float64 // bytes/s reached
	like      estimate.Likeness
}

func (j *job) rates(g estimate.Group) (rates, *estimate.Refusal) {
	var r rates
	// An unknown rate among the format's precisions outranks a missing one: the work might run at it.
	refusal := &estimate.Refusal{Reason: estimate.NoPrecision}
	for _, p := range j.format.Compute {
		peak, no := scale.Peak(g, p)
		if no == nil {
			r.precision, r.peak, refusal = p, peak, nil
			break
		}
		if no.Reason == estimate.NoRate {
			refusal = no
		}
	}
	if refusal != nil {
		return r, refusal
	}
	bw, refusal := scale.Bandwidth(g)
	if refusal != nil {
		return r, refusal
	}
	chip := j.curves.Chip(g.Chip)
	r.reached, r.bandwidth, r.like = r.peak*chip.Share(r.precision)*j.kernelShare, bw*chip.Bandwidth, chip.Like
	if half := &embedded().HalfAccumulate; j.unet && r.precision == accelerator.FP16 && slices.Contains(half.Chips, g.Chip.Name) {
		r.reached *= half.Factor
	}
	return r, nil
}
