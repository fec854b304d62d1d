// Package spot works out what interruptions do to a job: how often to checkpoint, and how long the work then takes
// on average and in the 95th percentile.
//
// The expected time is Daly's (FGCS 22, 2006), minimised exactly rather than by his or Young's series. Interruptions are taken as a Poisson process. Invariants:
// an interrupted job is never faster than an uninterrupted one; more interruptions never make it faster. Pure.
// Imported by choose/plan.
package spot

import "math"

// Process is a job under interruption; times are in hours.
type Process struct {
	MTBI    float64 // mean time between interruptions of the whole job; +Inf for none
	Save    float64 // time a checkpoint takes
	Restart float64 // time from an interruption until the work goes on
	// Notice is the warning the provider gives. Where a checkpoint fits into it, an interruption loses no work; periodic
	// checkpoints stay, since a notice is best effort.
	Notice float64
}

// Expected is the mean time to finish work when a checkpoint is saved after every x hours of it:
// M·e^{R/M}·(e^{(x+C)/M} − 1)·W/x.
func (p Process) Expected(work, x float64) float64 {
	if math.IsInf(p.MTBI, 1) || p.MTBI <= 0 {
		return work + p.Save*math.Max(0, work/x-1)
	}
	return p.MTBI * math.Exp(p.Restart/p.MTBI) * math.Expm1((x+p.Save)/p.MTBI) * work / x
}

// Interval is the exact minimiser of Expected, at most the work itself. It solves (1 − x/M)·e^{(x+C)/M} = 1, which Expected's
// derivative asks for, by bisection: the left side falls from e^{C/M} at 0 to 0 at M.
func (p Process) Interval(work float64) float64 {
	if math.IsInf(p.MTBI, 1) || p.MTBI <= 0 {
		return work
	}
	m := p.MTBI
	lo, hi := 0.0, m
	for range 60 {
		x := (lo + hi) / 2
		if (1-x/m)*math.Exp((x+p.Save)/m) > 1 {
			lo = x
		} else {
			hi = x
		}
	}
	return math.Min(work, (lo+hi)/2)
}

// Outcome is how long the work takes under interruption.
type Outcome struct {
	Every         float64 // hours between checkpoints
	Mean, P95     float64 // hours to finish
	Interruptions float64 // expected
}

// Run works out the outcome for so many hours of work, checkpointing every x hours, or at the best interval when x
// is 0. The percentile takes the work's segments as independent: each fails a geometric number of times and loses a truncated
// exponential time plus a restart, and many of them add up to a normal distribution.
func (p Process) Run(work, x float64) Outcome {
	if work <= 0 {
		return Outcome{}
	}
	if x <= 0 {
		x = p.Interval(work)
	}
	x = math.Min(x, work)
	o := Outcome{Every: x, Mean: p.Expected(work, x)}
	if math.IsInf(p.MTBI, 1) || p.MTBI <= 0 {
		o.P95 = o.Mean
		return o
	}
	if p.Save > 0 && p.Save <= p.Notice {
		// Saving at each notice pays off unless notices come about as fast as checkpoints are written.
		deaf := p
		deaf.Notice = 0
		if heard, lost := p.warned(work, x), deaf.Run(work, x); heard.Mean < lost.Mean {
			return heard
		}
	}
	m, tau := p.MTBI, x+p.Save
	q := -math.Expm1(-tau / m) // a segment is interrupted
	ok := math.Exp(-tau / m)
	if ok < 1e-12 {
		o.P95, o.Interruptions = math.Inf(1), math.Inf(1)
		return o
	}
	loss := m - tau*ok/q // mean time lost, less than tau
	second := 2*m*m - (tau*tau+2*m*tau)*ok/q
	variance := second - loss*loss
	fails := q / ok
	v := fails*math.Max(0, variance) + fails/ok*(loss+p.Restart)*(loss+p.Restart)
	n := work / x
	o.Interruptions = o.Mean / m
	o.P95 = o.Mean + 1.645*math.Sqrt(n*v)
	return o
}

// warned is the outcome when each interruption is told in time to save: it costs a checkpoint and a restart and no work. With
// M between interruptions, a share (C + R)/M of all time goes to them; their number is a Poisson count.
func (p Process) warned(work, x float64) Outcome {
	each := p.Save + p.Restart
	o := Outcome{Every: x}
	if each >= p.MTBI {
		o.Mean, o.P95, o.Interruptions = math.Inf(1), math.Inf(1), math.Inf(1)
		return o
	}
	o.Mean = work * (1 + p.Save/x) / (1 - each/p.MTBI)
	o.Interruptions = o.Mean / p.MTBI
	o.P95 = o.Mean + 1.645*math.Sqrt(o.Interruptions)*each
	return o
}
