package sim

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestSizesStayInTheirRange(t *testing.T) {
	in, out := 0.0, 0.0
	requests := Load(nil, 50000, Uniform(1000, 200, 0.8), 3)
	for _, r := range requests {
		if r.In < 800 || r.In > 1000 || r.Out < 160 || r.Out > 200 || r.At != 0 {
			t.Fatalf("%+v", r)
		}
		in, out = in+float64(r.In), out+float64(r.Out)
	}
	if math.Abs(in/50000-900) > 2 || math.Abs(out/50000-180) > 0.5 {
		t.Errorf("means %g and %g", in/50000, out/50000)
	}
}

// At another rate the same requests come in the same pattern.
func TestARateChangesTheClockAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed, by := rapid.Uint64().Draw(t, "seed"), rapid.Float64Range(0.01, 100).Draw(t, "by")
		a, b := Poisson(nil, 100, 2, Uniform(500, 50, 0.1), seed), Poisson(nil, 100, 2*by, Uniform(500, 50, 0.1), seed)
		last := 0.0
		for i := range a {
			if a[i].In != b[i].In || a[i].Out != b[i].Out || math.Abs(a[i].At-b[i].At*by) > 1e-9*a[i].At || a[i].At < last {
				t.Fatalf("%d: %+v %+v", i, a[i], b[i])
			}
			last = a[i].At
		}
	})
}

func TestPoissonRate(t *testing.T) {
	r := Poisson(nil, 200000, 7, Fixed(1, 1), 5)
	gaps, squares := 0.0, 0.0
	for i := 1; i < len(r); i++ {
		gap := r[i].At - r[i-1].At
		gaps, squares = gaps+gap, squares+gap*gap
	}
	n := float64(len(r) - 1)
	mean := gaps / n
	if math.Abs(mean*7-1) > 0.01 || math.Abs(squares/n/(2*mean*mean)-1) > 0.02 {
		t.Errorf("mean gap %g, mean square %g", mean, squares/n)
	}
}

// A heap gives its nodes in order, whatever goes in and out of its middle.
func TestQueueIsInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		for i, key := range rapid.SliceOf(rapid.IntRange(0, 5)).Draw(t, "keys") {
			q.push(node{key: float64(key), id: int32(i)})
			if rapid.IntRange(0, 4).Draw(t, "drop") == 0 {
				q.remove(rapid.IntRange(0, len(q)-1).Draw(t, "at"))
			}
		}
		last := node{key: -1}
		for len(q) > 0 {
			n := q.pop()
			if n.before(last) {
				t.Fatalf("%+v after %+v", n, last)
			}
			last = n
		}
	})
}

// A replica of several sees a random part of the trace at the trace's own pace, lap after lap, and all of it faster past its
// rate.
func TestShare(t *testing.T) {
	trace := make([]Request, 1000)
	for i := range trace {
		trace[i] = Request{At: 50 + float64(i/2), In: i + 1, Out: 1} // two at a time, 2 a second
	}
	got := Share(nil, trace, 2, 0.5, 5000, 1)
	distinct, last, pairs := map[int]bool{}, 0.0, 0
	for _, r := range got {
		distinct[r.In] = true
		if r.At < last {
			t.Fatal("out of order")
		}
		if r.At == last {
			pairs++
		}
		last = r.At
	}
	if rate := 5000 / last; len(got) != 5000 || math.Abs(rate-0.5) > 0.02 {
		t.Errorf("%d requests at %g a second, want 5000 at 0.5", len(got), rate)
	}
	// Each lap splits the trace anew: 20 laps leave out 0.75^20 of it. Both of a pair come to one replica in one of eight.
	if len(distinct) < 980 || math.Abs(float64(pairs)/5000-0.125) > 0.02 {
		t.Errorf("%d requests of 1000 seen, %d pairs", len(distinct), pairs)
	}
	got = Share(nil, trace, 2, 8, 2500, 1)
	if got[0].At != 0 || got[4] != (Request{At: 0.5, In: 5, Out: 1}) || got[1000].In != 1 || math.Abs(got[1000].At-499.5/4) > 1e-9 {
		t.Errorf("%+v, then %+v", got[:5], got[1000])
	}
}
