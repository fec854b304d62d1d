package chart

import (
	"math"
	"strconv"
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// overlap marks a place where several series stand.
const overlap = "◆"

// least is the narrowest field that a shape can be seen in.
const least = 20

// Text draws the chart within so many columns and rows of plot. The legend is the caller's: series stand by their marks.
func (l *Lines) Text(columns, rows int) []string {
	low, high, step := l.axis(4)
	labels := map[int]string{}
	wide := 0
	for v := low; v <= high+step/2; v += step {
		text := l.Number(v)
		labels[rowOf(v, low, high, rows)] = text
		wide = max(wide, displaywidth.String(text))
	}
	field := max(least, columns-wide-2)
	grid := l.plot(low, high, field, rows)
	var out []string
	for r := range rows {
		label, edge := labels[r], "│"
		if label != "" {
			edge = "┤"
		}
		line := strings.Repeat(" ", wide-displaywidth.String(label)) + label + " " + edge + strings.Join(grid[r], "")
		out = append(out, strings.TrimRight(line, " "))
	}
	rule, numbers := l.foot(field)
	pad := strings.Repeat(" ", wide+1)
	return append(out, pad+"└"+rule, strings.TrimRight(pad+" "+numbers, " "))
}

// plot puts the marks of the series into rows of cells. The later of two that meet does not hide the earlier.
func (l *Lines) plot(low, high float64, field, rows int) [][]string {
	grid := make([][]string, rows)
	for r := range grid {
		grid[r] = strings.Split(strings.Repeat(" ", field), "")
	}
	if zero := rowOf(0, low, high, rows); low < 0 {
		for c := range grid[zero] {
			grid[zero][c] = "╌"
		}
	}
	owner := map[[2]int]int{}
	for i, s := range l.Series {
		for c := range field {
			v := s.at(c, field)
			if math.IsNaN(v) {
				continue
			}
			r := rowOf(v, low, high, rows)
			if by, taken := owner[[2]int{r, c}]; taken && by != i {
				grid[r][c] = overlap
				continue
			}
			owner[[2]int{r, c}] = i
			grid[r][c] = s.Mark
		}
	}
	return grid
}

// at is the value in a column: that of the step it belongs to, so that a jump stays a jump; of several, the last, so that the end is
// seen.
func (s *Series) at(column, field int) float64 {
	n := len(s.Values)
	if n > field {
		return s.Values[((column+1)*n-1)/field]
	}
	return s.Values[column*n/field]
}

// rowOf is the row of a value, the highest value in row 0.
func rowOf(v, low, high float64, rows int) int {
	r := int(math.Round((high - v) / (high - low) * float64(rows-1)))
	return max(0, min(rows-1, r))
}

// foot is the horizontal axis with its numbers, each under the middle of its step.
func (l *Lines) foot(field int) (rule, numbers string) {
	steps := l.steps()
	line := []rune(strings.Repeat("─", field))
	text := []byte(strings.Repeat(" ", field))
	free := 0
	for _, t := range xTicks(steps, field/5) {
		at := min(field-1, (2*t-1)*field/(2*steps))
		n := strconv.Itoa(t)
		start := max(0, min(field-len(n), at-len(n)/2))
		if start < free {
			continue
		}
		line[at] = '┴'
		copy(text[start:], n)
		free = start + len(n) + 1
	}
	return string(line), string(text)
}
