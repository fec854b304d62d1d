package accuracy

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/sharedtest"
)

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
	text, err := os.ReadFile(filepath.Join(sharedtest.Dir(t), folder, name))
	if err != nil {
		t.Fatal(err)
	}
	s := &Set{}
	if err := s.Read(name, text); err != nil {
		t.Fatal(err)
	}
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

const hashHead = "device,count,hash_mode,hash_name,speed,iterations,hashcat_version,source\n"

// A rig is so many cards, and no rate of the card's own takes part.
func TestHashRow(t *testing.T) {
	s := read(t, hashHead+"RTX 4090,1,3200,bcrypt,1e5,32,v6,a/b x.txt\nRTX 4090,8,3200,bcrypt,8e5,32,v6,a/b y.txt\n")
	if len(s.Cases) != 2 || s.Cases[0].Group() != s.Cases[1].Group() || s.Cases[0].Baseline*8 != s.Cases[1].Baseline {
		t.Fatalf("%+v %+v", s.Cases, s.Skipped)
	}
	c := estimate.EmbeddedCurves()
	one, _ := s.Cases[0].Predict(c)
	eight, _ := s.Cases[1].Predict(c)
	if eight.Value != 8*one.Value || one.Value < 1.4e5 || one.Value > 2.4e5 {
		t.Errorf("%v and %v", one, eight)
	}
}

func TestHashSkips(t *testing.T) {
	for row, want := range map[string]Skip{
		"Abacus,1,0,MD5,1e9,,v6,a/b":             NoChip,
		"RTX 4090,1,0,MD5,,,v6,a/b":              NoFigure,
		"RTX 4090,,0,MD5,1e9,,v6,a/b":            NoSize,
		"RTX 4090,1,11600,7-Zip,1e5,,v3,a/b":     NoSize, // which iterations?
		"RTX 4090,1,11600,7-Zip,1e5,77,v3,a/b":   NoReference,
		"RTX 4090,1,99999,Plaintext,1e9,,v6,a/b": NoReference,
	} {
		if s := read(t, hashHead+row+"\n"); len(s.Cases) != 0 || len(s.Skipped) != 1 || s.Skipped[0].Reason != want {
			t.Errorf("%s: %+v, want %s", row, s.Skipped, want)
		}
	}
}

func TestHashTable(t *testing.T) {
	asFitted(t, wholeTable(t, "truth2", "hash.csv", estimate.Hashing), estimate.Hashing, 0.10)
}
