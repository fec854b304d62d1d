package persample

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/model"
)

func chip(t testing.TB, name string) *accelerator.Accelerator {
	t.Helper()
	a, ok := accelerator.Embedded().Get(name)
	if !ok {
		t.Fatal(name)
	}
	return a
}

func net(t testing.TB, name string, tokens int) *Net {
	t.Helper()
	m, err := model.Embedded().Get(name)
	if err != nil {
		t.Fatal(err)
	}
	n, ok := Of(m, tokens)
	if !ok {
		t.Fatal(name)
	}
	return n
}

func group(a *accelerator.Accelerator, perNode, nodes int) estimate.Group {
	g := estimate.Group{Chip: a, Share: 1, PerNode: perNode, Nodes: nodes, Topology: catalog.NVSwitch, Network: catalog.InfiniBand, NetworkGbps: unit.Some(3200.0)}
	if perNode == 1 {
		g.Topology = catalog.Single
	}
	return g
}

// raw is the embedded curves without what was fitted: the formulas alone.
func raw() *estimate.Curves {
	return estimate.EmbeddedCurves().Without(estimate.Vision).Without(estimate.SampleTraining)
}

// reaching is raw with a network that reaches something.
func reaching(name string, r estimate.Reached) *estimate.Curves {
	return raw().Calibrated(&estimate.Calibration{Target: estimate.Vision, Networks: map[string]estimate.Reached{name: r}})
}

// One image of ResNet-50 on an A100 by hand: 8.18 GFLOP at 624 TOPS, 510 operations a byte over 2.039 TB/s, 0.256 pJ an operation
// of 400 W, at 1.06 of that speed; 62 kernels of 7 microseconds before it.
func TestResNetByHand(t *testing.T) {
	g := group(chip(t, "A100-SXM-80GB"), 1, 1)
	n := net(t, "resnet-50", 0)
	want := 8.18e9 * (1/624e12 + 1/(510*2.039e12) + 0.256e-12/400) / 1.06
	c := reaching("resnet-50", estimate.Reached{Level: 1.06, Kernels: 62, Alone: 1})
	bulk, refusal := n.Rate(c, g, Setting{Mode: Bulk, Precision: accelerator.INT8})
	if refusal != nil || math.Abs(bulk.PerSecond*want-1) > 1e-9 {
		t.Errorf("bulk %v, want %v", bulk.PerSecond, 1/want)
	}
	first := 62*7e-6 + want
	single, _ := n.Rate(c, g, Setting{Mode: Single, Precision: accelerator.INT8})
	if math.Abs(single.Latency/first-1) > 1e-9 || math.Abs(single.PerSecond*first-1) > 1e-9 {
		t.Errorf("single %v s, want %v", single.Latency, first)
	}
	// Within 15 ms two batches of (7.5 ms - 0.434 ms) fit.
	served, _ := n.Rate(c, g, Setting{Mode: Served, Precision: accelerator.INT8, Bound: 0.015})
	batch := (0.0075 - 62*7e-6) / want
	each := batch / 0.0075
	load := 1 / (1 + math.Log(100)/2/(each*(0.015-first)))
	if math.Abs(served.Batch/batch-1) > 1e-9 || math.Abs(served.PerSecond/(each*load)-1) > 1e-9 {
		t.Errorf("served %v in batches of %v, want %v in %v", served.PerSecond, served.Batch, each*load, batch)
	}
}

// A bound that one sample alone misses is refused with both figures.
func TestBoundBelowOneSample(t *testing.T) {
	g := group(chip(t, "T4"), 1, 1)
	_, refusal := net(t, "retinanet", 0).Rate(raw(), g, Setting{Mode: Served, Precision: accelerator.INT8, Bound: 0.001})
	if refusal == nil || refusal.Reason != estimate.NoLatency || refusal.Have <= refusal.Want {
		t.Errorf("%+v", refusal)
	}
}

// MLPerf Training v4.1, NVIDIA: BERT-Large over 8 x H100, 7,760 samples a second at a batch of 768; and 53,186 over 64 at 4,608.
func TestPublishedBERT(t *testing.T) {
	n, c := net(t, "bert-large", 250), estimate.EmbeddedCurves()
	for _, x := range []struct {
		nodes       int
		batch, rate float64
	}{{1, 768, 7760}, {8, 4608, 53186}} {
		s, refusal := n.StepOn(c, group(chip(t, "H100-SXM-80GB"), 8, x.nodes), Run{Precision: accelerator.FP8, Batch: x.batch})
		if refusal != nil || math.Abs(s.PerSecond/x.rate-1) > 0.1 {
			t.Errorf("%d machines: %v, published %v", x.nodes, s.PerSecond, x.rate)
		}
		if x.rate < s.PerSecond*s.Low || x.rate > s.PerSecond*s.High {
			t.Errorf("%d machines: %v outside %v to %v", x.nodes, x.rate, s.PerSecond*s.Low, s.PerSecond*s.High)
		}
	}
}

var networks = []string{"resnet-50", "ssd-mobilenet", "retinanet", "3d-unet-kits19", "bert-large", "rnn-t", "dlrm-v2", "r-gat", "vit-b-16", "vgg-16"}

func anyNet(t *rapid.T) *Net {
	m, err := model.Embedded().Get(rapid.SampledFrom(networks).Draw(t, "network"))
	if err != nil {
		t.Fatal(err)
	}
	n, _ := Of(m, rapid.IntRange(1, 512).Draw(t, "tokens"))
	return n
}

// More arithmetic, bandwidth or power, or a larger share of a chip, never slows a network in any mode.
func TestMoreIsNeverSlower(t *testing.T) {
	base, c := chip(t, "A100-SXM-80GB"), raw()
	rapid.Check(t, func(t *rapid.T) {
		n := anyNet(t)
		g := group(base, 1, 1)
		g.Share = rapid.Float64Range(0.1, 1).Draw(t, "share")
		better := *base
		more := g
		more.Share = math.Min(1, g.Share*rapid.Float64Range(1, 3).Draw(t, "more"))
		peak, _ := base.Peak[accelerator.INT8].Get()
		better.Peak[accelerator.INT8] = unit.Some(peak * unit.FLOPS(rapid.Float64Range(1, 4).Draw(t, "peak")))
		bw, _ := base.Bandwidth.Get()
		better.Bandwidth = unit.Some(bw * unit.BytesPerSec(rapid.Float64Range(1, 4).Draw(t, "bandwidth")))
		better.TDP = unit.Some(unit.Watts(rapid.Float64Range(400, 1200).Draw(t, "watts")))
		more.Chip = &better
		s := Setting{
			Mode: rapid.SampledFrom([]Mode{Bulk, Served, Single}).Draw(t, "mode"), Precision: accelerator.INT8,
			Bound: rapid.Float64Range(0, 0.2).Draw(t, "bound"),
		}
		a, refusalA := n.Rate(c, g, s)
		b, refusalB := n.Rate(c, more, s)
		if refusalA == nil && (refusalB != nil || b.PerSecond < a.PerSecond*(1-1e-9)) {
			t.Fatalf("%v then %v (%+v)", a.PerSecond, b.PerSecond, refusalB)
		}
	})
}

func batchWork(n *Net, requests float64) *workload.Workload {
	w := &workload.Workload{Kind: workload.BatchInfer, Model: n.Model, Format: "int8", Batch: &workload.Batch{Requests: requests}}
	if n.Class == model.Encoder {
		w.Batch.InputTokens = 128
	}
	return w
}

// More accelerators never do less, memory parts sum to what is used, and shares to one.
func TestMoreAcceleratorsNeverLess(t *testing.T) {
	c := estimate.EmbeddedCurves()
	rapid.Check(t, func(t *rapid.T) {
		n := anyNet(t)
		a := accelerator.Embedded()
		x, _ := a.Get(rapid.SampledFrom([]string{"T4", "L4", "A100-SXM-80GB", "H100-SXM-80GB", "B200", "TPU-v5e"}).Draw(t, "chip"))
		perNode, nodes := rapid.SampledFrom([]int{1, 2, 4, 8}).Draw(t, "each"), rapid.IntRange(1, 40).Draw(t, "nodes")
		train := &workload.Workload{
			Kind: workload.Train, Model: n.Model, Format: "bf16", Optimizer: workload.AdamW, Samples: 1e7,
			GlobalBatch: rapid.IntRange(1, 1<<16).Draw(t, "batch"), Sequence: 128,
		}
		for _, w := range []*workload.Workload{batchWork(n, rapid.Float64Range(1, 1e9).Draw(t, "requests")), train} {
			j, err := New(w, c)
			if err != nil {
				t.Fatal(err)
			}
			e, refusal, _ := j.Best(group(x, perNode, nodes))
			more, worse, _ := j.Best(group(x, perNode, nodes+1))
			if refusal != nil {
				continue
			}
			if worse != nil || more.Speed.Value < e.Speed.Value*(1-1e-9) {
				t.Fatalf("%s: %v on %d machines, %v on one more (%+v)", w.Kind, e.Speed.Value, nodes, more.Speed.Value, worse)
			}
			var sum unit.Bytes
			for _, p := range e.Memory.Parts {
				sum += p.Bytes
			}
			b := e.Bottleneck
			if sum != e.Memory.Used || e.Memory.Free() < 0 || math.Abs(b.Compute+b.Memory+b.Link+b.Network+b.Overhead-1) > 1e-9 {
				t.Fatalf("%s: %+v %+v", w.Kind, e.Memory, b)
			}
			if !(e.Speed.Low <= e.Speed.Value && e.Speed.Value <= e.Speed.High) || e.Speed.Source == "" {
				t.Fatalf("%+v", e.Speed)
			}
		}
	})
}

// halfDay is a profile with its peak at noon and half of it before.
var halfDay = slices.Concat(slices.Repeat([]float64{0.5}, 12), slices.Repeat([]float64{1}, 12))

// A service stands on the fewest accelerators that hold its peak: one less does not.
func TestFewestAccelerators(t *testing.T) {
	c := estimate.EmbeddedCurves()
	a := chip(t, "L4")
	rapid.Check(t, func(t *rapid.T) {
		n := anyNet(t)
		w := &workload.Workload{
			Kind: workload.Serve, Model: n.Model, Format: "fp16", Duration: 730,
			Traffic: &workload.Traffic{RequestsPerSecond: rapid.Float64Range(1, 1e5).Draw(t, "peak"), InputTokens: 128, Profile: slices.Clone(halfDay)},
			SLO:     workload.SLO{E2Ep99: unit.FromSeconds(rapid.Float64Range(0.005, 2).Draw(t, "bound"))},
		}
		j, err := New(w, c)
		if err != nil {
			t.Fatal(err)
		}
		e, refusal, _ := j.Best(group(a, 1, 1))
		if refusal != nil {
			return
		}
		s := e.Serving
		if s.ByHour[12] != s.ReplicasNeeded || s.ByHour[0] > s.ReplicasNeeded {
			t.Fatalf("by hour %v of %d", s.ByHour, s.ReplicasNeeded)
		}
		if s.RequestsPerSecond < w.Traffic.RequestsPerSecond*(1-1e-6) || s.Replicas < s.ReplicasNeeded {
			t.Fatalf("%+v", s)
		}
		served, _ := Of(n.Model, 128)
		fewer := group(a, s.ReplicasNeeded-1, 1)
		if s.ReplicasNeeded > 1 {
			p, _, _ := a.Best(accelerator.FP16)
			r, _ := served.Rate(c, fewer, Setting{Mode: Served, Precision: p, Bound: w.SLO.E2Ep99.Seconds()})
			if r.PerSecond >= w.Traffic.RequestsPerSecond*(1+1e-6) {
				t.Fatalf("%d do already: %v", s.ReplicasNeeded-1, r.PerSecond)
			}
		}
	})
}

// A network that nothing was published for has a wider interval than one measured on the same chip.
func TestUnmeasuredNetworkIsLessSure(t *testing.T) {
	c, g := estimate.EmbeddedCurves(), group(chip(t, "A100-SXM-80GB"), 1, 1)
	s := Setting{Mode: Bulk, Precision: accelerator.INT8}
	known, _ := net(t, "resnet-50", 0).Rate(c, g, s)
	other, _ := net(t, "convnext-base", 0).Rate(c, g, s)
	if known.Like != estimate.LikeChip || other.Like != estimate.LikeKind || other.High/other.Low <= known.High/known.Low {
		t.Errorf("%+v, %+v", known.Correction, other.Correction)
	}
}

// What is assumed and what was fitted names models we have, says where it comes from and lies in its range; every kind has all.
func TestConstants(t *testing.T) {
	k := embedded()
	if k.AsOf == "" || k.Source == "" || k.Intensity <= 0 || k.Picojoules <= 0 || k.Training.Source == "" {
		t.Errorf("%+v", k)
	}
	for name, f := range k.Inference.Kinds {
		if f.Level <= 0 || f.Kernels <= 0 || f.Alone < 1 || f.Most < 1 || f.Source == "" || k.Training.Kinds[name].Level <= 0 {
			t.Errorf("%s: %+v", name, f)
		}
	}
	for target, assumed := range map[estimate.Target]assumptions{estimate.Vision: k.Inference, estimate.SampleTraining: k.Training.assumptions} {
		fitted := estimate.EmbeddedCurves().Calibrations[target]
		for name, r := range fitted.Networks {
			if m, err := model.Embedded().Get(name); err != nil || m.Name != name || r.Level <= 0 || r.N < 1 || r.Groups < 1 || r.Source == "" {
				t.Errorf("%s: %+v", name, r)
			}
		}
		for name, f := range assumed.Networks {
			if m, err := model.Embedded().Get(name); err != nil || m.Name != name || f.Source == "" || fitted.Networks[name].Level == 0 && f.Level == 0 {
				t.Errorf("%s: %+v", name, f)
			}
		}
		for name := range fitted.Kinds {
			if _, ok := assumed.Kinds[name]; !ok {
				t.Errorf("nothing assumed of kind %s", name)
			}
		}
		if iv := fitted.Intervals[estimate.OtherNetworks]; iv.Low >= fitted.Intervals["all"].Low || iv.High <= fitted.Intervals["all"].High {
			t.Errorf("%s: other networks %+v", target, iv)
		}
	}
}

// What a network reaches is its own where it was measured, else its kind's, and its kernels follow its layers.
func TestReached(t *testing.T) {
	c := raw().Calibrated(&estimate.Calibration{
		Target:   estimate.Vision,
		Networks: map[string]estimate.Reached{"bert-large": {Level: 1.3, Kernels: 160, Alone: 1.2, Groups: 9, Source: "own"}, "dlrm": {Level: 1.4, Groups: 5, Source: "own"}},
		Kinds:    map[string]estimate.Reached{"transformer": {Level: 1.1, Kernels: 100, Alone: 1.5, Groups: 9, Source: "as others"}},
	})
	for name, want := range map[string]Figures{
		"bert-large": {Reached: estimate.Reached{Level: 1.3, Kernels: 160, Alone: 1.2, Groups: 9, Source: "own"}, Most: 2048},
		"bert-base":  {Reached: estimate.Reached{Level: 1.1, Kernels: 84, Alone: 1.5, Source: "as others"}, Most: 2048},
		"dlrm":       {Reached: estimate.Reached{Level: 1.4, Kernels: 30, Alone: 1, Groups: 5, Source: "own"}, Most: 262144},
		"resnet-50":  {Reached: estimate.Reached{Level: 1, Kernels: 70, Alone: 1, Source: "assumed"}, Most: 2048},
	} {
		if got := net(t, name, 128).Reached(c, estimate.Vision); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// A layout that cuts the network itself is not this package's: training of a transformer knows it, inference refuses it.
func TestPinnedLayouts(t *testing.T) {
	n := net(t, "bert-large", 128)
	w := batchWork(n, 1e6)
	w.Layout = workload.LayoutPin{TP: 2, ZeRO: -1}
	j, err := New(w, estimate.EmbeddedCurves())
	if err != nil {
		t.Fatal(err)
	}
	if _, refusal, _ := j.Best(group(chip(t, "A100-SXM-80GB"), 8, 1)); refusal == nil || refusal.Reason != estimate.NoLayout {
		t.Errorf("%+v", refusal)
	}
	train := &workload.Workload{Kind: workload.Train, Model: n.Model, Layout: workload.LayoutPin{ZeRO: -1}}
	if !Does(train) {
		t.Error("an open layout is over samples")
	}
	train.Layout.TP = 2
	if Does(train) {
		t.Error("tensor parallel")
	}
}

// A batch of speech keeps what was heard and written of every window: 2 x 32 layers x 1280 numbers of 1500 frames and 448 tokens at 16
// bit. Training of such a network is that of a transformer.
func TestSpeech(t *testing.T) {
	n := net(t, "whisper-large-v3", 0)
	w := &workload.Workload{Kind: workload.BatchInfer, Model: n.Model, Format: "fp16", Batch: &workload.Batch{Requests: 1e6}}
	if !Does(w) || Does(&workload.Workload{Kind: workload.Train, Model: n.Model, Layout: workload.LayoutPin{ZeRO: -1}}) {
		t.Error("speech in bulk is of samples, its training of tokens")
	}
	j, err := New(w, estimate.EmbeddedCurves())
	if err != nil {
		t.Fatal(err)
	}
	e, refusal, _ := j.Best(group(chip(t, "L4"), 1, 1))
	if refusal != nil {
		t.Fatal(refusal)
	}
	window := 2. * 32 * 1280 * (1500 + 448) * 2
	for _, p := range e.Memory.Parts {
		if p.Name == "kv_cache" && math.Abs(float64(p.Bytes)/(window*float64(e.Layout.Batch))-1) > 1e-9 {
			t.Errorf("%v bytes for a batch of %d", p.Bytes, e.Layout.Batch)
		}
	}
	if len(e.Memory.Parts) != 5 || e.Layout.Batch < 16 || e.Bottleneck.Overhead <= 0 {
		t.Errorf("%+v", e)
	}
}

// What a sample keeps for the backward pass: 11.1 million outputs, twice, at 16 bit of a ResNet-50 image, and between two batches of
// MLPerf Training (43.0 GB at 64 images, 22.0 GB at 32) of a RetinaNet image.
func TestPublishedActivations(t *testing.T) {
	g := group(chip(t, "GB200"), 1, 1)
	for name, want := range map[string]float64{"resnet-50": 11.1e6 * 2 * 2, "retinanet": (43.0e9 - 22.04e9) / 32} {
		w := &workload.Workload{Kind: workload.Train, Model: net(t, name, 0).Model, Format: "bf16", Optimizer: workload.SGD, Samples: 1e6, GlobalBatch: 64}
		made, err := New(w, estimate.EmbeddedCurves())
		if err != nil {
			t.Fatal(err)
		}
		of := func(local float64) float64 {
			m, refusal := made.(*training).memory(g, accelerator.BF16, local)
			if refusal != nil {
				t.Fatal(refusal)
			}
			for _, p := range m.Parts {
				if p.Name == "activations" {
					return float64(p.Bytes)
				}
			}
			return 0
		}
		if got := (of(64) - of(32)) / 32; math.Abs(got/want-1) > 0.1 {
			t.Errorf("%s: %.3g bytes a sample, want %.3g", name, got, want)
		}
	}
}

// Without a latency a service's batch is the smallest that is worth it.
func TestServedWithoutBound(t *testing.T) {
	g, c := group(chip(t, "L4"), 1, 1), estimate.EmbeddedCurves()
	n := net(t, "resnet-50", 0)
	r, _ := n.Rate(c, g, Setting{Mode: Served, Precision: accelerator.INT8})
	if r.reach(r.Batch) < worthwhile || r.reach(r.Batch/2) >= worthwhile || r.Latency != 2*r.batch(r.Batch) {
		t.Errorf("%+v", r)
	}
}
