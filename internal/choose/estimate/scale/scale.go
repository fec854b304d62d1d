// Package scale carries a speed measured or published on one device to others by the ratio of what each resource
// reaches there, and holds the small arithmetic that the kinds of work without a parallel layout share.
//
// Invariants: a rate that is not known is a refusal and never a guess; a device carried to itself keeps its own
// figure exactly; constants are data (data/efficiency). Pure and deterministic. Imported by the packages beside it
// under choose/estimate.
package scale

import (
	"bytes"
	"io/fs"
	"sync"

	"go.yaml.in/yaml/v4"

	"github.com/rackrate/rackrate/data"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

// Decode reads one file of constants strictly.
func Decode[T any](fsys fs.FS, name string) (*T, error) {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, problem.New(problem.Internal, "data.missing", problem.Args{"File": name}).Wrap(err)
	}
	v := new(T)
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(v); err != nil {
		return nil, problem.New(problem.Internal, "data.bad_file", problem.Args{"File": name}).Wrap(err)
	}
	return v, nil
}

// Embedded is a file of constants of the binary, read at its first use; a test rules out that it is broken.
func Embedded[T any](name string) func() *T {
	return sync.OnceValue(func() *T {
		v, err := Decode[T](data.FS, name)
		if err != nil {
			panic(err)
		}
		return v
	})
}

type constants struct {
	AsOf   string            `yaml:"as_of"`
	Repeat estimate.Interval `yaml:"repeat"`
}

var embedded = Embedded[constants]("efficiency/scale.yaml")

// Repeat is the interval of a device that runs again what was measured on it.
func Repeat() estimate.Interval { return embedded().Repeat }

// Share is the part of one chip that a machine of the group has.
func Share(g estimate.Group) float64 {
	if g.Share == 0 {
		return 1
	}
	return g.Share
}

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
	return float64(peak) * Share(g), nil
}

// Bandwidth is the peak memory bandwidth of one accelerator of the group.
func Bandwidth(g estimate.Group) (float64, *estimate.Refusal) {
	bw, ok := g.Chip.Bandwidth.Get()
	if !ok || bw <= 0 {
		return 0, &estimate.Refusal{Reason: estimate.NoRate}
	}
	return float64(bw) * Share(g), nil
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
