package diffuse

import (
	"math"
	"slices"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/scale"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

// Engine is how a denoiser is run.
type Engine string

// The engines, slowest first. Without one stated, a compiled graph is taken.
const (
	WebUI    Engine = "webui" // eager, between the steps of an application
	Eager    Engine = "eager"
	Compiled Engine = "compiled"
	Fused    Engine = "fused" // by engines made for inference: TensorRT, onediff, stable-fast, AITemplate
)

// The formats that measurements tell apart.
const (
	Wide    = "16-bit"
	FP8     = "fp8"
	INT8    = "int8"
	INT4    = "int4wo"  // of weights alone, by kernels made for one token at a time
	Weights = "weights" // fewer bits for the weights alone, which are widened to multiply
)

// Setting is how images or videos are made.
type Setting struct {
	Width, Height, Frames, Steps, Guidance, Batch int
	Engine                                        Engine
	// Format is what the network is kept in, as the calibration names it; Compute the precisions its multiplies may run at, best
	// first; Bits a weight.
	Format  string
	Compute []accelerator.Precision
	Bits    float64
	Mode    string // what else sets a run apart: steps that are skipped, a service
	// GuidanceApart gives each pass of a step accelerators of its own.
	GuidanceApart bool
}

// Seconds is where the time of a batch goes.
type Seconds struct{ Compute, Memory, Link, Overhead float64 }

// Total is the sum.
func (t Seconds) Total() float64 { return t.Compute + t.Memory + t.Link + t.Overhead }

func (t Seconds) times(n float64) Seconds {
	return Seconds{t.Compute * n, t.Memory * n, t.Link * n, t.Overhead * n}
}

// rates is what one accelerator of a group brings to a network.
type rates struct {
	precision accelerator.Precision
	peak      float64 // FLOP/s, dense
	multiply  float64 // FLOP/s reached in multiplies by weights
	attention float64 // FLOP/s reached in products of attention
	around    float64 // FLOP/s reached in text encoder and decoder, which stay at 16 bit
	bandwidth float64 // bytes/s reached
}

// ratesOf finds the rates at the first of the formats' precisions that the chip has a known rate at. What is multiplied in fewer
// than 16 bits leaves attention at 16.
func (n *Network) ratesOf(c *estimate.Curves, g estimate.Group, s Setting) (rates, *estimate.Refusal) {
	var r rates
	k, chip := embedded(), c.Chip(g.Chip)
	// An unknown rate among the format's precisions outranks a missing one: the work might run at it.
	refusal := &estimate.Refusal{Reason: estimate.NoPrecision}
	for _, p := range s.Compute {
		peak, no := k.peak(g, p)
		if no == nil {
			r.precision, r.peak, refusal = p, peak, nil
			break
		}
		if no.Reason == estimate.NoRate {
			refusal = no
		}
	}
	if refusal != nil {
		return r, refusal
	}
	bw, refusal := scale.Bandwidth(g)
	if refusal != nil {
		return r, refusal
	}
	shape := k.Transformer
	if n.unet {
		shape = k.UNet
	}
	twice := 1.0
	if k.engine(s.Engine).Half && slices.Contains(k.HalfAccumulate.Chips, g.Chip.Name) {
		twice = k.HalfAccumulate.Factor
	}
	wide, wideShare := r.peak, chip.Share(r.precision)
	r.multiply = r.peak * wideShare * shape.KernelShare
	switch r.precision {
	case accelerator.FP16:
		r.multiply *= twice
	case accelerator.FP8, accelerator.INT8, accelerator.FP4, accelerator.INT4:
		if k.engine(s.Engine).Single {
			r.multiply *= k.Quantised.Single
		} else {
			r.multiply *= k.Quantised.Share
		}
		if peak, p, ok := k.wide(g); ok {
			wide, wideShare = peak, chip.Share(p)
		}
	}
	if slow, ok := k.Quantised.Formats[s.Format]; ok {
		r.multiply *= slow
	}
	held := k.held(g)
	r.multiply *= held
	r.attention, r.around = held*wide*wideShare*k.AttentionShare, held*wide*wideShare*k.AroundShare
	r.bandwidth = bw * chip.Bandwidth
	return r, nil
}

// peak is the dense peak of one accelerator. Where GeForce cards list no 16-bit rate it follows from FP32, as on those that do.
func (k *constants) peak(g estimate.Group, p accelerator.Precision) (float64, *estimate.Refusal) {
	v, refusal := scale.Peak(g, p)
	if refusal == nil || refusal.Reason != estimate.NoRate || p != accelerator.FP16 && p != accelerator.BF16 {
		return v, refusal
	}
	fp32, known := g.Chip.Peak[accelerator.FP32].Get()
	if ratio, ok := k.HalfAccumulate.Ratio[g.Chip.Arch]; ok && known && slices.Contains(k.HalfAccumulate.Chips, g.Chip.Name) {
		return ratio * float64(fp32) * g.Fraction(), nil
	}
	return 0, refusal
}

// wide is the dense 16-bit peak of one accelerator; false where it is not known.
func (k *constants) wide(g estimate.Group) (float64, accelerator.Precision, bool) {
	best, at := 0.0, accelerator.FP16
	for _, p := range []accelerator.Precision{accelerator.FP16, accelerator.BF16} {
		if v, refusal := k.peak(g, p); refusal == nil && v > best {
			best, at = v, p
		}
	}
	return best, at, best > 0
}

// held is what a chip holds of the rates of large multiplies through a denoiser. A chip never does less for more matrix units: it
// does at least what it would with no more than half rate.
func (k *constants) held(g estimate.Group) float64 {
	wide, _, ok := k.wide(g)
	if !ok {
		return 1
	}
	wide /= g.Fraction()
	held, least := 1.0, 0.0
	if power, known := g.Chip.TDP.Get(); known && power > 0 {
		held = math.Pow(max(1, wide/1e12/float64(power)/k.Power.From), -k.Power.Slope)
	}
	if fp32, known := g.Chip.Peak[accelerator.FP32].Get(); known {
		least = k.HalfRate.Factor * min(1, k.HalfRate.Ratio*float64(fp32)/wide)
	}
	return max(held, least)
}

// traffic is the bytes that the operations of one pass between its multiplies move where they are run one by one.
func (n *Network) traffic(s Setting) float64 {
	k := embedded()
	if n.unet {
		multiply, attention := n.pass(s)
		return k.UNet.Traffic * (multiply + attention)
	}
	return k.Transformer.Traffic * n.tokens(s) * n.hidden * n.layers
}

// step is one denoising step of a batch over n accelerators, each of which holds the weights. A step takes the longer of its
// arithmetic and of reading the weights once.
func (n *Network) step(c *estimate.Curves, g estimate.Group, r rates, s Setting) (Seconds, *estimate.Refusal) {
	multiply, attention := n.pass(s)
	parts, passes := float64(g.Accelerators()), float64(s.Guidance)
	if s.GuidanceApart && s.Guidance == 2 && g.Accelerators()%2 == 0 {
		parts, passes = parts/2, 1
	}
	t := Seconds{Overhead: embedded().engine(s.Engine).StepUS * 1e-6}
	b := float64(s.Batch) * passes / parts
	arithmetic, read := b*(multiply/r.multiply+attention/r.attention), n.weights*s.Bits/8/r.bandwidth
	if arithmetic >= read {
		t.Compute = arithmetic
	} else {
		t.Memory = read
	}
	if embedded().engine(s.Engine).Single {
		t.Memory += b * n.traffic(s) / r.bandwidth
	}
	if parts == 1 {
		return t, nil
	}
	link, ok := c.Inside(g, g.Accelerators())
	if !ok {
		return t, &estimate.Refusal{Reason: estimate.NoRate}
	}
	each := n.tokens(s) * n.hidden * 2 * float64(s.Batch) * passes // bytes of the activations of all tokens
	sent := n.layerMessages * n.layers * each * (parts - 1) / (parts * parts)
	t.Link = sent/link.BytesPerSec + n.layerMessages*n.layers*link.HopSeconds
	return t, nil
}

// Batch is the time of a batch from prompt to pixels, on all accelerators of the group together.
func (n *Network) Batch(c *estimate.Curves, g estimate.Group, s Setting) (Seconds, *estimate.Refusal) {
	r, refusal := n.ratesOf(c, g, s)
	if refusal != nil {
		return Seconds{}, refusal
	}
	return n.batch(c, g, r, s)
}

func (n *Network) batch(c *estimate.Curves, g estimate.Group, r rates, s Setting) (Seconds, *estimate.Refusal) {
	t, refusal := n.step(c, g, r, s)
	if refusal != nil {
		return Seconds{}, refusal
	}
	t = t.times(float64(s.Steps))
	t.Compute += float64(s.Batch) * n.around(s) / r.around
	return t, nil
}

// Step is the time of one denoising step, as engines that print iterations a second count it.
func (n *Network) Step(c *estimate.Curves, g estimate.Group, s Setting) (Seconds, *estimate.Refusal) {
	r, refusal := n.ratesOf(c, g, s)
	if refusal != nil {
		return Seconds{}, refusal
	}
	return n.step(c, g, r, s)
}

// Corrected is a rate of so much work in so many seconds, with what measurements make of it.
func (n *Network) Corrected(c *estimate.Curves, g estimate.Group, s Setting, work float64, t Seconds) estimate.Speed {
	k := c.Correct(estimate.Diffusion, n.Tags(g, s))
	return k.Speed(work/t.Total()*k.Factor, "images/s", "")
}
