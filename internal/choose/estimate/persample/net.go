// Package persample estimates networks whose work is a fixed amount a sample: image classifiers and detectors, speech
// recognisers, BERT-like encoders, recommenders and graph networks; their inference in bulk, under a latency bound and one
// sample at a time, and their training.
//
// A sample takes the sum of three times: its arithmetic at the dense peak, its memory traffic at the bandwidth, and its
// energy at the board's power; a batch adds the kernels that run one after the other. How far networks stay from that is
// data (data/efficiency/persample.yaml), and what measurements say beyond it a calibration. Invariants as in package
// estimate. Imported by choose/plan and choose/accuracy.
package persample

import (
	"cmp"
	"math"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/model"
)

type constants struct {
	AsOf       string            `yaml:"as_of"`
	Intensity  float64           `yaml:"intensity"`  // 8-bit operations a byte of memory traffic
	Picojoules float64           `yaml:"picojoules"` // of an 8-bit operation
	Source     string            `yaml:"source"`
	Inference  assumptions       `yaml:"inference"`
	Training   trainingConstants `yaml:"training"`
}

// assumptions is what networks and kinds of networks reach where no measurement tells.
type assumptions struct {
	Kinds    map[string]Figures `yaml:"kinds"`
	Networks map[string]Figures `yaml:"networks"`
}

// Figures is what a network, or a kind of network, reaches.
type Figures struct {
	estimate.Reached `yaml:",inline"`
	Most             float64 `yaml:"most"`     // samples that engines batch
	Exchange         float64 `yaml:"exchange"` // bytes of embeddings a sample of training, there and back
	Kept             float64 `yaml:"kept"`     // activations kept for the backward pass over the traffic of the forward pass
}

var embedded = estimate.Embedded[constants]("efficiency/persample.yaml")

// Net is a network with what one sample of it takes.
type Net struct {
	*model.Model
	Kind string  // convolution, transformer, recurrent, transcriber, recommender, graph, generator
	FLOP float64 // a sample
}

// Handles says that a network has a fixed cost a sample, in training as well.
func Handles(m *model.Model) bool {
	switch m.Class {
	case model.Vision, model.Speech, model.Recommender, model.Graph, model.Encoder:
		return true
	}
	return false
}

// Of is a network with samples of so many tokens, which only text encoders have. It is false where the arithmetic of a
// sample is not known.
func Of(m *model.Model, tokens int) (*Net, bool) {
	n := &Net{Model: m, Kind: kind(m), FLOP: float64(m.PerSample.Or(0))}
	if m.Class == model.Encoder {
		n.FLOP = float64(m.SequenceFLOPs(tokens))
	}
	return n, n.FLOP > 0
}

// Reached is what the network reaches: each figure as measurements of itself tell, else as is assumed of it, else as networks of
// its kind reach, else as is assumed of those. Groups and source are those of the level.
func (n *Net) Reached(c *estimate.Curves, target estimate.Target) Figures {
	assumed := &embedded().Inference
	if target == estimate.SampleTraining {
		assumed = &embedded().Training.assumptions
	}
	var fitted estimate.Calibration
	if k := c.Calibrations[target]; k != nil {
		fitted = *k
	}
	out := Figures{Reached: fitted.Networks[n.Name]}
	out.or(assumed.Networks[n.Name])
	if target == estimate.Vision && n.Kind == "transformer" && n.Layers > 0 {
		out.Kernels = cmp.Or(out.Kernels, kernelsPerLayer*float64(n.Layers))
	}
	like := fitted.Kinds[n.Kind]
	like.Groups = 0 // none of its own
	out.or(Figures{Reached: like})
	out.or(assumed.Kinds[n.Kind])
	return out
}

// or fills in what is not known.
func (f *Figures) or(other Figures) {
	if f.Level == 0 {
		f.Level, f.N, f.Groups, f.Source = other.Level, other.N, other.Groups, other.Source
	}
	f.Kernels, f.Alone = cmp.Or(f.Kernels, other.Kernels), cmp.Or(f.Alone, other.Alone)
	f.Most, f.Exchange, f.Kept = cmp.Or(f.Most, other.Most), cmp.Or(f.Exchange, other.Exchange), cmp.Or(f.Kept, other.Kept)
}

// A fused transformer layer is seven kernels.
const kernelsPerLayer = 7

func kind(m *model.Model) string {
	switch m.Class {
	case model.Speech:
		return "recurrent"
	case model.Recommender:
		return "recommender"
	case model.Graph:
		return "graph"
	case model.Generator:
		return "generator"
	case model.EncoderDecoder:
		return "transcriber"
	case model.Vision:
		if m.Layers == 0 {
			return "convolution"
		}
	}
	return "transformer"
}

// parts is the seconds of one sample in a large batch by what bounds them, and the fixed seconds of a batch.
type parts struct {
	compute, memory, power float64
	fixed                  float64
	alone                  float64 // samples that fill the accelerator
	peak                   float64 // FLOPS
}

func (p parts) sample() float64 { return p.compute + p.memory + p.power }

// batch is the seconds of a batch of b.
func (p parts) batch(b float64) float64 { return p.fixed + math.Max(b, p.alone)*p.sample() }

// width is the bytes of a number in the multiplies.
func width(p accelerator.Precision) float64 {
	switch p {
	case accelerator.FP64, accelerator.FP64Tensor:
		return 8
	case accelerator.FP32, accelerator.TF32:
		return 4
	case accelerator.BF16, accelerator.FP16:
		return 2
	case accelerator.FP4, accelerator.INT4:
		return 0.5
	}
	return 1
}

// parts works out the times on one accelerator of a group. Where the board's power is not known, arithmetic and memory bear
// what power would take.
func (n *Net) parts(c *estimate.Curves, g estimate.Group, p accelerator.Precision, f Figures) (parts, *estimate.Refusal) {
	k := embedded()
	peak, ok := g.Chip.Peak[p].Get()
	if !ok || peak <= 0 {
		return parts{}, &estimate.Refusal{Reason: estimate.NoRate}
	}
	bandwidth, ok := g.Chip.Bandwidth.Get()
	if !ok || bandwidth <= 0 {
		return parts{}, &estimate.Refusal{Reason: estimate.NoRate}
	}
	share := g.Fraction()
	work := n.FLOP / f.Level / share
	t := parts{
		compute: work / float64(peak), memory: work * width(p) / (k.Intensity * float64(bandwidth)),
		fixed: f.Kernels * c.Chip(g.Chip).OpSeconds(), alone: math.Max(1, f.Alone), peak: float64(peak) * share,
	}
	if watts, known := g.Chip.TDP.Get(); known && watts > 0 {
		t.power = work * width(p) * k.Picojoules * 1e-12 / float64(watts)
	} else {
		t.power = (t.compute + t.memory) / 4 // a fifth of the whole
	}
	return t, nil
}
