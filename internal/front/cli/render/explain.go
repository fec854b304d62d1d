package render

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/plan"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/front/say"
)

// labelColumn is how wide the labels of an explanation stand.
const labelColumn = 12

// explain takes one plan apart: the data behind every number, with its source and date.
func (d *Plans) explain(p *Printer) {
	q := &d.Result.Plans[d.Explain-1]
	s := p.Say
	p.Para(p.Bold(s.Say("explain.title", say.Args{"Rank": q.Rank, "Plan": strings.Join([]string{place(q), machineName(q), gpus(q), s.Value(q.Billing)}, " · ")})), 2)
	p.Para(Asked(d.Result.Workload, s), 2)
	p.Gap()
	e := explainer{p, s, d, q}
	e.price()
	e.chip()
	e.machine()
	e.layout()
	e.memory()
	e.speed()
	e.time()
	e.serving()
	e.spot()
	e.serverless()
	e.cost()
	e.mix()
	e.pays()
	e.carbon()
	e.remarks()
	e.sizes()
	e.elsewhere()
}

// explainer writes the sections of an explanation.
type explainer struct {
	p *Printer
	s *say.Speaker
	d *Plans
	q *plan.Plan
}

// head writes the first line of a section; its further lines follow under it.
func (e explainer) head(section, text string) {
	e.p.Hang(e.s.Text("explain."+section), text, labelColumn)
}

func (e explainer) more(text string) { e.p.Hang("", text, labelColumn) }

func machineName(q *plan.Plan) string {
	if q.Instances > 1 {
		return fmt.Sprintf("%s ×%d", q.Offer.InstanceType, q.Instances)
	}
	return q.Offer.InstanceType
}

func (e explainer) price() {
	price := e.q.Price
	args := say.Args{
		"Price": price.Hourly, "Mode": price.Mode, "AsOf": price.AsOf, "Source": price.Source,
		"Confidence": price.Confidence, "Age": e.d.age(e.q, e.s),
	}
	e.head("price", e.s.Say("explain.price.line", args))
	if price.Hourly.Currency() != e.q.Hourly.Currency() {
		e.more(e.s.Say("explain.price.converted", say.Args{
			"Price": e.q.Hourly, "AsOf": e.d.Result.FXAsOf, "Source": e.d.Result.FXSource,
		}))
	}
	for _, f := range price.Flags {
		e.more(e.s.Value(f))
	}
}

func (e explainer) chip() {
	a := e.q.Offer.Accelerator
	e.head("chip", chipFacts(a, e.q.Estimate.Precision, e.s))
	e.more(e.sourced(a.Source, a.AsOf, e.s.Value(a.Confidence)))
}

func (e explainer) sourced(source, asOf, confidence string) string {
	return e.p.Dim(e.s.Say("explain.source", say.Args{"Source": source, "AsOf": asOf, "Confidence": confidence}))
}

func (e explainer) machine() {
	m := e.q.Offer.Machine
	e.head("machine", machineFacts(m, e.s))
	if m.Source != "" {
		e.more(e.sourced(m.Source, m.AsOf, e.s.Term("topology_known", yes(m.TopologyKnown))))
	}
	for _, f := range m.Flags {
		e.more(e.s.Value(f))
	}
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func (e explainer) layout() {
	l := e.q.Estimate.Layout
	e.head("layout", layout(l))
	if words := layoutWords(l, e.s); words != layout(l) {
		e.more(e.p.Dim(words))
	}
}

func (e explainer) memory() {
	m := e.q.Estimate.Memory
	e.head("memory", e.s.Say("explain.memory.line", say.Args{
		"Used": m.Used.Binary(), "Capacity": m.Capacity.Binary(), "Free": m.Free().Binary(),
	}))
	g := &Grid{Columns: []Column{{}, {}, {Right: true}}}
	indent := strings.Repeat(" ", labelColumn-2)
	for _, part := range m.Parts {
		g.Add(indent, e.s.Term("part", part.Name), part.Bytes.Binary())
	}
	g.Write(e.p)
}

func (e explainer) speed() {
	est := e.q.Estimate
	v := est.Speed
	e.head("speed", e.s.Say("explain.speed.line", say.Args{
		"Speed": speed(e.s, v), "Range": e.s.NumberRange(v.Low, v.High), "Basis": v.Basis,
	}))
	if v.Source != "" {
		e.more(e.s.Say("explain.speed.source", say.Args{"Source": v.Source}))
	}
	switch {
	case v.Target != "":
		e.more(e.s.Say("explain.speed.like", say.Args{"Like": v.Like, "Measurements": v.Measurements, "Target": string(v.Target)}))
	case v.Like != "":
		e.more(e.s.Value(v.Like))
	}
	line := e.s.Say("explain.speed.precision", say.Args{"Precision": est.Precision})
	if est.MFU > 0 {
		line += " · MFU " + e.s.Percent(est.MFU)
	}
	e.more(line)
	e.head("bottleneck", byShare(e.s, est.Bottleneck))
}

func (e explainer) time() {
	t := e.q.Time
	p95 := ""
	if t.P95Hours > t.Hours {
		p95 = e.s.Hours(t.P95Hours)
	}
	hours := withRange(e.s.Hours(t.Hours), e.s.HoursRange(t.LowHours, t.HighHours))
	e.head("time", e.s.Say("explain.time.line", say.Args{"Hours": hours, "P95": p95}))
	est := e.q.Estimate
	if est.Work > 0 && est.Speed.Value > 0 && est.Serving.RequestsPerSecond == 0 {
		e.more(e.s.Say("explain.time.work", say.Args{
			"Work":  count3(est.Work) + " " + e.s.Term("work", est.Speed.Unit),
			"Speed": speed(e.s, est.Speed), "Hours": est.Hours, "Start": e.start(),
		}))
	}
}

// start is how long the machines take to get to work; empty where that is not counted.
func (e explainer) start() string {
	if e.q.Time.Start == 0 {
		return ""
	}
	return e.s.Hours(e.q.Time.Start)
}

func (e explainer) serving() {
	v := e.q.Estimate.Serving
	if v.Replicas == 0 && v.RequestsPerSecond == 0 {
		return
	}
	line, latency := "explain.serving.line", "explain.serving.latency"
	if e.d.Result.Workload.Kind != workload.Serve { // a queue that is worked off has no peak
		line, latency = "explain.serving.offline", "explain.serving.full"
	}
	e.head("serving", e.s.Say(line, say.Args{
		"Replicas": v.Replicas, "Needed": v.ReplicasNeeded, "Each": v.AcceleratorsPerReplica,
		"Rate": v.RequestsPerSecond, "Concurrency": v.Concurrency,
	}))
	if v.TTFT == 0 { // an answer that comes at once
		latency = "explain.serving.sample"
	}
	e.more(e.s.Say(latency, say.Args{"TTFT": e.within(v.TTFT, v, 0), "TPOT": e.within(v.TPOT, v, 1), "E2E": e.within(v.E2E, v, 2)}))
	if items := e.byHour(v.ByHour); len(items) > 1 {
		e.more(e.s.Say("explain.serving.hours", say.Args{"Items": items}))
	}
}

// within is a latency with its interval.
func (e explainer) within(h unit.Hours, v estimate.Serving, i int) string {
	text := e.s.Hours(h)
	if v.Highs[i] > 0 {
		text += " (" + e.s.HoursRange(v.Lows[i], v.Highs[i]) + ")"
	}
	return text
}

// byHour says how many replicas are needed for how many hours of the day, the fewest first.
func (e explainer) byHour(replicas [24]int) (items []string) {
	hours := map[int]int{}
	for _, n := range replicas {
		hours[n]++
	}
	for _, n := range slices.Sorted(maps.Keys(hours)) {
		items = append(items, e.s.Say("explain.serving.hours_part", say.Args{"Replicas": n, "Hours": hours[n]}))
	}
	return items
}

func (e explainer) spot() {
	v := e.q.Spot
	if v == nil {
		return
	}
	e.head("spot", e.s.Say("explain.spot.line", say.Args{
		"PerHour": v.PerHour, "Basis": e.s.Term("spot_basis", string(v.Basis)), "Source": v.Source, "Expected": v.ExpectedPreemptions,
	}))
	every := ""
	if v.CheckpointEvery > 0 {
		every = e.s.Hours(v.CheckpointEvery)
	}
	notice := ""
	if v.Notice.Known() {
		notice = say.Maybe(e.s, v.Notice)
	}
	e.more(e.s.Say("explain.spot.checkpoint", say.Args{
		"Notice": notice, "Every": every, "Overhead": e.s.Percent(v.Overhead - 1),
	}))
}

func (e explainer) cost() {
	c := e.q.Cost
	g := &Grid{Columns: []Column{{}, {}, {Right: true}, {}}}
	indent := strings.Repeat(" ", labelColumn-2)
	e.head("cost", e.s.Say("explain.cost.line", say.Args{
		"Total": withRange(e.s.MoneyExact(c.Total), e.interval(c)), "Unit": perUnit(e.q, e.s), "Per": perName(c, e.s),
	}))
	for _, l := range c.Lines {
		g.Add(indent, e.s.Value(l.Item), e.s.MoneyExact(l.Amount), e.p.Dim(e.arithmetic(l)))
	}
	g.Add(indent, e.s.Text("explain.cost.total"), e.s.MoneyExact(c.Total), "")
	g.Write(e.p)
	if len(c.Unknown) > 0 {
		var items []string
		for _, item := range c.Unknown {
			items = append(items, e.s.Value(item))
		}
		e.more(e.p.Alert(e.s.Say("explain.cost.unknown", say.Args{"Items": items})))
	}
}

// interval is the range of a cost, or the cost where it has none.
func (e explainer) interval(c plan.Cost) string {
	if c.Low == c.High {
		return e.s.MoneyExact(c.Total)
	}
	return e.s.MoneyRange(c.Low, c.High)
}

// perName is the unit of work a cost is divided by; empty where there is none.
func perName(c plan.Cost, s *say.Speaker) string {
	if c.PerUnit.Unit == "" {
		return ""
	}
	return s.Term("per", c.PerUnit.Unit)
}

// arithmetic says how a line comes about where it is a product the reader can redo: machines × price × hours.
func (e explainer) arithmetic(l plan.Line) string {
	switch {
	case l.Assumed:
		return e.s.Text("explain.cost.assumed")
	case l.Item != plan.Compute || e.q.Mix != nil:
		return ""
	}
	if e.q.Serverless != nil || e.q.Cost.Runs > 1 || e.q.Estimate.Serving.ByHour != [24]int{} {
		return e.s.Say("explain.cost.compute_hours", say.Args{
			"Price": rate4(e.s, e.q.Hourly), "Billed": e.s.Number(l.Amount.Float() / e.q.Hourly.Float()),
		})
	}
	hourly := e.q.Hourly.Float() * float64(e.q.Instances)
	if hourly <= 0 {
		return ""
	}
	billed := unit.Hours(l.Amount.Float() / hourly)
	id := "explain.cost.compute"
	if math.Abs(float64(billed-e.q.Time.Hours)) > 0.01*float64(e.q.Time.Hours) {
		id = "explain.cost.compute_billed" // a minimum charge, a term or whole hours are paid for
	}
	return e.s.Say(id, say.Args{
		"Machines": e.q.Instances, "Price": rate4(e.s, e.q.Hourly), "Billed": fmt.Sprintf("%.2f", float64(billed)), "Hours": e.q.Time.Hours,
	})
}

// rate4 prints a price an hour finely enough to multiply by.
func rate4(s *say.Speaker, r money.Rate) string {
	digits := strings.TrimSuffix(strconv.FormatFloat(r.Float(), 'f', 4, 64), "00")
	return s.Symbol(r.Currency()) + digits
}

func (e explainer) carbon() {
	c := e.q.Carbon
	kg, ok := c.Kg.Get()
	if !ok {
		e.head("carbon", e.s.Text("explain.carbon.unknown"))
		return
	}
	e.head("carbon", e.s.Say("explain.carbon.line", say.Args{
		"Kg": kg, "Energy": say.Maybe(e.s, c.Energy), "Grid": say.Maybe(e.s, c.Grid), "Basis": e.s.Term("carbon_basis", c.Basis),
	}))
}

func (e explainer) remarks() {
	for i, w := range e.q.Warnings {
		label := ""
		if i == 0 {
			label = e.s.Text("explain.warnings")
		}
		e.p.Hang(label, e.s.Warning(w), labelColumn)
	}
	for i, n := range e.q.Estimate.Notes {
		label := ""
		if i == 0 {
			label = e.s.Text("explain.notes")
		}
		e.p.Hang(label, e.s.Note(n), labelColumn)
	}
}

// manySizes is how many other numbers of machines are listed; JSON has them all.
const manySizes = 6

// sizes lists the same machine in other numbers, best first.
func (e explainer) sizes() {
	label := e.s.Text("explain.sizes")
	for i, z := range e.q.Sizes {
		if i == manySizes {
			e.more(e.s.Say("explain.also.more", say.Args{"Count": len(e.q.Sizes) - i}))
			break
		}
		mark := ""
		if z.OnFront {
			mark = " ◆"
		}
		e.p.Hang(label, e.s.Say("explain.size", say.Args{"Instances": z.Instances, "Hours": z.Hours, "Total": z.Total})+mark, labelColumn)
		label = ""
	}
}

func (e explainer) elsewhere() {
	var places []string
	for i, other := range e.q.AlsoIn {
		if i == 8 {
			places = append(places, e.s.Say("explain.also.more", say.Args{"Count": len(e.q.AlsoIn) - i}))
			break
		}
		name := other.Region
		if other.Zone != "" {
			name = other.Zone
		}
		places = append(places, name+" "+e.s.Money(other.Total))
	}
	if len(places) > 0 {
		e.head("also", strings.Join(places, " · "))
	}
}
