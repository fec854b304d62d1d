package hash

import (
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

// world is the chips of the tests: A and B of one capability, C of another, all of 10 FP32 TFLOP/s.
func world() map[string]*accelerator.Accelerator {
	out := map[string]*accelerator.Accelerator{}
	for name, compute := range map[string]string{"A": "1.0", "B": "1.0", "C": "2.0"} {
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
	j, err := newJob(&workload.HashWork{Algorithm: "MD5", Keyspace: keyspace}, estimate.EmbeddedCurves(), table, func(n string) (*accelerator.Accelerator, bool) {
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

// Twice the FP32 rate of a family does twice its median: of A and B within the capability, of all three within the
// vendor.
func TestAnUnpublishedChipIsScaledFromItsFamily(t *testing.T) {
	for _, c := range []struct {
		compute, by string
		want        float64
		like        estimate.Likeness
	}{{"1.0", "compute", 4000, estimate.LikeFamily}, {"3.0", "vendor", 6000, estimate.LikeKind}} {
		a := scaletest.Twice("New")
		a.Compute = c.compute
		e := scaletest.Best(t, prepare(t, 1e9), scaletest.Group(a, 1, 1))
		if !scaletest.Near(e.Speed.Value, c.want) || e.Speed.Basis != estimate.Predicted || e.Speed.Like != c.like || e.Notes[0].Args["By"] != c.by {
			t.Errorf("%s: %+v %v", c.compute, e.Speed, e.Notes)
		}
	}
}

func TestRefusals(t *testing.T) {
	group := func(change func(*accelerator.Accelerator)) estimate.Group {
		a := scaletest.Twice("New")
		change(a)
		return scaletest.Group(a, 1, 1)
	}
	for _, c := range []struct {
		name  string
		group estimate.Group
		want  estimate.Reason
	}{
		{"another vendor", group(func(a *accelerator.Accelerator) { a.Vendor = "Other" }), estimate.NoReference},
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

// TestLeaveOneOut predicts every published rate from the others of its family, as a chip without one would be.
func TestLeaveOneOut(t *testing.T) {
	find := accelerator.Embedded().Get
	table := embedded()
	ratios := map[string][]float64{}
	for algorithm, rates := range table.rates {
		for i, r := range rates {
			a, ok := find(r.Accelerator)
			if !ok {
				continue
			}
			peak, known := a.Peak[accelerator.FP32].Get()
			others := families(algorithm, slices.Delete(slices.Clone(rates), i, i+1), find)
			for _, k := range keys(a) {
				if f := others[k.name]; f != nil && known {
					ratios[k.by] = append(ratios[k.by], r.PerSecond/(f.perFLOP*float64(peak)))
					break
				}
			}
		}
	}
	for by, r := range ratios {
		slices.Sort(r)
		t.Logf("%s: n=%d measured/predicted 10th %.2f, median %.2f, 90th %.2f", by, len(r), r[len(r)/10], r[len(r)/2], r[len(r)*9/10])
	}
	if r := ratios["compute"]; len(r) < 100 || r[len(r)/10] < 0.75 || r[len(r)*9/10] > 1.3 {
		t.Errorf("within a compute capability the scaled rates are worse than they were")
	}
}

func BenchmarkBest(b *testing.B) {
	a := scaletest.Twice("New")
	a.Compute = "1.0"
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
