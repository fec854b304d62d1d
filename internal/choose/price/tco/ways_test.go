package tco

import (
	"math"
	"slices"
	"testing"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/plan"
	"github.com/rackrate/rackrate/internal/choose/plan/plantest"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// busyDay is a service that needs several machines for a third of the day, and fewer at night.
func busyDay(t testing.TB) *workload.Workload {
	w := service(t)
	w.Limits.MaxInstances = 64
	w.Traffic.RequestsPerSecond = 400
	for h := range 24 {
		w.Traffic.Profile = append(w.Traffic.Profile, map[bool]float64{true: 1, false: 0.2}[h < 8])
	}
	return w
}

// paid gives the option whose plan is paid in a mode.
func paid(t testing.TB, in Input, mode catalog.BillingMode) (Input, *Option) {
	t.Helper()
	i := slices.IndexFunc(in.Plans, func(p plan.Plan) bool { return p.Billing == mode })
	if i < 0 {
		t.Fatalf("no plan is paid as %s", mode)
	}
	in.Plans = in.Plans[i : i+1]
	return in, &compare(t, in).Options[0]
}

func dayOffer(t testing.TB) *catalog.Offer {
	return plantest.Offer(t, plantest.Priced(plantest.Price(catalog.OnDemand, 50), plantest.Price(catalog.Reserved1YPartial, 30)))
}

// What a mix commits to is paid whole however little it is used; only the rest follows use.
func TestMixKeepsItsCommitment(t *testing.T) {
	for _, horizon := range []unit.Hours{0, unit.HoursPerYear} {
		w := busyDay(t)
		if w.Horizon = horizon; horizon > 0 {
			w.Duration = horizon
		}
		in := input(t, w, dayOffer(t))
		in.Months, in.Used = 12, 1
		in, full := paid(t, in, catalog.Mix)
		in.Used = 0.25
		part := &compare(t, in).Options[0]
		committed, rest := 0.0, 0.0
		for _, s := range in.Plans[0].Mix.Shares {
			switch s.Mode {
			case catalog.Reserved1YPartial:
				committed = 30 * 8760 * float64(s.Machines)
			default:
				rest = s.Cost.Float() / float64(in.Plans[0].Time.Hours) * 8760
			}
		}
		if got := lineOf(t, full, Compute).Total.Float(); committed == 0 || rest == 0 || math.Abs(got-committed-rest) > 0.01 {
			t.Errorf("horizon %v: in full use %.2f, want %.2f and %.2f", horizon, got, committed, rest)
		}
		if got := lineOf(t, part, Compute).Total.Float(); math.Abs(got-committed-rest/4) > 0.01 {
			t.Errorf("horizon %v: in a quarter of the hours %.2f, want %.2f and %.2f", horizon, got, committed, rest/4)
		}
		if up := lineOf(t, part, Compute).Flow[0].Upfront.Float(); up != committed/2 {
			t.Errorf("horizon %v: %.2f upfront of %.2f committed", horizon, up, committed)
		}
		if horizon > 0 && lineOf(t, full, Compute).Total != in.Plans[0].Cost.Lines[0].Amount {
			t.Errorf("%v, the plan says %v", lineOf(t, full, Compute).Total, in.Plans[0].Cost.Lines[0].Amount)
		}
	}
}

// A machine paid in one way costs the same whether a plan is paid so or another plan of it is shown in that way: on demand a service
// pays by the hour of its day, committed for all its machines all day.
func TestModesAreThosePlans(t *testing.T) {
	in := input(t, busyDay(t), dayOffer(t))
	in.Months, in.Used = 12, 0.8
	_, onDemand := paid(t, in, catalog.OnDemand)
	_, reserved := paid(t, in, catalog.Reserved1YPartial)
	if onDemand.Total.Cmp(reserved.Total) == 0 {
		t.Fatal("the two cost the same, and the test proves nothing")
	}
	for _, of := range []catalog.BillingMode{catalog.OnDemand, catalog.Reserved1YPartial, catalog.Mix} {
		from, o := paid(t, in, of)
		modes := compare(t, from).Modes[0].Modes
		chosen := 0
		for _, m := range modes {
			want := map[catalog.BillingMode]money.Amount{of: o.Total, catalog.OnDemand: onDemand.Total, catalog.Reserved1YPartial: reserved.Total}[m.Mode]
			if d := m.Total.Micros() - want.Micros(); d > 48 || d < -48 { // each month of each line is rounded by itself
				t.Errorf("%s shown for a plan of %s: %v, want %v", m.Mode, of, m.Total, want)
			}
			if m.Chosen {
				chosen++
			}
		}
		if chosen != 1 {
			t.Errorf("%d ways are the one of a plan paid as %s", chosen, of)
		}
	}
}

// Work that recurs costs what its plan over the same horizon says.
func TestRecurringIsThePlanItself(t *testing.T) {
	w := plantest.LoRA(t, "llama-3.1-8b")
	w.RunsPerMonth, w.Horizon = 40, unit.HoursPerYear
	w.Data = workload.Data{Size: 2 * unit.TB, Egress: 300 * unit.GB, Disk: 300 * unit.GB}
	w.People = workload.People{Hourly: unit.Some(money.Micros(60e6, money.USD)), HoursPerWeek: 2}
	w.DelayCost = unit.Some(money.Micros(300e6, money.USD))
	w.Billing = catalog.Modes()
	in := input(t, w, plantest.Offer(t, plantest.Priced(plantest.Price(catalog.OnDemand, 50), plantest.Price(catalog.Spot, 20), plantest.Price(catalog.Reserved1YAll, 30))))
	in.Months, in.Runs, in.Book = 12, 40, book(t, "support=0%", "carbon.price=0 USD")
	if len(in.Plans) != 3 {
		t.Fatalf("%d plans", len(in.Plans))
	}
	for _, o := range compare(t, in).Options {
		if d := o.Total.Micros() - o.Plan.Cost.Total.Micros(); d > 100 || d < -100 { // each month of each line is rounded by itself
			t.Errorf("%s: %v, the plan costs %v", o.Mode, o.Total, o.Plan.Cost.Total)
		}
	}
}

// A price that falls with the life of a machine falls on from month to month: Tencent's second and third step come once.
func TestStepsComeOnce(t *testing.T) {
	q := plantest.Price(catalog.OnDemand, 50)
	q.Flags = []catalog.Flag{catalog.SteppedPrice}
	in := input(t, service(t), plantest.Offer(t, plantest.At("tencent", ""), plantest.Priced(q, plantest.Price(catalog.Reserved1Y, 20))))
	in.Months, in.Used = 12, 1
	in, o := paid(t, in, catalog.OnDemand)
	if len(in.Plans[0].Provider.Steps) == 0 {
		t.Fatal("tencent has no steps")
	}
	hours, from, share := 0.0, 0.0, 1.0 // at the first price
	for _, s := range in.Plans[0].Provider.Steps {
		hours, from, share = hours+(float64(s.From)-from)*share, float64(s.From), s.Share
	}
	want := 50 * (hours + (8760-from)*share)
	if got := lineOf(t, o, Compute).Total.Float(); math.Abs(got-want) > 0.01 {
		t.Errorf("%.2f, want %.2f", got, want)
	}
	for _, m := range compare(t, in).Modes[0].Modes {
		if m.PaysFrom.Known() {
			t.Errorf("%s pays from %v of the hours, against a price that falls", m.Mode, m.PaysFrom)
		}
	}
}

// Support is charged on what falls due while the machines are needed, not on what is owed for a commitment afterwards.
func TestNoSupportAfterwards(t *testing.T) {
	in := input(t, service(t), plantest.Offer(t, plantest.Priced(plantest.Price(catalog.Reserved3Y, 20))))
	in.Months, in.Used = 2, 1
	in.Plans = in.Plans[:1]
	o := &compare(t, in).Options[0]
	fees := lineOf(t, o, Support).Flow
	if o.Beyond.IsZero() || fees[0].Total() != fees[1].Total() {
		t.Errorf("%v, then %v, with %v owed", fees[0].Total(), fees[1].Total(), o.Beyond)
	}
}

// Interest runs on what is not written off yet: with nothing left at the end, on half of the price on average.
func TestInterestWithoutResidual(t *testing.T) {
	in := input(t, service(t), plantest.Offer(t))
	in.Used, in.Months = 1, 60
	in.Buy = buyFile(t, "accelerator: H100-SXM-80GB\nmachines: 1\n")
	in.Book = book(t, "buy.capex=300000 USD", "buy.residual=0%", "buy.life=5y", "buy.capital=8%")
	r := compare(t, in)
	got := lineOf(t, &r.Options[1], Capital).Total.Float()
	if want := 300_000 * 0.08 * 5 * 61 / 120; math.Abs(got-want) > 0.01 { // from the whole at first to a sixtieth at last
		t.Errorf("%.2f, want %.2f", got, want)
	}
}

// Against a commitment, which does not grow with use, owning costs less below a share of the hours: power does grow.
func TestOwningBelow(t *testing.T) {
	in := input(t, service(t), plantest.Offer(t, plantest.Priced(plantest.Price(catalog.Reserved3Y, 30))))
	in.Buy = buyFile(t, "accelerator: H100-SXM-80GB\nmachines: 1\ncountry: US\n")
	in.Book = book(t, "buy.staff=1", "support=0%", "carbon.price=0 USD")
	in.Used, in.Plans = 0.5, in.Plans[:1]
	in.Plans[0].Hourly = money.PerHour(int64(compare(t, in).Options[1].Total.Float()/26280*1e9), money.USD) // as dear as owning in half the hours
	b := compare(t, in).BreakEvens[0]
	used, ok := b.Used.Get()
	if !ok || !b.Below || b.Always || used <= 0.01 || used >= 0.99 {
		t.Fatalf("%+v", b)
	}
	for share, owning := range map[float64]bool{used - 0.01: true, used + 0.01: false} {
		in.Used = share
		o := compare(t, in).Options
		if (o[1].Total.Cmp(o[0].Total) <= 0) != owning {
			t.Errorf("at %.3f owning costs %v, renting %v", share, o[1].Total, o[0].Total)
		}
	}
}

// What the user gives for nothing is named; what the work sends out of one's own machines has a price that must be given.
func TestGivenForNothing(t *testing.T) {
	w := service(t)
	in := input(t, w, plantest.Offer(t))
	in.Used = 1
	in.Book = book(t, "support.gcp=5%", "support.aws=5%", "buy.pue=1.1")
	var keys []string
	for _, a := range compare(t, in).Unused {
		keys = append(keys, a.Key())
	}
	if !slices.Equal(keys, []string{"buy.pue", "support.gcp"}) {
		t.Errorf("unused: %v", keys)
	}
	w.Data.Egress = unit.TB
	in.Buy = buyFile(t, "accelerator: H100-SXM-80GB\nmachines: 1\n")
	r := compare(t, in)
	if l := lineOf(t, &r.Options[1], Egress); l.State != Unknown || l.Wants != "buy.traffic" {
		t.Errorf("%+v", l)
	}
	in.Book = book(t, "buy.traffic=200 USD")
	r = compare(t, in)
	if l := lineOf(t, &r.Options[1], Egress); l.Total.Decimal() != "7200.00" {
		t.Errorf("%+v", l)
	}
}

// Of machines bought, those that an hour of the day does not need draw idle power, as do those that nothing needs at any hour.
func TestIdleMachinesDrawIdlePower(t *testing.T) {
	power := func(w *workload.Workload, machines string) (*Option, float64) {
		in := input(t, w, plantest.Offer(t))
		in.Used, in.Buy = 1, buyFile(t, "accelerator: H100-SXM-80GB\ncountry: US\npower: 10 kW\n"+machines)
		in.Book = book(t, "buy.pue=1").With(in.Buy.Given...)
		o := compare(t, in).Options[len(in.Plans)]
		tariff, _ := in.Book.Get("tariff", "US")
		return &o, lineOf(t, &o, Power).Total.Float() / tariff.Value.Money.Float() / 36 / 730 / 10 // machines at full power
	}
	idle := plantest.Input(service(t)).Curves.Run.IdleShare
	day := busyDay(t)
	_, daily := power(day, "")
	day.Traffic.Profile = nil
	o, flat := power(day, "")
	peak := float64(o.Owned.Machines)
	needed := peak * (daily - idle*peak) / (flat - idle*peak) // what power says of the machines at work on average
	if night := (needed - peak/3) / (2.0 / 3); needed >= peak*0.7 || math.Abs(night-math.Round(night)) > 0.01 {
		t.Errorf("%.3f of %g machines at work, %.3f by night", needed, peak, night)
	}
	if _, more := power(day, "machines: 64\n"); math.Abs(more-flat-idle*(64-peak)) > 1e-6 {
		t.Errorf("64 machines draw as %.3f at full power, the %g that are needed as %.3f", more, peak, flat)
	}
}
