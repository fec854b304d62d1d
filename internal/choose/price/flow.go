package price

import (
	"math"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// Month is what falls due in one month.
type Month struct {
	Upfront money.Amount // at its start, for a term
	Running money.Amount // over the month: pay as you go, and what of a term is billed as it runs
}

// Total is both together.
func (m Month) Total() money.Amount { return m.Upfront.Add(m.Running) }

// Flow is payments month by month, the first month first. Its sum is exactly what is paid.
type Flow []Month

// Nothing is a flow of so many months without a payment.
func Nothing(months int, c money.Currency) Flow {
	f := make(Flow, months)
	for i := range f {
		f[i] = Month{money.Zero(c), money.Zero(c)}
	}
	return f
}

// Total is the sum of all payments.
func (f Flow) Total() money.Amount {
	sum := f[0].Total()
	for _, m := range f[1:] {
		sum = sum.Add(m.Total())
	}
	return sum
}

// Plus is both flows together; the longer one sets the length.
func (f Flow) Plus(g Flow) Flow {
	if len(g) > len(f) {
		f, g = g, f
	}
	out := append(Flow{}, f...)
	for i, m := range g {
		out[i] = Month{out[i].Upfront.Add(m.Upfront), out[i].Running.Add(m.Running)}
	}
	return out
}

// Spread splits an amount over months as evenly as micros allow; the parts sum to it exactly.
func Spread(a money.Amount, months int) []money.Amount {
	each, rest := a.Micros()/int64(months), a.Micros()%int64(months)
	out := make([]money.Amount, months)
	for i := range out {
		micros := each
		if int64(i) < max(rest, -rest) {
			micros += sign(rest)
		}
		out[i] = money.Micros(micros, a.Currency())
	}
	return out
}

func sign(n int64) int64 {
	if n < 0 {
		return -1
	}
	return 1
}

// Months is the number of calendar months that so many hours touch, at least one.
func Months(h unit.Hours) int {
	return max(1, int(math.Ceil(float64(h)/unit.HoursPerMonth-1e-9)))
}

// Term is the payments for one term of a commitment to so many machines, bought at the start of month start: the whole price, used
// or not. hourly is the effective price of one machine. The mode must have a term.
func Term(mode catalog.BillingMode, hourly money.Rate, machines int, start int) Flow {
	return Nothing(start+1, hourly.Currency()).buy(Way{Mode: mode, Hourly: hourly}, machines, 1, start)
}

// buy adds what falls due for a number of sets of machines, each committed for a term from the start of a month.
func (f Flow) buy(w Way, machines, sets, start int) Flow {
	term := w.Mode.Term()
	total := Compute(w.Hourly, machines, term).Times(sets)
	upfront := total.Mul(w.Mode.Upfront())
	months := Months(term)
	if more := start + months - len(f); more > 0 {
		f = append(f, Nothing(more, w.Hourly.Currency())...)
	}
	f[start].Upfront = f[start].Upfront.Add(upfront)
	for i, part := range Spread(total.Sub(upfront), months) {
		f[start+i].Running = f[start+i].Running.Add(part)
	}
	return f
}
