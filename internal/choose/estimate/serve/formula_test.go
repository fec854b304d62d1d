package serve

import (
	"math"
	"testing"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
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

func groupOf(t testing.TB, chip string, per, nodes int) estimate.Group {
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
	r, bad := j.base(g)
	if bad != nil {
		t.Fatalf("%+v", bad)
	}
	r.t, r.p, r.span = tp, pp, span
	if bad := j.fit(g, &r); bad != nil {
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
		near(t, tt.model, fitted(t, j, groupOf(t, h100, 8, 1), tt.tp, 1, 1).kvRank, tt.want, exactly)
	}
	// Gemma-2-9B: 42 layers of 8 heads of 256; half of them keep 4096 of 8000 tokens.
	j := jobOf(t, batchOf(t, "gemma-2-9b", "bf16", 7000, 1000))
	near(t, "windows", fitted(t, j, groupOf(t, h100, 8, 1), 1, 1, 1).kvRank, 2*8*256*2*21*(8000+4096), exactly)
	// A stage of a pipeline of three has 27 of 80 layers.
	j = jobOf(t, batchOf(t, "llama-2-70b", "bf16", 1000, 24))
	near(t, "pipeline", fitted(t, j, groupOf(t, h100, 8, 3), 8, 3, 3).kvRank, tokens*40*1024*27/80, exactly)
}

func TestWorkByHand(t *testing.T) {
	j := jobOf(t, batchOf(t, "llama-2-7b", "fp16", 1000, 200))
	body, head := 6738415616-2*32000*4096-65*4096.0, 32000*4096.0
	near(t, "a token's multiplies", j.decode.matmul, 2*(body+head), exactly)
	near(t, "its attention at 1100 tokens", j.decode.core, 4*32*4096*1100, exactly)
	near(t, "a prompt's multiplies, one row of the head", j.prefill.matmul, 2*(1000*body+head), exactly)
	near(t, "its attention: half of the square", j.prefill.core, 4*32*4096*1000*1001/2.0, 1e-6)
	near(t, "read by a step: all but the look-up", j.dense, 2*(6738415616-32000*4096), exactly)
	// 16 x hidden and widest of 2 x 11008 and 4 x 4096; logits of 256 sequences at 32 bit.
	near(t, "workspace", j.workspace, 2*1000*(4*4096+2*11008)+256*4*32000, exactly)

	// DeepSeek-V3 decodes against latents: 61 layers x 128 heads x 2 (2 x 512 + 64) a token of context.
	v3 := jobOf(t, batchOf(t, "deepseek-v3", "fp8", 1000, 200))
	near(t, "absorbed latents", v3.decode.core, 61*128*2*(2*512+64)*1100, exactly)
	// It widens the keys and values of the prompt beyond the chunk: 128 heads of 192 + 128.
	long := jobOf(t, batchOf(t, "deepseek-v3", "fp8", 32768, 200))
	near(t, "widened past", long.workspace-jobOf(t, batchOf(t, "deepseek-v3", "fp8", 8192, 200)).workspace, 2*128*320*(32768-8192), exactly)

	m := jobOf(t, batchOf(t, "mixtral-8x7b", "bf16", 1000, 200))
	near(t, "one token reads two experts of eight", m.touched(1), m.dense+m.routed/4, exactly)
	near(t, "two tokens read 8 (1 - (3/4)²)", m.touched(2), m.dense+m.routed*7/16, exactly)
}

func TestStepByHand(t *testing.T) {
	j := jobOf(t, batchOf(t, "llama-2-7b", "fp16", 1000, 200))
	r := fitted(t, j, groupOf(t, "A100-SXM-80GB", 8, 1), 1, 1, 1)
	r.rate, r.coreRate, r.bandwidth, r.launch = 1e14, 1e14, 1e12, 0.001
	s := j.step(r, 10)
	near(t, "bytes", s.memory, (j.dense+10*1100*524288)/1e12, exactly) // 2 x 32 x 4096 x 2 bytes a token
	near(t, "FLOP", s.compute, 10*j.decode.total()/1e14, exactly)
	near(t, "total", s.total(), s.memory+0.001, exactly)

	r = fitted(t, j, groupOf(t, "A100-SXM-80GB", 8, 1), 4, 1, 1)
	r.link = estimate.Link{BytesPerSec: 1e11, HopSeconds: 1e-6}
	// 64 all-reduces of 10 x 4096 x 2 bytes: 2 x 3/4 of them each, and two hops.
	near(t, "all-reduces", j.step(r, 10).link, 64*(1.5*10*4096*2/1e11+2e-6), exactly)
}

// A pipeline's stages each read their weights once for every group that passes: a token of one sequence takes as long as reading
// all weights over the ranks of one stage, and a step of n sequences no less.
func TestAPipelineAddsRoomNotSpeed(t *testing.T) {
	j := jobOf(t, batchOf(t, "llama-2-70b", "fp16", 1000, 200))
	g := groupOf(t, "A100-SXM-80GB", 8, 2)
	one, two := fitted(t, j, g, 8, 1, 1), fitted(t, j, g, 8, 2, 2)
	a, b := j.step(one, 1), j.step(two, 1)
	near(t, "one sequence", b.memory, a.memory, exactly)
	near(t, "eight take as long as four in each group", j.step(two, 8).memory, j.step(one, 4).memory, exactly)
	if b.network <= 0 || a.network != 0 || b.launch <= a.launch {
		t.Errorf("the hand-over costs nothing: %+v against %+v", b, a)
	}
	// Both stages prefill at once.
	near(t, "prompts", j.prompts(two, 1).compute, j.prompts(one, 1).compute/2, exactly)
	near(t, "a prompt", j.prompt(two).compute, j.prompt(one).compute, exactly)
	near(t, "half the layers and one end", two.weights, ((j.weights-j.edges)/2+j.edge)/8, exactly)
}

func TestSteadyState(t *testing.T) {
	j := jobOf(t, batchOf(t, "llama-2-7b", "fp16", 1000, 101))
	r := fitted(t, j, groupOf(t, "A100-SXM-80GB", 1, 1), 1, 1, 1)
	l := j.at(r, 16)
	s, p := l.step.total(), l.prompt.total()
	near(t, "sixteen requests take 100 steps and 16 prompts", 16/l.rate, 100*s+16*p, exactly)
	near(t, "a token waits for the prompts of the others", l.tpot, s+15*p/100, exactly)
	near(t, "end to end", l.e2e, l.ttft+100*l.tpot, exactly)
	near(t, "MFU", j.report(r, l, 1).MFU, (j.prefill.total()+100*j.decode.total())*l.rate/r.Peak, exactly)
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
