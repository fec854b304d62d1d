package deadline

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
)

// Starts are spread over the trace from its first tick to the last that leaves the deadline: here each start meets a spell of its own.
func TestStartsAndMeans(t *testing.T) {
	// 4 hours of work with a deadline of 5: from starts 0, 5 and 10 spot is always, never and always there.
	m := market(3, strings.Repeat("+", 5)+strings.Repeat("-", 5)+strings.Repeat("+", 5))
	r, err := Sweep{Ask: Ask{Work: 4, Deadline: 5}, Markets: []*Market{m, market(3, "++")}, Starts: 3, Policies: All()}.Compare(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Short) != 1 || r.Short[0] != "++" || len(r.Markets) != 1 {
		t.Fatalf("left out %v, %d markets", r.Short, len(r.Markets))
	}
	for _, s := range r.Overall {
		want := "6.666667" // (4 + 12 + 4) / 3
		if s.Policy == "on-demand" {
			want = "12.00"
		}
		if s.Policy == "ross" { // may stand still for a tick and no longer
			continue
		}
		if s.Cost.Decimal() != want || s.Runs != 3 || s.Missed != 0 {
			t.Errorf("%s: %s from %d runs", s.Policy, s.Cost.Decimal(), s.Runs)
		}
		if saving := 1 - s.Cost.Float()/12; math.Abs(s.Saving-saving) > 1e-6 || math.Abs(s.RatioToOptimal-s.Cost.Float()*3/20) > 1e-6 {
			t.Errorf("%s: saving %v, %v times the optimum", s.Policy, s.Saving, s.RatioToOptimal)
		}
	}
	if up := r.Markets[0].Up; math.Abs(up-10.0/15) > 1e-9 {
		t.Errorf("up %v of the time", up)
	}
}

// What is run beside it changes nothing, nor how many markets there are.
func TestMarketsDoNotTouch(t *testing.T) {
	markets := []*Market{market(3, strings.Repeat("++--+", 20)), market(3, strings.Repeat("+----", 20)), market(2, strings.Repeat("+++-", 25))}
	ask := Ask{Work: 20, Overhead: 1, Deadline: 40}
	all, err := Sweep{ask, markets, 5, All()}.Compare(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range markets {
		alone, err := Sweep{ask, []*Market{m}, 5, All()}.Compare(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for k, s := range alone.Overall {
			if all.Markets[i].Scores[k] != s {
				t.Errorf("%s in %s: %+v alone, %+v among others", s.Policy, m.Name(), s, all.Markets[i].Scores[k])
			}
		}
	}
}

// A mean is rounded once, and not each run before: of 1.4, 1.4 and 1.8 micros it is 1.53, and so 2.
func TestMeansAreRoundedOnce(t *testing.T) {
	m := market(3, strings.Repeat("+", 8))
	m.Gap, m.Zones[0].Price = 0.5, []int64{1400, 1400, 1400, 1400, 1, 1800, 1800, 1}
	r, err := Sweep{Ask{Work: 1, Deadline: 1.5}, []*Market{m}, 3, []Policy{greedy{}}}.Compare(context.Background())
	if err != nil || r.Overall[0].Cost.Micros() != 2 || math.Abs(r.Overall[0].Saving-(1-4.6/9e6)) > 1e-15 {
		t.Errorf("%+v, %v", r, err)
	}
}

// Prices that add up to more than can be counted are refused, and not added up to nonsense.
func TestCountable(t *testing.T) {
	m := market(1, strings.Repeat("+", 10))
	ask := Ask{Work: 5, Deadline: 10}
	for _, c := range []struct {
		onDemand, spot int64
		ok             bool
	}{{never / 10, 1, true}, {never/10 + 1, 1, false}, {1, never / 10, true}, {1, math.MaxInt64, false}} {
		m.OnDemand, m.Zones[0].Price = money.PerHour(c.onDemand, money.USD), []int64{c.spot}
		r, err := Sweep{ask, []*Market{m}, 1, All()}.Compare(context.Background())
		if (err == nil) != c.ok || err != nil && problem.All(err)[0].Code != "spot.too_dear" {
			t.Errorf("%+v: %v", c, err)
		} else if err == nil && (r.Overall[0].Missed > 0 || r.Overall[5].RatioToOptimal != 1 || r.Overall[1].RatioToOptimal < 1) {
			t.Errorf("%+v: %+v", c, r.Overall)
		}
	}
}

func TestJobs(t *testing.T) {
	const gap = unit.Hours(195.0 / 3600)
	if j := (Ask{Work: 48, Overhead: 0.2, Deadline: 48 * 1.25}).In(gap); j != (Job{886, 1108, 4}) {
		t.Errorf("%+v", j)
	}
	// 3.5 h and 15 % of it are 241.5 minutes, which floating point puts a little below.
	if j := (Ask{Work: 3.5, Deadline: unit.Hours(3.5 * 1.15), Overhead: 0.1}).In(unit.Hours(1.0 / 60)); j != (Job{210, 242, 6}) {
		t.Errorf("%+v", j)
	}
	for _, c := range []struct {
		ask  Ask
		code string
	}{
		{Ask{Work: 48, Overhead: 0, Deadline: 48}, ""},
		{Ask{Work: 48, Overhead: 0.2, Deadline: 48}, "spot.too_late"},
		{Ask{Work: 48, Overhead: 0, Deadline: 40}, "spot.too_late"},
		{Ask{Work: 0.01, Overhead: 0, Deadline: 40}, "spot.no_work"},
		{Ask{Work: 10000, Overhead: 0, Deadline: 100000}, "spot.too_fine"},
	} {
		err := c.ask.In(gap).Check(gap)
		var p *problem.Error
		if c.code == "" && err != nil || c.code != "" && (!errors.As(err, &p) || p.Code != c.code || p.Kind != problem.Input) {
			t.Errorf("%+v: %v, want %q", c.ask, err, c.code)
		}
	}
}

func TestNamed(t *testing.T) {
	if _, err := Named([]string{"greedy", "gredy", "optimum"}); len(problem.All(err)) != 2 || problem.All(err)[0].Suggest[0] != "greedy" {
		t.Errorf("%v", err)
	}
	if p, err := Named(nil); err != nil || len(p) != len(Names()) {
		t.Errorf("%d policies, %v", len(p), err)
	}
}
