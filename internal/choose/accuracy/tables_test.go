package accuracy

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/sharedtest"
)

// read is a table written in a test.
func read(t *testing.T, text string) *Set {
	t.Helper()
	s := &Set{}
	if err := s.Read("t.csv", []byte(text)); err != nil {
		t.Fatal(err)
	}
	return s
}

// wholeTable reads a table and holds that each of its rows ends as a case or a skip.
func wholeTable(t *testing.T, folder, name string, target estimate.Target) *Set {
	t.Helper()
	s := sharedSet(t, folder+"/"+name)
	ends := map[int]int{}
	for _, k := range s.Cases {
		ends[k.Line]++
	}
	for _, k := range s.Skipped {
		if k.Target != target || k.Reason == "" || k.What == "" {
			t.Errorf("%s:%d: skipped as %q of %q: %q", name, k.Line, k.Reason, k.Target, k.What)
		}
		ends[k.Line]++
	}
	if rows := sharedtest.Rows(t, folder, name); len(ends) != len(rows) || len(s.Cases)+len(s.Skipped) != len(rows) {
		t.Errorf("%s: %d cases and %d skips on %d of %d rows", name, len(s.Cases), len(s.Skipped), len(ends), len(rows))
	}
	return s
}

// asFitted holds the errors that the embedded calibration states against a bar, and the table against the calibration.
func asFitted(t *testing.T, s *Set, target estimate.Target, unseen float64) {
	t.Helper()
	k := estimate.EmbeddedCurves().Calibrations[target]
	if k == nil {
		t.Fatalf("no calibration of %s", target)
	}
	for name, e := range map[string]estimate.Error{"groups left out": k.HeldOut, "accelerators left out": k.Unseen} {
		if e.MdAPE > unseen || e.Coverage < 0.75 || e.Coverage > 0.90 {
			t.Errorf("%s, %s: median error %.3f, coverage %.2f", target, name, e.MdAPE, e.Coverage)
		}
	}
	report := Measure(s, estimate.EmbeddedCurves())
	have := ErrorOf(report.Results)
	if have.MdAPE > k.HeldOut.MdAPE*1.1 || have.N < k.N {
		t.Errorf("%s: median error %.3f on %d rows, the calibration says %.3f on %d", target, have.MdAPE, have.N, k.HeldOut.MdAPE, k.N)
	}
}

// sharedSet is tables of the shared folder.
func sharedSet(t *testing.T, files ...string) *Set {
	t.Helper()
	s := &Set{}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(sharedtest.Dir(t), filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Read(file, text); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// leavesOut holds that each row under a head is left out for its reason.
func leavesOut(t *testing.T, head string, target estimate.Target, rows map[string]Skip) {
	t.Helper()
	for row, want := range rows {
		s := read(t, head+row+"\n")
		if len(s.Cases) != 0 || len(s.Skipped) != 1 || s.Skipped[0].Reason != want || s.Skipped[0].Target != target {
			t.Errorf("%s: %+v %+v, want %s", row, s.Cases, s.Skipped, want)
		}
	}
}
