//go:build !race

package deadline

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/choose/spot"
	"github.com/rackrate/rackrate/internal/sharedtest"
)

// recorded is the single-node traces of the shared folder whose path contains a text, as markets with on-demand at 3 times the price of
// spot.
func recorded(t testing.TB, part string) []*Market {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(sharedtest.Dir(t), "traces", "spot", "1-node", "*", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	var out []*Market
	for _, f := range files {
		if !strings.Contains(f, part) {
			continue
		}
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		series, err := spot.ParseSeries(filepath.Base(f), raw)
		if err != nil {
			t.Fatal(err)
		}
		z := Zone{Name: series.Name, Up: spot.TraceOf(series, 1).Up, Price: []int64{1e9}}
		out = append(out, &Market{Gap: series.Gap, OnDemand: money.PerHour(3e9, money.USD), Zones: []Zone{z}})
	}
	return out
}

// slacks are those the published comparison is made at: shares of 48 hours of work.
var slacks = []float64{0.1, 0.25, 0.5, 1}

// scores are those of 48 hours of work from 6 starts in each market; nobody may miss a deadline.
func scores(t testing.TB, markets []*Market, slack float64, policies ...Policy) []Score {
	t.Helper()
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
