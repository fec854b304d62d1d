package train

import (
	"testing"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/model"
)

func workloadOf(t testing.TB, name string) *workload.Workload {
	t.Helper()
	m, err := model.Embedded().Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return &workload.Workload{Kind: workload.Train, Model: m, Format: "bf16", Method: workload.Full, Optimizer: workload.AdamW,
		Sequence: 4096, GlobalBatch: 64, Tokens: 1e9, Layout: workload.LayoutPin{ZeRO: -1}}
}

func groupOf(t testing.TB, chip string, per, nodes int) estimate.Group {
	t.Helper()
	a, ok := accelerator.Embedded().Get(chip)
	if !ok {
		t.Fatal(chip)
	}
	return estimate.Group{Chip: a, Share: 1, PerNode: per, Nodes: nodes, Topology: catalog.NVSwitch, Network: catalog.InfiniBand, NetworkGbps: unit.Some(3200.0)}
}

// The search must find the fastest of all layouts, each of which can be asked for alone by pinning it.
func TestSearchFindsTheFastestLayout(t *testing.T) {
	for _, tt := range []struct {
		model      string
		chip       string
		per, nodes int
	}{
		{"llama-3.1-8b", "H100-SXM-80GB", 8, 2},
		{"llama-2-70b", "A100-SXM-80GB", 8, 4},
		{"mixtral-8x7b", "H200-SXM-141GB", 8, 2},
		{"llama-2-13b", "A100-SXM-40GB", 8, 1},
	} {
		w, g := workloadOf(t, tt.model), groupOf(t, tt.chip, tt.per, tt.nodes)
		best := 0.0
		experts := 1
		if w.Model.MoE != nil {
			experts = w.Model.MoE.Experts
		}
		pinned := func(l workload.LayoutPin) {
			v := *w
			v.Layout = l
			j, err := New(&v, estimate.EmbeddedCurves())
			if err != nil {
				t.Fatal(err)
			}
			if e, refusal, _ := j.Best(g); refusal == nil {
				best = max(best, e.Speed.Value)
			}
		}
		for tp := 1; tp <= tt.per; tp *= 2 {
			for pp := 1; pp <= 8; pp *= 2 {
				for ep := 1; ep <= experts; ep *= 2 {
					for mb := 1; mb <= 16; mb *= 2 {
						for _, zero := range []int{0, 1, 3} {
							for _, re := range []string{"none", "full"} {
								if zero == 0 || zero == 3 && pp > 1 {
									continue // left to ZeRO-1, which is never slower, and to the frameworks that have it
								}
								pinned(workload.LayoutPin{TP: tp, PP: pp, EP: ep, MicroBatch: mb, ZeRO: zero, Recompute: re})
							}
						}
					}
				}
			}
		}
		j, err := New(w, estimate.EmbeddedCurves())
		if err != nil {
			t.Fatal(err)
		}
		e, refusal, _ := j.Best(g)
		if refusal != nil {
			t.Fatalf("%s: %+v", tt.model, refusal)
		}
		if e.Speed.Value < best*(1-1e-12) {
			t.Errorf("%s on %s: found %.0f tokens/s, pinned layouts reach %.0f", tt.model, tt.chip, e.Speed.Value, best)
		}
	}
}

func BenchmarkLayouts(b *testing.B) {
	for _, size := range []struct {
		name  string
		nodes int
	}{{"8 accelerators", 1}, {"64 accelerators", 8}, {"1024 accelerators", 128}} {
		b.Run(size.name, func(b *testing.B) {
			j, err := New(workloadOf(b, "llama-3.1-70b"), estimate.EmbeddedCurves())
			if err != nil {
				b.Fatal(err)
			}
			g := groupOf(b, "H100-SXM-80GB", 8, size.nodes)
			layouts := 0
			for b.Loop() {
				_, _, n := j.Best(g)
				layouts += n
			}
			b.ReportMetric(float64(layouts)/b.Elapsed().Seconds(), "layouts/s")
		})
	}
}
