package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/plan"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/front/say"
	"github.com/rackrate/rackrate/internal/front/wire"
)

// Plans is the answer of plan.
type Plans struct {
	Result *plan.Result
	// Canonical is the workload with every default filled in, for JSON.
	Canonical any
	// Top is how many plans to show; 0 is all.
	Top int
	// WhyNot lists every reason for leaving something out, not only the most frequent.
	WhyNot bool
	// Explain is the rank whose numbers are taken apart; 0 is none.
	Explain int
	// Age gives a price's age in days on the day of the result; false where its date is not known.
	Age func(asOf string) (int, bool)
}

// shown is the plans that are shown: one further down may have been built to be explained.
func (d *Plans) shown() []plan.Plan {
	if d.Top > 0 && d.Top < len(d.Result.Plans) {
		return d.Result.Plans[:d.Top]
	}
	return d.Result.Plans
}

// Text writes the answer for people: what was asked, what it needs, the best plan in a sentence, the table, what its
// marks mean, what was left out, and what to do next.
func (d *Plans) Text(p *Printer, wide bool) {
	if d.Explain > 0 {
		d.explain(p)
		return
	}
	p.Para(p.Bold(Asked(d.Result.Workload, p.Say)), 2)
	d.needs(p)
	p.Gap()
	if len(d.Result.Plans) == 0 {
		p.Line(p.Alert(p.Say.Text("plan.none")))
		p.Gap()
		d.rejections(p)
		p.Gap()
		p.Para(p.Say.Text("plan.next.none"), 0)
		return
	}
	p.Para(d.best(p), 2)
	p.Gap()
	legend := newLegend(d.shown(), p.Say)
	d.grid(p.Say, legend, wide).Write(p)
	if more := d.Result.Ranked - len(d.shown()); more > 0 {
		p.Line(p.Dim(p.Say.Say("plan.more", say.Args{"Count": more})))
	}
	p.Gap()
	p.Para(p.Dim(p.Say.Text("plan.legend.pareto")), 3)
	legend.write(p)
	if mixes := d.mixes(p.Say); len(mixes) > 0 {
		p.Gap()
		p.Para(p.Dim(p.Say.Text("plan.legend.mix")), 3)
		for _, m := range mixes {
			p.Hang(m.letter, m.text, 4)
		}
	}
	if wide {
		d.layouts(p)
	}
	if len(d.Result.Rejected) > 0 {
		p.Gap()
		d.rejections(p)
	}
	p.Gap()
	p.Para(p.Dim(p.Say.Text("plan.next")), 0)
}

// layouts says what the marks of the layout column stand for.
func (d *Plans) layouts(p *Printer) {
	var marks []string
	for _, m := range layoutMarks(estimate.Layout{}) {
		used := func(q plan.Plan) bool {
			return slices.ContainsFunc(layoutMarks(q.Estimate.Layout), func(o layoutMark) bool { return o.mark == m.mark && o.shown() })
		}
		if slices.ContainsFunc(d.shown(), used) {
			marks = append(marks, m.mark+" "+p.Say.Text("layout."+m.mark))
		}
	}
	if len(marks) > 0 {
		p.Para(p.Say.Say("plan.legend.layout", say.Args{"Marks": strings.Join(marks, " · ")}), 2)
	}
}

func (d *Plans) needs(p *Printer) {
	if line := NeedsLine(d.Result.Needs, p.Say); line != "" {
		p.Para(line, 2)
	}
}

// best says the first plan in a sentence.
func (d *Plans) best(p *Printer) string {
	first := &d.Result.Plans[0]
	s := p.Say
	parts := []string{
		gpus(first), place(first), s.Value(first.Billing),
		withRange(s.Money(first.Cost.Total), s.MoneyRange(first.Cost.Low, first.Cost.High)),
		withRange(s.Hours(first.Time.Hours), s.HoursRange(first.Time.LowHours, first.Time.HighHours)),
	}
	if kg, ok := first.Carbon.Kg.Get(); ok {
		parts = append(parts, s.Say("plan.kg", say.Args{"Kg": kg}))
	}
	return s.Say("plan.best."+string(d.Result.Workload.Prefer), say.Args{"Plan": strings.Join(parts, " · ")})
}

// withRange adds the interval to a figure where there is one.
func withRange(value, interval string) string {
	if interval == value {
		return value
	}
	return value + " (" + interval + ")"
}

// gpus says "16 × H100-SXM-80GB".
func gpus(q *plan.Plan) string {
	return fmt.Sprintf("%s × %s", count(q), q.Offer.Accelerator.Name)
}

// count is the accelerators of a plan; a share of one is a fraction.
func count(q *plan.Plan) string {
	if c := q.Offer.Count; c > 0 && c < 1 {
		if q.Instances > 1 { // six halves are six devices, not three
			return strconv.Itoa(q.Accelerators) + "×" + share(c)
		}
		return share(c)
	}
	return strconv.Itoa(q.Accelerators)
}

// share prints a part of an accelerator as people say it: 1/6.
func share(c float64) string {
	for den := 2; den <= 16; den++ {
		for num := 1; num < den; num++ {
			if d := c - float64(num)/float64(den); d < 1e-3 && d > -1e-3 {
				return fmt.Sprintf("%d/%d", num, den)
			}
		}
	}
	return strconv.FormatFloat(c, 'g', 3, 64)
}

// place says "gcp us-central1".
func place(q *plan.Plan) string {
	if q.Offer.Region == "" {
		return q.Offer.Provider
	}
	return q.Offer.Provider + " " + q.Offer.Region
}

// grid is the table of plans.
func (d *Plans) grid(s *say.Speaker, legend *legend, wide bool) *Grid {
	g := &Grid{Columns: d.columns(s, wide)}
	plans := d.shown()
	for i := range plans {
		q := &plans[i]
		g.Add(d.cells(q, s, legend, wide)...)
	}
	return g
}

func (d *Plans) columns(s *say.Speaker, wide bool) []Column {
	head := func(id string) string { return s.Text("column." + id) }
	unit := d.unit(s)
	cols := []Column{
		{Head: "#  ", Right: true}, {Head: head("provider"), Shrink: true}, {Head: head("region"), Drop: 3},
		{Head: head("machine"), Shrink: true}, {Head: head("accelerators"), Squeeze: true}, {Head: head("pays"), Squeeze: true},
		{Head: head("time"), Right: true}, {Head: head("cost"), Right: true},
		{Head: unit, Right: true, Drop: 2}, {Head: head("kg"), Right: true, Drop: 1}, {Head: "⚑"},
	}
	if !wide {
		return cols
	}
	for i := range cols {
		cols[i].Drop, cols[i].Shrink, cols[i].Squeeze = 0, false, false
	}
	return append(cols,
		Column{Head: head("range"), Right: true}, Column{Head: head("p95"), Right: true}, Column{Head: head("layout")},
		Column{Head: head("memory"), Right: true}, Column{Head: head("speed"), Right: true}, Column{Head: head("basis")},
		Column{Head: head("price"), Right: true}, Column{Head: head("age"), Right: true}, Column{Head: head("also"), Right: true})
}

// unit heads the cost of a unit of work: "$/1M tokens".
func (d *Plans) unit(s *say.Speaker) string {
	for i := range d.Result.Plans {
		if u := d.Result.Plans[i].Cost.PerUnit.Unit; u != "" {
			return strings.TrimSpace(s.Symbol(d.Result.Currency)) + "/" + s.Term("per", u)
		}
	}
	return s.Text("column.unit")
}

func (d *Plans) cells(q *plan.Plan, s *say.Speaker, legend *legend, wide bool) []string {
	rank := strconv.Itoa(q.Rank)
	if q.OnFront {
		rank += " ◆"
	} else {
		rank += "  "
	}
	machine := q.Offer.InstanceType
	if q.Instances > 1 {
		machine += " ×" + strconv.Itoa(q.Instances)
	}
	chip := q.Offer.Accelerator.Name
	if !wide {
		chip = shortChip(q.Offer.Accelerator)
	}
	cells := []string{
		rank, q.Offer.Provider, q.Offer.Region, machine, count(q) + "×" + chip, s.Value(q.Billing),
		s.Hours(q.Time.Hours), s.Money(q.Cost.Total), perUnit(q, s), say.Maybe(s, q.Carbon.Kg), legend.letters(q),
	}
	if !wide {
		return cells
	}
	return append(cells,
		s.MoneyRange(q.Cost.Low, q.Cost.High), s.Hours(q.Time.P95Hours), layout(q.Estimate.Layout),
		memoryUse(q.Estimate.Memory), speed(s, q.Estimate.Speed), s.Value(q.Estimate.Speed.Basis),
		s.Rate(q.Hourly), d.age(q, s), strconv.Itoa(len(q.AlsoIn)))
}

func perUnit(q *plan.Plan, s *say.Speaker) string {
	if q.Cost.PerUnit.Unit == "" {
		return say.Unknown
	}
	return s.UnitPrice(q.Cost.PerUnit.Price, q.Cost.Total.Currency())
}

// shortChip leaves the memory out of a name where the table is narrow and the chip comes in one size only as
// people know it; the name under --explain and -o wide is whole.
func shortChip(a *accelerator.Accelerator) string {
	if a.Name == "" || a.FormFactor == "" {
		return a.Name
	}
	gb, ok := a.NominalGB.Get()
	if !ok || strings.HasPrefix(a.Name, "A100") || strings.HasPrefix(a.Name, "V100") {
		return a.Name
	}
	return strings.TrimSuffix(a.Name, fmt.Sprintf("-%gGB", gb))
}

func (d *Plans) age(q *plan.Plan, s *say.Speaker) string { return ageText(q.Price.AsOf, d.Age, s) }

// Markdown writes the answer as a piece of a document.
func (d *Plans) Markdown(p *Printer) {
	p.Line("## ", Asked(d.Result.Workload, p.Say))
	p.Gap()
	d.needs(p)
	p.Gap()
	if len(d.Result.Plans) == 0 {
		p.Line(p.Say.Text("plan.none"))
	} else {
		legend := newLegend(d.shown(), p.Say)
		d.grid(p.Say, legend, false).Markdown(p)
		p.Gap()
		if more := d.Result.Ranked - len(d.shown()); more > 0 {
			p.Line(p.Say.Say("plan.more", say.Args{"Count": more}))
			p.Gap()
		}
		p.Line("- ", p.Say.Text("plan.legend.pareto"))
		for _, e := range legend.entries {
			p.Line("- **", e.letter, "** ", e.text)
		}
		for _, m := range d.mixes(p.Say) {
			p.Line("- **", m.letter, "** ", m.text)
		}
	}
	if len(d.Result.Rejected) == 0 {
		return
	}
	p.Gap()
	p.Line("### ", p.Say.Text("plan.rejected.head"))
	p.Gap()
	for _, r := range d.Result.Rejected {
		p.Line("- ", rejectionLine(r, d.Result.Currency, p.Say))
	}
}

// Wire gives the JSON.
func (d *Plans) Wire(s *say.Speaker) any {
	r := *d.Result
	r.Plans = d.shown()
	return wire.FromPlan(&r, d.Canonical, s)
}
