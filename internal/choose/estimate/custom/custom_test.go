package custom

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/scale/scaletest"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

func work(mutate ...func(*workload.CustomWork)) *workload.Workload {
	c := &workload.CustomWork{
		Units: 1e6, Unit: "samples", Rate: 100, On: workload.Reference{Device: scaletest.Chip("A"), Count: 1},
		Bound:     workload.Mix{Compute: 0.5, Memory: 0.3, Host: 0.2},
		Precision: accelerator.FP32, Memory: 10 * unit.GiB, Scaling: 0.9,
	}
	for _, m := range mutate {
		m(c)
	}
	return &workload.Workload{Kind: workload.Custom, Custom: c}
}

func prepare(t testing.TB, mutate ...func(*workload.CustomWork)) estimate.Job {
	t.Helper()
	j, err := New(work(mutate...), estimate.EmbeddedCurves())
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestTheMeasuredDeviceKeepsItsRate(t *testing.T) {
	for _, count := range []int{1, 8} {
		j := prepare(t, func(c *workload.CustomWork) {
			c.On.Count = count
			c.On.Device = &accelerator.Accelerator{Name: "A", NominalGB: unit.Some(64.0)}
		})
		e := scaletest.Best(t, j, scaletest.Group(scaletest.Chip("A"), count, 1))
		if e.Speed.Value != 100 || e.Speed.Basis != estimate.Measured || e.Speed.Like != estimate.LikeChip || e.Speed.Unit != "samples/s" || len(e.Notes) != 0 {
			t.Errorf("count %d: %+v %v", count, e.Speed, e.Notes)
		}
		if !scaletest.Near(float64(e.Hours), 1e6/100/3600) {
			t.Errorf("count %d: %v hours", count, e.Hours)
		}
	}
}

// A chip with twice of everything halves all but the host's fifth: 0.25 + 0.15 + 0.2 of a second for one.
func TestAnotherDevice(t *testing.T) {
	e := scaletest.Best(t, prepare(t), scaletest.Group(scaletest.Twice("B"), 1, 1))
	if !scaletest.Near(e.Speed.Value, 100/0.6) || e.Speed.Basis != estimate.Predicted || e.Speed.Like != estimate.LikeKind {
		t.Errorf("%+v", e.Speed)
	}
	if !scaletest.Near(e.Bottleneck.Input, 0.2/0.6) || e.Notes[0].Code != noteScaled {
		t.Errorf("%+v %v", e.Bottleneck, e.Notes)
	}
}

// Three doublings at 0.9 of ideal each: 8 x 0.9^3.
func TestMoreDevices(t *testing.T) {
	e := scaletest.Best(t, prepare(t), scaletest.Group(scaletest.Chip("A"), 8, 1))
	if !scaletest.Near(e.Speed.Value, 100*8*0.9*0.9*0.9) || e.Speed.Basis != estimate.Predicted {
		t.Errorf("%+v", e.Speed)
	}
}

func TestRefusals(t *testing.T) {
	one := scaletest.Group(scaletest.Twice("B"), 1, 1)
	without := func(change func(*accelerator.Accelerator)) estimate.Group {
		a := scaletest.Twice("B")
		change(a)
		return scaletest.Group(a, 1, 1)
	}
	noNet := scaletest.Group(scaletest.Twice("B"), 4, 2)
	noNet.NetworkGbps = unit.None[float64]()
	linked := func(c *workload.CustomWork) { c.On.Count = 8; c.Bound = workload.Mix{Compute: 0.5, Link: 0.5} }
	for _, c := range []struct {
		name   string
		change func(*workload.CustomWork)
		group  estimate.Group
		want   estimate.Reason
	}{
		{"fits", func(*workload.CustomWork) {}, one, ""},
		{"memory", func(c *workload.CustomWork) { c.Memory = 64 * unit.GiB }, one, estimate.NoMemory},
		{"memory unknown", func(*workload.CustomWork) {}, without(func(a *accelerator.Accelerator) { a.NominalGB = unit.None[float64]() }), estimate.NoMemoryFact},
		{"rate unknown", func(*workload.CustomWork) {}, without(func(a *accelerator.Accelerator) { a.Peak[accelerator.FP32] = unit.None[unit.FLOPS]() }), estimate.NoRate},
		{"bandwidth unknown", func(*workload.CustomWork) {}, without(func(a *accelerator.Accelerator) { a.Bandwidth = unit.None[unit.BytesPerSec]() }), estimate.NoRate},
		{"no such arithmetic", func(*workload.CustomWork) {}, without(func(a *accelerator.Accelerator) { a.Peak[accelerator.FP32] = unit.Some[unit.FLOPS](0) }), estimate.NoPrecision},
		{"reference unknown", func(c *workload.CustomWork) { c.On.Device.Bandwidth = unit.None[unit.BytesPerSec]() }, one, estimate.NoReference},
		{"not divisible", func(c *workload.CustomWork) { c.Scaling = 0 }, scaletest.Group(scaletest.Chip("A"), 2, 1), estimate.NotDivisible},
		{"network unknown", linked, noNet, estimate.NoNetworkFact},
	} {
		if got := scaletest.Refused(prepare(t, c.change), c.group); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, scaling := rapid.IntRange(1, 64).Draw(t, "n"), rapid.Float64Range(0.5, 1).Draw(t, "scaling")
		compute := rapid.Float64Range(0, 1).Draw(t, "compute")
		share := rapid.SampledFrom([]float64{1, 0.5, 0.25}).Draw(t, "share")
		best := func(units float64, n int) estimate.Estimate {
			j, err := New(work(func(c *workload.CustomWork) {
				c.Units, c.Scaling, c.Bound = units, scaling, workload.Mix{Compute: compute, Memory: 1 - compute}
			}), estimate.EmbeddedCurves())
			if err != nil {
				t.Fatal(err)
			}
			g := scaletest.Group(scaletest.Twice("B"), n, 1)
			g.Share = share
			e, refusal, _ := j.Best(g)
			if refusal != nil {
				t.Fatalf("%+v", refusal)
			}
			scaletest.Check(t, e)
			return e
		}
		one, two := best(1e6, n), best(2e6, n)
		if !scaletest.Near(2*float64(one.Hours), float64(two.Hours)) {
			t.Errorf("twice the work takes %v for %v hours", two.Hours, one.Hours)
		}
		if more := best(1e6, n+1); more.Hours > one.Hours*(1+1e-9) {
			t.Errorf("%d take %v hours, %d take %v", n, one.Hours, n+1, more.Hours)
		}
		if want := 2 * share * 100; n == 1 && !scaletest.Near(one.Speed.Value, want) {
			t.Errorf("a share of %v does %v, want %v", share, one.Speed.Value, want)
		}
	})
}

func BenchmarkBest(b *testing.B) {
	scaletest.Bench(b, prepare(b), scaletest.Group(scaletest.Twice("B"), 8, 1))
}
