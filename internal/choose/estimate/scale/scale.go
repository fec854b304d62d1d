// Package scale carries a speed measured or published on one device to others by the ratio of what each resource
// reaches there, and holds the small arithmetic that the kinds of work without a parallel layout share.
//
// Invariants: a rate that is not known is a refusal and never a guess; a device carried to itself keeps its own
// figure exactly; constants are data (data/efficiency). Pure and deterministic. Imported by the packages beside it
// under choose/estimate.
package scale

import (
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

type constants struct {
	AsOf   string            `yaml:"as_of"`
	Repeat estimate.Interval `yaml:"repeat"`
}

var embedded = estimate.Embedded[constants]("efficiency/scale.yaml")

// Repeat is the interval of a device that runs again what was measured on it.
func Repeat() estimate.Interval { return embedded().Repeat }

// Peak is the dense peak of one accelerator of the group; a chip known to have no such arithmetic has a known rate
// of zero.
func Peak(g estimate.Group, p accelerator.Precision) (float64, *estimate.Refusal) {
	peak, ok := g.Chip.Peak[p].Get()
	switch {
	case !ok:
		return 0, &estimate.Refusal{Reason: estimate.NoRate}
	case peak <= 0:
		return 0, &estimate.Refusal{Reason: estimate.NoPrecision}
	}
	return float64(peak) * g.Fraction(), nil
}

// Bandwidth is the peak memory bandwidth of one accelerator of the group.
func Bandwidth(g estimate.Group) (float64, *estimate.Refusal) {
	bw, ok := g.Chip.Bandwidth.Get()
	if !ok || bw <= 0 {
		return 0, &estimate.Refusal{Reason: estimate.NoRate}
	}
	return float64(bw) * g.Fraction(), nil
}

// Fit collects the parts of the busiest accelerator's memory, and refuses what does not fit.
func Fit(g estimate.Group, c *estimate.Curves, parts ...estimate.Part) (estimate.Memory, *estimate.Refusal) {
	usable, ok := c.Usable(g)
	if !ok {
		return estimate.Memory{}, &estimate.Refusal{Reason: estimate.NoMemoryFact}
	}
	m := estimate.Collect(usable, parts...)
	if m.Used > usable {
		return m, &estimate.Refusal{Reason: estimate.NoMemory, Have: float64(usable), Want: float64(m.Used)}
	}
	return m, nil
}

// Runtime is what a process takes beside its data.
func Runtime(c *estimate.Curves) estimate.Part {
	return estimate.Part{Name: "runtime", Bytes: unit.Bytes(c.Memory.RuntimeGiB * float64(unit.GiB))}
}

// Slack is what an allocator loses on so many bytes.
func Slack(c *estimate.Curves, b unit.Bytes) estimate.Part {
	return estimate.Part{Name: "slack", Bytes: unit.Bytes(c.Memory.Slack * float64(b))}
}

// Finish sets the speed's ends from an interval, and the hours of the work; perUnit is the seconds in the speed's
// unit of time, 1 or 3600.
func Finish(e *estimate.Estimate, i estimate.Interval, work, perUnit float64) {
	e.Speed.Low, e.Speed.High = e.Speed.Value*i.Low, e.Speed.Value*i.High
	e.Work = work
	e.Hours = unit.FromSeconds(work / e.Speed.Value * perUnit)
	e.LowHours = unit.FromSeconds(work / e.Speed.High * perUnit)
	e.HighHours = unit.FromSeconds(work / e.Speed.Low * perUnit)
}
