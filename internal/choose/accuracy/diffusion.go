package accuracy

import (
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/diffuse"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

var diffusionColumns = []string{"model", "device", "count", "resolution", "steps", "batch", "precision", "engine", "s_per_image"}

// diffusionRecipe corrects engines, formats and ways of running; what is peculiar to a network or an architecture would not be known
// of the next one.
var diffusionRecipe = recipe{attributes: []string{"framework", "precision", "framework+precision", "mode"}}

// drawn is a row of image or video generation.
type drawn struct {
	net   *diffuse.Network
	chip  *accelerator.Accelerator
	set   diffuse.Setting
	count int
	// apart: each accelerator makes images of its own; step: the figure is of one denoising step.
	apart, step bool
	measured    float64
	source      string
	assumed     []string
}

// diffusionRow reads a line of image or video generation.
func diffusionRow(s *Set, r Row) {
	x, why, what := drawnRow(r)
	s.draw(r, x, why, what)
}

// draws says that a row of inference results is one of image generation.
func draws(r Row) bool {
	_, ok := diffuse.Find(r.Text("model"))
	return ok
}

// diffusionOther reads a line of image generation in a table of inference results: MLPerf's, or one of a vendor.
func diffusionOther(s *Set, r Row) {
	x, why, what := servedRow(r)
	s.draw(r, x, why, what)
}

func (s *Set) draw(r Row, x *drawn, why Skip, what string) {
	if why != "" {
		s.skip(r, estimate.Diffusion, why, what)
		return
	}
	g := x.group()
	k := &Case{
		Target: estimate.Diffusion, Tags: x.net.Tags(g, x.set), Model: r.Text("model"), Source: x.source, File: r.file, Line: r.line,
		Label:    measuredOn(x.count, x.chip.Name, r.Text("model"), x.size(), r.Text("engine"), x.set.Format, "batch "+strconv.Itoa(x.set.Batch)),
		Measured: x.measured, Baseline: x.naive(), Assumed: x.assumed,
	}
	k.Predict = x.predict
	s.Cases = append(s.Cases, k)
}

func (x *drawn) size() string {
	return strconv.Itoa(x.set.Width) + "x" + strconv.Itoa(x.set.Height) + " in " + strconv.Itoa(x.set.Steps)
}

// group is the accelerators that one image is made on.
func (x *drawn) group() estimate.Group {
	g := estimate.Group{Chip: x.chip, PerNode: x.count, Nodes: 1, Topology: catalog.PCIeOnly}
	if strings.HasPrefix(x.chip.FormFactor, "SXM") {
		g.Topology = catalog.NVSwitch
	}
	if x.apart {
		g.PerNode = 1
	}
	return g
}

func (x *drawn) predict(c *estimate.Curves) (Prediction, Skip) {
	g, of := x.group(), x.net.Batch
	if x.step {
		of = x.net.Step
	}
	t, refusal := of(c, g, x.set)
	if refusal != nil {
		return Prediction{}, refusedAs(refusal)
	}
	work := float64(x.set.Batch)
	if x.step {
		work = 1
	}
	if x.apart {
		work *= float64(x.count)
	}
	return ofSpeed(x.net.Corrected(c, g, x.set, work, t), 1), ""
}

// naive is an A100 at two fifths of its peak, by the ratio of FP32 rates.
func (x *drawn) naive() float64 {
	ref, _ := accelerator.Embedded().Get("A100-SXM-80GB")
	mine, ok := x.chip.Peak[accelerator.FP32].Get()
	if !ok {
		return 0
	}
	theirs, peak := ref.Peak[accelerator.FP32].Or(1), ref.Peak[accelerator.FP16].Or(0)
	work := x.net.StepFLOPs(x.set)
	if !x.step {
		work *= float64(x.set.Steps)
	}
	return 0.4 * float64(peak) / work * float64(mine/theirs) * float64(x.count)
}

// drawnRow reads a row of the diffusion layout.
func drawnRow(r Row) (x *drawn, why Skip, what string) {
	if strings.Contains(r.Text("notes"), "SUSPECT") {
		return nil, Suspect, r.Text("model")
	}
	if strings.Contains(r.Text("notes"), "offload") { // waits for the host's memory
		return nil, NotModelled, "offload"
	}
	x = &drawn{count: r.Int("count")}
	if x.net, why, what = denoiser(r.Text("model"), r.Text("resolution")); why != "" {
		return nil, why, what
	}
	if x.chip = generator(r.Text("device")); x.chip == nil {
		return nil, NoChip, r.Text("device")
	}
	// A page that states them elsewhere runs the model as it comes; a workflow file may say anything.
	stated := r.Text("resolution") != "" || r.Text("steps") != "" || strings.Contains(r.Text("notes"), "not restated")
	if !stated || x.count < 1 {
		return nil, NoSize, r.Text("model")
	}
	seconds := r.Num("s_per_image")
	switch {
	case seconds > 0:
		x.measured = 1 / seconds
	case r.Num("it_per_s") > 0:
		x.measured, x.step = r.Num("it_per_s"), true
	default:
		return nil, NoFigure, r.Text("model")
	}
	engine := r.Text("engine")
	x.set = diffuse.Setting{
		Steps: r.Int("steps"), Batch: r.Int("batch"), Frames: r.Int("frames"), Engine: drawingEngine(engine),
		GuidanceApart: strings.Contains(engine, "cfg") || strings.Contains(r.Text("notes"), "cfg2"),
	}
	if skipsSteps(engine) {
		x.set.Mode = "cached"
	}
	width, height, _ := strings.Cut(r.Text("resolution"), "x")
	x.set.Width, _ = strconv.Atoi(width)
	x.set.Height, _ = strconv.Atoi(height)
	x.set, x.assumed = x.net.Usual(x.set)
	format := r.Text("precision")
	if format == "" && (strings.Contains(engine, "int8") || strings.Contains(engine, "quantised")) {
		format = "int8"
	}
	arithmetic(&x.set, format)
	x.source, _, _ = strings.Cut(r.Text("source"), " ") // the repository: its pages repeat each other
	return x, "", ""
}

// servedRow reads image generation from a table of inference results. Submitters of MLPerf run one code on the same boards: a round
// is one publication.
func servedRow(r Row) (x *drawn, why Skip, what string) {
	x = &drawn{count: r.Int("accelerator_count"), apart: true, measured: r.Num("requests_per_s")}
	if x.net, why, what = denoiser(r.Text("model"), ""); why != "" {
		return nil, why, what
	}
	if x.chip = generator(r.Text("accelerator")); x.chip == nil {
		return nil, NoChip, r.Text("accelerator")
	}
	round, scenario, _ := strings.Cut(strings.TrimPrefix(r.Text("scenario"), "mlperf-"), "-")
	switch {
	case !(x.measured > 0):
		return nil, NoFigure, r.Text("model")
	case x.count < 1, !strings.HasPrefix(r.Text("scenario"), "mlperf-"): // others do not state size and steps
		return nil, NoSize, r.Text("model")
	}
	x.source = "MLPerf Inference " + round
	// The benchmark's rules: 1024 x 1024 in 20 steps, with guidance.
	x.set = diffuse.Setting{Width: 1024, Height: 1024, Steps: 20, Guidance: 2, Batch: 8, Engine: drawingEngine(r.Text("engine"))}
	x.set, x.assumed = x.net.Usual(x.set)
	x.assumed = append(x.assumed, "batch")
	if scenario == "server" {
		x.set.Mode = scenario
	}
	format := ""
	for _, p := range []string{"int8", "fp8"} {
		if strings.Contains(r.Text("precision"), p) {
			format = p
		}
	}
	arithmetic(&x.set, format)
	return x, "", ""
}

// denoiser finds a network by the name a benchmark prints. A Stable Diffusion 2 for 512 x 512 is a network of its own.
func denoiser(name, resolution string) (*diffuse.Network, Skip, string) {
	if name == "SD2.x" && resolution == "512x512" {
		name = "stable-diffusion-2.1-base"
	}
	net, ok := diffuse.Find(name)
	if !ok {
		return nil, NoModel, name
	}
	return net, "", ""
}

// generator finds the accelerator.
func generator(name string) *accelerator.Accelerator {
	name = diffuse.Renamed(name)
	if a, ok := accelerator.Embedded().Get(name); ok {
		return a
	}
	return device(name)
}

// drawingEngine is the kind of an engine by its name and options.
func drawingEngine(text string) diffuse.Engine {
	text = strings.ToLower(text)
	for _, name := range []string{"onediff", "oneflow", "stable-fast", "tensorrt", "aitemplate"} {
		if strings.Contains(text, name) {
			return diffuse.Fused
		}
	}
	for _, name := range []string{"compile", "maxdiffusion", "neuron"} {
		if strings.Contains(text, name) {
			return diffuse.Compiled
		}
	}
	if strings.Contains(text, "webui") {
		return diffuse.WebUI
	}
	return diffuse.Eager
}

// skipsSteps says that an engine reuses results of earlier steps.
func skipsSteps(engine string) bool {
	engine = strings.ReplaceAll(strings.ToLower(engine), "cache-dit", "")
	return strings.Contains(engine, "cache")
}

// arithmetic sets what a format multiplies at and what tells it from others. Formats of weights alone multiply at 16 bit.
func arithmetic(s *diffuse.Setting, format string) {
	wide := []accelerator.Precision{accelerator.FP16, accelerator.BF16}
	s.Compute, s.Bits, s.Format = wide, 16, diffuse.Wide
	switch {
	case format == "", format == "bf16", format == "fp16":
	case format == "fp8", strings.HasPrefix(format, "fp8dq"):
		s.Compute, s.Bits, s.Format = []accelerator.Precision{accelerator.FP8}, 8, diffuse.FP8
	case format == "int8", strings.HasPrefix(format, "int8dq"), format == "autoquant":
		s.Compute, s.Bits, s.Format = []accelerator.Precision{accelerator.INT8}, 8, diffuse.INT8
	case format == diffuse.INT4:
		s.Bits, s.Format = 4, format
	default:
		s.Bits, s.Format = 8, diffuse.Weights // fp8 and int8 of weights alone, 4 to 6 bits, sparse
	}
}
