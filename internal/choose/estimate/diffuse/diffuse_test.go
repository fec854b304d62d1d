package diffuse

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/scale/scaletest"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// network is a made-up UNet: 1e9 parameters, 1 TFLOP a pass over 512 x 512, without text encoder and VAE.
func network() *model.Model {
	return &model.Model{
		Name: "toy", Class: model.Generator, NativeFormat: "fp16", Params: model.Params{Total: 1e9},
		PerSample: unit.Some[unit.FLOP](1e12), Diffusion: &model.Diffusion{Steps: 20, Guidance: 2, RefWidth: 512, RefHeight: 512},
	}
}

func prepare(t interface{ Fatal(...any) }, mutate ...func(*workload.Workload)) estimate.Job {
	w := &workload.Workload{Kind: workload.Diffuse, Model: network(), Diffuse: &workload.Generation{Images: 1e4, Width: 512, Height: 512, Steps: 20, Guidance: 2}}
	for _, m := range mutate {
		m(w)
	}
	j, err := New(w, estimate.EmbeddedCurves().Without(estimate.Diffusion))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func images(n float64) func(*workload.Workload) {
	return func(w *workload.Workload) { w.Diffuse.Images = n }
}

// One image: 20 steps of 2 TFLOP at 100 TFLOP/s x 0.5 (default curve) x what a U-Net's multiplies and attention reach of it, and a
// compiled graph's time a step.
func TestOneImage(t *testing.T) {
	e := scaletest.Best(t, prepare(t, images(1)), scaletest.Group(scaletest.Chip("A"), 1, 1))
	k := embedded()
	reached := 2e12 / 50e12 * ((1-k.UNet.Quadratic)/k.UNet.KernelShare + k.UNet.Quadratic/k.AttentionShare)
	want := 20 * (reached + k.Engines[Compiled].StepUS*1e-6)
	if !scaletest.Near(e.Speed.Value, 1/want) || e.Layout.Batch != 1 || e.Speed.Unit != "images/s" || e.Speed.Basis != estimate.Predicted {
		t.Errorf("%+v, want 1/%v", e.Speed, want)
	}
	if e.Precision != accelerator.FP16 || !scaletest.Near(e.MFU, 40e12/want/100e12) || len(e.Notes) != 0 {
		t.Errorf("%v, MFU %v, %v", e.Precision, e.MFU, e.Notes)
	}
}

func TestMemory(t *testing.T) {
	e := scaletest.Best(t, prepare(t, images(1)), scaletest.Group(scaletest.Chip("A"), 1, 1))
	parts := map[string]unit.Bytes{}
	for _, p := range e.Memory.Parts {
		parts[p.Name] = p.Bytes
	}
	if parts["weights"] != 2e9 || parts["activations"] != 1900*512*512 {
		t.Errorf("%v", parts)
	}
}

// More pixels cost more than their number, by the part of attention that grows with their square.
func TestLargerImages(t *testing.T) {
	cost := func(side int) float64 {
		j := prepare(t, func(w *workload.Workload) { w.Diffuse.Width, w.Diffuse.Height = side, side }).(*job)
		return j.net.StepFLOPs(j.set)
	}
	q := embedded().UNet.Quadratic
	if got, want := cost(1024)/cost(512), 4*(1-q)+16*q; !scaletest.Near(got, want) {
		t.Errorf("four times the pixels cost %v times, want %v", got, want)
	}
	e := scaletest.Best(t, prepare(t, func(w *workload.Workload) { w.Diffuse.Width = 1024; w.Diffuse.Steps = 5 }), scaletest.Group(scaletest.Chip("A"), 1, 1))
	if len(e.Notes) != 2 || e.Notes[0].Code != noteSize || e.Notes[1].Code != noteSteps {
		t.Errorf("%v", e.Notes)
	}
}

func TestRefusals(t *testing.T) {
	group := func(change func(*accelerator.Accelerator)) estimate.Group {
		a := scaletest.Chip("A")
		change(a)
		return scaletest.Group(a, 1, 1)
	}
	same := func(*workload.Workload) {}
	none := func(p accelerator.Precision, v unit.Maybe[unit.FLOPS]) func(*accelerator.Accelerator) {
		return func(a *accelerator.Accelerator) { a.Peak[p] = v }
	}
	for _, c := range []struct {
		name   string
		change func(*workload.Workload)
		group  estimate.Group
		want   estimate.Reason
	}{
		{"memory", func(w *workload.Workload) { w.Model.Params.Total = 40e9 }, group(func(*accelerator.Accelerator) {}), estimate.NoMemory},
		{"memory unknown", same, group(func(a *accelerator.Accelerator) { a.NominalGB = unit.None[float64]() }), estimate.NoMemoryFact},
		{"bandwidth unknown", same, group(func(a *accelerator.Accelerator) { a.Bandwidth = unit.None[unit.BytesPerSec]() }), estimate.NoRate},
		{"bf16 stands in for fp16", same, group(none(accelerator.FP16, unit.None[unit.FLOPS]())), ""},
		{"no 16 bit known", same, group(func(a *accelerator.Accelerator) { a.Peak = [accelerator.NumPrecisions]unit.Maybe[unit.FLOPS]{} }), estimate.NoRate},
		{"int8 alone, and none", func(w *workload.Workload) { w.Format = "int8" }, group(none(accelerator.INT8, unit.Some[unit.FLOPS](0))), estimate.NoPrecision},
	} {
		if got := scaletest.Refused(prepare(t, c.change), c.group); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, side := rapid.IntRange(1, 64).Draw(t, "n"), 64*rapid.IntRange(4, 32).Draw(t, "side/64")
		best := func(count float64, n int) estimate.Estimate {
			j := prepare(t, images(count), func(w *workload.Workload) { w.Diffuse.Width = side })
			e, refusal, _ := j.Best(scaletest.Group(scaletest.Chip("A"), n, 1))
			if refusal != nil {
				t.Fatalf("%+v", refusal)
			}
			scaletest.Check(t, e)
			return e
		}
		one := best(1e6, n)
		if two := best(2e6, n); !scaletest.Near(2*float64(one.Hours), float64(two.Hours)) {
			t.Errorf("twice the images take %v for %v hours", two.Hours, one.Hours)
		}
		if more := best(1e6, n+1); more.Hours >= one.Hours {
			t.Errorf("one more is slower: %v after %v hours", more.Hours, one.Hours)
		}
	})
}

func BenchmarkBest(b *testing.B) {
	scaletest.Bench(b, prepare(b), scaletest.Group(scaletest.Chip("A"), 8, 1))
}
