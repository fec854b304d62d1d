package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/front/app"
	"github.com/rackrate/rackrate/internal/front/say"
)

// Offers is the answer of offers list: the machines, or every row where the flat form is asked for.
type Offers struct {
	List *app.OfferList
	Flat bool
	Top  int
	AsOf string
	Age  func(asOf string) (int, bool)
	// Written is the GPUs as asked for, with the chips each means.
	Written []Meant
}

// Meant is a GPU as written and the chips it means; no chips where no name was given.
type Meant struct {
	Text  string
	Chips []string
}

// Text writes the offers for people.
func (d *Offers) Text(p *Printer, wide bool) {
	for _, m := range d.Written {
		if len(m.Chips) > 1 {
			p.Para(p.Say.Say("offers.means", say.Args{"Text": m.Text, "Chips": m.Chips}), 2)
		}
	}
	if len(d.List.Rows) == 0 {
		p.Line(p.Alert(p.Say.Text("offers.none")))
		d.nearest(p)
		return
	}
	p.Para(d.summary(p.Say), 2)
	p.Gap()
	grid := d.grid(p.Say, wide)
	grid.Write(p)
	if more := d.count() - len(grid.Rows); more > 0 {
		p.Line(p.Dim(p.Say.Say("offers.more", say.Args{"Count": more})))
	}
	d.removed(p)
	p.Gap()
	p.Para(p.Dim(p.Say.Text("offers.next")), 0)
}

func (d *Offers) summary(s *say.Speaker) string {
	return s.Say("offers.summary", say.Args{"Offers": len(d.List.Rows), "Machines": len(d.List.Machines), "Total": d.List.Total})
}

// count is the rows there are in the form asked for.
func (d *Offers) count() int {
	if d.Flat {
		return len(d.List.Rows)
	}
	return len(d.List.Machines)
}

func (d *Offers) shown() int {
	if n := d.count(); d.Top == 0 || d.Top > n {
		return n
	}
	return d.Top
}

func (d *Offers) grid(s *say.Speaker, wide bool) *Grid {
	if d.Flat {
		return d.flat(s, wide)
	}
	head := func(id string) string { return s.Text("column." + id) }
	g := &Grid{Columns: []Column{
		{Head: head("provider")}, {Head: head("machine"), Shrink: true}, {Head: head("accelerators"), Squeeze: true},
		{Head: head("ram"), Right: true, Drop: 2}, {Head: head("link"), Drop: 3}, {Head: head("on_demand"), Right: true}, {Head: head("spot"), Right: true}, {Head: head("other"), Right: true},
		{Head: head("per_gpu"), Right: true}, {Head: head("cheapest_in"), Drop: 1}, {Head: head("offers"), Right: true, Drop: 5}, {Head: head("regions"), Right: true, Drop: 4},
	}}
	if wide {
		for i := range g.Columns {
			g.Columns[i].Drop, g.Columns[i].Shrink, g.Columns[i].Squeeze = 0, false, false
		}
	}
	for _, m := range d.List.Machines[:d.shown()] {
		perGPU, where := say.Unknown, say.Unknown
		if m.Least.Known {
			perGPU, where = s.Rate(m.Least.PerAccelerator()), m.Least.Region
		}
		gpus := chips(m.Machine)
		if !wide {
			gpus = strings.TrimSuffix(gpus, m.Accelerator.Name) + shortChip(m.Accelerator)
		}
		g.Add(m.Provider, m.InstanceType, gpus, ram(m.Machine, s), topology(m.Machine, s),
			cheapest(m, catalog.OnDemand, s), cheapest(m, catalog.Spot, s), d.other(m, s, wide), perGPU, where,
			strconv.Itoa(m.Offers), strconv.Itoa(m.Regions))
	}
	g.dropEmpty(otherColumn)
	if asked := d.List.Query.Modes; len(asked) > 0 { // a way of paying that was not asked for has no price here
		for i, mode := range []catalog.BillingMode{catalog.Spot, catalog.OnDemand} {
			if !slices.Contains(asked, mode) {
				g.remove(otherColumn - 1 - i)
			}
		}
	}
	return g
}

// otherColumn is the column of the ways of paying that have none of their own.
const otherColumn = 7

// other is the cheapest price of another way of paying than on demand and spot, with its name; only where it was asked for.
func (d *Offers) other(m app.MachineRow, s *say.Speaker, wide bool) string {
	asked := func(mode catalog.BillingMode) bool { return wide || slices.Contains(d.List.Query.Modes, mode) }
	best := ""
	var least app.OfferRow
	for _, mode := range catalog.Modes() {
		r, ok := m.Cheapest[mode]
		if !ok || mode == catalog.OnDemand || mode == catalog.Spot || !asked(mode) {
			continue
		}
		if best == "" || r.Hourly.Nanos() < least.Hourly.Nanos() {
			best, least = s.Rate(r.Hourly)+" "+s.Value(mode), r
		}
	}
	return best
}

func (d *Offers) flat(s *say.Speaker, wide bool) *Grid {
	head := func(id string) string { return s.Text("column." + id) }
	g := &Grid{Columns: []Column{
		{Head: head("provider")}, {Head: head("machine"), Shrink: true}, {Head: head("accelerators"), Squeeze: true}, {Head: head("region"), Squeeze: true},
		{Head: head("pays")}, {Head: head("hourly"), Right: true}, {Head: head("per_gpu"), Right: true}, {Head: head("age"), Right: true, Drop: 1},
	}}
	if wide {
		g.Columns = append(g.Columns, Column{Head: head("confidence")}, Column{Head: head("source")}, Column{Head: head("doubts")})
		for i := range g.Columns {
			g.Columns[i].Drop, g.Columns[i].Shrink, g.Columns[i].Squeeze = 0, false, false
		}
	}
	for _, r := range d.List.Rows[:d.shown()] {
		cells := []string{
			r.Provider, r.InstanceType, chips(r.Machine), where(r.Offer), mode(r.Price, s), hourly(r, s), perGPU(r, s),
			priceAge(r.Price, d.Age, s),
		}
		if wide {
			cells = append(cells, s.Value(r.Price.Confidence), r.Price.Source, doubts(r.Price.Flags, s))
		}
		g.Add(cells...)
	}
	return g
}

// removed says what each filter left out. An offer that fails two is counted under both, so the figures do not sum.
func (d *Offers) removed(p *Printer) {
	if len(d.List.Removed) == 0 {
		return
	}
	var parts []string
	for _, r := range d.List.Removed {
		parts = append(parts, fmt.Sprintf("--%s %s", r.Filter, p.Say.Value(r.Count)))
	}
	p.Gap()
	p.Para(p.Dim(p.Say.Say("offers.removed", say.Args{"Filters": strings.Join(parts, " · ")})), 2)
}

// nearest says, where nothing is left, what would be there without each filter.
func (d *Offers) nearest(p *Printer) {
	p.Gap()
	indent := 18
	for _, r := range d.List.Removed {
		indent = max(indent, len("  --")+width(r.Filter)+1)
	}
	for _, r := range d.List.Removed {
		filter := "--" + r.Filter
		if r.Nearest == nil {
			p.Hang("  "+filter, p.Say.Say("offers.fails_too", say.Args{"Count": r.Count}), indent)
			continue
		}
		p.Hang("  "+filter, p.Say.Say("offers.without", say.Args{
			"Count": r.Only, "Offer": r.Nearest.Provider + " " + r.Nearest.InstanceType + " " + where(r.Nearest.Offer),
			"GPUs": chips(r.Nearest.Machine), "Price": hourly(*r.Nearest, p.Say), "Mode": mode(r.Nearest.Price, p.Say),
		}), indent)
	}
}

// Markdown writes the table as a piece of a document.
func (d *Offers) Markdown(p *Printer) {
	p.Line(d.summary(p.Say))
	p.Gap()
	d.grid(p.Say, true).Markdown(p)
}

// chips says "8×H100-SXM-80GB".
func chips(m *catalog.Machine) string {
	if m.Count > 0 && m.Count < 1 {
		return share(m.Count) + "×" + m.Accelerator.Name
	}
	return fmt.Sprintf("%g×%s", m.Count, m.Accelerator.Name)
}

func ram(m *catalog.Machine, s *say.Speaker) string {
	if v, ok := m.RAM.Get(); ok {
		return v.Binary()
	}
	return say.Unknown
}

func topology(m *catalog.Machine, s *say.Speaker) string {
	if m.Topology == catalog.Single {
		return ""
	}
	return s.Value(m.Topology)
}

func cheapest(m app.MachineRow, mode catalog.BillingMode, s *say.Speaker) string {
	if r, ok := m.Cheapest[mode]; ok {
		return s.Rate(r.Hourly)
	}
	return say.Unknown
}

func where(o *catalog.Offer) string {
	if o.Zone != "" {
		return o.Zone
	}
	return o.Region
}

func mode(p catalog.Price, s *say.Speaker) string {
	if p.Mode == "" {
		return say.Unknown
	}
	return s.Value(p.Mode)
}

func hourly(r app.OfferRow, s *say.Speaker) string {
	switch {
	case r.Known:
		return s.Rate(r.Hourly)
	case r.Price.Mode != "": // in a currency that cannot be converted
		return s.Rate(r.Price.Hourly)
	}
	return say.Unknown
}

func perGPU(r app.OfferRow, s *say.Speaker) string {
	if !r.Known || r.Count <= 0 {
		return say.Unknown
	}
	return s.Rate(r.PerAccelerator())
}

func priceAge(p catalog.Price, age func(string) (int, bool), s *say.Speaker) string {
	return ageText(p.AsOf, age, s)
}

// ageText is how old a date is; a dash for what is none.
func ageText(asOf string, age func(string) (int, bool), s *say.Speaker) string {
	if days, ok := age(asOf); ok {
		return s.Say("unit.days", say.Args{"N": days})
	}
	return say.Unknown
}

func doubts(flags []catalog.Flag, s *say.Speaker) string {
	var names []string
	for _, f := range flags {
		if f != "" {
			names = append(names, s.Value(f))
		}
	}
	return s.List(names)
}
