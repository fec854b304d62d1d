package plan_test

import (
	"slices"
	"testing"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/plan"
	"github.com/rackrate/rackrate/internal/choose/plan/plantest"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// Runs that do not fit into a month one after another go on at once: the reader is told, and limits on counts hold for all of them.
func TestRunsAtOnceKeepToTheLimits(t *testing.T) {
	w := plantest.LoRA(t, "llama-3.1-70b")
	w.Billing = []catalog.BillingMode{catalog.OnDemand}
	w.Limits.MaxInstances = 1
	one := plantest.Search(t, plantest.Input(w, plantest.Offer(t))).Plans[0]
	w.RunsPerMonth, w.Horizon = int(730/float64(one.Time.Hours))+1, unit.HoursPerYear
	res := plantest.Search(t, plantest.Input(w, plantest.Offer(t)))
	if len(res.Plans) != 0 || res.Rejected[0].Reason != plan.ByCount || res.Rejected[0].Nearest.Have != 2 {
		t.Errorf("two machines at once of one: %d plans, rejected %+v", len(res.Plans), res.Rejected)
	}
	w.Limits.MaxInstances = 2
	p := plantest.Search(t, plantest.Input(w, plantest.Offer(t))).Plans[0]
	i := slices.IndexFunc(p.Warnings, func(v plan.Warning) bool { return v.Code == "runs_overlap" })
	if i < 0 || p.Warnings[i].Args["Count"] != 2 || p.Warnings[i].Args["Accelerators"] != 16 {
		t.Errorf("two runs at once: %+v", p.Warnings)
	}
	marketplace := plantest.Offer(t)
	marketplace.Flags = []catalog.Flag{catalog.Marketplace}
	if res := plantest.Search(t, plantest.Input(w, marketplace)); len(res.Plans) != 0 {
		t.Errorf("one machine does the work of two")
	}
}

// A replica that spans machines cannot be serverless, and the reason counts its accelerators, not the fleet's.
func TestServerlessSpanCountsTheReplica(t *testing.T) {
	w := plantest.Serve(t, "llama-3.1-70b", "bf16")
	w.Billing, w.Traffic.RequestsPerSecond = []catalog.BillingMode{catalog.ServerlessPerHour}, 50
	o := plantest.Offer(t, plantest.With(plantest.Chip(t, "H100-SXM-80GB"), 1), plantest.Priced(plantest.Price(catalog.ServerlessPerHour, 6)))
	w.Billing = append(w.Billing, catalog.OnDemand)
	both := plantest.Offer(t, plantest.With(o.Accelerator, 1), plantest.Priced(plantest.Price(catalog.OnDemand, 6)))
	each := plantest.Search(t, plantest.Input(w, both)).Plans[0].Estimate.Serving.AcceleratorsPerReplica
	res := plantest.Search(t, plantest.Input(w, o))
	if len(res.Plans) != 0 || res.Rejected[0].Reason != plan.BySpan || res.Rejected[0].Nearest.Want != float64(each) || each < 2 {
		t.Errorf("%d plans, %d accelerators a replica, rejected %+v", len(res.Plans), each, res.Rejected[0].Nearest)
	}
}

// Where a whole term is charged the reader is not told that less is.
func TestATermThatOutlastsTheWorkIsCounted(t *testing.T) {
	w := plantest.LoRA(t, "llama-3.1-70b")
	p := only(t, w, plantest.Price(catalog.Reserved1Y, 30))[catalog.Reserved1Y]
	if !warned(p, "commitment_outlasts") || warned(p, "commitment_beyond_job") {
		t.Errorf("a term that is charged whole: %+v", p.Warnings)
	}
	s := only(t, plantest.Serve(t, "llama-3.1-70b", "fp8"), plantest.Price(catalog.Reserved1Y, 30))[catalog.Reserved1Y]
	if warned(s, "commitment_outlasts") || !warned(s, "commitment_beyond_job") {
		t.Errorf("a term of which a share is charged: %+v", s.Warnings)
	}
}

// What is doubtful about any of a mix's prices is said, and how old the oldest is.
func TestAMixWarnsOfEachPrice(t *testing.T) {
	w := plantest.Serve(t, "llama-3.1-70b", "fp8")
	w.Traffic.RequestsPerSecond = 200
	for h := range 24 {
		w.Traffic.Profile = append(w.Traffic.Profile, map[bool]float64{true: 1, false: 0.25}[h >= 8 && h < 16])
	}
	onDemand, unbought := plantest.Price(catalog.OnDemand, 50), plantest.Price(catalog.Reserved3Y, 49)
	onDemand.AsOf, onDemand.Flags, unbought.AsOf = "2026-06-01", []catalog.Flag{catalog.DateUnknown}, "2024-01-01"
	p := only(t, w, onDemand, plantest.Price(catalog.Reserved1Y, 30), unbought)[catalog.Mix]
	i := slices.IndexFunc(p.Warnings, func(v plan.Warning) bool { return v.Code == "price_old" })
	if !warned(p, "price_date_unknown") || i < 0 || p.Warnings[i].Args["AsOf"] != "2026-06-01" {
		t.Errorf("%+v", p.Warnings)
	}
}
