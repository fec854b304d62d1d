package accelerator

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/problem"
)

func TestParseSelector(t *testing.T) {
	const h100 = "H100-PCIe-80GB H100-SXM-80GB H100-NVL-94GB"
	tests := []struct {
		text                         string
		chips                        string
		minGB, maxGB, minCnt, maxCnt float64
	}{
		{"H100:8", h100, 0, 0, 8, 8},
		{"H100-SXM", "H100-SXM-80GB", 0, 0, 0, 0},
		{"H100:1..8", h100, 0, 0, 1, 8},
		{"H100:4..", h100, 0, 0, 4, 0},
		{"H100:..4", h100, 0, 0, 0, 4},
		{"4090", "RTX-4090", 0, 0, 0, 0},
		{"A10:0.5", "A10", 0, 0, 0.5, 0.5},
		{"80GB", "", 80, 80, 0, 0},
		{"80GiB..", "", 80, 0, 0, 0},
		{"80GB..:1..8", "", 80, 0, 1, 8},
		{"24GB..80GB", "", 24, 80, 0, 0},
		{"24..80GB", "", 24, 80, 0, 0},
		{"..24GB", "", 0, 24, 0, 0},
		{"A100:80GB:4", "A100-PCIe-40GB A100-SXM-40GB A100-PCIe-80GB A100-SXM-80GB", 80, 80, 4, 4},
		{" A100 80GB : 2 ", "A100-PCIe-80GB A100-SXM-80GB", 0, 0, 2, 2},
		{":8", "", 0, 0, 8, 8},
		{"0..", "", 0, 0, 0, 0},
		{"0..8", "", 0, 0, 0, 8},
		{"1..8", "", 0, 0, 1, 8},
		{"4..8", "", 0, 0, 4, 8},
		{"昇腾910B3：8", "Ascend-910B3", 0, 0, 8, 8},
	}
	for _, tt := range tests {
		s, err := Embedded().ParseSelector(tt.text)
		if err != nil {
			t.Errorf("ParseSelector(%q): %v", tt.text, err)
			continue
		}
		got := fmt.Sprint(namesOf(s.Chips), s.MinGB, s.MaxGB, s.MinCount, s.MaxCount)
		want := fmt.Sprint(tt.chips, tt.minGB, tt.maxGB, tt.minCnt, tt.maxCnt)
		if got != want {
			t.Errorf("ParseSelector(%q) = %s, want %s", tt.text, got, want)
		}
	}
}

func TestParseSelectorFaults(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", "empty"}, {"   ", "empty"},
		{":", "empty_part"}, {"H100:", "empty_part"}, {"H100::8", "empty_part"},
		{"H100:8:80GB", "order"}, {"80GB:40GB", "order"}, {"8..:8", "order"},
		{"a:b:c:d", "too_many_parts"}, {strings.Repeat("9", 300), "too_long"},
		{"H100:0", "zero"}, {":0", "zero"}, {"H100:..0", "zero"}, {"0GB", "zero"}, {"H100:0..0", "zero"},
		{"H100:8..1", "reversed"}, {"80GB..24GB", "reversed"},
		{"H100:x", "count"}, {"H100:-1", "count"}, {"H100:1e3", "count"}, {"H100:NaN", "count"}, {"H100:1...8", "count"},
		{"H100:..", "count"}, {"H100:9999999", "count"}, {"H100:xGB", "memory"}, {"H100:GB", "memory"}, {"9999999GB..", "memory"},
	}
	for _, tt := range tests {
		_, err := Embedded().ParseSelector(tt.text)
		all := problem.All(err)
		if len(all) != 1 || all[0].Code != "selector.syntax" || all[0].Args["Reason"] != tt.want || all[0].Kind != problem.Input {
			t.Errorf("ParseSelector(%q) = %v, want reason %s", tt.text, err, tt.want)
		}
	}
	for _, text := range []string{"H1000:8", "8", "xGB", "80GB80"} {
		if all := problem.All(second(Embedded().ParseSelector(text))); len(all) != 1 || all[0].Code != "accelerator.unknown" {
			t.Errorf("ParseSelector(%q) = %v, want accelerator.unknown", text, all)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestParseSelectors(t *testing.T) {
	list, err := Embedded().ParseSelectors("H100:8, A100 80GB:8，80GB..:1..")
	if err != nil || len(list) != 3 {
		t.Fatalf("%d selectors, %v", len(list), err)
	}
	if diff := cmp.Diff([]string{"H100:8", "A100 80GB:8", "80GB..:1.."}, []string{list[0].Text, list[1].Text, list[2].Text}); diff != "" {
		t.Error(diff)
	}
	_, err = Embedded().ParseSelectors("H1000,,H100:0,H100")
	if all := problem.All(err); len(all) != 3 {
		t.Errorf("want all three faults at once, got %v", err)
	}
	if _, err := Embedded().ParseSelectors(strings.Repeat("T4,", 100)); err == nil {
		t.Error("a hundred selectors were taken")
	}
}

// Opening an end, widening a range or leaving a part out never loses a match.
func TestRelaxingNeverLosesAMatch(t *testing.T) {
	chips := Embedded().All()
	counts := []float64{0.125, 0.5, 1, 2, 4, 8, 16}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"", "H100", "A100", "T4", "RTX 4090", "B200"}).Draw(t, "name")
		gb := drawRange(t, "gb", 300)
		cnt := drawRange(t, "count", 16)
		text := func(name string, gb, cnt [2]int) string {
			parts := []string{name}
			if gb != [2]int{} {
				parts = append(parts, rangeText(gb, "GB"))
			}
			if cnt != [2]int{} {
				parts = append(parts, rangeText(cnt, ""))
			}
			if name == "" && len(parts) > 1 && gb != [2]int{} {
				parts = parts[1:]
			}
			return strings.Join(parts, ":")
		}
		tight := text(name, gb, cnt)
		if rapid.Bool().Draw(t, "drop name") {
			name = ""
		}
		loose := text(name, relax(t, gb), relax(t, cnt))
		if tight == "" || loose == "" {
			return // no selector
		}
		a, errA := Embedded().ParseSelector(tight)
		b, errB := Embedded().ParseSelector(loose)
		if errA != nil || errB != nil {
			t.Fatalf("%q: %v; %q: %v", tight, errA, loose, errB)
		}
		for _, c := range chips {
			for _, n := range counts {
				if a.Matches(c, n) && !b.Matches(c, n) {
					t.Fatalf("%q takes %v of %s and the looser %q does not", tight, n, c.Name, loose)
				}
			}
		}
	})
}

// drawRange draws bounds with 0 for an open end.
func drawRange(t *rapid.T, label string, limit int) [2]int {
	low := rapid.IntRange(0, limit).Draw(t, label+" low")
	if rapid.Bool().Draw(t, label+" open") {
		return [2]int{low, 0}
	}
	return [2]int{low, rapid.IntRange(max(low, 1), limit).Draw(t, label+" high")}
}

func relax(t *rapid.T, r [2]int) [2]int {
	r[0] = rapid.IntRange(0, r[0]).Draw(t, "lower")
	if r[1] > 0 {
		r[1] += rapid.IntRange(0, 100).Draw(t, "higher")
		if rapid.Bool().Draw(t, "open up") {
			r[1] = 0
		}
	}
	return r
}

func rangeText(r [2]int, suffix string) string {
	switch {
	case r[1] == 0:
		return fmt.Sprintf("%d%s..", r[0], suffix)
	case r[0] == 0:
		return fmt.Sprintf("..%d%s", r[1], suffix)
	}
	return fmt.Sprintf("%d%s..%d%s", r[0], suffix, r[1], suffix)
}

func FuzzParseSelector(f *testing.F) {
	for _, s := range []string{"H100:8", "80GB..:1..8", "0..", ":::", "1..2..3", "A10:0.5,T4", "\xff:1", "：８"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Embedded().ParseSelector(text)
		if err == nil && (s.MaxCount > 0 && s.MinCount > s.MaxCount || s.MaxGB > 0 && s.MinGB > s.MaxGB) {
			t.Errorf("ParseSelector(%q) = %+v, a range turned round", text, s)
		}
		if _, err := Embedded().ParseSelectors(text); err != nil {
			for _, p := range problem.All(err) {
				if p.Kind != problem.Input {
					t.Errorf("ParseSelectors(%q): %v is not the user's fault", text, p)
				}
			}
		}
	})
}
