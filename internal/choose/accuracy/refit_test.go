//go:build !race

package accuracy

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/rackrate/rackrate/internal/choose/estimate"
)

// The tests here fit everything anew, which under the race detector takes minutes and shows nothing that others do not.

// Every calibration that ships is what "rackrate accuracy fit" makes of the tables, to the byte: nothing in it was set by hand, and
// the errors it states are those of the code that ships.
func TestCalibrationsAreFits(t *testing.T) {
	all := sharedSet(t, "truth/training_throughput.csv", "truth/training_other.csv", "truth/inference_throughput.csv", "truth/inference_serving.csv",
		"truth/inference_other.csv", "truth2/hash.csv", "truth2/hpc.csv", "truth2/diffusion.csv")
	curves := estimate.EmbeddedCurves()
	for _, target := range estimate.Fittable {
		ships := estimate.EmbeddedCurves().Calibrations[target]
		k, err := Fit(all, curves, target, ships.AsOf)
		if err != nil {
			t.Fatal(err)
		}
		curves = curves.Calibrated(k)
		got, err := Encode(k)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Encode(ships)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: the fit is no longer that of the tables and the code; run rackrate accuracy fit", target)
		}
	}
}

// A third of the groups and a sixth of the accelerators are left out of everything that is fitted, five times over. The errors on
// them are what the calibrations say of themselves, within what chance does, and their intervals hold.
func TestThirdsLeftOut(t *testing.T) {
	for target, file := range sampleTables {
		s := only(sharedSet(t, file), target)
		errors, inside, n := map[string][]float64{}, map[string]float64{}, map[string]float64{}
		for seed := range 5 {
			kept, left := &Set{}, map[string]*Set{"groups": {}, "accelerators": {}}
			for _, k := range s.Cases {
				to := kept
				switch {
				case digest(fmt.Sprint(seed, "|chip", k.Tags.Chip))%6 == 0:
					to = left["accelerators"]
				case digest(fmt.Sprint(seed, "|", k.Group()))%3 == 0:
					to = left["groups"]
				}
				to.Cases = append(to.Cases, k)
			}
			fitted, err := Fit(kept, estimate.EmbeddedCurves(), target, "2026-11-30")
			if err != nil {
				t.Fatal(err)
			}
			c := estimate.EmbeddedCurves().Calibrated(fitted)
			for name, of := range left {
				if e := ErrorOf(Measure(of, c).Results); e.N >= 20 {
					errors[name] = append(errors[name], e.MdAPE)
					inside[name] += e.Coverage * float64(e.N)
					n[name] += float64(e.N)
				}
			}
		}
		says := estimate.EmbeddedCurves().Calibrations[target]
		for name, claim := range map[string]float64{"groups": says.HeldOut.MdAPE, "accelerators": says.Unseen.MdAPE} {
			if n[name] == 0 { // all accelerators of a table may lie in other sixths
				continue
			}
			median, coverage := Quantile(errors[name], 0.5), inside[name]/n[name]
			t.Logf("%s, %s left out: median errors %.3f, %.0f rows, %.3f inside", target, name, errors[name], n[name], coverage)
			if median > 0.15 || claim < 0.7*median || coverage < 0.75 || coverage > 0.92 {
				t.Errorf("%s, %s left out: median error %.3f, the calibration says %.3f; %.2f inside", target, name, median, claim, coverage)
			}
		}
	}
}
