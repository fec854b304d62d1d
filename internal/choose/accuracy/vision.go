package accuracy

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/persample"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// visionColumns tell a table of inference results.
var visionColumns = []string{"output_tokens_per_s", "requests_per_s", "latency_ms_p50"}

// visionRecipe corrects networks, architectures and software. That a network or its software levels off differently is known from
// other accelerators: groups that are held out share it.
var visionRecipe = recipe{networks: true, alike: true, attributes: []string{
	"chip", "arch", "vendor", "model", "structure", "precision", "mode", "framework", "model+precision", "model+mode", "model+framework",
	"structure+arch", "model+arch", "mode+arch", "framework+arch", "precision+arch", "model+vendor",
}}

// benched is a row of vision, speech or other fixed-size inference as a network on a group.
type benched struct {
	net      *persample.Net
	g        estimate.Group
	set      persample.Setting
	items    float64 // of the network's own samples in one of the benchmark's
	measured float64
	source   string
	assumed  []string
}

// visionRow reads a row of inference that has no token rates.
func visionRow(s *Set, r Row) {
	if strings.Contains(r.Text("notes"), "SUSPECT") {
		s.skip(r, estimate.Vision, Suspect, r.Text("model"))
		return
	}
	var x *benched
	var why Skip
	var what string
	if m := mlperf.FindStringSubmatch(r.Text("scenario")); m != nil {
		x, why, what = mlperfRow(r, m[1], m[2])
	} else {
		x, why, what = neuronRow(r)
	}
	if why != "" {
		s.skip(r, estimate.Vision, why, what)
		return
	}
	k := &Case{
		Target: estimate.Vision, Tags: x.net.Tags(x.g, x.set), Model: r.Text("model"), Source: x.source, File: r.file, Line: r.line,
		Label:    measuredOn(x.g.Accelerators(), r.Text("accelerator"), r.Text("model"), r.Text("scenario"), x.set.Precision.String()),
		Measured: x.measured, Baseline: x.naive(), Assumed: x.assumed,
	}
	k.Predict = x.predict
	s.Cases = append(s.Cases, k)
}

func (x *benched) predict(c *estimate.Curves) (Prediction, Skip) {
	v, refusal := x.net.Rate(c, x.g, x.set)
	if refusal != nil {
		return Prediction{}, refusedAs(refusal)
	}
	rate := v.PerSecond / x.items
	return Prediction{Value: rate, Low: rate * v.Low, High: rate * v.High, Like: v.Like}, ""
}

// naive is what an A100 does in bulk by the ratio of FP32 rates.
func (x *benched) naive() float64 {
	ref, _ := accelerator.Embedded().Get("A100-SXM-80GB")
	theirs, _ := ref.Peak[accelerator.FP32].Get()
	mine, ok := x.g.Chip.Peak[accelerator.FP32].Get()
	v, refusal := x.net.Rate((&estimate.Curves{}), estimate.Group{Chip: ref, PerNode: 1, Nodes: 1}, persample.Setting{Precision: accelerator.FP16})
	if !ok || refusal != nil {
		return 0
	}
	return v.PerSecond / x.items * float64(mine/theirs) * x.g.Fraction() * float64(x.g.Accelerators())
}

// part finds the accelerator of a benchmark's name, which may be a slice of one (-MIG-1g.10gb) or one under a hypervisor or
// another power limit (in brackets), and the share of it.
func part(name string) (*accelerator.Accelerator, float64) {
	if i := strings.IndexByte(name, '('); i > 0 {
		name = name[:i]
	}
	base, profile, sliced := strings.Cut(name, "-MIG-")
	chip := device(base)
	if chip == nil || !sliced {
		return chip, 1
	}
	slices, err := strconv.Atoi(strings.SplitN(profile, "g.", 2)[0])
	if err != nil {
		return nil, 0
	}
	// NVIDIA's MIG guide: an A30 has four slices of a quarter; larger chips seven, which leave a tenth of the processors unused.
	if chip.Name == "A30" {
		return chip, float64(slices) / 4
	}
	return chip, float64(slices) / 7 * 0.9
}

var stated = regexp.MustCompile(`(\d{2,4}) ?W\b`)

// powered is a chip at the power limit that a row states.
func powered(chip *accelerator.Accelerator, text string) *accelerator.Accelerator {
	m := stated.FindStringSubmatch(text)
	if m == nil {
		return chip
	}
	watts, _ := strconv.ParseFloat(m[1], 64)
	usual, ok := chip.TDP.Get()
	if !ok || watts < float64(usual)/4 || watts > float64(usual)*2 {
		return chip
	}
	other := *chip
	other.TDP = unit.Some(unit.Watts(watts))
	return &other
}

// neuronRow reads AWS's own tables: so many samples a batch, all cores of a chip at work.
func neuronRow(r Row) (x *benched, why Skip, what string) {
	name := r.Text("model")
	if alias := neuronNames[name]; alias != "" {
		name = alias
	}
	m, err := model.Embedded().Get(name)
	if err != nil || !persample.Handles(m) {
		return nil, NoModel, r.Text("model")
	}
	x = &benched{items: 1, measured: r.Num("requests_per_s"), source: "aws-neuron/aws-neuron-sdk"}
	chip, share := part(r.Text("accelerator"))
	count := r.Int("accelerator_count")
	switch {
	case chip == nil:
		return nil, NoChip, r.Text("accelerator")
	case count < 1:
		return nil, NoSize, "accelerator_count"
	case !(x.measured > 0):
		return nil, NoFigure, r.Text("model")
	}
	cores := max(1, coresEach[chip.Name])
	x.g = estimate.Group{Chip: chip, Share: share / float64(cores), PerNode: count * cores, Nodes: 1}
	tokens := r.Int("isl")
	if tokens == 0 {
		tokens = neuronTokens
		x.assumed = append(x.assumed, "isl")
	}
	net, ok := persample.Of(m, tokens)
	if !ok {
		return nil, NotModelled, r.Text("model")
	}
	x.net = net
	x.set = persample.Setting{Mode: persample.Bulk, Framework: "Neuron", Cores: cores > 1}
	if r.Int("concurrency_or_batch") <= 1 {
		x.set.Mode = persample.Single
	}
	p, _, ok := chip.Best(accelerator.BF16, accelerator.FP16)
	if !ok {
		return nil, NoFormat, r.Text("precision")
	}
	x.set.Precision = p // the compiler casts matrix multiplies to bf16 unless it is told not to
	return x, "", ""
}

// coresEach is the cores of a chip, each of which runs a copy of the network (AWS Neuron documentation).
var coresEach = map[string]int{"Inferentia1": 4, "Inferentia2": 2, "Trainium1": 2, "Trainium2": 8}

// neuronTokens is the length that AWS's encoder tables use where they do not repeat it.
const neuronTokens = 128

// neuronNames maps names of AWS's tables onto those of our models.
var neuronNames = map[string]string{
	"albert-base-v2":                    "bert-base", // twelve passes through one layer of the same size
	"google/electra-base-discriminator": "electra-base", "BERT base": "bert-base", "BERT base (bert-base-cased)": "bert-base-cased",
	"DistilBERT base (distilbert-base-uncased-finetuned-sst-2-english)": "distilbert-base",
	"DistilBERT base (distilbert-base-uncased)":                         "distilbert-base",
	"YOLO v4": "yolov4",
}
