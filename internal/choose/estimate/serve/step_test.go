package serve

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/serve/sim"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/model"
)

func drawnSetup(r *rapid.T) (*Setup, estimate.Group) {
	name := rapid.SampledFrom([]string{"llama-3.1-8b", "llama-3.1-70b", "mixtral-8x7b", "deepseek-v3", "gpt-oss-120b", "gemma-2-9b", "qwen3-next-80b-a3b"}).Draw(r, "model")
	m, err := model.Embedded().Get(name)
	if err != nil {
		r.Fatal(err)
	}
	f, err := model.LookupFormat(rapid.SampledFrom([]string{"bf16", "fp8", "int4", "nvfp4"}).Draw(r, "format"))
	if err != nil {
		r.Fatal(err)
	}
	s := &Setup{Model: m, Format: f, KVBits: 16, Engine: rapid.SampledFrom([]string{"", "tensorrt-llm", "vllm", "sglang", "llama.cpp", "neuron"}).Draw(r, "engine")}
	s.Spread = rapid.SampledFrom([]Spread{{TP: 1}, {TP: 8}, {TP: 4, PP: 2}}).Draw(r, "spread")
	if m.MoE != nil {
		s.Spread = rapid.SampledFrom([]Spread{{TP: 1}, {TP: 8}, {TP: 8, EP: 8}, {TP: 1, DP: 8, EP: 8}, {TP: 2, DP: 4, EP: 4}}).Draw(r, "spread")
	}
	return s, groupOf(r, rapid.SampledFrom([]string{"A100-SXM-80GB", "H100-SXM-80GB", "H200-SXM-141GB", "B200", "MI300X"}).Draw(r, "chip"), 8, 1)
}

func drawnStep(r *rapid.T) sim.Step {
	x := sim.Step{Decode: rapid.IntRange(0, 2000).Draw(r, "decode")}
	x.Cached = float64(x.Decode) * rapid.Float64Range(1, 30000).Draw(r, "context")
	if x.Decode == 0 || rapid.Bool().Draw(r, "prompts too") {
		x.Prompts = rapid.IntRange(1, 16).Draw(r, "prompts")
		x.Prefill = float64(x.Prompts) * rapid.Float64Range(1, 8192).Draw(r, "new tokens")
		x.Attended = x.Prefill * (x.Prefill/float64(x.Prompts)/2 + rapid.Float64Range(0, 30000).Draw(r, "past"))
	}
	return x
}

func stepOf(r *rapid.T, s *Setup, g estimate.Group) *Step {
	p, bad := NewStep(estimate.EmbeddedCurves(), s, g)
	if bad != nil {
		r.Fatalf("%+v", bad)
	}
	return p
}

// A step takes time, and more work never takes less of it.
func TestMoreWorkTakesLonger(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s, g := drawnSetup(r)
		p, x := stepOf(r, s, g), drawnStep(r)
		a := p.Seconds(x)
		if !(a > 0) || a > 1e6 {
			r.Fatalf("%g s", a)
		}
		y := x
		switch more := rapid.IntRange(1, 1000).Draw(r, "more"); {
		case x.Decode > 0 && rapid.Bool().Draw(r, "context"):
			y.Cached += float64(more * x.Decode)
		case x.Prefill > 0:
			y.Attended += float64(more) * (x.Attended/x.Prefill + x.Prefill)
			y.Prefill += float64(more)
		default:
			y.Cached += float64(more) * x.Cached / float64(x.Decode)
			y.Decode += more
		}
		if b := p.Seconds(y); b < a*(1-1e-9) {
			r.Errorf("%+v takes %g s, %+v takes %g", x, a, y, b)
		}
	})
}

// No resource of a chip slows a step as it grows.
func TestAFasterChipIsNoSlower(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s, g := drawnSetup(r)
		x := drawnStep(r)
		before := stepOf(r, s, g).Seconds(x)
		chip, k := *g.Chip, rapid.Float64Range(1, 8).Draw(r, "times")
		switch rapid.IntRange(0, 2).Draw(r, "resource") {
		case 0:
			chip.Bandwidth = unit.Some(unit.BytesPerSec(float64(chip.Bandwidth.Or(0)) * k))
		case 1:
			for p := range chip.Peak {
				if v, ok := chip.Peak[p].Get(); ok {
					chip.Peak[p] = unit.Some(unit.FLOPS(float64(v) * k))
				}
			}
		default:
			chip.LinkBidir = unit.Some(unit.BytesPerSec(float64(chip.LinkBidir.Or(0)) * k))
		}
		g.Chip = &chip
		if after := stepOf(r, s, g).Seconds(x); after > before*(1+1e-9) {
			r.Errorf("%g s became %g", before, after)
		}
	})
}

// A longer context never takes less memory of a rank, and no spread holds less of the weights together than there are.
func TestMemoryGrowsWithContext(t *testing.T) {
	c := estimate.EmbeddedCurves()
	rapid.Check(t, func(r *rapid.T) {
		s, g := drawnSetup(r)
		in, out := float64(rapid.IntRange(1, 30000).Draw(r, "in")), float64(rapid.IntRange(1, 3000).Draw(r, "out"))
		a, bad := s.holding(c, g, in, out)
		b, _ := s.holding(c, g, in+float64(rapid.IntRange(1, 3000).Draw(r, "more")), out)
		if bad != nil || b.sequence < a.sequence || b.workspace < a.workspace || b.free > a.free {
			r.Errorf("%+v became %+v", a, b)
		}
		if all := float64(s.Model.WeightBytes(s.Format)); a.weights*float64(s.Spread.Accelerators()) < all*(1-1e-9) {
			r.Errorf("%d ranks of %g hold %g", s.Spread.Accelerators(), a.weights, all)
		}
	})
}

// The engine families behave as their own: what one waits for before a prompt, another does not.
func TestEngineFamilies(t *testing.T) {
	e := &estimate.EmbeddedCurves().Serve.Engines
	for framework, want := range map[string]string{"": "vllm", "vllm": "vllm", "tensorrt-llm": "tensorrt-llm", "triton-inference-server": "tensorrt-llm", "sglang": "sglang", "llama.cpp": "llama.cpp", "neuron": "neuron", "transformers": "vllm"} {
		if got, curve := e.Of(framework); got != want || curve.Source == "" || curve.KernelShare <= 0 || curve.BusyShare <= 0 || curve.MemoryFraction <= 0 {
			t.Errorf("%q is %q: %+v", framework, got, curve)
		}
	}
}

// A workload's framework chooses the family; without one the format may.
func TestTheWorkloadChoosesTheEngine(t *testing.T) {
	for _, tt := range []struct{ format, framework, want string }{{"bf16", "", ""}, {"q4_k_m", "", "llama.cpp"}, {"q8_0", "vllm", "vllm"}, {"fp8", "sglang", "sglang"}} {
		w := batchOf(t, "llama-3.1-8b", tt.format, 1000, 200)
		w.Software.Framework = tt.framework
		j := jobOf(t, w)
		if _, curve := j.c.Serve.Engines.Of(tt.want); j.setup.Engine != tt.want || j.engine != curve {
			t.Errorf("%+v: %q", tt, j.setup.Engine)
		}
	}
}

// The simulator asks for millions of steps: none may allocate.
func TestStepsDoNotAllocate(t *testing.T) {
	p := benchStep(t)
	var s sim.Stepper = p
	x := sim.Step{Decode: 64, Cached: 64 * 2000, Prefill: 4096, Attended: 4096 * 2048, Prompts: 4}
	if n := testing.AllocsPerRun(100, func() { s.Seconds(x) }); n != 0 {
		t.Errorf("%g allocations a step", n)
	}
}

func benchStep(t testing.TB) *Step {
	s := jobOf(t, batchOf(t, "deepseek-v3", "fp8", 1000, 200)).setup
	s.Spread = Spread{TP: 1, DP: 8, EP: 8}
	p, bad := NewStep(estimate.EmbeddedCurves(), &s, groupOf(t, "H200-SXM-141GB", 8, 1))
	if bad != nil {
		t.Fatalf("%+v", bad)
	}
	return p
}

func BenchmarkStep(b *testing.B) {
	p := benchStep(b)
	x := sim.Step{Decode: 64, Cached: 64 * 2000, Prefill: 4096, Attended: 4096 * 2048, Prompts: 4}
	for b.Loop() {
		p.Seconds(x)
	}
}

func BenchmarkNewStep(b *testing.B) {
	s := jobOf(b, batchOf(b, "deepseek-v3", "fp8", 1000, 200)).setup
	s.Spread = Spread{TP: 1, DP: 8, EP: 8}
	g := groupOf(b, "H200-SXM-141GB", 8, 1)
	for b.Loop() {
		NewStep(estimate.EmbeddedCurves(), &s, g)
	}
}

// A trial reports what its clients see: alone, the prompt and single steps; many wait for one another.
func TestTrial(t *testing.T) {
	setup := jobOf(t, batchOf(t, "llama-3.1-70b", "fp8", 1000, 200)).setup
	setup.Spread = Spread{TP: 8}
	c := estimate.EmbeddedCurves()
	run := func(clients int, prefill *Pool) Latency {
		x := Trial{Pool: Pool{Setup: setup, Count: 1}, Prefill: prefill, Group: groupOf(t, "H100-SXM-80GB", 8, 1), In: 2000, Out: 200, Least: 1, Clients: clients}
		l, bad := x.Run(c)
		if bad != nil {
			t.Fatalf("%+v", bad)
		}
		return l
	}
	one, many := run(1, nil), run(64, nil)
	p, _ := NewStep(c, &setup, groupOf(t, "H100-SXM-80GB", 8, 1))
	step := p.Seconds(sim.Step{Decode: 1, Cached: 2100})
	near(t, "alone a token is a step", one.TPOT, step, 0.01)
	if one.TTFT < p.prompt(lengths{2000, 200}).total() || many.TTFT < 2*one.TTFT || many.TPOT < 1.5*one.TPOT {
		t.Errorf("alone %+v, among 64 %+v", one, many)
	}
	if apart := run(64, &Pool{Setup: setup, Count: 1}); apart.TPOT >= many.TPOT {
		t.Errorf("prompts elsewhere do not free the answers: %+v and %+v", apart, many)
	}
}

// A batch that the caches cannot hold is never counted on (cases.md 14).
func TestBulkKeepsToTheCache(t *testing.T) {
	setup := jobOf(t, batchOf(t, "llama-3.1-8b", "bf16", 1000, 200)).setup
	g := groupOf(t, "L40S", 1, 1)
	x := Bulk{Setup: setup, Group: g, In: 8000, Out: 2000}
	c := estimate.EmbeddedCurves()
	p, _ := NewStep(c, &setup, g)
	h, bad := setup.holding(c, g, 8000, 2000)
	if bad != nil {
		t.Fatalf("%+v", bad)
	}
	n := x.most(p, &h, lengths{8000, 2000})
	if held := n * h.sequence * (8000 + 2000*(1+p.engine.Reserve)/2) / 10000; held > h.free || n < 2 {
		t.Errorf("%g sequences hold %g of %g", n, held, h.free)
	}
	rate, bad := x.Rate(c)
	if bad != nil || rate > p.at(lengths{8000, 2000}, n).rate*(1+1e-9) {
		t.Errorf("%g requests a second from %g at once: %+v", rate, n, bad)
	}
	x.TPOT = p.at(lengths{8000, 2000}, n/2).tpot
	if limited, _ := x.Rate(c); limited >= rate {
		t.Errorf("a limit on latency costs nothing: %g of %g", limited, rate)
	}
	x.Setup.Model, _ = model.Embedded().Get("llama-3.1-405b")
	if _, bad := x.Rate(c); bad == nil || bad.Reason != estimate.NoMemory {
		t.Errorf("405B on an L40S: %+v", bad)
	}
}

// In every family a steady state has a rate and latencies, and more in flight is no lower a rate.
func TestSteadyStateOfFamilies(t *testing.T) {
	for _, engine := range []string{"tensorrt-llm", "vllm", "sglang", "llama.cpp", "neuron"} {
		setup := jobOf(t, batchOf(t, "llama-3.1-8b", "bf16", 1000, 200)).setup
		setup.Engine = engine
		p, bad := NewStep(estimate.EmbeddedCurves(), &setup, groupOf(t, "H100-SXM-80GB", 1, 1))
		if bad != nil {
			t.Fatalf("%+v", bad)
		}
		last := 0.0
		for _, n := range []float64{1, 2, 16, 100} {
			l := p.at(lengths{3000, 200}, n)
			if !(l.rate > last && l.ttft > 0 && l.tpot > 0) || p.batch(lengths{3000, 200}, n) <= 0 {
				t.Errorf("%s, %g at once: %+v after %g", engine, n, l, last)
			}
			last = l.rate
		}
	}
}

func TestTags(t *testing.T) {
	c := estimate.EmbeddedCurves()
	a, _ := accelerator.Embedded().Get("B200")
	s := jobOf(t, batchOf(t, "deepseek-v3", "nvfp4", 1000, 200)).setup
	s.Engine = "sglang"
	got := s.Tags(c, estimate.Group{Chip: a}, Aggregated)
	want := estimate.Tags{Chip: "B200", Arch: "Blackwell", Vendor: "NVIDIA", Model: "deepseek-v3", Family: got.Family, Structure: "mla-moe", Framework: "sglang", Precision: "fp4", Mode: Aggregated}
	if got != want {
		t.Errorf("%+v", got)
	}
	if s.Engine = ""; s.Tags(c, estimate.Group{Chip: a}, Aggregated).Framework != "" {
		t.Error("an engine that is not stated has a tag")
	}
}
