package train

import (
	"math"
	"testing"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/model"
)

func jobOf(t testing.TB, w *workload.Workload) *job {
	t.Helper()
	j, err := New(w, estimate.EmbeddedCurves())
	if err != nil {
		t.Fatal(err)
	}
	return j.(*job)
}

// near fails unless got is want to so many parts.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance*math.Abs(want) {
		t.Errorf("%s: got %g, want %g", what, got, want)
	}
}

const exactly = 1e-9

// gpt22 is the 22B model of Korthikanti et al. 2022, table 3: 48 layers of 6144, 64 heads, 51200 words, 2048 tokens, t 8, b 4.
func gpt22(t *testing.T) *job {
	m, err := model.ParseConfig("gpt-22b", []byte(`{"model_type":"gpt2","n_layer":48,"n_embd":6144,"n_head":64,"vocab_size":51200,"n_positions":2048}`))
	if err != nil {
		t.Fatal(err)
	}
	w := workloadOf(t, "gpt2")
	w.Model, w.Sequence, w.GlobalBatch = m, 2048, 4
	return jobOf(t, w)
}

func TestActivationsOfKorthikanti(t *testing.T) {
	j := gpt22(t)
	k := j.cut(8, 1, 1, 1, 1)
	at := func(recompute string, fused bool) float64 {
		act, _ := j.activations(&k, schedule{b: 4, m: 1, virtual: 1, recompute: recompute, fused: fused}, 48)
		return act
	}
	const sbh = 2048 * 4 * 6144 // 50 331 648
	const scores = 5 * 64 * 2048 / 6144.0
	// We count 32 and not 34: these models keep no dropout masks outside attention.
	near(t, "none", at("none", false), 48*sbh*(32+scores)/8, exactly)
	near(t, "none against the paper's 34", at("none", false), 48*sbh*(34+scores)/8, 0.02)
	near(t, "fused", at("none", true), 48*sbh*32/8, exactly)
	near(t, "selective keeps one layer's core", at("selective", false), 48*sbh*32/8+sbh*scores/8, exactly)
	near(t, "full keeps each layer's input and one layer", at("full", true), 48*sbh*2/8+sbh*32/8, exactly)
	_, logits := j.activations(&k, schedule{b: 4, m: 1, virtual: 1}, 48)
	near(t, "logits: tokens x vocabulary x (2 + 4 + 4 + 2) / t", logits, 2048*4*51200*12/8, exactly)

	k = j.cut(8, 1, 2, 1, 1) // two context ranks hold half of the queries against all keys
	near(t, "context parallel", at("none", false), 48*sbh*(32+scores)/16, exactly)
}

// A dense gated layer keeps 4 h + q, o + k, v + 3 f values: Llama-2-7B 4 x 4096 + 2 x 4096 + 2 x 4096 + 3 x 11008 = 65792, two bytes each.
func TestActivationsByFamily(t *testing.T) {
	near(t, "llama-2-7b", jobOf(t, workloadOf(t, "llama-2-7b")).shape.act, 131584, exactly)
	// Mixtral, h 4096, 32 heads, 8 kv, f 14336, 2 of 8 experts: 4 x 4096 + 2 x 4096 + 2 x 1024 + 2 x (4096 + 3 x 14336) = 120832.
	near(t, "mixtral-8x7b", jobOf(t, workloadOf(t, "mixtral-8x7b")).shape.act, 2*120832, exactly)
}

func TestModelStatesOfTheZeROPaper(t *testing.T) {
	// Rajbhandari et al. 2020, figure 1: 7.5B parameters, 64 ranks: 120, 31.4, 16.6 and 1.9 GB.
	j := &job{c: estimate.EmbeddedCurves(), m: &model.Model{}, shape: shape{layers: 1, dense: 7.5e9, seq: 1}, states: states{weight: 2, wide: 2, head: 2, grad: 2, opt: 12, full: true}}
	k := j.cut(1, 1, 1, 1, 64)
	for zero, want := range []float64{120, 31.4, 16.6, 1.9} {
		p := j.stage(&k, schedule{b: 1, m: 1, virtual: 1, zero: zero, recompute: "none", fused: true}, 0, k.first)
		near(t, "ZeRO stage", math.Round((p.weights+p.grads+p.opt)/1e8)/10, want, exactly)
	}
}

func TestMicroBatchesInFlight(t *testing.T) {
	for _, tt := range []struct {
		p, m, v     int
		first, last float64
	}{
		{8, 32, 1, 8, 1},
		{8, 4, 1, 4, 1},
		// Interleaved by two: 8 (1 + 7/16) = 11.5; the last rank has p (v - 1) + 1 = 9 half stages under way.
		{8, 32, 2, 11.5, 4.5},
		{8, 8, 2, 8, 4.5}, // never more than there are
	} {
		k := &cut{p: tt.p}
		o := schedule{m: tt.m, virtual: tt.v}
		near(t, "first", inFlight(k, o, 0), tt.first, exactly)
		near(t, "last", inFlight(k, o, tt.p-1), tt.last, exactly)
	}
}

func TestStatesByMethod(t *testing.T) {
	w := workloadOf(t, "llama-3.1-8b")
	set := func(f func()) states { f(); return jobOf(t, w).states }
	for _, tt := range []struct {
		name string
		got  states
		want states
	}{
		{"AdamW", set(func() {}), states{2, 2, 2, 2, 12, 12, true}},
		{"fp8 keeps 16-bit weights", set(func() { w.Format = "fp8" }), states{2, 2, 2, 2, 12, 12, true}},
		{"fp32 is its own master", set(func() { w.Format = "fp32" }), states{4, 4, 4, 4, 8, 12, true}},
		{"bf16 moments have no master to spare", set(func() { w.Optimizer = workload.AdamWBF16 }), states{4, 4, 4, 4, 4, 12, true}},
		{"8-bit moments", set(func() { w.Format, w.Optimizer = "bf16", workload.AdamW8bit }), states{2, 2, 2, 2, 6, 12, true}},
		{"LoRA", set(func() {
			w.Kind, w.Method, w.LoRARank, w.Optimizer = workload.Finetune, workload.LoRA, 16, workload.AdamW
		}), states{2, 2, 2, 2, 12, 12, false}},
		{"QLoRA: 4.127 bits", set(func() { w.Method = workload.QLoRA }), states{4.127 / 8, 2, 2, 2, 12, 12, false}},
		{"LitGPT's head is narrow too", set(func() { w.Software.Framework = "litgpt" }), states{4.127 / 8, 2, 4.127 / 8, 2, 12, 6, false}},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, tt.got, tt.want)
		}
	}
	w.Software.Framework = ""
	j := jobOf(t, w)
	// q and o 4096 + 4096, k and v 4096 + 1024, three of 4096 + 14336: 81920 a layer and rank; 32 layers, rank 16.
	near(t, "adapters", j.shape.adapters, 81920*32*16, exactly)
	k := j.cut(1, 1, 1, 1, 8)
	p := j.stage(&k, schedule{b: 1, m: 1, virtual: 1, zero: 1, recompute: "none", fused: true}, 0, k.first)
	near(t, "QLoRA's base", p.weights, (8030261248-2*128256*4096)*4.127/8+2*2*128256*4096, 1e-6)
	near(t, "gradients of adapters alone", p.grads, 2*41943040, exactly)
	near(t, "moments of adapters over 8", p.opt, 12*41943040/8, exactly)
	near(t, "one matrix widened", p.gathered, 2*4096*14336, exactly)
}

func TestGatheredUnits(t *testing.T) {
	j := jobOf(t, workloadOf(t, "llama-2-7b"))
	k := j.cut(1, 1, 1, 1, 8)
	// A layer is 4 x 4096² + 3 x 4096 x 11008 + 2 x 4096 = 202 383 360: two of them and its gradient at 2 bytes.
	near(t, "a layer", j.working(&k, schedule{zero: 3}), 202383360*6, exactly)
	near(t, "nothing under ZeRO-2", j.working(&k, schedule{zero: 2}), 0, exactly)
	alone := j.cut(1, 1, 1, 1, 1)
	near(t, "nothing to gather alone", j.working(&alone, schedule{zero: 3}), 0, exactly)

	m := jobOf(t, workloadOf(t, "deepseek-v3"))
	k = m.cut(1, 1, 1, 64, 64)
	// With 4 experts a rank (44 million each) a routing layer is 409 million; the first three, 7168 x 18432 dense, are the largest.
	near(t, "experts over 64 ranks", k.layer, 583483392, exactly)
	k = m.cut(1, 1, 1, 8, 64)
	routing := m.m.Stack[len(m.m.Stack)-1].Params
	near(t, "over 8", k.layer, float64(routing.Total-routing.Routed)+32*3*7168*2048, exactly)
}

func TestPipelineEnds(t *testing.T) {
	j := jobOf(t, workloadOf(t, "gpt2")) // tied: 50257 x 768 and 1024 positions
	k := j.cut(1, 2, 1, 1, 1)
	o := schedule{b: 1, m: 4, virtual: 1, recompute: "full", fused: true}
	first, last := j.stage(&k, o, 0, k.first), j.stage(&k, o, 1, k.last)
	near(t, "both ends hold the embedding", last.weights, first.weights, exactly)
	near(t, "half the layers and the embedding", first.weights, 2*(float64(12*7087872+2*768)/2+51281*768), 1e-4)
	if first.logits != 0 || last.logits == 0 {
		t.Error("logits belong to the last stage")
	}
	one := j.cut(1, 1, 1, 1, 1)
	near(t, "one stage holds it once", j.stage(&one, o, 0, one.first).weights, 2*124439808, 1e-4)
}

// 126 layers with embedding and head are 128: of eight stages the first and the last have 15, the others 16.
func TestEndsCountAsLayers(t *testing.T) {
	j := jobOf(t, workloadOf(t, "llama-3.1-405b"))
	k := j.cut(8, 8, 1, 1, 1)
	near(t, "first", k.first, 15, exactly)
	near(t, "between", k.stageLayers, 16, exactly)
	near(t, "last", k.last, 15, exactly)
	o := schedule{b: 1, m: 64, virtual: 8, recompute: "none", fused: true}
	// The second warms up with 2 x 6 + 7 x 8 chunks of two layers and holds one more: 69 / 8 of its 16 layers.
	near(t, "in flight", inFlight(&k, o, 1), 69.0/8, exactly)
	p := j.memory(&k, o)
	near(t, "the fullest is the second", p.activations, 69*2*float64(j.shape.seq)*j.shape.act/8, 1e-9)
	near(t, "without an embedding", p.weights, 2*k.dense, exactly)
	uneven := jobOf(t, workloadOf(t, "deepseek-v3")).cut(1, 8, 1, 1, 1) // 61 layers
	near(t, "what is left", uneven.last, 61-7*8, exactly)
}

func TestExpertsAreShared(t *testing.T) {
	j := jobOf(t, workloadOf(t, "mixtral-8x7b"))
	k := j.cut(1, 1, 1, 8, 8)
	o := schedule{b: 1, m: 1, virtual: 1, zero: 1, recompute: "full", fused: true}
	p := j.stage(&k, o, 0, k.first)
	routed, dense := float64(j.m.Params.Routed), float64(j.m.Params.Total-j.m.Params.Routed)
	near(t, "an eighth of the experts", p.weights, 2*(dense+routed/8), 1e-6)
	// Dense states are shared by 8 ranks; each rank's experts have no replica to share with.
	near(t, "optimizer", p.opt, 12*(dense/8+routed/8), 1e-6)
	near(t, "update", j.update(&k, 1), 2*(dense/8+routed/8)*16, 1e-6)
}

func TestPasses(t *testing.T) {
	w := workloadOf(t, "llama-3.1-8b")
	mm, core := jobOf(t, w).passes("full", true)
	near(t, "full recomputation", mm+core, 8, exactly)
	w.Kind, w.Method, w.LoRARank = workload.Finetune, workload.LoRA, 16
	mm, _ = jobOf(t, w).passes("none", true)
	// Frozen weights have two passes, adapters three: 41943040 of 32 x 218103808 matrix weights are 0.601 %.
	near(t, "LoRA", mm, 2+3*41943040/(32*218103808.0), exactly)
}

// PaLM, appendix B: 6 N a token without embeddings look-up, and attention 12 L h s halved for causality.
func TestModelFLOPs(t *testing.T) {
	j := jobOf(t, workloadOf(t, "llama-2-7b"))
	matrices := 6738415616 - 32000*4096 - 65*4096.0 // all but the look-up and the norms
	near(t, "FLOP a token", j.modelFLOP(), 6*matrices+12*32*4096*4097/2.0, 1e-9)
	w := workloadOf(t, "gemma-2-9b")
	w.Sequence = 8192 // windows of 4096: 4096 x 4097 / 2 + 4096² pairs of 8192
	pairs := (4096*4097/2.0 + 4096*4096) / 8192
	full := 8193 / 2.0
	near(t, "sliding windows", jobOf(t, w).shape.core*42, 21*4*16*256*(pairs+full), 1e-9)
}

func TestEncoderRunsOnceASequence(t *testing.T) {
	w := workloadOf(t, "whisper-large-v3")
	w.Sequence = 448
	j := jobOf(t, w)
	per := float64(w.Model.PerSample.Or(0))
	near(t, "FLOP a token", j.shape.matmul*float64(j.shape.layers), 2*w.Model.MatmulParamsPerLayer()*float64(j.shape.layers)+per/448, 1e-9)
}

// quiet is a machine of eight round chips: 1e12 FLOPS and bytes/s, links 1e11 bytes/s, 1e11 bytes/s a machine between; nothing hides.
func quiet(j *job, nodes int) *machine {
	c := *j.c
	c.Train.KernelShare, c.Train.Grouped, c.Train.Elementwise, c.Train.HostUS, c.Train.StepUS = 1, 1, 0, 0, 0
	c.Train.Overlap.Tensor, c.Train.Overlap.Data, c.Train.Overlap.Pipeline, c.Train.Overlap.Expert, c.Train.Overlap.Context = 0, 0, 0, 0, 0
	c.Train.Overlap.ExpertFar = 0
	j.c = &c
	ideal := estimate.Multiply{Curve: estimate.MultiplyCurve{Compute: 1, Bandwidth: 1, Overlap: 1}, Peak: 1e12, Bandwidth: 1e12, WeightBytes: 2, InputBytes: 2}
	m := &machine{multiply: ideal, eight: ideal, wide: ideal, g: estimate.Group{Chip: &accelerator.Accelerator{}, PerNode: 8, Nodes: nodes}, coreRate: 1e12, fused: true, memory: 1,
		Reach:   estimate.Reach{Bandwidth: 1e12, Peak: 1e12, Multiply: 1e12},
		between: estimate.Link{BytesPerSec: 1e11}, hasNet: true}
	for range 9 {
		m.inside = append(m.inside, estimate.Link{BytesPerSec: 1e11})
	}
	return m
}

func TestTrafficByHand(t *testing.T) {
	j := jobOf(t, workloadOf(t, "mixtral-8x7b")) // h 4096, 32 layers, 8 kv heads of 128, 2 of 8 experts
	mc := quiet(j, 4)
	const tokens, L = 4096.0, 32.0
	get := func(x traffic, ok bool) traffic {
		if !ok {
			t.Error("a link is not known")
		}
		return x
	}
	k := j.cut(8, 1, 1, 1, 4)
	none, full := schedule{b: 1, m: 2, virtual: 1, recompute: "none"}, schedule{b: 1, m: 2, virtual: 1, recompute: "full"}
	once := 2 * 7 / 8.0 * tokens * 4096 * 2 / 1e11
	near(t, "four all-reduces a layer", get(j.tensor(mc, &k, none, tokens)).link, 4*L*once, exactly)
	near(t, "six when repeated", get(j.tensor(mc, &k, full, tokens)).link, 6*L*once, exactly)

	k = j.cut(1, 1, 1, 8, 32)
	routed := tokens * 2 * 4096 * 2 // two experts a token, 16 bit
	near(t, "all-to-all inside", get(j.expert(mc, &k, none, tokens)).link, 4*L*routed*7/8/1e11, exactly)
	near(t, "all-to-all when repeated", get(j.expert(mc, &k, full, tokens)).link, 6*L*routed*7/8/1e11, exactly)
	k = j.cut(2, 1, 1, 8, 16) // sequence parallel: each of two holds half of the tokens
	near(t, "half the tokens", get(j.expert(mc, &k, none, tokens)).link, 4*L*routed/2*7/8/1e11, exactly)
	four := quiet(j, 4)
	four.g.PerNode = 4 // four of the eight stand in the machine, the other half of the experts in the next; 1/4 of its network each
	k = j.cut(1, 1, 1, 8, 16)
	x := get(j.expert(four, &k, none, tokens))
	near(t, "three of four copies inside", x.link, 4*L*routed*3/4/1e11, exactly)
	// Of two experts in two machines one and a half are met on average; half of them are away.
	near(t, "one copy a machine outside", x.network, 4*L*(routed/2)*1.5/2/(1e11/4), exactly)

	k = j.cut(2, 1, 4, 1, 4)
	near(t, "ring of keys and values", get(j.context(mc, &k, none, tokens)).link, L*3*3*tokens*2*(8*256/2)/1e11, exactly)
	k = j.cut(1, 4, 1, 1, 8)
	o := none
	o.virtual = 2
	near(t, "hand-over, there and back, twice", get(j.pipeline(mc, &k, o, tokens)).network, 2*2*tokens*4096*2/(1e11/8), exactly)
}

func TestDataTrafficByHand(t *testing.T) {
	j := jobOf(t, workloadOf(t, "llama-2-7b"))
	mc := quiet(j, 4)
	k := j.cut(1, 1, 1, 1, 32)
	bytes := 2 * 6738415616.0
	for zero, want := range []float64{2, 2, 4 + 1, 4 * 3} { // of the weights' bytes, four micro-batches
		x, _ := j.data(mc, &k, schedule{b: 1, m: 4, virtual: 1, zero: zero})
		near(t, "inside", x.link, want*bytes*7/8/1e11, 1e-4)
		near(t, "between", x.network, want*bytes*3/4/1e11, 1e-4)
	}
	k = j.cut(8, 1, 1, 1, 4) // eight groups share the machine's network, each with an eighth
	x, _ := j.data(mc, &k, schedule{b: 1, m: 4, virtual: 1, zero: 1})
	near(t, "tensor parallel", x.network, 2*bytes*3/4/1e11, 1e-4)

	e := jobOf(t, workloadOf(t, "mixtral-8x7b"))
	mc = quiet(e, 4)
	k = e.cut(1, 1, 1, 8, 32)
	routed, dense := 2*float64(e.m.Params.Routed), 2*float64(e.m.Params.Total-e.m.Params.Routed)
	x, _ = e.data(mc, &k, schedule{b: 1, m: 1, virtual: 1, zero: 1})
	// Four replicas of each expert, one a machine; eight such rings share the network.
	near(t, "experts", x.network, 2*dense*3/4/1e11+8*2*(routed/8)*3/4/1e11, 1e-4)
}

func TestStepByHand(t *testing.T) {
	j := jobOf(t, workloadOf(t, "llama-2-7b"))
	mc := quiet(j, 1)
	k := j.cut(1, 4, 1, 1, 2)
	o := schedule{b: 1, m: 8, virtual: 1, zero: 1, recompute: "none", fused: true}
	w := j.work(mc, &k, 1)
	s, ok := j.speed(mc, &k, o, &w)
	if !ok {
		t.Fatal("no speed")
	}
	// A stage has 8 of 32 layers, and the last the whole head besides; a micro-batch is 4096 tokens at 1e12 FLOPS.
	layer, head := 2*202375168.0, 2*32000*4096.0
	micro := 4096 * (8*3*(layer+4*4096*4097/2.0) + 3*head) / 1e12
	near(t, "compute", s.compute, 8*micro, 1e-9)
	one, _ := j.micro(mc, &k, o, &w)
	near(t, "bubble: 3 of 8 micro-batches", s.bubble, 3*one.total(), 1e-9)
	o.virtual = 2
	v, _ := j.speed(mc, &k, o, &w)
	one, _ = j.micro(mc, &k, o, &w)
	near(t, "interleaved: half of it", v.bubble, 1.5*one.total(), 1e-9)
}

// Reading the weights bounds a step of few tokens.
func TestFewTokensWaitForTheWeights(t *testing.T) {
	one := workloadOf(t, "llama-2-7b")
	one.Sequence, one.GlobalBatch = 1, 1
	j := jobOf(t, one)
	mc := quiet(j, 1)
	mc.multiply.Peak, mc.eight.Peak, mc.wide.Peak = 1e15, 1e15, 1e15
	k := j.cut(1, 1, 1, 1, 1)
	w := j.work(mc, &k, 1)
	s, _ := j.speed(mc, &k, schedule{b: 1, m: 1, virtual: 1, recompute: "none", fused: true}, &w)
	if least := 3 * 2 * 6.6e9 / 1e12; s.compute+s.memory < least {
		t.Errorf("a step of one token takes %g s, reading the weights three times %g", s.compute+s.memory, least)
	}
}
