package tco

import (
	"math"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
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
			b.Used, b.Always = c.useFrom(i)
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

// useFrom is the share of the hours from which owning costs no more than the plan over all months, to a thousandth. What pays as
// it goes grows with use faster than power does, so there is one such share, if any.
func (c *comparison) useFrom(i int) (share unit.Maybe[float64], always bool) {
	p := &c.Plans[i]
	owning := func(share float64) bool {
		u := c.at(share)
		rented, bought := c.rent(p, own(p), p.Hourly, u), c.buy(u)
		return bought.Total.Cmp(rented.Total) <= 0
	}
	switch {
	case !owning(1):
		return unit.None[float64](), false
	case owning(leastShare):
		return unit.Some(leastShare), true
	}
	low, high := leastShare, 1.0
	for high-low > leastShare/4 {
		if mid := (low + high) / 2; owning(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return unit.Some(math.Round(high*1000) / 1000), false
}
