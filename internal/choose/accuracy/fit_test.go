package accuracy

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/choose/estimate"
)

// planted is a set whose measurements are a prediction of 100 times what each chip and framework is said to do, with noise.
func planted(seed uint64, noise float64) *Set {
	rng := rand.New(rand.NewPCG(seed, 1))
	chips := map[string]float64{"A": 1.3, "B": 0.8, "C": 1.0, "D": 1.1}
	frameworks := map[string]float64{"x": 1.2, "y": 0.9}
	s := &Set{}
	for _, chip := range []string{"A", "B", "C", "D"} {
		for _, framework := range []string{"x", "y"} {
			for g := range 8 {
				for i := range 4 {
					tags := estimate.Tags{Chip: chip, Arch: "arch" + chip, Vendor: "v", Framework: framework}
					truth := 100 * chips[chip] * frameworks[framework] * math.Exp(noise*rng.NormFloat64())
					s.Cases = append(s.Cases, &Case{
						Target: estimate.Training, Tags: tags, Model: fmt.Sprint("m", g), Source: framework, Label: fmt.Sprint(chip, framework, g, i), Measured: truth, Baseline: 50,
						Predict: func(c *estimate.Curves) (Prediction, Skip) {
							return Corrected(c, estimate.Training, tags, 100), ""
						},
					})
				}
			}
		}
	}
	return s
}

func fitPlanted(t *testing.T, s *Set, attributes ...string) *estimate.Calibration {
	t.Helper()
	c := estimate.EmbeddedCurves().Without(estimate.Training)
	k, err := fit(s, c, estimate.Training, "2026-11-30", recipe{attributes: attributes})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestFitRecoversWhatWasPlanted(t *testing.T) {
	k := fitPlanted(t, planted(1, 0.05), "chip", "framework")
	for _, want := range []struct {
		chip, framework string
		factor          float64
	}{{"A", "x", 1.56}, {"B", "y", 0.72}, {"D", "x", 1.32}} {
		got := k.Factor(estimate.Tags{Chip: want.chip, Framework: want.framework})
		if math.Abs(got/want.factor-1) > 0.03 {
			t.Errorf("%s %s: factor %.3f, planted %.3f", want.chip, want.framework, got, want.factor)
		}
	}
	if k.HeldOut.MdAPE > 0.05 || k.HeldOut.Coverage < 0.75 || k.HeldOut.Coverage > 0.9 {
		t.Errorf("held out %+v; the noise alone has a median of 3.4 %%", k.HeldOut)
	}
	if k.Unseen.MdAPE < 1.5*k.HeldOut.MdAPE {
		t.Errorf("an accelerator never seen (%.3f) must be harder than a group never seen (%.3f)", k.Unseen.MdAPE, k.HeldOut.MdAPE)
	}
	if k.N != 256 || k.Groups != 64 || k.Seen["chip=A"] != 64 || len(k.Marks) != 64 {
		t.Errorf("n %d, groups %d, seen %v, marks %d", k.N, k.Groups, k.Seen, len(k.Marks))
	}
}

// An attribute that says nothing is left out, and a level of one group is hardly believed.
func TestFitDoesNotMemorise(t *testing.T) {
	s := planted(2, 0.1)
	for i, c := range s.Cases {
		c.Tags.Mode = fmt.Sprint("mode", i%7)
	}
	if k := fitPlanted(t, s, "chip", "framework", "mode"); k.Terms["mode"] != nil {
		t.Errorf("a mode without meaning got terms: %v", k.Terms["mode"])
	}
	one := &Set{Cases: slices.Clone(s.Cases)}
	for _, c := range one.Cases[:4] {
		c.Measured *= 3
	}
	k := fitPlanted(t, one, "chip", "framework")
	if f := k.Factor(estimate.Tags{Chip: "A", Framework: "x"}) / 1.56; f > 1.06 {
		t.Errorf("one group of eight that is off by 3 moved its level by %.2f", f)
	}
}

func TestFitIsTheSameInAnyOrder(t *testing.T) {
	a, b := planted(3, 0.1), planted(3, 0.1)
	rand.New(rand.NewPCG(9, 9)).Shuffle(len(b.Cases), func(i, j int) { b.Cases[i], b.Cases[j] = b.Cases[j], b.Cases[i] })
	x, err := Encode(fitPlanted(t, a, "chip", "framework", "arch"))
	if err != nil {
		t.Fatal(err)
	}
	y, err := Encode(fitPlanted(t, b, "chip", "framework", "arch"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(x, y) {
		t.Errorf("the order of the rows shows:\n%s\n%s", x, y)
	}
}

func TestMeasureCountsEveryCase(t *testing.T) {
	s := planted(4, 0.1)
	s.Cases[3].Predict = func(*estimate.Curves) (Prediction, Skip) { return Prediction{}, NoModel }
	s.Cases[5].Predict = func(*estimate.Curves) (Prediction, Skip) { return Prediction{Value: math.NaN()}, "" }
	s.Skipped = []Skipped{{Target: estimate.Training, Reason: NoChip}}
	r := Measure(s, estimate.EmbeddedCurves())
	if len(r.Results) != 254 || len(r.Skipped) != 3 {
		t.Fatalf("%d results and %d left out of 256 cases and one row", len(r.Results), len(r.Skipped))
	}
	sums := r.Summaries(estimate.EmbeddedCurves().Without(estimate.Training), 2)
	if len(sums) != 1 || sums[0].Skipped[NoModel] != 1 || sums[0].Skipped[Refused] != 1 || sums[0].Skipped[NoChip] != 1 || len(sums[0].Worst) != 2 {
		t.Errorf("%+v", sums)
	}
	total := 0
	for _, share := range sums[0].Shares {
		if share.By == "accelerator" {
			total += share.N
		}
	}
	if total != sums[0].Error.N {
		t.Errorf("the shares by accelerator hold %d rows, the whole %d", total, sums[0].Error.N)
	}
}

func TestErrorOf(t *testing.T) {
	mk := func(measured, predicted, baseline float64) Result {
		return Result{&Case{Measured: measured, Baseline: baseline}, Prediction{Value: predicted, Low: predicted * 0.9, High: predicted * 1.1}}
	}
	got := ErrorOf([]Result{mk(100, 110, 200), mk(100, 80, 0), mk(100, 100, 50)})
	want := estimate.Error{N: 3, MdAPE: 0.1, P90: 0.18, Bias: 0, Coverage: 2.0 / 3, BaselineAPE: 0.75, BaselineHave: 2}
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
	if got.N != want.N || !near(got.MdAPE, want.MdAPE) || !near(got.P90, want.P90) || !near(got.Bias, want.Bias) ||
		!near(got.Coverage, want.Coverage) || !near(got.BaselineAPE, want.BaselineAPE) || got.BaselineHave != want.BaselineHave {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if ErrorOf(nil) != (estimate.Error{}) {
		t.Error("nothing has an error")
	}
}

func TestQuantile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 40).Draw(t, "v")
		q := rapid.Float64Range(0, 1).Draw(t, "q")
		got := Quantile(slices.Clone(v), q)
		if got < slices.Min(v) || got > slices.Max(v) {
			t.Fatalf("the %g quantile of %v is %g", q, v, got)
		}
		if more := Quantile(slices.Clone(v), min(1, q+0.1)); more < got {
			t.Fatalf("quantiles fall: %g then %g", got, more)
		}
	})
}

// Every calibration that ships says what it must, and its intervals hold its own prediction.
func TestEmbeddedCalibrations(t *testing.T) {
	for target, k := range estimate.EmbeddedCurves().Calibrations {
		if k.N < 50 || k.Groups < 10 || k.HeldOut.N != k.N || len(k.Sources) == 0 || k.AsOf == "" || len(k.Shares) == 0 {
			t.Errorf("%s: n %d, groups %d, held out %d, %d sources, as of %q", target, k.N, k.Groups, k.HeldOut.N, len(k.Sources), k.AsOf)
		}
		for name, iv := range k.Intervals {
			if iv.Low > 1 || iv.High < 1 || iv.Low <= 0 {
				t.Errorf("%s: interval %s is %g to %g", target, name, iv.Low, iv.High)
			}
		}
		if k.HeldOut.Coverage < 0.7 || k.HeldOut.Coverage > 0.92 {
			t.Errorf("%s: %.2f of what was held out lies inside the interval", target, k.HeldOut.Coverage)
		}
	}
}
