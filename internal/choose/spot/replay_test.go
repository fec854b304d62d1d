package spot

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func TestSpells(t *testing.T) {
	s := SpellsOf(Trace{Gap: 0.5, Up: []bool{true, true, false, true, true, true, false, false}}, Trace{Gap: 1, Up: []bool{false, true}}, Trace{Gap: 1})
	// 2.5 h up with two losses, then an hour whose end was not seen.
	if s.Losses != 2 || s.MTBI() != 1.75 || s.Available() != 3.5/6 || len(s.Up) != 3 || len(s.Down) != 3 {
		t.Errorf("%+v, MTBI %v, available %v", s, s.MTBI(), s.Available())
	}
	if got, want := s.Spread(), math.Sqrt((1.0/36+1.0/9+1.0/36)/3)/(3.5/3); math.Abs(got-want) > 1e-12 {
		t.Errorf("spread %v, want %v", got, want)
	}
	if s := SpellsOf(Trace{Gap: 1, Up: []bool{true, true}}); !math.IsInf(s.MTBI(), 1) || s.Losses != 0 {
		t.Errorf("never lost, yet %+v", s)
	}
}

// Times up of 2 h and down of 1 h, worked out by hand.
func TestReplayByHand(t *testing.T) {
	s := Spells{Up: []float64{2}, Down: []float64{1}, Losses: 1}
	for _, c := range []struct {
		p             Process
		work, x       float64
		mean, paid, n float64
	}{
		// The second piece of 1 h and its checkpoint do not fit, nor does the third behind the second: 2 + 1 + 2 + 1 + 1.
		{Process{Save: 0.25}, 3, 1, 7, 5, 2},
		{Process{Save: 0.25, Restart: 0.5}, 3, 1, 7.5, 5.5, 2},
		// With a notice the 0.5 h until the last checkpoint are kept: 2 + 1, then 0.5 + 0.25 of the second piece and 1 h.
		{Process{Save: 0.25, Notice: 0.3}, 3, 1, 2 + 1 + 0.75 + 1, 2 + 0.75 + 1, 1},
		{Process{}, 3, 0, 4, 3, 1},                   // checkpoints that cost nothing lose nothing
		{Process{Save: 0.25}, 1.5, 1.5, 1.5, 1.5, 0}, // done before anything happens
	} {
		r := c.p.Replay(c.work, c.x, s, 10, 1)
		if math.Abs(r.Mean-c.mean) > 1e-9 || math.Abs(r.Paid-c.paid) > 1e-9 || math.Abs(r.Interruptions-c.n) > 1e-9 || r.P95 != r.Mean || r.PaidP95 != r.Paid {
			t.Errorf("%+v: %+v, want %v h, %v paid, %v interruptions", c.p, r, c.mean, c.paid, c.n)
		}
	}
	if r := (Process{Save: 0.1}).Replay(3, 3, s, 10, 1); !math.IsInf(r.Mean, 1) || !math.IsInf(r.PaidP95, 1) {
		t.Errorf("3 h without a checkpoint in spells of 2 h: %+v", r)
	}
}

// Work of years, saved every few seconds, takes its millions of pieces at once, and fewer runs for its many losses; it is not called endless.
func TestReplayOfYears(t *testing.T) {
	s := Spells{Up: []float64{2, 6}, Down: []float64{1}, Losses: 2}
	p := Process{MTBI: 4, Save: 1.0 / 3.6e6, Restart: 0.1}
	const work = 100 * 8760.0
	o := p.Run(work, 0)
	r := p.Replay(work, o.Every, s, 4000, 1)
	if r.Runs < 50 || r.Runs > 200 || math.Abs(r.Interruptions/(work/3.9)-1) > 0.01 || math.Abs(r.Paid/o.Mean-1) > 0.001 || r.P95 > 1.01*r.Mean {
		t.Errorf("%+v, by the formula %+v", r, o)
	}
}

// On exponential times up a replay agrees with the arithmetic, mean and percentile.
func TestReplayAgreesWithTheFormula(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for _, p := range []Process{
		{MTBI: 2.65, Save: 40.0 / 3600, Restart: 5.0 / 60}, {MTBI: 10, Save: 0.1, Restart: 0.5}, {MTBI: 40, Save: 0.02, Restart: 2},
		{MTBI: 3, Save: 0.03, Restart: 0.2, Notice: 0.0334}, {MTBI: 4, Restart: 0.1},
	} {
		s := Spells{Down: []float64{0.5, 1.5}}
		total := 0.0
		for range 50000 {
			s.Up = append(s.Up, rng.ExpFloat64()*p.MTBI)
			total += s.Up[len(s.Up)-1]
		}
		p.MTBI = total / 50000
		o := p.Run(40, 0)
		r := p.Replay(40, o.Every, s, 10000, 3)
		if math.Abs(r.Paid/o.Mean-1) > 0.02 || math.Abs(r.PaidP95/o.P95-1) > 0.03 || math.Abs(r.Interruptions/o.Interruptions-1) > 0.03 {
			t.Errorf("%+v: replayed %+v, by the formula %+v", p, r, o)
		}
		if waiting := r.Mean - r.Paid; math.Abs(waiting/r.Interruptions-1) > 0.02 {
			t.Errorf("%+v: %.3f h of waiting for %.3f losses of 1 h", p, waiting, r.Interruptions)
		}
	}
}

// A replay takes the work at least, waiting is the rest, and the same seed gives the same answer.
func TestReplayProperties(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		spells := rapid.SliceOfN(rapid.Float64Range(0.2, 20), 1, 10)
		s := Spells{Up: spells.Draw(r, "up"), Down: spells.Draw(r, "down")}
		p := Process{Save: rapid.Float64Range(0, 0.1).Draw(r, "save"), Restart: rapid.Float64Range(0, 0.1).Draw(r, "restart"), Notice: rapid.Float64Range(0, 0.1).Draw(r, "notice")}
		work, x := rapid.Float64Range(0.1, 20).Draw(r, "work"), rapid.Float64Range(0.01, 20).Draw(r, "x")
		a := p.Replay(work, x, s, 20, 5)
		if a.Paid < work*(1-1e-9) || a.Mean < a.Paid || a.PaidP95 > a.P95*(1+1e-9) || a != p.Replay(work, x, s, 20, 5) {
			r.Fatalf("%+v", a)
		}
		for i := range s.Down {
			s.Down[i] *= 2
		}
		if b := p.Replay(work, x, s, 20, 5); b.Mean < a.Mean*(1-1e-9) || b.Paid != a.Paid {
			r.Fatalf("longer waits: %+v, then %+v", a, b)
		}
	})
}

// Two days of work on the spells of 2.65 h, replayed as often as the command does.
func BenchmarkReplay(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	s := Spells{Down: []float64{0.5, 3}}
	for range 500 {
		s.Up = append(s.Up, rng.ExpFloat64()*2.65)
	}
	p := Process{MTBI: 2.65, Save: 40.0 / 3600, Restart: 0.1}
	for b.Loop() {
		p.Replay(48, 0.25, s, 4000, 1)
	}
	b.ReportMetric(4000*float64(b.N)/b.Elapsed().Seconds()/1e3, "kruns/s")
}
