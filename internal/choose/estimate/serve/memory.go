package serve

import (
	"math"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
)

// holding is the memory of the fullest rank of a setup, in bytes.
type holding struct {
	usable    unit.Bytes
	weights   float64
	workspace float64
	runtime   float64
	free      float64 // for the cache
	sequence  float64 // cache of one sequence at its full length, on a rank that holds it
}

// holding works out what a rank holds; free may be less than a sequence, or negative. The refusal is of unknown memory.
func (s *Setup) holding(c *estimate.Curves, g estimate.Group, in, out float64) (h holding, bad *estimate.Refusal) {
	var ok bool
	if h.usable, ok = c.Usable(g); !ok {
		return h, &estimate.Refusal{Reason: estimate.NoMemoryFact}
	}
	_, engine := c.Serve.Engines.Of(s.Engine)
	m, x := s.Model, s.Spread.whole()
	h.weights = s.rankWeights(x)
	h.workspace = workspace(m, engine, in) / float64(x.TP)
	gib := c.Memory.RuntimeGiB
	if x.Accelerators() > 1 {
		gib += c.Memory.CommGiB
	}
	h.runtime = gib * float64(unit.GiB)
	layers := float64(m.Layers)
	h.sequence = m.KVRankBytes(int(in+out), s.KVBits, x.TP) * math.Ceil(layers/float64(x.PP)) / layers
	total := float64(h.usable)
	if !engine.OfFree {
		total *= engine.MemoryFraction
	}
	h.free = total - h.weights - h.workspace - h.runtime
	if engine.OfFree && h.free > 0 {
		h.free *= engine.MemoryFraction
	}
	return h, nil
}

// rankWeights is the bytes of weights of the fullest rank. Routed experts are spread over all ranks of a stage, the rest over
// tensor parallelism alone; one end of a pipeline holds the larger of embedding and head.
func (s *Setup) rankWeights(x Spread) float64 {
	m, f := s.Model, s.Format
	all, routed := float64(m.WeightBytes(f)), float64(m.Params.Routed)*f.Bits/8
	rest := all - routed
	if x.PP > 1 {
		bytes := f.Bits / 8
		if f.KeepsHead {
			bytes = max(2, bytes)
		}
		edges, edge := float64(m.Params.Embedding+m.Params.Head)*bytes, max(float64(m.Params.Embedding), m.HeadParams())*bytes
		stage := math.Ceil(float64(m.Layers)/float64(x.PP)) / float64(m.Layers)
		rest, routed = (rest-edges)*stage+edge, routed*stage
	}
	return rest/float64(x.TP) + routed/float64(x.Stage())
}

// short is what a rank lacks to hold one sequence; nil where it holds one.
func (h *holding) short() *estimate.Refusal {
	if h.free >= h.sequence {
		return nil
	}
	return &estimate.Refusal{Reason: estimate.NoMemory, Have: float64(h.usable), Want: float64(h.usable) + h.sequence - h.free}
}

// sequences is how many sequences of full length so many ranks that attend apart hold together.
func (h *holding) sequences(dp int) float64 {
	return math.Floor(h.free/max(1, h.sequence)) * float64(dp)
}

// parts lists the memory of a rank with so many sequences of its own.
func (h *holding) parts(n float64) estimate.Memory {
	b := func(name string, v float64) estimate.Part { return estimate.Part{Name: name, Bytes: unit.Bytes(v)} }
	return estimate.Collect(h.usable, b("weights", h.weights), b("kv_cache", n*h.sequence), b("workspace", h.workspace), b("runtime", h.runtime))
}
