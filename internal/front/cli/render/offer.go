package render

import (
	"maps"
	"slices"
	"strings"

	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/front/app"
	"github.com/rackrate/rackrate/internal/front/say"
	"github.com/rackrate/rackrate/internal/front/wire"
)

// Offer is the answer of offers show: one machine with every price there is for it.
type Offer struct {
	Offer *app.Offer
	AsOf  string
	Age   func(asOf string) (int, bool)
}

// Text writes the machine for people.
func (d *Offer) Text(p *Printer, _ bool) {
	s, o := p.Say, d.Offer
	p.Line(p.Bold(o.Provider + " " + o.InstanceType + " · " + chips(o.Machine)))
	p.Gap()
	p.Hang(s.Text("explain.chip"), chipFacts(o.Accelerator, accelerator.BF16, s), labelColumn)
	p.Hang("", p.Dim(s.Say("explain.source", say.Args{"Source": o.Accelerator.Source, "AsOf": o.Accelerator.AsOf, "Confidence": s.Value(o.Accelerator.Confidence)})), labelColumn)
	p.Hang(s.Text("explain.machine"), machineFacts(o.Machine, s), labelColumn)
	if text := doubts(o.Flags, s); text != "" {
		p.Hang("", text, labelColumn)
	}
	p.Gap()
	marks := newMarks()
	d.grid(s, marks).Write(p)
	marks.write(p)
	d.sources(p)
}

func (d *Offer) grid(s *say.Speaker, marks *marks) *Grid {
	head := func(id string) string { return s.Text("column." + id) }
	g := &Grid{Columns: []Column{
		{Head: head("region")}, {Head: head("pays")}, {Head: head("hourly"), Right: true}, {Head: head("per_gpu"), Right: true},
		{Head: head("quoted"), Right: true}, {Head: head("as_of"), Drop: 3}, {Head: head("age"), Right: true}, {Head: head("confidence"), Drop: 2},
		{Head: head("source"), Drop: 1}, {Head: "⚑"},
	}}
	for _, r := range d.Offer.Rows {
		quoted := ""
		if r.Known && r.Price.Hourly.Currency() != r.Hourly.Currency() {
			quoted = s.Rate(r.Price.Hourly)
		}
		asOf := r.Price.AsOf
		if asOf == "" {
			asOf = say.Unknown
		}
		g.Add(where(r.Offer), mode(r.Price, s), hourly(r, s), perGPU(r, s), quoted, asOf,
			priceAge(r.Price, d.Age, s), s.Value(r.Price.Confidence), r.Price.Source, marks.of(r.Price.Flags, s))
	}
	g.dropEmpty(4)
	return g
}

// sources says where the figures came from.
func (d *Offer) sources(p *Printer) {
	if len(d.Offer.Sources) == 0 {
		return
	}
	p.Gap()
	p.Line(p.Bold(p.Say.Text("offer.sources")))
	for _, id := range slices.Sorted(maps.Keys(d.Offer.Sources)) {
		src := d.Offer.Sources[id]
		p.Hang("  "+id, strings.Join([]string{src.Title, src.Date, src.Reference}, " · "), max(labelColumn, width(id)+4))
	}
}

// Markdown writes the table as a piece of a document.
func (d *Offer) Markdown(p *Printer) {
	p.Line("## ", d.Offer.Provider, " ", d.Offer.InstanceType, " · ", chips(d.Offer.Machine))
	p.Gap()
	p.Line(machineFacts(d.Offer.Machine, p.Say))
	p.Gap()
	marks := newMarks()
	d.grid(p.Say, marks).Markdown(p)
	p.Gap()
	for _, e := range marks.entries {
		p.Line("- **", e.letter, "** ", e.text)
	}
}

// Wire gives the JSON.
func (d *Offer) Wire(*say.Speaker) any {
	o := d.Offer
	out := wire.OfferDetail{
		Schema: wire.OfferSchema, AsOf: d.AsOf, Currency: string(o.Currency), Provider: o.Provider, InstanceType: o.InstanceType,
		Accelerators: o.Count, Chip: wire.ChipOf(o.Accelerator), Machine: wire.MachineOf(o.Machine),
		Offers: []wire.OfferPrice{}, Sources: []wire.Source{},
	}
	for _, r := range o.Rows {
		out.Offers = append(out.Offers, rowOf(r, d.Age))
	}
	for _, id := range slices.Sorted(maps.Keys(o.Sources)) {
		out.Sources = append(out.Sources, wire.SourceOf(o.Sources[id]))
	}
	return out
}

// Rows gives one row a price, the heads first.
func (d *Offer) Rows() [][]string { return offerRows(d.Offer.Rows) }

// marks gives each reason to doubt a price a letter.
type marks struct {
	entries []entry
	letter  map[catalog.Flag]string
}

func newMarks() *marks { return &marks{letter: map[catalog.Flag]string{}} }

func (m *marks) of(flags []catalog.Flag, s *say.Speaker) string {
	out := ""
	for _, f := range flags {
		if f == "" {
			continue
		}
		if m.letter[f] == "" {
			m.letter[f] = letterOf(len(m.entries))
			m.entries = append(m.entries, entry{m.letter[f], s.Value(f)})
		}
		out += m.letter[f]
	}
	return out
}

func (m *marks) write(p *Printer) {
	if len(m.entries) > 0 {
		p.Gap()
	}
	for _, e := range m.entries {
		p.Hang(" "+e.letter, e.text, 3)
	}
}
