package render

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/front/say"
)

// Verified is the answer of catalog verify.
type Verified struct {
	// Top is how many findings of each kind are shown; 0 is all.
	Top   int
	files []verifiedFile
}

type verifiedFile struct {
	name   string // empty for the catalog that ships with the program
	rows   int
	faults []catalog.Fault
}

// Add adds the findings of a file with so many rows.
func (d *Verified) Add(name string, rows int, faults []catalog.Fault) {
	d.files = append(d.files, verifiedFile{name, rows, faults})
}

// Errors counts the rows that must not rank.
func (d *Verified) Errors() int { return d.count(catalog.IsError) }

func (d *Verified) count(severity catalog.Severity) int {
	n := 0
	for _, f := range d.files {
		for _, fault := range f.faults {
			if fault.Severity == severity {
				n++
			}
		}
	}
	return n
}

// kind is the findings of one kind and severity.
type kind struct {
	kind     catalog.FaultKind
	severity catalog.Severity
	found    []located
}

type located struct {
	file string
	catalog.Fault
}

// kinds groups the findings: errors before flags, the most frequent first.
func (d *Verified) kinds() []kind {
	index := map[[2]string]int{}
	var out []kind
	for _, f := range d.files {
		for _, fault := range f.faults {
			key := [2]string{string(fault.Kind), string(fault.Severity)}
			i, seen := index[key]
			if !seen {
				i = len(out)
				index[key] = i
				out = append(out, kind{kind: fault.Kind, severity: fault.Severity})
			}
			out[i].found = append(out[i].found, located{f.name, fault})
		}
	}
	slices.SortFunc(out, func(a, b kind) int {
		return cmp.Or(cmp.Compare(a.severity, b.severity), -cmp.Compare(len(a.found), len(b.found)), cmp.Compare(a.kind, b.kind))
	})
	return out
}

// Text writes a table of the kinds of fault, and under it what was found.
func (d *Verified) Text(p *Printer, wide bool) {
	s := p.Say
	for _, f := range d.files {
		name := f.name
		if name == "" {
			name = s.Text("verify.embedded")
		}
		p.Line(p.Bold(s.Say("verify.summary", say.Args{"Name": name, "Rows": f.rows, "Faults": len(f.faults)})))
	}
	kinds := d.kinds()
	if len(kinds) == 0 {
		p.Line(s.Text("verify.clean"))
		return
	}
	p.Gap()
	d.write(p, kinds)
	p.Para(p.Dim(s.Text("verify.legend")), 0)
	for _, k := range kinds {
		p.Gap()
		p.Para(p.Bold(s.Term("severity", string(k.severity))+" · "+s.Say("fault."+string(k.kind), nil)), 2)
		shown := k.found
		if d.Top > 0 && !wide && len(shown) > d.Top {
			shown = shown[:d.Top]
		}
		for _, f := range shown {
			p.Para("  "+faultLine(f, s), 4)
		}
		if more := len(k.found) - len(shown); more > 0 {
			p.Line("  ", p.Dim(s.Say("verify.more", say.Args{"Count": more})))
		}
	}
}

// write lays the table out with the meaning, which is a sentence, wrapped in its column.
func (d *Verified) write(p *Printer, kinds []kind) {
	g := d.grid(p.Say, kinds)
	column := 0
	_, widths := g.fit(math.MaxInt)
	last := len(widths) - 1
	for _, w := range widths[:last] {
		column += w + gutter
	}
	rows := append([][]string{nil}, g.Rows...)
	for _, c := range g.Columns {
		rows[0] = append(rows[0], c.Head)
	}
	keep := make([]int, last)
	for i := range keep {
		keep[i] = i
	}
	for i, row := range rows {
		text := row[last]
		if i == 0 {
			text = p.Bold(text)
		}
		label := g.line(row, keep, widths)
		if i == 0 {
			label = p.Bold(label)
		}
		p.Hang(label, text, column)
	}
}

func (d *Verified) grid(s *say.Speaker, kinds []kind) *Grid {
	g := &Grid{Columns: []Column{
		{Head: s.Text("column.fault")}, {Head: s.Text("column.severity")}, {Head: s.Text("column.count"), Right: true}, {Head: s.Text("column.meaning")},
	}}
	for _, k := range kinds {
		g.Add(string(k.kind), s.Term("severity", string(k.severity)), s.Value(len(k.found)), s.Text("fault."+string(k.kind)))
	}
	return g
}

// faultLine says where a fault is and with which figures.
func faultLine(f located, s *say.Speaker) string {
	place := ""
	if f.file != "" && f.Line > 0 {
		place = f.file + ":" + strconv.Itoa(f.Line) + ": "
	}
	for _, part := range []string{f.Provider, f.InstanceType, f.Region, f.Zone} {
		if part != "" {
			place += part + " "
		}
	}
	if f.Mode != "" {
		place += s.Value(f.Mode) + " "
	}
	return place + faultDetail(f.Fault, s)
}

// faultDetail says the figures of a fault; a kind has one message for each set of figures it comes with.
func faultDetail(f catalog.Fault, s *say.Speaker) string {
	base := "fault." + string(f.Kind) + ".detail"
	for _, key := range []string{"Conflict", "Unknown", "Missing", "Part", "Column", "Value"} {
		if _, ok := f.Args[key]; ok && s.Has(base+"."+snake(key)) {
			return "— " + s.Say(base+"."+snake(key), translated(f.Args, s))
		}
	}
	if s.Has(base) {
		return "— " + s.Say(base, translated(f.Args, s))
	}
	return ""
}
