package diffuse

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/scale/scaletest"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// CogVideoX-2B over 49 frames of 720 x 480: 13 latent frames of 45 x 30 tokens and 226 of text. 30 layers of width 1920 multiply each
// by 12 x width^2 weights and all by each other.
func TestVideo(t *testing.T) {
	n, ok := Find("CogVideoX-2B")
	if !ok {
		t.Fatal("not found")
	}
	s, assumed := n.Usual(Setting{})
	if tokens := 13*45*30 + 226.; n.tokens(s) != tokens || len(assumed) != 5 {
		t.Errorf("%v tokens, %v assumed", n.tokens(s), assumed)
	}
	multiply, attention := n.pass(s)
	if !scaletest.Near(attention, 4*30*1920*n.tokens(s)*n.tokens(s)) || multiply < 0.99*2*30*12*1920*1920*n.tokens(s) || multiply > 1.01*2*30*12*1920*1920*n.tokens(s) {
		t.Errorf("%v and %v", multiply, attention)
	}
}

// The catalogue counts FLUX.1 at its own size; the split into weights and attention adds up to that.
func TestCatalogue(t *testing.T) {
	m, err := model.Embedded().Get("flux.1-dev")
	if err != nil {
		t.Fatal(err)
	}
	n, ok := Of(m)
	s, _ := n.Usual(Setting{})
	multiply, attention := n.pass(s)
	if !ok || !scaletest.Near(multiply+attention, float64(m.PerSample.Or(0))) || attention < 0.1*multiply {
		t.Errorf("%v + %v of %v", multiply, attention, m.PerSample)
	}
	if _, ok := Of(&model.Model{PerSample: unit.Some[unit.FLOP](1)}); ok {
		t.Error("no generator")
	}
}

// Every name that benchmarks print leads somewhere.
func TestNames(t *testing.T) {
	for from, to := range embedded().Names {
		_, net := Find(from)
		_, chip := accelerator.Embedded().Get(to)
		if !net && !chip {
			t.Errorf("%s is %s, which is neither a network nor a chip", from, to)
		}
	}
	for _, l := range embedded().Networks {
		if l.Source == "" || l.PerToken <= 0 || l.PatchSide <= 0 || l.Steps <= 0 {
			t.Errorf("%+v", l)
		}
	}
}

// A chip whose matrix units run at half rate reaches more of it; one short of power less.
func TestHeld(t *testing.T) {
	k, get := embedded(), func(name string) estimate.Group {
		a, ok := accelerator.Embedded().Get(name)
		if !ok {
			t.Fatal(name)
		}
		return estimate.Group{Chip: a}
	}
	if l20, a100, pcie := k.held(get("L20")), k.held(get("A100-SXM-80GB")), k.held(get("H100-PCIe-80GB")); l20 <= 1 || a100 != 1 || pcie >= 1 {
		t.Errorf("L20 %v, A100 %v, H100 PCIe %v", l20, a100, pcie)
	}
	// A GeForce card that lists no 16-bit rate does twice its FP32, as its siblings list.
	if v, _, ok := k.wide(get("RTX-4080")); !ok || v != 2*48.7e12 {
		t.Errorf("RTX 4080: %v", v)
	}
	more, before := *get("L20").Chip, 0.0
	for tflops := 100.; tflops < 1000; tflops += 20 {
		more.Peak[accelerator.FP16] = unit.Some(unit.FLOPS(tflops * 1e12))
		more.Peak[accelerator.BF16] = more.Peak[accelerator.FP16]
		if now := tflops * k.held(estimate.Group{Chip: &more}); now < before {
			t.Errorf("%v TFLOP/s do less than a little fewer: %v after %v", tflops, now, before)
		} else {
			before = now
		}
	}
	if _, _, ok := k.wide(estimate.Group{Chip: &accelerator.Accelerator{Name: "GTX-1080", Arch: "Pascal"}}); ok {
		t.Error("a card without matrix units")
	}
}

// More accelerators on one image never make it slower than half as many, by more than the link adds; guidance apart needs no link
// within a pass; eager is slower than compiled; more of each rate is never slower.
func TestRateProperties(t *testing.T) {
	n, _ := Find("flux.1-dev")
	c := estimate.EmbeddedCurves()
	rapid.Check(t, func(t *rapid.T) {
		s, _ := n.Usual(Setting{Batch: rapid.IntRange(1, 16).Draw(t, "batch"), Compute: []accelerator.Precision{accelerator.FP16}, Bits: 16})
		s.Width = 256 * rapid.IntRange(1, 8).Draw(t, "width/256")
		s.Engine = rapid.SampledFrom([]Engine{Eager, Compiled, Fused}).Draw(t, "engine")
		time := func(a *accelerator.Accelerator, count int, s Setting) Seconds {
			v, refusal := n.Batch(c, estimate.Group{Chip: a, PerNode: count, Nodes: 1, Topology: catalog.VendorMesh}, s)
			if refusal != nil {
				t.Fatalf("%+v", refusal)
			}
			return v
		}
		parts := 1 << rapid.IntRange(0, 3).Draw(t, "log parts")
		one, more := time(scaletest.Chip("A"), parts, s), time(scaletest.Chip("A"), 2*parts, s)
		if more.Total()-more.Link > one.Total() {
			t.Errorf("%d parts take %v, twice as many %v", parts, one, more)
		}
		if twice := time(scaletest.Twice("A"), parts, s); twice.Total() > one.Total() {
			t.Errorf("twice of everything takes %v after %v", twice, one)
		}
		s.Engine = Eager
		eager := time(scaletest.Chip("A"), parts, s)
		s.Engine = Compiled
		if eager.Total() < time(scaletest.Chip("A"), parts, s).Total() {
			t.Errorf("eager takes %v", eager)
		}
		s.Guidance, s.GuidanceApart = 2, true
		if apart := time(scaletest.Chip("A"), 2, s); apart.Link != 0 {
			t.Errorf("passes apart talk for %v", apart.Link)
		}
	})
}
