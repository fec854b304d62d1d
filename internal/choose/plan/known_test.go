package plan_test

import (
	"testing"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/plan"
	"github.com/rackrate/rackrate/internal/choose/plan/plantest"
	"github.com/rackrate/rackrate/internal/choose/workload"
)

// size asks whether a workload fits so many of a chip.
func size(t *testing.T, w *workload.Workload, chip string, count int) *plan.Sizing {
	t.Helper()
	s, err := plan.SizeOf(plan.SizeInput{Workload: w, Curves: estimate.EmbeddedCurves(), Chip: plantest.Chip(t, chip), Count: count})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What everyone in the field knows must come out.
func TestWellKnownAnswers(t *testing.T) {
	full := func(name string) *workload.Workload {
		w := plantest.Train(t, name)
		w.Kind, w.GlobalBatch = workload.Finetune, 32
		return w
	}
	qlora := plantest.LoRA(t, "llama-3.1-70b")
	qlora.Method, qlora.Sequence, qlora.GlobalBatch = workload.QLoRA, 1024, 16
	tests := []struct {
		name  string
		w     *workload.Workload
		chip  string
		count int
		fits  bool
	}{
		{"Llama-3.1-70B LoRA on one node of 8 x 80 GB", plantest.LoRA(t, "llama-3.1-70b"), "H100-SXM-80GB", 8, true},
		{"Llama-3.1-70B LoRA on one 80 GB card", plantest.LoRA(t, "llama-3.1-70b"), "H100-SXM-80GB", 1, false},
		{"Llama-3.1-70B QLoRA on one 80 GB card", qlora, "A100-SXM-80GB", 1, true},
		{"Llama-3.1-70B full on one node of 8 x 80 GB", full("llama-3.1-70b"), "H100-SXM-80GB", 8, false},
		{"Llama-3.1-405B at FP8 on 8 x H100", plantest.Serve(t, "llama-3.1-405b", "fp8"), "H100-SXM-80GB", 8, true},
		{"Llama-3.1-405B at BF16 on 8 x H100", plantest.Serve(t, "llama-3.1-405b", "bf16"), "H100-SXM-80GB", 8, false},
		{"Llama-3.1-405B at BF16 on 8 x H200", plantest.Serve(t, "llama-3.1-405b", "bf16"), "H200-SXM-141GB", 8, true},
		{"DeepSeek-V3 at FP8 on 8 x 80 GB", plantest.Serve(t, "deepseek-v3", "fp8"), "H100-SXM-80GB", 8, false},
		{"DeepSeek-V3 at FP8 on 8 x H200", plantest.Serve(t, "deepseek-v3", "fp8"), "H200-SXM-141GB", 8, true},
		{"7B full fine-tune on one 24 GB card", full("llama-2-7b"), "RTX-4090", 1, false},
		{"7B full fine-tune on 8 x 80 GB", full("llama-2-7b"), "A100-SXM-80GB", 8, true},
		{"Llama-3.1-8B LoRA on one 24 GB card", func() *workload.Workload {
			w := plantest.LoRA(t, "llama-3.1-8b")
			w.Sequence, w.GlobalBatch = 2048, 16
			return w
		}(), "RTX-4090", 1, true},
		{"Llama-3.1-8B at BF16 on one 24 GB card", plantest.Serve(t, "llama-3.1-8b", "bf16"), "RTX-4090", 1, true},
		{"Llama-3.1-70B at BF16 on one 80 GB card", plantest.Serve(t, "llama-3.1-70b", "bf16"), "H100-SXM-80GB", 1, false},
		{"Llama-3.1-70B at AWQ on one 80 GB card", plantest.Serve(t, "llama-3.1-70b", "awq"), "A100-SXM-80GB", 1, true},
		{"Mixtral-8x7B at BF16 on one 80 GB card", plantest.Serve(t, "mixtral-8x7b", "bf16"), "A100-SXM-80GB", 1, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := size(t, tt.w, tt.chip, tt.count)
			if fits := s.Estimate != nil; fits != tt.fits {
				t.Fatalf("fits %v, want %v (refusal %+v)", fits, tt.fits, s.Refusal)
			}
			if !tt.fits && s.Refusal.Reason != estimate.NoMemory {
				t.Errorf("refused for %s, want memory", s.Refusal.Reason)
			}
		})
	}
}

// The estimate must change with what it rests on (cases.md, rules of thumb): batch, sequence, recomputation, ZeRO, LoRA.
func TestRulesOfThumbAreNotEnough(t *testing.T) {
	used := func(change func(*workload.Workload)) unit.Bytes {
		t.Helper()
		w := plantest.Train(t, "llama-2-7b")
		w.Layout = workload.LayoutPin{TP: 1, PP: 1, CP: 1, MicroBatch: 1, ZeRO: 3, Recompute: "none"}
		change(w)
		s := size(t, w, "H200-SXM-141GB", 8)
		if s.Estimate == nil {
			t.Fatalf("does not fit: %+v", s.Refusal)
		}
		return s.Estimate.Memory.Used
	}
	base := used(func(*workload.Workload) {})
	for _, tt := range []struct {
		name   string
		change func(*workload.Workload)
		more   bool
	}{
		{"twice the micro-batch", func(w *workload.Workload) { w.Layout.MicroBatch = 2 }, true},
		{"twice the sequence", func(w *workload.Workload) { w.Sequence *= 2 }, true},
		{"full recomputation", func(w *workload.Workload) { w.Layout.Recompute = "full" }, false},
		{"ZeRO-1", func(w *workload.Workload) { w.Layout.ZeRO = 1 }, true},
		{"tensor parallel", func(w *workload.Workload) { w.Layout.TP = 2 }, false},
		{"8-bit optimizer", func(w *workload.Workload) { w.Optimizer = workload.AdamW8bit }, false},
		{"LoRA", func(w *workload.Workload) { w.Kind, w.Method, w.LoRARank = workload.Finetune, workload.LoRA, 16 }, false},
	} {
		if got := used(tt.change); got == base || got > base != tt.more {
			t.Errorf("%s: %v against %v", tt.name, got, base)
		}
	}
}

// MLA and compute buffers (cases.md 11): DeepSeek-V2-Lite at 32K holds latents of 576 values a token and layer, not its heads, and the
// prefill's buffers besides.
func TestLatentCacheAndWorkspace(t *testing.T) {
	w := plantest.Serve(t, "deepseek-v2-lite", "bf16")
	w.Traffic.InputTokens, w.Traffic.OutputTokens, w.Traffic.RequestsPerSecond = 32000, 768, 0.01
	s := size(t, w, "A100-SXM-80GB", 1)
	if s.Estimate == nil {
		t.Fatalf("does not fit: %+v", s.Refusal)
	}
	parts := map[string]unit.Bytes{}
	for _, p := range s.Estimate.Memory.Parts {
		parts[p.Name] = p.Bytes
	}
	each := parts["kv_cache"] / unit.Bytes(s.Estimate.Serving.Concurrency)
	if want := unit.Bytes(32768 * 27 * 576 * 2); each != want {
		t.Errorf("a sequence holds %d bytes, want %d", each, want)
	}
	if parts["workspace"] < 200*unit.MB {
		t.Errorf("workspace is %v", parts["workspace"])
	}
}

// A batch that the KV budget cannot hold is never planned (cases.md 14).
func TestConcurrencyStaysInsideTheCache(t *testing.T) {
	for _, chip := range []string{"A100-SXM-40GB", "H100-SXM-80GB", "L40S"} {
		w := plantest.Batch(t, "llama-2-13b", "bf16")
		w.Batch.InputTokens, w.Batch.OutputTokens = 3000, 1000
		s := size(t, w, chip, 1)
		if s.Estimate == nil {
			t.Fatalf("%s: %+v", chip, s.Refusal)
		}
		full := w.Model.KVBytes(4000, 16)
		room := float64(s.Estimate.Memory.Capacity) - float64(w.Model.WeightBytes(mustFormat(t, "bf16")))
		if held := float64(s.Estimate.Serving.Concurrency) * full; held > room {
			t.Errorf("%s: %d sequences hold %.1f GB of %.1f", chip, s.Estimate.Serving.Concurrency, held/1e9, room/1e9)
		}
	}
}

// MoE activations follow the tokens routed, not the dense width (cases.md 11).
func TestExpertsActivateWhatIsRouted(t *testing.T) {
	few, many := plantest.Train(t, "mixtral-8x7b"), plantest.Train(t, "mixtral-8x7b")
	wide := *many.Model
	moe := *wide.MoE
	moe.TopK = 4
	wide.MoE = &moe
	many.Model = &wide
	act := func(w *workload.Workload) unit.Bytes {
		w.Layout = workload.LayoutPin{TP: 8, PP: 1, CP: 1, EP: 1, MicroBatch: 1, ZeRO: 1, Recompute: "none"}
		s := size(t, w, "B300", 64)
		if s.Estimate == nil {
			t.Fatalf("%+v", s.Refusal)
		}
		for _, p := range s.Estimate.Memory.Parts {
			if p.Name == "activations" {
				return p.Bytes
			}
		}
		return 0
	}
	a, b := act(few), act(many)
	if b <= a || float64(b) > 1.9*float64(a) {
		t.Errorf("activations of 2 and 4 experts a token: %v and %v", a, b)
	}
}
