package accuracy

import (
	"testing"

	"github.com/rackrate/rackrate/internal/choose/estimate"
)

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
	leavesOut(t, hashHead, estimate.Hashing, map[string]Skip{
		"Abacus,1,0,MD5,1e9,,v6,a/b":             NoChip,
		"RTX 4090,1,0,MD5,,,v6,a/b":              NoFigure,
		"RTX 4090,,0,MD5,1e9,,v6,a/b":            NoSize,
		"RTX 4090,1,11600,7-Zip,1e5,,v3,a/b":     NoSize, // which iterations?
		"RTX 4090,1,11600,7-Zip,1e5,77,v3,a/b":   NoReference,
		"RTX 4090,1,99999,Plaintext,1e9,,v6,a/b": NoReference,
	})
}

func TestHashTable(t *testing.T) {
	asFitted(t, wholeTable(t, "truth2", "hash.csv", estimate.Hashing), estimate.Hashing, 0.10)
}
