package sim

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Percentiles as numpy gives them for 1 to 5 and for one value.
func TestSpread(t *testing.T) {
	got := spread([]float64{5, 1, 4, 2, 3})
	want := Spread{N: 5, Mean: 3, P50: 3, P90: 4.6, P99: 4.96}
	for i, v := range [][2]float64{{got.Mean, want.Mean}, {got.P50, want.P50}, {got.P90, want.P90}, {got.P99, want.P99}} {
		if math.Abs(v[0]-v[1]) > 1e-12 {
			t.Errorf("%d: %g, want %g", i, v[0], v[1])
		}
	}
	if one := spread([]float64{7}); one != (Spread{1, 7, 7, 7, 7}) {
		t.Errorf("%+v", one)
	}
	if none := spread(nil); none != (Spread{}) {
		t.Errorf("%+v", none)
	}
}

// Selecting gives what sorting would.
func TestSpreadIsThatOfSortedValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(0, 10), rapid.Map(rapid.IntRange(0, 3), func(n int) float64 { return float64(n) })), 1, 300).Draw(t, "values")
		sorted := slices.Sorted(slices.Values(v))
		at := func(share float64) float64 {
			rank := share * float64(len(v)-1)
			low := int(rank)
			return sorted[low] + (rank-float64(low))*(sorted[min(low+1, len(v)-1)]-sorted[low])
		}
		got := spread(slices.Clone(v))
		for _, p := range [][2]float64{{got.P50, at(0.5)}, {got.P90, at(0.9)}, {got.P99, at(0.99)}} {
			if math.Abs(p[0]-p[1]) > 1e-12 {
				t.Fatalf("%v: %+v", v, got)
			}
		}
	})
}
