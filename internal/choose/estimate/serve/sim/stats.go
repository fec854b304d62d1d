package sim

import (
	"math"
	"slices"
)

// Spread is how one latency is spread over requests, in seconds; all 0 where there were none. Percentiles lie between
// ranks in proportion, as numpy's do, with which the public clients work.
type Spread struct {
	N                   int
	Mean, P50, P90, P99 float64
}

// Latencies is what clients measured: the time to the first token, the mean time of each further token of an answer
// ((end - first)/(n - 1); answers of one token have none), and the time to the last.
type Latencies struct{ TTFT, TPOT, E2E Spread }

// All is the latencies of the whole last run, as benchmarks report them: with the rush at the start and the emptying at
// the end.
func (s *Sim) All() Latencies { return s.Between(0, len(s.requests)) }

// Steady is the latencies without the first and the last tenth of the requests; in a closed loop at least one round of
// the clients at either end, where there are more than four.
func (s *Sim) Steady() Latencies {
	n := len(s.requests)
	edge := n / 10
	if s.closed && s.clients <= n/4 {
		edge = max(edge, s.clients)
	}
	return s.Between(edge, n-edge)
}

// Between is the latencies of the requests from one number to before another, in order of sending.
func (s *Sim) Between(from, to int) Latencies {
	s.ttft, s.tpot, s.e2e = s.ttft[:0], s.tpot[:0], s.e2e[:0]
	for i := from; i < to; i++ {
		sent, first, end := s.sent[i], s.first[i], s.end[i]
		if math.IsNaN(end) {
			continue
		}
		s.ttft = append(s.ttft, first-sent)
		s.e2e = append(s.e2e, end-sent)
		if out := s.requests[i].Out; out > 1 {
			s.tpot = append(s.tpot, (end-first)/float64(out-1))
		}
	}
	return Latencies{spread(s.ttft), spread(s.tpot), spread(s.e2e)}
}

// Times is when a request of the last run was sent, gave its first token and ended, in seconds; ok is false where it was
// refused.
func (s *Sim) Times(i int) (sent, first, end float64, ok bool) {
	return s.sent[i], s.first[i], s.end[i], !math.IsNaN(s.end[i])
}

// spread changes the order of what it is given.
func spread(v []float64) Spread {
	if len(v) == 0 {
		return Spread{}
	}
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	s := Spread{N: len(v), Mean: sum / float64(len(v))}
	// What lies below a high percentile holds the lower ones.
	below := v
	for _, p := range [...]struct {
		share float64
		to    *float64
	}{{0.99, &s.P99}, {0.90, &s.P90}, {0.50, &s.P50}} {
		rank := p.share * float64(len(v)-1)
		low := int(rank)
		place(below, low)
		*p.to = v[low]
		if low+1 < len(v) {
			next := slices.Min(v[low+1 : max(low+2, len(below))])
			*p.to += (rank - float64(low)) * (next - v[low])
		}
		below = v[:low+1]
	}
	return s
}

// place puts the value of a rank in its place, with none above it before and none below it after (Hoare's selection).
func place(v []float64, rank int) {
	for low, high := 0, len(v)-1; low < high; {
		pivot := v[(low+high)/2]
		i, j := low, high
		for i <= j {
			for v[i] < pivot {
				i++
			}
			for pivot < v[j] {
				j--
			}
			if i <= j {
				v[i], v[j] = v[j], v[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case rank <= j:
			high = j
		case rank >= i:
			low = i
		default:
			return
		}
	}
}
