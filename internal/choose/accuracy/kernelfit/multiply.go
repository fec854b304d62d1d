package kernelfit

import (
	"io"
	"slices"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

type product struct {
	m, n, k float64
	x       estimate.Multiply // without its curve
}

// multiplies is how a kind of multiply is fitted. Where fixed is not 0 that is the fixed time, which its measurements do not show.
func multiplies(name string, fixed float64) kind[estimate.MultiplyCurve, product] {
	start := estimate.MultiplyCurve{Compute: 0.8, Bandwidth: 0.85, FixedUS: 4, SerialNS: 0.4, Depth: 100, Overlap: 0.5}
	if name != estimate.MultiplyBF16 {
		start.RowNS, start.CellPS = 3, 1.5
	}
	if fixed != 0 {
		start.FixedUS = fixed
	}
	return kind[estimate.MultiplyCurve, product]{
		start: start,
		knobs: func(c *estimate.MultiplyCurve) []knob {
			knobs := []knob{
				upTo(1.1, &c.Compute), upTo(1, &c.Bandwidth), positive(&c.SerialNS), positive(&c.Depth), overlap(&c.Overlap), positive(&c.RowNS), positive(&c.CellPS),
			}
			if fixed == 0 {
				knobs = append(knobs, positive(&c.FixedUS))
			}
			return knobs
		},
		time: func(c *estimate.MultiplyCurve, s *sample[product]) float64 {
			x := s.row.x
			x.Curve = *c
			return x.Seconds(s.row.m, s.row.n, s.row.k)
		},
		fitted: func(c *estimate.MultiplyCurve) *estimate.Fitted { return &c.Fitted },
		pool:   600,
		source: "aiconfigurator GEMM",
	}
}

// arithmetics are the kinds of multiply by the name that the measurements give them.
var arithmetics = map[string]struct {
	kind string
	as   estimate.Arithmetic
}{
	"bfloat16":  {estimate.MultiplyBF16, estimate.Arithmetic{Precision: accelerator.BF16, WeightBits: 16}},
	"fp8":       {estimate.MultiplyFP8, estimate.Arithmetic{Precision: accelerator.FP8, WeightBits: 8}},
	"fp8_block": {estimate.MultiplyFP8Block, estimate.Arithmetic{Precision: accelerator.FP8, WeightBits: 8, Block: true}},
	"nvfp4":     {estimate.MultiplyNVFP4, estimate.Arithmetic{Precision: accelerator.FP4, WeightBits: 4.5}},
}

// readMultiplies is the measured multiplies by kind.
func readMultiplies(r io.Reader, chips *accelerator.Table) (map[string][]sample[product], error) {
	out := map[string][]sample[product]{}
	prepared := map[string]estimate.Multiply{}
	err := each(r, chips, func(l *line) {
		as, ok := arithmetics[l.cells[1]]
		if !ok {
			return
		}
		key := l.chip.Name + " " + as.kind
		x, ok := prepared[key]
		if !ok {
			if k := bare(l.chip); k != nil {
				x, _ = k.Multiply(as.as)
			}
			prepared[key] = x
		}
		if x.Peak == 0 {
			return
		}
		m, n, k := l.num(2), l.num(3), l.num(4)
		out[as.kind] = append(out[as.kind], sample[product]{
			chip: l.chip, shape: int(n)/256 + 2*(int(k)/256), seconds: l.num(5) * 1e-3, row: product{m: m, n: n, k: k, x: x},
		})
	}, "system", "gemm_dtype", "m", "n", "k", "latency_ms")
	out[estimate.MultiplyFP8Block] = afterLaunch(out[estimate.MultiplyFP8Block])
	return out, err
}

// afterLaunch drops what says more of the host than of the chip: kernels launched one by one from Python, at 60 to 330
// microseconds a launch depending on the host, hide behind the launch until they are longer. A chip's launch is the
// median of its smallest multiplies; an engine with captured graphs does not pay it. A chip that keeps less than a tenth of its
// rows is left to its family.
func afterLaunch(samples []sample[product]) []sample[product] {
	small, all, kept := map[string][]float64{}, map[string]int{}, map[string]int{}
	for _, s := range samples {
		all[s.chip.Name]++
		if s.row.n*s.row.k <= 1<<20 && s.row.m <= 1024 {
			small[s.chip.Name] = append(small[s.chip.Name], s.seconds)
		}
	}
	for _, times := range small {
		slices.Sort(times)
	}
	samples = slices.DeleteFunc(samples, func(s sample[product]) bool {
		times := small[s.chip.Name]
		return s.seconds < 2*times[len(times)/2]
	})
	for _, s := range samples {
		kept[s.chip.Name]++
	}
	return slices.DeleteFunc(samples, func(s sample[product]) bool { return 10*kept[s.chip.Name] < all[s.chip.Name] })
}

// bare is a chip's kernels without curves; nil where a fact is missing.
func bare(a *accelerator.Accelerator) *estimate.Kernels {
	k, _ := new(estimate.KernelTable).For(new(estimate.Curves), estimate.Group{Chip: a})
	return k
}

// fitMultiplies fits every kind. The fixed time of fp8_block, which its measurements do not show, is that of fp8.
func fitMultiplies(samples map[string][]sample[product]) map[string]map[string]estimate.MultiplyCurve {
	out := map[string]map[string]estimate.MultiplyCurve{}
	fixed := 0.0
	for _, name := range [...]string{estimate.MultiplyBF16, estimate.MultiplyFP8, estimate.MultiplyFP8Block, estimate.MultiplyNVFP4} {
		k := multiplies(name, 0)
		if name == estimate.MultiplyFP8Block {
			k = multiplies(name, fixed)
		}
		out[name] = k.all(samples[name])
		fixed = out[name]["default"].FixedUS
	}
	return out
}
