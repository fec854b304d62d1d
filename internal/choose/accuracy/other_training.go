package accuracy

import (
	"strings"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/persample"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// otherTrainingColumns tell a table of training in samples a second.
var otherTrainingColumns = []string{"samples_per_s", "global_batch", "system"}

var otherTrainingRecipe = recipe{networks: true, alike: true, attributes: []string{"chip", "arch", "vendor", "model", "structure", "mode", "model+arch", "model+mode", "framework"}}

// contest is a network of MLPerf Training by the benchmark's rules.
type contest struct {
	model  string
	tokens int     // mean length of a sample
	part   float64 // of the arithmetic of our reference sample; 0 is all
	passes float64 // samples the run takes at the least; 0 is not known
	eight  bool    // runs at 8 bit where the chip can
}

var trainedNetworks = map[string]contest{
	"BERT-Large": {model: "bert-large", tokens: 250, eight: true}, // Wikipedia, sequences of up to 512 without padding
	// Two passes over 1,170,301 images of OpenImages are less than any run needs.
	"RetinaNet":           {model: "retinanet", passes: 2 * 1170301},
	"Stable-Diffusion-v2": {model: "stable-diffusion-2.1-base"},
	// Images of 256 x 256: 256 image and 256 text tokens in place of 4096 and 256.
	"FLUX.1-schnell": {model: "flux.1-schnell", part: 512.0 / 4352},
	"R-GAT":          {model: "r-gat"},
	"DLRM-DCNv2":     {model: "dlrm-v2"},
}

// otherTrainingRow reads a result of MLPerf Training. All submitters of a round with the same accelerator are one publication, as
// for inference: most ran NVIDIA's code on the same boards.
func otherTrainingRow(s *Set, r Row) {
	skip := func(why Skip, what string) { s.skip(r, estimate.Training, why, what) }
	rules, ok := trainedNetworks[r.Text("model")]
	if !ok {
		skip(NotModelled, r.Text("model"))
		return
	}
	m, err := model.Embedded().Get(rules.model)
	chip := device(r.Text("accelerator"))
	count, batch, rate := r.Int("accelerator_count"), r.Num("global_batch"), r.Num("samples_per_s")
	switch {
	case strings.Contains(r.Text("notes"), "SUSPECT"):
		skip(Suspect, r.Text("model"))
		return
	case err != nil:
		skip(NoModel, r.Text("model"))
		return
	case chip == nil:
		skip(NoChip, r.Text("accelerator"))
		return
	case count < 1 || batch < 1:
		skip(NoSize, "accelerator_count, global_batch")
		return
	case !(rate > 0):
		skip(NoFigure, r.Text("model"))
		return
	}
	net, ok := persample.Of(m, rules.tokens)
	if !ok {
		skip(NotModelled, r.Text("model"))
		return
	}
	if rules.part > 0 {
		net.FLOP *= rules.part
	}
	g, assumed := cluster(chip, count, r.Int("nodes"))
	// A rate that would not have come half through the data in the time that the run took is one process's.
	if t := r.Num("time_to_train_s"); t > 0 && rate*t < rules.passes {
		rate *= float64(count)
		assumed = append(assumed, "samples_per_s is of one accelerator")
	}
	x := persample.Run{Precision: rules.precision(chip), Batch: batch}
	round, _, _ := strings.Cut(strings.TrimPrefix(r.Text("source"), "mlcommons/training_results_"), " ")
	s.Cases = append(s.Cases, &Case{
		Target: estimate.Training, By: estimate.SampleTraining, Tags: net.TrainingTags(g, x), Model: r.Text("model"),
		Source: "MLPerf Training " + round, Label: measuredOn(count, chip.Name, r.Text("model"), "batch "+r.Text("global_batch")),
		File: r.file, Line: r.line, Measured: rate, Baseline: float64(count) * naiveSamples(net, chip, x), Assumed: assumed,
		Predict: func(c *estimate.Curves) (Prediction, Skip) {
			v, refusal := net.StepOn(c, g, x)
			if refusal != nil {
				return Prediction{}, refusedAs(refusal)
			}
			return Prediction{Value: v.PerSecond, Low: v.PerSecond * v.Low, High: v.PerSecond * v.High, Like: v.Like}, ""
		},
	})
}

// precision is 16 bit, or FP8 where the benchmark's code uses it and the chip has it.
func (t contest) precision(chip *accelerator.Accelerator) accelerator.Precision {
	want := []accelerator.Precision{accelerator.BF16, accelerator.FP16}
	if t.eight {
		want = append([]accelerator.Precision{accelerator.FP8}, want...)
	}
	p, _, _ := chip.Best(want...)
	return p
}

// cluster is machines as MLPerf's submitters build them, since a row does not say how they are linked: 400 Gb/s InfiniBand an
// accelerator, except for cards, which share 200. Up to 72 of a GB200 or GB300 form one domain of NVLink.
func cluster(chip *accelerator.Accelerator, count, nodes int) (g estimate.Group, assumed []string) {
	g = estimate.Group{Chip: chip, Share: 1, PerNode: count, Nodes: 1, Topology: catalog.NVSwitch, Network: catalog.InfiniBand}
	nodes = max(1, nodes)
	if strings.HasPrefix(chip.Name, "GB") {
		nodes = (count + 71) / 72
	}
	if nodes > 1 {
		g.Nodes, g.PerNode = nodes, max(1, count/nodes)
		g.NetworkGbps = unit.Some(400 * float64(g.PerNode))
		assumed = append(assumed, "network")
	}
	if chip.FormFactor == "PCIe" {
		g.Topology = catalog.PCIeOnly
		g.NetworkGbps = unit.Some(200.0)
	}
	if g.PerNode == 1 {
		g.Topology = catalog.Single
	}
	return g, assumed
}

// naiveSamples is 40 per cent of the dense peak, forward and backward.
func naiveSamples(n *persample.Net, chip *accelerator.Accelerator, x persample.Run) float64 {
	peak, ok := chip.Peak[x.Precision].Get()
	if !ok {
		return 0
	}
	return 0.4 * float64(peak) / (3 * n.FLOP)
}
