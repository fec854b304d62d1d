package tco

import (
	"math"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/plan"
)

// shares are the shares of the hours that sensitivity is shown at.
var shares = []float64{0.10, 0.25, 0.50, 0.75, 0.90, 1}

// at is the use in which the reference's machines work in a share of the hours: those bought, else the first plan's.
func (c *comparison) at(share float64) use {
	if c.service {
		return use{up: share}
	}
	hours := float64(c.Plans[0].Time.Hours)
	sets := float64(setsFor(c.Runs, hours))
	if c.owned != nil {
		hours, sets = float64(c.owned.Estimate.Hours), float64(c.ownedSets())
	}
	return use{runs: share * sets * unit.HoursPerMonth / hours}
}

// sensitivity prices every option at every share.
func (c *comparison) sensitivity() Sensitivity {
	s := Sensitivity{Of: "1", Shares: shares}
	if c.owned != nil {
		s.Of = "B"
	}
	for _, share := range shares {
		u := c.at(share)
		row := SensitivityRow{Used: share, Runs: u.runs}
		options := c.options(u)
		for i := range options {
			row.Totals = append(row.Totals, options[i].Total)
		}
		row.Cheapest = cheapest(options)
		s.Rows = append(s.Rows, row)
	}
	return s
}

// breakEvens holds each plan against the machines bought.
func (c *comparison) breakEvens(options []Option) []BreakEven {
	if c.owned == nil {
		return nil
	}
	bought := &options[len(options)-1]
	var out []BreakEven
	for i := range options[:len(options)-1] {
		rented := &options[i]
		b := BreakEven{Option: rented.ID, Unknown: len(bought.Missing()) > 0, Open: len(rented.Missing()) > 0}
		if !b.Unknown {
			b.Month = crossing(rented.Cumulative(), bought.Cumulative())
			c.byUse(&b, &c.Plans[i])
		}
		out = append(out, b)
	}
	return out
}

// crossing is the first month, from 1, by whose end owning has cost no more than renting and stays so.
func crossing(rented, bought []money.Amount) unit.Maybe[int] {
	month := unit.None[int]()
	for i := len(rented) - 1; i >= 0 && bought[i].Cmp(rented[i]) <= 0; i-- {
		month = unit.Some(i + 1)
	}
	return month
}

// leastShare is the lowest use looked at.
const leastShare = 0.001

// byUse finds the share of the hours, to a thousandth, at which owning and renting cost the same over all months. What pays as it goes
// grows with use faster than power does, so owning costs less above it; a commitment does not grow, so there it costs less below.
func (c *comparison) byUse(b *BreakEven, p *plan.Plan) {
	owning := func(share float64) bool {
		u := c.at(share)
		rented, bought := c.rent(p, own(p), p.Hourly, u), c.buy(u)
		return bought.Total.Cmp(rented.Total) <= 0
	}
	full := owning(1)
	if owning(leastShare) == full {
		if b.Always = full; full {
			b.Used = unit.Some(leastShare)
		}
		return
	}
	low, high := leastShare, 1.0
	for high-low > leastShare/4 {
		if mid := (low + high) / 2; owning(mid) == full {
			high = mid
		} else {
			low = mid
		}
	}
	b.Used, b.Below = unit.Some(math.Round(high*1000)/1000), !full
}
