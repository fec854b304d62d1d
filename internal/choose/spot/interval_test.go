package spot

import (
	"math"
	"math/rand"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestIntervals(t *testing.T) {
	// Daly 2006, table of examples: C = 5 min, M = 6 h gives about an hour between checkpoints.
	p := Process{MTBI: 6, Save: 5.0 / 60, Restart: 0.1}
	exact := p.Interval(100)
	if young := math.Sqrt(2 * p.Save * p.MTBI); math.Abs(exact-young)/young > 0.06 {
		t.Errorf("exact %.4f h, Young's first order %.4f", exact, young)
	}
	r := p.Save / (2 * p.MTBI)
	if daly := math.Sqrt(2*p.Save*p.MTBI)*(1+math.Sqrt(r)/3+r/9) - p.Save; math.Abs(exact-daly)/exact > 0.01 {
		t.Errorf("exact %.4f h, Daly's higher order %.4f", exact, daly)
	}
}

// The exact interval is at least as good as any other.
func TestIntervalIsTheMinimum(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p := Process{MTBI: rapid.Float64Range(0.5, 500).Draw(r, "m"), Save: rapid.Float64Range(0.001, 1).Draw(r, "c"), Restart: rapid.Float64Range(0, 1).Draw(r, "r")}
		work := 1000.0
		best := p.Expected(work, p.Interval(work))
		other := p.Expected(work, rapid.Float64Range(0.01, 100).Draw(r, "x"))
		if other < best*(1-1e-9) {
			r.Fatalf("%v beats %v", other, best)
		}
	})
}

func TestMoreInterruptionsNeverHelp(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		m := rapid.Float64Range(0.5, 500).Draw(r, "m")
		p := Process{MTBI: m, Save: rapid.Float64Range(0.001, 0.2).Draw(r, "c"), Restart: 0.1}
		q := p
		q.MTBI = m / rapid.Float64Range(1, 5).Draw(r, "factor")
		work := rapid.Float64Range(0.1, 200).Draw(r, "work")
		a, b := p.Run(work, 0), q.Run(work, 0)
		if b.Mean < a.Mean*(1-1e-9) || a.Mean < work*(1-1e-9) || a.P95 < a.Mean {
			r.Fatalf("%+v then %+v of %v h", a, b, work)
		}
	})
}

func TestWithoutInterruptions(t *testing.T) {
	o := Process{MTBI: math.Inf(1), Save: 0.1}.Run(10, 0)
	if o.Mean != 10 || o.P95 != 10 || o.Interruptions != 0 {
		t.Errorf("%+v", o)
	}
	if o := (Process{MTBI: 5}).Run(0, 0); o != (Outcome{}) {
		t.Errorf("no work takes %+v", o)
	}
}

// The closed forms against a simulation of the process they describe.
func TestAgainstSimulation(t *testing.T) {
	for _, p := range []Process{{MTBI: 5, Save: 0.05, Restart: 0.1}, {MTBI: 2.65, Save: 0.02, Restart: 0.1}, {MTBI: 50, Save: 0.1, Restart: 0.2}} {
		const work = 40.0
		o := p.Run(work, 0)
		rng := rand.New(rand.NewSource(1))
		runs := make([]float64, 20000)
		mean := 0.0
		for i := range runs {
			runs[i] = p.simulate(rng, work, o.Every)
			mean += runs[i] / float64(len(runs))
		}
		slices.Sort(runs)
		p95 := runs[len(runs)*95/100]
		if math.Abs(o.Mean-mean)/mean > 0.02 {
			t.Errorf("%+v: mean %.2f, simulated %.2f", p, o.Mean, mean)
		}
		if math.Abs(o.P95-p95)/p95 > 0.05 {
			t.Errorf("%+v: 95th percentile %.2f, simulated %.2f", p, o.P95, p95)
		}
	}
}

// simulate runs the work once: segments of x hours and a save, each lost when an interruption comes before its end;
// restarts can be interrupted as well.
func (p Process) simulate(rng *rand.Rand, work, x float64) float64 {
	now, done := 0.0, 0.0
	for done < work-1e-9 {
		need := math.Min(x, work-done) + p.Save
		for {
			life := rng.ExpFloat64() * p.MTBI
			if life >= need {
				now += need
				break
			}
			now += life
			for {
				up := rng.ExpFloat64() * p.MTBI
				now += math.Min(up, p.Restart)
				if up >= p.Restart {
					break
				}
			}
		}
		done += x
	}
	return now
}

// A notice long enough to save in loses no work: never worse than none, and what the arithmetic says.
func TestNotice(t *testing.T) {
	p := Process{MTBI: 5, Save: 0.02, Restart: 0.1, Notice: 120.0 / 3600}
	o := p.Run(40, 1)
	// 40 h of work and 40 saves of 0.02 h; of all time (0.02 + 0.1)/5 goes to interruptions.
	if want := 40.8 / (1 - 0.12/5); math.Abs(o.Mean-want) > 1e-9 {
		t.Errorf("mean %.4f, want %.4f", o.Mean, want)
	}
	rapid.Check(t, func(r *rapid.T) {
		p := Process{MTBI: rapid.Float64Range(0.5, 500).Draw(r, "m"), Save: rapid.Float64Range(0.001, 0.2).Draw(r, "c"), Restart: rapid.Float64Range(0, 0.2).Draw(r, "r")}
		work := rapid.Float64Range(0.1, 200).Draw(r, "work")
		without := p.Run(work, 0)
		p.Notice = p.Save
		if with := p.Run(work, 0); with.Mean > without.Mean*(1+1e-9) {
			r.Fatalf("%+v: with a notice %v, without %v", p, with.Mean, without.Mean)
		}
	})
}
