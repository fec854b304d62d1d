package plan_test

import (
	"math"
	"testing"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/plan"
	"github.com/rackrate/rackrate/internal/choose/plan/plantest"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/provider"
)

// The tests here are the kinds of trouble that users of such tools reported (cases.md), named after their kind.

// Stale price (2): a price limit on age filters, and of equal plans the fresher wins.
func TestStalePrice(t *testing.T) {
	old, fresh := plantest.Price(catalog.OnDemand, 40), plantest.Price(catalog.OnDemand, 40)
	old.AsOf = "2025-01-10"
	offers := []*catalog.Offer{
		plantest.Offer(t, plantest.Named("a-old"), plantest.Priced(old)),
		plantest.Offer(t, plantest.Named("b-fresh"), plantest.Priced(fresh)),
	}
	w := plantest.LoRA(t, "llama-3.1-70b")
	res := plantest.Search(t, plantest.Input(w, offers...))
	if len(res.Plans) != 2 || res.Plans[0].Offer.InstanceType != "b-fresh" {
		t.Errorf("the fresher of equal plans is not first: %v", identity(res))
	}
	if !warned(res.Plans[1], "price_old") {
		t.Error("an old price is not warned of")
	}
	w.Limits.MaxPriceAgeDays = 30
	res = plantest.Search(t, plantest.Input(w, offers...))
	if len(res.Plans) != 1 {
		t.Fatalf("%d plans", len(res.Plans))
	}
	near := rejection(t, res, plan.ByPriceAge).Nearest
	if near.Offer.InstanceType != "a-old" || near.Have != 689 || near.Want != 30 || near.Quantity != "days" {
		t.Errorf("nearest miss is %+v", near)
	}
}

// Disk and egress missing from the cost (3): a 1 TB dataset, 2 TB of checkpoints out and a 500 GB disk differ from the compute-only price by
// exactly the hand-computed sum.
func TestDiskAndEgressAreInTheCost(t *testing.T) {
	offer := plantest.Offer(t)
	offer.NVMe = unit.Some(unit.Bytes(0))
	w := plantest.LoRA(t, "llama-3.1-70b")
	w.Limits.MaxInstances = 1
	w.Billing = []catalog.BillingMode{catalog.OnDemand}
	w.Data.Disk = 1 // a byte: nothing
	bare := plantest.Search(t, plantest.Input(w, offer)).Plans[0]
	w.Data = workload.Data{Size: unit.TB, Egress: 2 * unit.TB, Disk: 500 * unit.GB}
	p := plantest.Search(t, plantest.Input(w, offer)).Plans[0]

	aws, _ := provider.Embedded().Provider("aws")
	months := float64(p.Time.Hours) / 730
	quote := func(m unit.Maybe[provider.Quote]) float64 { q, _ := m.Get(); return float64(q.Nanos) / 1e9 }
	want := quote(aws.BlockPerGBMo)*500*months + quote(aws.ObjectPerGBMo)*1000*months + quote(aws.EgressPerGB)*(2000-aws.FreeEgressGB.Or(0))
	got := p.Cost.Total.Float() - bare.Cost.Total.Float()
	if math.Abs(got-want) > 1e-5 {
		t.Errorf("storage and egress add %.6f, by hand %.6f", got, want)
	}
	if lines := len(p.Cost.Lines); lines != 3 {
		t.Errorf("%d lines, want compute, storage and egress: %+v", lines, p.Cost.Lines)
	}
}

// Form factors merged (6) and a filter that hides valid offers (7): H100 takes all three forms, H100-SXM no PCIe, and a filter that an
// offer satisfies keeps it.
func TestFormFactorsAndFilters(t *testing.T) {
	var offers []*catalog.Offer
	for _, name := range []string{"H100-SXM-80GB", "H100-PCIe-80GB", "H100-NVL-94GB"} {
		offers = append(offers, plantest.Offer(t, plantest.Named(name), plantest.With(plantest.Chip(t, name), 8)))
	}
	for _, tt := range []struct {
		grammar string
		want    int
	}{{"H100", 3}, {"H100-SXM", 1}, {"h100 pcie", 1}, {"80GB", 2}, {"80GB..", 3}, {"H100:8", 3}, {"H100:4..8", 3}, {":1..8", 3}} {
		w := plantest.LoRA(t, "llama-3.1-70b")
		w.Limits.Accelerators = selectors(t, tt.grammar)
		res := plantest.Search(t, plantest.Input(w, offers...))
		if res.OffersFit != tt.want {
			t.Errorf("%s: %d offers, want %d", tt.grammar, res.OffersFit, tt.want)
		}
		if tt.want < 3 && rejection(t, res, plan.ByAccelerator).Count != 3-tt.want {
			t.Errorf("%s: the output does not say what the filter removed", tt.grammar)
		}
	}
}

// "No offers" without a reason (9): nothing fits, and each reason comes with its nearest miss and by how much.
func TestNothingFitsSaysWhy(t *testing.T) {
	w := plantest.LoRA(t, "llama-3.1-70b")
	w.Limits.Budget = unit.Some(money.Micros(5e6, money.USD))
	w.Limits.Regions = []string{"us"}
	w.Limits.MaxInstances = 1
	small := plantest.Offer(t, plantest.Named("small"), plantest.With(plantest.Chip(t, "RTX-4090"), 1), func(o *catalog.Offer) { o.NetworkGbps = unit.None[float64]() })
	medium := plantest.Offer(t, plantest.Named("medium"), plantest.With(plantest.Chip(t, "L40S"), 2), func(o *catalog.Offer) { o.NetworkGbps = unit.None[float64]() })
	res := plantest.Search(t, plantest.Input(w, small, medium, plantest.Offer(t, plantest.Named("big")), plantest.Offer(t, plantest.Named("abroad"), plantest.At("aws", "eu-central-1"))))
	if len(res.Plans) != 0 || res.OffersFit != 0 {
		t.Fatalf("plans: %v", identity(res))
	}
	memory := rejection(t, res, "memory")
	if memory.Count != 2 || memory.Nearest.Offer.InstanceType != "medium" || memory.Nearest.Quantity != "bytes" || memory.Nearest.Want <= memory.Nearest.Have {
		t.Errorf("memory: %d, nearest %+v", memory.Count, memory.Nearest)
	}
	if b := rejection(t, res, plan.ByBudget).Nearest; b.Have <= b.Want || b.Quantity != "money" {
		t.Errorf("budget: %+v", b)
	}
	if r := rejection(t, res, plan.ByRegion); r.Nearest.Text != "us" || r.Nearest.Offer.InstanceType != "abroad" {
		t.Errorf("region: %+v", r.Nearest)
	}
}

// Price in the wrong unit (10): hours are hours, and 730 is applied to monthly storage alone.
func TestHourlyStaysHourly(t *testing.T) {
	w := plantest.LoRA(t, "llama-3.1-70b")
	w.Billing = []catalog.BillingMode{catalog.OnDemand}
	p := plantest.Search(t, plantest.Input(w, plantest.Offer(t))).Plans[0]
	want := 55 * float64(p.Instances) * math.Ceil(p.Time.Hours.Seconds()) / 3600
	if got := p.Cost.Lines[0].Amount.Float(); math.Abs(got-want) > 1e-5 {
		t.Errorf("%d machines for %v h at 55 cost %.6f, want %.6f", p.Instances, p.Time.Hours, got, want)
	}
}

// TPOT defined two ways (13): it is over the tokens after the first.
func TestEndToEndIsFirstTokenPlusTheRest(t *testing.T) {
	w := plantest.Serve(t, "llama-3.1-8b", "bf16")
	p := plantest.Search(t, plantest.Input(w, plantest.Offer(t))).Plans[0]
	s := p.Estimate.Serving
	n := float64(w.Traffic.OutputTokens)
	if s.E2E <= s.TTFT || float64(s.E2E) > float64(s.TTFT)+float64(s.TPOT)*(n-1)*1.0001 {
		t.Errorf("end to end %v, first token %v, each token %v", s.E2E, s.TTFT, s.TPOT)
	}
}

// No statement of error (15): every plan has an interval around its speed, and says where nothing like it was measured.
func TestEveryPlanStatesItsInterval(t *testing.T) {
	w := plantest.Batch(t, "llama-3.1-8b", "fp16")
	res := plantest.Search(t, plantest.Input(w, plantest.Offer(t), plantest.Offer(t, plantest.Named("ascend"), plantest.With(plantest.Chip(t, "Ascend-910B2"), 8))))
	if len(res.Plans) != 2 {
		t.Fatalf("%+v", res.Rejected)
	}
	for _, p := range res.Plans {
		s := p.Estimate.Speed
		if !(s.Low < s.Value && s.Value < s.High) || s.Basis == "" || s.Source == "" || s.Like == "" {
			t.Errorf("%s: %+v", p.Offer.InstanceType, s)
		}
		if far := p.Offer.InstanceType == "ascend"; far != warned(p, "nothing_like_it") {
			t.Errorf("%s: warnings %+v", p.Offer.InstanceType, p.Warnings)
		}
	}
}

// A reading rate that the workload states is held against the machine, unless its disks hold the data.
func TestStatedReadingRateIsHeldAgainstTheMachine(t *testing.T) {
	w := plantest.LoRA(t, "llama-3.1-70b")
	w.Limits.MaxInstances = 1
	for _, tt := range []struct {
		read unit.BytesPerSec
		size unit.Bytes
		gbps unit.Maybe[float64]
		want string
	}{
		{1e9, 100 * unit.TB, unit.Some(3200.0), ""},
		{1e12, 100 * unit.TB, unit.Some(3200.0), "input_slow"},
		{1e12, unit.TB, unit.Some(3200.0), ""},
		{1e9, 100 * unit.TB, unit.None[float64](), "input_unknown"},
	} {
		w.Data = workload.Data{Read: tt.read, Size: tt.size}
		p := plantest.Search(t, plantest.Input(w, plantest.Offer(t, func(o *catalog.Offer) { o.NetworkGbps = tt.gbps }))).Plans[0]
		for _, code := range []string{"input_slow", "input_unknown"} {
			if warned(p, code) != (code == tt.want) {
				t.Errorf("%+v: %s is %v", tt, code, warned(p, code))
			}
		}
	}
}

func warned(p plan.Plan, code string) bool {
	for _, w := range p.Warnings {
		if w.Code == code {
			return true
		}
	}
	return false
}

func rejection(t *testing.T, res *plan.Result, reason plan.Reason) plan.Rejection {
	t.Helper()
	for _, x := range res.Rejected {
		if x.Reason == reason {
			return x
		}
	}
	t.Fatalf("nothing is rejected for %s: %+v", reason, res.Rejected)
	return plan.Rejection{}
}
