package render

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/front/app"
	"github.com/rackrate/rackrate/internal/front/chart"
	"github.com/rackrate/rackrate/internal/front/say"
	"github.com/rackrate/rackrate/internal/front/wire"
)

// History is the answer of catalog history.
type History struct {
	*app.History
	Today string
	Top   int // series shown; 0 is all
}

// Text writes a line of each series with its course drawn small, those that changed most often first.
func (d *History) Text(p *Printer, wide bool) {
	s := p.Say
	p.Para(p.Bold(d.Provider+" "+d.InstanceType+" · "+chips(d.Machine)), 2)
	p.Para(p.Dim(s.Say("history.span", say.Args{"From": d.From, "To": d.Today, "Count": len(d.Series)})), 2)
	p.Gap()
	top := d.Top
	if wide {
		top = 0
	}
	grid := d.grid(s, top)
	grid.Write(p)
	if more := len(d.Series) - len(grid.Rows); more > 0 {
		p.Line(p.Dim(s.Say("history.more", say.Args{"Count": more})))
	}
}

// Markdown writes the table of all series.
func (d *History) Markdown(p *Printer) { d.grid(p.Say, 0).Markdown(p) }

func (d *History) grid(s *say.Speaker, top int) *Grid {
	head := func(id string) string { return s.Text("column." + id) }
	g := &Grid{Columns: []Column{
		{Head: head("region"), Shrink: true}, {Head: head("pays")}, {Head: head("source"), Shrink: true, Drop: 3}, {Head: head("first"), Drop: 2},
		{Head: head("price"), Right: true}, {Head: head("course")}, {Head: head("now"), Right: true}, {Head: head("change"), Right: true}, {Head: head("since"), Drop: 1},
	}}
	for i, x := range d.changed() {
		if top > 0 && i == top {
			break
		}
		first, last := x.Points[0], x.Points[len(x.Points)-1]
		g.Add(placeOfSeries(x), s.Value(x.Mode), x.Source, first.Day, pointText(first, s), d.spark(x), pointText(last, s), changeText(first, last, s), last.Day)
	}
	return g
}

// changed lists the series, those that changed most often first.
func (d *History) changed() []*app.PriceSeries {
	order := make([]*app.PriceSeries, len(d.Series))
	for i := range d.Series {
		order[i] = &d.Series[i]
	}
	slices.SortStableFunc(order, func(a, b *app.PriceSeries) int { return -cmp.Compare(len(a.Points), len(b.Points)) })
	return order
}

// placeOfSeries names the place that a price holds in; some markets name no region.
func placeOfSeries(x *app.PriceSeries) string { return cmp.Or(x.Zone, x.Region, say.Unknown) }

func pointText(p app.PricePoint, s *say.Speaker) string {
	if !p.Known {
		return say.Unknown
	}
	return s.Rate(p.Hourly)
}

// changeText is by how much the last price differs from the first.
func changeText(first, last app.PricePoint, s *say.Speaker) string {
	if !first.Known || !last.Known || first.Hourly.IsZero() {
		return say.Unknown
	}
	share := last.Hourly.Float()/first.Hourly.Float() - 1
	if math.Abs(share) < 0.0005 {
		return "="
	}
	text := s.Percent(math.Abs(share))
	if share < 0 {
		return "−" + text
	}
	return "+" + text
}

// bars are the heights of a small chart in one line.
var bars = []rune("▁▂▃▄▅▆▇█")

// sparkWidth is how many columns a course is drawn in.
const sparkWidth = 20

// spark draws a series over the whole span of the answer: each column is the price at the end of its part of the time, between the
// least and the most of the series; a dot where none was offered.
func (d *History) spark(x *app.PriceSeries) string {
	low, high := math.Inf(1), 0.0
	for _, p := range x.Points {
		if p.Known {
			low, high = min(low, p.Hourly.Float()), max(high, p.Hourly.Float())
		}
	}
	var b strings.Builder
	for i := range sparkWidth {
		p := pointAt(x, d.day(i+1))
		switch {
		case p == nil:
			b.WriteByte(' ')
		case !p.Known:
			b.WriteRune('·')
		case high == low:
			b.WriteRune(bars[3])
		default:
			b.WriteRune(bars[int(math.Round((p.Hourly.Float()-low)/(high-low)*float64(len(bars)-1)))])
		}
	}
	return b.String()
}

// day is the ISO day at the end of a column of the span from the first point to the day that is looked at.
func (d *History) day(column int) string {
	from, err1 := time.Parse(time.DateOnly, d.From)
	to, err2 := time.Parse(time.DateOnly, d.Today)
	if err1 != nil || err2 != nil {
		return d.Today
	}
	return from.Add(to.Sub(from) * time.Duration(column) / sparkWidth).Format(time.DateOnly)
}

// pointAt is the point in force on a day; nil before the first.
func pointAt(x *app.PriceSeries, day string) *app.PricePoint {
	i := slices.IndexFunc(x.Points, func(p app.PricePoint) bool { return p.Day > day })
	switch {
	case i < 0:
		return &x.Points[len(x.Points)-1]
	case i == 0:
		return nil
	}
	return &x.Points[i-1]
}

// mostDrawn is how many series a chart can show, and mostSteps how many steps: a year's days; longer spans have steps of several.
const (
	mostDrawn = 9
	mostSteps = 366
)

// Chart draws the series that changed most, or the first where none did, over the days there is a price of one of them.
func (d *History) Chart(s *say.Speaker) *chart.Lines {
	drawn := d.changed()
	drawn = drawn[:min(mostDrawn, len(drawn))]
	from := d.Today
	for _, x := range drawn {
		from = min(from, x.Points[0].Day)
	}
	age, _ := catalog.AgeDays(from, d.Today)
	days := max(0, age) + 1
	each := (days + mostSteps - 1) / mostSteps
	c := &chart.Lines{
		Title: s.Say("history.chart", say.Args{"Name": d.Provider + " " + d.InstanceType}), YName: string(d.Currency) + "/h",
		Number: func(v float64) string { return s.MoneyShort(v, d.Currency) },
		Begins: func(step int) string { return later(from, (step-1)*each) },
	}
	for i, x := range drawn {
		line := chart.Series{Mark: string(rune('1' + i)), Name: placeOfSeries(x) + " · " + s.Value(x.Mode) + " · " + x.Source}
		for n := 0; n < days; n += each {
			v := math.NaN()
			if p := pointAt(x, later(from, min(n+each, days)-1)); p != nil && p.Known {
				v = p.Hourly.Float()
			}
			line.Values = append(line.Values, v)
		}
		c.Series = append(c.Series, line)
	}
	return c
}

// later is the day so many days after another.
func later(day string, days int) string {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return day
	}
	return t.AddDate(0, 0, days).Format(time.DateOnly)
}

// Wire gives the JSON.
func (d *History) Wire(*say.Speaker) any {
	out := wire.CatalogHistory{
		Schema: wire.CatalogHistorySchema, AsOf: d.Today, Currency: string(d.Currency), Provider: d.Provider, InstanceType: d.InstanceType,
		Series: []wire.PriceSeries{},
	}
	for _, x := range d.Series {
		series := wire.PriceSeries{Source: x.Source, Region: x.Region, Zone: wire.Text(x.Zone), Billing: string(x.Mode)}
		for _, p := range x.Points {
			point := wire.PricePoint{Day: p.Day, Quoted: wire.Quote(p.Quoted)}
			if p.Known {
				point.Hourly = wire.Quote(p.Hourly)
			}
			series.Points = append(series.Points, point)
		}
		out.Series = append(out.Series, series)
	}
	return out
}

// Rows gives one row a point, the heads first.
func (d *History) Rows() [][]string {
	rows := [][]string{{"source", "region", "zone", "billing", "day", "hourly", "currency"}}
	for _, x := range d.Series {
		for _, p := range x.Points {
			hourly, currency := rateCells(p.Quoted)
			rows = append(rows, []string{x.Source, x.Region, x.Zone, string(x.Mode), p.Day, hourly, currency})
		}
	}
	return rows
}

// rateCells are an hourly price as cells; empty where there is none.
func rateCells(r money.Rate) (hourly, currency string) {
	if r.IsZero() {
		return "", ""
	}
	return r.Decimal(), string(r.Currency())
}
