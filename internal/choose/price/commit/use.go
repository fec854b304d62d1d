package commit

import (
	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/choose/price"
)

// Use is what a mix does over the horizon, expected over the scenarios.
type Use struct {
	Months []MonthUse
	// Of each purchase: the unit-hours it is used and idle within the horizon. What is needed is put on the oldest purchase first, and
	// in order of the options where several are of a month, so that the latest idles first.
	Used, Idle []float64
	Cost       money.Amount // the sum of the flow
	Committed  money.Amount // of that, commitments
	OnDemand   money.Amount
	Spot       money.Amount
	Flow       price.Flow // commitments that outlive the horizon go on after it
}

// MonthUse is one month in unit-hours. Demand is Used, Spot and OnDemand together.
type MonthUse struct {
	Demand, Used, Idle, Spot, OnDemand float64
}

// Use works out what purchases do and cost.
func (p Problem) Use(buys []Purchase) Use { return p.use(buys, p.curves(nil)) }

func (p Problem) use(buys []Purchase, months []curve) Use {
	c := p.OnDemand.Currency()
	u := Use{
		Months: make([]MonthUse, len(months)), Used: make([]float64, len(buys)), Idle: make([]float64, len(buys)),
		Committed: money.Zero(c), OnDemand: money.Zero(c), Spot: money.Zero(c), Flow: price.Nothing(len(months), c),
	}
	for _, b := range buys {
		flow := times(price.Term(p.Options[b.Option].Mode, p.Options[b.Option].Hourly, 1, b.Month), b.Units)
		u.Committed = u.Committed.Add(flow.Total())
		u.Flow = u.Flow.Plus(flow)
	}
	perHour := 3600 * whole * float64(p.weight())
	for m, c := range months {
		active := 0
		for i, b := range buys {
			if b.Month > m || m >= b.Month+p.Options[b.Option].Months() {
				continue
			}
			used := sum(c.total, active, active+b.Units) / perHour
			idle := float64(b.Units)*p.hours(m) - used
			u.Used[i] += used
			u.Idle[i] += idle
			u.Months[m].Used += used
			u.Months[m].Idle += idle
			active += b.Units
		}
		now := &u.Months[m]
		over := sum(c.total, active, len(c.total)) / perHour
		now.OnDemand = over
		onDemand, spot := p.running(c, active)
		if _, ok := p.spot(); ok {
			now.OnDemand = sum(c.firm, active, len(c.firm)) / perHour
			now.Spot = over - now.OnDemand
		}
		now.Demand = now.Used + over
		u.OnDemand, u.Spot = u.OnDemand.Add(onDemand), u.Spot.Add(spot)
		u.Flow[m].Running = u.Flow[m].Running.Add(onDemand).Add(spot)
	}
	u.Cost = u.Flow.Total()
	return u
}

// running is what a month costs beyond so many committed units. Both together are exactly what the search counts.
func (p Problem) running(c curve, active int) (onDemand, spot money.Amount) {
	all := over(p.worth(c), active)
	if r, ok := p.spot(); ok {
		soft := make([]int64, len(c.total))
		for i := range soft {
			soft[i] = c.total[i] - c.firm[i]
		}
		spot := over(cost(r, soft, money.Rate{}, nil, p.weight()), active)
		return money.Micros(all-spot, p.OnDemand.Currency()), money.Micros(spot, p.OnDemand.Currency())
	}
	return money.Micros(all, p.OnDemand.Currency()), money.Zero(p.OnDemand.Currency())
}

// over sums what the units above so many cost.
func over(worth []int64, active int) int64 {
	total := int64(0)
	for _, w := range worth[min(active, len(worth)):] {
		total += w
	}
	return total
}

// hours is the length of a month of the demand: that of its longest scenario.
func (p Problem) hours(m int) float64 {
	most := 0.0
	for _, s := range p.Scenarios {
		length := 0.0
		for _, step := range s.Months[m] {
			length += float64(step.Hours)
		}
		most = max(most, length)
	}
	return most
}

// sum adds a part of a curve, which may end before it.
func sum(curve []int64, from, to int) float64 {
	total := 0.0
	for _, t := range curve[min(from, len(curve)):min(to, len(curve))] {
		total += float64(t)
	}
	return total
}

// times is a flow so many times.
func times(f price.Flow, n int) price.Flow {
	for i, m := range f {
		f[i] = price.Month{Upfront: m.Upfront.Times(n), Running: m.Running.Times(n)}
	}
	return f
}
