package sim

import (
	"testing"

	"pgregory.net/rapid"
)

// Batching has anomalies, as list scheduling has: a request that comes a little later may share a step and end sooner. In
// thousands of draws of 2000 requests, mixed steps broke the order by at most 13 % of a P99 of first tokens, 1 % of one of
// whole answers and 2 % of a closed loop's rate. With prompts first it is more than chance: where prompts are so short that
// a step's fixed time is most of theirs, each arrival stalls all answers, and more of them share a stall; answers took up to
// 24 % less at the higher rate. Twice that is let through here. Planning reads percentiles off a curve that is made to rise.
const (
	anomalyFirst        = 0.3
	anomalyWhole        = 0.03
	anomalyPromptsFirst = 0.5
	anomalyRate         = 0.05
)

// times stretches another's steps.
type times struct {
	of     Stepper
	factor float64
}

func (x *times) Seconds(s Step) float64 { return x.factor * x.of.Seconds(s) }

// busy is a deployment, requests at a rate below what it can do, and a factor well above 1: what differs by less
// than a tenth differs by chance.
func busy(t *rapid.T) (d Deployment, again func(rate float64) []Request, rate, factor float64) {
	z := Uniform(rapid.IntRange(50, 2000).Draw(t, "in"), rapid.IntRange(20, 400).Draw(t, "out"), rapid.SampledFrom([]float64{0.1, 0.8, 1}).Draw(t, "least"))
	d = Deployment{Engine: Engine{
		Stepper:      &roofline{},
		Schedule:     rapid.SampledFrom([]Schedule{Mixed, PromptsFirst}).Draw(t, "schedule"),
		ChunkTokens:  rapid.SampledFrom([]int{512, 2048, 8192}).Draw(t, "chunk"),
		KVTokens:     rapid.SampledFrom([]float64{5000, 30000, 1e6}).Draw(t, "kv"),
		Reserve:      rapid.SampledFrom([]float64{0, 1}).Draw(t, "reserve"),
		MaxSequences: 256,
	}}
	seed := rapid.Uint64().Draw(t, "seed")
	var s Sim
	most := s.Closed(d, 500, Load(nil, 500, z, seed)).RequestsPerSecond
	again = func(rate float64) []Request { return Poisson(nil, 2000, rate, z, seed) }
	return d, again, most * rapid.Float64Range(0.1, 1).Draw(t, "load"), rapid.Float64Range(1.1, 1.5).Draw(t, "factor")
}

func latencies(d Deployment, requests []Request) Latencies {
	var s Sim
	s.Open(d, requests)
	return s.All()
}

func notAbove(t *rapid.T, d Deployment, what string, a, b Latencies) {
	t.Helper()
	whole := 1 + anomalyWhole
	if d.Schedule == PromptsFirst {
		whole = 1 + anomalyPromptsFirst
	}
	if a.TTFT.P99 > b.TTFT.P99*(1+anomalyFirst) || a.E2E.P99 > b.E2E.P99*whole || a.E2E.Mean > b.E2E.Mean*whole {
		t.Fatalf("%s:\n%+v\n%+v", what, a, b)
	}
}

func TestMoreRequestsNeverLowerATail(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, requests, rate, factor := busy(t)
		notAbove(t, d, "fewer requests a second took longer", latencies(d, requests(rate)), latencies(d, requests(rate*factor)))
	})
}

func TestAFasterEngineIsNoSlower(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, requests, rate, factor := busy(t)
		slow := d
		slow.Stepper = &times{d.Stepper, factor}
		notAbove(t, d, "the faster engine took longer", latencies(d, requests(rate)), latencies(slow, requests(rate)))
	})
}

func TestMoreCacheIsNoLessThroughput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, requests, rate, factor := busy(t)
		wide := d
		wide.KVTokens *= factor
		var s Sim
		a, b := s.Closed(d, 300, requests(rate)), s.Closed(wide, 300, requests(rate))
		if b.RequestsPerSecond < a.RequestsPerSecond*(1-anomalyRate) {
			t.Fatalf("%+v\n%+v", a, b)
		}
	})
}
