// Package spot works out what interruptions do to a job: how often to checkpoint, and how long the work then takes
// on average and in the 95th percentile, by arithmetic and by replaying recorded availability. It reads such recordings.
//
// The expected time is Daly's (FGCS 22, 2006), minimised exactly rather than by his or Young's series. The arithmetic takes interruptions
// as a Poisson process; Replay takes them as they were. Invariants: an interrupted job is never faster than an uninterrupted one; more
// interruptions never make it faster; no interval has a lower mean than the exact one where no notice is given. Pure: random numbers come from a seed.
// Imported by choose/plan and front.
package spot

import "math"

// Process is a job under interruption; times are in hours.
type Process struct {
	MTBI    float64 // mean time between interruptions of the whole job; +Inf for none
	Save    float64 // time a checkpoint takes
	Restart float64 // time from an interruption until the work goes on; it can be interrupted itself
	// Notice is the warning the provider gives. Where a checkpoint fits into it, an interruption loses no work; periodic
	// checkpoints stay, since a notice is best effort.
	Notice float64
}

// continuous is how many pieces stand for checkpoints that cost nothing and are written all the time.
const continuous = 1e6

// pieces is how many parts work is cut into by a checkpoint after every x hours of it, and the length of the last, which needs none. A
// checkpoint that would take longer than the work that is left is not written.
func (p Process) pieces(work, x float64) (n, last float64) {
	if x <= 0 {
		x = work / continuous
	}
	n = math.Max(1, math.Ceil((work-p.Save)/x-1e-9))
	return n, work - (n-1)*x
}

// Warned says whether a checkpoint fits into the notice. One that takes no time needs none.
func (p Process) Warned() bool { return p.Save > 0 && p.Save <= p.Notice }

func (p Process) undisturbed() bool { return math.IsInf(p.MTBI, 1) || p.MTBI <= 0 }

// Expected is the mean time to finish work when a checkpoint is saved after every x hours of it: M·e^{R/M}·(e^{t/M} − 1) for each piece of
// the work, where t is x + C, and what is left for the last. It is Daly's M·e^{R/M}·(e^{(x+C)/M} − 1)·W/x but for the last
// checkpoint, which finished work does not need. An x of 0 saves all the time.
func (p Process) Expected(work, x float64) float64 {
	n, last := p.pieces(work, x)
	if p.undisturbed() {
		return work + p.Save*(n-1)
	}
	m := p.MTBI
	if x <= 0 && p.Save <= 0 {
		return work * math.Exp(p.Restart/m)
	}
	each := math.Expm1(((work-last)/math.Max(1, n-1) + p.Save) / m)
	return m * math.Exp(p.Restart/m) * ((n-1)*each + math.Expm1(last/m))
}

// Young is his interval sqrt(2·C·M) (CACM 17, 1974), at most the work itself.
func (p Process) Young(work float64) float64 {
	if p.undisturbed() {
		return work
	}
	return math.Min(work, math.Sqrt(2*p.Save*p.MTBI))
}

// Daly is his higher-order interval sqrt(2·C·M)·(1 + sqrt(C/2M)/3 + (C/2M)/9) − C, or M where a checkpoint takes 2·M or longer (FGCS 22,
// 2006, equation 37); at most the work itself.
func (p Process) Daly(work float64) float64 {
	if p.undisturbed() {
		return work
	}
	m := p.MTBI
	if p.Save >= 2*m {
		return math.Min(work, m)
	}
	r := p.Save / (2 * m)
	return math.Min(work, math.Sqrt(2*p.Save*m)*(1+math.Sqrt(r)/3+r/9)-p.Save)
}

// Minimiser is the x that minimises M·e^{R/M}·(e^{(x+C)/M} − 1)/x, the mean time for work without end. It solves
// (1 − x/M)·e^{(x+C)/M} = 1, which the derivative asks for, by bisection: the left side falls from e^{C/M} at 0 to 0 at M.
func (p Process) Minimiser() float64 {
	if p.undisturbed() {
		return math.Inf(1)
	}
	lo, hi := 0.0, 1.0 // of M
	for range 60 {
		x := (lo + hi) / 2
		if math.Log1p(-x)+x+p.Save/p.MTBI > 0 {
			lo = x
		} else {
			hi = x
		}
	}
	return p.MTBI * (lo + hi) / 2
}

// Interval is the exact minimiser of Expected: the work itself where no checkpoint is worth its time, 0 where checkpoints cost nothing. Of
// n pieces the best are equally long with their checkpoints, (W − C)/n each, and the mean is convex in n; so n is one of the
// whole numbers beside that of Minimiser. It counts on no notice, which is best effort.
func (p Process) Interval(work float64) float64 {
	if p.undisturbed() || work <= p.Save {
		return work
	}
	if p.Save <= 0 {
		return 0
	}
	most := (work - p.Save) / p.Minimiser()
	best, least := work, p.Expected(work, work)
	for _, n := range []float64{math.Floor(most), math.Ceil(most)} {
		if n < 2 {
			continue
		}
		if x := (work - p.Save) / n; p.Expected(work, x) < least {
			best, least = x, p.Expected(work, x)
		}
	}
	return best
}

// Outcome is how long the work takes under interruption.
type Outcome struct {
	Every         float64 // hours of work between checkpoints; 0 all the time
	Mean, P95     float64 // hours to finish; +Inf where it never does
	Interruptions float64 // expected
}

// never is how small the chance of getting through a piece of work may become before it counts as none.
const never = 1e-12

// Run works out the outcome for so many hours of work, checkpointing every x hours, or at the best interval when x
// is 0. The mean is exact for a Poisson process without notice; the percentile is that of extra below.
func (p Process) Run(work, x float64) Outcome {
	if work <= 0 {
		return Outcome{}
	}
	if x <= 0 {
		x = p.Interval(work)
	}
	x = math.Min(x, work)
	o := Outcome{Every: x, Mean: p.Expected(work, x)}
	if p.undisturbed() {
		o.P95 = o.Mean
		return o
	}
	if p.Warned() {
		// Saving at each notice pays off unless notices come about as fast as checkpoints are written.
		if heard := p.warned(work, x); heard.Mean < o.Mean {
			return heard
		}
	}
	n, last := p.pieces(work, x)
	total := work + p.Save*(n-1)
	e := extra{m: p.MTBI, gap: p.Restart, lost: true, full: piece{n - 1, (total - last) / math.Max(1, n-1)}, last: piece{1, last}}
	if longest := math.Max(e.full.hours, last); math.Exp(-(longest+p.Restart)/p.MTBI) < never {
		return Outcome{Every: x, Mean: math.Inf(1), P95: math.Inf(1), Interruptions: math.Inf(1)}
	}
	o.P95, o.Interruptions = total+e.quantile95(), o.Mean/p.MTBI
	return o
}

// warned is the outcome when each interruption is told in time to save: it costs a checkpoint and a restart and no work. An instance that
// is taken away before it has restarted and could save again is no use; so each interruption costs the wait for a stretch of
// C + R, which is M·(e^{(C+R)/M} − 1) on average, and the whole work of B hours, checkpoints included, takes B·e^{(C+R)/M}.
func (p Process) warned(work, x float64) Outcome {
	n, _ := p.pieces(work, x)
	total := work + p.Save*(n-1)
	each := p.Save + p.Restart
	if math.Exp(-each/p.MTBI) < never {
		return Outcome{Every: x, Mean: math.Inf(1), P95: math.Inf(1), Interruptions: math.Inf(1)}
	}
	o := Outcome{Every: x, Mean: total * math.Exp(each/p.MTBI)}
	o.Interruptions = o.Mean / p.MTBI
	o.P95 = total + extra{m: p.MTBI, gap: each, full: piece{continuous, total / continuous}}.quantile95()
	return o
}
