// Package scaletest holds what every kind of work without a parallel layout is tested with: chips with round
// figures and the invariants of any estimate.
//
// Only tests import it.
package scaletest

import (
	"math"
	"testing"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// Chip is a made-up chip with everything known: 100 TFLOP/s in FP16 and BF16, 10 in FP32, 5 in FP64, 1 TB/s, 64 GB,
// a 400 GB/s link and 50 ray-tracing cores. No curve names its vendor or architecture, so that the default one holds.
func Chip(name string) *accelerator.Accelerator {
	a := &accelerator.Accelerator{
		Name: name, Vendor: "Acme", Arch: "One", NominalGB: unit.Some(64.0), Bandwidth: unit.Some[unit.BytesPerSec](1e12),
		LinkBidir: unit.Some[unit.BytesPerSec](400e9), LinkKind: "mesh", PCIeGen: unit.Some(4), PCIeLanes: unit.Some(16), RTCores: unit.Some(50),
	}
	for p, tflops := range map[accelerator.Precision]float64{
		accelerator.FP16: 100, accelerator.BF16: 100, accelerator.FP32: 10, accelerator.FP64: 5, accelerator.FP64Tensor: 10,
	} {
		a.Peak[p] = unit.Some(unit.FLOPS(tflops * 1e12))
	}
	return a
}

// Twice is Chip with twice of everything but the memory.
func Twice(name string) *accelerator.Accelerator {
	a := Chip(name)
	a.Arch = "Two"
	a.Bandwidth, a.LinkBidir = unit.Some[unit.BytesPerSec](2e12), unit.Some[unit.BytesPerSec](800e9)
	a.PCIeGen, a.RTCores = unit.Some(5), unit.Some(100)
	for p := range a.Peak {
		if v, ok := a.Peak[p].Get(); ok {
			a.Peak[p] = unit.Some(2 * v)
		}
	}
	return a
}

// Group is n accelerators in one machine, or in as many machines of one as there are with a network.
func Group(a *accelerator.Accelerator, perNode, nodes int) estimate.Group {
	return estimate.Group{
		Chip: a, PerNode: perNode, Nodes: nodes, Topology: catalog.VendorMesh,
		Network: catalog.InfiniBand, NetworkGbps: unit.Some(400.0),
	}
}

// Check holds an estimate against what is true of all of them.
func Check(t interface {
	Helper()
	Errorf(string, ...any)
}, e estimate.Estimate) {
	t.Helper()
	var used unit.Bytes
	for _, p := range e.Memory.Parts {
		used += p.Bytes
	}
	if used != e.Memory.Used || used > e.Memory.Capacity {
		t.Errorf("memory parts sum to %d, used %d of %d", used, e.Memory.Used, e.Memory.Capacity)
	}
	b := e.Bottleneck
	if sum := b.Compute + b.Memory + b.Link + b.Network + b.Bubble + b.Input + b.Overhead; !Near(sum, 1) {
		t.Errorf("bottleneck shares sum to %v", sum)
	}
	s := e.Speed
	if !(s.Low > 0 && s.Low <= s.Value && s.Value <= s.High) || math.IsInf(s.High, 0) || s.Unit == "" || s.Source == "" || s.Basis == "" || s.Like == "" {
		t.Errorf("speed %+v", s)
	}
	if !(e.LowHours > 0 && e.LowHours <= e.Hours && e.Hours <= e.HighHours) || !Near(s.Low*float64(e.HighHours), s.High*float64(e.LowHours)) {
		t.Errorf("hours %v %v %v", e.LowHours, e.Hours, e.HighHours)
	}
	if !(e.Load > 0 && e.Load <= 1) || e.MFU < 0 || e.MFU > 1 {
		t.Errorf("load %v, MFU %v", e.Load, e.MFU)
	}
}

// Near says that two figures agree to a billionth.
func Near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b)) }

// Best is a job's estimate, which must exist and hold together.
func Best(t testing.TB, j estimate.Job, g estimate.Group) estimate.Estimate {
	t.Helper()
	e, refusal, looked := j.Best(g)
	if refusal != nil || looked < 1 {
		t.Fatalf("refused %+v after %d", refusal, looked)
	}
	Check(t, e)
	return e
}

// Refused is the reason a job refuses a group for, empty where it does not.
func Refused(j estimate.Job, g estimate.Group) estimate.Reason {
	if _, r, _ := j.Best(g); r != nil {
		return r.Reason
	}
	return ""
}

// Bench times a job on a group; the search wants a million candidates a second of a core.
func Bench(b *testing.B, j estimate.Job, g estimate.Group) {
	b.ReportAllocs()
	for b.Loop() {
		if _, r, _ := j.Best(g); r != nil {
			b.Fatal(r)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "candidates/s")
}
