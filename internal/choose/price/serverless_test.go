package price

import (
	"container/heap"
	"math"
	"math/rand"
	"testing"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/unit"
)

func seconds(s float64) unit.Hours { return unit.FromSeconds(s) }

// One worker with room for all: off for 1/(exp(rate (service + keep)) + rate start) of the time, by hand.
func TestOneWorkerByHand(t *testing.T) {
	e := Elastic{PerSecond: 0.01, Service: seconds(20), Slots: 1000, KeepAlive: seconds(60), ColdStart: seconds(30)}
	l := e.Load(1)
	x := math.Exp(0.01 * 80)
	if want := 1 - 1/(x+0.3); math.Abs(l.Workers-want) > 1e-6 {
		t.Errorf("%.6f workers, want %.6f", l.Workers, want)
	}
	if want := (1 + 0.3) / (x + 0.3); math.Abs(l.Cold-want) > 1e-6 {
		t.Errorf("%.6f cold, want %.6f", l.Cold, want)
	}
}

func TestElasticAtItsLimits(t *testing.T) {
	for _, tt := range []struct {
		name              string
		e                 Elastic
		promised          float64
		workers, low, top float64 // low and top bound the share that waits
	}{
		{"hardly any requests cost hardly anything and all wait", Elastic{1e-6, seconds(10), 8, seconds(60), seconds(30)}, 1, 1e-4, 0.999, 1},
		{"kept for ever, one worker stays", Elastic{0.001, seconds(1), 1000, 1e6, seconds(30)}, 1, 1, 0, 1e-9},
		{"never kept, never waiting: the offered load", Elastic{2, seconds(3), 1, 0, 0}, 1, 6, 0, 1},
		{"a promise keeps one warm", Elastic{1e-6, seconds(10), 1000, seconds(60), seconds(30)}, 0.01, 1, 0, 0.01},
		{"many requests need the load over the slots", Elastic{1000, seconds(10), 100, 0, 0}, 1, 100.5, 0, 1},
		{"a load of more digits than its factorials keep", Elastic{30_000, seconds(20), 64, seconds(60), seconds(30)}, 1, 600_000.0/64 + 50, 0, 1e-3},
	} {
		l := tt.e.Load(tt.promised)
		if math.Abs(l.Workers-tt.workers) > 0.01*tt.workers+1e-4 || l.Cold < tt.low || l.Cold > tt.top {
			t.Errorf("%s: %.5f workers, %.5f cold", tt.name, l.Workers, l.Cold)
		}
	}
}

// What must hold whatever the figures: more requests, longer keeping and slower starts never take fewer workers, a promise is kept,
// and promising costs no less than not.
func TestElasticIsMonotone(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		e := Elastic{
			PerSecond: rapid.Float64Range(1e-5, 30).Draw(r, "rate"), Service: seconds(rapid.Float64Range(0.01, 60).Draw(r, "service")),
			Slots: rapid.IntRange(1, 64).Draw(r, "slots"), KeepAlive: seconds(rapid.Float64Range(0, 600).Draw(r, "keep")),
			ColdStart: seconds(rapid.Float64Range(0, 120).Draw(r, "start")),
		}
		free := e.Load(1)
		more := func(change func(*Elastic)) {
			f := e
			change(&f)
			if l := f.Load(1); l.Workers < free.Workers*(1-1e-6) {
				r.Fatalf("%+v takes %v, %+v %v", e, free, f, l)
			}
		}
		more(func(f *Elastic) { f.PerSecond *= 1.5 })
		more(func(f *Elastic) { f.KeepAlive = f.KeepAlive*2 + seconds(1) })
		more(func(f *Elastic) { f.ColdStart = f.ColdStart*2 + seconds(1) })
		limit := rapid.Float64Range(0, 1).Draw(r, "limit")
		kept := e.Load(limit)
		if kept.Cold > limit || kept.Workers < free.Workers*(1-1e-9) || free.Warm > 0 && free.Cold >= 1 {
			r.Fatalf("%v within %.3f, %v free", kept, limit, free)
		}
	})
}

// The formula against requests played one by one: exact for one worker with constant service, at most a tenth too many for several
// where starts are short against service, and where they are long more, but not too few. What it says of waiting is never too little.
func TestElasticAgreesWithSimulation(t *testing.T) {
	for _, tt := range []struct {
		e         Elastic
		random    bool // service times exponential
		tolerance float64
	}{
		{Elastic{0.01, seconds(20), 1000, seconds(60), seconds(30)}, false, 0.01},
		{Elastic{0.002, seconds(5), 1000, seconds(300), seconds(60)}, false, 0.01},
		{Elastic{0.05, seconds(10), 1000, 0, 0}, true, 0.01},
		{Elastic{0.5, seconds(10), 1, 0, 0}, true, 0.02},
		{Elastic{0.5, seconds(10), 4, seconds(20), 0}, true, 0.1},
		{Elastic{2, seconds(8), 4, seconds(30), seconds(1)}, true, 0.1},
		{Elastic{0.3, seconds(10), 2, seconds(60), seconds(20)}, true, 0.1},
		{Elastic{20, seconds(5), 16, seconds(10), seconds(2)}, false, 0.1},
		{Elastic{2, seconds(18), 8, seconds(5), seconds(31)}, false, 0.1},
		{Elastic{0.5, seconds(18), 4, seconds(5), seconds(31)}, false, 0.15},
		{Elastic{1, seconds(0.1), 4, seconds(5), seconds(15)}, false, 0.3},
		{Elastic{0.3, seconds(10), 2, seconds(5), seconds(60)}, false, 0.2},
	} {
		want := tt.e.Load(1)
		got := play(tt.e, want.Warm, tt.random, 400_000)
		if got.Workers > want.Workers*1.03 || got.Workers < want.Workers*(1-tt.tolerance) {
			t.Errorf("%+v: %.4f workers played, %.4f by the formula", tt.e, got.Workers, want.Workers)
		}
		if got.Cold > want.Cold*1.02+0.002 {
			t.Errorf("%+v: %.4f wait, the formula says at most %.4f", tt.e, got.Cold, want.Cold)
		}
	}
}

// played is a worker of the simulation.
type played struct {
	inside       int
	ready, since float64 // when it can work, and when it started
	up           bool
	emptied      float64
}

type leaving struct {
	at     float64
	worker int
}

type departures []leaving

func (d departures) Len() int           { return len(d) }
func (d departures) Less(i, j int) bool { return d[i].at < d[j].at }
func (d departures) Swap(i, j int)      { d[i], d[j] = d[j], d[i] }
func (d *departures) Push(x any)        { *d = append(*d, x.(leaving)) }
func (d *departures) Pop() any {
	old := *d
	x := old[len(old)-1]
	*d = old[:len(old)-1]
	return x
}

// play sends so many requests to workers, each to the lowest that is up and has room, else to the lowest that is off, which it starts.
// The first so many never stop.
func play(e Elastic, warm int, random bool, requests int) Load {
	rng := rand.New(rand.NewSource(7))
	var workers []*played
	for range warm {
		workers = append(workers, &played{up: true})
	}
	var out departures
	now, paid, starts, cold := 0.0, 0.0, 0, 0
	keep, start := e.KeepAlive.Seconds(), e.ColdStart.Seconds()
	stop := func(w *played, at float64) {
		paid += at - w.since
		w.up = false
	}
	advance := func(to float64) {
		for len(out) > 0 && out[0].at <= to {
			x := heap.Pop(&out).(leaving)
			w := workers[x.worker]
			if w.inside--; w.inside == 0 {
				w.emptied = x.at
			}
		}
		for _, w := range workers[warm:] {
			if w.up && w.inside == 0 && w.emptied+keep <= to {
				stop(w, w.emptied+keep)
			}
		}
	}
	for range requests {
		now += rng.ExpFloat64() / e.PerSecond
		advance(now)
		chosen := -1
		for i, w := range workers {
			if w.up && w.inside < e.Slots {
				chosen = i
				break
			}
		}
		for i := 0; chosen < 0; i++ {
			if i == len(workers) {
				workers = append(workers, &played{})
			}
			if w := workers[i]; !w.up {
				*w = played{up: true, since: now, ready: now + start}
				chosen = i
				starts++
			}
		}
		w := workers[chosen]
		begin := max(now, w.ready)
		if begin > now {
			cold++
		}
		service := e.Service.Seconds()
		if random {
			service *= rng.ExpFloat64()
		}
		w.inside++
		heap.Push(&out, leaving{begin + service, chosen})
	}
	for _, w := range workers {
		if w.up {
			stop(w, now)
		}
	}
	return Load{Workers: paid / now, Starts: float64(starts) / now, Cold: float64(cold) / float64(requests)}
}

func BenchmarkElastic(b *testing.B) {
	e := Elastic{PerSecond: 100, Service: seconds(10), Slots: 32, KeepAlive: seconds(60), ColdStart: seconds(40)}
	for b.Loop() {
		e.Load(0.01)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "loads/s")
}
