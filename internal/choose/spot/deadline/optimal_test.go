package deadline

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/unit"
)

// least tries every sequence of choices: what no dynamic program can get wrong.
func least(j Job, m *Market, tick, progress int, held Choice, waiting int) int64 {
	switch {
	case progress == j.Work:
		return 0
	case tick == j.Deadline:
		return never
	}
	best := least(j, m, tick+1, progress, Off, 0)
	for c := OnDemand; int(c) < len(m.Zones); c++ {
		price := m.OnDemand.Nanos()
		if c >= 0 {
			if !m.Zones[c].Up[tick] {
				continue
			}
			price = m.Zones[c].price(tick)
		}
		w, p := waiting, progress
		if c != held {
			w = j.Overhead
		}
		if w > 0 {
			w--
		} else {
			p++
		}
		best = min(best, price+least(j, m, tick+1, p, c, w))
	}
	return best
}

func TestOptimumIsBruteForce(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		j := anyJob(r, 4)
		m := anyMarket(r, j.Deadline, 2)
		got, _ := j.Optimum(m, 0)
		if want := least(j, m, 0, 0, Off, 0); got != want {
			r.Fatalf("%+v in %+v costs %d, at least %d", j, m, got, want)
		}
	})
}

// The optimum is a plan that can be carried out at its price, and no policy is below it; no policy misses a deadline.
func TestNoPolicyBeatsTheOptimumOrMisses(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		j := anyJob(r, 40)
		m := anyMarket(r, j.Deadline+10, 3)
		start := rapid.IntRange(0, 10).Draw(r, "start")
		best, _ := j.Optimum(m, start)
		for _, p := range All() {
			o := j.Run(m, start, p)
			if o.Missed || o.Finished > j.Deadline {
				r.Fatalf("%s misses the deadline: %+v", p.Name(), o)
			}
			if o.Nanos < best || p.Name() == "optimal" && o.Nanos != best {
				r.Fatalf("%s costs %d, the optimum %d", p.Name(), o.Nanos, best)
			}
			if o.Spot+o.OnDemand < j.Work+j.Overhead {
				r.Fatalf("%s pays for %d ticks only: %+v", p.Name(), o.Spot+o.OnDemand, o)
			}
		}
	})
}

func TestKnownRuns(t *testing.T) {
	for _, c := range []struct {
		name   string
		job    Job
		market *Market
		policy string
		want   Outcome
	}{
		// A start takes two ticks each; the spot instance goes at tick 4 and is back at 6, too late for another start.
		{"greedy", Job{4, 8, 2}, market(3, "++++--++++"), "greedy", Outcome{Spot: 4, OnDemand: 4, Nanos: 16e9, Preemptions: 1, Finished: 8}},
		{"on demand", Job{4, 8, 2}, market(3, "++++++++++"), "on-demand", Outcome{OnDemand: 6, Nanos: 18e9, Finished: 6}},
		{"the optimum waits for a spell long enough", Job{3, 9, 1}, market(3, "+-+-+++++-"), "optimal", Outcome{Spot: 4, Nanos: 4e9, Finished: 8}},
		{"the optimum moves to another zone", Job{4, 6, 1}, market(3, "+++---", "--++++"), "optimal", Outcome{Spot: 6, Nanos: 6e9, Finished: 6, Preemptions: 1}},
		{"uniform progress falls back when behind", Job{5, 10, 0}, market(3, "----------"), "uniform-progress", Outcome{OnDemand: 5, Nanos: 15e9, Finished: 10}},
	} {
		p, err := Named([]string{c.policy})
		if err != nil {
			t.Fatal(err)
		}
		got := c.job.Run(c.market, 0, p[0])
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// Wherever spot is there in one stretch, at a price ratio of 4 ross costs at most 2 times the optimum on average; its bound is reached.
func TestRossKeepsItsBound(t *testing.T) {
	const work, ratio, draws = 120, 4, 150
	j := Job{Work: work, Deadline: work * 5 / 3} // (1 + 2·2) / (1 + 2)
	worst := 0.0
	for from := 0; from < j.Deadline; from += 20 {
		for until := from + 20; until <= j.Deadline; until += 20 {
			up := strings.Repeat("-", from) + strings.Repeat("+", until-from) + strings.Repeat("-", j.Deadline-until)
			best, _ := j.Optimum(market(ratio, up), 0)
			total := 0.0
			for start := range draws { // each draws a stretch of its own; the trace is moved so that all meet the same
				total += float64(j.Run(market(ratio, strings.Repeat("-", start)+up), start, ross{}).Nanos)
			}
			worst = max(worst, total/draws/float64(best))
		}
	}
	if worst > 2.01 || worst < 1.9 {
		t.Errorf("in the worst case %.3f times the optimum", worst)
	}
}

func BenchmarkOptimum(b *testing.B) {
	const gap = 195.0 / 3600
	ticks := int(math.Round(120 / gap))
	m := market(3, strings.Repeat(strings.Repeat("+", 40)+strings.Repeat("-", 23), ticks/63+1))
	for _, hours := range []unit.Hours{12, 60} {
		b.Run(fmt.Sprintf("%vh", float64(hours)), func(b *testing.B) {
			j := Ask{Work: hours, Overhead: 0.2, Deadline: 2 * hours}.In(gap)
			for b.Loop() {
				j.Optimum(m, 0)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "optima/s")
		})
	}
}
