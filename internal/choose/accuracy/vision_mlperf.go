package accuracy

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/persample"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// mlperf is a scenario of MLPerf Inference: its round and how samples come.
var mlperf = regexp.MustCompile(`^mlperf-v([0-9.]+)-(offline|server|singlestream)$`)

// benchmark is a network of MLPerf Inference by the benchmark's rules (mlcommons/inference_policies).
type benchmark struct {
	model  string
	old    string // the network of rounds before 2.0, where it was another
	tokens int    // mean length of a sample
	items  float64
	bound  float64 // seconds, server scenario
	wide   bool    // the 99.9 per cent target is met at 16 bit
	half   bool    // runs at 16 bit in any case
}

var benchmarks = map[string]benchmark{
	"ResNet-50":     {model: "resnet-50", bound: 0.015},
	"SSD-ResNet34":  {model: "ssd-resnet34", bound: 0.1},
	"SSD-MobileNet": {model: "ssd-mobilenet"},
	"RetinaNet":     {model: "retinanet", bound: 0.1},
	"3D-UNet":       {model: "3d-unet-kits19", old: "3d-unet-brats"}, // KiTS19 replaced BraTS in v2.0
	// SQuAD 1.1 with padding removed: 180 tokens a question and passage.
	"BERT-Large": {model: "bert-large", tokens: 180, bound: 0.13, wide: true},
	"RNN-T":      {model: "rnn-t", bound: 1, half: true},
	// A query asks for 100 to 700 items of a user, 270 on average.
	"DLRM":             {model: "dlrm", items: 270, bound: 0.03},
	"DLRMv2":           {model: "dlrm-v2", items: 270, bound: 0.06, wide: true},
	"Whisper-large-v3": {model: "whisper-large-v3", half: true},
	"R-GAT":            {model: "r-gat", half: true},
}

// tensorRT is the release that nearly all closed submissions of a round on NVIDIA's chips used.
var tensorRT = map[string]string{
	"0.5": "TensorRT 6", "0.7": "TensorRT 7.2", "1.0": "TensorRT 8.0", "1.1": "TensorRT 8.0", "2.0": "TensorRT 8.4", "2.1": "TensorRT 8.4",
	"3.0": "TensorRT 8.6", "3.1": "TensorRT 9", "4.0": "TensorRT 9", "4.1": "TensorRT 10", "5.0": "TensorRT 10", "5.1": "TensorRT 10",
}

var modes = map[string]persample.Mode{"offline": persample.Bulk, "server": persample.Served, "singlestream": persample.Single}

// instances is how a system's name, or the notes, count slices: 28x1g.10gb, 1 MIG instance(s).
var instances = regexp.MustCompile(`(\d+)(?:x\d+g\.| MIG instance)`)

// mlperfRow reads a result of MLPerf Inference. All submitters of a round with the same accelerator are one publication: most
// run the same code on the same board, and one of them tells the others.
func mlperfRow(r Row, round, scenario string) (x *benched, why Skip, what string) {
	b, ok := benchmarks[r.Text("model")]
	if !ok {
		return nil, NotModelled, r.Text("model")
	}
	name := b.model
	if b.old != "" && round < "2" {
		name = b.old
	}
	m, err := model.Embedded().Get(name)
	if err != nil {
		return nil, NoModel, r.Text("model")
	}
	net, ok := persample.Of(m, b.tokens)
	if !ok {
		return nil, NotModelled, r.Text("model")
	}
	x = &benched{net: net, items: max(1, b.items), source: "MLPerf Inference v" + round}
	chip, share := part(r.Text("accelerator"))
	if chip == nil {
		return nil, NoChip, r.Text("accelerator")
	}
	count := r.Int("accelerator_count")
	if share < 1 {
		if n := instances.FindStringSubmatch(r.Text("source") + " " + r.Text("notes")); n != nil {
			count, _ = strconv.Atoi(n[1])
		}
	}
	x.measured = r.Num("requests_per_s")
	if scenario == "singlestream" {
		count = 1 // one sample at a time occupies one accelerator
		if ms := r.Num("latency_ms_p50"); ms > 0 {
			x.measured = 1000 / ms
		}
	}
	switch {
	case count < 1:
		return nil, NoSize, "accelerator_count"
	case !(x.measured > 0):
		return nil, NoFigure, r.Text("model")
	}
	x.set, x.assumed = b.setting(r, round, scenario, chip)
	x.g = estimate.Group{Chip: powered(chip, r.Text("notes")+" "+r.Text("accelerator")), Share: share, PerNode: count, Nodes: 1}
	return x, "", ""
}

// setting is how a benchmark runs a network. The precision of a row is that of the whole submission; the network's own follows
// from the rules and the chip: 8 bit where the accuracy target allows it, and FP8 for the higher target where there is any.
func (b benchmark) setting(r Row, round, scenario string, chip *accelerator.Accelerator) (s persample.Setting, assumed []string) {
	s = persample.Setting{Mode: modes[scenario], Bound: b.bound, Limited: strings.Contains(r.Text("notes"), "MaxQ")}
	if chip.Vendor == "NVIDIA" {
		s.Framework = tensorRT[round]
	}
	want := []accelerator.Precision{accelerator.INT8, accelerator.FP8, accelerator.BF16}
	high := strings.Contains(r.Text("notes"), "99.9%")
	switch {
	case b.half:
		want = []accelerator.Precision{accelerator.FP16, accelerator.BF16}
	case b.wide && high && r.Text("model") == "BERT-Large" && chip.Arch != "Ada":
		want = []accelerator.Precision{accelerator.FP8, accelerator.FP16, accelerator.BF16}
	case b.wide && high:
		want = []accelerator.Precision{accelerator.FP16, accelerator.BF16}
	}
	p, _, _ := chip.Best(want...)
	s.Precision = p
	if !strings.EqualFold(r.Text("precision"), p.String()) {
		assumed = append(assumed, "precision")
	}
	return s, assumed
}
