package plan_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/plan"
	"github.com/rackrate/rackrate/internal/choose/plan/plantest"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/provider"
)

// The cheapest plan on demand is found by trying everything with plain arithmetic: every offer, number of machines and
// nothing clever. Local disks are large enough here, so that compute and two kept checkpoints are the only cost.
func TestBruteForceAgrees(t *testing.T) {
	offers := randomOffers(t)
	rapid.Check(t, func(r *rapid.T) {
		w := plantest.LoRA(t, "llama-3.1-8b")
		w.Tokens = rapid.Float64Range(1e6, 1e9).Draw(r, "tokens")
		w.Billing = []catalog.BillingMode{catalog.OnDemand}
		w.Limits.Deadline = unit.Hours(rapid.Float64Range(0.5, 200).Draw(r, "deadline"))
		w.Limits.MaxCount = 64
		var list []*catalog.Offer
		for _, o := range offers.Draw(r, "offers") {
			if p, ok := provider.Embedded().Provider(o.Provider); ok && p.ObjectPerGBMo.Known() {
				list = append(list, o)
			}
		}
		best := math.Inf(1)
		for _, o := range list {
			best = min(best, cheapest(t, w, o))
		}
		res := plantest.Search(t, plantest.Input(w, list...))
		switch {
		case len(res.Plans) == 0 && !math.IsInf(best, 1):
			r.Fatalf("nothing found; brute force finds %.4f", best)
		case len(res.Plans) > 0 && math.Abs(res.Plans[0].Cost.Total.Float()-best) > 1e-4*best+1e-5:
			r.Fatalf("found %v; brute force finds %.6f", res.Plans[0].Cost.Total, best)
		}
	})
}

func cheapest(t *testing.T, w *workload.Workload, o *catalog.Offer) float64 {
	pr, ok := o.Mode(catalog.OnDemand)
	if !ok {
		return math.Inf(1)
	}
	hourly, _ := provider.EmbeddedExchange().Rate(pr.Hourly, money.USD)
	job, err := plan.NewJob(w, estimate.EmbeddedCurves())
	if err != nil {
		t.Fatal(err)
	}
	best := math.Inf(1)
	for k := 1; k*int(math.Ceil(o.Count)) <= 64; k++ {
		onLadder := k&(k-1) == 0 || k%3 == 0 && (k/3)&(k/3-1) == 0
		if !onLadder || o.Count < 1 && k > 1 {
			continue
		}
		e, refusal, _ := job.Best(plan.Group(o.Machine, k))
		if refusal != nil {
			continue
		}
		hours := float64(e.Hours) + 0.1 // six minutes to start
		if hours > float64(w.Limits.Deadline) {
			continue
		}
		p, _ := provider.Embedded().Provider(o.Provider)
		seconds := hours * 3600
		if step, ok := p.BillingGranularity.Get(); ok {
			seconds = math.Ceil(seconds/step.Seconds()-1e-9) * step.Seconds()
		}
		if least, ok := p.MinimumCharge.Get(); ok {
			seconds = max(seconds, least.Seconds())
		}
		object, _ := p.ObjectPerGBMo.Get()
		kept, _ := provider.EmbeddedExchange().Amount(object.For(2*float64(e.Checkpoint)/1e9*hours/730), money.USD)
		best = min(best, hourly.Float()*float64(k)*seconds/3600+kept.Float())
	}
	return best
}
