package render

import (
	"cmp"
	"math"
	"slices"

	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/front/app"
	"github.com/rackrate/rackrate/internal/front/say"
	"github.com/rackrate/rackrate/internal/front/wire"
)

// Changes is the answer of catalog diff.
type Changes struct {
	*app.Difference
	Top int // changes shown of a kind; 0 is all
}

// Text writes how much changed and, of each kind, the largest changes.
func (d *Changes) Text(p *Printer, wide bool) {
	s := p.Say
	p.Para(p.Bold(s.Say("diff.span", say.Args{"From": d.From, "To": d.To, "Count": len(d.Changes)})), 2)
	top := d.Top
	if wide {
		top = 0
	}
	for _, k := range catalog.ChangeKinds() {
		found := d.of(k)
		if len(found) == 0 {
			continue
		}
		p.Gap()
		p.Line(p.Bold(s.Text("change."+string(k)) + " " + s.Value(len(found))))
		g := d.grid(s)
		for i := range found {
			if top > 0 && i == top {
				break
			}
			d.add(g, &found[i], s)
		}
		if k == catalog.Added || k == catalog.Gone {
			g.remove(changeColumn)
		}
		g.Write(p)
		if more := len(found) - len(g.Rows); more > 0 {
			p.Line(p.Dim(s.Say("diff.more", say.Args{"Count": more})))
		}
	}
}

// of lists the changes of a kind, the largest first, then in catalog order.
func (d *Changes) of(k catalog.ChangeKind) []catalog.Change {
	var out []catalog.Change
	for _, c := range d.Changes {
		if c.Kind() == k {
			out = append(out, c)
		}
	}
	size := func(c catalog.Change) float64 {
		if c.Old.IsZero() || c.New.IsZero() {
			return 0
		}
		return math.Round(100 * math.Abs(math.Log(c.New.Float()/c.Old.Float()))) // what differs by less looks alike
	}
	slices.SortStableFunc(out, func(a, b catalog.Change) int { return -cmp.Compare(size(a), size(b)) })
	return out
}

// Markdown writes one table of all changes.
func (d *Changes) Markdown(p *Printer) {
	g := d.grid(p.Say)
	for i := range d.Changes {
		d.add(g, &d.Changes[i], p.Say)
	}
	g.Markdown(p)
}

// changeColumn is the column that says by how much a price changed.
const changeColumn = 6

func (d *Changes) grid(s *say.Speaker) *Grid {
	head := func(id string) string { return s.Text("column." + id) }
	return &Grid{Columns: []Column{
		{Head: head("provider"), Drop: 1}, {Head: head("machine"), Shrink: true}, {Head: head("region"), Shrink: true}, {Head: head("pays")},
		{Head: head("before"), Right: true}, {Head: head("after"), Right: true}, {Head: head("change"), Right: true},
	}}
}

func (d *Changes) add(g *Grid, c *catalog.Change, s *say.Speaker) {
	place := c.Region
	if c.Zone != "" {
		place = c.Zone
	}
	before, after := app.PricePoint{Hourly: c.Old, Known: !c.Old.IsZero()}, app.PricePoint{Hourly: c.New, Known: !c.New.IsZero()}
	change := changeText(before, after, s)
	switch {
	case c.Kind() == catalog.Requoted:
		change = say.Unknown
	case c.Kind() == catalog.Stock && c.SoldOut:
		change = s.Text("doubt." + string(catalog.SoldOut))
	case c.Kind() == catalog.Stock:
		change = s.Text("doubt." + string(catalog.InStock))
	}
	g.Add(c.Provider, c.InstanceType, place, s.Value(c.Mode), pointText(before, s), pointText(after, s), change)
}

// Wire gives the JSON.
func (d *Changes) Wire(*say.Speaker) any {
	out := wire.CatalogDiff{Schema: wire.CatalogDiffSchema, From: d.From, To: d.To, Counts: map[string]int{}, Changes: []wire.PriceChange{}}
	counts := changeCounts(d.Changes)
	for _, k := range catalog.ChangeKinds() {
		out.Counts[string(k)] = counts[k]
	}
	for i := range d.Changes {
		out.Changes = append(out.Changes, wire.ChangeOf(&d.Changes[i]))
	}
	return out
}

// Rows gives one row a change, the heads first.
func (d *Changes) Rows() [][]string {
	rows := [][]string{{"kind", "provider", "instance_type", "region", "zone", "billing", "before", "before_currency", "after", "after_currency", "sold_out"}}
	for i := range d.Changes {
		c := &d.Changes[i]
		before, b := rateCells(c.Old)
		after, a := rateCells(c.New)
		sold := ""
		if c.SoldOut {
			sold = "yes"
		}
		rows = append(rows, []string{string(c.Kind()), c.Provider, c.InstanceType, c.Region, c.Zone, string(c.Mode), before, b, after, a, sold})
	}
	return rows
}
