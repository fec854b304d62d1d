package price

import (
	"math"

	"github.com/rackrate/rackrate/internal/base/unit"
)

// Elastic is a service whose workers start when requests find no room and stop once they have been idle for a while.
type Elastic struct {
	PerSecond float64    // requests, which arrive independently of one another (Poisson)
	Service   unit.Hours // a request's time in its worker
	Slots     int        // requests a worker works on at once
	KeepAlive unit.Hours // from a worker's last request until it stops
	ColdStart unit.Hours // from the request that starts a worker until it works on it; billed
}

// Load is what an elastic service comes to.
type Load struct {
	Workers float64 // running on average, starts and idle time included
	Warm    int     // of them the ones that never stop
	Starts  float64 // a second
	Cold    float64 // share of requests that wait for a worker to start
}

// Load works out how many workers run and how many requests wait for one. promised is the largest share of requests that may wait; 1
// promises nothing. As many workers never stop as that takes, or more where starts would cost more than keeping them.
//
// Requests fill the lowest worker with room, so worker j is at work while more than m = j x Slots requests are in the system, a number
// that is Poisson with mean a = PerSecond x Service whatever the distribution of Service (M/G/inf; Takács 1962). It is taken up with the
// rate u = PerSecond x P(n = m) of upward crossings, is at work for the share b = P(n > m) of the time, and is left for (1-b)/u
// on average. Left alone for longer than k = KeepAlive it stops. Were the times it is left exponential, as for the first worker they are,
// it would do so u exp(-k u/(1-b)) times a second, be off for (1-b)/u each time and then start for d = ColdStart: it is off for
// (1-b) / (exp(k u/(1-b)) + u d) of the time. For one worker of many slots that is the renewal argument of a busy period, off for
// 1/(exp(PerSecond (Service + k)) + PerSecond d) of the time, which is exact for constant Service. The times that deeper workers are
// left are mixtures of exponentials, some far longer than others, so that by Jensen's inequality they are off for longer.
//
// Whoever waits for a start holds a slot for longer than the Poisson number knows. Over a start the m slots below turn away the share
// P(n = m) / P(n <= m) of the requests that come (Erlang 1917): they wait too, and what the worker has no slots for starts more workers.
// Deeper workers that happen to be up take some of them, which is not counted, so that Workers and Cold lean to the high side; but no
// more wait than find the m slots of the workers that never stop full, which by the same formula is P(n = m) / P(n <= m).
func (e Elastic) Load(promised float64) Load {
	always, levels := e.levels()
	best, rest := Load{Workers: math.Inf(1)}, Load{} // rest: of the workers that may stop
	// The deepest workers are used least: they are the last to be kept.
	for i := len(levels); ; i-- {
		if workers := float64(always+i) + rest.Workers; workers <= best.Workers {
			best = Load{Workers: workers, Warm: always + i, Starts: rest.Starts}
			if i < len(levels) {
				best.Cold = min(levels[i].full, rest.Cold)
			}
		}
		if i == 0 || promised < 1 && min(levels[i-1].full, rest.Cold+levels[i-1].cold) > promised {
			break
		}
		v := levels[i-1]
		rest.Workers, rest.Starts, rest.Cold = rest.Workers+v.up, rest.Starts+v.starts, rest.Cold+v.cold
	}
	if best.Warm == always { // nobody needs to keep what never idles
		best.Warm = 0
	}
	return best
}

// level is one worker: for how much of the time it is up, with the workers that its starts start, and what those come to; and the
// share of requests that would find every slot before it full if none of those workers ever stopped.
type level struct{ up, starts, cold, full float64 }

// rarely is a share of time too small to pay for or to notice.
const rarely = 1e-9

// levels is how many workers are always at work, and those beyond them by their place in the order they are filled.
func (e Elastic) levels() (always int, out []level) {
	first, p := poisson(e.PerSecond * e.Service.Seconds())
	slots := max(1, e.Slots)
	always = first / slots
	below, n := 0.0, first // P(number < n)
	for m := always * slots; ; m += slots {
		for ; n < m && n-first < len(p); n++ {
			below += p[n-first]
		}
		if n-first >= len(p) {
			return always, out
		}
		at := 0.0 // P(number = m)
		if m >= first {
			at = p[m-first]
		}
		if m > 0 && 1-below-at < rarely {
			return always, out
		}
		out = append(out, e.level(below, at))
	}
}

// level is the worker that is at work while more requests are in the system than a number that has the probability at, below which are
// below.
func (e Elastic) level(below, at float64) level {
	rate, d, k, slots := e.PerSecond, e.ColdStart.Seconds(), e.KeepAlive.Seconds(), float64(max(1, e.Slots))
	up, free := rate*at, min(1, below+at)
	// Where a worker is hardly ever free it is up: its crossings and its free time vanish together.
	if free <= rarely || up == 0 {
		return level{up: 1, full: 1}
	}
	off := free / (math.Exp(k*up/free) + up*d)
	starts := off * up / free
	wait := 1 + rate*d*at/free // for one start, the rest of its own slots and of others that it starts
	more := max(0, wait/slots-1)
	return level{
		up: 1 - off + starts*more*(d+k+e.Service.Seconds()), starts: starts * (1 + more),
		cold: starts / rate * max(wait, min(1+rate*d, slots)), full: at / (below + at),
	}
}

// poisson is the probabilities of first events and more where a are expected, as far as either tail can be told from nothing: beyond
// 12 standard deviations. They are scaled to sum to 1, since the logarithms of large factorials leave too few digits.
func poisson(a float64) (first int, p []float64) {
	reach := 12*math.Sqrt(a) + 20
	first = int(max(0, a-reach))
	mode := int(a) - first
	p = make([]float64, int(a+reach)-first+1)
	p[mode] = 1
	for i := mode; i > 0; i-- {
		p[i-1] = p[i] * float64(first+i) / a
	}
	for i := mode + 1; i < len(p); i++ {
		p[i] = p[i-1] * a / float64(first+i)
	}
	sum := 0.0
	for _, v := range p {
		sum += v
	}
	for i := range p {
		p[i] /= sum
	}
	return first, p
}
