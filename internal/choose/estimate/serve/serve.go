// Package serve estimates inference of token models: what a replica holds, how many sequences its key/value
// budget carries, how long an engine's step is, and how many replicas a service or a batch of requests needs.
//
// A step (Step) is the sum of measured kernels at the sizes of one rank, collectives, and what an engine family adds; a Setup
// with its Spread says which. It is a sim.Stepper, for simulations of continuous batching. An engine never runs more sequences
// than its key/value budget holds at their full length. Invariants as in package estimate. Imported by choose/plan and
// choose/accuracy.
package serve

import (
	"math"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// job is an inference workload prepared for estimating.
type job struct {
	w       *workload.Workload
	c       *estimate.Curves
	m       *model.Model
	setup   Setup // without its spread
	engine  *estimate.EngineCurve
	in, out float64
	service bool

	fleets fleets

	decode  float64 // FLOPs of one generated token at the mean context
	prefill float64 // and of one prompt
}

// New prepares a serving or batch-inference workload.
func New(w *workload.Workload, c *estimate.Curves) (estimate.Job, error) {
	m := w.Model
	if m.Class != model.Decoder && m.Class != model.EncoderDecoder {
		return nil, problem.New(problem.Input, "serve.not_generative", problem.Args{"Model": m.Name})
	}
	f, err := model.LookupFormat(string(w.Format))
	if err != nil {
		return nil, err
	}
	j := &job{w: w, c: c, m: m, service: w.Kind == workload.Serve}
	j.setup = Setup{Model: m, Format: f, KVBits: 16, Engine: w.Software.Framework}
	if j.setup.Engine == "" && gguf(f.Name) {
		j.setup.Engine = "llama.cpp"
	}
	_, j.engine = c.Serve.Engines.Of(j.setup.Engine)
	if w.KVFormat != "" {
		kv, err := model.LookupFormat(string(w.KVFormat))
		if err != nil {
			return nil, err
		}
		j.setup.KVBits = kv.Bits
	}
	if j.service {
		j.in, j.out = float64(w.Traffic.InputTokens), float64(w.Traffic.OutputTokens)
	} else {
		j.in, j.out = float64(w.Batch.InputTokens), float64(w.Batch.OutputTokens)
	}
	j.prepare()
	return j, nil
}

// gguf says that a format is one of llama.cpp's own: q4_k_m, q8_0 …
func gguf(f model.Format) bool { return len(f) > 1 && f[0] == 'q' && f[1] >= '2' && f[1] <= '8' }

// full is the tokens of a sequence at its end, and mean in the middle of its decoding.
func (j *job) full() int     { return int(j.in + j.out) }
func (j *job) mean() float64 { return math.Floor(j.in + j.out/2) }

func (j *job) lengths() lengths { return lengths{j.in, j.out} }

func (j *job) prepare() {
	m := j.m
	// Decoding meets a latent cache itself, without widening it.
	j.decode = 2*m.MatmulParams() + float64(m.DecodeAttentionFLOPs(j.mean()))
	// Only the last token of a prompt needs the head.
	j.prefill = 2*(m.MatmulParams()-m.HeadParams())*j.in + 2*m.HeadParams() + math.Max(0, float64(m.SequenceFLOPs(int(j.in)))-2*m.MatmulParams()*j.in)
}

// chunk is the most prompt tokens that an engine works on at once, which bounds its workspace; 0 is whole prompts.
func chunk(e *estimate.EngineCurve, in float64) float64 {
	if e.ChunkTokens == 0 {
		return math.Max(in, 256)
	}
	return math.Min(float64(e.ChunkTokens), math.Max(in, 256))
}

// workspace is the widest live tensors of a prefill chunk at 16 bit: hidden states in and out beside the widest of the
// feed-forward's gate and up, the experts' dispatched tokens and the heads; and the logits of the sequences that sample.
// Latent attention widens the keys and values of the whole prompt, not of the chunk alone.
func workspace(m *model.Model, e *estimate.EngineCurve, in float64) float64 {
	tokens := chunk(e, in)
	widest := 2 * float64(m.FFN)
	if e := m.MoE; e != nil {
		widest = max(widest, float64(e.TopK)*float64(2*e.FFN+m.Hidden)+2*float64(e.Shared*e.SharedFFN))
	}
	past := 0.0
	for _, a := range m.Attention {
		q, kv := float64(a.Heads*(a.QKDim+a.VDim)), float64(a.KVHeads*(a.QKDim+a.VDim))
		widest = max(widest, q+kv)
		if a.Kind == model.LatentAttention {
			past = max(past, kv*math.Max(0, in-tokens))
		}
	}
	const sampling = 256 // sequences whose logits are live at once, at 32 bit
	return 2*(tokens*(4*float64(m.Hidden)+widest)+past) + sampling*4*float64(m.Vocab)
}

func (j *job) Service() bool     { return j.service }
func (j *job) Independent() bool { return true }

// FLOP is the arithmetic of the whole job: every prompt and every generated token, the first of which the prompt gives.
func (j *job) FLOP() unit.FLOP {
	if j.service {
		t := j.w.Traffic
		return unit.FLOP(j.request() * MeanLoad(t) * t.RequestsPerSecond * j.w.Duration.Seconds())
	}
	return unit.FLOP(j.request() * j.w.Batch.Requests)
}

func (j *job) request() float64 { return j.prefill + (j.out-1)*j.decode }
