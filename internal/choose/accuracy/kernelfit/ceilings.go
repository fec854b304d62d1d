package kernelfit

import (
	"io"
	"slices"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

// ceiling is the best share of the peak that a long sweep of multiplies found on a chip.
type ceiling struct {
	chip  *accelerator.Accelerator
	share float64
}

// sweeps is how the collection names the sweeps, which run long enough for a chip to settle at the clock it can keep, by the first
// word of their source. Its other rows repeat the bursts that the curves are fitted to.
const sweeps = "stas00/ml-engineering"

// readCeilings is the ceilings by kind of multiply.
func readCeilings(r io.Reader, chips *accelerator.Table) (map[string][]ceiling, error) {
	out := map[string][]ceiling{}
	err := each(r, chips, func(l *line) {
		source := l.cells[3]
		if len(source) >= len(sweeps) && source[:len(sweeps)] == sweeps {
			out[l.cells[1]] = append(out[l.cells[1]], ceiling{chip: l.chip, share: l.num(2)})
		}
	}, "accelerator", "precision", "fraction", "source")
	return out, err
}

const sweepSource = "stas00/ml-engineering MAMF sweep"

// sustain is the ceilings over what the curves reach in bursts, at most 1. Chips that only a sweep measured join the curves
// here: with the ceiling as their share, and the rest from what is nearest to them.
func sustain(curves map[string]map[string]estimate.MultiplyCurve, ceilings map[string][]ceiling) map[string]map[string]estimate.Sustained {
	out := map[string]map[string]estimate.Sustained{}
	for _, kind := range [...]string{estimate.MultiplyBF16, estimate.MultiplyFP8} {
		out[kind] = map[string]estimate.Sustained{}
		var bursts []float64
		for _, c := range ceilings[kind] {
			if curve, ok := curves[kind][c.chip.Name]; ok {
				share := min(1, c.share/curve.Compute)
				out[kind][c.chip.Name] = estimate.Sustained{Share: share, N: 1, Source: sweepSource}
				bursts = append(bursts, share)
			}
		}
		out[kind]["default"] = estimate.Sustained{Share: median(bursts), N: len(bursts), Source: sweepSource}
		widen(curves[kind], out[kind], ceilings[kind])
	}
	out[estimate.MultiplyFP8Block], out[estimate.MultiplyNVFP4] = map[string]estimate.Sustained{}, map[string]estimate.Sustained{}
	for _, kind := range [...]string{estimate.MultiplyFP8Block, estimate.MultiplyNVFP4} {
		s := out[estimate.MultiplyFP8]["default"]
		s.Source += ", as fp8"
		out[kind]["default"] = s
	}
	return out
}

// likenesses of what a sweep alone measured, by the keys of estimate.KernelKeys.
var likenesses = [...]estimate.Likeness{estimate.LikeFamily, "", estimate.LikeKind, estimate.LikeKind}

// widen adds the chips, architectures and vendors that have a ceiling and no curve.
func widen(curves map[string]estimate.MultiplyCurve, held map[string]estimate.Sustained, ceilings []ceiling) {
	type entry struct {
		of     *accelerator.Accelerator
		shares []float64
		like   estimate.Likeness
	}
	added := map[string]*entry{}
	for _, c := range ceilings {
		for i, key := range estimate.KernelKeys(c.chip) {
			if _, ok := curves[key]; ok || i == 1 {
				continue
			}
			e := added[key]
			if e == nil {
				e = &entry{of: c.chip, like: likenesses[i]}
				added[key] = e
			}
			e.shares = append(e.shares, c.share)
		}
	}
	near := map[string]estimate.MultiplyCurve{}
	for key, e := range added {
		near[key] = estimate.Nearest(curves, e.of)
	}
	for key, e := range added {
		curve := near[key]
		curve.Compute, curve.Fitted = median(e.shares), estimate.Fitted{N: len(e.shares), Like: e.like, Source: sweepSource + " for the share; the rest as the nearest measured kernels"}
		curves[key] = curve
		held[key] = estimate.Sustained{Share: 1, N: len(e.shares), Source: sweepSource}
	}
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return 1
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
