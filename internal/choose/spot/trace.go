package spot

import (
	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
)

// Series is the number of instances that could be had at regular ticks.
type Series struct {
	Name string
	Gap  unit.Hours // from one tick to the next
	At   []float64
	// Since is when the first tick was, in seconds since 1970, where the file says so.
	Since unit.Maybe[int64]
}

// Prices is what an instance cost at regular ticks.
type Prices struct {
	Name     string
	Gap      unit.Hours
	Currency money.Currency // empty where the file states none
	Nanos    []int64        // of the currency an hour
	Since    unit.Maybe[int64]
}

// On is the price at each of so many ticks of another length, the one that held when the tick began. It is shorter where the prices end
// before.
func (p Prices) On(gap unit.Hours, ticks int) []int64 {
	var out []int64
	for t := range ticks {
		// A tick that begins with a price must not fall before it by the last bit of a float.
		i := int(float64(t)*float64(gap)/float64(p.Gap) + 1e-6)
		if i >= len(p.Nanos) {
			break
		}
		out = append(out, p.Nanos[i])
	}
	return out
}

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
