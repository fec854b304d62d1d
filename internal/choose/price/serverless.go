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
	// Cold is the share of requests that wait for a worker to start. With one worker it is exact; with more it is at most this.
	Cold float64
}

// Load works out how many workers run and how many requests wait for one. promised is the largest share of requests that may wait:
// as many workers as that takes never stop; 1 promises nothing.
//
// Requests fill the lowest worker with room, so worker j is at work while more than m = j x Slots requests are in the system, a number
// that is Poisson with mean a = PerSecond x Service whatever the distribution of Service (M/G/inf; Takács 1962). It is taken up with the
// rate u = PerSecond x P(n = m) of upward crossings, is at work for the share b = P(n > m) of the time, and is left for (1-b)/u
// on average. Left alone for longer than k = KeepAlive it stops. Were the times it is left exponential, as for the first worker they are,
// it would do so u exp(-k u/(1-b)) times a second, be off for (1-b)/u each time and then start for d = ColdStart: it is off for
// (1-b) / (exp(k u/(1-b)) + u d) of the time. For one worker of many slots that is the renewal argument of a busy period, off for
// 1/(exp(PerSecond (Service + k)) + PerSecond d) of the time, which is exact for constant Service. The times that deeper workers are
// left are mixtures of exponentials, some far longer than others, so that by Jensen's inequality they are off for longer: Workers
// is at most a little too high.
func (e Elastic) Load(promised float64) Load {
	levels := e.levels()
	var l Load
	// The deepest workers are used least: they are the last to be kept.
	cold := 0.0
	for l.Warm = len(levels); l.Warm > 0; l.Warm-- {
		next := cold + levels[l.Warm-1].cold
		if next > promised && promised < 1 {
			break
		}
		cold = next
	}
	l.Cold, l.Workers = min(1, cold), float64(l.Warm)
	for _, v := range levels[l.Warm:] {
		l.Workers += v.up
		l.Starts += v.starts
	}
	return l
}

// level is one worker by its place in the order they are filled.
type level struct{ up, starts, cold float64 }

// rarely is a share of time too small to pay for or to notice.
const rarely = 1e-9

func (e Elastic) levels() (out []level) {
	rate, d, k := e.PerSecond, e.ColdStart.Seconds(), e.KeepAlive.Seconds()
	a := rate * e.Service.Seconds()
	slots := max(1, e.Slots)
	below := 0.0 // P(n < m)
	p := 0.0
	first := int(max(0, a-12*math.Sqrt(a)-20)) // below which there is nothing
	for n, m := 0, 0; ; n++ {
		switch {
		case n == first:
			p = poisson(a, n)
		case n > first:
			p *= a / float64(n)
		}
		if n < m {
			below += p
			continue
		}
		busy := max(0, 1-below-p)
		if n > 0 && busy < rarely && float64(n) > a {
			return out
		}
		up := rate * p
		v := level{up: 1}
		// Where a worker is hardly ever free it is up: its crossings and its free time vanish together.
		if free := 1 - busy; free > rarely && up > 0 {
			off := free / (math.Exp(k*up/free) + up*d)
			v.up = 1 - off
			v.starts = off * up / free
			v.cold = v.starts * (1/rate + d)
		}
		out = append(out, v)
		m += slots
		below += p
	}
}

// poisson is the probability of n events where a are expected.
func poisson(a float64, n int) float64 {
	if a == 0 {
		if n == 0 {
			return 1
		}
		return 0
	}
	lg, _ := math.Lgamma(float64(n) + 1)
	return math.Exp(float64(n)*math.Log(a) - a - lg)
}
