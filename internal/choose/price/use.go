package price

import (
	"math"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// Way is one way of paying for a machine. Hourly is the effective price of one: of a commitment that of its whole term spread over it,
// in steps that of the first.
type Way struct {
	Mode    catalog.BillingMode
	Hourly  money.Rate
	Billing Billing
	Steps   Steps
}

// pay is what machines cost that are started, run for so long and are given back. The way has no term.
func (w Way) pay(machines int, h unit.Hours) money.Amount {
	return Compute(w.Hourly, machines, w.Steps.Full(w.Billing.Billed(h)))
}

// Runs is work that ends: it takes Hours on Machines at once, and is done once or PerMonth times a month over a horizon, one run
// after the other and spread over the month.
type Runs struct {
	Machines int
	Hours    unit.Hours
	PerMonth int // 0 is once
	Horizon  unit.Hours
}

// Count is how often the work is done.
func (r Runs) Count() int {
	if r.PerMonth == 0 {
		return 1
	}
	return r.PerMonth * Months(r.Horizon)
}

// terms is the fewest terms that hold all runs: enough for each run by itself, or as many sets of machines as are at work at once
// committed throughout. through says that it is the latter.
func (r Runs) terms(term unit.Hours) (n int, through bool) {
	n = r.Count() * whole(r.Hours, term)
	if r.PerMonth == 0 {
		return n, false
	}
	if all := r.AtOnce() * whole(r.Horizon, term); all <= n {
		return all, true
	}
	return n, false
}

// AtOnce is how many runs are at work at once, each on machines of its own: more than one where a month does not hold them one after
// another.
func (r Runs) AtOnce() int { return max(1, whole(unit.Hours(r.PerMonth)*r.Hours, unit.HoursPerMonth)) }

// whole is how many times a term holds h, rounded up; a hair over a whole number of terms is that number.
func whole(h, term unit.Hours) int { return int(math.Ceil(float64(h/term) - 1e-9)) }

// Cost is what the machines of all runs cost.
func (r Runs) Cost(w Way) money.Amount {
	if term := w.Mode.Term(); term > 0 {
		n, _ := r.terms(term)
		return Compute(w.Hourly, r.Machines, term).Times(n)
	}
	return w.pay(r.Machines, r.Hours).Times(r.Count())
}

// Flow is when that is paid; it sums to Cost.
func (r Runs) Flow(w Way) Flow {
	term := w.Mode.Term()
	switch {
	case term == 0 && r.PerMonth == 0:
		return Elapse(r.Hours, func(h unit.Hours) money.Amount { return w.pay(r.Machines, h) })
	case term == 0:
		f := Nothing(Months(r.Horizon), w.Hourly.Currency())
		month := w.pay(r.Machines, r.Hours).Times(r.PerMonth)
		for i := range f {
			f[i].Running = month
		}
		return f
	}
	f := Nothing(1, w.Hourly.Currency())
	n, through := r.terms(term)
	switch {
	case through:
		sets := r.AtOnce()
		for i := range n / sets {
			f = f.buy(w, r.Machines, sets, startOf(i, term))
		}
	case r.PerMonth == 0:
		for i := range n {
			f = f.buy(w, r.Machines, 1, startOf(i, term))
		}
	default:
		for month := range Months(r.Horizon) {
			each := whole(r.Hours, term)
			for i := range each {
				f = f.buy(w, r.Machines, r.PerMonth, month+startOf(i, term))
			}
		}
	}
	return f
}

// startOf is the month in which the i-th of terms begins that follow one another.
func startOf(i int, term unit.Hours) int {
	return int(float64(i)*float64(term)/unit.HoursPerMonth + 1e-9)
}

// Service is machines that are kept up for Hours, so many in each hour of the day.
type Service struct {
	ByHour [24]int
	Hours  unit.Hours
	// Whole says that terms are paid whole, by as many as cover Hours; else the work goes on afterwards and uses them up, so that only
	// its share is charged.
	Whole bool
}

// Flat is so many machines all day.
func Flat(machines int) (by [24]int) {
	for h := range by {
		by[h] = machines
	}
	return by
}

// Peak is the most machines in any hour.
func (s Service) Peak() int {
	peak := 0
	for _, n := range s.ByHour {
		peak = max(peak, n)
	}
	return peak
}

// MachineHours is how long machines run in all.
func (s Service) MachineHours() unit.Hours {
	sum := 0
	for _, n := range s.ByHour {
		sum += n
	}
	return unit.Hours(sum) / 24 * s.Hours
}

// Cost is what the service's machines cost: pay as you go by the hours that each runs, a commitment at the peak all the time.
func (s Service) Cost(w Way) money.Amount { return s.cost(w, s.Hours) }

func (s Service) cost(w Way, h unit.Hours) money.Amount {
	term := w.Mode.Term()
	switch {
	case term > 0 && s.Whole:
		return Compute(w.Hourly, s.Peak(), term).Times(whole(h, term))
	case term > 0:
		return Compute(w.Hourly, s.Peak(), h)
	case len(w.Steps) == 0:
		return w.Hourly.For(float64(Service{ByHour: s.ByHour, Hours: h}.MachineHours()))
	}
	// A price in steps falls with the life of one machine, so only those that are never given back come to the lower ones.
	always := s.ByHour[0]
	for _, n := range s.ByHour {
		always = min(always, n)
	}
	rest := Service{Hours: h}
	for i, n := range s.ByHour {
		rest.ByHour[i] = n - always
	}
	return w.pay(always, h).Add(w.Hourly.For(float64(rest.MachineHours())))
}

// Flow is when that is paid; it sums to Cost. Terms that are paid by their share are paid as they are used.
func (s Service) Flow(w Way) Flow {
	term := w.Mode.Term()
	if term == 0 || !s.Whole {
		return Elapse(s.Hours, func(h unit.Hours) money.Amount { return s.cost(w, h) })
	}
	f := Nothing(1, w.Hourly.Currency())
	for i := range whole(s.Hours, term) {
		f = f.buy(w, s.Peak(), 1, startOf(i, term))
	}
	return f
}

// Elapse splits a cost that grows with time over the months it falls in.
func Elapse(h unit.Hours, until func(unit.Hours) money.Amount) Flow {
	months := Months(h)
	paid := money.Zero(until(h).Currency())
	f := Nothing(months, paid.Currency())
	for i := range f {
		at := until(min(h, unit.Hours(i+1)*unit.HoursPerMonth))
		f[i].Running, paid = at.Sub(paid), at
	}
	return f
}

// Effective is what an hour of use came to; zero where there was none.
func Effective(total money.Amount, used unit.Hours) money.Rate {
	if used <= 0 {
		return money.PerHour(0, total.Currency())
	}
	return money.PerHour(int64(math.Min(float64(total.Micros())*1e3/float64(used), math.MaxInt64/2)), total.Currency())
}
