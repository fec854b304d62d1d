// Package serve estimates inference of token models: what a replica holds, how many sequences its key/value
// budget carries, how fast an engine step is, and how many replicas a service or a batch of requests needs.
//
// First form: mean step times of continuous batching in closed form with fixed tails, not yet a simulation. An
// engine never runs more sequences than its key/value budget holds at their full length. Invariants as in package
// estimate. Imported by choose/plan.
package serve

import (
	"math"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// maxSequences is the most sequences an engine batches, the usual engines' own limit.
const maxSequences = 1024

// prefillChunk is the most prompt tokens an engine works on at once (chunked prefill), which bounds its workspace.
const prefillChunk = 8192

// job is an inference workload prepared for estimating.
type job struct {
	w       *workload.Workload
	c       *estimate.Curves
	m       *model.Model
	format  model.FormatInfo
	kvBits  float64
	in, out float64
	service bool

	weights   float64 // bytes of all weights at the format
	edges     float64 // bytes of them in embedding and head
	edge      float64 // bytes of the larger of the two, which one end of a pipeline holds
	dense     float64 // bytes that every step reads
	routed    float64 // bytes of all routed experts
	decode    work    // one generated token at the mean context
	prefill   work    // one prompt
	workspace float64
}

// work is FLOPs in matrix multiplies at the format's precision and in attention, which has a rate of its own.
type work struct{ matmul, core float64 }

func (w work) total() float64 { return w.matmul + w.core }

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
	j := &job{w: w, c: c, m: m, format: f, kvBits: 16, service: w.Kind == workload.Serve}
	if w.KVFormat != "" {
		kv, err := model.LookupFormat(string(w.KVFormat))
		if err != nil {
			return nil, err
		}
		j.kvBits = kv.Bits
	}
	if j.service {
		j.in, j.out = float64(w.Traffic.InputTokens), float64(w.Traffic.OutputTokens)
	} else {
		j.in, j.out = float64(w.Batch.InputTokens), float64(w.Batch.OutputTokens)
	}
	j.prepare()
	return j, nil
}

// full is the tokens of a sequence at its end, and mean in the middle of its decoding.
func (j *job) full() int { return int(j.in + j.out) }
func (j *job) mean() int { return int(j.in + j.out/2) }

func (j *job) prepare() {
	m := j.m
	j.weights = float64(m.WeightBytes(j.format))
	j.routed = float64(m.Params.Routed) * j.format.Bits / 8
	j.dense = float64(m.WeightBytesTouched(j.format, 0))
	bytes := j.format.Bits / 8
	if j.format.KeepsHead {
		bytes = math.Max(2, bytes)
	}
	j.edges = float64(m.Params.Embedding+m.Params.Head) * bytes
	j.edge = math.Max(float64(m.Params.Embedding), m.HeadParams()) * bytes
	// Decoding meets a latent cache itself, without widening it.
	j.decode = work{2 * m.MatmulParams(), float64(m.DecodeAttentionFLOPs(float64(j.mean())))}
	body := 2 * (m.MatmulParams() - m.HeadParams()) * j.in
	core := math.Max(0, float64(m.SequenceFLOPs(int(j.in)))-2*m.MatmulParams()*j.in)
	// Only the last token of a prompt needs the head.
	j.prefill = work{body + 2*m.HeadParams(), core}
	if m.Class == model.EncoderDecoder {
		j.prefill.matmul += float64(m.PerSample.Or(0)) // the encoder's one pass over what it listens to
	}
	j.workspace = j.live()
}

// live is the widest live tensors of a prefill chunk at 16 bit: hidden states in and out beside the widest of the
// feed-forward's gate and up, the experts' dispatched tokens and the heads; and the logits of the sequences that sample.
// Latent attention widens the keys and values of the whole prompt, not of the chunk alone.
func (j *job) live() float64 {
	m := j.m
	chunk := math.Min(prefillChunk, math.Max(j.in, 256))
	widest := 2 * float64(m.FFN)
	if e := m.MoE; e != nil {
		widest = max(widest, float64(e.TopK)*float64(2*e.FFN+m.Hidden)+2*float64(e.Shared*e.SharedFFN))
	}
	past := 0.0
	for _, a := range m.Attention {
		q, kv := float64(a.Heads*(a.QKDim+a.VDim)), float64(a.KVHeads*(a.QKDim+a.VDim))
		widest = max(widest, q+kv)
		if a.Kind == model.LatentAttention {
			past = max(past, kv*math.Max(0, j.in-chunk))
		}
	}
	const sampling = 256 // sequences whose logits are live at once, at 32 bit
	return 2*(chunk*(4*float64(m.Hidden)+widest)+past) + sampling*4*float64(m.Vocab)
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

func (j *job) request() float64 { return j.prefill.total() + (j.out-1)*j.decode.total() }
