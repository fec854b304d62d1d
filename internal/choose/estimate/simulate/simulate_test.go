package simulate

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/scale/scaletest"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

func counted(s *workload.Simulation) {}

func timed(s *workload.Simulation) {
	s.FLOPStep, s.ByteStep, s.HaloBytes = 0, 0, 0
	s.MeasuredIsBound, s.SecondsPerStep, s.On = true, 0.5, workload.Reference{Device: scaletest.Chip("A"), Count: 2}
	s.Bound = workload.Mix{Compute: 0.2, Memory: 0.5, Link: 0.2, Host: 0.1}
}

func prepare(t interface{ Fatal(...any) }, mutate ...func(*workload.Simulation)) estimate.Job {
	s := &workload.Simulation{Steps: 1000, Precision: accelerator.FP64, FLOPStep: 1e12, ByteStep: traffic(1), Memory: 40 * unit.GiB, HaloBytes: 1e9}
	for _, m := range mutate {
		m(s)
	}
	j, err := New(&workload.Workload{Kind: workload.Simulate, Sim: s}, estimate.EmbeddedCurves().Without(estimate.Simulation))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// traffic is bytes that a solver moves in a second on chip A, of a vendor without a figure: the median of all devices.
func traffic(seconds float64) unit.Bytes {
	return unit.Bytes(seconds * 1e12 * all().of(scaletest.Chip("A")))
}

// 1e12 FLOP at 0.6 of 5 TFLOP/s take 1/3 s; the traffic takes 1 s, which is longer.
func TestRoofline(t *testing.T) {
	e := scaletest.Best(t, prepare(t), scaletest.Group(scaletest.Chip("A"), 1, 1))
	if !scaletest.Near(e.Speed.Value, 1) || e.Bottleneck.Memory != 1 || e.Speed.Like != estimate.LikeNone || !scaletest.Near(e.MFU, 0.2) {
		t.Errorf("%+v %+v MFU %v", e.Speed, e.Bottleneck, e.MFU)
	}
	if !scaletest.Near(e.Hours.Seconds(), 1000) || e.Notes[0].Code != noteVector {
		t.Errorf("%v s %v", e.Hours.Seconds(), e.Notes)
	}
	e = scaletest.Best(t, prepare(t, func(s *workload.Simulation) { s.FLOPStep = 6e12 }), scaletest.Group(scaletest.Chip("A"), 1, 1))
	if !scaletest.Near(e.Speed.Value, 0.5) || e.Bottleneck.Compute != 1 {
		t.Errorf("%+v %+v", e.Speed, e.Bottleneck)
	}
}

// Two parts halve the second and send 5e8 bytes each over 0.6 of 200 GB/s with a hop of 6 us.
func TestHalo(t *testing.T) {
	e := scaletest.Best(t, prepare(t), scaletest.Group(scaletest.Chip("A"), 2, 1))
	if want := 0.5 + 5e8/120e9 + 6e-6; !scaletest.Near(1/e.Speed.Value, want) {
		t.Errorf("a step takes %v s, want %v", 1/e.Speed.Value, want)
	}
	// Two machines of one send the same over 0.85 of 50 GB/s with a hop of 12 us.
	e = scaletest.Best(t, prepare(t), scaletest.Group(scaletest.Chip("A"), 1, 2))
	if want := 0.5 + 5e8/42.5e9 + 12e-6; !scaletest.Near(1/e.Speed.Value, want) || e.Bottleneck.Link != 0 || e.Bottleneck.Network == 0 {
		t.Errorf("a step takes %v s, want %v: %+v", 1/e.Speed.Value, want, e.Bottleneck)
	}
}

// A device has its own figure, else the median of its capability, its architecture, its maker, or all; and its own is left out
// where it is to be predicted.
func TestReach(t *testing.T) {
	figure := func(device string) float64 {
		for _, f := range embedded().Bandwidth.Figures {
			if f.Device == device {
				return f.Share
			}
		}
		t.Fatalf("no figure of %s", device)
		return 0
	}
	chip := func(name, vendor, arch, compute string) *accelerator.Accelerator {
		return &accelerator.Accelerator{Name: name, Vendor: vendor, Arch: arch, Compute: compute}
	}
	a100 := chip("A100-SXM-40GB", "NVIDIA", "Ampere", "8.0")
	if got := all().of(a100); got != figure("A100-SXM-40GB") {
		t.Errorf("A100's own figure is %v", got)
	}
	without := reachWithout("A100-SXM-40GB")
	if got := without.of(a100); got == figure("A100-SXM-40GB") || got != without.median["compute 8.0"] {
		t.Errorf("A100 without its own figure reaches %v", got)
	}
	if got, want := all().of(chip("new", "Intel", "Xe-HPC", "")), figure("Max-1100"); got != want {
		t.Errorf("the only device of an architecture: %v, want %v", got, want)
	}
	if got := all().of(chip("new", "AMD", "RDNA9", "")); got != all().median["vendor AMD"] {
		t.Errorf("a new architecture: %v", got)
	}
	// A10 has no figure of its own; check bits take of what others of its capability reach.
	if got, want := all().of(chip("A10", "NVIDIA", "Ampere", "8.6")), 0.85*all().median["compute 8.6"]; !scaletest.Near(got, want) {
		t.Errorf("a server board without a figure: %v, want %v", got, want)
	}
	if unchecked("A16 (8 GPUs)") != 0.85 || unchecked("A100-SXM-40GB") != 1 || unchecked("RTX-A6000") != 1 {
		t.Error("which devices keep check bits in their memory")
	}
}

// Only a chip whose own bandwidth was measured is the same chip, and several machines are only of the same kind.
func TestLikeness(t *testing.T) {
	j, err := New(&workload.Workload{Kind: workload.Simulate, Sim: &workload.Simulation{
		Steps: 1, Precision: accelerator.FP32, ByteStep: unit.GB, Memory: unit.GiB, HaloBytes: unit.MiB}}, estimate.EmbeddedCurves())
	if err != nil {
		t.Fatal(err)
	}
	width := 0.0
	for _, c := range []struct {
		chip  string
		nodes int
		want  estimate.Likeness
	}{{"A100-SXM-40GB", 1, estimate.LikeChip}, {"A10", 1, estimate.LikeFamily}, {"A100-SXM-40GB", 2, estimate.LikeKind}} {
		a, _ := accelerator.Embedded().Get(c.chip)
		e := scaletest.Best(t, j, scaletest.Group(a, 1, c.nodes))
		if w := e.Speed.High / e.Speed.Low; e.Speed.Like != c.want || w < width {
			t.Errorf("%d x %s: %s, %v wide after %v", c.nodes, c.chip, e.Speed.Like, w, width)
		} else {
			width = w
		}
	}
}

func TestDescribed(t *testing.T) {
	a := Described("GeForce RTX 3070M Ti", 8*unit.GiB, 448e9, 16e12)
	if a.Arch != "Ampere" || a.Compute != "8.6" || a.Bandwidth.Or(0) != 448e9 || IntegerCost(a) != 2 || Family(a) != "8.6" {
		t.Errorf("%+v", a)
	}
	if a := Described("K20X", 0, 0, 0); a.Bandwidth.Or(0) != 250e9 || a.Peak[accelerator.FP64].Or(0) != 1.31e12 || IntegerCost(a) != 2 {
		t.Errorf("%+v", a)
	}
	if a := Described("Abacus", 1, 1, 1); a != nil {
		t.Errorf("%+v", a)
	}
	if Renamed("P100") != "P100-PCIe-16GB" || Renamed("T4") != "T4" {
		t.Error("names")
	}
}

// The data is whole: shares are of a whole, mixes add up to one, and each case was run on two devices that are known.
func TestData(t *testing.T) {
	for _, f := range embedded().Bandwidth.Figures {
		if !(f.Share > 0 && f.Share <= 1) || f.Vendor == "" {
			t.Errorf("%+v", f)
		}
	}
	for _, a := range Applications() {
		m := a.Mix()
		if !scaletest.Near(m.Compute+m.Memory+m.Host, 1) || len(a.Runs) < 2 || a.Source == "" || len(a.AsOf) != len("2006-01-02") {
			t.Errorf("%+v", a)
		}
		for name := range a.Runs {
			if _, ok := accelerator.Embedded().Get(name); !ok && Described(name, 0, 0, 0) == nil {
				t.Errorf("%s ran on %s, which is not known", a.Name, name)
			}
		}
	}
}

func TestCut(t *testing.T) {
	for n, want := range map[int]cut{
		1: {1, 0, 0}, 2: {2, 1, 1}, 3: {3, 2, 2}, 4: {4, 2, 1}, 8: {8, 3, 0.75}, 27: {27, 6, 2. / 3}, 64: {64, 6, 0.375},
	} {
		if got := divide(n); got.parts != want.parts || got.faces != want.faces || !scaletest.Near(got.area, want.area) {
			t.Errorf("%d parts: %+v, want %+v", n, got, want)
		}
	}
	if got, want := divide(32768).area, 6*math.Pow(32768, -2.0/3); !scaletest.Near(got, want) {
		t.Errorf("many parts: %v, want %v", got, want)
	}
}

func TestTheMeasuredDevicesKeepTheirTime(t *testing.T) {
	e := scaletest.Best(t, prepare(t, timed), scaletest.Group(scaletest.Chip("A"), 2, 1))
	if e.Speed.Value != 2 || e.Speed.Basis != estimate.Measured || e.Speed.Like != estimate.LikeChip {
		t.Errorf("%+v", e.Speed)
	}
}

// Twice of everything halves compute, memory and link, not the host: 0.5 x (0.1 + 0.25 + 0.1 + 0.1).
func TestAnotherDevice(t *testing.T) {
	e := scaletest.Best(t, prepare(t, timed), scaletest.Group(scaletest.Twice("B"), 2, 1))
	if !scaletest.Near(1/e.Speed.Value, 0.275) || e.Notes[0].Code != noteScaled || e.Notes[1].Code != noteNoHalo {
		t.Errorf("%v %v", 1/e.Speed.Value, e.Notes)
	}
	// One device has no one to talk to, and twice the work of each of two: 0.5 x (0.2 + 0.5 + 0.1).
	e = scaletest.Best(t, prepare(t, timed), scaletest.Group(scaletest.Twice("B"), 1, 1))
	if !scaletest.Near(1/e.Speed.Value, 0.4) {
		t.Errorf("%v", 1/e.Speed.Value)
	}
}

func TestRefusals(t *testing.T) {
	group := func(change func(*accelerator.Accelerator)) estimate.Group {
		a := scaletest.Twice("B")
		change(a)
		return scaletest.Group(a, 2, 1)
	}
	noNet := scaletest.Group(scaletest.Chip("A"), 1, 2)
	noNet.NetworkGbps = unit.None[float64]()
	for _, c := range []struct {
		name   string
		change func(*workload.Simulation)
		group  estimate.Group
		want   estimate.Reason
	}{
		{"fp64 unknown", counted, group(func(a *accelerator.Accelerator) { a.Peak[accelerator.FP64] = unit.None[unit.FLOPS]() }), estimate.NoRate},
		{"fp64 tensor does not stand in", counted, group(func(a *accelerator.Accelerator) { a.Peak[accelerator.FP64] = unit.Some[unit.FLOPS](0) }), estimate.NoPrecision},
		{"bandwidth unknown", counted, group(func(a *accelerator.Accelerator) { a.Bandwidth = unit.None[unit.BytesPerSec]() }), estimate.NoRate},
		{"link unknown", counted, group(func(a *accelerator.Accelerator) { a.LinkBidir = unit.None[unit.BytesPerSec]() }), estimate.NoRate},
		{"memory unknown", counted, group(func(a *accelerator.Accelerator) { a.NominalGB = unit.None[float64]() }), estimate.NoMemoryFact},
		{"memory", func(s *workload.Simulation) { s.Memory = 130 * unit.GiB }, group(func(*accelerator.Accelerator) {}), estimate.NoMemory},
		{"memory of halves", func(s *workload.Simulation) { s.Memory = 110 * unit.GiB }, group(func(*accelerator.Accelerator) {}), ""},
		{"network unknown", counted, noNet, estimate.NoNetworkFact},
		{"no halo, no network", func(s *workload.Simulation) { s.HaloBytes = 0 }, noNet, ""},
		{"measured, fp64 unknown", timed, group(func(a *accelerator.Accelerator) { a.Peak[accelerator.FP64] = unit.None[unit.FLOPS]() }), estimate.NoRate},
		{"reference unknown", func(s *workload.Simulation) { timed(s); s.On.Device.Bandwidth = unit.None[unit.BytesPerSec]() }, group(func(*accelerator.Accelerator) {}), estimate.NoReference},
	} {
		if got := scaletest.Refused(prepare(t, c.change), c.group); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		perNode, nodes := rapid.IntRange(1, 8).Draw(t, "per node"), rapid.IntRange(1, 40).Draw(t, "nodes")
		form := counted
		if rapid.Bool().Draw(t, "measured") {
			form = timed
		}
		flop := unit.FLOP(rapid.Float64Range(0, 1e14).Draw(t, "flop"))
		best := func(steps float64) estimate.Estimate {
			j := prepare(t, func(s *workload.Simulation) { s.Steps, s.FLOPStep = steps, flop }, form)
			e, refusal, _ := j.Best(scaletest.Group(scaletest.Twice("B"), perNode, nodes))
			if refusal != nil {
				t.Fatalf("%+v", refusal)
			}
			scaletest.Check(t, e)
			return e
		}
		if one, two := best(1000), best(2000); !scaletest.Near(2*float64(one.Hours), float64(two.Hours)) {
			t.Errorf("twice the steps take %v for %v hours", two.Hours, one.Hours)
		}
	})
}

func BenchmarkBest(b *testing.B) {
	scaletest.Bench(b, prepare(b), scaletest.Group(scaletest.Twice("B"), 8, 4))
}
