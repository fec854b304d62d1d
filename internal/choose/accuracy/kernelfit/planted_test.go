package kernelfit

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

// planted is a table of multiplies that follow a curve exactly, but for every tenth, which takes three times as long.
func planted(t *testing.T, system string, curve estimate.MultiplyCurve) string {
	t.Helper()
	chip, ok := accelerator.Embedded().Get(systems[system])
	if !ok {
		t.Fatal("no such chip")
	}
	x, ok := bare(chip).Multiply(estimate.Arithmetic{Precision: accelerator.BF16, WeightBits: 16})
	if !ok {
		t.Fatal("no such rate")
	}
	x.Curve = curve
	var b strings.Builder
	i := 0
	for m := 1.0; m <= 16384; m *= 4 {
		for n := 256.0; n <= 65536; n *= 2 {
			for k := 256.0; k <= 65536; k *= 2 {
				ms := x.Seconds(m, n, k) * 1e3
				if i++; i%10 == 0 {
					ms *= 3
				}
				fmt.Fprintf(&b, "%s,bfloat16,%g,%g,%g,%g\n", system, m, n, k, ms)
			}
		}
	}
	return b.String()
}

const gemmHeader = "system,gemm_dtype,m,n,k,latency_ms\n"

// A fit finds the curve that measurements follow, whatever a tenth of them says.
func TestFitFindsThePlantedCurve(t *testing.T) {
	want := estimate.MultiplyCurve{Compute: 0.71, Bandwidth: 0.83, FixedUS: 6, SerialNS: 0.8, Depth: 150, Overlap: 0.7}
	samples, err := readMultiplies(strings.NewReader(gemmHeader+planted(t, "h100_sxm", want)), accelerator.Embedded())
	if err != nil {
		t.Fatal(err)
	}
	k := multiplies(estimate.MultiplyBF16, 0)
	got := k.all(samples[estimate.MultiplyBF16])["H100-SXM-80GB"]
	for name, pair := range map[string][2]float64{
		"compute": {got.Compute, want.Compute}, "bandwidth": {got.Bandwidth, want.Bandwidth}, "fixed": {got.FixedUS, want.FixedUS}, "serial": {got.SerialNS, want.SerialNS},
	} {
		if math.Abs(pair[0]/pair[1]-1) > 0.05 {
			t.Errorf("%s: %g, planted %g", name, pair[0], pair[1])
		}
	}
	if got.Error > 0.02 {
		t.Errorf("held-out error %g", got.Error)
	}
}

// Chips left out are predicted from others by their peaks: two that follow one curve predict each other.
func TestLeaveOneChipOut(t *testing.T) {
	curve := estimate.MultiplyCurve{Compute: 0.7, Bandwidth: 0.8, FixedUS: 5, SerialNS: 0.5, Depth: 100, Overlap: 0.5}
	samples, err := readMultiplies(strings.NewReader(gemmHeader+planted(t, "h100_sxm", curve)+planted(t, "h200_sxm", curve)), accelerator.Embedded())
	if err != nil {
		t.Fatal(err)
	}
	k := multiplies(estimate.MultiplyBF16, 0)
	curves := k.all(samples[estimate.MultiplyBF16])
	for key, like := range map[string]estimate.Likeness{"Hopper": estimate.LikeFamily, "NVIDIA": estimate.LikeKind, "default": estimate.LikeNone, "H200-SXM-141GB": estimate.LikeChip} {
		c, ok := curves[key]
		if !ok || c.Like != like || c.Error > 0.02 {
			t.Errorf("%s: %+v, want like %s and little error", key, c, like)
		}
	}
}

// What a launch from Python hides is no measurement of the chip.
func TestAfterLaunch(t *testing.T) {
	chip, _ := accelerator.Embedded().Get("B200")
	at := func(m, n, us float64) sample[product] {
		return sample[product]{chip: chip, seconds: us * 1e-6, row: product{m: m, n: n, k: 1024}}
	}
	got := afterLaunch([]sample[product]{at(1, 1024, 80), at(2, 1024, 90), at(4, 1024, 85), at(4096, 8192, 150), at(4096, 16384, 400)})
	if len(got) != 1 || got[0].row.n != 16384 {
		t.Errorf("kept %v", got)
	}
}

func TestTablesAreChecked(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "no column": "system,gemm_dtype,m,n,k\n", "no number": gemmHeader + "h100_sxm,bfloat16,1,2,x,1\n", "short row": gemmHeader + "h100_sxm,bfloat16\n",
	} {
		if _, err := readMultiplies(strings.NewReader(text), accelerator.Embedded()); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if got, err := readMultiplies(strings.NewReader(gemmHeader+"abacus,bfloat16,1,2,3,1\nh100_sxm,ternary,1,2,3,1\n"), accelerator.Embedded()); err != nil || len(got[estimate.MultiplyBF16]) != 0 {
		t.Errorf("a chip or a format nobody knows: %v, %v", got, err)
	}
}

func TestDigits(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.84812: "0.848", 45300: "45300", 453217: "453000", 0.0001234: "0.000123", 1: "1"} {
		if got := digits(v); got != want {
			t.Errorf("%g: %s, want %s", v, got, want)
		}
	}
}
