package spot

import (
	"github.com/rackrate/rackrate/internal/base/unit"
)

// Series is a figure at regular ticks: the instances that could be had, or a price.
type Series struct {
	Name string
	Gap  unit.Hours // from one tick to the next
	At   []float64
}

// Hours is how long the series lasts.
func (s Series) Hours() unit.Hours { return unit.Hours(len(s.At)) * s.Gap }

// Trace is the availability of spot instances in one place, tick by tick.
type Trace struct {
	Name string
	Gap  unit.Hours // from one tick to the next
	Up   []bool     // enough instances could be had
}

// TraceOf is the availability of so many instances at once.
func TraceOf(s Series, instances int) Trace {
	t := Trace{Name: s.Name, Gap: s.Gap, Up: make([]bool, len(s.At))}
	for i, n := range s.At {
		t.Up[i] = n >= float64(instances)
	}
	return t
}

// Durations are the lengths in ticks of the times a trace was up and of those it was down, in order. What the ends of the trace cut
// short is counted as far as it was seen.
func (t Trace) Durations() (up, down []int) {
	for i := 0; i < len(t.Up); {
		j := i
		for j < len(t.Up) && t.Up[j] == t.Up[i] {
			j++
		}
		if t.Up[i] {
			up = append(up, j-i)
		} else {
			down = append(down, j-i)
		}
		i = j
	}
	return up, down
}
