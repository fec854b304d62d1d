package catalog

import (
	"slices"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
)

// Change is how one price differs from what a source said before. Old or New is zero where there was or is none.
type Change struct {
	Provider, InstanceType string
	Region, Zone           string
	Mode                   BillingMode
	Old, New               money.Rate
	SoldOut                bool // that the price is listed and cannot be had now
}

// ChangeKind is what a change is, for a summary.
type ChangeKind string

// The kinds of change.
const (
	Added    ChangeKind = "new"
	Gone     ChangeKind = "gone"
	Dearer   ChangeKind = "dearer"
	Cheaper  ChangeKind = "cheaper"
	Requoted ChangeKind = "requoted" // in another currency
	Stock    ChangeKind = "stock"    // in stock or sold out, at the same price
)

// ChangeKinds lists the kinds in the order they are shown.
func ChangeKinds() []ChangeKind { return []ChangeKind{Added, Gone, Dearer, Cheaper, Requoted, Stock} }

// Kind tells a change's kind.
func (c *Change) Kind() ChangeKind {
	switch {
	case c.Old.IsZero():
		return Added
	case c.New.IsZero():
		return Gone
	case c.Old.Currency() != c.New.Currency():
		return Requoted
	case c.New.Nanos() > c.Old.Nanos():
		return Dearer
	case c.New.Nanos() < c.Old.Nanos():
		return Cheaper
	}
	return Stock
}

// Diff lists what changed from one state of a catalog to another, in catalog order.
func Diff(before, after *Catalog) []Change {
	var out []Change
	if len(before.Offers) == 0 {
		out = make([]Change, 0, after.Prices())
	}
	walk := func(o *Offer, p *Price, q *Price) {
		c := Change{Provider: o.Provider, InstanceType: o.InstanceType, Region: o.Region, Zone: o.Zone}
		sold := false
		if p != nil {
			c.Mode, c.Old, sold = p.Mode, p.Hourly, p.has(SoldOut)
		}
		if q != nil {
			c.Mode, c.New, c.SoldOut = q.Mode, q.Hourly, q.has(SoldOut)
		}
		if p == nil || q == nil || c.Old != c.New || sold != c.SoldOut {
			out = append(out, c)
		}
	}
	a, b := before.Offers, after.Offers
	for len(a) > 0 || len(b) > 0 {
		switch order := compareOffers(a, b); {
		case order < 0:
			walkPrices(a[0], a[0].Prices, nil, walk)
			a = a[1:]
		case order > 0:
			walkPrices(b[0], nil, b[0].Prices, walk)
			b = b[1:]
		default:
			walkPrices(b[0], a[0].Prices, b[0].Prices, walk)
			a, b = a[1:], b[1:]
		}
	}
	return out
}

// compareOffers orders the heads of two lists; the end of a list comes last.
func compareOffers(a, b []*Offer) int {
	switch {
	case len(a) == 0:
		return 1
	case len(b) == 0:
		return -1
	}
	if c := compareMachines(a[0].Machine, b[0].Machine); c != 0 {
		return c
	}
	if c := strings.Compare(a[0].Region, b[0].Region); c != 0 {
		return c
	}
	return strings.Compare(a[0].Zone, b[0].Zone)
}

// walkPrices pairs the prices of one offer, which are sorted by mode.
func walkPrices(o *Offer, a, b []Price, walk func(o *Offer, p, q *Price)) {
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && modeRank(a[0].Mode) < modeRank(b[0].Mode):
			walk(o, &a[0], nil)
			a = a[1:]
		case len(a) == 0 || modeRank(b[0].Mode) < modeRank(a[0].Mode):
			walk(o, nil, &b[0])
			b = b[1:]
		default:
			walk(o, &a[0], &b[0])
			a, b = a[1:], b[1:]
		}
	}
}

func (p *Price) has(f Flag) bool { return slices.Contains(p.Flags, f) }

const changeColumns = "region,zone,mode,hourly,currency,sold_out"

// ChangeLines writes the changes of one machine as the store keeps them, without a header: a price that is gone has none.
func ChangeLines(changes []Change) string {
	var b strings.Builder
	for i := range changes {
		c := &changes[i]
		row := []string{c.Region, c.Zone, string(c.Mode), "", "", ""}
		if !c.New.IsZero() {
			row[3], row[4], row[5] = c.New.Decimal(), string(c.New.Currency()), yes(c.SoldOut)
		}
		for j, f := range row {
			if j > 0 {
				b.WriteByte(',')
			}
			if strings.ContainsAny(f, `,"`) {
				f = `"` + strings.ReplaceAll(f, `"`, `""`) + `"`
			}
			b.WriteString(f)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// ReadChangeLines reads what ChangeLines wrote of a machine. Old stays zero: the lines say what came.
func ReadChangeLines(provider, instanceType, lines string) ([]Change, error) {
	var faults problem.List
	t, ok := newTable("price_change", changeColumns+"\n"+lines, changeColumns, &faults)
	var out []Change
	for ok && t.next() {
		c := Change{Provider: provider, InstanceType: instanceType, Region: t.row[0], Zone: t.row[1], Mode: t.mode(2), SoldOut: t.row[5] == "yes"}
		if t.row[3] != "" {
			rate, err := money.ParseRate(t.row[3], money.Currency(t.row[4]))
			if err != nil {
				t.bad("hourly", t.row[3], "price")
			}
			c.New = rate
		}
		out = append(out, c)
	}
	return out, faults.OrNil()
}
