package price

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// Two machines all day and eight more for twelve hours. At 60 % of the price on demand a machine is worth committing from 14.4 hours a
// day on. The second would be paid for 12 hours on demand and 12 of spot, which come to 15.
func TestMixByHand(t *testing.T) {
	day := Flat(2)
	for h := 8; h < 20; h++ {
		day[h] = 10
	}
	s := Service{ByHour: day, Hours: unit.HoursPerMonth}
	spot := way(catalog.Spot, "0.25")
	w := Ways{OnDemand: way(catalog.OnDemand, "1"), Spot: &spot, Interruptible: 0.5, Committed: []Way{way(catalog.Reserved1Y, "0.6"), way(catalog.Reserved3Y, "0.7")}}
	parts := s.Split(w, s.Newsvendor(w))
	if len(parts) != 3 {
		t.Fatalf("%d parts", len(parts))
	}
	for i, want := range []struct {
		mode catalog.BillingMode
		peak int
		cost string
	}{
		{catalog.Reserved1Y, 2, "876.00"}, // 2 x 0.6 x 730
		{catalog.OnDemand, 3, "1095.00"},  // 3 x 12/24 x 730
		{catalog.Spot, 5, "456.25"},       // 5 x 12/24 x 730 x 0.25: half of ten
	} {
		p := parts[i]
		if p.Mode != want.mode || (Service{ByHour: p.ByHour}).Peak() != want.peak || p.Cost.Decimal() != want.cost {
			t.Errorf("%s: %d machines at %s, want %+v", p.Mode, Service{ByHour: p.ByHour}.Peak(), p.Cost.Decimal(), want)
		}
	}
}

// A term of a year within 18 months: what it does not cover is paid by the hour.
func TestSplitWithTermsPaidWhole(t *testing.T) {
	s := Service{ByHour: Flat(1), Hours: 18 * unit.HoursPerMonth, Whole: true}
	w := Ways{OnDemand: way(catalog.OnDemand, "1"), Committed: []Way{way(catalog.Reserved1Y, "0.6"), way(catalog.Reserved3Y, "0.5")}}
	parts := s.Split(w, []Purchase{{0, 1, 0}})
	if len(parts) != 2 || parts[0].Terms != 1 || parts[0].Steady || len(parts[0].Bought) != 1 || parts[0].Cost.Decimal() != "5256.00" || parts[1].Cost.Decimal() != "4380.00" {
		t.Errorf("%+v", parts)
	}
}

func drawWays(r *rapid.T) Ways {
	price := func(name string, mode catalog.BillingMode, low, high int) Way {
		return Way{Mode: mode, Hourly: money.PerHour(int64(rapid.IntRange(low, high).Draw(r, name))*1e7, money.USD)}
	}
	w := Ways{OnDemand: price("on demand", catalog.OnDemand, 50, 150)}
	if rapid.Bool().Draw(r, "spot") {
		spot := price("spot price", catalog.Spot, 5, w.nanosCents())
		w.Spot, w.Interruptible = &spot, float64(rapid.IntRange(0, 4).Draw(r, "interruptible"))/4
	}
	for _, m := range []catalog.BillingMode{catalog.Reserved1M, catalog.Reserved3M, catalog.Reserved1YAll} {
		if rapid.Bool().Draw(r, "offered") {
			w.Committed = append(w.Committed, price("committed", m, 10, 160))
		}
	}
	return w
}

func (w Ways) nanosCents() int { return int(w.OnDemand.Hourly.Nanos() / 1e7) }

// Every number of machines of each commitment, tried one by one.
func TestNewsvendorIsTheCheapest(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := drawWays(r)
		s := Service{Hours: unit.Hours(rapid.IntRange(1, 4).Draw(r, "months")) * unit.HoursPerMonth}
		for h := range s.ByHour {
			s.ByHour[h] = rapid.IntRange(0, 3).Draw(r, "machines")
		}
		best := Total(s.Split(w, s.Newsvendor(w)), money.USD)
		var try func(way int, bought []Purchase)
		try = func(way int, bought []Purchase) {
			if way == len(w.Committed) {
				if c := Total(s.Split(w, bought), money.USD); c.Micros() < best.Micros()-20 { // a micro for each rounding
					r.Fatalf("%v for %+v, the newsvendor %v for %+v", c, bought, best, s.Newsvendor(w))
				}
				return
			}
			for n := 0; n <= 3; n++ {
				try(way+1, append(bought, Purchase{way, n, 0}))
			}
		}
		try(0, nil)
	})
}

// Whatever is bought: parts sum to what is paid, every needed hour is paid for once, and idle hours are committed ones. What the
// newsvendor buys costs no more than any way alone.
func TestSplitAddsUp(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := drawWays(r)
		s := Service{ByHour: drawDay(r), Hours: unit.Hours(rapid.Float64Range(24, 30000).Draw(r, "life")), Whole: rapid.Bool().Draw(r, "whole")}
		bought := s.Newsvendor(w)
		if s.Whole {
			bought = nil
			for i := range w.Committed {
				bought = append(bought, Purchase{i, rapid.IntRange(0, 4).Draw(r, "bought"), rapid.IntRange(0, Months(s.Hours)-1).Draw(r, "start")})
			}
		}
		parts := s.Split(w, bought)
		total := Total(parts, money.USD)
		if Together(parts, money.USD).Total() != total {
			r.Fatalf("payments of %v, a cost of %v", Together(parts, money.USD).Total(), total)
		}
		used := unit.Hours(0)
		for _, p := range parts {
			if p.Flow.Total() != p.Cost || p.Idle > 0 && p.Mode.Term() == 0 || p.Idle > p.Hours {
				r.Fatalf("%+v", p)
			}
			terms := 0
			for _, b := range p.Bought {
				terms += b.Machines
			}
			if terms != p.Terms {
				r.Fatalf("%d terms bought of %d", terms, p.Terms)
			}
			used += p.Hours - p.Idle
		}
		if d := used - s.MachineHours(); d > 1e-6*used || d < -1e-6*used {
			r.Fatalf("%v machine-hours of %v", used, s.MachineHours())
		}
		for _, pure := range append([]Way{w.OnDemand}, w.Committed...) {
			if c := s.Cost(pure); !s.Whole && c.Micros() < total.Micros()-20 {
				r.Fatalf("%s alone costs %v, the mix %v", pure.Mode, c, total)
			}
		}
	})
}

func BenchmarkMix(b *testing.B) {
	day := Flat(4)
	for h := 8; h < 20; h++ {
		day[h] = 4 + h
	}
	s := Service{ByHour: day, Hours: unit.HoursPerMonth}
	w := Ways{OnDemand: way(catalog.OnDemand, "1"), Committed: []Way{way(catalog.Reserved1Y, "0.6"), way(catalog.Reserved3Y, "0.45"), way(catalog.Reserved1M, "0.9")}}
	for b.Loop() {
		s.Split(w, s.Newsvendor(w))
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "mixes/s")
}
