package tco

import (
	"slices"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/choose/price"
)

// bill gathers the lines of one option.
type bill struct {
	months int
	zero   money.Amount
	lines  []Line
}

func (c *comparison) newBill() *bill { return &bill{months: c.Months, zero: money.Zero(c.Currency)} }

// flow adds a line that falls due as it says. A line of nothing is left out.
func (b *bill) flow(item Item, f price.Flow, state State) {
	total := f.Total()
	nothing := !slices.ContainsFunc(f, func(m price.Month) bool { return !m.Upfront.IsZero() || !m.Running.IsZero() })
	if nothing && item != Compute {
		return
	}
	b.lines = append(b.lines, Line{Item: item, Flow: f, Total: total, State: state})
}

// every adds a line of the same amount each month.
func (b *bill) every(item Item, a money.Amount, state State) { b.flow(item, b.each(a), state) }

// each is the same amount in each month.
func (b *bill) each(a money.Amount) price.Flow {
	f := price.Nothing(b.months, b.zero.Currency())
	for i := range f {
		f[i].Running = a
	}
	return f
}

// unknown adds a line that cannot be priced; wants is the assumption that would change that.
func (b *bill) unknown(item Item, wants string) {
	b.lines = append(b.lines, Line{Item: item, Flow: price.Nothing(b.months, b.zero.Currency()), Total: b.zero, State: Unknown, Wants: wants})
}

// due is what the named lines come to in a month.
func (b *bill) due(month int, items ...Item) money.Amount {
	sum := b.zero
	for _, l := range b.lines {
		if slices.Contains(items, l.Item) {
			sum = sum.Add(l.Flow[month].Total())
		}
	}
	return sum
}

// close puts the lines in order and sums them.
func (b *bill) close(o Option) Option {
	order := Items()
	slices.SortStableFunc(b.lines, func(x, y Line) int { return slices.Index(order, x.Item) - slices.Index(order, y.Item) })
	o.Lines, o.Total = b.lines, b.zero
	o.Months = price.Nothing(b.months, b.zero.Currency())
	for _, l := range b.lines {
		o.Total = o.Total.Add(l.Total)
		o.Months = o.Months.Plus(l.Flow)
	}
	if o.Beyond.Currency() == "" {
		o.Beyond = b.zero
	}
	return o
}
