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
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"Young", p.Young(100), 1}, // sqrt(2 x 1/12 x 6)
		{"Daly", p.Daly(100), 1 + math.Sqrt(1.0/144)/3 + 1.0/144/9 - 1.0/12},
		{"Daly of a long checkpoint", Process{MTBI: 2, Save: 5}.Daly(100), 2},
		{"the minimiser", p.Minimiser(), 0.94515},
		{"exact, in 106 pieces", p.Interval(100), (100 - 1.0/12) / 106},
		{"exact, of little work", p.Interval(0.5), 0.5},
		{"exact, at no cost", Process{MTBI: 6}.Interval(100), 0},
	} {
		if math.Abs(c.got-c.want) > 1e-4 {
			t.Errorf("%s: %.6f h, want %.6f", c.name, c.got, c.want)
		}
	}
	// The minimiser solves (1 − x/M)·e^{(x+C)/M} = 1.
	if x := p.Minimiser() / p.MTBI; math.Abs((1-x)*math.Exp(x+p.Save/p.MTBI)-1) > 1e-12 {
		t.Errorf("%v does not solve its equation", x)
	}
	// Much work takes the textbook's time, M·e^{R/M}·(e^{(x+C)/M} − 1)·W/x.
	x := p.Interval(1e5)
	textbook := p.MTBI * math.Exp(p.Restart/p.MTBI) * math.Expm1((x+p.Save)/p.MTBI) * 1e5 / x
	if got := p.Expected(1e5, x); math.Abs(got/textbook-1) > 1e-5 {
		t.Errorf("mean %.2f, by the textbook %.2f", got, textbook)
	}
}

// The exact interval is at least as good as any other, Young's and Daly's among them.
func TestIntervalIsTheMinimum(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p := Process{MTBI: rapid.Float64Range(0.5, 500).Draw(r, "m"), Save: rapid.Float64Range(0.001, 1).Draw(r, "c"), Restart: rapid.Float64Range(0, 1).Draw(r, "r")}
		work := rapid.Float64Range(0.1, 1000).Draw(r, "work")
		best := p.Expected(work, p.Interval(work))
		for _, x := range []float64{rapid.Float64Range(0.01, 1).Draw(r, "x") * work, p.Young(work), p.Daly(work), math.Min(work, p.Minimiser())} {
			if other := p.Expected(work, x); other < best*(1-1e-9) {
				r.Fatalf("%v beats %v", other, best)
			}
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
		if b.Mean < a.Mean*(1-1e-9) || a.Mean < work*(1-1e-9) || a.P95 < work*(1-1e-9) {
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

// The arithmetic against a simulation of the process it describes, at the best interval and at others, to the limits: no interruption,
// checkpoints that cost nothing or longer than the time between interruptions, and long restarts.
func TestAgainstSimulation(t *testing.T) {
	minute := 1.0 / 60
	for _, c := range []struct {
		p    Process
		work float64
	}{
		{Process{MTBI: 5, Save: 0.05, Restart: 0.1}, 40},
		{Process{MTBI: 2.65, Save: 40.0 / 3600, Restart: 5 * minute}, 48},
		{Process{MTBI: 50, Save: 0.1, Restart: 0.2}, 40},
		{Process{MTBI: 0.5, Save: 0.1, Restart: 0.2}, 10},
		{Process{MTBI: 10, Save: 0.1, Restart: 0.1}, 1},
		{Process{MTBI: 14000, Save: 70.0 / 3600, Restart: 0.1}, 48},
		{Process{MTBI: 1000, Save: 0.02, Restart: 0.1}, 60},
		{Process{MTBI: 20, Save: 0.02, Restart: 5}, 20},
		{Process{MTBI: 5, Save: 0.1, Restart: 10}, 20}, // restarts longer than the time between interruptions
		{Process{MTBI: 1, Save: 2, Restart: 0.1}, 5},   // so is a checkpoint
		{Process{MTBI: 1, Save: 2, Restart: 0.1}, 3},
		{Process{MTBI: 3, Restart: 0.2}, 30}, // checkpoints that cost nothing
		{Process{MTBI: 3, Save: 0.1}, 30},    // restarts that take no time
		{Process{MTBI: math.Inf(1), Save: 0.1, Restart: 0.1}, 30},
		{Process{MTBI: 5, Save: 0.02, Restart: 0.1, Notice: 0.0333}, 40},
		{Process{MTBI: 60, Save: 0.02, Restart: 0.3, Notice: 0.0333}, 40},
		{Process{MTBI: 2, Save: 0.03, Restart: 1, Notice: 0.0333}, 20},
	} {
		for _, x := range []float64{0, c.p.Young(c.work), c.p.Daly(c.work), c.work / 7.3} {
			o := c.p.Run(c.work, x)
			if math.IsInf(o.Mean, 1) || o.Mean > 200*c.work {
				continue // more than can be simulated
			}
			rng := rand.New(rand.NewSource(1))
			runs := make([]float64, 20000)
			mean := 0.0
			for i := range runs {
				runs[i] = c.p.simulate(rng, c.work, o.Every)
				mean += runs[i] / float64(len(runs))
			}
			slices.Sort(runs)
			p95 := runs[len(runs)*95/100]
			if math.Abs(o.Mean-mean)/mean > 0.02 {
				t.Errorf("%+v, %.4g h every %.4g h: mean %.3f, simulated %.3f", c.p, c.work, o.Every, o.Mean, mean)
			}
			if math.Abs(o.P95-p95)/p95 > 0.02 {
				t.Errorf("%+v, %.4g h every %.4g h: 95th percentile %.3f, simulated %.3f", c.p, c.work, o.Every, o.P95, p95)
			}
		}
	}
}

// simulate runs the work once. A piece of it and its checkpoint are lost when an interruption comes before their end, unless a notice
// leaves time to save; restarts can be interrupted as well. Finished work is not saved again.
func (p Process) simulate(rng *rand.Rand, work, x float64) float64 {
	if p.undisturbed() {
		return work + p.Save*math.Max(0, math.Ceil((work-p.Save)/x-1e-9)-1)
	}
	if x <= 0 {
		x = work / 1e4
	}
	now, done, part, ready := 0.0, 0.0, 0.0, 0.0 // part is what a notice saved of a piece; ready is what is left of a restart
	for {
		up := rng.ExpFloat64() * p.MTBI
		if up < ready {
			now, ready = now+up, p.Restart
			continue
		}
		life := up - ready
		now, ready = now+ready, p.Restart
		for {
			piece := work - done
			if piece > x+p.Save+1e-9 {
				piece = x
			}
			need := piece - part
			if done+piece < work-1e-9 {
				need += p.Save
			}
			if life < need {
				now += life
				if p.Warned() {
					part += math.Max(0, math.Min(life-p.Save, piece-part))
				}
				break
			}
			now, life, part, done = now+need, life-need, 0, done+piece
			if done >= work-1e-9 {
				return now
			}
		}
	}
}

// A notice long enough to save in loses no work: never worse than none, and what the arithmetic says.
func TestNotice(t *testing.T) {
	p := Process{MTBI: 5, Save: 0.02, Restart: 0.1, Notice: 120.0 / 3600}
	o := p.Run(40, 1)
	// 40 h of work and 39 saves of 0.02 h, and for each interruption the wait for 0.12 h without one.
	if want := 40.78 * math.Exp(0.12/5); math.Abs(o.Mean-want) > 1e-9 {
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

// The outcome of a hundred processes, from rare interruptions to many: what a search asks for each offer that is rented as spot.
func BenchmarkRun(b *testing.B) {
	for b.Loop() {
		for i := range 100 {
			Process{MTBI: math.Pow(1.1, float64(i)), Save: 0.02, Restart: 0.1}.Run(10, 0)
		}
	}
	b.ReportMetric(100*float64(b.N)/b.Elapsed().Seconds()/1e3, "kruns/s")
}
