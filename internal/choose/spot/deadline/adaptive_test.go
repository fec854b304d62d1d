package deadline

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/spot"
)

// slacks are those the published comparison is made at: shares of 48 hours of work.
var slacks = []float64{0.1, 0.25, 0.5, 1}

func work48(slack float64) Ask {
	return Ask{Work: 48, Overhead: 0.2, Deadline: unit.Hours(48 * (1 + slack))}
}

// scores are those of 48 hours of work from 6 starts in each market; nobody may miss a deadline.
func scores(t testing.TB, markets []*Market, slack float64, policies ...Policy) []Score {
	t.Helper()
	if testing.Short() {
		t.Skip("plays recorded traces: takes seconds")
	}
	r, err := Sweep{Ask: work48(slack), Markets: markets, Starts: 6, Policies: policies}.Compare(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Overall {
		if s.Missed > 0 || s.Runs != 6*len(markets) {
			t.Errorf("%s misses %d of %d", s.Policy, s.Missed, s.Runs)
		}
	}
	return r.Overall
}

// within is what adaptive may cost over the optimum on the 17 traces, by slack.
var within = []float64{1.12, 1.11, 1.10, 1.08}

// What Uniform Progress costs under these rules was measured elsewhere; adaptive must be better, and near the optimum.
func TestRecordedTraces(t *testing.T) {
	markets := recorded(t, "")
	if len(markets) != 17 {
		t.Fatalf("%d traces", len(markets))
	}
	for i, measured := range []float64{1.17, 1.16, 1.18, 1.27} {
		s := scores(t, markets, slacks[i], uniformProgress{}, NewAdaptive())
		uniform, ours := s[0].RatioToOptimal, s[1].RatioToOptimal
		if math.Abs(uniform-measured) > 0.01 {
			t.Errorf("slack %v: Uniform Progress costs %.3f times the optimum, measured %v", slacks[i], uniform, measured)
		}
		if ours > within[i] {
			t.Errorf("slack %v: adaptive costs %.3f times the optimum, at most %v", slacks[i], ours, within[i])
		}
		t.Logf("slack %v: Uniform Progress %.4f, adaptive %.4f", slacks[i], uniform, ours)
	}
}

// All zones of a recording together, against one who knows the future of them all.
func TestZonesTogether(t *testing.T) {
	for _, recording := range []string{"aws-02-15-2023", "aws-10-26-2022"} {
		together := merge(recorded(t, recording))
		for _, slack := range slacks {
			s := scores(t, []*Market{together}, slack, uniformProgress{}, NewAdaptive())
			uniform, ours := s[0].RatioToOptimal, s[1].RatioToOptimal
			if ours > 1.10 || ours > uniform+0.001 {
				t.Errorf("%s, slack %v: adaptive costs %.3f times the optimum, Uniform Progress %.3f", recording, slack, ours, uniform)
			}
			t.Logf("%s, %d zones, slack %v: Uniform Progress %.4f, adaptive %.4f", recording, len(together.Zones), slack, uniform, ours)
		}
	}
}

func merge(markets []*Market) *Market {
	m := &Market{Gap: markets[0].Gap, OnDemand: markets[0].OnDemand}
	for _, one := range markets {
		m.Zones = append(m.Zones, one.Zones...)
	}
	return m
}

// The law that spells are believed to follow is not fitted to the traces: the bounds hold as well when it is chosen, from a grid, on the
// recording of one year and used on that of the other.
func TestAdaptiveIsNotFitted(t *testing.T) {
	halves := [][]*Market{recorded(t, "aws-10-26-2022"), recorded(t, "aws-02-15-2023")}
	var grid []law
	for _, settling := range []float64{2, 4} {
		for _, shape := range []float64{1.5, 3} {
			for _, weight := range []float64{2, 6} {
				grid = append(grid, law{settling, shape, weight})
			}
		}
	}
	var under [2][][]Score // by recording, slack and law
	var chosen [2]int
	for h, markets := range halves {
		totals := make([]float64, len(grid))
		for _, slack := range slacks {
			var policies []Policy
			for _, l := range grid {
				policies = append(policies, &adaptive{law: l, grids: map[gridKey]*solved{}})
			}
			s := scores(t, markets, slack, policies...)
			under[h] = append(under[h], s)
			for i := range totals {
				totals[i] += s[i].RatioToOptimal
			}
		}
		chosen[h] = slices.Index(totals, slices.Min(totals))
	}
	for i, slack := range slacks {
		cost, best := 0.0, 0.0
		for h, markets := range halves {
			s := under[h][i][chosen[1-h]]
			sum := s.Cost.Float() * float64(len(markets))
			cost, best = cost+sum, best+sum/s.RatioToOptimal
		}
		if cost/best > within[i] {
			t.Errorf("slack %v: with laws chosen on the other recording adaptive costs %.3f times the optimum", slack, cost/best)
		}
		t.Logf("slack %v: %.4f with %+v from 2022 on 2023, and %+v from 2023 on 2022", slack, cost/best, grid[chosen[0]], grid[chosen[1]])
	}
}

// Where there is nothing to weigh, adaptive does the obvious.
func TestAdaptiveAtItsLimits(t *testing.T) {
	always, never := strings.Repeat("+", 200), strings.Repeat("-", 200)
	for _, c := range []struct {
		name   string
		job    Job
		market *Market
		want   int64 // price-ticks
	}{
		{"spot always there", Job{40, 80, 2}, market(3, always), 42},
		{"spot never there", Job{40, 80, 2}, market(3, never), 3 * 42},
		{"no overhead", Job{40, 80, 0}, market(3, always), 40},
		{"no slack", Job{40, 42, 2}, market(3, never), 3 * 42},
		{"no slack and no overhead", Job{40, 40, 0}, market(3, always), 40},
		{"spot costs as much as on-demand", Job{40, 80, 2}, market(1, strings.Repeat("++-", 60)), 42},
		{"one zone is always there", Job{40, 60, 2}, market(3, never, always, never), 42},
	} {
		if o := c.job.Run(c.market, 0, NewAdaptive()); o.Nanos != c.want*1e9 || o.Missed {
			t.Errorf("%s: %+v, want %d price-ticks", c.name, o, c.want)
		}
	}
	dear := market(1, always)
	dear.Zones[0].Price = []int64{2e9}
	if o := (Job{40, 80, 2}).Run(dear, 0, NewAdaptive()); o.Spot > 0 || o.OnDemand != 42 {
		t.Errorf("spot dearer than on-demand: %+v", o)
	}
}

// Without an overhead, starting is free, and waiting to the last moment is optimal: so does adaptive.
func TestWithoutOverheadGreedIsBest(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		j := anyJob(r, 40)
		j.Overhead = 0
		m := anyMarket(r, j.Deadline, 1)
		m.OnDemand, m.Zones[0].Price = money.PerHour(3, money.USD), []int64{1}
		best, _ := j.Optimum(m, 0)
		if o := j.Run(m, 0, NewAdaptive()); o.Nanos != best {
			r.Fatalf("adaptive costs %d, the optimum %d", o.Nanos, best)
		}
	})
}

// A run depends on nothing but the market: not on runs before it, nor on what comes after the tick that is decided.
func TestAdaptiveLooksBackOnly(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		j := anyJob(r, 30)
		m := anyMarket(r, j.Deadline, 2)
		cut := rapid.IntRange(0, j.Deadline).Draw(r, "cut")
		other := &Market{Gap: m.Gap, OnDemand: m.OnDemand}
		for _, z := range m.Zones {
			o := Zone{Up: slices.Clone(z.Up)}
			for i := range o.Up {
				o.Price = append(o.Price, z.price(i))
				if i >= cut {
					o.Up[i], o.Price[i] = !o.Up[i], 7-o.Price[i]
				}
			}
			other.Zones = append(other.Zones, o)
		}
		p := NewAdaptive()
		choices := func(m *Market) (out []Choice) {
			decide := p.Begin(j, m, 0)
			j.Run(m, 0, recorder{decide, &out})
			return out[:min(cut, len(out))]
		}
		a, b := choices(m), choices(other)
		if !slices.Equal(a, b) || !slices.Equal(a, choices(m)) {
			r.Fatalf("%v and %v before tick %d", a, b, cut)
		}
	})
}

// recorder notes what a policy decides.
type recorder struct {
	decide func(*View) Choice
	out    *[]Choice
}

func (recorder) Name() string { return "recorder" }

func (r recorder) Begin(Job, *Market, int) func(*View) Choice {
	return func(v *View) Choice {
		c := r.decide(v)
		*r.out = append(*r.out, c)
		return c
	}
}

// History is of use: who has seen that spells are short does not wait for long ones.
func TestHistory(t *testing.T) {
	up := []bool{}
	for range 500 {
		up = append(up, true, true, true, false)
	}
	w := usual.watch()
	w.learn(spot.Trace{Gap: 0.1, Up: up})
	if fresh := usual.watch(); w.up.hazard(0) < 2*fresh.up.hazard(0) || w.down.hazard(0) < 2*fresh.down.hazard(0) {
		t.Errorf("after spells of 20 minutes the hazards are %.2f and %.2f an hour, before %.2f", w.up.hazard(0), w.down.hazard(0), fresh.up.hazard(0))
	}
	if w.up.ended > memory+1e-9 {
		t.Errorf("history counts for %v spells", w.up.ended)
	}
}

// The shape that is learnt is that of the law the spells are drawn from.
func TestShapeIsLearnt(t *testing.T) {
	for _, shape := range []float64{1.5, 4} {
		s := usual.spells()
		const n = 4000
		for i := range n {
			u := (float64(i) + 0.5) / n // quantiles stand for draws
			length := usual.settling * (math.Pow(1-u, -1/shape) - 1)
			s.see(0, length, true)
		}
		if got := s.shape(); got < 0.97*shape || got > 1.03*shape {
			t.Errorf("shape %v is learnt as %.3f", shape, got)
		}
	}
}

func BenchmarkAdaptive(b *testing.B) {
	for _, slack := range slacks {
		b.Run(fmt.Sprintf("slack=%v", slack), func(b *testing.B) {
			markets := recorded(b, "")
			policies := NewAdaptive()
			runs := 0
			for b.Loop() {
				for _, m := range markets {
					j := work48(slack).In(m.Gap)
					j.Run(m, runs%(m.Ticks()-j.Deadline), policies)
					runs++
				}
			}
			b.ReportMetric(float64(runs)/b.Elapsed().Seconds(), "trace-starts/s")
		})
	}
}

func BenchmarkDecide(b *testing.B) {
	g := newGrid(usual, work48(1).In(195.0/3600), 195.0/3600)
	for b.Loop() {
		g.decide(belief{up: step(2), down: step(2), price: step(1.0 / 3)})
	}
	b.ReportMetric(float64(b.N*g.work*(g.slack+1)*classes)/b.Elapsed().Seconds(), "states/s")
}

// The real prices of the V100 machine behind the traces differ by zone three to one: waiting for a cheaper zone, and moving to one, is
// what saves there.
func TestZonesOfDifferentPrices(t *testing.T) {
	together := merge(recorded(t, "aws-02-15-2023"))
	together.OnDemand = money.PerHour(3.06e9, money.USD)
	for i, z := range together.Zones { // p3.2xlarge on spot, 2025-05-28
		nanos := map[string]int64{"us-east-1": 470_500_000, "us-east-2": 317_900_000, "us-west-2": 942_100_000}[z.Name[:len("us-east-1")]]
		together.Zones[i].Price = []int64{nanos}
	}
	for i, most := range []float64{1.35, 1.20, 1.18, 1.15} {
		s := scores(t, []*Market{together}, slacks[i], greedy{}, uniformProgress{}, NewAdaptive())
		ours := s[2].RatioToOptimal
		if ours > most || ours > s[0].RatioToOptimal || ours > s[1].RatioToOptimal {
			t.Errorf("slack %v: adaptive costs %.3f times the optimum, greedy %.3f, Uniform Progress %.3f", slacks[i], ours, s[0].RatioToOptimal, s[1].RatioToOptimal)
		}
		t.Logf("slack %v: greedy %.4f, Uniform Progress %.4f, adaptive %.4f", slacks[i], s[0].RatioToOptimal, s[1].RatioToOptimal, ours)
	}
}

// A cheaper zone is moved to as soon as that pays, and not for the last hours of the work.
func TestMovesToACheaperZone(t *testing.T) {
	always := strings.Repeat("+", 200)
	for _, c := range []struct {
		name  string
		after int // hours without the cheap zone
		moves bool
	}{
		{"from the start", 0, false}, // it never is in the dear one
		{"early", 10, true},
		{"too late", 40, false},
	} {
		m := market(10, strings.Repeat("-", c.after)+always, always)
		m.Zones[1].Price = []int64{1.5e9}
		var choices []Choice
		p := NewAdaptive()
		j := Job{40, 80, 1}
		o := j.Run(m, 0, recorder{p.Begin(j, m, 0), &choices})
		if at := slices.Index(choices, 0); (at > 0) != c.moves || o.OnDemand > 0 {
			t.Errorf("%s: the cheap zone from tick %d, %+v", c.name, at, o)
		}
	}
}

// A short peak of the price is sat out, a lasting one is not.
func TestPeaksOfThePrice(t *testing.T) {
	for _, c := range []struct {
		ticks    int
		onDemand bool
	}{{1, false}, {100, true}} {
		m := market(3, strings.Repeat("+", 200))
		m.Gap = 0.1
		m.Zones[0].Price = slices.Repeat([]int64{1e9}, 200)
		for i := range c.ticks {
			m.Zones[0].Price[40+i] = 9e9
		}
		if o := (Job{60, 80, 2}).Run(m, 0, NewAdaptive()); (o.OnDemand > 0) != c.onDemand {
			t.Errorf("a peak of %d ticks: %+v", c.ticks, o)
		}
	}
}
