package plan_test

import (
	"testing"

	"github.com/rackrate/rackrate/internal/choose/plan"
	"github.com/rackrate/rackrate/internal/choose/plan/plantest"
	"github.com/rackrate/rackrate/internal/choose/workload"
)

// Work that no deadline could allow is no plan, though none was set.
func TestNoPlanTakesTenYears(t *testing.T) {
	w, err := workload.FromFlags(map[string]string{"kind": "hash", "algorithm": "md5", "keyspace": "95^20"}, nil, workload.EmbeddedFacts())
	if err != nil {
		t.Fatal(err)
	}
	r := plantest.Search(t, plantest.Input(w, plantest.Offer(t)))
	if len(r.Plans) > 0 || len(r.Rejected) != 1 || r.Rejected[0].Reason != plan.ByDeadline {
		t.Errorf("%d plans, rejected %+v", len(r.Plans), r.Rejected)
	}
}

// A method or a format that only some chips have kernels for does not run on the others, though the weights fit and nobody
// named the software.
func TestFormatsRunWhereTheirKernelsAre(t *testing.T) {
	qlora := plantest.LoRA(t, "llama-3.1-8b")
	qlora.Method = workload.QLoRA
	for _, tt := range []struct {
		name, chip string
		w          *workload.Workload
		want       plan.Reason // empty: it runs
	}{
		{"QLoRA on a GPU", "A100-SXM-80GB", qlora, ""},
		{"QLoRA on a TPU", "TPU-v6e", qlora, plan.BySoftwareUnknown},
		{"LoRA on a TPU", "TPU-v6e", plantest.LoRA(t, "llama-3.1-8b"), ""},
		{"AWQ on Volta", "V100-SXM2-32GB", plantest.Serve(t, "llama-3.1-8b", "awq"), plan.BySoftware},
		{"AWQ on Ampere", "A100-SXM-80GB", plantest.Serve(t, "llama-3.1-8b", "awq"), ""},
		{"GGUF on a GPU", "A100-SXM-80GB", plantest.Serve(t, "llama-3.1-8b", "q4_k_m"), ""},
		{"GGUF on a TPU", "TPU-v6e", plantest.Serve(t, "llama-3.1-8b", "q4_k_m"), plan.BySoftwareUnknown},
		{"NVFP4 on a TPU", "TPU-v6e", plantest.Serve(t, "llama-3.1-8b", "nvfp4"), plan.BySoftware},
		{"NVFP4 unpacked on Hopper", "H100-SXM-80GB", plantest.Serve(t, "llama-3.1-8b", "nvfp4"), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := plantest.Search(t, plantest.Input(tt.w, plantest.Offer(t, plantest.With(plantest.Chip(t, tt.chip), 8))))
			switch {
			case tt.want == "" && len(r.Plans) == 0:
				t.Errorf("no plan: %+v", r.Rejected)
			case tt.want != "" && (len(r.Rejected) != 1 || r.Rejected[0].Reason != tt.want):
				t.Errorf("%d plans, rejected %+v, want %s", len(r.Plans), r.Rejected, tt.want)
			}
		})
	}
}
