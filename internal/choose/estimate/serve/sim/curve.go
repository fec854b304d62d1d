package sim

import (
	"math"
	"slices"
)

// Tail is the 99th percentiles that clients see, in seconds; and the mean and most sequences in their answers.
type Tail struct{ TTFT, TPOT, E2E, Mean, Most float64 }

// zip works out a tail from two, part by part.
func (t Tail) zip(u Tail, f func(a, b float64) float64) Tail {
	return Tail{f(t.TTFT, u.TTFT), f(t.TPOT, u.TPOT), f(t.E2E, u.E2E), f(t.Mean, u.Mean), f(t.Most, u.Most)}
}

// Quiet is what clients see who never meet another.
func (s *Sim) Quiet(d Deployment, requests []Request) Tail {
	return tail(s.Closed(d, 1, requests), s.All())
}

// Busy is what clients see whose requests come at their times, in steady state. The rate must be below what the deployment
// can do: else it grows with the number of requests.
func (s *Sim) Busy(d Deployment, requests []Request) Tail {
	return tail(s.Open(d, requests), s.Steady())
}

func tail(r Run, l Latencies) Tail {
	return Tail{l.TTFT.P99, l.TPOT.P99, l.E2E.P99, r.MeanDecoding, float64(r.MostDecoding)}
}

// Curve is how tails rise with the rate of requests. Batching has anomalies, by which a few more requests may be a little
// faster; a curve takes the highest of what is at or below a rate, so that it never falls, and is straight between the
// rates it was given.
type Curve struct {
	rates       []float64 // rising
	seen, tails []Tail    // at each, as simulated and as the curve has it
}

// Add puts in what was seen at a rate. What Quiet sees belongs at 0.
func (c *Curve) Add(rate float64, t Tail) {
	i, _ := slices.BinarySearch(c.rates, rate)
	c.rates, c.seen, c.tails = slices.Insert(c.rates, i, rate), slices.Insert(c.seen, i, t), append(c.tails, t)
	for ; i < len(c.seen); i++ {
		c.tails[i] = c.seen[i]
		if i > 0 {
			c.tails[i] = c.tails[i].zip(c.tails[i-1], math.Max)
		}
	}
}

// Holds tells whether no tail is above its limit; limits of 0 do not count.
func (t Tail) Holds(limit Tail) bool {
	held := func(have, want float64) bool { return want == 0 || have <= want }
	return held(t.TTFT, limit.TTFT) && held(t.TPOT, limit.TPOT) && held(t.E2E, limit.E2E)
}

// At is the tails at a rate; past the curve's end those of the end.
func (c *Curve) At(rate float64) Tail {
	for i := 1; i < len(c.rates); i++ {
		if rate < c.rates[i] {
			x := max(0, rate-c.rates[i-1]) / (c.rates[i] - c.rates[i-1])
			return c.tails[i-1].zip(c.tails[i], func(a, b float64) float64 { return a + x*(b-a) })
		}
	}
	return c.tails[len(c.tails)-1]
}

// Most is the highest rate of the curve at which no tail is above its limit; limits of 0 do not count. It is 0 where even
// a client alone does not see them held.
func (c *Curve) Most(limit Tail) float64 {
	most := c.rates[len(c.rates)-1]
	for _, pick := range [...]func(t *Tail) float64{
		func(t *Tail) float64 { return t.TTFT },
		func(t *Tail) float64 { return t.TPOT },
		func(t *Tail) float64 { return t.E2E },
	} {
		want := pick(&limit)
		for i := range c.tails {
			have := pick(&c.tails[i])
			if want == 0 || have <= want {
				continue
			}
			if i == 0 {
				return 0
			}
			before := pick(&c.tails[i-1])
			most = min(most, c.rates[i-1]+(c.rates[i]-c.rates[i-1])*(want-before)/(have-before))
			break
		}
	}
	return most
}
