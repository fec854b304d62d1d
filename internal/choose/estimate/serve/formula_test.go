package serve

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/serve/sim"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/model"
)

func batchOf(t testing.TB, name, format string, in, out int) *workload.Workload {
	t.Helper()
	m, err := model.Embedded().Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return &workload.Workload{Kind: workload.BatchInfer, Model: m, Format: model.Format(format), Layout: workload.LayoutPin{ZeRO: -1},
		Batch: &workload.Batch{Requests: 1e5, InputTokens: in, OutputTokens: out}}
}

func serviceOf(t testing.TB, name, format string, in, out int, rps float64) *workload.Workload {
	w := batchOf(t, name, format, in, out)
	w.Kind, w.Batch, w.Duration = workload.Serve, nil, unit.HoursPerMonth
	w.Traffic = &workload.Traffic{RequestsPerSecond: rps, InputTokens: in, OutputTokens: out}
	return w
}

func jobOf(t testing.TB, w *workload.Workload) *job {
	t.Helper()
	j, err := New(w, estimate.EmbeddedCurves())
	if err != nil {
		t.Fatal(err)
	}
	return j.(*job)
}

func groupOf(t rapid.TB, chip string, per, nodes int) estimate.Group {
	t.Helper()
	a, ok := accelerator.Embedded().Get(chip)
	if !ok {
		t.Fatal(chip)
	}
	return estimate.Group{Chip: a, Share: 1, PerNode: per, Nodes: nodes, Topology: catalog.NVSwitch, Network: catalog.InfiniBand, NetworkGbps: unit.Some(3200.0)}
}

// fitted is a replica of t x p accelerators over so many machines of the group.
func fitted(t testing.TB, j *job, g estimate.Group, tp, pp, span int) *replica {
	t.Helper()
	return laid(t, j, g, Spread{TP: tp, PP: pp}, span)
}

func laid(t testing.TB, j *job, g estimate.Group, s Spread, span int) *replica {
	t.Helper()
	b, bad := j.base(g)
	if bad != nil {
		t.Fatalf("%+v", bad)
	}
	r := b.replica
	r.Spread, r.span = s, span
	if bad := j.fit(b, &r); bad != nil {
		t.Fatalf("%+v", bad)
	}
	return &r
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance*math.Abs(want) {
		t.Errorf("%s: got %g, want %g", what, got, want)
	}
}

const exactly = 1e-9

func TestCacheOfARank(t *testing.T) {
	const h100, tokens = "H200-SXM-141GB", 1000 + 24
	for _, tt := range []struct {
		model, format string
		tp            int
		want          float64 // bytes of one sequence
	}{
		// Llama-2-70B: 2 x 80 layers x 8 heads x 128 x 2 bytes = 320 KiB a token.
		{"llama-2-70b", "fp8", 1, tokens * 320 * 1024},
		{"llama-2-70b", "fp8", 8, tokens * 40 * 1024},
		// Qwen2.5-7B: 28 layers, 4 heads of 128: eight ranks hold one each, so each head twice over.
		{"qwen2.5-7b", "bf16", 4, tokens * 2 * 28 * 128 * 2},
		{"qwen2.5-7b", "bf16", 1, tokens * 2 * 28 * 4 * 128 * 2},
		// DeepSeek-V2-Lite: 27 layers of 512 + 64 values, whole on every rank.
		{"deepseek-v2-lite", "bf16", 1, tokens * 27 * 576 * 2},
		{"deepseek-v2-lite", "bf16", 8, tokens * 27 * 576 * 2},
	} {
		j := jobOf(t, batchOf(t, tt.model, tt.format, 1000, 24))
		near(t, tt.model, fitted(t, j, groupOf(t, h100, 8, 1), tt.tp, 1, 1).sequence, tt.want, exactly)
	}
	// Gemma-2-9B: 42 layers of 8 heads of 256; half of them keep 4096 of 8000 tokens.
	j := jobOf(t, batchOf(t, "gemma-2-9b", "bf16", 7000, 1000))
	near(t, "windows", fitted(t, j, groupOf(t, h100, 8, 1), 1, 1, 1).sequence, 2*8*256*2*21*(8000+4096), exactly)
	// A stage of a pipeline of three has 27 of 80 layers.
	j = jobOf(t, batchOf(t, "llama-2-70b", "bf16", 1000, 24))
	near(t, "pipeline", fitted(t, j, groupOf(t, h100, 8, 3), 8, 3, 3).sequence, tokens*40*1024*27/80, exactly)
}

func TestWorkByHand(t *testing.T) {
	j := jobOf(t, batchOf(t, "llama-2-7b", "fp16", 1000, 200))
	body, head := 6738415616-2*32000*4096-65*4096.0, 32000*4096.0
	near(t, "a token at 1100 tokens", j.decode, 2*(body+head)+4*32*4096*1100, exactly)
	near(t, "a prompt, one row of the head, half of the square", j.prefill, 2*(1000*body+head)+4*32*4096*1000*1001/2.0, 1e-6)
	// 16 x hidden and widest of 2 x 11008 and 4 x 4096; logits of 256 sequences at 32 bit.
	near(t, "workspace", workspace(j.m, j.engine, 1000), 2*1000*(4*4096+2*11008)+256*4*32000, exactly)
	// DeepSeek-V3 decodes against latents: 61 layers x 128 heads x 2 (2 x 512 + 64) a token of context.
	v3 := jobOf(t, batchOf(t, "deepseek-v3", "fp8", 1000, 200))
	near(t, "absorbed latents", v3.decode-2*v3.m.MatmulParams(), 61*128*2*(2*512+64)*1100, exactly)
	// It widens the keys and values of the prompt beyond the chunk: 128 heads of 192 + 128.
	near(t, "widened past", workspace(v3.m, v3.engine, 32768)-workspace(v3.m, v3.engine, 8192), 2*128*320*(32768-8192), exactly)
}

// ideal is kernels that reach every peak and cost nothing else, and curves whose engines add nothing.
func ideal(t testing.TB, g estimate.Group) (*estimate.Curves, *estimate.Kernels) {
	t.Helper()
	m := estimate.MultiplyCurve{Compute: 1, Bandwidth: 1, Overlap: 1}
	d, p := estimate.DecodeCurve{Compute: 1, Bandwidth: 1, Overlap: 1}, estimate.PrefillCurve{Compute: 1, Bandwidth: 1, Overlap: 1}
	link := estimate.CollectiveCurve{Share: 1, Fitted: estimate.Fitted{N: 1}}
	all := estimate.CollectiveTable{}
	for _, kind := range []string{"all_reduce", "all_gather", "all_to_all", "engine_all_reduce"} {
		all[kind] = map[string]estimate.CollectiveCurve{"default": link}
	}
	table := estimate.KernelTable{Inside: map[string]estimate.CollectiveTable{string(g.Topology): all}}
	table.Multiply = map[string]map[string]estimate.MultiplyCurve{}
	for _, kind := range []string{estimate.MultiplyBF16, estimate.MultiplyFP8, estimate.MultiplyFP8Block, estimate.MultiplyNVFP4} {
		table.Multiply[kind] = map[string]estimate.MultiplyCurve{"default": m}
	}
	table.Decode = map[string]map[string]estimate.DecodeCurve{"bf16": {"default": d}, "fp8": {"default": d}}
	table.Prefill = map[string]map[string]estimate.PrefillCurve{"bf16": {"default": p}, "fp8": {"default": p}}
	c := *estimate.EmbeddedCurves()
	e := &c.Serve.Engines.VLLM
	e.StepUS, e.SequenceUS, e.LayerUS, e.EagerUS, e.KernelShare, e.BusyShare = 0, 0, 0, 0, 1, 1
	c.Serve.Alike, c.Serve.Sustain, c.Serve.Passes, c.Serve.Widened = 0, 0, 0, 1
	k, bad := table.For(&c, g)
	if bad != nil {
		t.Fatalf("%+v", bad)
	}
	return &c, k
}

func idealStep(t testing.TB, name, format string, g estimate.Group, s Spread) *Step {
	t.Helper()
	j := jobOf(t, batchOf(t, name, format, 1000, 200))
	c, k := ideal(t, g)
	setup := j.setup
	setup.Spread = s
	p, bad := newStep(c, k, &setup, g)
	if bad != nil {
		t.Fatalf("%+v", bad)
	}
	p.fill()
	return p
}

func TestStepByHand(t *testing.T) {
	g := groupOf(t, "A100-SXM-80GB", 8, 1)
	peak, bandwidth := 312e12, float64(g.Chip.Bandwidth.Or(0))
	p := idealStep(t, "llama-2-7b", "fp16", g, Spread{})
	body, head := 6738415616-2*32000*4096-65*4096.0, 32000*4096.0
	// A token reads every weight but the look-up, activations aside, and 2 x 32 x 4096 x 2 bytes a token of context.
	one := p.parts(work{decode: 1, cached: 1100})
	near(t, "one token", one.total(), (2*(body+head)+1100*524288)/bandwidth, 2e-3)
	if one.compute != 0 || one.launch != 0 || one.link != 0 {
		t.Errorf("%+v", one)
	}
	// A long prompt is bound by arithmetic: 2 FLOPs a weight, and half of the square in attention.
	long := p.parts(work{prefill: 4096, attended: 4096 * 4097 / 2, prompts: 1})
	near(t, "a prompt", long.compute, (2*4096*body+4*32*4096*4096*4097/2)/peak, 1e-2)
	// 64 all-reduces of 10 x 4096 x 2 bytes: 2 x 3/4 of them each.
	link := float64(g.Chip.LinkBidir.Or(0)) / 2
	near(t, "all-reduces", idealStep(t, "llama-2-7b", "fp16", g, Spread{TP: 4}).parts(work{decode: 10, cached: 11000}).link, 64*1.5*10*4096*2/link, exactly)
}

func TestTouchedExperts(t *testing.T) {
	g := groupOf(t, "H200-SXM-141GB", 8, 1)
	p := idealStep(t, "mixtral-8x7b", "bf16", g, Spread{TP: 8})
	experts, rows := p.shape.touched(1, 0)
	near(t, "one token reads two experts of eight", experts, 2, exactly)
	near(t, "in two rows", rows, 2, exactly)
	experts, _ = p.shape.touched(2, 0)
	near(t, "two tokens read 8 (1 - (3/4)²)", experts, 8*7/16.0, exactly)
	// Whole experts on eight ranks: one each, which 64 tokens surely use and in 16 rows.
	p = idealStep(t, "mixtral-8x7b", "bf16", g, Spread{TP: 8, EP: 8})
	experts, rows = p.shape.touched(64, 0)
	near(t, "a rank's expert", experts, 1, 1e-6)
	near(t, "its rows", rows, 16, exactly)
	// Cut in slices or whole, a rank reads as much once all experts are in use.
	cut, whole := idealStep(t, "mixtral-8x7b", "bf16", g, Spread{TP: 8}), p
	near(t, "slices", cut.onShared(512).total(), whole.onShared(512).total(), 0.05)
}

// The grid holds the function at its points and lies near it between them.
func TestGrid(t *testing.T) {
	p := idealStep(t, "deepseek-v3", "fp8", groupOf(t, "H200-SXM-141GB", 8, 1), Spread{TP: 1, DP: 8, EP: 8})
	for i := range p.rank {
		near(t, "point", p.rank.at(gridPoint(i)), p.rank[i], exactly)
	}
	for _, n := range []float64{1, 1.1, 3.3, 17, 63.9, 1000, 8191, 30000, 1 << 18} {
		near(t, "rank", p.rank.at(n), p.onRank(n).total(), 0.01)
		near(t, "shared", p.shared.at(n), p.onShared(n).total(), 0.01)
	}
	if p.rank.at(0.5) != p.rank[0] || p.rank.at(1<<19) <= p.rank.at(1<<18) {
		t.Error("past the ends")
	}
}

// Seconds is the sum of its parts.
func TestSecondsArePartsSum(t *testing.T) {
	g := groupOf(t, "H200-SXM-141GB", 8, 2)
	for _, s := range []Spread{{TP: 8}, {TP: 1, DP: 8, EP: 8}, {TP: 8, PP: 2, EP: 8}} {
		setup := jobOf(t, batchOf(t, "deepseek-v3", "fp8", 1000, 200)).setup
		setup.Spread = s
		p, bad := NewStep(estimate.EmbeddedCurves(), &setup, g)
		if bad != nil {
			t.Fatalf("%+v", bad)
		}
		for _, x := range []sim.Step{{Decode: 1, Cached: 100}, {Decode: 64, Cached: 64 * 3000}, {Prefill: 5000, Attended: 5000 * 2500, Prompts: 3}, {Decode: 32, Cached: 32000, Prefill: 2048, Attended: 2048 * 1024, Prompts: 2}} {
			w := work{float64(x.Decode), x.Cached, x.Prefill, x.Attended, float64(x.Prompts)}
			near(t, "seconds", p.Seconds(x), p.parts(w).total(), 0.01)
		}
	}
}

// A pipeline's stages each read their weights once for every group that passes: a token of one sequence takes as long as reading
// all weights over the ranks of one stage, and a step of n sequences no less.
func TestAPipelineAddsRoomNotSpeed(t *testing.T) {
	g := groupOf(t, "A100-SXM-80GB", 8, 2)
	one, two := idealStep(t, "llama-2-70b", "fp16", g, Spread{TP: 8}), idealStep(t, "llama-2-70b", "fp16", g, Spread{TP: 8, PP: 2})
	step := func(p *Step, n float64) timing { return p.parts(work{decode: n, cached: 1100 * n}) }
	near(t, "one sequence", step(two, 1).memory, step(one, 1).memory, exactly)
	near(t, "eight take as long as four in each group", step(two, 8).memory, step(one, 4).memory, exactly)
	if b := step(two, 1); b.network <= 0 || step(one, 1).network != 0 {
		t.Errorf("the hand-over costs nothing: %+v", b)
	}
	l := lengths{1000, 200}
	near(t, "a prompt", two.prompt(l).compute, one.prompt(l).compute, exactly)
	j := jobOf(t, batchOf(t, "llama-2-70b", "fp16", 1000, 200))
	edge, edges := 32000*8192*2.0, 2*32000*8192*2.0
	all := float64(j.m.WeightBytes(j.setup.Format))
	near(t, "half the layers and one end", fitted(t, j, g, 8, 2, 2).weights, ((all-edges)/2+edge)/8, exactly)
}

func TestWeightsOfARank(t *testing.T) {
	j := jobOf(t, batchOf(t, "deepseek-v3", "fp8", 1000, 200))
	all, routed := float64(j.m.WeightBytes(j.setup.Format)), float64(j.m.Params.Routed)
	for s, want := range map[Spread]float64{{TP: 8}: all / 8, {TP: 8, EP: 8}: all / 8, {TP: 1, DP: 8, EP: 8}: all - routed + routed/8} {
		setup := j.setup
		near(t, "weights", setup.rankWeights(s.whole()), want, exactly)
	}
}

func TestSteadyState(t *testing.T) {
	j := jobOf(t, batchOf(t, "llama-2-7b", "fp16", 1000, 101))
	r := fitted(t, j, groupOf(t, "A100-SXM-80GB", 1, 1), 1, 1, 1)
	l := r.step.at(lengths{1000, 101}, 16)
	near(t, "sixteen requests take a cycle", 16/l.rate, l.cycle.total(), exactly)
	// Eight prompts share a chunk, so two of a hundred steps work on prompts, too.
	step := r.step.parts(lengths{1000, 101}.decoding(16)).total()
	with := r.step.parts(work{decode: 16, cached: 16 * 1050.5, prefill: 8000, attended: 8 * 1000 * 1001 / 2, prompts: 8}).total()
	near(t, "a cycle", l.cycle.total(), 98*step+2*with, exactly)
	near(t, "a token waits for the prompts of the others", l.tpot, step+15.0/16*2*(with-step)/100, exactly)
	near(t, "end to end", l.e2e, l.ttft+100*l.tpot, exactly)
	got := j.at(r, 16)
	near(t, "MFU", j.report(r, got, 1).MFU, (j.prefill+100*j.decode)*got.rate/r.peak, exactly)
}

// TPOT is over the tokens after the first; an answer of one token has none and breaks no promise of it (cases.md 13).
func TestOneTokenAnswers(t *testing.T) {
	w := serviceOf(t, "llama-3.1-8b", "bf16", 1000, 1, 2)
	w.SLO.TPOTp99 = unit.FromSeconds(1e-9)
	e, bad, _ := jobOf(t, w).Best(groupOf(t, "H100-SXM-80GB", 8, 8))
	if bad != nil {
		t.Fatalf("%+v", bad)
	}
	if e.Serving.TPOT != 0 || e.Serving.TTFT <= 0 || e.Serving.E2E != e.Serving.TTFT {
		t.Errorf("%+v", e.Serving)
	}
	w.Traffic.OutputTokens = 2
	if _, bad, _ := jobOf(t, w).Best(groupOf(t, "H100-SXM-80GB", 8, 8)); bad == nil || bad.Reason != estimate.NoLatency || bad.Have <= bad.Want {
		t.Errorf("a nanosecond a token was promised: %+v", bad)
	}
}

func TestMachines(t *testing.T) {
	for _, tt := range []struct{ replicas, each, per, want int }{
		{1, 1, 8, 1}, {8, 1, 8, 1}, {9, 1, 8, 2}, {3, 2, 8, 1}, {5, 2, 8, 2}, {3, 8, 8, 3}, {3, 16, 8, 6},
		{3, 2, 3, 3}, // a third of each machine idles
		{4, 3, 6, 2}, {5, 3, 6, 3}, {1 << 20, 64, 8, 1 << 23},
	} {
		if got := Machines(estimate.Serving{ReplicasNeeded: tt.replicas, AcceleratorsPerReplica: tt.each}, tt.per); got != tt.want {
			t.Errorf("%d replicas of %d on machines of %d: %d, want %d", tt.replicas, tt.each, tt.per, got, tt.want)
		}
	}
}

func TestFleet(t *testing.T) {
	e, bad, _ := jobOf(t, serviceOf(t, "llama-3.1-8b", "bf16", 1000, 200, 100)).Best(groupOf(t, "H100-SXM-80GB", 8, 8))
	if bad != nil {
		t.Fatalf("%+v", bad)
	}
	s := e.Serving
	if s.Replicas < s.ReplicasNeeded || s.RequestsPerSecond < 100 {
		t.Errorf("%+v", s)
	}
	near(t, "capacity", e.Speed.Value, s.RequestsPerSecond*200, exactly)
	w := serviceOf(t, "llama-3.1-8b", "bf16", 1000, 200, 100)
	w.Layout.DP = 1
	if _, bad, _ := jobOf(t, w).Best(groupOf(t, "L40S", 1, 1)); bad == nil || bad.Reason != estimate.NotDivisible || bad.Want <= 1 {
		t.Errorf("one pinned replica carries it all: %+v", bad)
	}
	w = serviceOf(t, "llama-3.1-8b", "bf16", 1000, 200, 1e7)
	w.Layout.DP = 1 << 17
	if e, bad, _ := jobOf(t, w).Best(groupOf(t, "B300", 8, 1)); bad == nil && e.Serving.ReplicasNeeded != 1<<17 {
		t.Errorf("pinned replicas became %d", e.Serving.ReplicasNeeded)
	}
}

func TestFewRequestsSpread(t *testing.T) {
	w := batchOf(t, "llama-3.1-8b", "bf16", 1000, 200)
	w.Batch.Requests, w.Layout.TP = 10, 1
	e, bad, _ := jobOf(t, w).Best(groupOf(t, "H100-SXM-80GB", 8, 1))
	if bad != nil || e.Serving.Concurrency != 2 || e.Serving.Replicas != 8 {
		t.Errorf("ten requests on eight replicas run %d at once: %+v", e.Serving.Concurrency, bad)
	}
	w.Batch.Requests = 3
	e, _, _ = jobOf(t, w).Best(groupOf(t, "H100-SXM-80GB", 8, 1))
	// Three replicas work; the job takes what one request takes.
	if one := e.Serving.RequestsPerSecond / 3; e.Serving.Concurrency != 1 || float64(e.Hours.Seconds()) < 1/one*0.999 {
		t.Errorf("three requests: %d at once, %v", e.Serving.Concurrency, e.Hours)
	}
}

// A number of machines that no pipeline divides still holds one; what fits on two fits on three.
func TestAnyNumberOfMachines(t *testing.T) {
	w := batchOf(t, "llama-3.1-405b", "bf16", 1000, 200)
	for _, nodes := range []int{2, 3, 4, 7} {
		e, bad, _ := jobOf(t, w).Best(groupOf(t, "H100-SXM-80GB", 8, nodes))
		if bad != nil || e.Layout.PP < 2 || e.Layout.PP*e.Layout.Replicas > nodes {
			t.Errorf("%d machines: %+v %+v", nodes, e.Layout, bad)
		}
	}
}

func TestPins(t *testing.T) {
	for _, tt := range []struct {
		name       string
		pin        workload.LayoutPin
		per, nodes int
		tp, pp     int // 0 is no layout
	}{
		{"tensor parallel", workload.LayoutPin{TP: 4}, 8, 1, 4, 1},
		{"does not divide the machine", workload.LayoutPin{TP: 3}, 8, 1, 0, 0},
		{"does not divide the heads", workload.LayoutPin{TP: 3}, 6, 1, 0, 0},
		{"wider than the machine", workload.LayoutPin{TP: 16}, 8, 2, 0, 0},
		{"pipeline in a machine", workload.LayoutPin{TP: 2, PP: 4}, 8, 1, 2, 4},
		{"pipeline over machines", workload.LayoutPin{PP: 2, TP: 8}, 8, 2, 8, 2},
		{"more stages than accelerators", workload.LayoutPin{PP: 16}, 8, 1, 0, 0},
		{"more stages than layers", workload.LayoutPin{PP: 64}, 8, 8, 0, 0},
		{"more replicas than room", workload.LayoutPin{TP: 8, DP: 2}, 8, 1, 0, 0},
		{"experts of a dense network", workload.LayoutPin{EP: 8}, 8, 1, 0, 0},
		{"a machine of six", workload.LayoutPin{}, 6, 1, 1, 1},
	} {
		w := batchOf(t, "llama-3.1-8b", "bf16", 1000, 200)
		w.Layout = tt.pin
		e, bad, _ := jobOf(t, w).Best(groupOf(t, "H100-SXM-80GB", tt.per, tt.nodes))
		if bad != nil && bad.Reason != estimate.NoLayout || e.Layout.TP != tt.tp && tt.name != "a machine of six" || e.Layout.PP != tt.pp {
			t.Errorf("%s: %+v %+v", tt.name, e.Layout, bad)
		}
	}
}

func BenchmarkReplicas(b *testing.B) {
	j := jobOf(b, serviceOf(b, "deepseek-v3", "fp8", 4000, 1000, 50))
	g := groupOf(b, "H200-SXM-141GB", 8, 8)
	for b.Loop() {
		j.Best(g)
	}
}
