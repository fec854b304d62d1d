package sim

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func curves() *rapid.Generator[*Curve] {
	return rapid.Custom(func(t *rapid.T) *Curve {
		d, requests, _, _ := busy(t)
		var s Sim
		most := s.Closed(d, 500, requests(1)[:500]).RequestsPerSecond
		c := &Curve{}
		c.Add(0, s.Quiet(d, requests(1)[:20]))
		for _, share := range []float64{0.2, 0.5, 0.8, 0.9} {
			c.Add(share*most, s.Busy(d, requests(share * most)[:400]))
		}
		return c
	})
}

// A higher rate never lowers a tail, and a higher limit never the rate; what Most gives holds, and nothing well above it.
func TestCurvesRise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := curves().Draw(t, "curve")
		end := c.rates[len(c.rates)-1]
		a, b := rapid.Float64Range(0, end).Draw(t, "a"), rapid.Float64Range(0, end).Draw(t, "b")
		low, high := c.At(min(a, b)), c.At(max(a, b))
		if low.TTFT > high.TTFT || low.TPOT > high.TPOT || low.E2E > high.E2E || low.Mean > high.Mean || low.Most > high.Most {
			t.Fatalf("%+v at %g, %+v at %g", low, min(a, b), high, max(a, b))
		}
		limit := Tail{TTFT: high.TTFT * (1 + 1e-9), TPOT: high.TPOT * (1 + 1e-9), E2E: high.E2E * (1 + 1e-9)} // where a curve is flat
		switch rapid.IntRange(0, 3).Draw(t, "limits") {
		case 0:
			limit.TTFT, limit.TPOT = 0, 0
		case 1:
			limit.TPOT, limit.E2E = 0, 0
		case 2:
			limit.TTFT, limit.E2E = 0, 0
		}
		most := c.Most(limit)
		if most < max(a, b)-1e-9*end {
			t.Fatalf("limits met at %g, but %g is said to be the most", max(a, b), most)
		}
		if at := c.At(max(0, most-1e-9*end)); !at.Holds(limit) {
			t.Fatalf("%+v at the most, above %+v", at, limit)
		}
		limit.TTFT, limit.TPOT, limit.E2E = limit.TTFT*1.1, limit.TPOT*1.1, limit.E2E*1.1
		if more := c.Most(limit); more < most {
			t.Fatalf("with higher limits %g, before %g", more, most)
		}
	})
}

func TestLimitsThatNobodyAloneSeesHeld(t *testing.T) {
	var c Curve
	c.Add(1, Tail{2, 0.15, 20, 5, 9})
	c.Add(0.5, Tail{1.5, 0.2, 15, 2, 2}) // faster at the higher rate: the curve stays at 0.2
	c.Add(0, Tail{1, 0.1, 10, 0, 0})
	for _, limit := range []Tail{{TTFT: 0.9}, {TPOT: 0.09}, {TTFT: 5, E2E: 9}} {
		if got := c.Most(limit); got != 0 {
			t.Errorf("%+v: %g", limit, got)
		}
	}
	for limit, want := range map[Tail]float64{{}: 1, {TTFT: 1.5}: 0.5, {TTFT: 1.5, TPOT: 0.15}: 0.25, {TPOT: 0.2, E2E: 30}: 1, {TPOT: 0.19}: 0.45} {
		if got := c.Most(limit); math.Abs(got-want) > 1e-12 {
			t.Errorf("%+v: %g, want %g", limit, got, want)
		}
	}
	if past := c.At(1.01); past != (Tail{2, 0.2, 20, 5, 9}) {
		t.Errorf("%+v past the end", past)
	}
}
