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
	samples := []Size{{10, 1}, {20, 2}, {30, 3}}
	seen := map[Request]int{}
	for _, r := range Load(nil, 3000, Sizes{Samples: samples}, 3) {
		seen[r]++
	}
	for _, s := range samples {
		if n := seen[Request{In: s.In, Out: s.Out}]; n < 900 || n > 1100 {
			t.Errorf("%+v drawn %d times of 3000", s, n)
		}
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

// Each hour gets its share of the peak, an hour of none none, and the next day is like the first.
func TestProfileFollowsTheDay(t *testing.T) {
	factors := []float64{1, 0, 0.5, 0.25}
	const days = 2
	r := Profile(nil, 140000, 10, factors, 3600, Fixed(1, 1), 5)
	var count [4]float64
	last := 0.0
	for _, x := range r {
		if x.At < last {
			t.Fatal("out of order")
		}
		last = x.At
		if hour := int(x.At / 3600); hour < 4*days {
			count[hour%4]++
		}
	}
	for i, f := range factors {
		if want := f * 36000 * days; math.Abs(count[i]-want) > 0.03*want+1 {
			t.Errorf("hour %d: %g requests, want %g", i, count[i], want)
		}
	}
	// A flat profile is Poisson arrivals.
	flat, plain := Profile(nil, 50, 3, []float64{1, 1}, 5, Fixed(1, 1), 9), Poisson(nil, 50, 3, Fixed(1, 1), 9)
	for i := range flat {
		if math.Abs(flat[i].At-plain[i].At) > 1e-9 {
			t.Fatalf("%d: %g and %g", i, flat[i].At, plain[i].At)
		}
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

// A replica of several sees every so many-th request of the trace at the trace's own pace, and a faster pace past its rate.
func TestThin(t *testing.T) {
	trace := make([]Request, 1000)
	for i := range trace {
		trace[i] = Request{At: float64(i), In: i + 1, Out: 1}
		if i >= 600 { // the second part is twice as busy
			trace[i].At = 600 + float64(i-600)/2
		}
	}
	got := Thin(nil, trace, 1, 0.25, 10000)
	if len(got) != 250 || got[0] != (Request{At: 3, In: 4, Out: 1}) || got[1].In != 8 {
		t.Errorf("%d requests, %+v", len(got), got[:2])
	}
	got = Thin(nil, trace, 1, 4, 10000)
	if len(got) != 1000 || got[4].At != 1 {
		t.Errorf("%d requests, %+v", len(got), got[4])
	}
	got = Thin(nil, trace, 1, 0.5, 100)
	if len(got) != 100 || got[0].In < 600 || got[99].At-got[0].At != 99 {
		t.Errorf("%d requests, first %+v, last %+v", len(got), got[0], got[len(got)-1])
	}
}
