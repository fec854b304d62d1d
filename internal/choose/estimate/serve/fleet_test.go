package serve

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/serve/sim"
	"github.com/rackrate/rackrate/internal/choose/workload"
)

type service struct {
	model, format, chip, engine string
	in, out                     int
	rps                         float64
	slo                         workload.SLO
}

// services are promises that bind in different ways.
var services = []service{
	{"llama-3.1-70b", "fp8", "H100-SXM-80GB", "vllm", 1000, 200, 60, workload.SLO{TTFTp99: unit.FromSeconds(0.5)}},
	{"llama-3.1-70b", "fp8", "H200-SXM-141GB", "tensorrt-llm", 2000, 500, 20, workload.SLO{TPOTp99: unit.FromSeconds(0.04)}},
	{"llama-3.1-8b", "bf16", "H100-SXM-80GB", "sglang", 500, 300, 100, workload.SLO{E2Ep99: unit.FromSeconds(6), TTFTp99: unit.FromSeconds(1)}},
	{"mixtral-8x7b", "bf16", "A100-SXM-80GB", "vllm", 3000, 100, 8, workload.SLO{TTFTp99: unit.FromSeconds(3), TPOTp99: unit.FromSeconds(0.2)}},
}

// extremes are services whose answers or prompts take long against the time between requests.
var extremes = []service{
	{"llama-3.1-8b", "bf16", "H100-SXM-80GB", "vllm", 200, 4000, 50, workload.SLO{TPOTp99: unit.FromSeconds(0.03)}},
	{"qwen3-32b", "fp8", "H100-SXM-80GB", "vllm", 30000, 300, 4, workload.SLO{TTFTp99: unit.FromSeconds(8), TPOTp99: unit.FromSeconds(0.1)}},
}

// settled is the simulated replica that a service is planned with, on eight accelerators.
func settled(t testing.TB, w *workload.Workload, chip string) (*job, *candidate, promise) {
	t.Helper()
	j, g := jobOf(t, w), groupOf(t, chip, 8, 1)
	e, bad, _ := j.Best(g)
	if bad != nil {
		t.Fatalf("%+v", bad)
	}
	found, _, _ := j.candidates(g)
	for i := range found {
		c := &found[i]
		if o := j.promise(c); o.confirmed && c.Spread.TP == e.Layout.TP && c.Spread.whole().DP == e.Layout.DP {
			return j, c, o.promise
		}
	}
	t.Fatalf("no candidate is like %+v", e.Layout)
	return nil, nil, promise{}
}

// A far longer simulation of the planned fleet keeps the promises; one replica fewer would break them or come near
// saturation, unless there is but one.
func TestFleetsKeepTheirPromises(t *testing.T) {
	for _, s := range slices.Concat(services, extremes) {
		t.Run(fmt.Sprintf("%s on %s, %d in", s.model, s.chip, s.in), func(t *testing.T) {
			w := serviceOf(t, s.model, s.format, s.in, s.out, s.rps)
			w.SLO, w.Software.Framework = s.slo, s.engine
			j, c, p := settled(t, w, s.chip)
			replicas := math.Ceil(s.rps / p.rate)
			over := func(replicas float64) float64 {
				d := sim.Deployment{Engine: c.step.Engine(c.tokens(j.full(), 1), 1), FrontSeconds: c.step.front(j.lengths(), j.inHand(c, s.rps/replicas)-1)}
				d.Stepper = &pace{c.step, c.tpot.Factor}
				if p.sequences > 0 {
					d.MaxSequences = p.sequences
				}
				var long sim.Sim
				tail := long.Busy(d, sim.Poisson(nil, 30000, s.rps/replicas, sim.Fixed(s.in, s.out), 77))
				worst, _ := j.worst(promised(c.corrected(tail, d.FrontSeconds)))
				return worst
			}
			if got := over(replicas); got > 1.06 {
				t.Errorf("%g replicas are %.2f over a promise", replicas, got)
			}
			load := s.rps / max(1, replicas-1) / c.saturated
			if got := over(max(1, replicas-1)); replicas > 1 && got < 0.95 && load < j.c.Serve.TargetLoad {
				t.Errorf("%g replicas would do: %.2f of a promise at %.2f of saturation", replicas-1, got, load)
			}
		})
	}
}

// What the closed form gives for a replica where latency does not matter is what a simulation gives with as many clients as
// the replica takes.
func TestSaturationIsTheSimulations(t *testing.T) {
	apart := services[0]
	apart.model, apart.chip, apart.engine = "deepseek-v3", "H200-SXM-141GB", "sglang"
	for _, s := range slices.Concat(services, []service{apart}) {
		w := serviceOf(t, s.model, s.format, s.in, s.out, s.rps)
		w.Software.Framework = s.engine
		j, c, _ := settled(t, w, s.chip)
		d := sim.Deployment{Engine: c.step.Engine(c.tokens(j.full(), c.Spread.whole().DP), 1)}
		d.Stepper = &pace{c.step, c.tpot.Factor}
		var x sim.Sim
		n := int(c.most())
		short := x.Closed(d, n, sim.Load(nil, 4*n, sim.Fixed(s.in, s.out), 1))
		long := x.Closed(d, n, sim.Load(nil, 10*n, sim.Fixed(s.in, s.out), 1))
		got := float64(long.Requests-short.Requests) / (long.Seconds - short.Seconds)
		near(t, s.model, c.saturated, got, 0.02)
	}
}

// More requests a second never see a shorter tail on as many replicas, and never take fewer.
func TestMoreTrafficIsNoFaster(t *testing.T) {
	s := services[2]
	rapid.Check(t, func(r *rapid.T) {
		size := func(rps float64, replicas int) (estimate.Estimate, *estimate.Refusal) {
			w := serviceOf(t, s.model, s.format, s.in, s.out, rps)
			w.Layout.DP, w.Layout.TP = replicas, 1
			e, bad, _ := jobOf(t, w).Best(groupOf(t, s.chip, 8, 1))
			return e, bad
		}
		a, b := rapid.Float64Range(0.1, 60).Draw(r, "a"), rapid.Float64Range(0.1, 60).Draw(r, "b")
		low, bad := size(min(a, b), 8)
		high, worse := size(max(a, b), 8)
		switch {
		case bad != nil && worse == nil:
			r.Fatalf("refused at %g alone: %+v", min(a, b), bad)
		case bad == nil && worse == nil && (low.Serving.TTFT > high.Serving.TTFT || low.Serving.TPOT > high.Serving.TPOT || low.Serving.E2E > high.Serving.E2E):
			r.Fatalf("%+v at %g, %+v at %g", low.Serving, min(a, b), high.Serving, max(a, b))
		}
		few, _ := size(min(a, b), 0)
		many, _ := size(max(a, b), 0)
		if few.Serving.ReplicasNeeded > many.Serving.ReplicasNeeded {
			r.Fatalf("%d replicas for %g a second, %d for %g", few.Serving.ReplicasNeeded, min(a, b), many.Serving.ReplicasNeeded, max(a, b))
		}
	})
}

// More requests take no fewer machines; nor do longer prompts and tighter promises, but for the one that simulations of other
// engines at other rates may leave open.
func TestHarderTakesNoFewer(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := services[rapid.IntRange(0, 2).Draw(r, "service")]
		s.in, s.out = rapid.IntRange(100, 4000).Draw(r, "in"), rapid.IntRange(1, 400).Draw(r, "out")
		s.rps = rapid.Float64Range(1, 300).Draw(r, "rate")
		seconds := func(low, high float64, name string) unit.Hours {
			return unit.FromSeconds(rapid.SampledFrom([]float64{0, 1}).Draw(r, name+" promised") * rapid.Float64Range(low, high).Draw(r, name))
		}
		s.slo = workload.SLO{TTFTp99: seconds(0.3, 3, "first"), TPOTp99: seconds(0.02, 0.1, "further"), E2Ep99: seconds(5, 40, "whole")}
		perNode, by := rapid.SampledFrom([]int{1, 8}).Draw(r, "machine"), rapid.Float64Range(1, 1.5).Draw(r, "by")
		machines := func(s service) float64 {
			w := serviceOf(t, s.model, s.format, s.in, s.out, s.rps)
			w.SLO, w.Software.Framework = s.slo, s.engine
			e, bad, _ := jobOf(t, w).Best(groupOf(t, s.chip, perNode, 4))
			if bad != nil {
				return math.Inf(1)
			}
			return float64(Machines(e.Serving, perNode))
		}
		base, more, long, tight := machines(s), s, s, s
		more.rps *= by
		long.in = int(float64(s.in) * by)
		f := unit.Hours(by)
		tight.slo = workload.SLO{TTFTp99: s.slo.TTFTp99 / f, TPOTp99: s.slo.TPOTp99 / f, E2Ep99: s.slo.E2Ep99 / f}
		if m, l, x := machines(more), machines(long), machines(tight); m < base || min(l, x) < 0.97*base-1 {
			r.Fatalf("%g machines; %g for more requests, %g for longer prompts, %g for tighter promises", base, m, l, x)
		}
	})
}

// A day's profile is told by the hour: as many as the peak needs at the peak, and never none.
func TestReplicasByHour(t *testing.T) {
	w := serviceOf(t, "llama-3.1-70b", "fp8", 1000, 200, 60)
	w.Traffic.Profile = make([]float64, 24)
	for h := range w.Traffic.Profile {
		w.Traffic.Profile[h] = float64(h) / 23
	}
	e, bad, _ := jobOf(t, w).Best(groupOf(t, "H100-SXM-80GB", 8, 1))
	if bad != nil {
		t.Fatalf("%+v", bad)
	}
	v := e.Serving
	if v.ByHour[23] != v.ReplicasNeeded || v.ByHour[0] != 1 || v.ReplicasNeeded < 3 {
		t.Errorf("%+v", v)
	}
	for h := 1; h < 24; h++ {
		if v.ByHour[h] < v.ByHour[h-1] {
			t.Errorf("%v", v.ByHour)
		}
	}
}

// Wherever a machine's replicas could be laid in several ways, no other takes fewer machines than the one that is chosen.
func TestTheFewestMachines(t *testing.T) {
	for _, s := range []struct {
		service
		perNode int
	}{
		{service{"qwen3-32b", "fp8", "MI300X", "vllm", 8000, 100, 40, workload.SLO{TTFTp99: unit.FromSeconds(0.5)}}, 1},
		{service{"mixtral-8x7b", "bf16", "A100-SXM-80GB", "vllm", 8000, 100, 40, workload.SLO{TTFTp99: unit.FromSeconds(0.5)}}, 4},
		{service{"llama-3.1-70b", "fp8", "H200-SXM-141GB", "vllm", 8000, 100, 40, workload.SLO{TTFTp99: unit.FromSeconds(0.5)}}, 4},
		{service{"llama-3.1-70b", "fp8", "H100-SXM-80GB", "vllm", 1000, 300, 40, workload.SLO{E2Ep99: unit.FromSeconds(15)}}, 8},
	} {
		w := serviceOf(t, s.model, s.format, s.in, s.out, s.rps)
		w.SLO, w.Software.Framework = s.slo, s.engine
		g := groupOf(t, s.chip, s.perNode, 8)
		e, bad, _ := jobOf(t, w).Best(g)
		if bad != nil {
			t.Fatalf("%s: %+v", s.model, bad)
		}
		j := jobOf(t, w)
		found, _, _ := j.candidates(g)
		for i := range found {
			c := &found[i]
			j.confirm(c, j.promise(c))
			if x, bad := j.planned(c, g); bad == nil && Machines(x.Serving, s.perNode) < Machines(e.Serving, s.perNode) {
				t.Errorf("%s on %s: %d machines as %+v, %d as %+v", s.model, s.chip, Machines(e.Serving, s.perNode), e.Layout, Machines(x.Serving, s.perNode), c.Spread)
			}
		}
	}
}

// A trace that comes in bursts needs more than one whose requests come evenly, and one with a request that no cache holds is
// refused for want of memory.
func TestFleetOfATrace(t *testing.T) {
	plan := func(trace *workload.Trace) (estimate.Estimate, *estimate.Refusal) {
		w := serviceOf(t, "llama-3.1-8b", "bf16", 500, 100, 40)
		w.Traffic.Trace, w.Layout.TP = trace, 1
		w.SLO.TTFTp99 = unit.FromSeconds(0.4)
		e, bad, _ := jobOf(t, w).Best(groupOf(t, "L4", 8, 1))
		return e, bad
	}
	even, bursts := &workload.Trace{}, &workload.Trace{}
	for i := range 12000 {
		a := workload.Arrival{Seconds: float64(i) / 40, InputTokens: 500, OutputTokens: 100}
		even.Requests = append(even.Requests, a)
		a.Seconds = float64(i/800) * 20 // eight hundred at a time
		bursts.Requests = append(bursts.Requests, a)
	}
	calm, bad := plan(even)
	if bad != nil {
		t.Fatalf("%+v", bad)
	}
	if wild, bad := plan(bursts); bad == nil && wild.Serving.ReplicasNeeded <= calm.Serving.ReplicasNeeded {
		t.Errorf("%d replicas for bursts, %d for even arrivals", wild.Serving.ReplicasNeeded, calm.Serving.ReplicasNeeded)
	}
	even.Requests[7].InputTokens = 50_000_000
	if _, bad := plan(even); bad == nil || bad.Reason != estimate.NoMemory {
		t.Errorf("%+v", bad)
	}
}

// Where only the time per token is promised, a replica takes in fewer at once than it has room for, and serves more.
func TestFewerAtOnceKeepTokensInTime(t *testing.T) {
	w := serviceOf(t, "qwen3-32b", "fp8", 1364, 968, 5)
	w.Software.Framework, w.SLO.TPOTp99 = "tensorrt-llm", unit.FromSeconds(0.03)
	j, g := jobOf(t, w), groupOf(t, "H100-SXM-80GB", 8, 1)
	found, bad, _ := j.candidates(g)
	if bad != nil && len(found) == 0 {
		t.Fatalf("%+v", bad)
	}
	c := &found[slices.IndexFunc(found, func(c candidate) bool { return c.Spread.TP == 1 })]
	all := j.simulate(c, 0, c.saturated)
	p := j.promise(c)
	if p.bad != nil {
		t.Fatalf("%+v", p.bad)
	}
	at := p.curve.At(p.rate)
	if p.rate < 1.05*all.rate || at.Most >= c.most() || at.TPOT > 0.03*(1+1e-9) {
		t.Errorf("%g a second with %g at once and %g s a token; with all it has room for, %g: %g a second", p.rate, at.Most, at.TPOT, c.most(), all.rate)
	}
}

// BenchmarkSimulation reports how many requests of a 70B-class deployment are simulated in a second with the real step model,
// 1024 tokens in and 256 to 1024 out, latencies included.
func BenchmarkSimulation(b *testing.B) {
	for _, engine := range []string{"vllm", "sglang", "tensorrt-llm"} {
		w := serviceOf(b, "llama-3.1-70b", "fp8", 1024, 640, 1)
		w.Software.Framework, w.Layout.TP = engine, 4
		j := jobOf(b, w)
		found, bad, _ := j.candidates(groupOf(b, "H100-SXM-80GB", 8, 1))
		if len(found) == 0 {
			b.Fatalf("%+v", bad)
		}
		c := &found[0]
		d := sim.Deployment{Engine: c.step.Engine(c.tokens(1024+1024, 1), 1), FrontSeconds: c.step.front(j.lengths(), 0)}
		sizes := sim.Sizes{Low: sim.Size{In: 1024, Out: 256}, High: sim.Size{In: 1024, Out: 1024}}
		for _, clients := range []int{16, 64, 256} {
			b.Run(fmt.Sprintf("%s/clients=%d", engine, clients), func(b *testing.B) {
				requests := sim.Load(nil, 20000, sizes, 1)
				var s sim.Sim
				s.Closed(d, clients, requests)
				s.All()
				b.ReportAllocs()
				for b.Loop() {
					s.Closed(d, clients, requests)
					s.All()
				}
				b.ReportMetric(float64(len(requests))*float64(b.N)/b.Elapsed().Seconds(), "requests/s")
			})
		}
	}
}
