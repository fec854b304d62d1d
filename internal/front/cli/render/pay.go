package render

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/choose/plan"
	"github.com/rackrate/rackrate/internal/choose/price"
	"github.com/rackrate/rackrate/internal/front/say"
)

// mixes says how each mix that is shown is made up, and what it saves.
func (d *Plans) mixes(s *say.Speaker) (lines []entry) {
	for _, q := range d.shown() {
		if q.Mix == nil {
			continue
		}
		var parts []string
		for _, v := range q.Mix.Shares {
			parts = append(parts, mixPart(v, s))
		}
		lines = append(lines, entry{"#" + strconv.Itoa(q.Rank), s.Say("plan.mix", say.Args{"Parts": strings.Join(parts, " + "), "Saving": saving(q, s)})})
	}
	return lines
}

// mixPart says "2 × reserved 1 y all day (41 %)".
func mixPart(v plan.Share, s *say.Speaker) string {
	id, hours := "plan.mix.by_hour", 0
	for _, n := range v.ByHour {
		if n > 0 {
			hours++
		}
	}
	switch {
	case v.Steady:
		id = "plan.mix.committed"
	case v.Mode.Term() > 0:
		id = "plan.mix.staggered"
	}
	return s.Say(id, say.Args{"Machines": v.Machines, "Mode": v.Mode, "Hours": hours, "Share": s.Percent(v.Of)})
}

// saving says how far a mix's compute is below on demand, at the peak all day and by the hour.
func saving(q plan.Plan, s *say.Speaker) string {
	compute := q.Cost.Lines[0].Amount
	below := func(of money.Amount) string { return s.Percent(1 - compute.Float()/of.Float()) }
	return s.Say("plan.mix.saving", say.Args{"AtPeak": below(q.Mix.AtPeak), "ByTheHour": below(q.Mix.ByTheHour)})
}

// mixText is the machines of a mix for a program: "reserved-1y:2 on-demand:8".
func mixText(m *plan.Mixture) string {
	if m == nil {
		return ""
	}
	var parts []string
	for _, v := range m.Shares {
		parts = append(parts, fmt.Sprintf("%s:%d", v.Mode, v.Machines))
	}
	return strings.Join(parts, " ")
}

// upfront is what is paid at the starts of terms in all.
func upfront(f price.Flow, c money.Currency) money.Amount {
	sum := money.Zero(c)
	for _, m := range f {
		sum = sum.Add(m.Upfront)
	}
	return sum
}

// mix explains the parts of a mix.
func (e explainer) mix() {
	if e.q.Mix == nil {
		return
	}
	e.head("mix", saving(*e.q, e.s))
	for _, v := range e.q.Mix.Shares {
		idle := ""
		if v.Idle > 0 {
			idle = e.s.Percent(float64(v.Idle / v.Hours))
		}
		e.more(e.s.Say("explain.mix.part", say.Args{
			"Part": mixPart(v, e.s), "Cost": e.s.MoneyExact(v.Cost), "Price": rate4(e.s, v.Hourly), "Hours": e.s.Number(float64(v.Hours)),
			"Idle": idle, "AsOf": v.Price.AsOf, "Source": v.Price.Source,
		}))
	}
	for _, v := range e.q.Mix.Shares {
		if len(v.Bought) > 1 || len(v.Bought) == 1 && !v.Steady {
			e.more(e.s.Say("explain.mix.buys", say.Args{"Mode": v.Mode, "Buys": e.buys(v.Bought)}))
		}
		if when := e.when(v); when != "" {
			e.more(when)
		}
	}
}

// buys lists purchases: "4 in month 1, 4 in month 5".
func (e explainer) buys(bought []price.Purchase) string {
	var out []string
	for _, b := range bought {
		out = append(out, e.s.Say("explain.mix.buy", say.Args{"Machines": b.Machines, "Month": b.Start + 1}))
	}
	if len(out) > manySpans {
		out = append(out[:manySpans-1], e.s.Say("explain.also.more", say.Args{"Count": len(out) - manySpans + 1}))
	}
	return e.s.List(out)
}

// manySpans is how many stretches of the day are listed; JSON has every hour.
const manySpans = 8

// when lists the machines of a share through the day; empty where they are as many all day, or change too often to read.
func (e explainer) when(v plan.Share) string {
	if v.Mode.Term() > 0 {
		return "" // all day
	}
	var spans []string
	for from := 0; from < 24; {
		to := from + 1
		for to < 24 && v.ByHour[to] == v.ByHour[from] {
			to++
		}
		if v.ByHour[from] > 0 {
			spans = append(spans, e.s.Say("explain.mix.span", say.Args{"Machines": v.ByHour[from], "From": from, "To": to}))
		}
		if from == 0 && to == 24 {
			return ""
		}
		from = to
	}
	if len(spans) > manySpans {
		return ""
	}
	return e.s.Say("explain.mix.when", say.Args{"Mode": v.Mode, "Spans": e.s.List(spans)})
}

// pays says when compute is paid and what an hour of use comes to.
func (e explainer) pays() {
	c := e.q.Cost
	var parts []string
	for _, d := range dues(c.Flow) {
		if !d.Upfront.IsZero() {
			parts = append(parts, e.s.Say("explain.pays.upfront", say.Args{"Amount": e.s.MoneyExact(d.Upfront), "Month": d.from}))
		}
		if !d.Running.IsZero() {
			parts = append(parts, e.s.Say("explain.pays.running", say.Args{"Amount": e.s.MoneyExact(d.Running), "From": d.from, "To": last(d), "Count": d.to - d.from + 1}))
		}
	}
	if len(parts) > manySpans {
		parts = append(parts[:manySpans-1], e.s.Say("explain.also.more", say.Args{"Count": len(parts) - manySpans + 1}))
	}
	e.head("pays", e.s.Clauses(parts))
	e.more(e.s.Say("explain.pays.effective", say.Args{"Price": rate4(e.s, c.Effective)}))
	if c.Runs > 1 {
		e.more(e.s.Say("explain.pays.run", say.Args{"Amount": e.s.MoneyExact(c.PerRun), "Count": c.Runs}))
	}
}

// due is what is paid in each of a row of months, counted from 1.
type due struct {
	price.Month
	from, to int
}

func last(d due) string {
	if d.to == d.from {
		return ""
	}
	return strconv.Itoa(d.to)
}

// dues puts months together that pay the same to the cent.
func dues(f price.Flow) (out []due) {
	cents := func(a money.Amount) int64 { return (a.Micros() + 5000) / 10000 }
	for i, m := range f {
		if n := len(out); n > 0 && m.Upfront == out[n-1].Upfront && cents(m.Running) == cents(out[n-1].Running) && m.Upfront.IsZero() {
			out[n-1].to = i + 1
			continue
		}
		out = append(out, due{m, i + 1, i + 1})
	}
	return out
}

// serverless says how a service on serverless workers behaves.
func (e explainer) serverless() {
	v := e.q.Serverless
	if v == nil {
		return
	}
	warm := ""
	switch {
	case v.MostWarm > v.LeastWarm:
		warm = fmt.Sprintf("%d–%d", v.LeastWarm, v.MostWarm)
	case v.MostWarm > 0:
		warm = strconv.Itoa(v.MostWarm)
	}
	e.head("serverless", e.s.Say("explain.serverless.line", say.Args{"Workers": v.Workers, "Warm": warm, "KeepAlive": v.KeepAlive}))
	e.more(e.s.Say("explain.serverless.cold", say.Args{"Share": e.s.Percent(v.Cold), "Start": v.ColdStart}))
}
