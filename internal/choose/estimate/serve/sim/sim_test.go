package sim

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// deployments are small, so that every limit is met often.
func deployments(stepper Stepper) *rapid.Generator[Deployment] {
	return rapid.Custom(func(t *rapid.T) Deployment {
		return Deployment{
			FrontSeconds: rapid.SampledFrom([]float64{0, 0, 2e-3, 0.1}).Draw(t, "front"),
			Engine: Engine{
				Stepper:      stepper,
				Schedule:     rapid.SampledFrom([]Schedule{Mixed, PromptsFirst}).Draw(t, "schedule"),
				MaxSequences: rapid.SampledFrom([]int{0, 1, 4, 32}).Draw(t, "sequences"),
				ChunkTokens:  rapid.SampledFrom([]int{0, 64, 300, 2048}).Draw(t, "chunk"),
				KVTokens:     rapid.SampledFrom([]float64{0, 1000, 3000, 20000}).Draw(t, "kv"),
				Reserve:      rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "reserve"),
			},
		}
	})
}

func sizes() *rapid.Generator[Sizes] {
	return rapid.Custom(func(t *rapid.T) Sizes {
		return Uniform(rapid.IntRange(1, 700).Draw(t, "in"), rapid.IntRange(1, 300).Draw(t, "out"), rapid.SampledFrom([]float64{0.05, 0.8, 1}).Draw(t, "least"))
	})
}

// compare runs both ways and tells the greatest difference of a time in parts of it.
func compare(t *rapid.T, d Deployment, clients int, requests []Request) float64 {
	var s Sim
	var run Run
	if clients > 0 {
		run = s.Closed(d, clients, requests)
	} else {
		run = s.Open(d, requests)
	}
	want, w := walk(d, clients, requests)
	worst := 0.0
	for i, q := range want {
		_, first, end, ok := s.Times(i)
		if !ok {
			t.Fatalf("request %d refused", i)
		}
		worst = max(worst, math.Abs(first-q.first)/q.first, math.Abs(end-q.end)/q.end)
	}
	if worst < 1e-9 && (run.PutBack != w.putBack || run.MostKV != float64(w.most) || run.MostDecoding != w.mostRunning) {
		t.Fatalf("put back %d, most held %g, most decoding %d; walked: %d, %d, %d", run.PutBack, run.MostKV, run.MostDecoding, w.putBack, w.most, w.mostRunning)
	}
	return worst
}

func requestsOf(t *rapid.T, clients int) []Request {
	z, seed := sizes().Draw(t, "sizes"), rapid.Uint64().Draw(t, "seed")
	n := rapid.IntRange(1, 120).Draw(t, "requests")
	if clients > 0 {
		return Load(nil, n, z, seed)
	}
	return Poisson(nil, n, rapid.Float64Range(0.1, 60).Draw(t, "rate"), z, seed)
}

// Where a step's time is linear in what it reads the jumps are exact.
func TestJumpsAreTheStepsThemselves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clients := rapid.SampledFrom([]int{0, 0, 1, 3, 20, 200}).Draw(t, "clients")
		d := deployments(large()).Draw(t, "deployment")
		if worst := compare(t, d, clients, requestsOf(t, clients)); worst > 1e-9 {
			t.Fatalf("off by %g", worst)
		}
	})
}
