package accelerator

import "github.com/rackrate/rackrate/internal/base/unit"

// Best gives the first of the precisions, most wanted first, whose rate is known.
func (a *Accelerator) Best(ps ...Precision) (Precision, unit.FLOPS, bool) {
	for _, p := range ps {
		if rate, ok := a.Peak[p].Get(); ok {
			return p, rate, true
		}
	}
	return 0, 0, false
}
