package chart

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
	"pgregory.net/rapid"
)

func plain(v float64) string { return fmt.Sprintf("%.3g", v) }

func TestText(t *testing.T) {
	l := Lines{Number: plain, Series: []Series{{"1", "rented", []float64{10, 20, 30, 40}}, {"B", "bought", []float64{25, 25, 25, 25}}}}
	want := `40 ┤               11111
   │
30 ┤          11111
   │BBBBBBBBBBBBBBBBBBBB
20 ┤     11111
   │
10 ┤11111
   │
 0 ┤
   └──┴────┴────┴────┴──
      1    2    3    4`
	if got := strings.Join(l.Text(24, 9), "\n"); got != want {
		t.Errorf("drawn\n%s\nwant\n%s", got, want)
	}
}

func TestSharedPlacesShow(t *testing.T) {
	l := Lines{Number: plain, Series: []Series{{"1", "", []float64{5, 5}}, {"2", "", []float64{5, 1}}}}
	rows := strings.Join(l.Text(30, 6), "\n")
	if strings.Count(rows, overlap) == 0 || !strings.Contains(rows, "1") || !strings.Contains(rows, "2") {
		t.Error(rows)
	}
}

// The last value shows however many steps share a column, and a step by itself can be seen.
func TestEndsShow(t *testing.T) {
	long := Lines{Number: plain, Series: []Series{{"1", "", make([]float64, 120)}}}
	long.Series[0].Values[119] = 10
	if top := long.Text(40, 6)[0]; !strings.HasSuffix(top, "1") {
		t.Errorf("the last of 120 values is not in the top row: %q", top)
	}
	one := Lines{Number: plain, Series: []Series{{"1", "", []float64{3}}}}
	if svg := string(one.SVG()); !strings.Contains(svg, "h-40") {
		t.Errorf("a single value draws nothing: %s", svg)
	}
}

// A chart of any values fits the width, shows every mark, and is well-formed as SVG.
func TestAnyValues(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		steps := rapid.IntRange(1, 120).Draw(r, "steps")
		l := Lines{Title: "a < b & c", XName: "month", YName: "cash", Number: plain}
		for _, mark := range []string{"1", "2", "B"} {
			l.Series = append(l.Series, Series{mark, "成本 <" + mark + ">", rapid.SliceOfN(rapid.Float64Range(-1e7, 1e9), steps, steps).Draw(r, mark)})
		}
		columns := rapid.IntRange(40, 200).Draw(r, "columns")
		for _, line := range l.Text(columns, 12) {
			if w := displaywidth.String(line); w > columns {
				r.Fatalf("%d columns of %d: %s", w, columns, line)
			}
		}
		low, high, step := l.axis(6)
		for _, s := range l.Series {
			for _, v := range s.Values {
				if v < low || v > high || step <= 0 {
					r.Fatalf("%v lies outside %v to %v", v, low, high)
				}
			}
		}
		svg := l.SVG()
		dec := xml.NewDecoder(strings.NewReader(string(svg)))
		for {
			if _, err := dec.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				r.Fatalf("%v\n%s", err, svg)
			}
		}
		if strings.Contains(string(svg), "NaN") || !strings.Contains(string(svg), "成本 &lt;B&gt;") {
			r.Fatalf("%s", svg)
		}
	})
}

func TestNice(t *testing.T) {
	for v, want := range map[float64]float64{1: 1, 1.1: 2, 2.1: 2.5, 3: 5, 6: 10, 0.021: 0.025, 240_000: 250_000} {
		if got := nice(v); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%v is stepped by %v, want %v", v, got, want)
		}
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		steps, most int
		want        string
	}{{1, 14, "[1]"}, {12, 14, "[1 2 3 4 5 6 7 8 9 10 11 12]"}, {36, 14, "[1 3 6 9 12 15 18 21 24 27 30 33 36]"}, {40, 8, "[1 6 12 18 24 30 36 40]"}} {
		if got := fmt.Sprint(xTicks(c.steps, c.most)); got != c.want {
			t.Errorf("%d steps: %s, want %s", c.steps, got, c.want)
		}
	}
}

// Where a series has no value it has a gap, in both forms, and the axis is that of the values there are.
func TestGaps(t *testing.T) {
	no := math.NaN()
	l := Lines{Series: []Series{{Mark: "1", Name: "a", Values: []float64{no, 2, 2, no, 3, no}}}, Number: plain}
	if svg := string(l.SVG()); strings.Contains(svg, "NaN") || strings.Count(svg, "M") < 2 || !strings.Contains(svg, "h-4\"") {
		t.Errorf("%s", svg)
	}
	text := strings.Join(l.Text(60, 8), "\n")
	if n := strings.Count(text, "1"); n < 20 || n > 32 {
		t.Errorf("%d marks of three steps in six:\n%s", n, text)
	}
}

// A value that stands through its step is drawn from its beginning to its end, which is named.
func TestStairs(t *testing.T) {
	l := Lines{Series: []Series{{Mark: "1", Name: "a", Values: []float64{1, 1, 2, math.NaN(), 4}}}, Number: plain, Begins: func(step int) string { return fmt.Sprintf("day %d", step) }}
	svg := string(l.SVG())
	// Five steps of 144 from 96, four values on 336 above 392.
	if want := `d="M96.0 308.0H384.0V224.0H528.0M672.0 56.0H816.0"`; !strings.Contains(svg, want) {
		t.Errorf("no %s in\n%s", want, svg)
	}
	if want := `<text x="528.0" y="412" text-anchor="middle">day 4</text>`; !strings.Contains(svg, want) {
		t.Errorf("no %s in\n%s", want, svg)
	}
	l.Series[0].Values = []float64{3}
	if svg := string(l.SVG()); !strings.Contains(svg, "H816.0") {
		t.Errorf("a single step is not drawn:\n%s", svg)
	}
}

// No two series have both the colour and the dashes of each other.
func TestSeriesLookDifferent(t *testing.T) {
	l := Lines{Number: plain}
	for range 36 {
		l.Series = append(l.Series, Series{Mark: "x", Values: []float64{1, 2}})
	}
	seen := map[string]int{}
	for _, m := range regexp.MustCompile(`class="line (s\d)" stroke-dasharray="([\d ]*)"`).FindAllStringSubmatch(string(l.SVG()), -1) {
		seen[m[1]+" "+m[2]]++
	}
	if len(seen) != 36 {
		t.Errorf("36 series have %d looks", len(seen))
	}
}
