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
	AsOf       string             `yaml:"as_of"`
	Intensity  float64            `yaml:"intensity"`  // 8-bit operations a byte of memory traffic
	Picojoules float64            `yaml:"picojoules"` // of an 8-bit operation
	Source     string             `yaml:"source"`
	Kinds      map[string]figures `yaml:"kinds"`
	Networks   map[string]figures `yaml:"networks"`
	Tail       float64            `yaml:"tail"`
	Spread     float64            `yaml:"spread"`
	Training   trainingConstants  `yaml:"training"`
}

// figures is what a network, or a kind of network, reaches.
type figures struct {
	Level   float64 `yaml:"level"`   // of the speed that arithmetic, memory and power allow
	Kernels float64 `yaml:"kernels"` // that run one after the other
	Alone   float64 `yaml:"alone"`   // samples that fill the chip
	Most    float64 `yaml:"most"`    // samples that engines batch
	N       int     `yaml:"n"`
	From    string  `yaml:"source"`
}

var embedded = estimate.Embedded[constants]("efficiency/persample.yaml")

// Net is a network with what one sample of it takes.
type Net struct {
	*model.Model
	Kind string  // convolution, transformer, recurrent, recommender, graph
	FLOP float64 // a sample
	figures
}

// Handles says that a network has a fixed cost a sample.
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
	known, ok := embedded().Networks[m.Name]
	if !ok {
		known = embedded().Kinds[n.Kind]
	}
	n.figures = known
	if n.Kernels == 0 {
		n.Kernels = kernelsPerLayer * float64(cmp.Or(m.Layers, usualLayers))
	}
	n.Most = cmp.Or(n.Most, embedded().Kinds[n.Kind].Most)
	return n, n.FLOP > 0
}

// A fused transformer layer is seven kernels; twelve layers are the usual base size.
const kernelsPerLayer, usualLayers = 7, 12

func kind(m *model.Model) string {
	switch m.Class {
	case model.Speech:
		return "recurrent"
	case model.Recommender:
		return "recommender"
	case model.Graph:
		return "graph"
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
	peak                   float64 // FLOPS
}

func (p parts) sample() float64 { return p.compute + p.memory + p.power }

// batch is the seconds of a batch of b.
func (p parts) batch(b, alone float64) float64 { return p.fixed + math.Max(b, alone)*p.sample() }

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
func (n *Net) parts(c *estimate.Curves, g estimate.Group, p accelerator.Precision) (parts, *estimate.Refusal) {
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
	work := n.FLOP / n.Level / share
	t := parts{
		compute: work / float64(peak), memory: work * width(p) / (k.Intensity * float64(bandwidth)),
		fixed: n.Kernels * c.Chip(g.Chip).OpSeconds(), peak: float64(peak) * share,
	}
	if watts, known := g.Chip.TDP.Get(); known && watts > 0 {
		t.power = work * width(p) * k.Picojoules * 1e-12 / float64(watts)
	} else {
		t.power = (t.compute + t.memory) / 4 // a fifth of the whole
	}
	return t, nil
}
