package price

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

var withTerm = []catalog.BillingMode{
	catalog.Reserved1M, catalog.Reserved3M, catalog.Reserved6M, catalog.Reserved1Y, catalog.Reserved1YPartial, catalog.Reserved1YAll,
	catalog.Reserved3Y, catalog.Reserved3YPartial, catalog.Reserved3YAll, catalog.SavingsPlan1Y, catalog.SavingsPlan3Y,
	catalog.CapacityBlock, catalog.PrepaidMonthHourly, catalog.PrepaidYearHourly,
}

// A commitment costs its whole price, whenever it is bought and however it is paid.
func TestTermSumsToItsPrice(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		mode := rapid.SampledFrom(withTerm).Draw(r, "mode")
		hourly := money.PerHour(rapid.Int64Range(1, 1e12).Draw(r, "nanos"), money.USD)
		machines, start := rapid.IntRange(1, 50).Draw(r, "machines"), rapid.IntRange(0, 40).Draw(r, "start")
		f := Term(mode, hourly, machines, start)
		if got, want := f.Total(), Compute(hourly, machines, mode.Term()); got != want {
			r.Fatalf("%s: the payments sum to %v, the price is %v", mode, got, want)
		}
		if other := Nothing(3, money.USD).Plus(f); other.Total() != f.Total() {
			r.Fatalf("nothing and %v is %v", f.Total(), other.Total())
		}
	})
}

func TestTermPaysWhenItShould(t *testing.T) {
	rate, _ := money.ParseRate("10", money.USD)
	for _, c := range []struct {
		mode            catalog.BillingMode
		upfront, second string // of a purchase in month 1, and what month 2 costs
		months          int
	}{
		{catalog.Reserved1Y, "0.00", "7300.00", 13},
		{catalog.Reserved1YPartial, "43800.00", "3650.00", 13},
		{catalog.Reserved3YAll, "262800.00", "0.00", 37},
		{catalog.SavingsPlan3Y, "0.00", "7300.00", 37},
		{catalog.PrepaidYearHourly, "87600.00", "0.00", 13},
		{catalog.Reserved1M, "7300.00", "", 2},
		{catalog.CapacityBlock, "240.00", "", 2},
	} {
		f := Term(c.mode, rate, 1, 1)
		if len(f) != c.months || !f[0].Total().IsZero() || f[1].Upfront.Decimal() != c.upfront {
			t.Errorf("%s: %d months, %v first, %v upfront", c.mode, len(f), f[0].Total(), f[1].Upfront)
		}
		if c.second != "" && f[2].Running.Decimal() != c.second {
			t.Errorf("%s: %v in the month after", c.mode, f[2].Running)
		}
	}
}

func TestSpreadIsExactAndEven(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		a := money.Micros(rapid.Int64Range(-1e12, 1e12).Draw(r, "micros"), money.CNY)
		parts := Spread(a, rapid.IntRange(1, 40).Draw(r, "months"))
		sum, least, most := money.Zero(money.CNY), parts[0], parts[0]
		for _, p := range parts {
			sum = sum.Add(p)
			if p.Cmp(least) < 0 {
				least = p
			}
			if p.Cmp(most) > 0 {
				most = p
			}
		}
		if sum != a || most.Micros()-least.Micros() > 1 {
			r.Fatalf("%v in parts from %v to %v sums to %v", a, least, most, sum)
		}
	})
}
