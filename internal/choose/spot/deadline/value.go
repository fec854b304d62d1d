package deadline

import "math"

// ages are the lower ends, in hours, of the classes of age of a spell that decisions tell apart.
var ages = [...]float64{0, 0.12, 0.35, 1, 3, 9, 27}

// classes is their number.
const classes = len(ages)

func classOf(age float64) int {
	k := classes - 1
	for k > 0 && ages[k] > age+1e-9 {
		k--
	}
	return k
}

// middle is the age that stands for a class.
func middle(k int) float64 {
	switch k {
	case 0:
		return ages[1] / 2
	case classes - 1:
		return 1.5 * ages[k]
	}
	return math.Sqrt(ages[k] * ages[k+1])
}

// belief is how a market is thought to behave, in steps so that beliefs close to each other share their decisions. Spot is weighed against
// a base: on-demand, or a spot instance that is dearer.
type belief struct {
	up, down int // logarithms of the shapes of their spells
	price    int // logarithm of the price of spot over that of the base
	other    int // chance in tenths that when an instance is taken away another zone has one
	// missing is what going back to the base later costs for its not being there always: logarithm of hours at its price, or 0 for
	// nothing.
	missing int
}

// stepsPerE is how finely shapes and prices are told apart: by about a fifth.
const stepsPerE = 5

func step(x float64) int         { return int(math.Round(stepsPerE * math.Log(x))) }
func unstep(s int) float64       { return math.Exp(float64(s) / stepsPerE) }
func tenth(share float64) int    { return int(math.Round(10 * share)) }
func untenth(tenths int) float64 { return float64(tenths) / 10 }

// decisions is what is best under a belief, by work left, slack left and class of age; each byte holds two bits for each situation.
type decisions []uint8

// The situations in which there is something to decide. A spot instance that runs is kept.
const (
	offDown = 2 * iota // nothing runs, no spot instance to be had
	odDown             // on-demand runs, no spot instance to be had
	offUp
	odUp
)

// What to do in them.
const (
	wait = iota
	takeOnDemand
	takeSpot
)

// grid is a job in steps of some ticks: coarse enough that decisions are quick to work out, and as fine as that allows.
type grid struct {
	law            law
	job            Job
	ticks          int     // in a step
	hours          float64 // in a step
	work, slack    int     // steps
	overhead       int     // steps
	overheadShares float64 // the overhead exactly, in steps
}

// cells is the number of combinations of work and slack left that a grid may have.
const cells = 50_000

// newGrid makes the grid of a job. What slack there is beyond as much as the work is the same as having that much: the grid is the finer
// for leaving it out.
func newGrid(l law, j Job, gap float64) grid {
	g := grid{law: l, job: j, ticks: 1}
	slack := min(j.Deadline-j.Work, j.Work)
	for (j.Work/g.ticks+1)*(slack/g.ticks+1) > cells {
		g.ticks++
	}
	g.hours = float64(g.ticks) * gap
	g.work, g.slack = (j.Work+g.ticks-1)/g.ticks, slack/g.ticks
	g.overheadShares = float64(j.Overhead) / float64(g.ticks)
	if j.Overhead > 0 {
		g.overhead = max(1, int(math.Round(g.overheadShares)))
	}
	return g
}

// at is the index of a situation's decisions.
func (g *grid) at(v *View, class int) int {
	need := g.job.Work - v.Progress
	work, slack := (need+g.ticks-1)/g.ticks, (g.job.Deadline-v.Tick-need)/g.ticks
	return (work*(g.slack+1)+min(slack, g.slack))*classes + class
}

// values are expected costs to the end, in prices of an on-demand step, by class of age and slack: of the situations, and of a spot
// instance that runs.
type values struct{ offDown, odDown, offUp, odUp, spot [classes][]float64 }

func newValues(slack int) *values {
	v := &values{}
	for k := range classes {
		for _, of := range []*[classes][]float64{&v.offDown, &v.odDown, &v.offUp, &v.odUp, &v.spot} {
			of[k] = make([]float64, slack+1)
		}
	}
	return v
}

// chances are those of a step in each class of age.
type chances struct {
	lost, found [classes]float64 // a spell of being there, or of not, ends
	older       [classes]float64 // it goes over into the next class
	started     [classes]int     // the class after an overhead
	lives       [classes]float64 // a spot instance outlives its overhead
	other       float64
	missing     float64 // in prices of a step of the base
}

func (g *grid) chances(b belief) *chances {
	c := &chances{other: untenth(b.other)}
	up, down := unstep(b.up), unstep(b.down)
	if b.missing != 0 {
		c.missing = unstep(b.missing) / g.hours
	}
	for k := range classes {
		age := g.law.settling + middle(k)
		c.lost[k], c.found[k] = -math.Expm1(-up*g.hours/age), -math.Expm1(-down*g.hours/age)
		if k < classes-1 {
			c.older[k] = min(1, g.hours/(ages[k+1]-ages[k]))
		}
		start := g.overheadShares * g.hours
		c.started[k] = classOf(middle(k) + start)
		c.lives[k] = math.Pow(age/(age+start), up)
	}
	return c
}

// ageing is a value a step later within the same spell.
func (c *chances) ageing(v *[classes][]float64, k, slack int) float64 {
	now := v[k][slack]
	if k == classes-1 {
		return now
	}
	return now + c.older[k]*(v[k+1][slack]-now)
}

// gone is the value when a spot instance has been taken away: another zone has had one for a while, or none has.
func (c *chances) gone(v *values, slack int) float64 {
	none := v.offDown[0][slack]
	if c.other == 0 {
		return none
	}
	return none + c.other*(v.offUp[classOf(1)][slack]-none)
}

// decide works out the best decisions under a belief, by dynamic programming over work and slack left. Slack is the time left less
// the work left: waiting and starting use it up, and without an overhead's worth of it only on-demand keeps the deadline.
func (g *grid) decide(b belief) decisions {
	c, spot := g.chances(b), unstep(b.price)
	out := make(decisions, (g.work+1)*(g.slack+1)*classes)
	less, now := newValues(g.slack), newValues(g.slack) // with a step less of work, and with this much
	for work := 1; work <= g.work; work++ {
		for slack := range g.slack + 1 {
			for k := classes - 1; k >= 0; k-- { // older first: a spell ages into the next class
				out[(work*(g.slack+1)+slack)*classes+k] = g.cell(c, less, now, slack, k, spot)
			}
		}
		less, now = now, less
	}
	return out
}

// cell sets the values of one amount of work, slack and age from those with less, and gives its decisions.
func (g *grid) cell(c *chances, less, now *values, slack, k int, spot float64) uint8 {
	od := [2]float64{ // going on on-demand: nothing found yet, and spot to be had
		1 + c.found[k]*less.odUp[0][slack] + (1-c.found[k])*c.ageing(&less.odDown, k, slack),
		1 + c.lost[k]*less.odDown[0][slack] + (1-c.lost[k])*c.ageing(&less.odUp, k, slack),
	}
	inf := math.Inf(1)
	idle, start, begin, run := [2]float64{inf, inf}, [2]float64{inf, inf}, inf, inf
	if slack >= g.overhead {
		run = spot + c.lost[k]*c.gone(less, slack) + (1-c.lost[k])*c.ageing(&less.spot, k, slack)
		left, cost := slack-g.overhead, g.overheadShares
		if g.overhead == 0 {
			start, begin = od, run
		} else {
			start = [2]float64{cost + now.odDown[c.started[k]][left], cost + now.odUp[c.started[k]][left]}
			if left >= g.overhead {
				begin = cost*spot + c.lives[k]*now.spot[c.started[k]][left] + (1-c.lives[k])*c.gone(now, left)
			}
		}
		if slack > g.overhead {
			idle = [2]float64{
				c.found[k]*now.offUp[0][slack-1] + (1-c.found[k])*c.ageing(&now.offDown, k, slack-1),
				c.lost[k]*now.offDown[0][slack-1] + (1-c.lost[k])*c.ageing(&now.offUp, k, slack-1),
			}
		}
	}
	now.spot[k][slack] = run
	d := pick(offDown, idle[0], start[0], inf) | pick(offUp, idle[1], start[1], begin) |
		pick(odDown, idle[0], od[0], inf) | pick(odUp, idle[1], od[1], begin)
	now.offDown[k][slack] = min(idle[0], start[0]+c.missing)
	now.offUp[k][slack] = min(idle[1], start[1]+c.missing, begin)
	now.odDown[k][slack] = min(idle[0], od[0])
	now.odUp[k][slack] = min(idle[1], od[1], begin)
	return d
}

// pick is the bits of what costs least in a situation.
func pick(situation int, idle, onDemand, spot float64) uint8 {
	switch {
	case spot < min(idle, onDemand):
		return takeSpot << situation
	case onDemand <= idle:
		return takeOnDemand << situation
	}
	return wait << situation
}
