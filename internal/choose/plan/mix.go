package plan

import (
	"maps"
	"slices"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/price"
	"github.com/rackrate/rackrate/internal/choose/price/commit"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// mixed is a split of a candidate's machines and the quotes of its parts.
type mixed struct {
	parts    []price.Part
	quotes   []*catalog.Price
	onDemand price.Way
}

// blend makes a candidate of a service the cheapest mix of the ways of paying that are allowed; false where one way does it all, or
// nothing is sold on demand.
func (s *search) blend(c *candidate, all []quoted) bool {
	var ways price.Ways
	var quotes []*catalog.Price // of what is committed
	var onDemand, spot *catalog.Price
	share := s.Workload.Traffic.Interruptible / 100
	for _, q := range all {
		if q.bad {
			continue
		}
		c.price, c.hourly = q.price, q.hourly
		w := s.way(c)
		switch {
		case c.price.Mode == catalog.OnDemand && len(w.Steps) == 0:
			ways.OnDemand, onDemand = w, c.price
		case c.price.Mode == catalog.Spot && share > 0:
			ways.Spot, ways.Interruptible, spot = &w, share, c.price
		case commit.Commits(c.price.Mode):
			ways.Committed = append(ways.Committed, w)
			quotes = append(quotes, c.price)
		}
	}
	if onDemand == nil || ways.Spot == nil && len(quotes) == 0 {
		return false
	}
	if spot != nil && ways.Spot.Hourly.Nanos() >= ways.OnDemand.Hourly.Nanos() {
		ways.Spot = nil
	}
	service := s.kept(c, float64(c.est.Hours))
	bought := purchases(service, ways)
	m := &mixed{parts: service.Split(ways, bought), onDemand: ways.OnDemand}
	if len(m.parts) < 2 {
		return false
	}
	c.age = 0
	for _, p := range m.parts {
		q := onDemand
		switch {
		case p.Mode == catalog.Spot:
			q = spot
		case p.Mode != catalog.OnDemand:
			q = quotes[slices.IndexFunc(ways.Committed, func(w price.Way) bool { return w.Mode == p.Mode && w.Hourly == p.Hourly })]
		}
		m.quotes = append(m.quotes, q)
		c.age = max(c.age, s.age(q.AsOf))
	}
	largest := 0
	for i, p := range m.parts {
		if p.Cost.Cmp(m.parts[largest].Cost) > 0 {
			largest = i
		}
	}
	c.mode, c.mix, c.price, c.hourly = catalog.Mix, m, m.quotes[largest], m.parts[largest].Hourly
	return true
}

// purchases is what to commit to.
func purchases(service price.Service, w price.Ways) []price.Purchase {
	if len(w.Committed) == 0 || !service.Whole {
		return service.Newsvendor(w)
	}
	mix, err := commit.Solve(overMonths(service, w))
	if err != nil {
		return nil // more machines than can be planned one by one: they are paid by the hour
	}
	var bought []price.Purchase
	for _, b := range mix.Purchases {
		bought = append(bought, price.Purchase{Way: b.Option, Machines: b.Units, Start: b.Month})
	}
	return bought
}

// overMonths is a service as the solver of commitments takes it.
func overMonths(service price.Service, w price.Ways) commit.Problem {
	daily := map[int]int{} // hours by the machines they need
	for _, n := range service.ByHour {
		daily[n]++
	}
	months := make([][]commit.Step, price.Months(service.Hours))
	for m := range months {
		days := min(unit.HoursPerMonth, service.Hours-unit.Hours(m)*unit.HoursPerMonth) / 24
		for _, n := range slices.Sorted(maps.Keys(daily)) {
			step := commit.Step{Units: float64(n), Firm: float64(n), Hours: unit.Hours(daily[n]) * days}
			if w.Spot != nil {
				step.Firm -= float64(w.OnSpot(n))
			}
			months[m] = append(months[m], step)
		}
	}
	p := commit.Problem{OnDemand: w.OnDemand.Hourly, Scenarios: []commit.Scenario{{Weight: 1, Months: months}}}
	if w.Spot != nil {
		p.Spot = unit.Some(w.Spot.Hourly)
	}
	for _, c := range w.Committed {
		p.Options = append(p.Options, commit.Option{Mode: c.Mode, Hourly: c.Hourly})
	}
	return p
}

// Share is what one way of paying does in a mix.
type Share struct {
	Price    catalog.Price // as quoted
	Machines int           // at most at once
	Of       float64       // share of the compute line
	price.Part
}

// Mixture is how a mix is made up, and what else the same machines would cost.
type Mixture struct {
	Shares []Share // commitments first, then on demand, then spot; their costs sum to the compute line
	// AtPeak is what as many machines as the peak needs would cost on demand all day, ByTheHour what those needed in each hour would.
	AtPeak, ByTheHour money.Amount
}

// mixture is what a reader sees of a candidate's mix; nil where it is none.
func (s *search) mixture(c *candidate) *Mixture {
	if c.mix == nil {
		return nil
	}
	m := &Mixture{}
	for i, p := range c.mix.parts {
		of := 0.0
		if total := price.Total(c.mix.parts, s.Currency); !total.IsZero() {
			of = p.Cost.Float() / total.Float()
		}
		m.Shares = append(m.Shares, Share{Price: *c.mix.quotes[i], Machines: p.Peak, Of: of, Part: p})
	}
	service := s.kept(c, c.hours)
	w := c.mix.onDemand
	m.ByTheHour = service.Cost(w)
	service.ByHour = price.Flat(service.Peak())
	m.AtPeak = service.Cost(w)
	return m
}
