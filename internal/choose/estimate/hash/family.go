package hash

import (
	"slices"
	"strings"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

// family is chips with published rates that are alike in one respect. Digests are integer logic; no chip table
// prints its rate, but within one compute capability it keeps a fixed ratio to the FP32 rate, which they do print.
// Across capabilities it does not (an SM of 8.0 does as many integer operations as one of 8.6, but half the FP32),
// so that the nearest likeness wins.
type family struct {
	perFLOP float64 // hashes per FP32 FLOP, the median of its chips
	source  string  // the chips, joined by commas
	notes   []estimate.Note
}

// key names a family that a chip may belong to.
type key struct {
	name, by string
	like     estimate.Likeness
}

// keys lists a chip's families, nearest first. Names carry their respect, so that no two respects collide.
func keys(a *accelerator.Accelerator) [3]key {
	return [3]key{
		{a.Vendor + "/compute/" + a.Compute, "compute", estimate.LikeFamily},
		{a.Vendor + "/arch/" + a.Arch, "arch", estimate.LikeKind},
		{a.Vendor, "vendor", estimate.LikeKind},
	}
}

// families groups the rates of one algorithm. Chips that the chip table does not have, or whose FP32 rate is not
// known, cannot be scaled from and take no part.
func families(algorithm string, rates []Rate, find chips) map[string]*family {
	type member struct {
		name    string
		perFLOP float64
	}
	members, by := map[string][]member{}, map[string]string{}
	for _, r := range rates {
		a, ok := find(r.Accelerator)
		if !ok {
			continue
		}
		peak, ok := a.Peak[accelerator.FP32].Get()
		if !ok || peak <= 0 {
			continue
		}
		for _, k := range keys(a) {
			if strings.HasSuffix(k.name, "/") { // the chip's capability or architecture is not known
				continue
			}
			members[k.name], by[k.name] = append(members[k.name], member{r.Accelerator, r.PerSecond / float64(peak)}), k.by
		}
	}
	out := make(map[string]*family, len(members))
	for name, m := range members {
		names, per := make([]string, len(m)), make([]float64, len(m))
		for i := range m {
			names[i], per[i] = m[i].name, m[i].perFLOP
		}
		slices.Sort(names)
		out[name] = &family{
			perFLOP: median(per), source: strings.Join(names, ", "),
			notes: []estimate.Note{
				{Code: noteScaled, Args: map[string]any{"Chips": len(m), "By": by[name], "Algorithm": algorithm}},
				{Code: noteWhole},
			},
		}
	}
	return out
}

func median(v []float64) float64 {
	slices.Sort(v)
	half := len(v) / 2
	if len(v)%2 == 1 {
		return v[half]
	}
	return (v[half-1] + v[half]) / 2
}
