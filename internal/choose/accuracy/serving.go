package accuracy

import (
	"fmt"
	"strings"
	"sync"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/serve"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/model"
)

var servingColumns = []string{"model", "accelerator", "attention_dp", "moe_tp", "moe_ep", "ttft_ms", "tpot_ms", "serving_mode"}

// trial is a row of closed-loop serving.
type trial struct {
	serve.Trial
	mode    string
	chip    *accelerator.Accelerator
	assumed []string

	// The last run: both latencies of a row are of one.
	sync.Mutex
	under   *estimate.Curves
	latency serve.Latency
	refusal *estimate.Refusal
}

// run simulates the trial once for both of its latencies.
func (x *trial) run(c *estimate.Curves) (serve.Latency, *estimate.Refusal) {
	x.Lock()
	defer x.Unlock()
	if x.under != c {
		x.latency, x.refusal = x.Run(c)
		x.under = c
	}
	return x.latency, x.refusal
}

// servingRow reads a line of a closed-loop benchmark: mean time to the first token and for each further one, at so many clients.
// Lengths are drawn evenly from eight tenths of the nominal ones up, as the public benchmark's settings have it.
func servingRow(s *Set, r Row) {
	x, why, what := servingTrial(r)
	addLatencies(s, r, x, why, what, [2]string{"ttft_ms", "tpot_ms"})
}

// addLatencies adds the mean time to the first token and of each further one, in milliseconds in two columns.
func addLatencies(s *Set, r Row, x *trial, why Skip, what string, columns [2]string) {
	for i, t := range [...]struct {
		target   estimate.Target
		baseline func(*trial) float64
		of       func(serve.Latency) float64
	}{
		{estimate.TTFT, naiveTTFT, func(l serve.Latency) float64 { return l.TTFT }},
		{estimate.TPOT, naiveTPOT, func(l serve.Latency) float64 { return l.TPOT }},
	} {
		measured := r.Num(columns[i]) / 1000
		switch {
		case why != "":
			s.skip(r, t.target, why, what)
			continue
		case !(measured > 0):
			s.skip(r, t.target, NoFigure, columns[i])
			continue
		}
		k := &Case{
			Target: t.target, Tags: x.Tags(estimate.EmbeddedCurves(), x.Group, x.mode), Model: r.Text("model"), Source: publication(r.Text("source")),
			Label: servingLabel(x, r), File: r.file, Line: r.line, Measured: measured, Baseline: t.baseline(x), Assumed: x.assumed,
		}
		tags := k.Tags
		k.Predict = func(c *estimate.Curves) (Prediction, Skip) {
			l, refusal := x.run(c)
			if refusal != nil {
				return Prediction{}, refusedAs(refusal)
			}
			return Corrected(c, t.target, tags, t.of(l)), ""
		}
		s.Cases = append(s.Cases, k)
	}
}

func servingLabel(x *trial, r Row) string {
	p := x.Spread
	return measuredOn(p.Accelerators()*max(1, x.Count), x.chip.Name, r.Text("model"), string(x.Format.Name), r.Text("engine"),
		fmt.Sprintf("tp %d dp %d ep %d, %d in %d out, %d at once, %s", p.TP, p.DP, p.EP, x.In, x.Out, x.Clients, x.mode))
}

// servingTrial reads what was run; why says what is missing.
func servingTrial(r Row) (x *trial, why Skip, what string) {
	if strings.Contains(r.Text("notes"), "SUSPECT") {
		return nil, Suspect, r.Text("model")
	}
	m, err := model.Embedded().Get(r.Text("model"))
	if err != nil || m.Class != model.Decoder {
		return nil, NoModel, r.Text("model")
	}
	chip := device(r.Text("accelerator"))
	if chip == nil {
		return nil, NoChip, r.Text("accelerator")
	}
	x = &trial{chip: chip, mode: serve.Mode(r.Num("isl"), r.Num("osl"))}
	x.Trial = serve.Trial{In: r.Int("isl"), Out: r.Int("osl"), Least: 0.8, Clients: r.Int("concurrency_or_batch")}
	if x.In == 0 || x.Out == 0 || x.Clients == 0 {
		return nil, NoSize, "isl, osl, concurrency"
	}
	setup, why := servingFormat(x, m, r)
	if why != "" {
		return nil, why, r.Text("precision")
	}
	x.Setup = setup
	if why = spreadOf(x, r); why != "" {
		return nil, why, fmt.Sprintf("workers %s, tp %s, attention dp %s, moe tp %s ep %s", r.Text("decode_workers"), r.Text("tp"), r.Text("attention_dp"), r.Text("moe_tp"), r.Text("moe_ep"))
	}
	return x, "", ""
}

// servingFormat is what the weights and the cache are stored in.
func servingFormat(x *trial, m *model.Model, r Row) (s serve.Setup, why Skip) {
	s = serve.Setup{Model: m, Engine: engineOf(r.Text("engine")), KVBits: 8}
	text := r.Text("precision")
	switch {
	case text == "":
		text = "bf16"
		x.assumed = append(x.assumed, "bf16 weights")
	case m.NativeFormat == "mxfp4" && (text == "fp4" || text == "fp8"):
		text = "mxfp4" // the only one it was published in; fp8 is then the activations'
	}
	f, err := model.LookupFormat(text)
	if err != nil {
		return s, NoFormat
	}
	s.Format = f
	s.Block = r.Text("moe_quant") == "fp8_block" || f.Name == "fp8" && m.Family == "deepseek"
	if f.Bits >= 16 {
		s.KVBits = 16
	}
	x.assumed = append(x.assumed, fmt.Sprintf("%g-bit cache", s.KVBits))
	return s, ""
}

// engineOf is the engine family of a name with its version; empty where it is not stated.
func engineOf(text string) string {
	text = strings.ToLower(text)
	for _, e := range [...]struct{ in, family string }{
		{"trtllm", "tensorrt-llm"}, {"tensorrt", "tensorrt-llm"}, {"vllm", "vllm"}, {"sglang", "sglang"}, {"llama.cpp", "llama.cpp"}, {"neuron", "neuron"},
	} {
		if strings.Contains(text, e.in) {
			return e.family
		}
	}
	return ""
}

// spreadOf reads the layout. Where a row counts tensor and expert ranks twice (tp 64 of experts 8 x 8, which is eight accelerators
// with eight ranks each way; attention of 4 x 4 with 16 expert ranks on four), the same ranks are meant.
func spreadOf(x *trial, r Row) Skip {
	tp, dp, cut, ep := max(1, r.Int("tp")), max(1, r.Int("attention_dp")), max(1, r.Int("moe_tp")), max(1, r.Int("moe_ep"))
	switch {
	case cut > 1 && cut == ep && tp*dp == cut*ep && dp == 1:
		tp, cut = ep, 1
	case cut > 1 && cut == ep && tp*dp == cut*ep && tp == 1:
		dp, cut = ep, 1
	case tp > 1 && tp == dp && ep == tp*dp:
		dp, ep = 1, tp
	}
	x.Count = 1
	if r.Text("serving_mode") == "disaggregated" {
		return apartOf(x, r, cut, ep)
	}
	stated := r.Text("moe_tp") != "" && r.Text("moe_ep") != "" && x.Model.MoE != nil
	if stated && cut*ep != tp*dp {
		return NoSize
	}
	x.Spread = serve.Spread{TP: tp, DP: dp, EP: ep}
	if x.Model.MoE == nil {
		x.Spread.EP = 1
	}
	if !x.Spread.Valid(x.Model) {
		return Refused
	}
	x.Group = groupOf(x.chip, x.Spread.Accelerators(), "")
	return ""
}

// apartOf reads the layout of a deployment with workers apart for prompts.
func apartOf(x *trial, r Row, cut, ep int) Skip {
	x.mode = serve.Disaggregated
	pool := func(of string) (p serve.Pool) {
		p.Setup = x.Setup
		tp, dp := max(1, r.Int(of+"_tp")), max(1, r.Int(of+"_attention_dp"))
		p.Spread = serve.Spread{TP: tp, DP: dp, EP: 1}
		p.Count = max(1, r.Int(of+"_workers"))
		return p
	}
	x.Pool = pool("decode")
	if x.Model.MoE != nil && x.Spread.Stage()%ep == 0 {
		x.Spread.EP = ep
	}
	p := pool("prefill")
	// How prefill splits its experts is not stated. Rates of prompts fit whole experts on ranks for the 4-bit checkpoints, slices else.
	if ep > 1 && x.Format.Bits < 7 && p.Spread.DP > 1 && x.Model.MoE != nil {
		p.Spread.EP = p.Spread.Stage()
		x.assumed = append(x.assumed, "whole experts on prefill ranks")
	}
	x.Prefill = &p
	if !x.Spread.Valid(x.Model) || !p.Spread.Valid(x.Model) {
		return Refused
	}
	if r.Text("decode_workers") == "" || r.Text("prefill_workers") == "" {
		return NoSize // how many engines share the clients
	}
	n := x.Spread.Accelerators()
	x.Group = groupOf(x.chip, max(n, p.Spread.Accelerators()), "")
	return ""
}

// naiveTPOT is the roofline at 60 per cent: weights and caches over the bandwidth of all ranks, or arithmetic at the dense peak.
func naiveTPOT(x *trial) float64 {
	n, ranks := float64(x.Clients)/float64(max(1, x.Count)), float64(x.Spread.Stage())
	m := x.Model
	_, peak, ok := x.chip.Best(x.Format.Compute...)
	bw, known := x.chip.Bandwidth.Get()
	if !ok || !known {
		return 0
	}
	read := float64(m.WeightBytesTouched(x.Format, n)) + n*m.KVBytes(x.In+x.Out/2, x.KVBits)
	return max(read/float64(bw), 2*n*m.MatmulParams()/float64(peak)) / ranks / naiveShare
}

// naiveTTFT is one prompt's arithmetic at 60 per cent of the dense peak of the ranks that work on it.
func naiveTTFT(x *trial) float64 {
	_, peak, ok := x.chip.Best(x.Format.Compute...)
	if !ok {
		return 0
	}
	ranks := x.Spread.Stage()
	if x.Prefill != nil {
		ranks = x.Prefill.Spread.Stage()
	}
	return 2 * x.Model.MatmulParams() * float64(x.In) / (float64(peak) * float64(ranks) * naiveShare)
}

// naiveShare is what the naive baseline takes a chip to reach of its peaks.
const naiveShare = 0.6

// ttftRecipe and tpotRecipe take the constants of engines as curves.yaml states them, in round values near the best of searches on all
// rows: a search from there does no better for TPOT on groups left out, and worse for TTFT. What is left over splits by engine, architecture and kind of load; finer terms, of structures and
// precisions, follow single networks and do worse on groups left out, too.
var (
	ttftRecipe = recipe{attributes: []string{"framework", "arch", "mode"}}
	tpotRecipe = recipe{attributes: []string{"framework", "arch", "mode"}}
)
