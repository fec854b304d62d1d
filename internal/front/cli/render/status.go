package render

import (
	"strconv"
	"time"

	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/front/app"
	"github.com/rackrate/rackrate/internal/front/say"
	"github.com/rackrate/rackrate/internal/front/wire"
)

// Status is the answer of catalog status.
type Status struct {
	*app.CatalogStatus
	Today string
	Age   func(asOf string) (int, bool)
}

// Text writes a table of the sources, those that were never read, and the lines of contracts that change nothing.
func (d *Status) Text(p *Printer, _ bool) {
	s := p.Say
	id := "status.store"
	if !d.Exists {
		id = "status.no_store"
	}
	p.Para(s.Say(id, say.Args{"Path": d.Store}), 2)
	p.Gap()
	d.grid(s).Write(p)
	for _, x := range d.Sources {
		if x.Err != nil {
			p.Gap()
			p.Named(x.Name, p.Alert(s.Say("status.failed", say.Args{"Time": clock(x.Tried), "Day": x.AsOf})))
			for _, text := range problems(x.Err, s) {
				p.Para("  "+text, 4)
			}
		}
		losses(p, x.Name, x.Lost)
	}
	if d.Broken != nil {
		p.Gap()
		for _, text := range problems(d.Broken, s) {
			p.Para(p.Alert(text), 2)
		}
	}
	if len(d.Unread) > 0 {
		p.Gap()
		p.Line(p.Bold(s.Text("status.unread")))
		for _, u := range d.Unread {
			text := u.Name
			if u.Why != nil {
				text = problems(u.Why, s)[0]
			}
			p.Para("  "+text, 4)
		}
	}
	if len(d.Idle) > 0 {
		p.Gap()
		p.Line(p.Alert(s.Say("status.idle", say.Args{"Count": len(d.Idle)})))
		for i := range d.Idle {
			p.Para("  "+term(&d.Idle[i], s), 4)
		}
	}
	p.Gap()
	p.Para(p.Dim(s.Text("status.next")), 0)
}

// clock prints a time to the minute, in UTC.
func clock(t time.Time) string {
	if t.IsZero() {
		return say.Unknown
	}
	return t.UTC().Format("2006-01-02 15:04Z")
}

// term says one line of a contract.
func term(t *catalog.Term, s *say.Speaker) string {
	what := ""
	if off, ok := t.Off.Get(); ok {
		what = s.Say("status.term.off", say.Args{"Percent": s.Percent(off)})
	} else {
		what = s.Rate(t.Hourly) + "/h"
		if t.PerGPU {
			what = s.Say("status.term.per_gpu", say.Args{"Rate": what})
		}
	}
	text := t.Provider
	for _, part := range []string{t.InstanceType, t.Accelerator, t.Region} {
		if part != "" {
			text += " " + part
		}
	}
	for _, m := range t.Modes {
		text += " " + s.Value(m)
	}
	text += " " + what
	if t.From != "" || t.Until != "" {
		text += " (" + t.From + " … " + t.Until + ")"
	}
	return s.Say("list.named", say.Args{"Name": t.Source, "Text": text})
}

func (d *Status) grid(s *say.Speaker) *Grid {
	head := func(id string) string { return s.Text("column." + id) }
	g := &Grid{Columns: []Column{
		{Head: head("source"), Shrink: true}, {Head: head("layer")}, {Head: head("offers"), Right: true, Drop: 2}, {Head: head("prices"), Right: true}, {Head: head("terms"), Right: true, Drop: 3},
		{Head: head("as_of")}, {Head: head("age"), Right: true}, {Head: head("read"), Drop: 1}, {Head: head("state")},
	}}
	for _, x := range d.Sources {
		state := "status.ok"
		switch {
		case x.Err != nil:
			state = "status.stale"
		case len(x.Lost) > 0:
			state = "status.partial"
		case x.Layer == catalog.BuiltIn:
			state = "status.ships"
		}
		offers, prices := s.Value(x.Offers), s.Value(x.Prices)
		if x.AsOf == "" { // it never could be read
			offers, prices = say.Unknown, say.Unknown
		}
		g.Add(x.Name, s.Text("layer."+string(x.Layer)), offers, prices, few(x.Terms, s), orUnknown(x.AsOf), ageText(x.AsOf, d.Age, s), clock(x.Read), s.Text(state))
	}
	g.dropEmpty(4) // terms
	return g
}

// Markdown writes the table.
func (d *Status) Markdown(p *Printer) { d.grid(p.Say).Markdown(p) }

// Wire gives the JSON.
func (d *Status) Wire(s *say.Speaker) any {
	out := wire.CatalogStatus{
		Schema: wire.CatalogStatusSchema, AsOf: d.Today, Store: d.Store, Exists: d.Exists,
		Sources: []wire.SourceStatus{}, Unread: []wire.SkippedSource{}, Idle: []wire.Term{}, Errors: messages(d.Broken, s),
	}
	for _, x := range d.Sources {
		source := wire.SourceStatus{
			Source: x.Name, Layer: string(x.Layer), Offers: x.Offers, Prices: x.Prices, Terms: x.Terms,
			AsOf: wire.Text(x.AsOf), Read: wire.Moment(x.Read), Tried: wire.Moment(x.Tried), Errors: messages(x.Err, s), Lost: lostParts(x.Lost, s),
		}
		if days, ok := d.Age(x.AsOf); ok {
			age := float64(days)
			source.AgeDays = &age
		}
		out.Sources = append(out.Sources, source)
	}
	for _, u := range d.Unread {
		out.Unread = append(out.Unread, wire.SkippedSource{Source: u.Name, Errors: messages(u.Why, s)})
	}
	for i := range d.Idle {
		out.Idle = append(out.Idle, wire.TermOf(&d.Idle[i]))
	}
	return out
}

// Rows gives one row a source, the heads first.
func (d *Status) Rows() [][]string {
	rows := [][]string{{"source", "layer", "offers", "prices", "terms", "as_of", "read", "tried", "lost", "error"}}
	when := func(t time.Time) string {
		if text := wire.Moment(t); text != nil {
			return *text
		}
		return ""
	}
	for _, x := range d.Sources {
		rows = append(rows, []string{x.Name, string(x.Layer), strconv.Itoa(x.Offers), strconv.Itoa(x.Prices), strconv.Itoa(x.Terms), x.AsOf, when(x.Read), when(x.Tried), strconv.Itoa(len(x.Lost)), codes(x.Err)})
	}
	return rows
}
