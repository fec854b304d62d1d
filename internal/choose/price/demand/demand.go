// Package demand reads how many machines were in use, hour by hour, and lays that history over the months to come: its weeks again
// and again, grown, at levels that the history's own changes make likely.
//
// Invariants: every hour of a history has a figure or the history is refused; all faults of a file come together; a spread that the
// history is too short to show is unknown, not zero. Pure. Imported by front.
package demand

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/rackrate/rackrate/internal/base/problem"
)

// History is the demand of one group, hour by hour.
type History struct {
	Group string    // empty where the file names none
	Start time.Time // of the first hour, in UTC
	// Hours holds the mean units of each hour.
	Hours []float64
	// Filled is how many of the hours had no sample and hold the last value before them.
	Filled int
}

// Options say how a file is read.
type Options struct {
	// FillGaps takes an hour without a sample to be as the last sample before it; without it such an hour is a fault.
	FillGaps bool
	// GroupLabel is the label of a Prometheus export whose values are the groups; without it all series are one group.
	GroupLabel string
}

// Mean is the mean demand.
func (h History) Mean() float64 { return mean(h.Hours) }

// Peak is the demand of the busiest hour.
func (h History) Peak() float64 { return slices.Max(h.Hours) }

// End is the end of the last hour.
func (h History) End() time.Time { return h.Start.Add(time.Duration(len(h.Hours)) * time.Hour) }

// Machines is a history of parts, such as accelerators, as machines of so many: an hour takes whole ones. What is beyond a millionth
// is a mean's rounding.
func (h History) Machines(parts float64) History {
	machines := make([]float64, len(h.Hours))
	for i, v := range h.Hours {
		machines[i] = math.Ceil(math.Round(v/parts*1e6) / 1e6)
	}
	h.Hours = machines
	return h
}

// sample is what was in use at a moment.
type sample struct {
	at    time.Time
	units float64
	line  int
}

// Bounds on what is read: more units than anyone rents, and more hours than anyone kept.
const (
	maxUnits = 1e7
	maxHours = 40 * 8766
)

// hourly turns samples into means by the hour of the clock that the first sample goes by: where that is half an hour off UTC, hours of
// UTC would blend two of its figures into each. A sample holds until the next one, the last to the end of its hour; each is weighed by
// how long it holds. The first hour counts from its first sample. An hour in which no sample lies is a gap.
func hourly(file, group string, samples []sample, o Options) (History, *problem.Error) {
	first, last := samples[0], samples[len(samples)-1]
	_, east := first.at.Zone()
	zone := time.Duration(east) * time.Second
	start := first.at.UTC().Add(zone).Truncate(time.Hour).Add(-zone)
	n := int(last.at.Sub(start)/time.Hour) + 1
	h := History{Group: group, Start: start}
	if span := last.at.Unix() - start.Unix(); span > maxHours*3600 { // a Duration ends at 292 years
		return h, problem.New(problem.Input, "demand.too_long", problem.Args{"From": stamp(first.at), "To": stamp(last.at)}).At(file, last.line)
	}
	h.Hours = make([]float64, n)
	seen := make([]bool, n)
	for i, s := range samples {
		from := s.at.Sub(start).Hours()
		to := float64(int(from) + 1)
		if i+1 < len(samples) {
			to = samples[i+1].at.Sub(start).Hours()
		}
		seen[int(from)] = true
		for from < to {
			hour := int(from)
			end := math.Min(to, float64(hour+1))
			h.Hours[hour] += s.units * (end - from)
			from = end
		}
	}
	h.Hours[0] /= 1 - first.at.Sub(start).Hours()
	gap := -1
	for i, ok := range seen {
		if !ok {
			h.Filled++
			if gap < 0 {
				gap = i
			}
		}
	}
	if gap >= 0 && !o.FillGaps {
		line := 0
		for _, s := range samples {
			if s.at.Sub(start) >= time.Duration(gap)*time.Hour {
				line = s.line
				break
			}
		}
		return h, problem.New(problem.Input, "demand.gap", problem.Args{
			"Count": h.Filled, "Hour": stamp(start.Add(time.Duration(gap) * time.Hour)), "Group": group,
		}).At(file, line)
	}
	return h, nil
}

// stamp writes a moment as messages show it.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04Z") }

// histories makes the history of each group, in order of their names.
func histories(file string, groups map[string][]sample, o Options) ([]History, error) {
	var out []History
	var faults problem.List
	for name, samples := range groups {
		h, fault := hourly(file, name, samples, o)
		if fault != nil {
			faults = append(faults, fault)
		}
		out = append(out, h)
	}
	slices.SortFunc(faults, func(a, b *problem.Error) int { return cmp.Compare(a.Line, b.Line) })
	slices.SortFunc(out, func(a, b History) int { return cmp.Compare(a.Group, b.Group) })
	if len(faults) > 0 {
		return nil, faults
	}
	return out, nil
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
