package render

import (
	"cmp"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/accuracy"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/front/say"
	"github.com/rackrate/rackrate/internal/front/wire"
)

// Accuracy is the answer of accuracy.
type Accuracy struct {
	Summaries []accuracy.Summary
	Skipped   []accuracy.Skipped
	Results   []accuracy.Result // every row, where they were asked for
	Files     []string          // empty for the summary of the last fit
	AsOf      string            // of the newest fit
	By        string            // what to break the errors down by; empty for nothing
	Top       int               // groups of each kind that are shown; 0 is all
}

// Text writes the errors by kind, the groups asked for, the worst rows and what was left out.
func (d *Accuracy) Text(p *Printer, wide bool) {
	s := p.Say
	if len(d.Files) == 0 {
		p.Para(p.Bold(s.Say("accuracy.held_out", say.Args{"Date": d.AsOf})), 0)
	} else {
		p.Para(p.Bold(s.Say("accuracy.files", say.Args{"Files": d.Files})), 0)
	}
	p.Gap()
	d.overall(s).Write(p)
	p.Gap()
	last := "accuracy.legend.unseen"
	if len(d.Files) > 0 {
		last = "accuracy.legend.new"
	}
	p.Para(p.Dim(s.Text("accuracy.legend")+" "+s.Text(last)), 0)
	if d.By != "" {
		p.Gap()
		d.groups(s, wide).Write(p)
	}
	if len(d.Files) > 0 || wide {
		d.worst(p)
	}
	d.left(p)
	if len(d.Results) > 0 {
		p.Gap()
		d.rows(s).Write(p)
	}
}

// rows is every row with its prediction.
func (d *Accuracy) rows(s *say.Speaker) *Grid {
	g := &Grid{Columns: []Column{
		{Head: s.Text("column.line")}, {Head: s.Text("column.kind")}, {Head: s.Text("column.row"), Shrink: true}, {Head: s.Text("column.measured"), Right: true},
		{Head: s.Text("column.predicted"), Right: true}, {Head: s.Text("column.interval"), Right: true}, {Head: s.Text("column.off"), Right: true},
	}}
	for _, r := range d.Results {
		place := strconv.Itoa(r.Line)
		if len(d.Files) > 1 {
			place = filepath.Base(r.File) + ":" + place
		}
		g.Add(place, s.Term("target", string(r.Target)), r.Label, s.Value(figure(r.Target, r.Measured)), s.Value(figure(r.Target, r.Value)),
			s.Value(figure(r.Target, r.Low))+" – "+s.Value(figure(r.Target, r.High)), signed(r.Value/r.Measured-1))
	}
	return g
}

// Markdown writes the errors by kind and, by accelerator unless asked otherwise, those of its groups.
func (d *Accuracy) Markdown(p *Printer) {
	d.overall(p.Say).Markdown(p)
	if d.By != "" {
		p.Gap()
		d.groups(p.Say, true).Markdown(p)
	}
}

// errorColumns are the columns of every table of errors, after what it is the error of.
func errorColumns(s *say.Speaker) []Column {
	return []Column{
		{Head: s.Text("column.rows"), Right: true}, {Head: s.Text("column.mdape"), Right: true}, {Head: s.Text("column.p90"), Right: true, Drop: 3},
		{Head: s.Text("column.bias"), Right: true, Drop: 2}, {Head: s.Text("column.inside"), Right: true}, {Head: s.Text("column.naive"), Right: true, Drop: 4},
	}
}

func errorCells(s *say.Speaker, e estimate.Error) []string {
	if e.N == 0 {
		return []string{"0", say.Unknown, say.Unknown, say.Unknown, say.Unknown, say.Unknown}
	}
	naive := say.Unknown
	if e.BaselineHave > 0 {
		naive = s.Percent(e.BaselineAPE)
	}
	return []string{s.Int(int64(e.N)), s.Percent(e.MdAPE), s.Percent(e.P90), signed(e.Bias), s.Percent(e.Coverage), naive}
}

// signed is a share with its sign, to a tenth of a per cent below ten.
func signed(v float64) string {
	digits := 0
	if math.Abs(v) < 0.0995 {
		digits = 1
	}
	text := strconv.FormatFloat(v*100, 'f', digits, 64) + "%"
	if v > 0 {
		return "+" + text
	}
	return text
}

func (d *Accuracy) overall(s *say.Speaker) *Grid {
	g := &Grid{Columns: append([]Column{{Head: s.Text("column.kind")}}, errorColumns(s)...)}
	last := "column.unseen"
	if len(d.Files) > 0 {
		last = "column.new"
	}
	g.Columns = append(g.Columns, Column{Head: s.Text(last), Right: true})
	for _, x := range d.Summaries {
		other := x.Unseen
		if len(d.Files) > 0 {
			other = x.New
		}
		more := say.Unknown
		if other.N > 0 {
			more = s.Percent(other.MdAPE) + " (" + s.Int(int64(other.N)) + ")"
		}
		g.Add(append(append([]string{s.Term("target", string(x.Target))}, errorCells(s, x.Error)...), more)...)
	}
	return g
}

func (d *Accuracy) groups(s *say.Speaker, all bool) *Grid {
	g := &Grid{Columns: append([]Column{{Head: s.Text("column.kind")}, {Head: s.Text("accuracy.by." + d.By), Shrink: true}}, errorColumns(s)...)}
	for _, x := range d.Summaries {
		mine := slices.DeleteFunc(slices.Clone(x.Shares), func(v estimate.Share) bool { return v.By != d.By })
		slices.SortStableFunc(mine, func(a, b estimate.Share) int { return cmp.Compare(b.N, a.N) })
		if d.Top > 0 && !all && len(mine) > d.Top {
			mine = mine[:d.Top]
		}
		for _, v := range mine {
			g.Add(append([]string{s.Term("target", string(x.Target)), v.Value}, errorCells(s, v.Error)...)...)
		}
	}
	return g
}

// worst lists the largest errors of each kind.
func (d *Accuracy) worst(p *Printer) {
	s := p.Say
	for _, x := range d.Summaries {
		if len(x.Worst) == 0 {
			continue
		}
		p.Gap()
		p.Line(p.Bold(s.Say("accuracy.worst", say.Args{"Kind": s.Term("target", string(x.Target))})))
		for _, w := range x.Worst {
			p.Para("  "+WorstRow(s, x.Target, w), 4)
		}
	}
}

// WorstRow says one of the largest errors.
func WorstRow(s *say.Speaker, target estimate.Target, w estimate.Worst) string {
	return s.Say("accuracy.worst_row", say.Args{"Label": w.Label, "Measured": figure(target, w.Measured), "Predicted": figure(target, w.Predicted),
		"Times": w.Predicted / w.Measured, "Source": w.Source})
}

// figure is a figure of a target in its unit.
func figure(target estimate.Target, v float64) any {
	switch target {
	case estimate.PeakMemory:
		return unit.Bytes(v)
	case estimate.TTFT, estimate.TPOT:
		return unit.FromSeconds(v)
	}
	return v
}

// left says which rows could not be predicted.
func (d *Accuracy) left(p *Printer) {
	s := p.Say
	first := true
	for _, x := range d.Summaries {
		reasons := slices.Sorted(maps.Keys(x.Skipped))
		slices.SortStableFunc(reasons, func(a, b accuracy.Skip) int { return cmp.Compare(x.Skipped[b], x.Skipped[a]) })
		for _, why := range reasons {
			if first {
				p.Gap()
				p.Line(p.Bold(s.Text("accuracy.skipped")))
				first = false
			}
			p.Para("  "+s.Say("accuracy.skipped_row", say.Args{"Kind": s.Term("target", string(x.Target)), "Count": x.Skipped[why],
				"Reason": s.Text("accuracy.skip." + string(why))}), 4)
		}
	}
}

// Wire gives the JSON.
func (d *Accuracy) Wire(*say.Speaker) any {
	return wire.AccuracyOf(d.Summaries, d.Skipped, d.Results, len(d.Files) == 0, d.AsOf)
}

// Rows gives one row a group, the kinds as a whole first; or the rows themselves where they were asked for.
func (d *Accuracy) Rows() [][]string {
	if len(d.Results) > 0 {
		return d.each()
	}
	rows := [][]string{{"kind", "by", "value", "n", "mdape", "p90", "bias", "coverage", "baseline_mdape"}}
	add := func(target estimate.Target, by, value string, e estimate.Error) {
		f := func(v float64) string { return strconv.FormatFloat(v, 'f', 4, 64) }
		row := []string{string(target), by, value, strconv.Itoa(e.N), f(e.MdAPE), f(e.P90), f(e.Bias), f(e.Coverage), ""}
		if e.BaselineHave > 0 {
			row[8] = f(e.BaselineAPE)
		}
		rows = append(rows, row)
	}
	for _, x := range d.Summaries {
		add(x.Target, "", "", x.Error)
	}
	for _, x := range d.Summaries {
		for _, v := range x.Shares {
			add(x.Target, v.By, v.Value, v.Error)
		}
	}
	return rows
}

// each gives every row with its prediction, the heads first.
func (d *Accuracy) each() [][]string {
	rows := [][]string{{"file", "line", "kind", "model", "accelerator", "framework", "precision", "label", "source", "measured", "predicted", "low", "high", "naive", "like", "assumed"}}
	for _, r := range d.Results {
		f := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
		rows = append(rows, []string{r.File, strconv.Itoa(r.Line), string(r.Target), r.Model, r.Tags.Chip, r.Tags.Framework, r.Tags.Precision, r.Label, r.Source,
			f(r.Measured), f(r.Value), f(r.Low), f(r.High), f(r.Baseline), string(r.Like), strings.Join(r.Assumed, "; ")})
	}
	return rows
}
