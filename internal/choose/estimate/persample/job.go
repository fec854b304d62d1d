package persample

import (
	"math"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/scale"
	"github.com/rackrate/rackrate/internal/choose/estimate/serve"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// job is a workload over samples prepared for estimating.
type job struct {
	w      *workload.Workload
	c      *estimate.Curves
	net    *Net
	format model.FormatInfo
	live   float64 // share of a sample's memory traffic in the forward pass that is held at once
}

// Does says that a workload is one of samples: inference of a network with a fixed cost, or training all of its weights.
func Does(w *workload.Workload) bool {
	switch w.Kind {
	case workload.Serve, workload.BatchInfer:
		return w.Model != nil && (Handles(w.Model) || w.Model.Transcribes())
	case workload.Train, workload.Finetune:
		adapters := w.Method == workload.LoRA || w.Method == workload.QLoRA
		return w.Model != nil && Handles(w.Model) && !adapters && !pinned(w.Layout)
	}
	return false
}

// pinned says that a layout is cut in other ways than over samples, or recomputes: what only the training of transformers knows.
func pinned(l workload.LayoutPin) bool {
	return l.TP > 1 || l.PP > 1 || l.CP > 1 || l.EP > 1 || l.DP > 0 || l.MicroBatch > 0 || l.Virtual > 1 || l.ZeRO > 0 || l.Recompute != ""
}

// New prepares a service, a batch of requests or a training run over samples.
func New(w *workload.Workload, c *estimate.Curves) (estimate.Job, error) {
	tokens := w.Sequence
	switch w.Kind {
	case workload.Serve:
		tokens = w.Traffic.InputTokens
	case workload.BatchInfer:
		tokens = w.Batch.InputTokens
	}
	net, ok := Of(w.Model, tokens)
	if !ok {
		return nil, problem.New(problem.Input, "persample.no_arithmetic", problem.Args{"Model": w.Model.Name})
	}
	f, err := model.LookupFormat(string(w.Format))
	if err != nil {
		return nil, err
	}
	j := job{w: w, c: c, net: net, format: f, live: math.Min(1, liveLayers/net.Reached(c, estimate.Vision).Kernels)}
	if w.Kind == workload.Train || w.Kind == workload.Finetune {
		j.live = net.Reached(c, estimate.SampleTraining).Kept
		return &training{j}, nil
	}
	return &inference{j}, nil
}

func (j *job) part(name string, v float64) estimate.Part {
	return estimate.Part{Name: name, Bytes: unit.Bytes(v)}
}

// traffic is the bytes of memory that one sample's forward pass moves.
func (j *job) traffic(p accelerator.Precision) float64 {
	return j.net.FLOP * width(p) / embedded().Intensity
}

// speed is a rate with its interval and what it rests on.
func (j *job) speed(v float64, k estimate.Correction, from string) estimate.Speed {
	return k.Speed(v, "samples/s", from)
}

// inference is requests in bulk or a service.
type inference struct{ job }

func (j *inference) Service() bool     { return j.w.Kind == workload.Serve }
func (j *inference) Independent() bool { return true }

// FLOP is the arithmetic of the whole job.
func (j *inference) FLOP() unit.FLOP {
	if j.Service() {
		t := j.w.Traffic
		return unit.FLOP(j.net.FLOP * t.RequestsPerSecond * serve.MeanLoad(t) * j.w.Duration.Seconds())
	}
	return unit.FLOP(j.net.FLOP * j.w.Batch.Requests)
}

// precision is the first of the format's precisions that the chip is known to have.
func (j *inference) precision(a *accelerator.Accelerator) (accelerator.Precision, *estimate.Refusal) {
	p, _, ok := a.Best(j.format.Compute...)
	if !ok {
		return 0, &estimate.Refusal{Reason: estimate.NoPrecision}
	}
	return p, nil
}

// memory is one accelerator's with a batch in flight: weights, of which a recommender's tables are spread over the machine, the
// widest few layers' activations, and what a network that transcribes keeps of the speech and the longest transcript.
func (j *inference) memory(g estimate.Group, p accelerator.Precision, batch float64) (estimate.Memory, *estimate.Refusal) {
	weights := float64(j.net.WeightBytes(j.format))
	if j.net.Class == model.Recommender {
		weights /= float64(g.PerNode)
	}
	activations := batch * j.traffic(p) * j.live
	parts := []estimate.Part{
		j.part("weights", weights), j.part("activations", activations), scale.Slack(j.c, unit.Bytes(activations)), scale.Runtime(j.c),
	}
	if j.net.Transcribes() {
		parts = append(parts, j.part("kv_cache", batch*j.net.KVBytes(j.net.MaxContext, 16)))
	}
	return scale.Fit(g, j.c, parts...)
}

// liveLayers is how many layers' inputs and outputs are held at once.
const liveLayers = 4

// Best sizes the batch of one accelerator, and for a service how many of them the traffic needs.
func (j *inference) Best(g estimate.Group) (estimate.Estimate, *estimate.Refusal, int) {
	p, refusal := j.precision(g.Chip)
	if refusal == nil && pinned(j.w.Layout) { // each accelerator is a replica, and as many as the work asks for
		refusal = &estimate.Refusal{Reason: estimate.NoLayout}
	}
	if refusal != nil {
		return estimate.Estimate{}, refusal, 1
	}
	s := Setting{Mode: Bulk, Precision: p}
	if j.Service() {
		s.Mode, s.Bound = Served, j.w.SLO.E2Ep99.Seconds()
		return j.fleet(g, s)
	}
	return j.batch(g, s)
}

// batch works requests off. The batch is the smallest that reaches nearly the best rate, or what memory and the requests leave.
func (j *inference) batch(g estimate.Group, s Setting) (estimate.Estimate, *estimate.Refusal, int) {
	r, refusal := j.net.Rate(j.c, g, s)
	if refusal != nil {
		return estimate.Estimate{}, refusal, 1
	}
	requests := j.w.Batch.Requests
	count := float64(g.Accelerators())
	working := math.Min(count, math.Max(1, math.Ceil(requests)))
	busiest := math.Ceil(math.Max(1, requests/working))
	b, looked := 1.0, 1
	memory, refusal := j.memory(g, s.Precision, b)
	if refusal != nil {
		return estimate.Estimate{Memory: memory}, refusal, looked
	}
	for r.reach(b) < worthwhile && b < math.Min(r.Batch, busiest) {
		next := math.Min(2*b, math.Min(r.Batch, busiest))
		more, bad := j.memory(g, s.Precision, next)
		looked++
		if bad != nil {
			break
		}
		b, memory = next, more
	}
	// The busiest accelerator ends last.
	seconds := busiest * count / r.PerSecond / math.Min(1, r.reach(b)/worthwhile)
	e := j.report(g, r, s, b, requests/seconds)
	e.Memory = memory
	e.Layout.Replicas = g.Accelerators()
	e.Work = requests
	e.Hours, e.LowHours, e.HighHours = unit.FromSeconds(seconds), unit.FromSeconds(seconds/r.High), unit.FromSeconds(seconds/r.Low)
	return e, nil, looked
}

// report fills in what a batch and a service have in common.
func (j *inference) report(g estimate.Group, r Rate, s Setting, batch, rate float64) estimate.Estimate {
	each := rate / float64(g.Accelerators())
	e := estimate.Estimate{
		Layout: estimate.Layout{Batch: int(batch)}, Precision: s.Precision, Speed: j.speed(rate, r.Correction, r.From),
		MFU: each * j.net.FLOP / r.peak,
		Bottleneck: estimate.Shares{
			Compute: batch * (r.compute + r.power), Memory: batch * r.memory, Overhead: r.fixed,
		}.Fractions(),
	}
	e.Load = e.Bottleneck.Power()
	return e
}
