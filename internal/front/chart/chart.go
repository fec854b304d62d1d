// Package chart draws lines over steps of time, as text for a terminal and as SVG for a page.
//
// Invariants: a series is told apart by its mark, not by colour alone; text fits the width it is given; the same values give the
// same bytes. Nothing here knows a language or a currency: titles, names and the forms of numbers are handed in. Imported by front.
package chart

import (
	"math"
	"slices"
)

// Series is one line: its value at each step, the first step first; NaN where there is none, which is a gap.
type Series struct {
	Mark   string // one column wide: 1, 2, B
	Name   string
	Values []float64
}

// Lines is a chart of several series over the same steps.
type Lines struct {
	Title, XName, YName string
	Series              []Series
	// Number prints a value of the vertical axis.
	Number func(float64) string
	// Begins says that a value stands from the beginning of its step to its end, and names that beginning, 1 the first; nil: a value is
	// that of the end of its step, and steps go by their numbers. Only SVG heeds it.
	Begins func(step int) string
}

// steps is the length of the longest series.
func (l *Lines) steps() int {
	n := 0
	for _, s := range l.Series {
		n = max(n, len(s.Values))
	}
	return n
}

// axis is the range of the vertical axis with its ticks: round numbers that hold every value and zero.
func (l *Lines) axis(ticks int) (low, high, step float64) {
	for _, s := range l.Series {
		for _, v := range s.Values {
			if math.IsNaN(v) {
				continue
			}
			low, high = math.Min(low, v), math.Max(high, v)
		}
	}
	if high == low {
		high = low + 1
	}
	step = nice((high - low) / float64(ticks))
	return math.Floor(low/step) * step, math.Ceil(high/step) * step, step
}

// nice is the least of 1, 2, 2.5 and 5 times a power of ten that is not below v.
func nice(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range []float64{1, 2, 2.5, 5} {
		if f*power >= v*(1-1e-9) {
			return f * power
		}
	}
	return 10 * power
}

// xTicks are the steps that are numbered, from 1: the first, the last and round ones between, at most so many.
func xTicks(steps, most int) []int {
	every := 1
	for _, e := range []int{1, 2, 3, 6, 12, 24, 60, 120, 600} {
		if every = e; steps/e <= most {
			break
		}
	}
	ticks := []int{1}
	for i := every; i <= steps; i += every {
		if i > 1 {
			ticks = append(ticks, i)
		}
	}
	if last := ticks[len(ticks)-1]; last != steps && !slices.Contains(ticks, steps) && steps-last > every/2 {
		ticks = append(ticks, steps)
	}
	return ticks
}
