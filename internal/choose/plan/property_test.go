package plan_test

import (
	"fmt"
	"math"
	"math/rand"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/plan"
	"github.com/rackrate/rackrate/internal/choose/plan/plantest"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

var places = [][2]string{{"aws", "us-east-1"}, {"aws", "eu-central-1"}, {"gcp", "europe-west4"}, {"azure", "eastus"}, {"nebius", "eu-north1"}, {"alibaba", "cn-beijing"}, {"lambda", "us-west-1"}, {"nowhere", "unknown-1"}}

// randomOffers draws a small catalog with holes in it: unknown prices, networks, memory and places.
func randomOffers(t *testing.T) *rapid.Generator[[]*catalog.Offer] {
	chips := []*accelerator.Accelerator{}
	for _, n := range []string{"H100-SXM-80GB", "A100-PCIe-40GB", "L40S", "V100-SXM2-16GB", "MI300X", "Trainium1", "RTX-4090", "Ascend-910B2"} {
		chips = append(chips, plantest.Chip(t, n))
	}
	return rapid.Custom(func(r *rapid.T) []*catalog.Offer {
		n := rapid.IntRange(1, 12).Draw(r, "offers")
		offers := make([]*catalog.Offer, n)
		for i := range offers {
			where := rapid.SampledFrom(places).Draw(r, "place")
			count := rapid.SampledFrom([]float64{0.5, 1, 2, 4, 8}).Draw(r, "count")
			o := plantest.Offer(t, plantest.Named(fmt.Sprintf("m%d", i)), plantest.At(where[0], where[1]), plantest.With(rapid.SampledFrom(chips).Draw(r, "chip"), count), plantest.Priced())
			if rapid.Bool().Draw(r, "no network") {
				o.NetworkGbps, o.Network = unit.None[float64](), catalog.UnknownNet
			}
			for _, mode := range []catalog.BillingMode{catalog.OnDemand, catalog.Spot, catalog.Reserved1Y, catalog.Reserved3YAll, catalog.ServerlessPerHour} {
				if rapid.Bool().Draw(r, "priced") {
					p := plantest.Price(mode, rapid.Float64Range(0.05, 120).Draw(r, "price"))
					if where[0] == "alibaba" {
						p.Hourly = money.PerHour(p.Hourly.Nanos(), money.CNY)
					}
					p.AsOf = rapid.SampledFrom([]string{"2026-11-01", "2026-01-15", "2024-10-09"}).Draw(r, "day")
					o.Prices = append(o.Prices, p)
				}
			}
			offers[i] = o
		}
		return offers
	})
}

func randomWorkload(t *testing.T, r *rapid.T) *workload.Workload {
	var w *workload.Workload
	switch rapid.IntRange(0, 3).Draw(r, "kind") {
	case 0:
		w = plantest.LoRA(t, "llama-3.1-8b")
	case 1:
		w = plantest.Serve(t, "llama-3.1-8b", "bf16")
	case 2:
		w = plantest.Batch(t, "qwen2.5-7b", "fp16")
	default:
		w = plantest.Train(t, "gpt2")
		w.Sequence = 1024
	}
	w.Tokens = 1e7
	w.Billing = append(w.Billing, catalog.Reserved1Y, catalog.Reserved3YAll, catalog.ServerlessPerHour)
	drawUse(r, w)
	w.Prefer = rapid.SampledFrom([]workload.Preference{workload.PreferCost, workload.PreferTime, workload.PreferCarbon, workload.PreferBalanced}).Draw(r, "prefer")
	if rapid.Bool().Draw(r, "egress") {
		w.Data.Egress = 2 * unit.TB
	}
	return w
}

// drawUse draws how often work is done, and a service's day.
func drawUse(r *rapid.T, w *workload.Workload) {
	if rapid.Bool().Draw(r, "horizon") {
		w.Horizon = unit.Hours(rapid.IntRange(1, 40).Draw(r, "months")) * unit.HoursPerMonth
	}
	if w.Kind != workload.Serve {
		if w.Horizon > 0 {
			w.RunsPerMonth = rapid.IntRange(1, 30).Draw(r, "runs")
		}
		return
	}
	if w.Horizon > 0 {
		w.Duration = w.Horizon
	}
	w.Traffic.RequestsPerSecond = rapid.SampledFrom([]float64{0.001, 2, 100}).Draw(r, "rate")
	w.Traffic.Interruptible = rapid.SampledFrom([]float64{0, 0, 40}).Draw(r, "interruptible")
	if rapid.Bool().Draw(r, "profile") {
		for h := range 24 {
			w.Traffic.Profile = append(w.Traffic.Profile, []float64{1, 0.2, 0.6}[h%3])
		}
	}
	if rapid.Bool().Draw(r, "promise") {
		w.SLO.TTFTp99 = unit.FromSeconds(5)
	}
}

// limitSetters are single limits; each test sets some.
var limitSetters = []func(*workload.Limits){
	func(l *workload.Limits) { l.Deadline = 3 },
	func(l *workload.Limits) { l.Budget = unit.Some(money.Micros(40e6, money.USD)) },
	func(l *workload.Limits) { l.Regions = []string{"eu"} },
	func(l *workload.Limits) { l.Residency = []string{"GDPR"} },
	func(l *workload.Limits) { l.ProviderJurisdiction = []string{"eu", "CN"} },
	func(l *workload.Limits) { l.MaxCarbon = unit.Some(unit.Kilograms(5)) },
	func(l *workload.Limits) { l.MaxPriceAgeDays = 100 },
	func(l *workload.Limits) { l.MaxCount = 8 },
	func(l *workload.Limits) { l.MinCount = 4 },
	func(l *workload.Limits) { l.Certifications = []string{"ISO27001"} },
	func(l *workload.Limits) { l.MinSLA = 99.5 },
	func(l *workload.Limits) { l.MinNetworkGbps = 100 },
	func(l *workload.Limits) { l.Interconnect = []catalog.NetworkKind{catalog.EFA} },
	func(l *workload.Limits) { l.NotProviders = []string{"aws"} },
}

func drawLimits(r *rapid.T) (l workload.Limits, set []int) {
	for i := range limitSetters {
		if rapid.IntRange(0, 4).Draw(r, "limit") == 0 {
			limitSetters[i](&l)
			set = append(set, i)
		}
	}
	return l, set
}

func TestPlansKeepEveryLimit(t *testing.T) {
	offers := randomOffers(t)
	rapid.Check(t, func(r *rapid.T) {
		w := randomWorkload(t, r)
		w.Limits, _ = drawLimits(r)
		in := plantest.Input(w, offers.Draw(r, "offers")...)
		res := plantest.Search(t, in)
		fit := res.OffersFit
		for _, x := range res.Rejected {
			fit += x.Count
		}
		if fit != len(in.Offers) {
			r.Fatalf("%d offers fit or are rejected, of %d", fit, len(in.Offers))
		}
		for i, p := range res.Plans {
			checkPlan(r, in, p)
			if i > 0 && w.Prefer == workload.PreferCost && p.Cost.Total.Cmp(res.Plans[i-1].Cost.Total) < 0 {
				r.Fatalf("plan %d is cheaper than the one before it", p.Rank)
			}
		}
	})
}

func checkPlan(r *rapid.T, in plan.Input, p plan.Plan) {
	l := in.Workload.Limits
	sum := money.Zero(in.Currency)
	for _, line := range p.Cost.Lines {
		sum = sum.Add(line.Amount)
	}
	fail := func(what string) { r.Fatalf("%s breaks %s: %+v", p.Offer.InstanceType, what, p) }
	if sum.Cmp(p.Cost.Total) != 0 {
		fail("total = sum of lines")
	}
	if p.Cost.Total.Micros() <= 0 || len(p.Offer.Prices) == 0 {
		fail("unknown never wins")
	}
	if used := p.Estimate.Memory; used.Used > used.Capacity {
		fail("memory")
	}
	var parts unit.Bytes
	for _, m := range p.Estimate.Memory.Parts {
		parts += m.Bytes
	}
	if parts != p.Estimate.Memory.Used {
		fail("memory parts sum")
	}
	checkPay(in, p, fail)
	b := p.Estimate.Bottleneck
	if s := b.Compute + b.Memory + b.Link + b.Network + b.Bubble + b.Input + b.Overhead; math.Abs(s-1) > 1e-9 {
		fail("bottleneck shares sum to one")
	}
	service := in.Workload.Kind == workload.Serve
	if l.Deadline > 0 && !service && p.Time.P95Hours > l.Deadline {
		fail("deadline")
	}
	if budget, ok := l.Budget.Get(); ok && p.Cost.Total.Cmp(budget) > 0 {
		fail("budget")
	}
	if most, ok := l.MaxCarbon.Get(); ok && (!p.Carbon.Kg.Known() || p.Carbon.Kg.Or(0) > most) {
		fail("carbon")
	}
	if l.MaxCount > 0 && p.Accelerators > l.MaxCount || p.Accelerators < l.MinCount {
		fail("count")
	}
	if len(l.Regions) > 0 && p.Region.Group != "eu" {
		fail("region")
	}
	if len(l.Residency) > 0 && !p.Region.Under("GDPR") {
		fail("residency")
	}
	if l.MaxPriceAgeDays > 0 && p.Price.AsOf != "2026-11-01" {
		fail("price age")
	}
	if len(l.NotProviders) > 0 && p.Offer.Provider == "aws" {
		fail("provider")
	}
	if l.MinNetworkGbps > 0 && p.Offer.NetworkGbps.Or(0) < l.MinNetworkGbps {
		fail("network")
	}
	if p.Time.LowHours > p.Time.Hours || p.Time.Hours > p.Time.HighHours || p.Cost.Low.Cmp(p.Cost.High) > 0 {
		fail("interval")
	}
}

// identity is what a plan is, sizes included, for comparing sets of plans.
func identity(res *plan.Result) map[string]bool {
	set := map[string]bool{}
	for _, p := range res.Plans {
		key := func(n int) string { return fmt.Sprint(p.Offer.InstanceType, p.Price.Mode, n) }
		set[key(p.Instances)] = true
		for _, s := range p.Sizes {
			set[key(s.Instances)] = true
		}
	}
	return set
}

func TestRelaxingALimitNeverLosesAPlan(t *testing.T) {
	offers := randomOffers(t)
	rapid.Check(t, func(r *rapid.T) {
		w := randomWorkload(t, r)
		var set []int
		w.Limits, set = drawLimits(r)
		if len(set) == 0 {
			return
		}
		list := offers.Draw(r, "offers")
		strict := identity(plantest.Search(t, plantest.Input(w, list...)))
		drop := rapid.SampledFrom(set).Draw(r, "dropped")
		var l workload.Limits
		for _, i := range set {
			if i != drop {
				limitSetters[i](&l)
			}
		}
		w.Limits = l
		loose := identity(plantest.Search(t, plantest.Input(w, list...)))
		for k := range strict {
			if !loose[k] {
				r.Fatalf("dropping limit %d lost %s", drop, k)
			}
		}
	})
}

// A limit on the count wider than any search goes by itself adds nothing, so that dropping it loses nothing.
func TestAWideLimitOnTheCountAddsNothing(t *testing.T) {
	w := plantest.Batch(t, "llama-3.1-8b", "bf16")
	free := identity(plantest.Search(t, plantest.Input(w, plantest.Offer(t))))
	w.Limits.MaxCount = 50000
	if wide := identity(plantest.Search(t, plantest.Input(w, plantest.Offer(t)))); !reflect.DeepEqual(free, wide) {
		t.Errorf("%d plans without a limit, %d with one of 50,000", len(free), len(wide))
	}
}

func TestShufflingTheCatalogChangesNothing(t *testing.T) {
	offers := randomOffers(t)
	rapid.Check(t, func(r *rapid.T) {
		w := randomWorkload(t, r)
		w.Limits, _ = drawLimits(r)
		list := offers.Draw(r, "offers")
		one := plantest.Search(t, plantest.Input(w, list...))
		rand.New(rand.NewSource(rapid.Int64().Draw(r, "seed"))).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		two := plantest.Search(t, plantest.Input(w, list...))
		if !reflect.DeepEqual(one, two) {
			r.Fatalf("the order of the catalog shows: %s", cmp.Diff(fmt.Sprintf("%+v", one.Rejected), fmt.Sprintf("%+v", two.Rejected)))
		}
	})
}

func TestACheaperPriceNeverRaisesTheBestCost(t *testing.T) {
	offers := randomOffers(t)
	rapid.Check(t, func(r *rapid.T) {
		w := randomWorkload(t, r)
		w.Prefer = workload.PreferCost
		list := offers.Draw(r, "offers")
		before := plantest.Search(t, plantest.Input(w, list...))
		o := rapid.SampledFrom(list).Draw(r, "cheaper")
		if len(o.Prices) == 0 || len(before.Plans) == 0 {
			return
		}
		i := rapid.IntRange(0, len(o.Prices)-1).Draw(r, "price")
		o.Prices[i].Hourly = o.Prices[i].Hourly.Mul(rapid.Float64Range(0.1, 1).Draw(r, "factor"))
		after := plantest.Search(t, plantest.Input(w, list...))
		if b, a := before.Plans[0].Cost.Total, after.Plans[0].Cost.Total; a.Micros() > b.Micros()+1 {
			r.Fatalf("best cost rose from %v to %v", b, a)
		}
	})
}

// An offer whose price is not known, or whose chip's figures are not, never has a plan; nor does a plan with an unknown side
// cost stand above the same machine where it is known.
func TestUnknownNeverWins(t *testing.T) {
	w := plantest.Batch(t, "llama-3.1-8b", "bf16")
	w.Data.Egress = 5 * unit.TB
	priced := plantest.Price(catalog.OnDemand, 50)
	known := plantest.Offer(t, plantest.Named("known"), plantest.Priced(priced))
	hidden := plantest.Offer(t, plantest.Named("hidden"), plantest.At("nowhere", "unknown-1"), plantest.Priced(priced))
	noPrice := plantest.Offer(t, plantest.Named("no price"), plantest.Priced())
	blank := plantest.Offer(t, plantest.Named("blank chip"), plantest.With(&accelerator.Accelerator{Name: "mystery"}, 8))
	res := plantest.Search(t, plantest.Input(w, hidden, noPrice, blank, known))
	if len(res.Plans) != 2 || res.Plans[0].Offer.InstanceType != "known" {
		t.Fatalf("ranked %+v", identity(res))
	}
	if l := res.Plans[1].Cost.Lines; len(l) != 2 || l[1].Item != plan.Egress || !l[1].Assumed || !warned(res.Plans[1], "cost_assumed") {
		t.Errorf("lines are %+v, want an assumed egress", l)
	}
	want := map[plan.Reason]int{plan.ByPriceUnknown: 1, "precision": 1}
	for _, x := range res.Rejected {
		if want[x.Reason] != x.Count {
			t.Errorf("%d rejected for %s", x.Count, x.Reason)
		}
	}
	w.Prefer = workload.PreferCarbon
	if res = plantest.Search(t, plantest.Input(w, hidden, known)); res.Plans[0].Offer.InstanceType != "known" {
		t.Error("unknown carbon wins")
	}
}

func TestParetoFrontIsExact(t *testing.T) {
	offers := randomOffers(t)
	rapid.Check(t, func(r *rapid.T) {
		w := randomWorkload(t, r)
		res := plantest.Search(t, plantest.Input(w, offers.Draw(r, "offers")...))
		type point struct {
			cost      int64
			hours, kg float64
			on        bool
		}
		var points []point
		kg := func(m unit.Maybe[unit.Kilograms]) float64 {
			if v, ok := m.Get(); ok {
				return float64(v)
			}
			return math.Inf(1)
		}
		for _, p := range res.Plans {
			points = append(points, point{p.Cost.Total.Micros(), float64(p.Time.Hours), kg(p.Carbon.Kg), p.OnFront})
			for _, s := range p.Sizes {
				points = append(points, point{s.Total.Micros(), float64(s.Hours), kg(s.Kg), s.OnFront})
			}
		}
		for _, a := range points {
			beaten := false
			for _, b := range points {
				beaten = beaten || b.cost <= a.cost && b.hours <= a.hours && b.kg <= a.kg && (b.cost < a.cost || b.hours < a.hours || b.kg < a.kg)
			}
			if beaten == a.on {
				r.Fatalf("%+v of %+v", a, points)
			}
		}
	})
}
