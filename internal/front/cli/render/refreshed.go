package render

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/catalog/intake"
	"github.com/rackrate/rackrate/internal/front/app"
	"github.com/rackrate/rackrate/internal/front/say"
)

// Refreshed is the answer of catalog update, and of catalog import, which also accounts for every row.
type Refreshed struct {
	*app.Updated
	Paths []string // the files of an import, one a result; nil of an update
	Top   int      // places of rejected rows that are shown of a kind; 0 is all
	Age   func(asOf string) (int, bool)
}

// Text writes what became of each source, then why some failed and what was left out.
func (d *Refreshed) Text(p *Printer, _ bool) {
	if len(d.Results) > 0 {
		d.grid(p.Say).Write(p)
	}
	if d.Paths != nil {
		d.rejections(p)
	}
	for i := range d.Results {
		d.remarks(p, &d.Results[i])
	}
	d.skipped(p)
	if next := d.next(); next != "" {
		p.Gap()
		p.Para(p.Dim(p.Say.Text(next)), 0)
	}
}

// next is the message of what to do now; empty where nothing came in.
func (d *Refreshed) next() string {
	stands := func(r app.SourceResult) bool { return r.Err == nil }
	switch {
	case !slices.ContainsFunc(d.Results, stands):
		return ""
	case d.DryRun:
		return "refresh.next.dry"
	case d.Paths != nil:
		return "refresh.next.import"
	}
	return "refresh.next.update"
}

// Markdown writes the table.
func (d *Refreshed) Markdown(p *Printer) { d.grid(p.Say).Markdown(p) }

func (d *Refreshed) grid(s *say.Speaker) *Grid {
	head := func(id string) string { return s.Text("column." + id) }
	g := &Grid{Columns: []Column{{Head: head("source"), Shrink: true}, {Head: head("outcome")}, {Head: head("as_of"), Drop: 6}}}
	if d.Paths != nil {
		for i, id := range []string{"read", "kept", "merged", "rejected"} {
			g.Columns = append(g.Columns, Column{Head: head(id), Right: true, Drop: []int{0, 0, 5, 0}[i]})
		}
	}
	for _, id := range []string{"offers", "prices", "terms"} {
		g.Columns = append(g.Columns, Column{Head: head(id), Right: true, Drop: 4})
	}
	kinds := catalog.ChangeKinds()
	for _, k := range kinds {
		g.Columns = append(g.Columns, Column{Head: s.Text("change." + string(k)), Right: true, Drop: 3})
	}
	for i := range d.Results {
		r := &d.Results[i]
		row := []string{r.Job.Name, s.Text("outcome." + string(r.Outcome)), orUnknown(r.LastGood)}
		if d.Paths != nil {
			t := r.Read.Tally
			row = append(row, s.Value(t.Read), s.Value(t.Kept), s.Value(t.Merged), s.Value(t.Rejected))
		}
		counts := changeCounts(r.Changes)
		if r.Err != nil {
			row = append(row, say.Unknown, say.Unknown, "")
		} else {
			row = append(row, s.Value(r.Offers), s.Value(r.Prices), few(r.Terms, s))
		}
		for _, k := range kinds {
			row = append(row, few(counts[k], s))
		}
		g.Add(row...)
	}
	for i, first := len(g.Columns)-1, len(g.Columns)-len(kinds)-1; i >= first; i-- { // terms and changes
		g.dropEmpty(i)
	}
	return g
}

// few is a count of which nothing is a dash's place left empty.
func few(n int, s *say.Speaker) string {
	if n == 0 {
		return ""
	}
	return s.Value(n)
}

func orUnknown(text string) string {
	if text == "" {
		return say.Unknown
	}
	return text
}

func changeCounts(changes []catalog.Change) map[catalog.ChangeKind]int {
	counts := map[catalog.ChangeKind]int{}
	for i := range changes {
		counts[changes[i].Kind()]++
	}
	return counts
}

// remarks says why a source failed, what of it was lost and what it calls accelerators that nobody knows.
func (d *Refreshed) remarks(p *Printer, r *app.SourceResult) {
	s := p.Say
	if r.Err != nil && d.Paths == nil { // of an import it is the command's own failure
		p.Gap()
		p.Named(r.Job.Name, p.Alert(d.kept(r, s)))
		for _, text := range problems(r.Err, s) {
			p.Para("  "+text, 4)
		}
	}
	losses(p, r.Job.Name, r.Lost)
	if why := d.reasons(r, s); len(why) > 0 {
		p.Gap()
		p.Named(r.Job.Name, s.Say("refresh.faulty", say.Args{"Why": why}))
	}
	if n := len(r.Read.Unrecognised); n > 0 {
		p.Gap()
		p.Named(r.Job.Name, s.Say("refresh.unrecognised", say.Args{"Count": n, "Names": spellings(r, d.Top, s)}))
	}
}

// losses says which parts of a source could not be read, and why.
func losses(p *Printer, source string, lost []app.SourceLoss) {
	if len(lost) > 0 {
		p.Gap()
	}
	for _, l := range lost {
		p.Named(source, p.Alert(p.Say.Say("refresh.lost", say.Args{"Part": part(source, l, p.Say), "Count": l.Kept})))
		for _, text := range problems(l.Why, p.Say) {
			p.Para("  "+text, 4)
		}
	}
}

// reasons says for what rows and prices of a source were left out, the commonest first. Of an import the rows are told elsewhere.
func (d *Refreshed) reasons(r *app.SourceResult, s *say.Speaker) []string {
	counts := leftOut(r, d.Paths == nil)
	kinds := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
	var out []string
	for _, k := range kinds {
		out = append(out, s.Say("refresh.reason", say.Args{"Why": rejectedText(k, s), "Count": counts[k]}))
	}
	return out
}

// leftOut counts the prices that were dropped from rows that stand, by what speaks against them, and with rows those that were
// rejected, other than machines without accelerators.
func leftOut(r *app.SourceResult, rows bool) map[string]int {
	counts := map[string]int{}
	for _, f := range r.Read.Faults {
		if f.Severity == catalog.IsError {
			counts[string(f.Kind)]++
		}
	}
	if rows {
		for _, rejected := range r.Read.Rejections {
			if rejected.Kind != intake.NoAccelerator {
				counts[string(rejected.Kind)]++
			}
		}
	}
	return counts
}

// kept says what stands in for a source that failed.
func (d *Refreshed) kept(r *app.SourceResult, s *say.Speaker) string {
	if r.LastGood == "" {
		return s.Text("refresh.never")
	}
	days, _ := d.Age(r.LastGood)
	return s.Say("refresh.kept", say.Args{"Day": r.LastGood, "Count": days})
}

// part names what of a source was lost.
func part(source string, l app.SourceLoss, s *say.Speaker) string {
	switch {
	case l.Region != "" && l.Provider == source:
		return l.Region
	case l.Region != "":
		return l.Provider + " " + l.Region
	}
	return cmp.Or(l.Provider, s.Text("refresh.a_part"))
}

func spellings(r *app.SourceResult, top int, s *say.Speaker) []string {
	var out []string
	for i, u := range r.Read.Unrecognised {
		if top > 0 && i == top {
			return append(out, s.Say("explain.also.more", say.Args{"Count": len(r.Read.Unrecognised) - i}))
		}
		out = append(out, s.Say("refresh.spelling", say.Args{"Text": u.Text, "Count": u.Count}))
	}
	return out
}

// rejections lists the reasons for which rows were left out, the commonest first, with the places of a few.
func (d *Refreshed) rejections(p *Printer) {
	s := p.Say
	for _, k := range d.byKind() {
		p.Gap()
		p.Para(s.Say("refresh.left_out", say.Args{"Rows": k.count, "Why": rejectedText(k.kind, s)}), 2)
		if k.kind == string(intake.NoAccelerator) {
			continue // no fault of theirs, and often most of a file
		}
		shown := k.at
		if d.Top > 0 && len(shown) > d.Top {
			shown = shown[:d.Top]
		}
		for _, at := range shown {
			p.Para("  "+at, 4)
		}
		if more := len(k.at) - len(shown); more > 0 {
			p.Line("  ", p.Dim(s.Say("refresh.more", say.Args{"Count": more})))
		}
	}
}

// rejectedText says why rows were left out: for a reason of the intake's own, or a fault of the catalog's.
func rejectedText(kind string, s *say.Speaker) string {
	if id := "rejected." + kind; s.Has(id) {
		return s.Text(id)
	}
	return s.Text("fault." + kind)
}

// skipped says which sources were not read, and what would make them be; where that is credentials alone, status tells more.
func (d *Refreshed) skipped(p *Printer) {
	var names []string
	var others []app.Skipped
	for _, k := range d.Skipped {
		if k.WantsCredentials() {
			names = append(names, k.Name)
		} else {
			others = append(others, k)
		}
	}
	if len(names) > 0 {
		p.Gap()
		p.Para(p.Say.Say("refresh.no_credentials", say.Args{"Names": names}), 2)
	}
	if len(others) == 0 {
		return
	}
	p.Gap()
	p.Line(p.Bold(p.Say.Text("refresh.skipped")))
	for _, k := range others {
		for _, text := range problems(k.Why, p.Say) {
			p.Para("  "+text, 4)
		}
	}
}

// Rows gives one row a source, the heads first.
func (d *Refreshed) Rows() [][]string {
	head := []string{"source", "file", "layer", "outcome", "as_of", "read", "kept", "merged", "rejected", "offers", "prices", "terms"}
	for _, k := range catalog.ChangeKinds() {
		head = append(head, string(k))
	}
	rows := [][]string{append(head, "lost", "error")}
	for i := range d.Results {
		r := &d.Results[i]
		file := ""
		if d.Paths != nil {
			file = filepath.ToSlash(d.Paths[i])
		}
		t := r.Read.Tally
		row := []string{r.Job.Name, file, string(r.Job.Layer), string(r.Outcome), r.LastGood}
		for _, n := range []int{t.Read, t.Kept, t.Merged, t.Rejected, r.Offers, r.Prices, r.Terms} {
			row = append(row, strconv.Itoa(n))
		}
		counts := changeCounts(r.Changes)
		for _, k := range catalog.ChangeKinds() {
			row = append(row, strconv.Itoa(counts[k]))
		}
		failed := ""
		if r.Err != nil {
			failed = codes(r.Err)
		}
		rows = append(rows, append(row, strconv.Itoa(len(r.Lost)), failed))
	}
	return rows
}
