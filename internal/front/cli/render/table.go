package render

import (
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// Column is one column of a table.
type Column struct {
	Head  string
	Right bool // numbers stand to the right, so that their digits line up
	// Drop is the order in which columns give way when the table is too wide, 1 first; 0 never does.
	Drop int
	// Shrink says that the column may be cut with an ellipsis once nothing more can be dropped.
	Shrink bool
	// Squeeze says that the column may be cut when everything else has been done and the table is too wide still.
	Squeeze bool
}

// Grid is rows of text under heads.
type Grid struct {
	Columns []Column
	Rows    [][]string
}

// dropEmpty takes out a column that no row has anything in.
func (g *Grid) dropEmpty(i int) {
	for _, row := range g.Rows {
		if row[i] != "" {
			return
		}
	}
	g.remove(i)
}

// remove takes out a column.
func (g *Grid) remove(i int) {
	g.Columns = slices.Delete(g.Columns, i, i+1)
	for n := range g.Rows {
		g.Rows[n] = slices.Delete(g.Rows[n], i, i+1)
	}
}

const gutter = 2

// Add appends a row; it has as many cells as there are columns.
func (g *Grid) Add(cells ...string) { g.Rows = append(g.Rows, cells) }

// Write lays the table out within the printer's width.
func (g *Grid) Write(p *Printer) {
	keep, widths := g.fit(p.Width)
	heads := make([]string, len(g.Columns))
	for i, c := range g.Columns {
		heads[i] = c.Head
	}
	if strings.Join(heads, "") != "" {
		p.Line(p.Bold(g.line(heads, keep, widths)))
	}
	for _, row := range g.Rows {
		p.Line(g.line(row, keep, widths))
	}
}

func (g *Grid) line(cells []string, keep []int, widths []int) string {
	var b strings.Builder
	for n, i := range keep {
		if n > 0 {
			b.WriteString(strings.Repeat(" ", gutter))
		}
		cell := cells[i]
		if width(cell) > widths[i] {
			cell = cut(cell, widths[i])
		}
		b.WriteString(pad(cell, widths[i], g.Columns[i].Right))
	}
	return strings.TrimRight(b.String(), " ")
}

// cut shortens a cell with an ellipsis; a number of machines at its end stays, because a part of it would be another number.
func cut(cell string, columns int) string {
	if i := strings.LastIndex(cell, " ×"); i > 0 && width(cell[i:]) < columns/2 {
		return displaywidth.TruncateString(cell[:i], columns-width(cell[i:]), "…") + cell[i:]
	}
	return displaywidth.TruncateString(cell, columns, "…")
}

// fit decides which columns are shown and how wide each is.
func (g *Grid) fit(limit int) (keep []int, widths []int) {
	widths = make([]int, len(g.Columns))
	for i, c := range g.Columns {
		widths[i] = width(c.Head)
		for _, row := range g.Rows {
			widths[i] = max(widths[i], width(row[i]))
		}
		keep = append(keep, i)
	}
	all := slices.Clone(keep)
	keep = g.drop(keep, widths, limit, 1)
	g.shrink(keep, widths, limit, shrunk)
	keep = g.drop(keep, widths, limit, 2)
	g.shrink(keep, widths, limit, narrow)
	for order := 3; order <= len(g.Columns); order++ {
		keep = g.drop(keep, widths, limit, order)
	}
	keep = g.restore(all, keep, widths, limit)
	g.shrink(keep, widths, limit, leastWidth)
	for _, i := range keep {
		if over := total(keep, widths) - limit; over > 0 && g.Columns[i].Squeeze {
			widths[i] = max(widths[i]-over, min(widths[i], leastWidth))
		}
	}
	return keep, widths
}

// restore puts back the columns for which there is room after wider ones went, the last to go first.
func (g *Grid) restore(all, keep, widths []int, limit int) []int {
	for order := len(g.Columns); order > 0; order-- {
		with := slices.DeleteFunc(slices.Clone(all), func(i int) bool { return g.Columns[i].Drop != order && !slices.Contains(keep, i) })
		if total(with, widths) <= limit {
			keep = with
		}
	}
	return keep
}

// How narrow a column may be made: first while it can still be told what stands in it, and at last whatever remains.
const (
	shrunk     = 20
	narrow     = 16
	leastWidth = 12
)

// drop leaves out the columns of one order where the table is too wide.
func (g *Grid) drop(keep, widths []int, limit, order int) []int {
	if total(keep, widths) <= limit {
		return keep
	}
	return slices.DeleteFunc(keep, func(i int) bool { return g.Columns[i].Drop == order })
}

// shrink narrows the columns that may be, down to a least width, where the table is too wide.
func (g *Grid) shrink(keep, widths []int, limit, least int) {
	for _, i := range keep {
		if over := total(keep, widths) - limit; over > 0 && g.Columns[i].Shrink {
			widths[i] = max(widths[i]-over, min(widths[i], least))
		}
	}
}

func total(keep []int, widths []int) int {
	sum := gutter * (len(keep) - 1)
	for _, i := range keep {
		sum += widths[i]
	}
	return sum
}

// Markdown writes the table as a Markdown table with every column.
func (g *Grid) Markdown(p *Printer) {
	row := func(cells []string) {
		var b strings.Builder
		for _, c := range cells {
			b.WriteString("| " + escapeMarkdown(strings.TrimSpace(c)) + " ")
		}
		p.Line(b.String() + "|")
	}
	heads, rules := make([]string, len(g.Columns)), ""
	for i, c := range g.Columns {
		heads[i] = c.Head
		rules += map[bool]string{false: "| --- ", true: "| ---: "}[c.Right]
	}
	row(heads)
	p.Line(rules + "|")
	for _, r := range g.Rows {
		row(r)
	}
}

func escapeMarkdown(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(s)
}
