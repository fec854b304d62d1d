package sim

import "math"

// Tail is the 99th percentiles that clients see at a rate, in seconds, and the mean number of sequences in their answers.
type Tail struct{ TTFT, TPOT, E2E, Decoding float64 }

// Curve is how tails rise with the rate of requests. Batching has anomalies, by which a few more requests may be a little
// faster; a curve takes the highest of what is at or below a rate, so that it never falls, and is straight between the
// rates that were simulated.
type Curve struct {
	rates []float64 // rising, from 0
	tails []Tail
}

// alone is how many requests show what clients see who never meet another.
const alone = 64

// Curve simulates a deployment at rising rates, requests a second, besides one client alone. Load appends the requests of a
// rate. A rate at which queues go on growing belongs to no curve: stay below what the deployment can do.
func (s *Sim) Curve(c *Curve, d Deployment, rates []float64, load func(to []Request, rate float64) []Request) {
	c.rates, c.tails = append(c.rates[:0], 0), c.tails[:0]
	s.loaded = load(s.loaded[:0], rates[0])
	s.Closed(d, 1, s.loaded[:min(alone, len(s.loaded))])
	quiet := tail(s.All(), 0)
	c.tails = append(c.tails, quiet)
	for _, rate := range rates {
		s.loaded = load(s.loaded[:0], rate)
		run := s.Open(d, s.loaded)
		t, before := tail(s.Steady(), run.MeanDecoding), c.tails[len(c.tails)-1]
		c.rates = append(c.rates, rate)
		c.tails = append(c.tails, Tail{max(t.TTFT, before.TTFT), max(t.TPOT, before.TPOT), max(t.E2E, before.E2E), max(t.Decoding, before.Decoding)})
	}
}

func tail(l Latencies, decoding float64) Tail {
	return Tail{l.TTFT.P99, l.TPOT.P99, l.E2E.P99, decoding}
}

// At is the tails at a rate; past the curve's end infinite.
func (c *Curve) At(rate float64) Tail {
	for i := 1; i < len(c.rates); i++ {
		if rate <= c.rates[i] {
			a, b := c.tails[i-1], c.tails[i]
			x := max(0, rate-c.rates[i-1]) / (c.rates[i] - c.rates[i-1])
			between := func(a, b float64) float64 { return a + x*(b-a) }
			return Tail{between(a.TTFT, b.TTFT), between(a.TPOT, b.TPOT), between(a.E2E, b.E2E), between(a.Decoding, b.Decoding)}
		}
	}
	return Tail{math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1)}
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
