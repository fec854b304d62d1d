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

// Where it has a kink they are close.
func TestJumpsOverAKinkAreClose(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clients := rapid.SampledFrom([]int{0, 1, 3, 20, 200}).Draw(t, "clients")
		d := deployments(&roofline{}).Draw(t, "deployment")
		// Without limits that a request just meets or misses: then two runs may go separate ways.
		d.KVTokens, d.FrontSeconds = 0, 0
		requests := requestsOf(t, clients)
		if worst := compare(t, d, clients, requests); worst > 0.02 {
			t.Fatalf("off by %g", worst)
		}
	})
}

// One request alone takes its prompt's chunks and a step for each further token.
func TestOneRequestAlone(t *testing.T) {
	l := large()
	d := Deployment{Engine: Engine{Stepper: l, ChunkTokens: 512}, FrontSeconds: 0.004}
	var s Sim
	run := s.Open(d, []Request{{At: 10, In: 1300, Out: 100}})
	ttft := 0.004 + 3*l.fixed + 1300*l.prefill + l.attended*1300*1301/2
	tpot := l.fixed + l.sequence + l.cached*(1301+1300+99)/2
	got := s.All()
	near(t, "TTFT", got.TTFT.Mean, ttft)
	near(t, "TPOT", got.TPOT.P99, tpot)
	near(t, "E2E", got.E2E.P50, ttft+99*tpot)
	near(t, "the whole run", run.Seconds, 10+ttft+99*tpot)
	near(t, "held at most", run.MostKV, 1399)
	near(t, "idle", run.Idle, 10.004/run.Seconds)
	// An answer of one token has no time of a further one.
	s.Open(d, []Request{{In: 100, Out: 1}})
	if got := s.All(); got.TPOT.N != 0 || got.TTFT != got.E2E {
		t.Errorf("one token: %+v", got)
	}
}

// A client alone has the engine to itself each time: a round takes what one request takes.
func TestOneClient(t *testing.T) {
	d := Deployment{Engine: Engine{Stepper: large(), ChunkTokens: 8192}}
	var s Sim
	s.Open(d, Load(nil, 1, Fixed(1000, 200), 1))
	one := s.All().E2E.Mean
	run := s.Closed(d, 1, Load(nil, 50, Fixed(1000, 200), 1))
	near(t, "rate", run.RequestsPerSecond, 1/one)
	near(t, "E2E", s.All().E2E.P99, one)
	near(t, "idle", run.Idle, 0)
}

// Prompts alone, one at a time, at even distances: nobody waits at first, and later each waits for what piled up.
func TestEvenArrivals(t *testing.T) {
	l := large()
	service := l.Seconds(Step{Prefill: 1000, Attended: 1000 * 1001 / 2, Prompts: 1})
	for _, load := range []float64{0.5, 1.25} {
		requests := make([]Request, 400)
		for i := range requests {
			requests[i] = Request{At: float64(i) * service / load, In: 1000, Out: 1}
		}
		var s Sim
		s.Open(Deployment{Engine: Engine{Stepper: l, MaxSequences: 1}}, requests)
		for i := range requests {
			sent, first, _, _ := s.Times(i)
			near(t, "TTFT", first-sent, service+float64(i)*max(0, service-service/load))
		}
	}
}

// The mean wait of Poisson arrivals for constant service, ρ/2(1−ρ) services (Pollaczek and Khinchine).
func TestPoissonArrivals(t *testing.T) {
	l := large()
	service := l.Seconds(Step{Prefill: 1000, Attended: 1000 * 1001 / 2, Prompts: 1})
	for _, load := range []float64{0.3, 0.7} {
		var s Sim
		s.Open(Deployment{Engine: Engine{Stepper: l, MaxSequences: 1}}, Poisson(nil, 400000, load/service, Fixed(1000, 1), 1))
		want := service * (1 + load/(2*(1-load)))
		if got := s.All().TTFT.Mean; math.Abs(got/want-1) > 0.01 {
			t.Errorf("load %g: mean TTFT %g, want %g", load, got, want)
		}
	}
}

func near(t testing.TB, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*max(1, math.Abs(want)) {
		t.Errorf("%s: %g, want %g", what, got, want)
	}
}

// fleets are deployments of several engines, some with engines apart for prompts.
func fleets(stepper Stepper) *rapid.Generator[Deployment] {
	return rapid.Custom(func(t *rapid.T) Deployment {
		d := deployments(stepper).Draw(t, "deployment")
		d.Count = rapid.IntRange(0, 4).Draw(t, "engines")
		if rapid.Bool().Draw(t, "apart") {
			d.Prefill = &Engine{Stepper: stepper, Count: rapid.IntRange(0, 3).Draw(t, "prefills"), ChunkTokens: 700}
			d.HandSeconds, d.HandTokenSeconds = 3e-3, 2e-6
		}
		return d
	})
}

// Every request ends once or is refused, in the order of its times; no cache ever holds more than it can; nothing decodes
// beyond the places; the engines' time adds up; and the sequences in their answers are as many as Little's law says.
func TestNothingIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clients := rapid.SampledFrom([]int{0, 1, 5, 60}).Draw(t, "clients")
		d := fleets(&roofline{}).Draw(t, "fleet")
		d.KVTokens = rapid.SampledFrom([]float64{0, 300, 900, 5000}).Draw(t, "kv tokens")
		if d.Prefill != nil {
			d.Prefill.KVTokens = d.KVTokens
		}
		requests := requestsOf(t, clients)
		var s Sim
		var run Run
		if clients > 0 {
			run = s.Closed(d, clients, requests)
		} else {
			run = s.Open(d, requests)
		}
		ended, area, last := 0, 0.0, 0.0
		for i, r := range requests {
			sent, first, end, ok := s.Times(i)
			if fits := d.KVTokens == 0 || float64(r.In+r.Out-1) <= d.KVTokens; ok != fits {
				t.Fatalf("%+v ended: %v", r, ok)
			}
			if !ok {
				continue
			}
			ended++
			if sent+d.FrontSeconds >= first || first > end || (r.Out > 1) != (first < end) {
				t.Fatalf("request %d %+v: sent %g, first %g, end %g", i, r, sent, first, end)
			}
			area += end - first
			last = max(last, end)
		}
		if run.Requests != ended || run.Requests+run.Refused != len(requests) || run.Seconds != last {
			t.Fatalf("%d ended in %g s: %+v", ended, last, run)
		}
		if d.KVTokens > 0 && run.MostKV > d.KVTokens || d.MaxSequences > 0 && run.MostDecoding > d.MaxSequences {
			t.Fatalf("beyond the limits: %+v", run)
		}
		if sum := run.Idle + run.Prompts + run.Decoding; ended > 0 && math.Abs(sum-1) > 1e-9 {
			t.Fatalf("shares sum to %g: %+v", sum, run)
		}
		// A sequence put back or handed over decodes for less than the whole time.
		if little := run.MeanDecoding * run.Seconds; little > area*(1+1e-9)+1e-9 || run.PutBack == 0 && d.Prefill == nil && little < area*(1-1e-9)-1e-9 {
			t.Fatalf("mean decoding %g over %g s, but answers took %g s", run.MeanDecoding, run.Seconds, area)
		}
	})
}

func TestRunsAreRepeatable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Sim
		a, b := fleets(large()).Draw(t, "a"), fleets(large()).Draw(t, "b")
		requests := requestsOf(t, 0)
		first, spread := s.Open(a, requests), s.All()
		s.Closed(b, 7, requests)
		var fresh Sim
		if again := s.Open(a, requests); again != first || s.All() != spread || fresh.Open(a, requests) != first {
			t.Fatalf("%+v, then %+v", first, again)
		}
	})
}

// Engines for prompts apart: the first token waits for prompts alone, the further ones for decoding alone and the hand-over.
func TestPromptsApart(t *testing.T) {
	l := large()
	prefill := Engine{Stepper: l, MaxSequences: 1}
	d := Deployment{Engine: Engine{Stepper: l, MaxSequences: 8}, Prefill: &prefill, HandSeconds: 0.01, HandTokenSeconds: 1e-5}
	prompt := l.Seconds(Step{Prefill: 1000, Attended: 1000 * 1001 / 2, Prompts: 1})
	var s Sim
	s.Open(d, []Request{{In: 1000, Out: 2}, {In: 1000, Out: 1}, {In: 1000, Out: 2}})
	step := l.Seconds(Step{Decode: 1, Cached: 1001})
	for i, further := range []float64{0.02 + step, 0, 0.02 + step} {
		_, first, end, _ := s.Times(i)
		near(t, "first", first, float64(i+1)*prompt)
		near(t, "end", end, first+further)
	}
}

// Requests of one kind at one time share the engines evenly.
func TestTheFewestInHandIsNext(t *testing.T) {
	d := Deployment{Engine: Engine{Stepper: large(), Count: 4}}
	var one, four Sim
	one.Open(Deployment{Engine: Engine{Stepper: large()}}, Load(nil, 5, Fixed(100, 50), 1))
	four.Open(d, Load(nil, 20, Fixed(100, 50), 1))
	if one.All().E2E.P99 != four.All().E2E.P99 {
		t.Errorf("%+v and %+v", one.All().E2E, four.All().E2E)
	}
}

func TestLoopAllocatesNothing(t *testing.T) {
	var s Sim
	var stepper Stepper = &roofline{}
	d := Deployment{Engine: Engine{Stepper: stepper, ChunkTokens: 2048, KVTokens: 40000}}
	apart := d
	apart.Prefill = &Engine{Stepper: stepper, ChunkTokens: 2048}
	apart.Count = 2
	buffer := Poisson(nil, 2000, 20, Uniform(1000, 300, 0.5), 1)
	work := func() {
		buffer = Poisson(buffer[:0], 2000, 20, Uniform(1000, 300, 0.5), 2)
		s.Open(d, buffer)
		s.Closed(d, 64, buffer)
		s.Open(apart, buffer)
		s.All()
		s.Steady()
	}
	work()
	if n := testing.AllocsPerRun(3, work); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
