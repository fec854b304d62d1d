package accuracy

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/serve"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// inferenceRow reads a row of inference results: token rates and latencies of language models, samples of everything else.
func inferenceRow(s *Set, r Row) {
	m, err := model.Embedded().Get(r.Text("model"))
	tokens := r.Text("output_tokens_per_s") != "" || r.Text("tokens_per_s_total") != ""
	latency := r.Text("ttft_ms_mean") != "" || r.Text("ttft_ms_p50") != ""
	switch {
	case err != nil && tokens:
		s.skip(r, estimate.Offline, NoModel, r.Text("model"))
	case draws(r):
		diffusionOther(s, r)
	case err != nil || m.Class != model.Decoder:
		visionRow(s, r)
	case strings.HasPrefix(r.Text("scenario"), "online-qps") || r.Text("scenario") == "first-token-latency" && latency:
		onlineRow(s, r, m)
	default:
		offlineRow(s, r, m)
	}
}

// The kinds of bulk measurement, as tags.
const (
	submission  = "submission"  // MLPerf offline
	server      = "server"      // MLPerf under its limits on latency
	interactive = "interactive" // MLPerf under its tight ones
	staticBatch = "static"
	oneStream   = "single" // one sequence at a time
	promptOnly  = "prompt" // tokens of prompts
)

// bulk is a row of offline inference.
type bulk struct {
	serve.Bulk
	mode    string
	perUnit float64 // of the measured unit in a request: tokens of its answer, or of its prompt
	try     []serve.Spread
	assumed []string
}

func offlineRow(s *Set, r Row, m *model.Model) {
	x, why, what := bulkOf(r, m)
	if why != "" {
		s.skip(r, estimate.Offline, why, what)
		return
	}
	measured := cmp.Or(r.Num("output_tokens_per_s"), r.Num("tokens_per_s_total"))
	if x.mode == promptOnly {
		measured = r.Num("tokens_per_s_total")
	}
	if !(measured > 0) {
		s.skip(r, estimate.Offline, NoFigure, r.Text("scenario"))
		return
	}
	tags := x.Tags(estimate.EmbeddedCurves(), x.Group, x.mode)
	k := &Case{
		Target: estimate.Offline, Tags: tags, Model: r.Text("model"), Source: bulkSource(r), File: r.file, Line: r.line, Measured: measured,
		Label: measuredOn(x.Group.Accelerators(), x.Group.Chip.Name, r.Text("model"), string(x.Format.Name), r.Text("engine"),
			fmt.Sprintf("%s, %g in %g out", r.Text("scenario"), x.In, x.Out)),
		Baseline: naiveBulk(x), Assumed: x.assumed,
	}
	k.Predict = func(c *estimate.Curves) (Prediction, Skip) {
		rate, refusal := x.best(c)
		if refusal != nil {
			return Prediction{}, refusedAs(refusal)
		}
		return Corrected(c, estimate.Offline, tags, rate*x.perUnit), ""
	}
	s.Cases = append(s.Cases, k)
}

// best is the rate of the fastest layout of those that the row leaves open.
func (x *bulk) best(c *estimate.Curves) (best float64, refusal *estimate.Refusal) {
	for _, spread := range x.try {
		b := x.Bulk
		b.Spread = spread
		b.Replicas = max(1, x.Group.Accelerators()/spread.Accelerators())
		if x.Batch > 0 {
			b.Replicas = 1
		}
		rate, bad := b.Rate(c)
		if bad != nil {
			refusal = cmp.Or(refusal, bad)
			continue
		}
		best = max(best, rate)
	}
	if best > 0 {
		return best, nil
	}
	return 0, cmp.Or(refusal, &estimate.Refusal{Reason: estimate.NoLayout})
}

// bulkOf reads what was run; why says what is missing.
func bulkOf(r Row, m *model.Model) (x *bulk, why Skip, what string) {
	scenario := r.Text("scenario")
	switch {
	case strings.Contains(r.Text("notes"), "SUSPECT"):
		return nil, Suspect, r.Text("model")
	case strings.HasPrefix(r.Text("engine"), "LitGPT"):
		return nil, NotModelled, r.Text("engine")
	}
	chip := bulkChip(r.Text("accelerator"))
	count := r.Int("accelerator_count")
	switch {
	case chip == nil:
		return nil, NoChip, r.Text("accelerator")
	case count == 0:
		return nil, NoSize, "accelerator_count"
	}
	x = &bulk{Bulk: serve.Bulk{In: r.Num("isl"), Out: r.Num("osl"), Group: groupOf(chip, count, r.Text("notes"))}}
	x.Setup = serve.Setup{Model: m, Engine: engineOf(r.Text("engine")), KVBits: 16}
	format, ok := bulkFormat(r, m, chip, &x.assumed)
	if !ok {
		return nil, NoFormat, r.Text("precision")
	}
	x.Format = format
	x.Block = format.Name == "fp8" && m.Family == "deepseek"
	if format.Bits <= 8 && !format.WeightOnly && !strings.Contains(r.Text("notes"), "kv cache fp16") {
		x.KVBits = 8
	}
	if why, what = x.load(r, scenario); why != "" {
		return nil, why, what
	}
	x.layouts(r, count)
	return x, "", ""
}

// bulkChip finds the accelerator of a row, which may be one under a hypervisor (in brackets). The published tables of the RTX PRO
// 6000 are of its Server Edition.
func bulkChip(text string) *accelerator.Accelerator {
	name, _, _ := strings.Cut(text, "(")
	if name == "RTX-PRO-6000-Blackwell" {
		name += "-Server"
	}
	return device(name)
}

// load reads the lengths and how many run at once.
func (x *bulk) load(r Row, scenario string) (why Skip, what string) {
	x.perUnit = x.Out
	switch {
	case scenario == "llama-bench-decode":
		// Single tokens from an empty context.
		x.mode, x.In, x.Batch, x.perUnit = oneStream, 1, 1, x.Out
	case scenario == "llama-bench-prefill":
		x.mode, x.Out, x.Batch, x.perUnit = promptOnly, 1, 1, x.In
	case strings.HasPrefix(scenario, "static-batch"):
		x.mode, x.Batch = staticBatch, r.Int("concurrency_or_batch")
	case strings.HasPrefix(scenario, "mlperf"):
		return x.mlperf(r, scenario)
	default:
		x.mode, x.Requests = serve.Saturated, benchRequests(x.In, x.Out)
	}
	if x.In == 0 || x.Out == 0 || x.mode == staticBatch && x.Batch == 0 {
		return NoSize, "isl, osl, batch"
	}
	return "", ""
}

// benchRequests is how many requests trtllm-bench was given for its tables, by their lengths, as the document lists them.
func benchRequests(in, out float64) float64 {
	switch {
	case in+out <= 256:
		return 30000
	case in+out >= 20000:
		return 1000
	case in+out >= 4000:
		return 1500
	}
	return 3000
}

// layouts lists what the row leaves open: pipelines of whole layers in llama.cpp, tensor parallel as stated, else any that the
// accelerators allow; and of experts, whole ones on ranks and attention apart where the row allows it or states it.
func (x *bulk) layouts(r Row, count int) {
	m := x.Model
	tp, pp := r.Int("tp"), max(1, r.Int("pp"))
	switch x.Engine {
	case "llama.cpp":
		x.try = []serve.Spread{{TP: 1, PP: min(count, m.Layers)}}
		return
	case "neuron": // counts cores, two a chip, and pads heads
		x.try = []serve.Spread{{TP: count}}
		return
	}
	notes := r.Text("notes")
	if apart := apartMode.FindStringSubmatch(notes); apart != nil {
		n := count / pp
		if stated, err := strconv.Atoi(apart[1]); err == nil {
			n = stated
		}
		x.try = []serve.Spread{{TP: 1, DP: n, PP: pp, EP: n}}
		return
	}
	widths := []int{tp}
	if tp == 0 {
		widths = widths[:0]
		for t := 1; t*pp <= count && t <= x.Group.PerNode; t *= 2 {
			widths = append(widths, t)
		}
		x.assumed = append(x.assumed, "fastest layout")
	}
	for _, t := range widths {
		spreads := []serve.Spread{{TP: t, PP: pp}}
		if tp == 0 || strings.Contains(notes, "expert parallel / attention DP possible") {
			spreads = append(spreads, serve.Spread{TP: t, PP: pp, EP: t}, serve.Spread{TP: 1, DP: t, PP: pp, EP: t})
		}
		for _, s := range spreads {
			if s.Valid(m) && (t > 1 || s.EP == 0) {
				x.try = append(x.try, s)
			}
		}
	}
}

// apartMode finds "mode DEP", attention data-parallel and experts whole, with its width where that is stated.
var apartMode = regexp.MustCompile(`mode DEP([0-9]*)`)

// bulkFormat reads the precision. MLPerf v4.1 prints that of the outputs for NVIDIA's own code, which runs at 8 bits on Hopper and Ada
// and 4 on Blackwell.
func bulkFormat(r Row, m *model.Model, chip *accelerator.Accelerator, assumed *[]string) (model.FormatInfo, bool) {
	text, _, _ := strings.Cut(r.Text("precision"), " ")
	switch {
	case strings.EqualFold(text, "uint4"):
		text = "int4"
	case m.NativeFormat == "mxfp4":
		text = "mxfp4"
	case strings.HasPrefix(r.Text("scenario"), "mlperf-v4") && text == "fp16" && chip.Vendor == "NVIDIA":
		if _, _, ok := chip.Best(accelerator.FP8); ok {
			text = "fp8"
		}
		if _, _, ok := chip.Best(accelerator.FP4); ok {
			text = "nvfp4"
		}
		*assumed = append(*assumed, text+" weights")
	}
	f, err := model.LookupFormat(text)
	return f, err == nil
}

// bulkSource is the publication: submitters of a round of MLPerf run the same code, so the round is one source.
func bulkSource(r Row) string {
	if round, _, ok := strings.Cut(r.Text("scenario"), "-offline"); ok && strings.HasPrefix(round, "mlperf") {
		return round
	}
	if rest, ok := strings.CutPrefix(r.Text("scenario"), "mlperf-v"); ok {
		return "mlperf-v" + rest[:min(3, len(rest))]
	}
	return publication(r.Text("source"))
}

// benchmark is what MLPerf Inference asks: the mean tokens of a prompt and an answer in its data set, sequences a request (beams), and
// the limits on the time of a further token of its server and interactive scenarios, in seconds. Source: mlcommons/inference
// rules and data set notes; answers as rows state them.
type benchmarkTokens struct {
	in, out, beams      float64
	server, interactive float64
}

var mlperfTokens = map[string]benchmarkTokens{
	"llama-2-70b":    {294, 294, 1, 0.2, 0.04},
	"mixtral-8x7b":   {300, 146, 1, 0.2, 0},
	"gpt-j-6b":       {870, 69, 4, 0, 0},
	"llama-3.1-8b":   {778, 128, 1, 0.1, 0.03},
	"llama-3.1-405b": {9428, 684, 1, 0.175, 0.08},
	"deepseek-v3":    {800, 3880, 1, 0.08, 0},
}

// limitShare is the mean time of a further token over the 99th percentile that MLPerf limits.
const limitShare = 0.85

// mlperf sets the load of a scenario of MLPerf. Each beam of a search is a sequence with its part of the prompt.
func (x *bulk) mlperf(r Row, scenario string) (why Skip, what string) {
	b, ok := mlperfTokens[x.Model.Name]
	if !ok {
		return NotModelled, x.Model.Name + " in MLPerf"
	}
	out := cmp.Or(x.Out, b.out)
	x.In, x.Out, x.perUnit = b.in/b.beams, out, out/b.beams
	x.assumed = append(x.assumed, strconv.FormatFloat(b.in, 'g', -1, 64)+" tokens a prompt")
	switch {
	case strings.HasSuffix(scenario, "offline"):
		x.mode = submission
	case strings.HasSuffix(scenario, "server"):
		x.mode, x.TPOT = server, b.server*limitShare
	case strings.HasSuffix(scenario, "interactive"):
		x.mode, x.TPOT = interactive, b.interactive*limitShare
	default:
		return NotModelled, scenario
	}
	return "", ""
}

// naiveBulk is the roofline at 60 per cent: all accelerators together, with as many sequences as the memory beside the weights holds.
func naiveBulk(x *bulk) float64 {
	g, m := x.Group, x.Model
	n := float64(g.Accelerators())
	_, peak, ok := g.Chip.Best(x.Format.Compute...)
	bw, known := g.Chip.Bandwidth.Get()
	mem, sized := g.Memory()
	if !ok || !known || !sized {
		return 0
	}
	weights := float64(m.WeightBytes(x.Format))
	each := m.KVBytes(int(x.In+x.Out), x.KVBits)
	batch := max(1, (n*float64(mem)-weights)/each)
	if x.Batch > 0 {
		batch = float64(x.Batch)
	}
	compute := 2 * m.MatmulParams() * (x.In + x.Out) / float64(peak)
	memory := x.Out * (float64(m.WeightBytesTouched(x.Format, batch))/batch + each) / float64(bw)
	return naiveShare * n * x.perUnit / max(compute, memory)
}

var offlineRecipe = recipe{
	params:     []string{"serve.llamacpp.layer_us", "serve.llamacpp.kernel_share", "serve.llamacpp.busy_share", "serve.neuron.layer_us", "serve.neuron.kernel_share"},
	attributes: []string{"framework", "arch", "vendor", "structure", "precision", "mode", "framework+arch", "mode+structure", "mode+precision", "mode+arch", "precision+arch", "structure+precision", "structure+arch", "mode+model"},
}
