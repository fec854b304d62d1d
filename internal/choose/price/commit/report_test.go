package commit

import (
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// Payments sum to the cost of the search, parts to the whole, and nobody regrets less than nothing.
func TestReportAddsUp(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p := drawn(r, rapid.IntRange(1, 36).Draw(r, "months"), rapid.IntRange(1, 30).Draw(r, "top"), terms)
		rep, err := Solution(p)
		if err != nil {
			r.Fatal(err)
		}
		u := rep.Use
		if parts := u.Committed.Add(u.OnDemand).Add(u.Spot); u.Cost != rep.Mix.Cost || u.Flow.Total() != rep.Cost || parts != rep.Cost {
			r.Fatalf("cost %v, flow %v, parts %v", rep.Cost, u.Flow.Total(), parts)
		}
		if rep.Cost.Cmp(rep.Uncommitted) > 0 || rep.Uncommitted.Cmp(rep.AllOnDemand) > 0 {
			r.Fatalf("cost %v, without commitments %v, all on demand %v", rep.Cost, rep.Uncommitted, rep.AllOnDemand)
		}
		h, paid := u.Hours(), 0.0
		used, idle := 0.0, 0.0
		for i, b := range rep.Mix.Purchases {
			used, idle = used+u.Used[i], idle+u.Idle[i]
			for m := b.Month; m < min(p.months(), b.Month+p.Options[b.Option].Months()); m++ {
				paid += float64(b.Units) * p.hours(m)
			}
		}
		near := func(a, b float64) bool { return math.Abs(a-b) < 1e-6*(1+math.Abs(b)) }
		if !near(used, h.Used) || !near(idle, h.Idle) || !near(used+idle, paid) || !near(h.Used+h.Spot+h.OnDemand, h.Demand) || idle < -1e-6 {
			r.Fatalf("hours %+v, of purchases %v used and %v idle of %v", h, used, idle, paid)
		}
		expected := money.Zero(p.OnDemand.Currency())
		for s, o := range rep.Outcomes {
			if o.Regret().Micros() < 0 {
				r.Fatalf("regret %v", o.Regret())
			}
			expected = expected.Add(money.Micros(o.Cost.Micros()*int64(p.Scenarios[s].Weight), p.OnDemand.Currency()))
		}
		if d := float64(expected.Micros())/float64(p.weight()) - float64(rep.Cost.Micros()); math.Abs(d) > 36*32 { // a micro a unit and month
			r.Fatalf("the outcomes' mean is %v micros off the cost", d)
		}
		holdsTrue(r, rep)
	})
}

// holdsTrue checks that commitments pay for themselves up to the fall that is said, and not a thousandth beyond.
func holdsTrue(r *rapid.T, rep *Report) {
	share, ok := rep.Holds.Get()
	if ok != (len(rep.Mix.Purchases) > 0) {
		r.Fatalf("%d purchases, holds %v", len(rep.Mix.Purchases), ok)
	}
	if !ok {
		return
	}
	pays := func(share float64) bool {
		months := rep.Problem.curves(lower(share))
		return rep.Problem.use(rep.Mix.Purchases, months).Cost.Cmp(rep.Problem.use(nil, months).Cost) <= 0
	}
	if !pays(share) || pays(share+0.001) {
		r.Fatalf("commitments are worth it at a fall of %v: %v, of a thousandth more: %v", share, pays(share), pays(share+0.001))
	}
}

// Ten units at 60 % of the price of on-demand pay for themselves until four of them idle: a fall of 40 %.
func TestFalls(t *testing.T) {
	p := Problem{OnDemand: cents(100), Options: []Option{{catalog.Reserved1Y, cents(60)}}, Scenarios: flat(12, 10, 10)}
	rep, err := Solution(p)
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := rep.Holds.Get(); v != 0.4 || p.BreakEven(0) != 0.6 {
		t.Errorf("holds until %v, breaks even at %v", v, p.BreakEven(0))
	}
	half := rep.Falls[2]
	if v, _ := Saving(half.AllOnDemand, half.Cost).Get(); math.Abs(v+0.2) > 1e-12 {
		t.Errorf("at half the demand the saving is %v, want -0.2", v)
	}
	if v, _ := half.Hours.Utilised().Get(); v != 0.5 {
		t.Errorf("at half the demand %v of the hours are used", v)
	}
}

// What is needed is put on the oldest purchase first.
func TestTheLatestIdlesFirst(t *testing.T) {
	p := Problem{OnDemand: cents(100), Options: []Option{{catalog.Reserved1Y, cents(60)}}, Scenarios: flat(12, 3, 3)}
	u := p.Use([]Purchase{{0, 0, 2}, {0, 6, 2}})
	if u.Idle[0] != 0 || u.Used[1] != 6*unit.HoursPerMonth || u.Idle[1] != 6*unit.HoursPerMonth {
		t.Errorf("used %v, idle %v", u.Used, u.Idle)
	}
	if v, _ := u.Hours().Utilised().Get(); math.Abs(v-5.0/6) > 1e-12 {
		t.Errorf("utilised %v", v)
	}
}

// Knowing the future is worth something only where scenarios differ.
func TestRegret(t *testing.T) {
	p := Problem{OnDemand: cents(100), Options: []Option{{catalog.Reserved1Y, cents(50)}}}
	for i, units := range []float64{2, 10, 20} {
		s := flat(12, units, units)[0]
		s.Weight = []int{3, 4, 3}[i]
		p.Scenarios = append(p.Scenarios, s)
	}
	rep, err := Solution(p)
	if err != nil {
		t.Fatal(err)
	}
	// Units 3 to 10 are needed with 70 % and cost half; units 11 to 20 with 30 % are not worth it.
	if rep.Mix.Active[0] != 10 {
		t.Fatalf("%d committed", rep.Mix.Active[0])
	}
	for i, want := range []string{"35040.00", "0.00", "43800.00"} { // 8 idle at 50 cents, nothing, 10 on demand at 50 cents too much
		if got := rep.Outcomes[i].Regret().Decimal(); got != want {
			t.Errorf("regret %d is %s, want %s", i, got, want)
		}
	}
}

// A total is the sum of its groups, and of one group that group.
func TestTotalAddsUp(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		months := rapid.IntRange(1, 15).Draw(r, "months")
		var reports []*Report
		for range rapid.IntRange(1, 3).Draw(r, "groups") {
			p := drawn(r, months, 8, terms)
			p.Scenarios = append(p.Scenarios, p.Scenarios[0], p.Scenarios[0])[:3]
			rep, err := Solution(p)
			if err != nil {
				r.Fatal(err)
			}
			reports = append(reports, rep)
		}
		total, err := Total(reports)
		if err != nil {
			r.Fatal(err)
		}
		if len(reports) == 1 && !reflect.DeepEqual(total, reports[0].Summary) {
			r.Fatalf("%+v, of one group %+v", total, reports[0].Summary)
		}
		cost, instead, demand, regret, fallen := int64(0), int64(0), 0.0, int64(0), int64(0)
		for _, rep := range reports {
			cost, instead, demand = cost+rep.Cost.Micros(), instead+rep.AllOnDemand.Micros(), demand+rep.Hours.Demand
			regret, fallen = regret+rep.Outcomes[2].Regret().Micros(), fallen+rep.Falls[1].Cost.Micros()
		}
		if total.Cost.Micros() != cost || total.Flow.Total() != total.Cost || total.AllOnDemand.Micros() != instead || math.Abs(total.Hours.Demand-demand) > 1e-6 ||
			total.Outcomes[2].Regret().Micros() != regret || total.Falls[1].Cost.Micros() != fallen ||
			total.Committed.Add(total.OnDemand).Add(total.Spot) != total.Cost {
			r.Fatalf("%+v", total)
		}
	})
}

// Groups that can each be counted may come to more than money holds together.
func TestTotalTooDear(t *testing.T) {
	rep, err := Solution(Problem{OnDemand: cents(70_000), Scenarios: flat(12, 90_000, 90_000)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Total([]*Report{rep}); err != nil {
		t.Error(err)
	}
	if _, err := Total([]*Report{rep, rep, rep}); err == nil || problem.All(err)[0].Code != "commit.too_dear" {
		t.Errorf("three groups of %v: %v", rep.Cost, err)
	}
}
