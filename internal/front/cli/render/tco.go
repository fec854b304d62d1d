package render

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/choose/price/tco"
	"github.com/rackrate/rackrate/internal/front/app"
	"github.com/rackrate/rackrate/internal/front/chart"
	"github.com/rackrate/rackrate/internal/front/say"
)

// TCO is the answer of tco: options side by side, line by line.
type TCO struct {
	*app.TCO
	// Canonical is the workload with every default filled in, for JSON.
	Canonical any
}

// chartRows is the height of the chart in a terminal.
const chartRows = 13

// Text writes the comparison for people: what is compared, its lines, what follows from them, the cash over time, how it hangs
// on use and on the way of paying, and everything that was assumed. Wide adds the cash of each month.
func (d *TCO) Text(p *Printer, wide bool) {
	p.Para(p.Bold(Asked(d.Search.Workload, p.Say)), 2)
	p.Line(d.over(p.Say))
	p.Gap()
	for i := range d.Options {
		p.Hang(p.Bold(d.Options[i].ID), d.name(&d.Options[i], p.Say), 3)
	}
	p.Gap()
	d.blocks(p, func(options []int) *Grid { return d.lines(p.Say, options) })
	d.remarks(p)
	p.Gap()
	for _, text := range d.findings(p.Say) {
		p.Para(text, 2)
	}
	p.Gap()
	c := d.Chart(p.Say)
	p.Line(p.Bold(c.Title))
	for _, line := range c.Text(min(p.Width, 110), chartRows) {
		p.Line(line)
	}
	if len(d.Options) > 1 {
		p.Line(p.Dim(p.Say.Text("tco.chart.overlap")))
	}
	d.uses(p)
	d.modes(p, func(g *Grid) { g.Write(p) }, p.Bold)
	if wide {
		p.Gap()
		p.Line(p.Bold(p.Say.Text("tco.cash")))
		d.blocks(p, func(options []int) *Grid { return d.cash(p.Say, options) })
	}
	p.Gap()
	p.Line(p.Bold(p.Say.Text("tco.assumptions")))
	for i := range d.Assumptions {
		d.assumption(p, &d.Assumptions[i])
	}
	if text := d.exchange(p.Say); text != "" {
		p.Para("  "+text, 6)
	}
	if text := d.unused(p.Say); text != "" {
		p.Para(p.Alert(text), 2)
	}
	p.Gap()
	p.Para(p.Dim(p.Say.Text("tco.next")), 0)
}

// over says over how long and how often.
func (d *TCO) over(s *say.Speaker) string {
	if d.Service {
		return s.Say("tco.over.service", say.Args{"Months": d.Months, "Used": s.Percent(d.Used)})
	}
	return s.Say("tco.over.job", say.Args{"Months": d.Months, "Runs": d.Runs})
}

// name says which machines an option is, and how they are paid.
func (d *TCO) name(o *tco.Option, s *say.Speaker) string {
	var parts []string
	if q := o.Plan; q != nil {
		machine := q.Offer.InstanceType
		if q.Instances > 1 {
			machine += " ×" + strconv.Itoa(q.Instances)
		}
		parts = append(parts, gpus(q), place(q), machine, s.Value(o.Mode))
	} else {
		b := o.Owned.Buy
		if b.Name != "" {
			parts = append(parts, s.Value(b.Name))
		}
		parts = append(parts, fmt.Sprintf("%d × %s", o.Owned.Accelerators(), b.Chip.Name), s.Say("tco.bought", say.Args{"Count": o.Owned.Machines}))
	}
	if !d.Service {
		parts = append(parts, s.Say("tco.run", say.Args{"Hours": o.Hours}))
		if o.Sets > 1 {
			parts = append(parts, s.Say("tco.sets", say.Args{"Sets": o.Sets}))
		}
		parts = append(parts, s.Say("tco.used", say.Args{"Used": s.Percent(o.Used)}))
	}
	return strings.Join(parts, " · ")
}

// head heads an option's column.
func (d *TCO) head(o *tco.Option, s *say.Speaker) string {
	if o.Plan != nil {
		return o.ID + " " + o.Plan.Offer.Provider + " "
	}
	return o.ID + " " + s.Text("tco.own") + " "
}

// blocks writes a table of options in pieces that fit the width.
func (d *TCO) blocks(p *Printer, grid func(options []int) *Grid) {
	all := seq(len(d.Options))
	whole := grid(all)
	_, widths := whole.fit(math.MaxInt)
	before := len(widths) - len(all) // columns that stand in every piece
	for rest := all; len(rest) > 0; {
		n, used := 0, total(seq(before), widths)
		for n < len(rest) && (n == 0 || used+gutter+widths[before+rest[n]] <= p.Width) {
			used += gutter + widths[before+rest[n]]
			n++
		}
		if len(rest) < len(all) {
			p.Gap()
		}
		grid(rest[:n]).Write(p)
		rest = rest[n:]
	}
}

// seq is 0, 1 … n-1.
func seq(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// columns are a first one and one for each option.
func (d *TCO) columns(s *say.Speaker, first string, options []int) []Column {
	cols := []Column{{Head: first}}
	for _, i := range options {
		cols = append(cols, Column{Head: d.head(&d.Options[i], s), Right: true, Squeeze: true})
	}
	return cols
}

// lines is the table of lines.
func (d *TCO) lines(s *say.Speaker, options []int) *Grid {
	g := &Grid{Columns: d.columns(s, s.Text("column.line"), options)}
	for _, item := range tco.Items() {
		row, any := []string{s.Value(item)}, false
		for _, i := range options {
			l, ok := d.Options[i].Line(item)
			any = any || ok
			row = append(row, lineCell(l, ok, s))
		}
		if any {
			g.Add(row...)
		}
	}
	total, month := []string{s.Text("tco.total")}, []string{s.Text("tco.a_month")}
	for _, i := range options {
		o := &d.Options[i]
		mark := " "
		if len(o.Missing()) > 0 {
			mark = "+"
		}
		total = append(total, s.Money(o.Total)+mark)
		month = append(month, s.Money(o.Total.Mul(1/float64(d.Months)))+mark)
	}
	g.Add(total...)
	g.Add(month...)
	return g
}

// lineCell prints a line with the mark of its state: ~ is assumed, ? not known.
func lineCell(l tco.Line, ok bool, s *say.Speaker) string {
	switch {
	case !ok:
		return say.Unknown + " "
	case l.State == tco.Unknown:
		return "?"
	case l.State == tco.Assumed:
		return s.Money(l.Total) + "~"
	}
	return s.Money(l.Total) + " "
}

// uses writes the totals by use.
func (d *TCO) uses(p *Printer) {
	p.Gap()
	p.Line(p.Bold(p.Say.Say("tco.uses", say.Args{"ID": d.Sensitivity.Of})))
	d.blocks(p, func(options []int) *Grid { return d.useGrid(p.Say, options) })
}

func (d *TCO) useGrid(s *say.Speaker, options []int) *Grid {
	cols := []Column{{Head: s.Text("column.use"), Right: true}, {Head: s.Text("column.runs"), Right: true}}
	g := &Grid{Columns: append(cols, d.columns(s, "", options)[1:]...)}
	for _, row := range d.Sensitivity.Rows {
		runs := ""
		if !d.Service {
			runs = s.Number(row.Runs)
		}
		cells := []string{s.Percent(row.Used), runs}
		for _, i := range options {
			mark := " "
			switch {
			case d.Options[i].ID == row.Cheapest:
				mark = "◆"
			case len(d.Options[i].Missing()) > 0:
				mark = "+"
			}
			cells = append(cells, s.Money(row.Totals[i])+mark)
		}
		g.Add(cells...)
	}
	g.dropEmpty(1)
	return g
}

// modes writes each machine in its ways of paying.
func (d *TCO) modes(p *Printer, write func(*Grid), bold func(string) string) {
	for _, t := range d.Modes {
		p.Gap()
		p.Line(bold(p.Say.Say("tco.modes", say.Args{"ID": t.Option, "Months": d.Months})))
		write(d.modeGrid(t, p.Say))
	}
}

func (d *TCO) modeGrid(t tco.ModeTable, s *say.Speaker) *Grid {
	head := func(id string) string { return s.Text("column." + id) }
	g := &Grid{Columns: []Column{{Head: head("pays")}, {Head: head("hourly"), Right: true}, {Head: head("upfront"), Right: true, Drop: 1}, {Head: s.Text("tco.total") + " ", Right: true},
		{Head: head("saving"), Right: true}, {Head: head("pays_from"), Right: true}}}
	for _, m := range t.Modes {
		name := "  " + s.Value(m.Mode)
		if m.Chosen {
			name = "▸ " + s.Value(m.Mode)
		}
		saving, from := say.Unknown, say.Unknown
		if v, ok := m.Saving.Get(); ok {
			saving = s.Percent(v)
		}
		if v, ok := m.PaysFrom.Get(); ok {
			from = s.Percent(v)
		}
		total := s.Money(m.Total) + " "
		if !m.Whole {
			total = s.Money(m.Total) + "+"
		}
		g.Add(name, s.Rate(m.Hourly), s.Money(m.Upfront), total, saving, from)
	}
	return g
}

// cash is what is paid in each month.
func (d *TCO) cash(s *say.Speaker, options []int) *Grid {
	g := &Grid{Columns: d.columns(s, s.Text("column.month"), options)}
	for m := range d.Months {
		row := []string{strconv.Itoa(m + 1)}
		for _, i := range options {
			row = append(row, s.Money(d.Options[i].Months[m].Total())+" ")
		}
		g.Add(row...)
	}
	return g
}

// Chart is the cumulative cash of every option.
func (d *TCO) Chart(s *say.Speaker) *chart.Lines {
	c := &chart.Lines{
		Title: s.Say("tco.chart.title", say.Args{"Months": d.Months}), XName: s.Text("tco.chart.month"), YName: s.Say("tco.chart.cash", say.Args{"Currency": string(d.Currency)}),
		Number: func(v float64) string { return s.MoneyShort(v, d.Currency) },
	}
	for i := range d.Options {
		o := &d.Options[i]
		line := chart.Series{Mark: o.ID, Name: d.name(o, s)}
		for _, a := range o.Cumulative() {
			line.Values = append(line.Values, a.Float())
		}
		c.Series = append(c.Series, line)
	}
	return c
}

// Markdown writes the comparison as a piece of a document.
func (d *TCO) Markdown(p *Printer) {
	all := seq(len(d.Options))
	p.Line("## ", Asked(d.Search.Workload, p.Say))
	p.Gap()
	p.Line(d.over(p.Say))
	p.Gap()
	for i := range d.Options {
		p.Line("- **", d.Options[i].ID, "** ", d.name(&d.Options[i], p.Say))
	}
	p.Gap()
	d.lines(p.Say, all).Markdown(p)
	p.Gap()
	for _, texts := range [][]string{d.marks(p.Say), d.missing(p.Say), d.findings(p.Say)} {
		for _, text := range texts {
			p.Line("- ", text)
		}
	}
	p.Gap()
	p.Line("### ", p.Say.Say("tco.uses", say.Args{"ID": d.Sensitivity.Of}))
	p.Gap()
	d.useGrid(p.Say, all).Markdown(p)
	d.modes(p, func(g *Grid) { p.Gap(); g.Markdown(p) }, func(s string) string { return "### " + s })
	p.Gap()
	p.Line("### ", p.Say.Text("tco.assumptions"))
	p.Gap()
	for i := range d.Assumptions {
		a := &d.Assumptions[i]
		per := ""
		if a.Family.Per != "" {
			per = " " + p.Say.Text("tco.per."+a.Family.Per)
		}
		p.Line("- `", a.Key(), "=", a.Text, "`", per, ": ", backing(a, p.Say))
	}
	if text := d.exchange(p.Say); text != "" {
		p.Line("- ", text)
	}
	if text := d.unused(p.Say); text != "" {
		p.Gap()
		p.Line(text)
	}
}
