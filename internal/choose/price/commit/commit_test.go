package commit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/price"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// cents is a rate of so many cents an hour.
func cents(n int) money.Rate { return money.PerHour(int64(n)*1e7, money.USD) }

// rateCents is a rate in cents.
func rateCents(r money.Rate) int64 { return r.Nanos() / 1e7 }

var terms = []catalog.BillingMode{catalog.Reserved1M, catalog.Reserved3M, catalog.Reserved6M, catalog.Reserved1Y, catalog.Reserved3Y}

// drawn is a small problem whose figures are whole hours, cents and tenths of a unit, so that every cost is whole in micros.
func drawn(r *rapid.T, months, top int, modes []catalog.BillingMode) Problem {
	p := Problem{OnDemand: cents(rapid.IntRange(1, 200).Draw(r, "on demand")), Every: rapid.IntRange(0, 3).Draw(r, "every")}
	if rapid.Bool().Draw(r, "has spot") {
		p.Spot = unit.Some(cents(rapid.IntRange(1, 220).Draw(r, "spot")))
	}
	for range rapid.IntRange(0, 3).Draw(r, "options") {
		p.Options = append(p.Options, Option{rapid.SampledFrom(modes).Draw(r, "mode"), cents(rapid.IntRange(1, 250).Draw(r, "rate"))})
	}
	for s := range rapid.IntRange(1, 3).Draw(r, "scenarios") {
		sc := Scenario{Weight: rapid.IntRange(1, 5).Draw(r, "weight"), Months: make([][]Step, months)}
		for m := range sc.Months {
			for range rapid.IntRange(0, 3).Draw(r, "steps") {
				tenths := rapid.IntRange(0, 10*top).Draw(r, fmt.Sprint("demand ", s))
				firm := rapid.IntRange(0, tenths).Draw(r, "firm")
				sc.Months[m] = append(sc.Months[m], Step{float64(tenths) / 10, float64(firm) / 10, unit.Hours(rapid.IntRange(1, 400).Draw(r, "hours"))})
			}
		}
		p.Scenarios = append(p.Scenarios, sc)
	}
	return p
}

// direct is the cost of purchases by the definition, hour by hour, times the sum of weights, in thousandths of a cent.
func direct(p Problem, buys []Purchase) int64 {
	sum := int64(0)
	for _, b := range buys {
		o := p.Options[b.Option]
		sum += int64(b.Units) * rateCents(o.Hourly) * int64(o.Mode.Term()) * 10 * p.weight()
	}
	spot, hasSpot := p.Spot.Get()
	for _, s := range p.Scenarios {
		for m, steps := range s.Months {
			active := int64(0)
			for _, b := range buys {
				if b.Month <= m && m < b.Month+p.Options[b.Option].Months() {
					active += int64(b.Units)
				}
			}
			for _, st := range steps {
				d, f := int64(math.Round(st.Units*10)), int64(math.Round(st.Firm*10))
				e := max(0, d-10*active)
				cheap := int64(0)
				if hasSpot && rateCents(spot) < rateCents(p.OnDemand) {
					cheap = min(e, d-f)
				}
				rate := rateCents(p.OnDemand) * (e - cheap)
				if hasSpot {
					rate += rateCents(spot) * cheap
				}
				sum += int64(s.Weight) * int64(st.Hours) * rate
			}
		}
	}
	return sum
}

// scaled is an amount in the unit of direct: a cent's tenth a weight; ok where it is whole.
func scaled(a money.Amount, weight int64) (int64, int64) {
	n := a.Micros() * weight
	return n / 1000, n % 1000
}

// brute tries every mix of purchases up to so many units each.
func brute(p Problem, top int) int64 {
	var slots []Purchase
	for m := 0; m < p.months(); m += max(1, p.Every) {
		for o := range p.Options {
			slots = append(slots, Purchase{o, m, 0})
		}
	}
	best := int64(math.MaxInt64)
	var try func(i int)
	try = func(i int) {
		if i == len(slots) {
			best = min(best, direct(p, slots))
			return
		}
		for u := 0; u <= top; u++ {
			slots[i].Units = u
			try(i + 1)
		}
		slots[i].Units = 0
	}
	try(0)
	return best
}

// The cost is that of trying every mix; it is the cost of the purchases that come with it, and nothing can cost less.
func TestEqualsBruteForce(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		months, top := rapid.IntRange(1, 3).Draw(r, "months"), rapid.IntRange(1, 2).Draw(r, "top")
		if months < 3 {
			top++
		}
		p := drawn(r, months, top, terms[:2])
		if months == 3 && len(p.Options) == 3 {
			p.Options = p.Options[:2]
		}
		mix := solved(r, p)
		want := brute(p, top)
		tolerance := int64(len(p.Scenarios)*months*top) / 2 * p.weight() / 1000 // weights that do not divide a micro are rounded once a unit and month
		got, _ := scaled(mix.Cost, p.weight())
		if d := got - want; d < -tolerance-1 || d > tolerance+1 {
			r.Fatalf("cost %d, the best of all mixes costs %d", got, want)
		}
		if d := direct(p, mix.Purchases) - want; d < 0 || d > 2*tolerance+2 {
			r.Fatalf("the purchases cost %d more than the best", d)
		}
	})
}

func solved(r interface {
	Fatalf(string, ...any)
}, p Problem) *Mix {
	mix, err := Solve(p)
	if err != nil {
		r.Fatalf("%v", err)
	}
	if mix.Cost != mix.Bound {
		r.Fatalf("cost %v, bound %v", mix.Cost, mix.Bound)
	}
	return mix
}

// On larger problems the bound proves the cost, and the active units are those of the purchases.
func TestCertificate(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p := drawn(r, rapid.IntRange(1, 36).Draw(r, "months"), rapid.IntRange(1, 60).Draw(r, "top"), terms)
		mix := solved(r, p)
		active := make([]int, p.months())
		for i, b := range mix.Purchases {
			if b.Units <= 0 || p.Every > 0 && b.Month%p.Every != 0 {
				r.Fatalf("purchase %+v", b)
			}
			if i > 0 && (b.Month < mix.Purchases[i-1].Month || b.Month == mix.Purchases[i-1].Month && b.Option <= mix.Purchases[i-1].Option) {
				r.Fatalf("purchases out of order: %+v", mix.Purchases)
			}
			for m := b.Month; m < min(p.months(), b.Month+p.Options[b.Option].Months()); m++ {
				active[m] += b.Units
			}
		}
		if fmt.Sprint(active) != fmt.Sprint(mix.Active) {
			r.Fatalf("active %v, purchases make %v", mix.Active, active)
		}
		more := p
		more.Options = append([]Option{{catalog.SavingsPlan1Y, cents(rapid.IntRange(1, 200).Draw(r, "one more"))}}, p.Options...)
		if solved(r, more).Cost.Cmp(mix.Cost) > 0 {
			r.Fatalf("one option more makes it dearer")
		}
	})
}

// flat is a demand that never changes.
func flat(months int, units, firm float64) []Scenario {
	s := Scenario{Weight: 1, Months: make([][]Step, months)}
	for m := range s.Months {
		s.Months[m] = []Step{{units, firm, unit.HoursPerMonth}}
	}
	return []Scenario{s}
}

func TestKnownAnswers(t *testing.T) {
	year, three := Option{catalog.Reserved1Y, cents(60)}, Option{catalog.Reserved3Y, cents(40)}
	half := []Scenario{{1, make([][]Step, 12)}}
	for m := range half[0].Months { // 10 units half of the time
		half[0].Months[m] = []Step{{10, 10, 365}, {0, 0, 365}}
	}
	for _, c := range []struct {
		name string
		p    Problem
		want []Purchase
		cost string
	}{
		{"nothing is needed", Problem{OnDemand: cents(100), Options: []Option{year}, Scenarios: flat(12, 0, 0)}, nil, "0.00"},
		{"no options", Problem{OnDemand: cents(100), Scenarios: flat(12, 4, 4)}, nil, "35040.00"},
		{"a steady year", Problem{OnDemand: cents(100), Options: []Option{year}, Scenarios: flat(12, 4, 4)}, []Purchase{{0, 0, 4}}, "21024.00"},
		{"three years renewed", Problem{OnDemand: cents(100), Options: []Option{year}, Scenarios: flat(36, 4, 4)},
			[]Purchase{{0, 0, 4}, {0, 12, 4}, {0, 24, 4}}, "63072.00"},
		{"the longer term is cheaper", Problem{OnDemand: cents(100), Options: []Option{year, three}, Scenarios: flat(36, 4, 4)}, []Purchase{{1, 0, 4}}, "42048.00"},
		{"three years for one are dearer", Problem{OnDemand: cents(100), Options: []Option{three}, Scenarios: flat(12, 4, 4)}, nil, "35040.00"},
		{"below break-even", Problem{OnDemand: cents(100), Options: []Option{year}, Scenarios: half}, nil, "43800.00"},
		{"above break-even", Problem{OnDemand: cents(100), Options: []Option{{catalog.Reserved1Y, cents(49)}}, Scenarios: half}, []Purchase{{0, 0, 10}}, "42924.00"},
		{"spot takes what may stop", Problem{OnDemand: cents(100), Spot: unit.Some(cents(30)), Options: []Option{year}, Scenarios: flat(12, 4, 3)}, []Purchase{{0, 0, 3}}, "18396.00"},
		{"spot dearer than on-demand is of no use", Problem{OnDemand: cents(100), Spot: unit.Some(cents(130)), Scenarios: flat(12, 4, 0)}, nil, "35040.00"},
		{"half a unit stays on demand", Problem{OnDemand: cents(100), Options: []Option{year}, Scenarios: flat(12, 1.5, 1.5)}, []Purchase{{0, 0, 1}}, "9636.00"},
		{"most of a unit is worth one", Problem{OnDemand: cents(100), Options: []Option{year}, Scenarios: flat(12, 1.7, 1.7)}, []Purchase{{0, 0, 2}}, "10512.00"},
	} {
		mix := solved(t, c.p)
		if fmt.Sprint(mix.Purchases) != fmt.Sprint(c.want) || mix.Cost.Decimal() != c.cost {
			t.Errorf("%s: %v for %v, want %v for %s", c.name, mix.Purchases, mix.Cost, c.want, c.cost)
		}
	}
}

// A commitment that is never used costs its whole price, whatever the demand that remains.
func TestUnusedCommitmentCostsAll(t *testing.T) {
	p := Problem{OnDemand: cents(100), Options: []Option{{catalog.Reserved3Y, cents(40)}}, Scenarios: flat(12, 0, 0)}
	u := p.Use([]Purchase{{0, 3, 2}})
	if want := price.Compute(cents(40), 2, 3*8760); u.Cost != want || u.Flow.Total() != want {
		t.Errorf("%v, flows %v, want %v", u.Cost, u.Flow.Total(), want)
	}
	if u.Months[3].Idle != 1460 || u.Months[2].Idle != 0 {
		t.Errorf("idle %v and %v hours", u.Months[2].Idle, u.Months[3].Idle)
	}
}

// What is too large to count is refused, and what is just small enough is solved exactly.
func TestBounds(t *testing.T) {
	for _, c := range []struct {
		rate  int
		units float64
		code  string
	}{
		{1, MaxUnits + 1, "commit.too_many_units"}, {1, 1e12, "commit.too_many_units"}, {200_000, MaxUnits, "commit.too_dear"}, {100_000, 50_000, ""},
	} {
		p := Problem{OnDemand: cents(c.rate), Options: []Option{{catalog.Reserved1Y, cents(c.rate - 1)}}, Scenarios: flat(36, c.units, c.units)}
		mix, err := Solve(p)
		if c.code != "" {
			if err == nil || problem.All(err)[0].Code != c.code {
				t.Errorf("%+v: %v", c, err)
			}
			continue
		}
		if want := float64(c.rate-1) / 100 * c.units * 36 * unit.HoursPerMonth; err != nil || mix.Cost != mix.Bound || mix.Cost.Float() != want {
			t.Errorf("%+v: %+v, want %v, %v", c, mix, want, err)
		}
	}
}

// day is a demand with a daily and weekly shape, noise and growth, by the hour.
func day(months, top, scenarios int) []Scenario {
	rng := rand.New(rand.NewPCG(1, 2))
	var out []Scenario
	for s := range scenarios {
		sc := Scenario{Weight: []int{3, 4, 3}[s%3], Months: make([][]Step, months)}
		for h := range months * unit.HoursPerMonth {
			shape := 0.6 + 0.3*math.Sin(float64(h%24)/24*2*math.Pi) + 0.1*rng.Float64()
			if h/24%7 > 4 {
				shape *= 0.7
			}
			d := math.Round(shape * float64(top) * (0.7 + 0.15*float64(s)) * (1 + float64(h)/float64(months*unit.HoursPerMonth)) / 2)
			m := h / unit.HoursPerMonth
			sc.Months[m] = append(sc.Months[m], Step{d, math.Round(0.7 * d), 1})
		}
		out = append(out, sc)
	}
	return out
}

// book is ten options as clouds sell them.
func book() []Option {
	var out []Option
	for i, m := range []catalog.BillingMode{
		catalog.Reserved1M, catalog.Reserved3M, catalog.Reserved6M, catalog.Reserved1Y, catalog.Reserved1YPartial, catalog.Reserved1YAll,
		catalog.Reserved3Y, catalog.Reserved3YPartial, catalog.SavingsPlan1Y, catalog.SavingsPlan3Y,
	} {
		out = append(out, Option{m, cents([]int{90, 85, 80, 66, 64, 62, 46, 44, 70, 50}[i])})
	}
	return out
}

func BenchmarkSolve(b *testing.B) {
	for _, c := range []struct {
		name                   string
		months, top, scenarios int
	}{{"year", 12, 100, 1}, {"three-years-of-3-scenarios", 36, 1000, 3}, {"ten-thousand-units", 36, 10000, 3}} {
		b.Run(c.name, func(b *testing.B) {
			p := Problem{OnDemand: cents(100), Spot: unit.Some(cents(35)), Options: book(), Scenarios: day(c.months, c.top, c.scenarios)}
			for b.Loop() {
				if _, err := Solve(p); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*c.scenarios*c.months*unit.HoursPerMonth)/b.Elapsed().Seconds(), "hours/s")
		})
	}
}
