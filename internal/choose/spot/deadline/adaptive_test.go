package deadline

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/choose/spot"
)

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

func BenchmarkDecide(b *testing.B) {
	g := newGrid(usual, work48(1).In(195.0/3600), 195.0/3600)
	for b.Loop() {
		g.decide(belief{up: step(2), down: step(2), price: step(1.0 / 3)})
	}
	b.ReportMetric(float64(b.N*g.work*(g.slack+1)*classes)/b.Elapsed().Seconds(), "states/s")
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
