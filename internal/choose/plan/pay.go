package plan

import (
	"slices"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate/serve"
	"github.com/rackrate/rackrate/internal/choose/price"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/provider"
)

// way is how a candidate's price charges.
func way(p *provider.Provider, o *catalog.Offer, q *catalog.Price, hourly money.Rate) price.Way {
	w := price.Way{Mode: q.Mode, Hourly: hourly}
	if q.Mode.Term() > 0 {
		return w
	}
	w.Billing = price.Billing{Step: p.BillingGranularity.Or(0), Minimum: p.LeastCharge(o.BareMetal.Or(false)).Or(0)}
	if slices.Contains(q.Flags, catalog.SteppedPrice) {
		for _, step := range p.Steps {
			w.Steps = append(w.Steps, price.Step(step))
		}
	}
	return w
}

// Way is how the plan's machines charge at one of their prices, which comes to so much an hour in the result's currency.
func (p *Plan) Way(q *catalog.Price, hourly money.Rate) price.Way {
	return way(p.Provider, p.Offer, q, hourly)
}

func (s *search) way(c *candidate) price.Way {
	return way(c.place.provider, c.offer, c.price, c.hourly)
}

// runs is how often the work is done.
func (s *search) runs() int { return s.work(0, 0).Count() }

// work is what a job that ends asks of so many machines.
func (s *search) work(machines int, hours float64) price.Runs {
	w := s.Workload
	return price.Runs{Machines: machines, Hours: unit.Hours(hours), PerMonth: w.RunsPerMonth, Horizon: w.Horizon}
}

// freeMonths is how many months' free allowance the work has: that of one, unless money is counted over several.
func (s *search) freeMonths() float64 {
	if s.Workload.Horizon > 0 {
		return float64(price.Months(s.Workload.Horizon))
	}
	return 1
}

// kept is the machines that a service keeps up.
func (s *search) kept(c *candidate, hours float64) price.Service {
	return price.Service{ByHour: s.byHour(c), Hours: unit.Hours(hours), Whole: s.Workload.Horizon > 0}
}

// byHour is the machines a service needs in each hour of the day: those of its profile, or its fleet all day. A pinned fleet stays.
func (s *search) byHour(c *candidate) [24]int {
	by, seen := s.fleets[c.est]
	if seen {
		return by
	}
	by = price.Flat(c.machines)
	if s.Workload.Layout.DP == 0 {
		if daily, ok := serve.MachinesByHour(c.est.Serving, Group(c.offer.Machine, 1).PerNode); ok {
			by = daily
		}
	}
	s.fleets[c.est] = by
	return by
}

// compute is what a candidate's machines cost over so many hours of work, or of each run of it.
func (s *search) compute(c *candidate, hours float64) money.Amount {
	switch {
	case c.mix != nil:
		return price.Total(c.mix.parts, s.Currency)
	case !s.job.Service():
		return s.work(c.machines, hours).Cost(s.way(c))
	case c.mode == catalog.ServerlessPerHour:
		return c.hourly.For(float64(s.up(c, hours)))
	}
	return s.kept(c, hours).Cost(s.way(c))
}

// flow is when that is paid; it sums to compute.
func (s *search) flow(c *candidate, hours float64) price.Flow {
	switch {
	case c.mix != nil:
		return price.Together(c.mix.parts, s.Currency)
	case !s.job.Service():
		return s.work(c.machines, hours).Flow(s.way(c))
	case c.mode == catalog.ServerlessPerHour:
		return price.Elapse(unit.Hours(hours), func(h unit.Hours) money.Amount { return c.hourly.For(float64(s.up(c, float64(h)))) })
	}
	return s.kept(c, hours).Flow(s.way(c))
}

// up is the machine-hours that a candidate's machines are on: of a commitment all its machines all the time that the work goes on,
// whether needed or not, else those that run.
func (s *search) up(c *candidate, hours float64) unit.Hours {
	switch {
	case c.mix != nil:
		sum := unit.Hours(0)
		for _, p := range c.mix.parts {
			sum += p.Hours
		}
		return sum
	case !s.job.Service():
		return unit.Hours(float64(c.machines*s.runs()) * hours)
	case c.mode == catalog.ServerlessPerHour:
		return unit.Hours(s.elasticOf(c).workers * hours)
	case c.mode.Term() > 0:
		return unit.Hours(float64(c.machines) * hours)
	}
	return s.kept(c, hours).MachineHours()
}

// needed is the machine-hours that the work needs, which a price an hour of use is by.
func (s *search) needed(c *candidate, hours float64) unit.Hours {
	if s.job.Service() && c.mode != catalog.ServerlessPerHour {
		return s.kept(c, hours).MachineHours()
	}
	return s.up(c, hours)
}
