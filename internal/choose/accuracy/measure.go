package accuracy

import (
	"cmp"
	"maps"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rackrate/rackrate/internal/choose/estimate"
)

// Result is one case with its prediction.
type Result struct {
	*Case
	Prediction
}

// Ratio is measured over predicted.
func (r *Result) Ratio() float64 { return r.Measured / r.Value }

// APE is the absolute error as a fraction of the measurement.
func (r *Result) APE() float64 { return math.Abs(r.Value-r.Measured) / r.Measured }

// Inside says that the measurement lies in the stated interval.
func (r *Result) Inside() bool { return r.Low <= r.Measured && r.Measured <= r.High }

// Report is predictions held against measurements.
type Report struct {
	Results []Result // in the order of the tables
	Skipped []Skipped
}

// Measure predicts every case of the set, on all cores; the result does not depend on how many there are.
func Measure(s *Set, c *estimate.Curves) *Report {
	type outcome struct {
		p    Prediction
		skip Skip
	}
	done := make([]outcome, len(s.Cases))
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(s.Cases)) {
		wait.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(done)); i = next.Add(1) - 1 {
				done[i].p, done[i].skip = s.Cases[i].Predict(c)
			}
		})
	}
	wait.Wait()
	r := &Report{Skipped: slices.Clone(s.Skipped)}
	for i, d := range done {
		k := s.Cases[i]
		if d.skip != "" || !(d.p.Value > 0) || math.IsInf(d.p.Value, 0) {
			why := cmp.Or(d.skip, Refused)
			r.Skipped = append(r.Skipped, Skipped{Target: k.Target, Reason: why, File: k.File, Line: k.Line, What: k.Label})
			continue
		}
		r.Results = append(r.Results, Result{k, d.p})
	}
	return r
}

// ErrorOf sums up results; the zero value where there are none.
func ErrorOf(results []Result) estimate.Error {
	if len(results) == 0 {
		return estimate.Error{}
	}
	apes, signed := make([]float64, 0, len(results)), make([]float64, 0, len(results))
	var naive []float64
	inside := 0
	for i := range results {
		r := &results[i]
		apes, signed = append(apes, r.APE()), append(signed, r.Value/r.Measured-1)
		if r.Inside() {
			inside++
		}
		if r.Baseline > 0 {
			naive = append(naive, math.Abs(r.Baseline-r.Measured)/r.Measured)
		}
	}
	return estimate.Error{
		N: len(results), MdAPE: Quantile(apes, 0.5), P90: Quantile(apes, 0.9), Bias: Quantile(signed, 0.5),
		Coverage: float64(inside) / float64(len(results)), BaselineAPE: Quantile(naive, 0.5), BaselineHave: len(naive),
	}
}

// Quantile is a quantile by linear interpolation between order statistics; 0 of nothing. It sorts v.
func Quantile(v []float64, q float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	at := q * float64(len(v)-1)
	lo := int(at)
	if lo+1 >= len(v) {
		return v[lo]
	}
	return v[lo] + (at-float64(lo))*(v[lo+1]-v[lo])
}

// dimensions is what a report is broken down by.
var dimensions = []struct {
	name string
	of   func(*Case) string
}{
	{"accelerator", func(c *Case) string { return c.Tags.Chip }},
	{"family", func(c *Case) string { return cmp.Or(c.Tags.Family, c.Model) }},
	{"framework", func(c *Case) string { return c.Tags.Framework }},
	{"source", func(c *Case) string { return c.Source }},
}

// shares breaks results of one target down by what they have in common.
func shares(results []Result) []estimate.Share {
	var out []estimate.Share
	for _, d := range dimensions {
		parts := by(results, d.of)
		for _, value := range slices.Sorted(maps.Keys(parts)) {
			if value != "" {
				out = append(out, estimate.Share{By: d.name, Value: value, Error: ErrorOf(parts[value])})
			}
		}
	}
	return out
}

// worst is the n results with the largest error either way: a prediction of half and of twice the measurement are equally bad.
func worst(results []Result, n int) []estimate.Worst {
	sorted := slices.Clone(results)
	off := func(x *Result) float64 { return math.Abs(math.Log(x.Ratio())) }
	slices.SortStableFunc(sorted, func(a, b Result) int { return cmp.Compare(off(&b), off(&a)) })
	var out []estimate.Worst
	for _, r := range sorted[:min(n, len(sorted))] {
		out = append(out, estimate.Worst{Label: r.Label, Source: r.Source, Measured: significant(r.Measured, 4), Predicted: significant(r.Value, 4)})
	}
	return out
}

// Dimensions is what a report can be broken down by.
func Dimensions() []string {
	var names []string
	for _, d := range dimensions {
		names = append(names, d.name)
	}
	return names
}

func by(results []Result, of func(*Case) string) map[string][]Result {
	out := map[string][]Result{}
	for _, r := range results {
		out[of(r.Case)] = append(out[of(r.Case)], r)
	}
	return out
}
