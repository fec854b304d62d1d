package accuracy

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/train"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// trainingColumns tell a table of training runs of language models.
var trainingColumns = []string{"model", "accelerator", "seq_len", "micro_batch", "global_batch"}

// run is a row of training as a workload on a group.
type run struct {
	w       *workload.Workload
	g       estimate.Group
	details train.Details
	tags    estimate.Tags
	count   int
	stated  bool // the row says how the run is cut
	assumed []string
}

// trainingParams are the constants of the estimator that runs speak to.
var trainingParams = []string{"train.kernel_share", "train.attention_share", "train.elementwise", "train.grouped", "train.host_us", "train.host_expert_us", "train.plain_attention", "train.step_us",
	"train.overlap_tensor", "train.overlap_data", "train.overlap_pipeline", "train.overlap_expert", "train.overlap_expert_far", "train.overlap_context"}

// trainingRecipe and memoryRecipe are how the calibrations of speed and peak memory are fitted. What the count of memory leaves over is no kind's
// own: terms by framework or method only repeat single publications, and make groups left out worse at the ends.
var (
	trainingRecipe = recipe{params: trainingParams, attributes: []string{"chip", "arch", "vendor", "structure", "framework", "precision", "mode", "framework+structure", "family"}}
	memoryRecipe   = recipe{}
)

// trainingRow turns a row into a case of throughput, one of peak memory, or both.
func trainingRow(s *Set, r Row) {
	target := estimate.Training
	if speedOf(r, 1, 1) == 0 && r.Text("peak_mem_gb") != "" {
		target = estimate.PeakMemory
	}
	x, why, what := trainingRun(r)
	if why != "" {
		s.skip(r, target, why, what)
		return
	}
	base := Case{
		Tags: x.tags, Model: r.Text("model"), Source: publication(r.Text("source")), File: r.file, Line: r.line, Assumed: x.assumed,
		Label: runLabel(x, r),
	}
	found := false
	if v := throughput(r, x); v > 0 {
		c := base
		c.Target, c.Measured, c.Baseline = estimate.Training, v, naiveRate(x)
		c.Predict = x.rate
		s.Cases, found = append(s.Cases, &c), true
	}
	if v := r.Num("peak_mem_gb"); v > 0 {
		c := base
		c.Target, c.Measured, c.Baseline = estimate.PeakMemory, v*1e9, naiveMemory(x)
		c.Predict = x.memory
		s.Cases, found = append(s.Cases, &c), true
	}
	if !found {
		s.skip(r, target, NoFigure, r.Text("model"))
	}
}

// trainingRun reads what ran on what; or says why it cannot be told.
func trainingRun(r Row) (x *run, why Skip, what string) {
	if strings.Contains(r.Text("notes"), "SUSPECT") {
		return nil, Suspect, r.Text("model")
	}
	x = &run{count: r.Int("accelerator_count")}
	chip, sure := chipOf(r.Text("accelerator"))
	switch {
	case chip == nil:
		return nil, NoChip, r.Text("accelerator")
	case x.count < 1:
		return nil, NoSize, "accelerator_count"
	case !sure:
		x.assume("accelerator")
	}
	f, ok := trainingFormat(r.Text("precision"))
	if !ok {
		return nil, NoFormat, r.Text("precision")
	}
	m := networkOf(r)
	if m == nil {
		return nil, NoModel, r.Text("model")
	}
	x.w = &workload.Workload{Kind: workload.Train, Model: m, Format: f.format, Method: workload.Full, Optimizer: workload.AdamW, Tokens: 1e9}
	x.w.Software.Framework = trainingFramework(r)
	x.details.Precision = f.tag
	customs(x, r, f, chip)
	fineTune(x, r, f)
	if !sizes(x, r) {
		return nil, NoSize, "seq_len, global_batch"
	}
	if x.w.Kind == workload.Train && twoPasses(x, r) {
		x.w.Kind, x.w.Method, x.w.LoRARank = workload.Finetune, workload.LoRA, 16
		x.assume("workload")
	}
	x.g = groupOf(chip, x.count, r.Text("notes"))
	layoutOf(x, r)
	x.details.Mode = modeOf(x)
	j, err := train.NewRun(x.w, estimate.EmbeddedCurves(), x.details)
	if err != nil {
		return nil, NotModelled, r.Text("model")
	}
	x.tags = j.Tags(x.g)
	return x, "", ""
}

func (x *run) assume(what string) { x.assumed = append(x.assumed, what) }

// rate predicts tokens per second.
func (x *run) rate(c *estimate.Curves) (Prediction, Skip) {
	e, why := x.estimate(c)
	return Prediction{Value: e.Speed.Value, Low: e.Speed.Low, High: e.Speed.High, Like: e.Speed.Like}, why
}

// memory predicts the bytes of the fullest accelerator.
func (x *run) memory(c *estimate.Curves) (Prediction, Skip) {
	counted := *x
	counted.details.Counted = countedIn(x.w.Software.Framework)
	e, why := counted.estimate(c)
	k, v := c.Correct(estimate.PeakMemory, x.tags), float64(e.Memory.Used)
	middle := v / c.MemoryMargin()
	return Prediction{Value: v, Low: middle * k.Low, High: max(v, middle*k.High), Like: k.Like}, why
}

func (x *run) estimate(c *estimate.Curves) (estimate.Estimate, Skip) {
	j, err := train.NewRun(x.w, c, x.details)
	if err != nil {
		return estimate.Estimate{}, NotModelled
	}
	e, refusal := j.At(x.g)
	if refusal != nil {
		return estimate.Estimate{}, Refused
	}
	return e, ""
}

// throughput is the tokens per second that a row measures, from whichever figure it gives: rates as they are, else a step time, samples
// or, at last, model FLOPS over the arithmetic of a token. FLOPS that count recomputation come with a rate in every table we know.
func throughput(r Row, x *run) float64 {
	if strings.HasPrefix(r.Text("notes"), "MEMORY ONLY") {
		return 0
	}
	if v := speedOf(r, float64(x.count), float64(x.w.Sequence)); v > 0 {
		return v
	}
	flops := r.Num("tflops_per_gpu") * 1e12
	if p, rate, ok := x.g.Chip.Best(accelerator.BF16); flops == 0 && ok && p == accelerator.BF16 {
		flops = r.Num("mfu") * float64(rate)
	}
	j, err := train.NewRun(x.w, estimate.EmbeddedCurves(), x.details)
	if err != nil || flops == 0 {
		return 0
	}
	return flops * float64(x.count) / j.ModelFLOP(strings.HasPrefix(r.Text("source"), "NVIDIA/NeMo ")) // its formula masks nothing
}

// twoPasses says that a row's own FLOPS and tokens leave no room for the gradients of the weights: they are frozen.
func twoPasses(x *run, r Row) bool {
	flops, tokens := r.Num("tflops_per_gpu")*1e12, r.Num("tokens_per_s_per_gpu")
	return flops > 0 && tokens > 0 && flops/tokens < 4.5*float64(x.w.Model.Params.Active) && flops/tokens > 3.5*float64(x.w.Model.Params.Active) && x.w.Model.MoE == nil
}

// speedOf is tokens per second from the figures that need no model.
func speedOf(r Row, count, sequence float64) float64 {
	step := r.Num("step_time_s")
	switch {
	case r.Num("tokens_per_s_total") > 0:
		return r.Num("tokens_per_s_total")
	case r.Num("tokens_per_s_per_gpu") > 0:
		return r.Num("tokens_per_s_per_gpu") * count
	case step > 0 && r.Num("global_batch") > 0:
		return r.Num("global_batch") * sequence / step
	}
	return r.Num("samples_per_s") * sequence
}

// naiveRate is 40 per cent of the dense peak over 6 N of the active parameters.
func naiveRate(x *run) float64 {
	f, err := model.LookupFormat(string(x.w.Format))
	if err != nil {
		return 0
	}
	_, peak, ok := x.g.Chip.Best(f.Compute[:1]...)
	if !ok {
		return 0
	}
	return 0.4 * float64(peak) * float64(x.count) / (6 * float64(x.w.Model.Params.Active))
}

// naiveMemory is weights, gradients and Adam's states at 16 bytes a parameter, 2 of frozen ones, spread over all.
func naiveMemory(x *run) float64 {
	n := 16.0
	if x.w.Method != workload.Full {
		n = 2
	}
	return n * float64(x.w.Model.Params.Total) / float64(x.count)
}

// publication is a source without its tables, sections, submitters and run names: what was published by the same people about the same
// software, near-duplicates among it (releases of Megatron-Bridge, submitters of one MLPerf round), is one source.
func publication(source string) string {
	first, _, _ := strings.Cut(source, " ")
	return strings.TrimSuffix(first, ";")
}

func runLabel(x *run, r Row) string {
	l := x.w.Layout
	text := fmt.Sprintf("%d x %s, %s %s", x.count, x.g.Chip.Name, r.Text("model"), r.Text("precision"))
	for _, part := range [...]struct {
		name string
		size int
	}{{"tp", l.TP}, {"pp", l.PP}, {"cp", l.CP}, {"ep", l.EP}, {"micro-batch", l.MicroBatch}, {"sequence", x.w.Sequence}, {"batch", x.w.GlobalBatch}} {
		if part.size > 0 {
			text += fmt.Sprintf(", %s %d", part.name, part.size)
		}
	}
	return text + ", " + cmp.Or(r.Text("framework"), "framework not stated")
}

var number = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)

// numberAfter is the first number that follows a text; 0 where there is none.
func numberAfter(s, after string) float64 {
	_, rest, ok := strings.Cut(s, after)
	if !ok {
		return 0
	}
	v, err := strconv.ParseFloat(number.FindString(rest), 64)
	if err != nil {
		return 0
	}
	return v
}
