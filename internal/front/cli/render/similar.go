package render

import (
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/front/app"
	"github.com/rackrate/rackrate/internal/front/say"
	"github.com/rackrate/rackrate/internal/front/wire"
)

// Similar is the answer of offers similar: machines that could stand in for one, nearest first.
type Similar struct {
	Like  *app.Offer
	Found []app.OfferRow
	AsOf  string
}

// Text writes the machines for people, the one that was asked about first.
func (d *Similar) Text(p *Printer, _ bool) {
	p.Para(p.Bold(p.Say.Say("similar.title", say.Args{"Name": d.Like.Provider + " " + d.Like.InstanceType, "GPUs": chips(d.Like.Machine)})), 2)
	p.Gap()
	d.grid(p.Say).Write(p)
	p.Gap()
	p.Para(p.Dim(p.Say.Text("similar.next")), 0)
}

func (d *Similar) grid(s *say.Speaker) *Grid {
	head := func(id string) string { return s.Text("column." + id) }
	g := &Grid{Columns: []Column{
		{Head: head("provider")}, {Head: head("machine"), Shrink: true}, {Head: head("accelerators")}, {Head: head("memory_gb"), Right: true},
		{Head: head("bandwidth"), Right: true, Drop: 3}, {Head: head("bf16"), Right: true, Drop: 2}, {Head: head("pays")}, {Head: head("hourly"), Right: true},
		{Head: head("per_gpu"), Right: true}, {Head: head("region"), Drop: 1},
	}}
	add := func(m *catalog.Machine, r app.OfferRow) {
		a := m.Accelerator
		g.Add(m.Provider, m.InstanceType, chips(m), say.Maybe(s, a.NominalGB), say.Maybe(s, a.Bandwidth),
			say.Maybe(s, a.Peak[accelerator.BF16]), mode(r.Price, s), hourly(r, s), perGPU(r, s), where(r.Offer))
	}
	for _, r := range d.Found {
		add(r.Machine, r)
	}
	return g
}

// Markdown writes the table as a piece of a document.
func (d *Similar) Markdown(p *Printer) { d.grid(p.Say).Markdown(p) }

// Wire gives the JSON.
func (d *Similar) Wire(*say.Speaker) any {
	name := d.Like.Provider + "/" + d.Like.InstanceType
	out := wire.OfferList{
		Schema: wire.OffersSchema, AsOf: d.AsOf, Currency: string(d.Like.Currency), Total: len(d.Found), Matched: len(d.Found),
		Like: &name, Removed: []wire.Removed{}, Machines: []wire.OfferMachine{}, Offers: []wire.OfferPrice{},
	}
	for _, r := range d.Found {
		out.Offers = append(out.Offers, rowOf(r, func(string) (int, bool) { return 0, false }))
	}
	return out
}

// Rows gives one row a machine, the heads first.
func (d *Similar) Rows() [][]string { return offerRows(d.Found) }
