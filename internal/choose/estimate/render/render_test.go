package render

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/scale/scaletest"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

func prepare(t testing.TB, mutate ...func(*workload.RenderWork)) estimate.Job {
	t.Helper()
	r := &workload.RenderWork{Frames: 3600, SecondsPerFrame: 60, On: workload.Reference{Device: scaletest.Chip("A"), Count: 1}, SceneMemory: 20 * unit.GiB}
	for _, m := range mutate {
		m(r)
	}
	j, err := New(&workload.Workload{Kind: workload.Render, Render: r}, estimate.EmbeddedCurves())
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// One device at a minute a frame does 60 an hour; eight do 480.
func TestTheMeasuredDeviceKeepsItsTime(t *testing.T) {
	for _, traced := range []bool{false, true} {
		j := prepare(t, func(r *workload.RenderWork) { r.RayTracing = traced })
		e := scaletest.Best(t, j, scaletest.Group(scaletest.Chip("A"), 8, 1))
		if !scaletest.Near(e.Speed.Value, 480) || e.Speed.Unit != "frames/h" || e.Speed.Basis != estimate.Measured || e.Speed.Like != estimate.LikeChip || len(e.Notes) != 0 {
			t.Errorf("%+v %v", e.Speed, e.Notes)
		}
		if !scaletest.Near(float64(e.Hours), 7.5) || !j.Independent() || j.Service() {
			t.Errorf("%v hours", e.Hours)
		}
	}
}

func TestAChipWithTwiceOfEverythingIsTwiceAsFast(t *testing.T) {
	for _, traced := range []bool{false, true} {
		e := scaletest.Best(t, prepare(t, func(r *workload.RenderWork) { r.RayTracing = traced }), scaletest.Group(scaletest.Twice("B"), 1, 1))
		if !scaletest.Near(e.Speed.Value, 120) || e.Speed.Basis != estimate.Predicted || e.Speed.Like != estimate.LikeKind || e.Notes[0].Code != noteScaled {
			t.Errorf("traced %v: %+v %v", traced, e.Speed, e.Notes)
		}
	}
}

// Chips of another vendor run other code of a renderer: nothing like them was measured, and the interval is wider.
func TestAnotherVendor(t *testing.T) {
	near, far := scaletest.Twice("B"), scaletest.Twice("B")
	far.Vendor = "another"
	a, b := scaletest.Best(t, prepare(t), scaletest.Group(near, 1, 1)).Speed, scaletest.Best(t, prepare(t), scaletest.Group(far, 1, 1)).Speed
	if a.Value != b.Value || a.Like != estimate.LikeKind || b.Like != estimate.LikeNone || b.High/b.Low <= a.High/a.Low {
		t.Errorf("%+v and %+v", a, b)
	}
}

// The mixes against the published ratios that are named beside them: never off by more than two fifths.
func TestPublishedRatios(t *testing.T) {
	for _, c := range []struct {
		from, to string
		traced   bool
		ratio    float64
	}{
		{"RTX-3090", "RTX-4090", false, 2.15}, {"RTX-3080-10GB", "RTX-4080", false, 1.87}, {"RTX-2080", "RTX-3080-10GB", false, 2.4},
		{"GTX-1080", "RTX-2080", false, 1.6}, {"Titan-V", "A100-SXM-40GB", false, 446. / 401}, {"RTX-2080-Ti", "A100-SXM-40GB", false, 446. / 302},
		{"RTX-3090", "RTX-4090", true, 2.2},
	} {
		from, _ := accelerator.Embedded().Get(c.from)
		to, _ := accelerator.Embedded().Get(c.to)
		if from == nil || to == nil {
			t.Fatalf("%s or %s is unknown", c.from, c.to)
		}
		e := scaletest.Best(t, prepare(t, func(r *workload.RenderWork) { r.On.Device, r.RayTracing, r.SceneMemory = from, c.traced, 0 }), scaletest.Group(to, 1, 1))
		if off := e.Speed.Value / 60 / c.ratio; off < 1/1.4 || off > 1.4 {
			t.Errorf("%s to %s: %.2f times, published %.2f", c.from, c.to, e.Speed.Value/60, c.ratio)
		}
	}
}

// A frame is never spread over devices: one takes its minute however many there are.
func TestFewerFramesThanDevices(t *testing.T) {
	e := scaletest.Best(t, prepare(t, func(r *workload.RenderWork) { r.Frames = 1 }), scaletest.Group(scaletest.Chip("A"), 8, 1))
	if !scaletest.Near(e.Hours.Seconds(), 60) {
		t.Errorf("%v s", e.Hours.Seconds())
	}
}

func TestRefusals(t *testing.T) {
	group := func(change func(*accelerator.Accelerator)) estimate.Group {
		a := scaletest.Twice("B")
		change(a)
		return scaletest.Group(a, 1, 1)
	}
	traced := func(r *workload.RenderWork) { r.RayTracing = true }
	for _, c := range []struct {
		name   string
		change func(*workload.RenderWork)
		group  estimate.Group
		want   estimate.Reason
	}{
		{"no cores", traced, group(func(a *accelerator.Accelerator) { a.RTCores = unit.Some(0) }), estimate.NoRayTracing},
		{"cores unknown", traced, group(func(a *accelerator.Accelerator) { a.RTCores = unit.None[int]() }), estimate.NoRayTracing},
		{"no cores wanted", func(*workload.RenderWork) {}, group(func(a *accelerator.Accelerator) { a.RTCores = unit.None[int]() }), ""},
		{"the reference's cores unknown", func(r *workload.RenderWork) { r.RayTracing = true; r.On.Device.RTCores = unit.None[int]() }, group(func(*accelerator.Accelerator) {}), estimate.NoReference},
		{"rate unknown", traced, group(func(a *accelerator.Accelerator) { a.Peak[accelerator.FP32] = unit.None[unit.FLOPS]() }), estimate.NoRate},
		{"memory unknown", traced, group(func(a *accelerator.Accelerator) { a.NominalGB = unit.None[float64]() }), estimate.NoMemoryFact},
	} {
		if got := scaletest.Refused(prepare(t, c.change), c.group); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	_, refusal, _ := prepare(t, func(r *workload.RenderWork) { r.SceneMemory = 70 * unit.GiB }).Best(group(func(*accelerator.Accelerator) {}))
	if refusal == nil || refusal.Reason != estimate.NoMemory || refusal.Want <= float64(70*unit.GiB) || refusal.Have >= float64(64*unit.GiB) {
		t.Errorf("a scene too large: %+v", refusal)
	}
}

func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, frames := rapid.IntRange(1, 64).Draw(t, "n"), float64(rapid.IntRange(100, 1e6).Draw(t, "frames"))
		best := func(frames float64, n int) estimate.Estimate {
			j, err := New(&workload.Workload{Render: &workload.RenderWork{Frames: frames, SecondsPerFrame: 9, On: workload.Reference{Device: scaletest.Chip("A"), Count: 2}}}, estimate.EmbeddedCurves())
			if err != nil {
				t.Fatal(err)
			}
			e, refusal, _ := j.Best(scaletest.Group(scaletest.Twice("B"), n, 1))
			if refusal != nil {
				t.Fatalf("%+v", refusal)
			}
			scaletest.Check(t, e)
			return e
		}
		one := best(frames, n)
		if two := best(2*frames, n); !scaletest.Near(2*float64(one.Hours), float64(two.Hours)) {
			t.Errorf("twice the frames take %v for %v hours", two.Hours, one.Hours)
		}
		if more := best(frames, n+1); more.Hours > one.Hours {
			t.Errorf("one more is slower: %v after %v hours", more.Hours, one.Hours)
		}
	})
}

func BenchmarkBest(b *testing.B) {
	scaletest.Bench(b, prepare(b), scaletest.Group(scaletest.Twice("B"), 8, 1))
}

// scores is a benchmark of A and B on two scenes, of C on another.
func scores() *workload.Scores {
	return &workload.Scores{Path: "opendata.jsonl", Devices: map[string]map[string]workload.Score{
		"A": {"monster 4.2": {PerMinute: 1000, Runs: 9}, "junkshop 4.2": {PerMinute: 500, Runs: 9}, "classroom 4.2": {PerMinute: 1, Runs: 1}},
		"B": {"monster 4.2": {PerMinute: 2000, Runs: 9}, "junkshop 4.2": {PerMinute: 4000, Runs: 9}},
		"C": {"monster 3.6": {PerMinute: 9000, Runs: 9}},
	}}
}

// Twice and eight times as fast on the scenes in common are four times as fast.
func TestABenchmarkCarriesTheTimeOver(t *testing.T) {
	j := prepare(t, func(r *workload.RenderWork) { r.Scores = scores() })
	e := scaletest.Best(t, j, scaletest.Group(scaletest.Twice("B"), 1, 1))
	if !scaletest.Near(e.Speed.Value, 240) || e.Speed.Basis != estimate.Published || e.Speed.Source != "opendata.jsonl" || e.Notes[0].Code != noteBenchmark {
		t.Errorf("%+v %v", e.Speed, e.Notes)
	}
	if b := embedded().Benchmark; !scaletest.Near(e.Speed.Low, 240*b.Low) || !scaletest.Near(e.Speed.High, 240*b.High) {
		t.Errorf("%+v", e.Speed)
	}
	half := scaletest.Group(scaletest.Twice("B"), 1, 1)
	half.Share = 0.5
	if e := scaletest.Best(t, j, half); !scaletest.Near(e.Speed.Value, 120) {
		t.Errorf("half a device: %+v", e.Speed)
	}
	// Other releases do not compare: the figures of the chips stand in, and it says so.
	e = scaletest.Best(t, j, scaletest.Group(scaletest.Twice("C"), 1, 1))
	if !scaletest.Near(e.Speed.Value, 120) || e.Speed.Basis != estimate.Predicted || len(e.Notes) != 2 || e.Notes[1].Code != noteNoResult {
		t.Errorf("%+v %v", e.Speed, e.Notes)
	}
}
