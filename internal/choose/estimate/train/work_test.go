package train

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// The matrices told apart make up the arithmetic of the layers; what is left over is small but where an encoder stands beside them.
func TestMatricesMakeUpTheLayers(t *testing.T) {
	for _, name := range []string{"llama-3.1-70b", "mixtral-8x7b", "deepseek-v3", "gpt2", "qwen3-next-80b-a3b", "nemotron-3-super-120b-a12b", "gpt-oss-120b", "bert-large"} {
		j := jobOf(t, workloadOf(t, name))
		if left := j.shape.extra / j.shape.matmul; left < 0 || left > 0.04 {
			t.Errorf("%s: %.3f of the arithmetic is in no matrix", name, left)
		}
	}
}

func TestExpertsAreTiledAndTouched(t *testing.T) {
	for in, want := range map[float64]float64{100: 100, 256: 256, 2880: 3072, 14336: 14336} {
		near(t, "tile", tiled(in), want, exactly)
	}
	j := jobOf(t, workloadOf(t, "mixtral-8x7b")) // 32 layers of 8 experts, two a token: 4096 x 28672 up, 14336 x 4096 down
	mc := quiet(j, 1)
	k := j.cut(1, 1, 1, 8, 8)
	w := j.work(mc, &k, 1)
	dense := 2 * 4096 * (4096*6144 + 4096*4096.0) / 1e12
	routed := 2 * 2 * 4096 * (4096*28672 + 14336*4096.0) / 1e12
	near(t, "forward of a layer", w.forward, dense+routed, 1e-3)
	near(t, "both gradients cost the same", w.inputs+w.weights, 2*w.forward, 1e-9)
	mc.eight.Peak /= 2 // experts follow the curve of 8 bit
	near(t, "experts at half the rate", j.work(mc, &k, 1).forward, dense+2*routed, 1e-3)
}

func TestExpertsOverTensorParallelRanks(t *testing.T) {
	j := jobOf(t, workloadOf(t, "mixtral-8x7b"))
	all := float64(j.m.Params.Routed)
	for _, tt := range []struct {
		t, e   int
		spread float64
	}{{1, 1, 1}, {1, 8, 8}, {4, 1, 4}, {4, 2, 4}, {2, 8, 8}, {8, 8, 8}} {
		k := j.cut(tt.t, 1, 1, tt.e, 8)
		near(t, "experts of a rank", k.routed, all/tt.spread, exactly)
	}
	s := search{j: j}
	for _, tt := range []struct {
		e, t, others int
		want         bool
	}{{8, 2, 4, true}, {8, 2, 2, false}, {8, 3, 8, false}, {16, 1, 16, false}, {4, 8, 1, true}} {
		if got := s.spreads(tt.e, tt.t, tt.others); got != tt.want {
			t.Errorf("%d experts' ranks of %d x %d: %v", tt.e, tt.t, tt.others, got)
		}
	}
}

// Under context parallelism a rank's queries meet the keys of each rank in a launch of its own; together they see as much as without.
func TestAttentionOfContextRanks(t *testing.T) {
	j := jobOf(t, workloadOf(t, "llama-2-7b")) // 32 heads of 128, 4096 tokens
	mc := quiet(j, 1)
	mc.core = estimate.Attention{Prefill: estimate.PrefillCurve{Compute: 1, Bandwidth: 1, Overlap: 1}, Peak: 1e12, Bandwidth: 1e15, KVBytes: 2}
	for _, c := range []int{1, 2, 8} {
		k := j.cut(1, 1, c, 1, 8/c)
		near(t, "forward of a layer", j.attention(mc, &k, 1), 4*128*32*4096*4096/2/1e12/float64(c), 1e-3)
	}
	mc.fused = false
	k := j.cut(1, 1, 1, 1, 8)
	near(t, "scores through memory", j.attention(mc, &k, 1), 2*4*128*32*4096*4096/2/1e12, 1e-3)
}

// A layer that takes the host longer to launch than the chip to do waits for the host.
func TestHostsBoundSmallWork(t *testing.T) {
	j := jobOf(t, workloadOf(t, "gpt2"))
	mc := quiet(j, 1)
	mc.multiply.Peak, mc.wide.Peak, mc.Bandwidth, mc.Multiply = 1e18, 1e18, 1e18, 1e18
	mc.multiply.Bandwidth, mc.wide.Bandwidth = 1e18, 1e18
	c := *j.c
	c.Train.HostUS = 100
	j.c = &c
	k := j.cut(1, 1, 1, 1, 8)
	w := j.work(mc, &k, 1)
	w.attention = 0
	s, _ := j.micro(mc, &k, schedule{b: 1, m: 1, virtual: 1, recompute: "none", fused: true}, &w)
	near(t, "12 layers of five passes", s.total(), 12*5*100e-6, 1e-3)
}

// Quantized weights are read narrow and written wide once a pass, forward and backward, however few tokens they meet.
func TestWideningQuantizedWeights(t *testing.T) {
	w := workloadOf(t, "llama-2-7b")
	w.Kind, w.Method, w.LoRARank = workload.Finetune, workload.QLoRA, 16
	j := jobOf(t, w)
	mc := quiet(j, 1)
	mc.Bandwidth = 1e12
	c := *j.c
	c.Train.Widening = 0.5
	j.c = &c
	k := j.cut(1, 1, 1, 1, 8)
	near(t, "a layer of 202 383 360", j.widening(mc, &k), 202383360*(4.127/8+2)/0.5e12, 1e-5)
	memory := func(recompute string) float64 {
		s, _ := j.micro(mc, &k, schedule{b: 1, m: 1, virtual: 1, recompute: recompute, fused: true}, &work{})
		return s.memory / 32 / j.widening(mc, &k)
	}
	near(t, "forward and backward", memory("none"), 2, 1e-9)
	near(t, "and forward again", memory("full"), 3, 1e-9)
}

func TestPipelineHops(t *testing.T) {
	j := jobOf(t, workloadOf(t, "llama-2-7b"))
	mc := quiet(j, 2) // two machines of eight
	for _, tt := range []struct {
		d   int
		far float64
	}{{8, 1}, {2, 0.25}, {1, 0.125}} { // a stage of d ranks, of which d in eight end their machine
		k := j.cut(1, 16/tt.d, 1, 1, tt.d)
		x, _ := mc.neighbour(&k, 1, 1e9)
		near(t, "over the network", x.network, tt.far*1e9/(1e11/8), exactly)
		near(t, "inside", x.link, (1-tt.far)*1e9/1e11, exactly)
	}
}

// Hybrid sharding holds a share an eighth and sums shares over the machines.
func TestSharesOfASubGroup(t *testing.T) {
	j := jobOf(t, workloadOf(t, "llama-2-7b"))
	j.details.Shard = 8
	mc := quiet(j, 4)
	k := j.cut(1, 1, 1, 1, 32)
	bytes := 2 * 6738415616.0
	x, _ := j.data(mc, &k, schedule{b: 1, m: 1, virtual: 1, zero: 1})
	near(t, "gradients and weights inside", x.link, 2*bytes*7/8/1e11, 1e-4)
	// Eight groups of four, each with an eighth twice.
	near(t, "sums between", x.network, 8*2*bytes/8*3/4/1e11, 1e-4)
	p := j.stage(&k, schedule{b: 1, m: 1, virtual: 1, zero: 1, recompute: "full", fused: true}, 0, k.first)
	near(t, "optimizer", p.opt, 12*6738415616.0/8, 1e-9)
	near(t, "update", j.update(&k, 1), 2*6738415616.0/8*16, 1e-9)
}

func TestMemoryAsRunsState(t *testing.T) {
	w := workloadOf(t, "llama-2-7b")
	part := func(change func(*Details), read func(*job, parts) float64) float64 {
		d := Details{}
		change(&d)
		r, err := NewRun(w, estimate.EmbeddedCurves(), d)
		if err != nil {
			t.Fatal(err)
		}
		k := r.job.cut(2, 1, 1, 1, 8)
		return read(r.job, r.job.stage(&k, schedule{b: 1, m: 1, virtual: 1, zero: 1, recompute: "none", fused: true}, 0, k.first))
	}
	activations := func(_ *job, p parts) float64 { return p.activations }
	plain := part(func(*Details) {}, activations)
	// 32 layers of 131584 bytes a token over two ranks.
	near(t, "activations", plain, 32*4096*131584/2.0, exactly)
	near(t, "45 per cent kept, one layer whole", part(func(d *Details) { d.Kept = 0.45 }, activations), plain*0.45+plain/32*0.55, 1e-9)
	near(t, "norms whole on both ranks", part(func(d *Details) { d.WholeNorms = true }, activations), plain+32*4096*8*4096/2, exactly)
	// Two norms of 4096 values at 4 bytes; both norms' outputs and the product of 11008 at 2 once more.
	near(t, "norms at 32 bit", part(func(d *Details) { d.WideNorms = true }, activations), plain+32*4096*8*4096/2, exactly)
	near(t, "inputs kept", part(func(d *Details) { d.KeptInputs = true }, activations), plain+32*4096*2*(2*4096+11008)/2, exactly)
	logits := func(_ *job, p parts) float64 { return p.logits }
	near(t, "a loss in fewer steps", part(func(d *Details) { d.LogitBytes = 6 }, logits), 4096*32000*6/2, exactly)
	near(t, "a copy of all weights", part(func(d *Details) { d.WholeCopy = true }, func(_ *job, p parts) float64 { return p.gathered }), 2*6738415616.0, exactly)
	near(t, "gradients", part(func(d *Details) { d.GradientBytes = 1 }, func(_ *job, p parts) float64 { return p.grads }), 6738415616.0/2, 1e-3)
	for counted, want := range map[Counted][2]bool{"": {true, true}, Reserved: {false, true}, Allocated: {false, false}} {
		got := [2]bool{}
		part(func(d *Details) { d.Counted = counted }, func(_ *job, p parts) float64 { got = [2]bool{p.runtime > 0, p.slack > 0}; return 0 })
		if got != want {
			t.Errorf("%q counts runtime and slack: %v", counted, got)
		}
	}
}

// Megatron keeps inputs of 8-bit multiplies at 8 bit: of Llama-2-7B's 131584 bytes a token and layer, a byte less for both norms' outputs
// and the feed-forward's product, a byte more for attention's output.
func TestNarrowActivations(t *testing.T) {
	w := workloadOf(t, "llama-2-7b")
	w.Format, w.Software.Framework = "fp8", "megatron-lm"
	near(t, "a token", jobOf(t, w).shape.act, 131584-2*4096-11008+4096, exactly)
	w.Software.Framework = "pytorch"
	near(t, "elsewhere", jobOf(t, w).shape.act, 131584, exactly)
}

func TestFrameworksOfTheMaker(t *testing.T) {
	h100, a100 := must(t, "H100-SXM-80GB"), must(t, "A100-SXM-80GB")
	for _, tt := range []struct {
		framework string
		chip      *accelerator.Accelerator
		want      bool
	}{{"torchtitan", h100, true}, {"megatron-lm", h100, false}, {"", h100, false}, {"torchtitan", a100, false}, {"maxtext", must(t, "TPU-v5p"), false}} {
		if got := plainAttention(tt.framework, tt.chip); got != tt.want {
			t.Errorf("%s on %s: %v", tt.framework, tt.chip.Name, got)
		}
	}
}

func TestWhatStaysAtSixteenBit(t *testing.T) {
	for _, tt := range []struct {
		chip    string
		p, want accelerator.Precision
	}{{"B200", accelerator.FP4, accelerator.BF16}, {"B200", accelerator.FP32, accelerator.FP32}, {"Gaudi3-PCIe", accelerator.FP8, accelerator.FP8}} {
		if got := sixteen(must(t, tt.chip), tt.p); got != tt.want {
			t.Errorf("%s at %s: %s", tt.chip, tt.p, got)
		}
	}
}

func must(t *testing.T, name string) *accelerator.Accelerator {
	t.Helper()
	a, ok := accelerator.Embedded().Get(name)
	if !ok {
		t.Fatal(name)
	}
	return a
}

// What plan says of a run and what accuracy holds against its measurement is one estimate: the job's, corrected by its tags.
func TestEstimatesAreCorrected(t *testing.T) {
	c := estimate.EmbeddedCurves()
	w, g := workloadOf(t, "llama-3.1-8b"), groupOf(t, "H100-SXM-80GB", 8, 2)
	w.Software.Framework = "torchtitan"
	at := func(c *estimate.Curves) estimate.Estimate {
		r, err := NewRun(w, c, Details{})
		if err != nil {
			t.Fatal(err)
		}
		e, refusal := r.At(g)
		if refusal != nil {
			t.Fatal(refusal)
		}
		return e
	}
	w.Layout = workload.LayoutPin{TP: 1, PP: 1, DP: 16, MicroBatch: 1, ZeRO: 3, Recompute: "full"}
	j := jobOf(t, w)
	tags := j.tags(g)
	if tags.Chip != "H100-SXM-80GB" || tags.Structure != "dense" || tags.Framework != "torchtitan" || tags.Precision != "bf16" || tags.Mode != "pretrain" || tags.Family != "llama" {
		t.Errorf("tags %+v", tags)
	}
	flat := c.Calibrated(&estimate.Calibration{Target: estimate.Training, N: 1, Base: 0}).Calibrated(&estimate.Calibration{Target: estimate.PeakMemory, N: 1})
	bent := flat.Calibrated(&estimate.Calibration{Target: estimate.Training, N: 1, Base: 0.6931471805599453,
		Intervals: map[string]estimate.Interval{"all": {Low: 0.5, High: 1.5}}, Seen: map[string]int{"chip=H100-SXM-80GB": 1}})
	raw, e := at(flat), at(bent)
	near(t, "twice as fast", e.Speed.Value, 2*raw.Speed.Value, 1e-9)
	near(t, "low", e.Speed.Low, raw.Speed.Value, 1e-9)
	near(t, "high", e.Speed.High, 3*raw.Speed.Value, 1e-9)
	if e.Speed.Like != estimate.LikeChip {
		t.Errorf("like %s", e.Speed.Like)
	}
	heavy := flat.Calibrated(&estimate.Calibration{Target: estimate.PeakMemory, N: 1, Base: 0.6931471805599453})
	near(t, "twice the memory", float64(at(heavy).Memory.Used), 2*float64(raw.Memory.Used), 1e-6)
	light := flat.Calibrated(&estimate.Calibration{Target: estimate.PeakMemory, N: 1, Base: -0.6931471805599453})
	near(t, "never less", float64(at(light).Memory.Used), float64(raw.Memory.Used), 1e-6)
}

// A run that by our count does not fit is estimated all the same: it ran.
func TestRunsThatShouldNotFit(t *testing.T) {
	w, g := workloadOf(t, "llama-3.1-70b"), groupOf(t, "A100-SXM-40GB", 1, 1)
	w.GlobalBatch = 1
	if _, refusal, _ := jobOf(t, w).Best(g); refusal == nil || refusal.Reason != estimate.NoMemory {
		t.Fatalf("refusal %+v", refusal)
	}
	r, err := NewRun(w, estimate.EmbeddedCurves(), Details{})
	if err != nil {
		t.Fatal(err)
	}
	if e, refusal := r.At(g); refusal != nil || e.Speed.Value <= 0 || e.Memory.Used < 70*unit.GiB {
		t.Errorf("%+v %+v", e.Speed, refusal)
	}
}

// Longer sequences never take less memory in the same layout.
func TestLongerContextNeverTakesLess(t *testing.T) {
	names := []string{"llama-3.1-8b", "mixtral-8x7b", "gemma-2-9b", "qwen3-next-80b-a3b", "gpt2"}
	rapid.Check(t, func(r *rapid.T) {
		w := workloadOf(t, rapid.SampledFrom(names).Draw(r, "model"))
		w.Software.Framework = rapid.SampledFrom([]string{"", "megatron-lm", "torchtitan"}).Draw(r, "framework")
		w.Format = model.Format(rapid.SampledFrom([]string{"bf16", "fp8"}).Draw(r, "format"))
		o := schedule{b: rapid.IntRange(1, 4).Draw(r, "b"), m: rapid.IntRange(1, 16).Draw(r, "m"), virtual: 1, zero: rapid.IntRange(0, 3).Draw(r, "zero"),
			recompute: rapid.SampledFrom(allRecomputes).Draw(r, "recompute"), fused: rapid.Bool().Draw(r, "fused")}
		d, p := rapid.SampledFrom([]int{1, 4, 8}).Draw(r, "d"), rapid.SampledFrom([]int{1, 2, 4}).Draw(r, "p")
		used := func(seq int) float64 {
			w.Sequence = seq
			j := jobOf(t, w)
			k := j.cut(1, p, 1, 1, d)
			return j.memory(&k, o).total()
		}
		seq := rapid.IntRange(1, 1<<17).Draw(r, "sequence")
		more := seq + rapid.IntRange(1, 1<<17).Draw(r, "more")
		if a, b := used(seq), used(more); b < a {
			r.Errorf("%d tokens take %g, %d tokens %g", seq, a, more, b)
		}
	})
}
