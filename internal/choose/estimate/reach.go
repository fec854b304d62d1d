package estimate

import (
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

// Reach is what one accelerator of a group reaches of its peaks in the work of transformers.
type Reach struct {
	Curve     ChipCurve
	Usable    unit.Bytes // memory a process may allocate
	Precision accelerator.Precision
	Multiply  float64 // FLOPS in large matrix multiplies
	Attention float64 // FLOPS in fused attention
	Bandwidth float64 // bytes/s of memory in long reads
	Peak      float64 // dense peak for MFU: of the precision, or of attention where that is higher
}

// Reach works out what a group's accelerators reach at a precision whose dense peak is known; it refuses what rests on a fact that
// is not known.
func (c *Curves) Reach(g Group, p accelerator.Precision, peak unit.FLOPS) (Reach, *Refusal) {
	bw, ok := g.Chip.Bandwidth.Get()
	if !ok {
		return Reach{}, &Refusal{Reason: NoRate}
	}
	usable, ok := c.Usable(g)
	if !ok {
		return Reach{}, &Refusal{Reason: NoMemoryFact}
	}
	curve, part := c.Chip(g.Chip), g.Fraction()
	q, corePeak := attention(g.Chip, p, peak)
	return Reach{
		Curve: curve, Usable: usable, Precision: p,
		Multiply:  float64(peak) * part * curve.Share(p),
		Attention: float64(corePeak) * part * curve.Share(q) * c.Train.AttentionShare,
		Bandwidth: float64(bw) * part * curve.Bandwidth,
		Peak:      float64(max(peak, corePeak)) * part,
	}, nil
}

// attention is the precision attention runs at beside multiplies at p, with its peak: formats below 16 bit leave it at 16, wider
// ones keep their own.
func attention(a *accelerator.Accelerator, p accelerator.Precision, peak unit.FLOPS) (accelerator.Precision, unit.FLOPS) {
	switch p {
	case accelerator.FP8, accelerator.FP4, accelerator.INT8, accelerator.INT4:
		if q, rate, ok := a.Best(accelerator.BF16, accelerator.FP16); ok {
			return q, rate
		}
	}
	return p, peak
}
