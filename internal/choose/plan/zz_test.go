package plan

import (
	"context"
	"testing"
	"time"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/model"
	"github.com/rackrate/rackrate/internal/facts/provider"
	"github.com/rackrate/rackrate/internal/facts/software"
)

func TestZZ(t *testing.T) {
	t0 := time.Now()
	cat, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	t.Log("catalog", time.Since(t0), len(cat.Offers))
	m, err := model.Embedded().Get("llama-3.1-70b")
	if err != nil {
		t.Fatal(err)
	}
	run := func(w *workload.Workload) {
		t0 = time.Now()
		r, err := Search(context.Background(), Input{Workload: w, Offers: cat.Offers, Providers: provider.Embedded(), Software: software.Embedded(), Curves: estimate.EmbeddedCurves(), Exchange: provider.EmbeddedExchange(), Currency: "USD", Today: "2026-11-30", Top: 12})
		if err != nil {
			t.Fatal(err)
		}
		t.Log("search", time.Since(t0), r.Searched, "feasible", r.Feasible, "folded", r.Ranked, "pareto", len(r.Pareto), r.Needs.Fits, r.Needs.Memory, r.Needs.FLOP)
		for _, p := range r.Plans {
			l := p.Estimate.Layout
			t.Logf("%2d %-10s %-28s x%d %s %-9s %6.1fh p95 %.1f $%.2f kg %v mfu %.2f tp%d pp%d dp%d mb%d z%d %s mem %s/%s %v %v also %d", p.Rank, p.Offer.Provider, p.Offer.InstanceType, p.Instances, p.Offer.Accelerator.Name, p.Price.Mode, float64(p.Time.Hours), float64(p.Time.P95Hours), p.Cost.Total.Float(), p.Carbon.Kg.Or(-1), p.Estimate.MFU, l.TP, l.PP, l.DP, l.MicroBatch, l.ZeRO, l.Recompute, p.Estimate.Memory.Used, p.Estimate.Memory.Capacity, p.Estimate.Bottleneck, p.Estimate.Serving, len(p.AlsoIn))
		}
		for _, x := range r.Rejected {
			t.Logf("  %s %d nearest %s %s x%d %s have %g want %g %s", x.Reason, x.Count, x.Nearest.Offer.Provider, x.Nearest.Offer.InstanceType, x.Nearest.Instances, x.Nearest.Quantity, x.Nearest.Have, x.Nearest.Want, x.Nearest.Text)
		}
	}
	w := &workload.Workload{Kind: workload.Finetune, Model: m, Format: "bf16", Method: workload.LoRA, LoRARank: 16, Sequence: 4096, Tokens: 2e8, GlobalBatch: 64, Optimizer: workload.AdamW, Layout: workload.LayoutPin{ZeRO: -1}, Billing: []catalog.BillingMode{"on-demand", "spot"}, Prefer: "cost"}
	w.Limits.Deadline = 72
	w.Limits.Budget = unit.Some(money.Micros(5000e6, "USD"))
	run(w)
	w.Kind, w.Method, w.Tokens, w.GlobalBatch = workload.Train, workload.Full, 2e10, 512
	w.Limits = workload.Limits{}
	run(w)
	run(&workload.Workload{Kind: workload.Serve, Model: m, Format: "fp8", Traffic: &workload.Traffic{RequestsPerSecond: 5, InputTokens: 1000, OutputTokens: 300}, SLO: workload.SLO{TTFTp99: 2.0 / 3600, TPOTp99: 0.05 / 3600}, Duration: 730, Billing: []catalog.BillingMode{"on-demand", "spot", "reserved-1y"}, Prefer: "cost"})
	run(&workload.Workload{Kind: workload.BatchInfer, Model: m, Format: "fp8", Batch: &workload.Batch{Requests: 1e6, InputTokens: 1000, OutputTokens: 300}, Billing: []catalog.BillingMode{"on-demand", "spot"}, Prefer: "cost"})
}
