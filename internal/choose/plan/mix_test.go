package plan

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/price"
	"github.com/rackrate/rackrate/internal/choose/price/commit"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// What a mix costs by its parts is what the solver of commitments says that the cheapest one does, to a micro for each rounding.
func TestAMixCostsWhatTheSolverSays(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		rate := func(name string, mode catalog.BillingMode) price.Way {
			return price.Way{Mode: mode, Hourly: money.PerHour(int64(rapid.IntRange(10, 150).Draw(r, name))*1e7, money.USD)}
		}
		w := price.Ways{OnDemand: rate("on demand", catalog.OnDemand)}
		if spot := rate("spot", catalog.Spot); spot.Hourly.Nanos() < w.OnDemand.Hourly.Nanos() {
			w.Spot, w.Interruptible = &spot, 0.3
		}
		for _, m := range []catalog.BillingMode{catalog.Reserved1M, catalog.Reserved6M, catalog.Reserved1YAll, catalog.SavingsPlan3Y} {
			if rapid.Bool().Draw(r, "offered") {
				w.Committed = append(w.Committed, rate("committed", m))
			}
		}
		s := price.Service{Hours: unit.Hours(rapid.IntRange(1, 40).Draw(r, "months")) * unit.HoursPerMonth, Whole: true}
		for h := range s.ByHour {
			s.ByHour[h] = rapid.IntRange(0, 9).Draw(r, "machines")
		}
		solved, err := commit.Solve(overMonths(s, w))
		if err != nil {
			r.Fatal(err)
		}
		cost := price.Total(s.Split(w, purchases(s, w)), money.USD)
		if d := cost.Micros() - solved.Cost.Micros(); len(w.Committed) > 0 && (d > 400 || d < -400) {
			r.Fatalf("the parts cost %v, the solver says %v", cost, solved.Cost)
		}
	})
}
