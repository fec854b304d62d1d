package sim

import (
	"math"
	"math/rand/v2"
)

// Size is the tokens of a request.
type Size struct{ In, Out int }

// Sizes is how long requests are: prompt and answer are each drawn evenly from Low to High.
type Sizes struct{ Low, High Size }

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
	shareStream   = 0x73686172
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

// Share appends n requests as one of several replicas gets them while a stretch of a trace is played over and over. At a
// rate below the stretch's own each request comes to this replica with the same chance, as a random split of the traffic
// has it; at a rate above it all do, and the clock runs faster.
func Share(to, stretch []Request, own, rate float64, n int, seed uint64) []Request {
	var r source
	r.Seed(seed, shareStream)
	first, last := stretch[0].At, stretch[len(stretch)-1].At
	lap := last - first + 1/own
	others := math.Log1p(-min(1, rate/own)) // the logarithm of the chance that a request goes elsewhere
	at := 0                                 // requests of the stretch gone by, over all laps
	for range n {
		at += int(math.Log(1-r.unit()) / others) // those that go elsewhere before the next for this replica
		x := stretch[at%len(stretch)]
		x.At = (x.At - first + float64(at/len(stretch))*lap) / max(1, rate/own)
		to = append(to, x)
		at++
	}
	return to
}
