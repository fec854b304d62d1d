package price

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

func way(mode catalog.BillingMode, hourly string) Way {
	rate, err := money.ParseRate(hourly, money.USD)
	if err != nil {
		panic(err)
	}
	return Way{Mode: mode, Hourly: rate}
}

var tencent = Steps{{96, 0.5}, {360, 0.34}}

func TestStepsAtTheirBounds(t *testing.T) {
	for _, tt := range []struct{ h, want unit.Hours }{
		{0, 0}, {1, 1}, {96, 96}, {97, 96.5}, {360, 96 + 132}, {361, 228.34}, {730, 228 + 370*0.34},
	} {
		if got := tencent.Full(tt.h); got < tt.want-1e-9 || got > tt.want+1e-9 {
			t.Errorf("%v h cost as much as %v, want %v", tt.h, got, tt.want)
		}
	}
	if got := Steps(nil).Full(500); got != 500 {
		t.Errorf("without steps 500 h cost as much as %v", got)
	}
}

func TestWhatRunsCost(t *testing.T) {
	minute := way(catalog.OnDemand, "36")
	minute.Billing = Billing{Step: 1.0 / 3600, Minimum: 1.0 / 60}
	stepped := way(catalog.OnDemand, "10")
	stepped.Steps = tencent
	for _, tt := range []struct {
		name string
		runs Runs
		way  Way
		want string
	}{
		{"a one-second job costs the minimum charge", Runs{Machines: 1, Hours: 1.0 / 3600}, minute, "0.60"},
		{"each of many", Runs{Machines: 2, Hours: 1.0 / 3600, PerMonth: 10, Horizon: unit.HoursPerYear}, minute, "144.00"},
		{"a commitment that is hardly used costs its whole price", Runs{Machines: 1, Hours: 1}, way(catalog.Reserved3YAll, "10"), "262800.00"},
		{"runs that fit share a term", Runs{Machines: 1, Hours: 20, PerMonth: 20, Horizon: unit.HoursPerYear}, way(catalog.Reserved1Y, "10"), "87600.00"},
		{"those that do not take two sets", Runs{Machines: 1, Hours: 40, PerMonth: 20, Horizon: unit.HoursPerYear}, way(catalog.Reserved1Y, "10"), "175200.00"},
		{"whole terms cover the horizon", Runs{Machines: 1, Hours: 1, PerMonth: 1, Horizon: 13 * unit.HoursPerMonth}, way(catalog.Reserved1Y, "10"), "175200.00"},
		{"a block of days for each run", Runs{Machines: 1, Hours: 30, PerMonth: 2, Horizon: unit.HoursPerYear}, way(catalog.CapacityBlock, "10"), "11520.00"},
		{"or blocks throughout, where runs follow closely", Runs{Machines: 1, Hours: 1, PerMonth: 700, Horizon: unit.HoursPerMonth}, way(catalog.CapacityBlock, "10"), "7440.00"},
		{"a month for each run, bought when it is needed", Runs{Machines: 1, Hours: 100, PerMonth: 1, Horizon: unit.HoursPerYear}, way(catalog.PrepaidMonthHourly, "1"), "8760.00"},
		{"hours in steps", Runs{Machines: 2, Hours: 100}, stepped, "1960.00"},
		{"which begin anew with each run", Runs{Machines: 1, Hours: 90, PerMonth: 2, Horizon: unit.HoursPerMonth}, stepped, "1800.00"},
	} {
		if got := tt.runs.Cost(tt.way).Decimal(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestWhatAServiceCosts(t *testing.T) {
	day := Flat(2)
	for h := 8; h < 20; h++ {
		day[h] = 10
	}
	stepped := way(catalog.OnDemand, "10")
	stepped.Steps = tencent
	for _, tt := range []struct {
		name    string
		service Service
		way     Way
		want    string
	}{
		{"by the hour what runs", Service{ByHour: day, Hours: 24}, way(catalog.OnDemand, "1"), "144.00"},
		{"committed the peak all day, by its share", Service{ByHour: day, Hours: 24}, way(catalog.Reserved1Y, "1"), "240.00"},
		{"or in whole terms", Service{ByHour: day, Hours: 400 * 24, Whole: true}, way(catalog.Reserved1Y, "1"), "175200.00"},
		{"steps lower what never stops", Service{ByHour: day, Hours: 360}, stepped, "18960.00"}, // 2 x 228 + 8 x 12 x 15, at 10
	} {
		if got := tt.service.Cost(tt.way).Decimal(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func drawWay(r *rapid.T) Way {
	modes := append([]catalog.BillingMode{catalog.OnDemand, catalog.Spot, catalog.ServerlessPerHour}, withTerm...)
	w := Way{Mode: rapid.SampledFrom(modes).Draw(r, "mode"), Hourly: money.PerHour(rapid.Int64Range(1e6, 1e11).Draw(r, "nanos"), money.USD)}
	w.Billing = Billing{Step: unit.Hours(rapid.SampledFrom([]float64{0, 1.0 / 3600, 1}).Draw(r, "step")), Minimum: unit.Hours(rapid.SampledFrom([]float64{0, 1.0 / 60, 1}).Draw(r, "minimum"))}
	if w.Mode == catalog.OnDemand && rapid.Bool().Draw(r, "steps") {
		w.Steps = tencent
	}
	return w
}

// Payments month by month sum to the cost to the millionth, none is negative, and pay as you go is over when the work is.
func TestFlowsSumToCosts(t *testing.T) {
	check := func(r *rapid.T, f Flow, cost money.Amount) {
		if f.Total() != cost {
			r.Fatalf("payments of %v, a cost of %v", f.Total(), cost)
		}
		for i, m := range f {
			if m.Upfront.Micros() < 0 || m.Running.Micros() < 0 {
				r.Fatalf("month %d pays %v", i, m)
			}
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		w := drawWay(r)
		runs := Runs{Machines: rapid.IntRange(1, 9).Draw(r, "machines"), Hours: unit.Hours(rapid.Float64Range(1e-4, 3000).Draw(r, "hours"))}
		if rapid.Bool().Draw(r, "recurring") {
			runs.PerMonth, runs.Horizon = rapid.IntRange(1, 50).Draw(r, "runs"), unit.Hours(rapid.Float64Range(730, 40000).Draw(r, "horizon"))
		}
		check(r, runs.Flow(w), runs.Cost(w))
		if f := runs.Flow(w); w.Mode.Term() == 0 && len(f) != max(Months(runs.Hours)*b2i(runs.PerMonth == 0), Months(runs.Horizon)*b2i(runs.PerMonth > 0)) {
			r.Fatalf("%d months of %+v", len(f), runs)
		}
		s := Service{ByHour: drawDay(r), Hours: unit.Hours(rapid.Float64Range(1, 40000).Draw(r, "life")), Whole: rapid.Bool().Draw(r, "whole")}
		check(r, s.Flow(w), s.Cost(w))
	})
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func drawDay(r *rapid.T) (by [24]int) {
	for h := range by {
		by[h] = rapid.IntRange(1, 6).Draw(r, "machines")
	}
	return by
}

func TestEffective(t *testing.T) {
	a, _ := money.ParseAmount("8760 USD")
	if got := Effective(a, 4380).Decimal(); got != "2.00" {
		t.Errorf("half used: %s an hour", got)
	}
	if !Effective(a, 0).IsZero() {
		t.Error("a price for no use")
	}
}
