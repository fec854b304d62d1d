package plan_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/plan"
	"github.com/rackrate/rackrate/internal/choose/plan/plantest"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// checkPay: payments sum to the compute line, those of a mix's parts with them, and a promise leaves one request in a hundred to start cold.
func checkPay(in plan.Input, p plan.Plan, fail func(string)) {
	compute := p.Cost.Lines[0].Amount
	if p.Cost.Flow.Total() != compute {
		fail("payments sum to compute")
	}
	if p.Cost.Effective.Nanos() <= 0 {
		fail("an hour of use has a price")
	}
	if (p.Billing == catalog.Mix) != (p.Mix != nil) {
		fail("a mix says what is in it")
	}
	if p.Mix != nil {
		sum := money.Zero(in.Currency)
		for _, v := range p.Mix.Shares {
			sum = sum.Add(v.Cost)
			if !slices.Contains(in.Workload.Billing, v.Mode) || v.Machines < 1 || v.Machines > p.Instances {
				fail("the shares of a mix")
			}
		}
		if sum != compute || p.Mix.ByTheHour.Cmp(p.Mix.AtPeak) > 0 || compute.Micros() > p.Mix.ByTheHour.Micros()+100 {
			fail("what a mix comes to")
		}
	}
	slo := in.Workload.SLO
	if v := p.Serverless; v != nil && slo.TTFTp99 > 0 && p.Estimate.Serving.TTFT > slo.TTFTp99 {
		fail("the promise of a serverless service")
	}
	if share := 0.0; in.Workload.Traffic != nil {
		if share = in.Workload.Traffic.Interruptible; share > 0 && p.Billing == catalog.Spot {
			fail("the interruptible share")
		}
	}
}

// Another way of paying never makes the cheapest plan dearer.
func TestMoreWaysOfPayingNeverCostMore(t *testing.T) {
	offers := randomOffers(t)
	rapid.Check(t, func(r *rapid.T) {
		w := randomWorkload(t, r)
		w.Prefer = workload.PreferCost
		list := offers.Draw(r, "offers")
		all := plantest.Search(t, plantest.Input(w, list...))
		w.Billing = rapid.SliceOfNDistinct(rapid.SampledFrom(w.Billing), 1, 3, func(m catalog.BillingMode) catalog.BillingMode { return m }).Draw(r, "allowed")
		some := plantest.Search(t, plantest.Input(w, list...))
		switch {
		case len(some.Plans) == 0:
		case len(all.Plans) == 0:
			r.Fatalf("more ways of paying lost every plan")
		case all.Plans[0].Cost.Total.Cmp(some.Plans[0].Cost.Total) > 0:
			r.Fatalf("%v with all ways, %v with %v", all.Plans[0].Cost.Total, some.Plans[0].Cost.Total, w.Billing)
		}
	})
}

func only(t *testing.T, w *workload.Workload, prices ...catalog.Price) map[catalog.BillingMode]plan.Plan {
	t.Helper()
	w.Billing = nil
	for _, p := range prices {
		w.Billing = append(w.Billing, p.Mode)
	}
	out := map[catalog.BillingMode]plan.Plan{}
	for _, p := range plantest.Search(t, plantest.Input(w, plantest.Offer(t, plantest.Priced(prices...)))).Plans {
		out[p.Billing] = p
	}
	return out
}

// A year's term costs the same for one run as for as many as it holds, so that it wins once there are enough of them.
func TestRecurringWorkSharesATerm(t *testing.T) {
	w := plantest.LoRA(t, "llama-3.1-70b")
	w.Limits.MaxInstances = 1
	prices := []catalog.Price{plantest.Price(catalog.OnDemand, 50), plantest.Price(catalog.Reserved1Y, 30)}
	once := only(t, w, prices...)
	w.RunsPerMonth, w.Horizon = 1, unit.HoursPerYear
	monthly := only(t, w, prices...)
	hours := once[catalog.OnDemand].Time.Hours
	w.RunsPerMonth = int(0.95 * 730 / float64(hours))
	often := only(t, w, prices...)
	term := once[catalog.Reserved1Y].Cost.Lines[0].Amount
	if term.Decimal() != "262800.00" || monthly[catalog.Reserved1Y].Cost.Lines[0].Amount != term || often[catalog.Reserved1Y].Cost.Lines[0].Amount != term {
		t.Errorf("a term of %v is %v for monthly runs, %v for frequent ones", term, monthly[catalog.Reserved1Y].Cost.Lines[0].Amount, often[catalog.Reserved1Y].Cost.Lines[0].Amount)
	}
	if d := monthly[catalog.OnDemand].Cost.Lines[0].Amount.Float() / once[catalog.OnDemand].Cost.Lines[0].Amount.Float(); math.Abs(d-12) > 1e-6 {
		t.Errorf("twelve runs cost %.6f times one", d)
	}
	if monthly[catalog.OnDemand].Rank != 1 || often[catalog.Reserved1Y].Rank != 1 {
		t.Errorf("ranked %d monthly on demand, %d often reserved", monthly[catalog.OnDemand].Rank, often[catalog.Reserved1Y].Rank)
	}
	p := often[catalog.Reserved1Y]
	if p.Cost.Runs != 12*w.RunsPerMonth || math.Abs(p.Cost.PerRun.Float()*float64(p.Cost.Runs)-p.Cost.Total.Float()) > 1e-3 {
		t.Errorf("%d runs at %v of %v", p.Cost.Runs, p.Cost.PerRun, p.Cost.Total)
	}
}

// A service whose day needs several times its night: the night's machines are committed, the rest paid by the hour.
func TestAServiceWithAProfileIsMixed(t *testing.T) {
	w := plantest.Serve(t, "llama-3.1-70b", "fp8")
	w.Traffic.RequestsPerSecond = 200
	for h := range 24 {
		w.Traffic.Profile = append(w.Traffic.Profile, map[bool]float64{true: 1, false: 0.25}[h >= 8 && h < 16])
	}
	w.Horizon, w.Duration = unit.HoursPerYear, unit.HoursPerYear
	w.Traffic.Interruptible = 25
	plans := only(t, w, plantest.Price(catalog.OnDemand, 50), plantest.Price(catalog.Reserved1Y, 30), plantest.Price(catalog.Spot, 15))
	p, found := plans[catalog.Mix]
	if !found || p.Rank != 1 || len(p.Mix.Shares) != 3 {
		t.Fatalf("no mix of three ranks first: %+v", p.Mix)
	}
	day, night := p.Instances, p.Mix.Shares[0].Machines
	spot := int(0.25 * float64(day))
	byHand := float64(night)*30*8760 + (float64(day-night-spot)*50+float64(spot)*15)*8760/3
	if got := p.Cost.Lines[0].Amount.Float(); night < 1 || night >= day || math.Abs(got-byHand) > 1e-3 {
		t.Errorf("%d of %d committed: %.2f, by hand %.2f", night, day, got, byHand)
	}
	if !warned(p, "spot_share") || plans[catalog.Spot].Rank != 0 {
		t.Error("a quarter may be interrupted, and all is spot, or nothing said")
	}
	if by := plans[catalog.OnDemand].Cost.Lines[0].Amount; by != p.Mix.ByTheHour {
		t.Errorf("on demand %v, by the hour %v", by, p.Mix.ByTheHour)
	}
}

// Serverless costs little where there is little traffic, is honest about its cold starts, and keeps a worker where a promise needs one.
func TestServerlessScalesToZero(t *testing.T) {
	w := plantest.Serve(t, "llama-3.1-8b", "bf16")
	w.Traffic.RequestsPerSecond = 1e-4
	prices := []catalog.Price{plantest.Price(catalog.OnDemand, 4), plantest.Price(catalog.ServerlessPerHour, 6)}
	one := func() map[catalog.BillingMode]plan.Plan {
		w.Billing = []catalog.BillingMode{catalog.OnDemand, catalog.ServerlessPerHour}
		out := map[catalog.BillingMode]plan.Plan{}
		o := plantest.Offer(t, plantest.With(plantest.Chip(t, "H100-SXM-80GB"), 1), plantest.Priced(prices...))
		for _, p := range plantest.Search(t, plantest.Input(w, o)).Plans {
			out[p.Billing] = p
		}
		return out
	}
	idle := one()[catalog.ServerlessPerHour]
	if idle.Rank != 1 || idle.Serverless.Cold < 0.9 || !warned(idle, "serverless_cold") || idle.Estimate.Serving.TTFT < idle.Serverless.ColdStart {
		t.Errorf("hardly any traffic: rank %d, %+v, first token %v", idle.Rank, idle.Serverless, idle.Estimate.Serving.TTFT)
	}
	w.SLO.TTFTp99 = unit.FromSeconds(3)
	warm := one()[catalog.ServerlessPerHour]
	if warm.Rank != 2 || warm.Serverless.LeastWarm != 1 || !warned(warm, "serverless_warm") || warm.Cost.Lines[0].Amount.Float() < 6*730-1e-6 {
		t.Errorf("with a promise: rank %d, %+v, %v", warm.Rank, warm.Serverless, warm.Cost.Lines[0].Amount)
	}
	w.SLO.TTFTp99, w.Traffic.RequestsPerSecond = 0, 0.5
	if busy := one()[catalog.ServerlessPerHour]; busy.Rank != 2 || busy.Serverless.Workers < 0.99 {
		t.Errorf("busy: rank %d, %+v", busy.Rank, busy.Serverless)
	}
}

// Serverless workers are single machines: training over several is refused, work in pieces is not.
func TestServerlessMachinesDoNotWorkTogether(t *testing.T) {
	offer := plantest.Offer(t, plantest.Priced(plantest.Price(catalog.ServerlessPerHour, 60)))
	train := plantest.Train(t, "llama-3.1-8b")
	train.Billing, train.Limits.MinCount = []catalog.BillingMode{catalog.ServerlessPerHour}, 16
	if res := plantest.Search(t, plantest.Input(train, offer)); len(res.Plans) != 0 || res.Rejected[0].Reason != plan.BySpan {
		t.Errorf("%d plans, rejected %+v", len(res.Plans), res.Rejected)
	}
	batch := plantest.Batch(t, "llama-3.1-8b", "bf16")
	batch.Billing, batch.Limits.MinCount = train.Billing, 16
	if res := plantest.Search(t, plantest.Input(batch, offer)); len(res.Plans) == 0 {
		t.Errorf("rejected %+v", res.Rejected)
	}
}

// A price flagged as stepped falls with the hours of a machine's life; another of the same provider does not.
func TestASteppedPriceFalls(t *testing.T) {
	w := plantest.Serve(t, "llama-3.1-8b", "bf16")
	w.Billing = []catalog.BillingMode{catalog.OnDemand}
	for _, tt := range []struct {
		flags []catalog.Flag
		want  float64
	}{{nil, 730}, {[]catalog.Flag{catalog.SteppedPrice}, 96 + 264*0.5 + 370*0.34}} {
		price := plantest.Price(catalog.OnDemand, 10)
		price.Flags = tt.flags
		o := plantest.Offer(t, plantest.At("tencent", "ap-guangzhou"), plantest.With(plantest.Chip(t, "H20-96GB"), 1), plantest.Priced(price))
		p := plantest.Search(t, plantest.Input(w, o)).Plans[0]
		if got := p.Cost.Lines[0].Amount.Float() / 10 / float64(p.Instances); math.Abs(got-tt.want) > 1e-6 {
			t.Errorf("%v: %.2f hours at full price, want %.2f", tt.flags, got, tt.want)
		}
	}
}
