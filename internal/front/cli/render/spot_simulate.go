package render

import (
	"strconv"

	"github.com/rackrate/rackrate/internal/choose/spot/deadline"
	"github.com/rackrate/rackrate/internal/front/app"
	"github.com/rackrate/rackrate/internal/front/say"
	"github.com/rackrate/rackrate/internal/front/wire"
)

// SpotSimulation is the answer of spot simulate.
type SpotSimulation struct{ *app.SpotSimulation }

// Text writes the policies for people, and those of each trace where every column is asked for.
func (d *SpotSimulation) Text(p *Printer, wide bool) {
	s := p.Say
	p.Para(p.Bold(d.title(s)), 2)
	p.Para(d.terms(s), 2)
	p.Gap()
	d.grid(s, d.Overall).Write(p)
	if wide && len(d.Markets) > 1 {
		for _, m := range d.Markets {
			p.Gap()
			p.Para(p.Bold(d.market(s, m)), 2)
			d.grid(s, m.Scores).Write(p)
		}
	}
	p.Gap()
	for _, line := range d.remarks(s) {
		p.Para(line, 2)
	}
	p.Para(p.Dim(s.Text("spot.simulate.legend")), 2)
}

// Markdown writes them as a piece of a document, with the ratio of each policy on each trace.
func (d *SpotSimulation) Markdown(p *Printer) {
	s := p.Say
	p.Line("## ", d.title(s))
	p.Gap()
	p.Line(d.terms(s))
	p.Gap()
	d.grid(s, d.Overall).Markdown(p)
	p.Gap()
	if len(d.Markets) > 1 {
		g := &Grid{Columns: []Column{{Head: s.Text("column.trace")}, {Head: s.Text("column.available"), Right: true}}}
		for _, score := range d.Overall {
			g.Columns = append(g.Columns, Column{Head: score.Policy, Right: true})
		}
		for _, m := range d.Markets {
			row := []string{m.Name, s.Percent(m.Up)}
			for _, score := range m.Scores {
				row = append(row, ratio(score))
			}
			g.Add(row...)
		}
		g.Markdown(p)
		p.Gap()
	}
	for _, line := range append(d.remarks(s), s.Text("spot.simulate.legend")) {
		p.Line(line)
		p.Gap()
	}
}

func (d *SpotSimulation) title(s *say.Speaker) string {
	nodes := ""
	if d.Nodes > 1 {
		nodes = s.Int(int64(d.Nodes))
	}
	return s.Say("spot.simulate.title", say.Args{
		"Work": fine(s, float64(d.Work)), "Deadline": fine(s, float64(d.Deadline)), "Slack": s.Percent(d.Slack()), "Overhead": fine(s, float64(d.Overhead)), "Nodes": nodes,
	})
}

// terms say what was played where, and at which prices.
func (d *SpotSimulation) terms(s *say.Speaker) string {
	args := say.Args{"Starts": d.Starts, "OnDemand": d.Hourly, "Spot": "", "Ratio": "", "Count": len(d.Markets)}
	if rate, ok := d.SpotHourly.Get(); ok {
		args["Spot"], args["Ratio"] = s.Rate(rate), s.Number(d.Hourly.Float()/rate.Float())
	}
	if d.Together {
		args["Count"] = d.Zones
		return s.Say("spot.simulate.together", args)
	}
	return s.Say("spot.simulate.apart", args)
}

func (d *SpotSimulation) market(s *say.Speaker, m deadline.MarketReport) string {
	return s.Say("spot.simulate.trace", say.Args{"Name": m.Name, "Available": s.Percent(m.Up), "Gap": m.Gap})
}

// ratio is the cost of a policy over that of the optimum, to a per cent of it.
func ratio(score deadline.Score) string { return strconv.FormatFloat(score.RatioToOptimal, 'f', 3, 64) }

func (d *SpotSimulation) grid(s *say.Speaker, scores []deadline.Score) *Grid {
	head := func(id string) string { return s.Text("column." + id) }
	g := &Grid{Columns: []Column{
		{Head: head("policy")}, {Head: head("cost"), Right: true}, {Head: head("of_optimal"), Right: true}, {Head: head("saving"), Right: true},
		{Head: head("preemptions"), Right: true, Drop: 2}, {Head: head("on_spot"), Right: true, Drop: 3}, {Head: head("time"), Right: true, Drop: 1}, {Head: head("missed"), Right: true},
	}}
	for _, v := range scores {
		g.Add(v.Policy, s.Money(v.Cost), ratio(v), overhead(s, v.Saving), s.Number(v.Preemptions), s.Percent(v.SpotShare), fine(s, float64(v.Hours)),
			s.Int(int64(v.Missed)))
	}
	return g
}

// remarks name the traces that were left out.
func (d *SpotSimulation) remarks(s *say.Speaker) []string {
	if len(d.Short) == 0 {
		return nil
	}
	return []string{s.Say("spot.simulate.short", say.Args{"Count": len(d.Short), "Names": d.Short, "Deadline": fine(s, float64(d.Deadline))})}
}

// Wire gives the JSON.
func (d *SpotSimulation) Wire(*say.Speaker) any { return wire.SpotSimulationOf(d.SpotSimulation) }

// Rows gives one row a policy, over all and then by trace, the heads first.
func (d *SpotSimulation) Rows() [][]string {
	rows := [][]string{{"trace", "policy", "runs", "currency", "cost", "ratio_to_optimal", "saving", "preemptions", "spot_share", "hours", "missed"}}
	add := func(name string, scores []deadline.Score) {
		f := func(v float64) string { return strconv.FormatFloat(v, 'g', 9, 64) }
		for _, v := range scores {
			rows = append(rows, []string{name, v.Policy, strconv.Itoa(v.Runs), string(d.Currency), v.Cost.Decimal(), f(v.RatioToOptimal), f(v.Saving), f(v.Preemptions),
				f(v.SpotShare), f(float64(v.Hours)), strconv.Itoa(v.Missed)})
		}
	}
	add("", d.Overall)
	for _, m := range d.Markets {
		add(m.Name, m.Scores)
	}
	return rows
}
