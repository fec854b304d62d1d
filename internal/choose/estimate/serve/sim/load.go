package sim

import (
	"math"
	"math/rand/v2"
)

// Size is the tokens of a request.
type Size struct{ In, Out int }

// Sizes is how long requests are: each like one of Samples, drawn evenly, or, without, prompt and answer each drawn evenly
// from Low to High.
type Sizes struct {
	Low, High Size
	Samples   []Size
}

// Fixed is requests of one size.
func Fixed(in, out int) Sizes { return Sizes{Low: Size{in, out}, High: Size{in, out}} }

// Uniform is sizes between a share of the nominal one and that: 0.8 for the public serving benchmarks.
func Uniform(in, out int, least float64) Sizes {
	low := func(n int) int { return max(1, int(math.Ceil(least*float64(n)))) }
	return Sizes{Low: Size{low(in), low(out)}, High: Size{in, out}}
}

// source is a small generator of its own, so that a load depends on its seed alone. Sizes and arrivals have streams apart:
// at another rate the same requests come in the same order.
type source struct{ rand.PCG }

const (
	sizeStream    = 0x73697a65
	arrivalStream = 0x61727269
)

// unit is even on [0, 1).
func (r *source) unit() float64 { return float64(r.Uint64()>>11) / (1 << 53) }

func (r *source) between(low, high int) int {
	if high <= low {
		return low
	}
	return low + int(r.unit()*float64(high-low+1))
}

func (z *Sizes) draw(r *source) Size {
	if len(z.Samples) > 0 {
		return z.Samples[r.between(0, len(z.Samples)-1)]
	}
	return Size{r.between(z.Low.In, z.High.In), r.between(z.Low.Out, z.High.Out)}
}

// Load appends n requests of the sizes to a slice, all at time 0: a closed loop's, or all at once.
func Load(to []Request, n int, sizes Sizes, seed uint64) []Request {
	var r source
	r.Seed(seed, sizeStream)
	for range n {
		size := sizes.draw(&r)
		to = append(to, Request{In: size.In, Out: size.Out})
	}
	return to
}

// Poisson appends n requests that come independently of one another at a mean rate a second. With the same seed a higher
// rate is the same arrivals in less time.
func Poisson(to []Request, n int, rate float64, sizes Sizes, seed uint64) []Request {
	from := len(to)
	to = Load(to, n, sizes, seed)
	var r source
	r.Seed(seed, arrivalStream)
	at := 0.0
	for i := from; i < len(to); i++ {
		at += r.wait() / rate
		to[i].At = at
	}
	return to
}

// wait is exponential with mean 1.
func (r *source) wait() float64 { return -math.Log(1 - r.unit()) }

// Profile appends n requests that come independently at a rate that changes with time: factors, each of which holds for
// a period of so many seconds and is a share of the peak rate, over and over. One of them must be above 0.
func Profile(to []Request, n int, peak float64, factors []float64, period float64, sizes Sizes, seed uint64) []Request {
	from := len(to)
	to = Load(to, n, sizes, seed)
	var r source
	r.Seed(seed, arrivalStream)
	hour, into := 0, 0.0 // periods gone by, and seconds into the one under way
	for i := from; i < len(to); i++ {
		left := r.wait() // requests expected until the next comes
		for {
			rate := peak * factors[hour%len(factors)]
			if more := rate * (period - into); left > more {
				left -= more
				hour, into = hour+1, 0
				continue
			}
			if rate > 0 {
				into += left / rate
			}
			break
		}
		to[i].At = float64(hour)*period + into
	}
	return to
}

// Thin appends the requests of a trace that one of several replicas gets, when the trace is played at a rate of its own and
// a replica is to see a lower one: every so many-th request. To see a higher one the trace is played faster. Of a long trace
// it takes the busiest stretch that gives about n requests.
func Thin(to, trace []Request, own, rate float64, n int) []Request {
	keep := rate / own
	faster := max(1, keep)
	keep = min(1, keep)
	stretch := trace
	if want := int(float64(n) / keep); want < len(trace) {
		stretch = busiest(trace, want)
	}
	taken := 0.0
	for i := range stretch {
		if taken += keep; taken < 1-1e-9 {
			continue
		}
		taken--
		r := stretch[i]
		r.At = (r.At - stretch[0].At) / faster
		to = append(to, r)
	}
	return to
}

// busiest is the n requests in a row that come in the shortest time.
func busiest(trace []Request, n int) []Request {
	best := 0
	for i := 0; i+n <= len(trace); i++ {
		if trace[i+n-1].At-trace[i].At < trace[best+n-1].At-trace[best].At {
			best = i
		}
	}
	return trace[best : best+n]
}
