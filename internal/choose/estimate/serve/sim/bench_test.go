package sim

import (
	"fmt"
	"testing"
)

// costly takes about 60 ns a step, as a real step model does.
type costly struct {
	linear
	sink float64
}

func (c *costly) Seconds(s Step) float64 {
	x := s.Cached
	for range 26 {
		x = x/1.0001 + 1
	}
	c.sink = x
	return c.linear.Seconds(s)
}

// A 70B-class model on eight large accelerators, 1024 tokens in and 256 to 1024 out.
func BenchmarkSim(b *testing.B) {
	for _, kind := range []struct {
		name    string
		stepper Stepper
	}{{"step=light", large()}, {"step=60ns", &costly{linear: *large()}}} {
		for _, clients := range []int{1, 8, 64, 256} {
			b.Run(fmt.Sprintf("closed/%s/clients=%d", kind.name, clients), func(b *testing.B) {
				d := Deployment{Engine: Engine{Stepper: kind.stepper, MaxSequences: 1024, ChunkTokens: 8192, KVTokens: 1.2e6}}
				d.FrontSeconds = 1e-3
				requests := Load(nil, 20000, Sizes{Low: Size{1024, 256}, High: Size{1024, 1024}}, 1)
				measure(b, len(requests), func(s *Sim) { s.Closed(d, clients, requests) })
			})
		}
	}
	for _, rate := range []float64{1, 4, 7} {
		for _, schedule := range []Schedule{Mixed, PromptsFirst} {
			b.Run(fmt.Sprintf("open/step=60ns/schedule=%d/rate=%g", schedule, rate), func(b *testing.B) {
				d := Deployment{Engine: Engine{Stepper: &costly{linear: *large()}, Schedule: schedule, MaxSequences: 1024, ChunkTokens: 8192, KVTokens: 1.2e6}}
				requests := Poisson(nil, 20000, rate, Sizes{Low: Size{1024, 256}, High: Size{1024, 1024}}, 1)
				measure(b, len(requests), func(s *Sim) { s.Open(d, requests) })
			})
		}
	}
}

func BenchmarkStep(b *testing.B) {
	var c Stepper = &costly{linear: *large()}
	for b.Loop() {
		c.Seconds(Step{Decode: 10, Cached: 1e4})
	}
}

// measure reports how many requests are simulated, and their latencies worked out, in a second.
func measure(b *testing.B, n int, run func(s *Sim)) {
	var s Sim
	run(&s)
	s.Steady()
	b.ReportAllocs()
	for b.Loop() {
		run(&s)
		s.Steady()
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}
