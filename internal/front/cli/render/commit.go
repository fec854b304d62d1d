package render

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/price/commit"
	"github.com/rackrate/rackrate/internal/choose/price/demand"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/front/app"
	"github.com/rackrate/rackrate/internal/front/say"
	"github.com/rackrate/rackrate/internal/front/wire"
)

// Commit is the answer of commit.
type Commit struct {
	Result *app.Commitments
	AsOf   string
	Top    int // purchases that are shown of a mix; 0 is all
}

// Text writes each group's mixes for people. What one mix means for money and risk follows it where there is one group, and the total
// where there are several; wide writes it for each group too.
func (d *Commit) Text(p *Printer, wide bool) {
	d.write(sheet{p, false}, wide)
	p.Gap()
	p.Para(p.Dim(p.Say.Text("commit.next")), 0)
}

// Markdown writes all of it as a piece of a document.
func (d *Commit) Markdown(p *Printer) { d.write(sheet{p, true}, true) }

// sheet writes the pieces of a document, for a terminal or in Markdown, where each stands by itself and lines need no wrapping.
type sheet struct {
	*Printer
	markdown bool
}

func (p sheet) title(level int, text string) {
	p.Gap()
	if p.markdown {
		p.Line(strings.Repeat("#", level), " ", text)
		p.Gap()
		return
	}
	p.Para(p.Bold(text), 2)
}

func (p sheet) para(text string) {
	if p.markdown {
		p.Line(text)
		p.Gap()
		return
	}
	p.Para(text, 2)
}

func (p sheet) table(g *Grid) {
	if p.markdown {
		g.Markdown(p.Printer)
		p.Gap()
		return
	}
	g.Write(p.Printer)
}

func (d *Commit) write(p sheet, all bool) {
	several := len(d.Result.Groups) > 1
	for i, g := range d.Result.Groups {
		d.heading(p, g)
		if i == 0 || !slices.Equal(g.Prices, d.Result.Groups[i-1].Prices) {
			p.Gap()
			p.table(d.prices(p.Say, g))
		}
		for n, r := range g.Reports {
			p.title(3, d.headline(p.Say, []app.CommitGroup{g}, r.Summary, n))
			mix, more := d.mix(p.Say, r, all)
			p.table(mix)
			if more > 0 {
				p.Line(p.Dim(p.Say.Say("commit.more", say.Args{"Count": more})))
			}
			if all || !several {
				d.detail(p, []app.CommitGroup{g}, r.Summary, n, all)
			}
		}
	}
	if !several {
		return
	}
	p.title(2, p.Say.Say("commit.total", say.Args{"Groups": len(d.Result.Groups)}))
	for n, t := range d.Result.Totals {
		p.title(3, d.headline(p.Say, d.Result.Groups, t, n))
		d.detail(p, d.Result.Groups, t, n, all)
	}
}

// heading says whose mix it is, what it rests on and how demand goes on.
func (d *Commit) heading(p sheet, g app.CommitGroup) {
	s := p.Say
	machine := ""
	if m := d.Result.Machine; m != nil {
		machine = m.Provider + " " + m.InstanceType + " · " + d.Result.Region
	}
	p.title(2, s.Say("commit.title", say.Args{"Group": g.Group, "Machine": machine}))
	if service := d.Result.Service; service != nil {
		p.para(s.Say("commit.service", say.Args{
			"Machine": service.Offer.Provider + " " + service.Offer.InstanceType, "GPUs": chips(service.Offer.Machine), "Region": where(service.Offer),
			"Mean": g.Mean(), "Peak": g.Peak(),
		}))
	} else {
		d.history(p, g)
	}
	d.outlook(p, g)
}

// history says what the demand was.
func (d *Commit) history(p sheet, g app.CommitGroup) {
	p.para(p.Say.Say("commit.history", say.Args{
		"Length": unit.Hours(len(g.Hours)), "From": g.Start.Format(time.DateOnly), "To": g.End().Add(-time.Hour).Format(time.DateOnly),
		"Mean": g.Mean(), "Peak": g.Peak(), "Repeated": unit.Hours(len(g.Cycle())), "Filled": nonzero(g.Filled),
	}))
}

// outlook says how demand is taken to go on.
func (d *Commit) outlook(p sheet, g app.CommitGroup) {
	s, q := p.Say, d.Result.Request
	waste := ""
	if q.SpotOverhead > 0 {
		waste = s.Percent(q.SpotOverhead)
	}
	p.para(s.Say("commit.outlook", say.Args{
		"Growth": growth(q.Outlook.Growth), "Interruptible": s.Percent(q.Outlook.Interruptible), "Waste": waste,
		"Every": nonzero(max(1, q.Every) - 1), "Months": q.Every,
	}))
	spread, estimated := g.Spread.Get()
	switch last := app.CommitHorizons[len(app.CommitHorizons)-1]; {
	case q.Levels != nil:
		p.para(s.Say("commit.levels.given", say.Args{"Low": q.Levels[0], "Mid": q.Levels[1], "High": q.Levels[2]}))
	case estimated:
		p.para(s.Say("commit.levels.history", say.Args{
			"Weeks": spread.Weeks, "Deviation": s.Percent(spread.Monthly), "Trend": growth(spread.Trend), "Months": last,
			"Low": spread.Level(demand.Quantiles[0], last-1), "High": spread.Level(demand.Quantiles[2], last-1),
		}))
	case d.Result.Service != nil:
		p.para(p.Alert(s.Text("commit.levels.service")))
	default:
		p.para(p.Alert(s.Say("commit.levels.unknown", say.Args{"Weeks": demand.MinWeeks})))
	}
}

// nonzero leaves out what there is none of.
func nonzero(n int) any {
	if n == 0 {
		return ""
	}
	return n
}

// growth is a share with its sign, or 0%.
func growth(v float64) string {
	if v == 0 {
		return "0%"
	}
	return signed(v)
}

// headline says what the mix costs and saves, or that there is nothing to save with.
func (d *Commit) headline(s *say.Speaker, groups []app.CommitGroup, t commit.Summary, horizon int) string {
	id := "commit.headline.saves"
	if t.Cost == t.AllOnDemand {
		id = "commit.headline.none"
		for _, g := range groups {
			if len(g.Reports[horizon].Problem.Options) > 0 {
				id = "commit.headline.same"
			}
		}
	}
	saving, _ := commit.Saving(t.AllOnDemand, t.Cost).Get()
	return s.Say(id, say.Args{"Months": app.CommitHorizons[horizon], "Cost": t.Cost, "Saving": s.Percent(saving), "Instead": t.AllOnDemand})
}

// prices lists what one unit costs an hour on each way of paying, and how much a committed one must be used to be worth it.
func (d *Commit) prices(s *say.Speaker, g app.CommitGroup) *Grid {
	grid := &Grid{Columns: []Column{
		{Head: s.Text("column.pays")}, {Head: s.Text("column.hourly"), Right: true}, {Head: s.Text("column.break_even"), Right: true},
		{Head: s.Text("column.upfront"), Right: true, Drop: 2}, {Head: s.Text("column.as_of"), Drop: 1},
	}}
	for _, price := range g.Prices {
		even, upfront := "", ""
		switch {
		case !price.Used:
			even = s.Text("commit.unused")
		case price.Mode.Term() > 0:
			even, upfront = s.Percent(price.Hourly.Float()/g.Prices[0].Hourly.Float()), s.Percent(price.Mode.Upfront())
		}
		grid.Add("  "+s.Value(price.Mode), s.Rate(price.Hourly), even, upfront, price.AsOf)
	}
	grid.dropEmpty(len(grid.Columns) - 1)
	return grid
}

// mix lists what is bought when, and what the rest of the demand runs on. more counts purchases that are not shown.
func (d *Commit) mix(s *say.Speaker, r *commit.Report, all bool) (grid *Grid, more int) {
	head := func(id string) string { return s.Text("column." + id) }
	grid = &Grid{Columns: []Column{
		{Head: head("pays")}, {Head: head("units"), Right: true}, {Head: head("buy")}, {Head: head("ends")},
		{Head: head("used"), Right: true}, {Head: head("hours_share"), Right: true}, {Head: head("cost"), Right: true},
	}}
	part := func(hours float64) string { return hoursShare(s, hours, r.Hours.Demand) }
	for i, b := range r.Mix.Purchases {
		if !all && d.Top > 0 && i >= d.Top {
			more = len(r.Mix.Purchases) - i
			break
		}
		o := r.Problem.Options[b.Option]
		grid.Add("  "+s.Value(o.Mode), s.Int(int64(b.Units)), wire.MonthAfter(d.AsOf, b.Month), wire.MonthAfter(d.AsOf, b.Month+o.Months()),
			s.Percent(r.Use.Utilisation(i)), part(r.Use.Used[i]), s.Money(o.Price().Times(b.Units)))
	}
	if r.Hours.Spot > 0 {
		grid.Add("  "+s.Value(catalog.Spot), "", "", "", "", part(r.Hours.Spot), s.Money(r.Spot))
	}
	grid.Add("  "+s.Value(catalog.OnDemand), "", "", "", "", part(r.Hours.OnDemand), s.Money(r.OnDemand))
	return grid, more
}

func hoursShare(s *say.Speaker, hours, of float64) string {
	if of == 0 {
		return say.Unknown
	}
	return s.Percent(hours / of)
}

// detail is what to know before buying: the cost if demand turns out otherwise, what a fall does, and when money is due.
func (d *Commit) detail(p sheet, groups []app.CommitGroup, t commit.Summary, horizon int, all bool) {
	s := p.Say
	if slices.ContainsFunc(groups, func(g app.CommitGroup) bool { return g.Known(d.Result.Request) }) {
		p.Gap()
		p.table(d.outcomes(s, t))
	}
	if share, ok := t.Holds.Get(); ok {
		p.Gap()
		p.table(d.falls(s, t))
		p.para(s.Say("commit.holds", say.Args{"Share": s.Percent(share)}))
		p.para(s.Say("commit.lapse", say.Args{"Ends": d.ends(s, groups, horizon)}))
	}
	p.Gap()
	p.table(d.flow(s, t, app.CommitHorizons[horizon], all))
}

func (d *Commit) outcomes(s *say.Speaker, t commit.Summary) *Grid {
	g := &Grid{Columns: []Column{
		{Head: s.Text("commit.if_demand_is")}, {Head: s.Text("column.chance"), Right: true}, {Head: s.Text("column.cost"), Right: true},
		{Head: s.Text("column.had_known"), Right: true}, {Head: s.Text("column.regret"), Right: true},
	}}
	for i, o := range t.Outcomes {
		g.Add("  "+s.Text("commit.quantile."+strconv.Itoa(demand.Quantiles[i])), s.Percent(float64(demand.Weights[i])/10), s.Money(o.Cost), s.Money(o.Best), s.Money(o.Regret()))
	}
	return g
}

func (d *Commit) falls(s *say.Speaker, t commit.Summary) *Grid {
	g := &Grid{Columns: []Column{
		{Head: s.Text("commit.if_demand_falls")}, {Head: s.Text("column.cost"), Right: true}, {Head: s.Text("column.all_on_demand"), Right: true},
		{Head: s.Text("column.saving"), Right: true}, {Head: s.Text("column.committed_used"), Right: true},
	}}
	for _, f := range append([]commit.Fall{{Cost: t.Cost, AllOnDemand: t.AllOnDemand, Hours: t.Hours}}, t.Falls...) {
		label := s.Text("commit.as_planned")
		if f.Share > 0 {
			label = "−" + s.Percent(f.Share)
		}
		used, _ := f.Hours.Utilised().Get() // asked only where there are commitments
		g.Add("  "+label, s.Money(f.Cost), s.Money(f.AllOnDemand), savingText(s, commit.Saving(f.AllOnDemand, f.Cost)), s.Percent(used))
	}
	return g
}

// savingText is a saving; a loss has a minus.
func savingText(s *say.Speaker, saving unit.Maybe[float64]) string {
	v, ok := saving.Get()
	switch {
	case !ok:
		return say.Unknown
	case v < 0:
		return "−" + s.Percent(-v)
	}
	return s.Percent(v)
}

// ends says what ends when: "2027-12: 3 × savings plan 1 y · …", in order.
func (d *Commit) ends(s *say.Speaker, groups []app.CommitGroup, horizon int) string {
	units := map[int]map[catalog.BillingMode]int{}
	last := 0
	for _, g := range groups {
		r := g.Reports[horizon]
		for _, b := range r.Mix.Purchases {
			o := r.Problem.Options[b.Option]
			end := b.Month + o.Months()
			if units[end] == nil {
				units[end] = map[catalog.BillingMode]int{}
			}
			units[end][o.Mode] += b.Units
			last = max(last, end)
		}
	}
	var parts []string
	for end := range last + 1 {
		var what []string
		for _, mode := range catalog.Modes() {
			if n := units[end][mode]; n > 0 {
				what = append(what, s.Int(int64(n))+" × "+s.Value(mode))
			}
		}
		if len(what) > 0 {
			parts = append(parts, wire.MonthAfter(d.AsOf, end)+": "+strings.Join(what, " + "))
		}
	}
	const most = 6
	if len(parts) > most {
		parts = append(parts[:most], "…")
	}
	return strings.Join(parts, " · ")
}

// flow lists what is due: by the month where all is asked for, else by the quarter, and after the horizon in one sum.
func (d *Commit) flow(s *say.Speaker, t commit.Summary, months int, all bool) *Grid {
	g := &Grid{Columns: []Column{
		{Head: s.Text("commit.due")}, {Head: s.Text("column.upfront_due"), Right: true}, {Head: s.Text("column.running_due"), Right: true}, {Head: s.Text("column.total"), Right: true},
	}}
	step := 3
	if all {
		step = 1
	}
	c := t.Cost.Currency()
	add := func(label string, from, to int) {
		upfront, running := money.Zero(c), money.Zero(c)
		for _, m := range t.Flow[from:to] {
			upfront, running = upfront.Add(m.Upfront), running.Add(m.Running)
		}
		g.Add("  "+label, s.Money(upfront), s.Money(running), s.Money(upfront.Add(running)))
	}
	for m := 0; m < months; m += step {
		label := wire.MonthAfter(d.AsOf, m)
		if step > 1 {
			label += " – " + wire.MonthAfter(d.AsOf, m+step-1)
		}
		add(label, m, m+step)
	}
	if len(t.Flow) > months {
		add(s.Text("commit.after"), months, len(t.Flow))
	}
	add(s.Text("column.total"), 0, len(t.Flow))
	return g
}

// Wire gives the JSON.
func (d *Commit) Wire(*say.Speaker) any { return wire.CommitOf(d.Result, d.AsOf) }

// Rows gives one row a purchase, and one for what runs on spot and on demand, the heads first.
func (d *Commit) Rows() [][]string {
	rows := [][]string{{
		"group", "horizon_months", "billing", "units", "bought", "ends", "hourly", "currency", "break_even", "utilisation", "unit_hours", "hours_share", "cost",
	}}
	for _, g := range d.Result.Groups {
		for n, r := range g.Reports {
			add := func(mode catalog.BillingMode, units, bought, ends, hourly, even, used string, hours float64, cost money.Amount) {
				part := ""
				if r.Hours.Demand > 0 {
					part = float(hours / r.Hours.Demand)
				}
				rows = append(rows, []string{
					g.Group, strconv.Itoa(app.CommitHorizons[n]), string(mode), units, bought, ends, hourly, string(d.Result.Currency), even, used, float(hours), part, cost.Decimal(),
				})
			}
			for i, b := range r.Mix.Purchases {
				o := r.Problem.Options[b.Option]
				add(o.Mode, strconv.Itoa(b.Units), wire.MonthAfter(d.AsOf, b.Month), wire.MonthAfter(d.AsOf, b.Month+o.Months()), o.Hourly.Decimal(),
					float(r.Problem.BreakEven(b.Option)), float(r.Use.Utilisation(i)), r.Use.Used[i], o.Price().Times(b.Units))
			}
			if spot, ok := r.Problem.Spot.Get(); ok {
				add(catalog.Spot, "", "", "", spot.Decimal(), "", "", r.Hours.Spot, r.Spot)
			}
			add(catalog.OnDemand, "", "", "", r.Problem.OnDemand.Decimal(), "", "", r.Hours.OnDemand, r.OnDemand)
		}
	}
	return rows
}
