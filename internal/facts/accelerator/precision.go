package accelerator

import "github.com/rackrate/rackrate/internal/base/unit"

// ParsePrecision reads the name of a precision as String writes it, in any case and with any of - _ and a
// space between its parts.
func ParsePrecision(s string) (Precision, bool) {
	want := fold(s)
	for p, name := range precisionNames {
		if fold(name) == want {
			return Precision(p), true
		}
	}
	return 0, false
}

// Best gives the first of the precisions, most wanted first, whose rate is known.
func (a *Accelerator) Best(ps ...Precision) (Precision, unit.FLOPS, bool) {
	for _, p := range ps {
		if rate, ok := a.Peak[p].Get(); ok {
			return p, rate, true
		}
	}
	return 0, 0, false
}
