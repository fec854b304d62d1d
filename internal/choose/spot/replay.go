package spot

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Spells are the times that instances were to be had and those that they were not, in hours, of one trace or several.
type Spells struct {
	Up, Down []float64
	Losses   int // times up that ended while the trace went on
}

// SpellsOf gathers the spells of traces. What the ends of a trace cut short is counted as far as it was seen, which makes the longest
// spells a little shorter than they were.
func SpellsOf(traces ...Trace) Spells {
	var s Spells
	for _, t := range traces {
		up, down := t.Durations()
		for _, n := range up {
			s.Up = append(s.Up, float64(n)*float64(t.Gap))
		}
		for _, n := range down {
			s.Down = append(s.Down, float64(n)*float64(t.Gap))
		}
		s.Losses += len(up)
		if n := len(t.Up); n > 0 && t.Up[n-1] {
			s.Losses--
		}
	}
	return s
}

// UpHours is the time up of all spells.
func (s Spells) UpHours() float64 { return sum(s.Up) }

// MTBI is the time up for each loss, in hours; +Inf where there was none.
func (s Spells) MTBI() float64 {
	if s.Losses == 0 {
		return math.Inf(1)
	}
	return s.UpHours() / float64(s.Losses)
}

// Available is the share of time that instances were to be had.
func (s Spells) Available() float64 {
	up := s.UpHours()
	return up / (up + sum(s.Down))
}

// Spread is the standard deviation of the times up over their mean: 1 where they are exponential, more where many are short and a few
// are long.
func (s Spells) Spread() float64 {
	n := float64(len(s.Up))
	mean, squares := sum(s.Up)/n, 0.0
	for _, v := range s.Up {
		squares += (v - mean) * (v - mean)
	}
	return math.Sqrt(squares/n) / mean
}

func sum(values []float64) float64 {
	total := 0.0
	for _, v := range values {
		total += v
	}
	return total
}

// Replayed is how long work took on spells that came again in random order.
type Replayed struct {
	Mean, P95     float64 // hours from the first instance until the work is done, waiting for instances included; +Inf where it never is
	Paid, PaidP95 float64 // hours of it that an instance ran
	Interruptions float64 // mean
	Runs          int
}

// endless is after how many losses a run counts as one that never finishes. After effort losses in all no further run begins: the more of
// them a run has, the fewer runs tell as much.
const (
	endless = 5_000_000
	effort  = 4 * endless
)

// Replay plays work that saves every x hours on times up and down drawn from spells, each equally likely to come next: an alternating
// renewal process; so many times, or fewer where each meets very many losses. The first instance is there at the start. Waiting takes
// time and is not paid. The same seed gives the same answer.
func (p Process) Replay(work, x float64, s Spells, runs int, seed uint64) Replayed {
	rng := rand.New(rand.NewPCG(seed, 0x5851f42d4c957f2d))
	var all, paid []float64
	total := 0
	for len(all) < runs && total < effort {
		run, waited, losses := p.play(work, x, s, rng)
		if math.IsInf(run, 1) {
			inf := math.Inf(1)
			return Replayed{Mean: inf, P95: inf, Paid: inf, PaidP95: inf, Interruptions: inf, Runs: len(all) + 1}
		}
		all, paid = append(all, run+waited), append(paid, run)
		total += losses
	}
	r := Replayed{Runs: len(all), Interruptions: float64(total) / float64(len(all))}
	r.Mean, r.P95 = middle(all)
	r.Paid, r.PaidP95 = middle(paid)
	return r
}

// middle is the mean and the 95th percentile; it sorts the values.
func middle(values []float64) (mean, p95 float64) {
	slices.Sort(values)
	return sum(values) / float64(len(values)), values[(len(values)*95+99)/100-1]
}

// play does the work once: the hours that an instance ran, those without one, and the losses.
func (p Process) play(work, x float64, s Spells, rng *rand.Rand) (run, waited float64, losses int) {
	heard := p.Save <= p.Notice // a notice saves what was done; so does a checkpoint that takes no time
	done, part, ready := 0.0, 0.0, 0.0
	if x <= 0 {
		x = work
	}
	for losses < endless {
		up := s.Up[rng.IntN(len(s.Up))]
		life := up - ready
		for life > 0 {
			// Whole pieces but the last, as many as there is life for.
			if n := math.Floor(math.Min(life/(x+p.Save), math.Ceil((work-done-x-p.Save-1e-9)/x))); part == 0 && n > 0 {
				life, done = life-n*(x+p.Save), done+n*x
				continue
			}
			piece, last := x, work-done <= x+p.Save+1e-9
			need := x + p.Save - part
			if last {
				piece = work - done
				need = piece - part
			}
			if life < need {
				if heard {
					part += math.Max(0, math.Min(life-p.Save, piece-part))
				}
				break
			}
			life, part, done = life-need, 0, done+piece
			if last {
				return run + up - life, waited, losses
			}
		}
		run, ready = run+up, p.Restart
		losses++
		if len(s.Down) > 0 {
			waited += s.Down[rng.IntN(len(s.Down))]
		}
	}
	return math.Inf(1), waited, losses
}
