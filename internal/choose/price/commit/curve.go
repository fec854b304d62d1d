package commit

import (
	"math"
	"math/bits"
	"slices"

	"github.com/rackrate/rackrate/internal/base/money"
)

// curve is the load-duration curve of one month over all scenarios: for each unit, from the first to the one that only the peak
// needs, the time it is needed, in seconds x millionths of a unit x weight.
type curve struct {
	total, firm []int64
}

// curves gives the curve of each month. scale, where there is one, changes the demand of a step.
func (p Problem) curves(scale func(Step) Step) []curve {
	out := make([]curve, p.months())
	for m := range out {
		if m > 0 && p.repeats(m) {
			out[m] = out[m-1]
			continue
		}
		top := int64(0)
		each := func(f func(units, firm, time int64)) {
			for _, s := range p.Scenarios {
				for _, step := range s.Months[m] {
					if scale != nil {
						step = scale(step)
					}
					units := millionths(step.Units)
					f(units, min(units, millionths(step.Firm)), int64(math.Round(step.Hours.Seconds()))*int64(s.Weight))
				}
			}
		}
		each(func(units, _, _ int64) { top = max(top, (units+whole-1)/whole) })
		total, firm := newLevels(top), newLevels(top)
		each(func(units, steady, time int64) {
			total.add(units, time)
			firm.add(steady, time)
		})
		out[m] = curve{total.sum(), firm.sum()}
	}
	return out
}

// repeats says that a month is as the one before it.
func (p Problem) repeats(m int) bool {
	return !slices.ContainsFunc(p.Scenarios, func(s Scenario) bool { return !slices.Equal(s.Months[m], s.Months[m-1]) })
}

// whole is one unit in millionths.
const whole = 1_000_000

// levels sums demand by unit: steps holds by how much the time changes from one unit to the next, part what a fraction adds.
type levels struct{ steps, part []int64 }

func newLevels(top int64) levels { return levels{make([]int64, top+1), make([]int64, top+1)} }

func (l levels) add(units, time int64) {
	full, rest := units/whole, units%whole
	l.steps[0] += time * whole
	l.steps[full] -= time * whole
	l.part[full] += time * rest
}

func (l levels) sum() []int64 {
	out := make([]int64, len(l.steps)-1)
	running := int64(0)
	for i := range out {
		running += l.steps[i]
		out[i] = running + l.part[i]
	}
	return out
}

// worth is what each committed unit saves in a month of demand along a curve: on-demand for the time it is needed firmly, spot for
// the rest. In micros, each rounded once; it never rises from one unit to the next, because neither curve does.
func (p Problem) worth(c curve) []int64 {
	spot, ok := p.spot()
	if !ok {
		return cost(p.OnDemand, c.total, money.Rate{}, nil, p.weight())
	}
	return cost(money.PerHour(p.OnDemand.Nanos()-spot.Nanos(), spot.Currency()), c.firm, spot, c.total, p.weight())
}

// cost is a x times + b x others, unit by unit. Exact in 128 bits until the one division.
func cost(a money.Rate, times []int64, b money.Rate, others []int64, weight int64) []int64 {
	out := make([]int64, len(times))
	per := uint64(3600*whole*1000) * uint64(weight) // seconds, millionths, nanos a micro, weights
	for i, t := range times {
		hi, lo := bits.Mul64(uint64(a.Nanos()), uint64(t))
		if others != nil {
			h, l := bits.Mul64(uint64(b.Nanos()), uint64(others[i]))
			var carry uint64
			lo, carry = bits.Add64(lo, l, 0)
			hi, _ = bits.Add64(hi, h, carry)
		}
		lo, carry := bits.Add64(lo, per/2, 0)
		micros, _ := bits.Div64(hi+carry, lo, per)
		out[i] = int64(micros)
	}
	return out
}
