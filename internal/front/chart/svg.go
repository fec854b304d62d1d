package chart

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// The drawing in its own units: the whole and the field of the lines.
const (
	svgWidth, svgHeight = 840, 480
	left, right         = 96, 24
	top, bottom         = 56, 88
)

// style gives each series a colour and a dash, so that it is told apart in grey as well, on light and on dark pages. The palette
// is Okabe and Ito's, made for readers who do not see every colour alike (Color Universal Design, 2008).
const style = `
svg{color:#1b1f24;background:#fff;font:13px system-ui,sans-serif}
text{fill:currentColor}.grid{stroke:currentColor;stroke-opacity:.15}.axis{stroke:currentColor}.line{fill:none;stroke-width:2.5}
.s0{stroke:#0072b2}.s1{stroke:#d55e00}.s2{stroke:#009e73}.s3{stroke:#cc79a7}.s4{stroke:#e69f00}.s5{stroke:#56b4e9}
@media(prefers-color-scheme:dark){svg{color:#e6edf3;background:#0d1117}.s0{stroke:#56b4e9}.s5{stroke:#8aa4ff}}
`

var dashes = []string{"", "9 4", "2 4", "12 4 2 4", "5 3", "1 6"}

// dash goes with a colour once: where the colours begin again, the dashes are shifted.
func dash(series int) string { return dashes[(series+series/len(dashes))%len(dashes)] }

// SVG draws the chart as one self-contained picture.
func (l *Lines) SVG() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-labelledby="t">`+"\n", svgWidth, svgHeight+legendRow*l.legendRows())
	fmt.Fprintf(&b, "<title id=\"t\">%s</title>\n<style>%s</style>\n", html.EscapeString(l.Title), style)
	fmt.Fprintf(&b, `<text x="%d" y="28" font-size="17" font-weight="600">%s</text>`+"\n", left, html.EscapeString(l.Title))
	low, high, step := l.axis(6)
	const field = svgHeight - top - bottom
	y := func(v float64) float64 { return top + (high-v)/(high-low)*field }
	for v := low; v <= high+step/2; v += step {
		fmt.Fprintf(&b, `<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n",
			left, svgWidth-right, y(v), y(v), left-8, y(v)+4, html.EscapeString(l.Number(v)))
	}
	steps := l.steps()
	x := func(end int) float64 { // of the end of a step
		return left + float64(end)/float64(steps)*(svgWidth-left-right)
	}
	at, name, most := x, strconv.Itoa, 14
	if l.Begins != nil {
		at, name, most = func(step int) float64 { return x(step - 1) }, l.Begins, 7 // of words, fewer
	}
	for _, t := range xTicks(steps, most) {
		if l.Begins != nil && at(t) > svgWidth-2*right {
			continue // a day would not fit
		}
		fmt.Fprintf(&b, `<line class="axis" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/><text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n",
			at(t), at(t), svgHeight-bottom, svgHeight-bottom+5, at(t), svgHeight-bottom+20, html.EscapeString(name(t)))
	}
	fmt.Fprintf(&b, `<path class="axis" fill="none" d="M%d %dV%dH%d"/>`+"\n", left, top, svgHeight-bottom, svgWidth-right)
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", (left+svgWidth-right)/2, svgHeight-bottom+42, html.EscapeString(l.XName))
	fmt.Fprintf(&b, `<text transform="translate(18 %d) rotate(-90)" text-anchor="middle">%s</text>`+"\n", top+field/2, html.EscapeString(l.YName))
	for i, s := range l.Series {
		path := s.path
		if l.Begins != nil {
			path = s.stairs
		}
		fmt.Fprintf(&b, `<path class="line s%d" stroke-dasharray="%s" d="%s"/>`+"\n", i%len(dashes), dash(i), path(x, y))
	}
	l.legend(&b)
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// path is the line in SVG's words, broken at its gaps.
func (s *Series) path(x func(end int) float64, y func(float64) float64) string {
	var b strings.Builder
	gap := func(step int) bool { return step < 0 || step >= len(s.Values) || math.IsNaN(s.Values[step]) }
	for step, v := range s.Values {
		if gap(step) {
			continue
		}
		fmt.Fprintf(&b, "%s%.1f %.1f", map[bool]string{true: "M", false: "L"}[gap(step-1)], x(step+1), y(v))
		switch {
		case len(s.Values) == 1:
			b.WriteString("h-40") // a point by itself would not be seen
		case gap(step-1) && gap(step+1):
			b.WriteString("h-4")
		}
	}
	return b.String()
}

// stairs is the line of values that stand through their steps, broken at its gaps.
func (s *Series) stairs(x func(end int) float64, y func(float64) float64) string {
	var b strings.Builder
	for step, v := range s.Values {
		if math.IsNaN(v) {
			continue
		}
		if step == 0 || math.IsNaN(s.Values[step-1]) {
			fmt.Fprintf(&b, "M%.1f %.1f", x(step), y(v))
		} else if v != s.Values[step-1] {
			fmt.Fprintf(&b, "V%.1f", y(v))
		}
		if step+1 == len(s.Values) || s.Values[step+1] != v { // also where no value follows
			fmt.Fprintf(&b, "H%.1f", x(step+1))
		}
	}
	return b.String()
}

// legendRow is the height of a row of the legend; a name that fills half the width has a row to itself.
const legendRow = 20

func (l *Lines) legendColumns() int {
	for _, s := range l.Series {
		if displaywidth.String(s.Name) > 46 {
			return 1
		}
	}
	return 2
}

func (l *Lines) legendRows() int {
	n := l.legendColumns()
	return (len(l.Series) + n - 1) / n
}

func (l *Lines) legend(b *strings.Builder) {
	columns := l.legendColumns()
	for i, s := range l.Series {
		x := left + (i%columns)*(svgWidth-left-right)/columns
		y := svgHeight - 18 + (i/columns)*legendRow
		fmt.Fprintf(b, `<path class="line s%d" stroke-dasharray="%s" d="M%d %dh34"/><text x="%d" y="%d">%s</text>`+"\n",
			i%len(dashes), dash(i), x, y-4, x+42, y, html.EscapeString(s.Mark+"  "+s.Name))
	}
}
