package hash

import (
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/data"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/scale/scaletest"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

const rows = header + `
A,md5,0,,1000,1,test,2026-01-02
B,md5,0,,3000,2,test,2026-01-02
C,md5,0,,9000,1,test,2026-01-02
Gone,md5,0,,5,1,test,2026-01-02
`

// world is the chips of the tests, all of 10 FP32 TFLOP/s: a multiprocessor of A and B does as many integer operations as FP32 ones,
// and of C half as many.
func world() map[string]*accelerator.Accelerator {
	out := map[string]*accelerator.Accelerator{}
	for name, compute := range map[string]string{"A": "8.0", "B": "8.0", "C": "9.0"} {
		a := scaletest.Chip(name)
		a.Compute = compute
		out[name] = a
	}
	return out
}

func prepare(t interface{ Fatal(...any) }, keyspace float64) estimate.Job {
	table, err := load(fstest.MapFS{file: {Data: []byte(rows)}})
	if err != nil {
		t.Fatal(err)
	}
	chips := world()
	j, err := newJob(&workload.HashWork{Algorithm: "MD5", Keyspace: keyspace}, estimate.EmbeddedCurves().Without(estimate.Hashing), table, func(n string) (*accelerator.Accelerator, bool) {
		a, ok := chips[n]
		return a, ok
	})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestThePublishedChipKeepsItsRate(t *testing.T) {
	e := scaletest.Best(t, prepare(t, 7.2e6), scaletest.Group(world()["A"], 2, 1))
	if e.Speed.Value != 2000 || e.Speed.Basis != estimate.Published || e.Speed.Like != estimate.LikeChip || !scaletest.Near(float64(e.Hours), 1) {
		t.Errorf("%+v %v hours", e.Speed, e.Hours)
	}
}

// Rates over integer rates are 1000, 3000 and 18000 of the same unit: the middle one is B's. Twice the FP32 rate at the same
// integer operations for each does twice that; half the integer operations, half of it; a third of the power that the clock needs
// takes its square root.
func TestAnUnpublishedChipIsScaledFromAll(t *testing.T) {
	for _, c := range []struct {
		compute string
		watts   float64
		want    float64
	}{{"8.0", 400, 6000}, {"9.0", 400, 3000}, {"8.9", 400, 3000}, {"8.9", 20 * 5. / 4, 1500}} {
		a := scaletest.Twice("New")
		a.Compute, a.TDP = c.compute, unit.Some(unit.Watts(c.watts))
		e := scaletest.Best(t, prepare(t, 1e9), scaletest.Group(a, 1, 1))
		if !scaletest.Near(e.Speed.Value, c.want) || e.Speed.Basis != estimate.Predicted || e.Notes[0].Code != noteScaled || e.Notes[0].Args["Chips"] != 3 {
			t.Errorf("%s: %+v %v", c.compute, e.Speed, e.Notes)
		}
	}
}

// bcrypt keeps 4 KiB a candidate: 228 KiB for 128 lanes hold 1.14 times what 100 KiB do for 64.
func TestBounds(t *testing.T) {
	a, b := scaletest.Chip("A"), scaletest.Chip("B")
	a.Compute, b.Compute = "9.0", "7.5"
	of := func(x *accelerator.Accelerator, name string) float64 {
		v, refusal := throughput(x, boundOf(name))
		if refusal != nil {
			t.Fatal(refusal)
		}
		return v
	}
	if r := of(a, "bcrypt") / of(b, "bcrypt"); !scaletest.Near(r, 228./128/(64./64)) {
		t.Errorf("bcrypt %v", r)
	}
	if r := of(a, "md5") / of(b, "md5"); !scaletest.Near(r, 0.5) {
		t.Errorf("md5 %v", r)
	}
	if r := of(a, "scrypt@1") / of(b, "scrypt@1"); !scaletest.Near(r, math.Sqrt(0.5*228/128)) {
		t.Errorf("scrypt %v", r)
	}
	// 6.1 rotates at half the rate: 0.8 at full and 0.2 at half rate take 1.2 times as long.
	a.Compute = "6.1"
	if r := of(b, "md5") / of(a, "md5"); !scaletest.Near(r, 1.2) {
		t.Errorf("6.1: %v", r)
	}
}

// Cards beyond the chip table are known by their data sheets, and each is one that it lacks.
func TestCards(t *testing.T) {
	for _, c := range limits().Cards {
		_, listed := accelerator.Embedded().Get(c.Name)
		a, ok := Card(c.Name)
		if listed || !ok {
			t.Errorf("%s: listed %v", c.Name, listed)
			continue
		}
		if v, refusal := throughput(a, arithmetic); refusal != nil || v <= 0 {
			t.Errorf("%s: %v %+v", c.Name, v, refusal)
		}
	}
	for printed, want := range map[string]string{
		"CMP 90HX": "CMP-90HX", "NVIDIA GeForce GTX 1660 Ti": "GTX-1660-Ti", "TITAN X (Pascal)": "Titan-X-(Pascal)", "Tesla M40": "M40",
	} {
		if a, ok := Card(printed); !ok || a.Name != want {
			t.Errorf("%s: %+v", printed, a)
		}
	}
	if _, ok := Card("Abacus"); ok {
		t.Error("an abacus")
	}
}

func TestSettings(t *testing.T) {
	for _, c := range []struct{ mode, iterations, want string }{
		{"0", "", "md5"}, {"11600", "16384", "7zip"}, {"11600", "524288", "7zip@524288"}, {"11600", "", ""}, {"3200", "64", ""},
	} {
		if got, ok := Setting(c.mode, c.iterations); got != c.want || ok != (c.want != "") {
			t.Errorf("%+v: %q", c, got)
		}
	}
	if Iterated("0") || !Iterated("11600") || Iterated("99999") {
		t.Error("which modes have iterations")
	}
	if got, ok := Known("11600"); !ok || got != "7zip" {
		t.Errorf("a mode alone is %q", got)
	}
}

func TestRefusals(t *testing.T) {
	group := func(change func(*accelerator.Accelerator)) estimate.Group {
		a := scaletest.Twice("New")
		a.Compute = "8.0"
		change(a)
		return scaletest.Group(a, 1, 1)
	}
	for _, c := range []struct {
		name  string
		group estimate.Group
		want  estimate.Reason
	}{
		{"another architecture", group(func(a *accelerator.Accelerator) { a.Compute = "gfx942" }), estimate.NoReference},
		{"rate unknown", group(func(a *accelerator.Accelerator) { a.Peak[accelerator.FP32] = unit.None[unit.FLOPS]() }), estimate.NoRate},
		{"memory unknown", group(func(a *accelerator.Accelerator) { a.NominalGB = unit.None[float64]() }), estimate.NoMemoryFact},
		{"memory", group(func(a *accelerator.Accelerator) { a.NominalGB = unit.Some(1.0) }), estimate.NoMemory},
	} {
		if got := scaletest.Refused(prepare(t, 1), c.group); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestAlgorithms(t *testing.T) {
	names := embedded().algorithms
	if !slices.IsSorted(names) || len(names) < 20 {
		t.Errorf("%v", names)
	}
	for text, want := range map[string]string{
		"MD5": "md5", "sha-256": "sha256", "SHA2-512": "sha512", "22000": "wpa2", "WPA": "wpa2", "NetNTLMv2": "netntlmv2", "7-Zip": "7zip", "3200": "bcrypt",
	} {
		if got, ok := Known(text); !ok || got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
	_, err := New(&workload.Workload{Hash: &workload.HashWork{Algorithm: "bcript", Keyspace: 1}}, estimate.EmbeddedCurves())
	if all := problem.All(err); len(all) != 1 || all[0].Code != "hash.unknown_algorithm" || !slices.Contains(all[0].Suggest, "bcrypt") {
		t.Errorf("%v", err)
	}
}

func TestBadRows(t *testing.T) {
	for _, row := range []string{
		"A,md5,0,,1000,1,test,2026-01-02\nA,md5,0,,1000,1,test,2026-01-02", // twice
		"A,md5,0,,1000,1,test,2026-01-02\nB,md5,1,,1000,1,test,2026-01-02", // another mode
		"A,md5,0,1,1000,1,test,2026-01-02\nB,md5,0,2,1000,1,test,2026-01-02",
		"A,md5,0,,0,1,test,2026-01-02", "A,md5,0,,NaN,1,test,2026-01-02", "A,md5,0,,1,0,test,2026-01-02", "A,MD5,0,,1,1,test,2026-01-02", "A,md5,0,,1,1,,2026-01-02",
	} {
		if _, err := load(fstest.MapFS{file: {Data: []byte(header + "\n" + row + "\n")}}); err == nil || !strings.Contains(err.Error(), "data.bad_row") {
			t.Errorf("%q is let through: %v", row, err)
		}
	}
}

func TestProperties(t *testing.T) {
	chips := world()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 512).Draw(t, "n")
		a := chips[rapid.SampledFrom([]string{"A", "B", "C"}).Draw(t, "chip")]
		best := func(keyspace float64, n int) estimate.Estimate {
			e, refusal, _ := prepare(t, keyspace).Best(scaletest.Group(a, n, 1))
			if refusal != nil {
				t.Fatalf("%+v", refusal)
			}
			scaletest.Check(t, e)
			return e
		}
		one := best(1e12, n)
		if two := best(2e12, n); !scaletest.Near(2*float64(one.Hours), float64(two.Hours)) {
			t.Errorf("twice the keys take %v for %v hours", two.Hours, one.Hours)
		}
		if more := best(1e12, n+1); more.Hours >= one.Hours {
			t.Errorf("one more is slower: %v after %v hours", more.Hours, one.Hours)
		}
	})
}

func BenchmarkBest(b *testing.B) {
	a := scaletest.Twice("New")
	a.Compute = "8.0"
	scaletest.Bench(b, prepare(b, 1e12), scaletest.Group(a, 8, 1))
}

// BenchmarkLoad keeps the first hash workload of a run quick: the table is read when it is asked for.
func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := load(data.FS); err != nil {
			b.Fatal(err)
		}
	}
}
