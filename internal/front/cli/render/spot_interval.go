package render

import (
	"math"
	"strconv"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/front/app"
	"github.com/rackrate/rackrate/internal/front/say"
	"github.com/rackrate/rackrate/internal/front/wire"
)

// SpotInterval is the answer of spot interval.
type SpotInterval struct{ *app.SpotInterval }

// fine prints a time to three digits, so that intervals which differ by little can be told apart.
func fine(s *say.Speaker, hours float64) string {
	sec := hours * 3600
	switch {
	case math.IsInf(hours, 0) || hours > 1e8: // ten thousand years
		return s.Text("spot.never")
	case hours >= 1000:
		return s.Say("unit.days", say.Args{"N": unit.Sig3(hours / 24)})
	case hours >= 1 || hours == 0:
		return s.Say("unit.hours", say.Args{"N": unit.Sig3(hours)})
	case sec >= 60:
		return s.Say("unit.minutes", say.Args{"N": unit.Sig3(sec / 60)})
	}
	return s.Say("unit.seconds", say.Args{"N": unit.Sig3(sec)})
}

// Text writes the intervals for people.
func (d *SpotInterval) Text(p *Printer, _ bool) {
	s := p.Say
	p.Para(p.Bold(d.title(s)), 2)
	p.Para(d.rate(s), 2)
	p.Gap()
	d.grid(s).Write(p)
	p.Gap()
	for _, line := range d.remarks(s) {
		p.Para(line, 2)
	}
}

// Markdown writes them as a piece of a document.
func (d *SpotInterval) Markdown(p *Printer) {
	p.Line("## ", d.title(p.Say))
	p.Gap()
	p.Line(d.rate(p.Say))
	p.Gap()
	d.grid(p.Say).Markdown(p)
	p.Gap()
	for _, line := range d.remarks(p.Say) {
		p.Line(line)
		p.Gap()
	}
}

func (d *SpotInterval) title(s *say.Speaker) string {
	notice := ""
	if v, ok := d.Request.Notice.Get(); ok && v > 0 {
		notice = fine(s, float64(v))
	}
	return s.Say("spot.interval.title", say.Args{
		"Work": fine(s, float64(d.Request.Work)), "Count": d.Request.Instances, "Save": fine(s, d.Process.Save), "Restart": fine(s, d.Process.Restart), "Notice": notice,
	})
}

// rate says how often instances are lost, and how it is known.
func (d *SpotInterval) rate(s *say.Speaker) string {
	args := say.Args{"MTBI": fine(s, d.Process.MTBI), "Source": d.Source, "Instance": d.Request.Instance, "Region": d.Request.Region}
	never := math.IsInf(d.Process.MTBI, 0)
	switch t := d.Spells; {
	case t != nil:
		args["Count"], args["Losses"], args["Up"], args["Available"], args["Spread"] = d.Traces, t.Losses, fine(s, t.UpHours()), s.Percent(t.Available()), unit.Sig3(t.Spread())
		if never {
			return s.Say("spot.rate.never_seen", args)
		}
		return s.Say("spot.rate.traced", args)
	case never:
		return s.Text("spot.rate.never")
	case d.Basis == app.RateGiven:
		return s.Say("spot.rate.given", args)
	}
	args["Basis"] = s.Term("spot_basis", string(d.Basis))
	return s.Say("spot.rate.known", args)
}

func (d *SpotInterval) grid(s *say.Speaker) *Grid {
	head := func(id string) string { return s.Text("column." + id) }
	g := &Grid{Columns: []Column{
		{Head: head("method")}, {Head: head("every"), Right: true}, {Head: head("checkpoints"), Right: true, Drop: 1}, {Head: head("time"), Right: true},
		{Head: head("p95"), Right: true}, {Head: head("overhead"), Right: true, Drop: 3}, {Head: head("interruptions"), Right: true, Drop: 2},
		{Head: head("cost"), Right: true}, {Head: head("cost_p95"), Right: true}, {Head: head("saving"), Right: true},
	}}
	priced, saves := false, false
	for _, m := range d.Methods {
		every := fine(s, m.Every)
		switch {
		case m.Every == 0:
			every = s.Text("spot.always")
		case m.Checkpoints == 0:
			every = s.Text("spot.no_checkpoint")
		}
		name := s.Text("spot.method." + m.Name)
		if m.Name == d.Best().Name {
			name += " ◆"
		}
		checkpoints := s.Number(m.Checkpoints)
		if m.Every == 0 {
			checkpoints = say.Unknown
		}
		saving := d.Saving(m.Cost)
		priced, saves = priced || m.Cost.Known(), saves || saving.Known()
		g.Add(name, every, checkpoints, fine(s, m.Mean), fine(s, m.P95), overhead(s, m.Mean/float64(d.Request.Work)-1), s.Number(m.Interruptions),
			amount(s, m.Cost), amount(s, m.P95Cost), saved(s, saving))
	}
	if !saves {
		g.remove(9)
	}
	if !priced {
		g.remove(8)
		g.remove(7)
	}
	return g
}

func amount(s *say.Speaker, m unit.Maybe[money.Amount]) string {
	if a, ok := m.Get(); ok {
		return s.Money(a)
	}
	return say.Unknown
}

func saved(s *say.Speaker, m unit.Maybe[float64]) string {
	v, ok := m.Get()
	if !ok {
		return say.Unknown
	}
	return overhead(s, v)
}

// overhead is a share of one that may be below it, or without end.
func overhead(s *say.Speaker, v float64) string {
	switch {
	case math.IsInf(v, 0):
		return say.Unknown
	case v < 0:
		return "−" + s.Percent(-v)
	}
	return s.Percent(v)
}

// remarks say what on-demand would cost, what the replay came to, and how good the formula is.
func (d *SpotInterval) remarks(s *say.Speaker) []string {
	lines := []string{}
	if od, ok := d.OnDemand.Get(); ok {
		lines = append(lines, s.Say("spot.interval.on_demand", say.Args{"Work": fine(s, float64(d.Request.Work)), "Cost": s.Money(od)}))
	}
	if r := d.Replay; r != nil {
		args := say.Args{"Runs": r.Runs, "Mean": fine(s, r.Mean), "P95": fine(s, r.P95), "Paid": fine(s, r.Paid), "PaidP95": fine(s, r.PaidP95), "Waiting": fine(s, r.Mean-r.Paid),
			"Interruptions": r.Interruptions, "Cost": "", "CostP95": ""}
		if c, ok := d.ReplayCost.Get(); ok {
			args["Cost"], args["CostP95"] = s.Money(c), amount(s, d.ReplayP95)
		}
		if math.IsInf(r.Mean, 0) {
			lines = append(lines, s.Say("spot.replay.never", args))
		} else {
			lines = append(lines, s.Say("spot.replay", args), d.verdict(s))
		}
	}
	notice := ""
	if v, ok := d.Request.Notice.Get(); ok && v > 0 && d.Process.Save > 0 && !math.IsInf(d.Process.MTBI, 0) {
		notice = "short"
		if d.Process.Warned() {
			notice = "saves"
		}
	}
	return append(lines, s.Say("spot.interval.legend", say.Args{"Notice": notice}))
}

// off is how far the formula may be from the replay before it is called wrong.
const off = 0.03

// verdict holds the formula against the replay.
func (d *SpotInterval) verdict(s *say.Speaker) string {
	args := say.Args{"Spread": unit.Sig3(d.Spells.Spread()), "Mean": signed(d.Best().Mean/d.Replay.Paid - 1), "P95": signed(d.Best().P95/d.Replay.PaidP95 - 1)}
	if math.Abs(d.Best().Mean/d.Replay.Paid-1) <= off && math.Abs(d.Best().P95/d.Replay.PaidP95-1) <= off {
		return s.Say("spot.replay.agrees", args)
	}
	return s.Say("spot.replay.differs", args)
}

// Wire gives the JSON.
func (d *SpotInterval) Wire(*say.Speaker) any { return wire.SpotIntervalOf(d.SpotInterval) }

// Rows gives one row a method, then one of the replay, the heads first.
func (d *SpotInterval) Rows() [][]string {
	rows := [][]string{{"method", "interval_hours", "checkpoints", "mean_hours", "p95_hours", "interruptions", "currency", "mean_cost", "p95_cost"}}
	cell := func(v float64) string {
		if math.IsInf(v, 0) {
			return ""
		}
		return strconv.FormatFloat(v, 'g', 9, 64)
	}
	cost := func(m unit.Maybe[money.Amount]) string {
		if a, ok := m.Get(); ok {
			return a.Decimal()
		}
		return ""
	}
	for _, m := range d.Methods {
		rows = append(rows, []string{m.Name, cell(m.Every), cell(m.Checkpoints), cell(m.Mean), cell(m.P95), cell(m.Interruptions), string(d.Currency), cost(m.Cost), cost(m.P95Cost)})
	}
	if r := d.Replay; r != nil {
		b := d.Best()
		rows = append(rows, []string{"replay", cell(b.Every), cell(b.Checkpoints), cell(r.Mean), cell(r.P95), cell(r.Interruptions), string(d.Currency), cost(d.ReplayCost), cost(d.ReplayP95)})
	}
	return rows
}
