package spot

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/sharedtest"
)

func TestParseSeries(t *testing.T) {
	for name, text := range map[string]string{
		"json":       `{"metadata": {"gap_seconds": 195, "zone": {"name": "a\"]"}}, "data": [1, 0, 16,` + "\n" + ` 2e0]}`,
		"data first": "\ufeff" + `{"data":[1,0,16,2],"metadata":{"gap_seconds":195.0}}` + "\n",
		"seconds":    "time,available\n0,1\n195,0\n390,16\n585,2\n",
		"iso":        "Time, Available,note\n2026-05-01T00:00:00Z,1,x\n2026-05-01T00:03:15Z,0,\n2026-05-01 08:06:30+08:00,16,\n2026-05-01T00:09:45Z,2,y\n",
		"jitter":     "time,available\n0,1\n195.4,0\n389.9,16\n585,2\n",
	} {
		s, err := ParseSeries("a", []byte(text))
		if err != nil || math.Abs(s.Gap.Seconds()-195) > 1e-9 || !slices.Equal(s.At, []float64{1, 0, 16, 2}) || s.Name != "a" {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
		since, dated := s.Since.Get()
		if dated != (name == "iso") || dated && since != time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC).Unix() {
			t.Errorf("%s: since %v", name, s.Since)
		}
	}
}

func TestParsePrices(t *testing.T) {
	p, err := ParsePrices("p", []byte("time,price,currency\n0,0.918,cny\n3600,1.000000001,CNY\n"))
	if err != nil || !slices.Equal(p.Nanos, []int64{918000000, 1000000001}) || p.Currency != "CNY" || p.Gap != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	p, err = ParsePrices("p", []byte(`{"metadata":{"gap_seconds":60,"currency":"USD"},"data":[3]}`))
	if err != nil || !slices.Equal(p.Nanos, []int64{3e9}) || p.Currency != "USD" {
		t.Errorf("%+v, %v", p, err)
	}
	// An hourly price at ticks of 20 minutes, as long as it is known.
	hourly := Prices{Gap: 1, Nanos: []int64{5, 7}}
	if got := hourly.On(1.0/3, 9); !slices.Equal(got, []int64{5, 5, 5, 7, 7, 7}) {
		t.Errorf("prices %v", got)
	}
}

// Each fault with its line and code; all of a file at once.
func TestParseFaults(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "1 spot.empty"},
		{" \n", "1 spot.empty"},
		{"[1, 2]", "1 spot.wants_object"},
		{`{"metadata": {}, "data": [1]}`, "1 spot.no_gap"},
		{`{"data": []}`, "1 spot.no_gap 1 spot.no_data"},
		{`{"metadata": {"gap_seconds": 60}}`, "1 spot.no_data"},
		{`{"metadata": {"gap_seconds": 60}, "data": []}`, "1 spot.no_data"},
		{`{"metadata": {"gap_seconds": 60}, "data": 4}`, "1 spot.not_a_list"},
		{"{\"metadata\": {\n\"gap_seconds\": 0}, \"data\": [1]}", "2 spot.bad_gap"},
		{`{"metadata": {"gap_seconds": -5}, "data": [1]}`, "1 spot.bad_gap"},
		{`{"metadata": {"gap_seconds": "195"}, "data": [1]}`, "1 spot.bad_gap"},
		{`{"metadata": {"gap_seconds": NaN}, "data": [1]}`, "1 spot.bad_gap"},
		{"{\"metadata\": {\"gap_seconds\": 60},\n \"data\": [1, null,\n-1, \"x\", 1.5,\nNaN, -Infinity, [1, 2], true, 1e999]}",
			"2 spot.missing_value 3 spot.negative 3 spot.not_a_number 3 spot.fraction 4 spot.not_a_number 4 spot.not_a_number 4 spot.not_a_number 4 spot.not_a_number 4 spot.not_a_number"},
		{"{\"metadata\": {\"gap_seconds\": 60},\n\"data\": [1,, 2]}", "2 spot.bad_json"},
		{"{\"metadata\": {\"gap_seconds\": 60},\n\"data\": [1", "2 spot.bad_json"},
		{"{\"metadata\": {\"gap_seconds\": 60}, \"data\": [1]}\n{}", "2 spot.bad_json"},
		{`{"metadata": {"gap_seconds": 60}, "data": [` + strings.Repeat("null,", 30) + `1]}`, strings.Repeat("1 spot.missing_value ", 20) + "0 spot.more_faults"},
		{"when,available\n0,1\n", "1 spot.header"},
		{"time,price\n0,1\n60,1\n", "1 spot.header"},
		{"time,available\n", "1 spot.no_data"},
		{"time,available\n0,1\n", "2 spot.one_tick"},
		{"time,available\n0,1\n60,\n120,-1\n180,1.5\n240,x\n300\n", "3 spot.missing_value 4 spot.negative 5 spot.fraction 6 spot.not_a_number 7 spot.missing_value"},
		{"time,available\n0,1\n60,1\n60,1\n120,1\n300,1\n360,1\n330,1\n", "4 spot.twice 6 spot.hole 8 spot.unsorted"},
		{"time,available\n0,1\n60,1\n90,1\n150,1\n", "4 spot.uneven"},
		{"time,available\n2026-05-01T00:00:00,1\n2026-05-01T01:00:00Z,1\nsoon,1\n1e300,1\n", "2 spot.bad_time 4 spot.bad_time 5 spot.bad_time"},
		{"time,available\n0,1\n0.5,1\n", "2 spot.bad_gap"},
		{"time,available\n0,\"1\n60,1\n", "2 spot.not_csv"},
	} {
		_, err := ParseSeries("f", []byte(c.text))
		if got := faultsOf(err); got != strings.TrimSpace(c.want) {
			t.Errorf("%q:\n got %s\nwant %s", c.text, got, c.want)
		}
	}
	for _, c := range []struct{ text, want string }{
		{"time,price,currency\n0,0,USD\n60,-1,USD\n120,1,EUR\n180,1,dollars\n240,1e9,USD\n", "2 spot.bad_price 3 spot.negative 4 spot.two_currencies 5 spot.bad_currency 6 spot.bad_price"},
		{`{"metadata": {"gap_seconds": 60, "currency": 7}, "data": [1.5]}`, "1 spot.bad_currency"},
	} {
		_, err := ParsePrices("f", []byte(c.text))
		if got := faultsOf(err); got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

func faultsOf(err error) string {
	var out []string
	for _, p := range problem.All(err) {
		out = append(out, fmt.Sprintf("%d %s", p.Line, p.Code))
	}
	return strings.Join(out, " ")
}

// A hole is told with how much is missing.
func TestHole(t *testing.T) {
	_, err := ParseSeries("f", []byte("time,available\n0,1\n60,1\n240,1\n300,1\n"))
	p := problem.All(err)[0]
	if p.Args["Count"] != 2 || p.Args["From"] != "60" || p.Args["To"] != "240" {
		t.Errorf("%v", p)
	}
}

// Both forms of a series are read as what was written.
func TestParseReadsBack(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		want := rapid.SliceOfN(rapid.IntRange(0, 64), 2, 50).Draw(r, "data")
		gap := rapid.IntRange(1, 86400).Draw(r, "gap")
		file := map[string]any{"metadata": map[string]any{"gap_seconds": gap}, "data": want}
		text, err := json.Marshal(file)
		if err != nil {
			r.Fatal(err)
		}
		rows := "time,available\n"
		for i, v := range want {
			rows += fmt.Sprintf("%d,%d\n", 1000+i*gap, v)
		}
		for _, form := range []string{string(text), rows} {
			s, err := ParseSeries("f", []byte(form))
			if err != nil || math.Abs(s.Gap.Seconds()-float64(gap)) > 1e-6 || len(s.At) != len(want) {
				r.Fatalf("%s: %+v, %v", form, s, err)
			}
			for i, v := range want {
				if s.At[i] != float64(v) {
					r.Fatalf("%s: %v", form, s.At)
				}
			}
		}
	})
}

// Whatever the bytes: faults with lines inside the file, or a series that is whole.
func FuzzParseSeries(f *testing.F) {
	for _, text := range []string{
		`{"metadata": {"gap_seconds": 195}, "data": [1, 0, NaN, null, "x,]", {"a": [1]}]}`, "time,available\n0,1\n60,0\n", "time,price,currency\n2026-05-01T00:00:00Z,1.5,USD\n",
		`{"data": [`, "\ufeff{}", `{"metadata":{"gap_seconds":1,"currency":"USD"},"data":[1e3]} x`, "{\"NaN\": -NaN, \"Infinity\": \"\\\"NaN\"}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		lines := strings.Count(string(raw), "\n") + 1
		check := func(err error, gap float64, ticks int) {
			for _, p := range problem.All(err) {
				if p.Kind != problem.Input || p.Line > lines || p.Line < 1 && p.Code != "spot.more_faults" {
					t.Fatalf("%q: %v", raw, p)
				}
			}
			if err == nil && (ticks == 0 || gap < minGap*(1-1e-9) || gap > maxGap) {
				t.Fatalf("%q: %d ticks of %g s", raw, ticks, gap)
			}
		}
		s, err := ParseSeries("f", raw)
		check(err, s.Gap.Seconds(), len(s.At))
		for _, v := range s.At {
			if !(v >= 0) || v != math.Trunc(v) {
				t.Fatalf("%q: %v instances", raw, v)
			}
		}
		p, err := ParsePrices("f", raw)
		check(err, p.Gap.Seconds(), len(p.Nanos))
		for _, v := range p.Nanos {
			if v <= 0 {
				t.Fatalf("%q: a price of %d", raw, v)
			}
		}
	})
}

// Every shared trace is read, with as many ticks as JSON says.
func TestSharedTraces(t *testing.T) {
	files := 0
	err := filepath.WalkDir(filepath.Join(sharedtest.Dir(t), "traces", "spot"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".json" {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var want struct {
			Metadata struct {
				Gap float64 `json:"gap_seconds"`
			}
			Data []float64
		}
		if err := json.Unmarshal(raw, &want); err != nil {
			return err
		}
		s, err := ParseSeries(path, raw)
		if err != nil || !slices.Equal(s.At, want.Data) || math.Abs(s.Gap.Seconds()-want.Metadata.Gap) > 1e-9 {
			t.Errorf("%s: %d ticks of %v, %v", path, len(s.At), s.Gap, err)
		}
		files++
		return nil
	})
	if err != nil || files != 20 {
		t.Errorf("%d files, %v", files, err)
	}
}

// A trace of 20,000 ticks, which is 45 days.
func BenchmarkParse(b *testing.B) {
	for _, form := range []string{"json", "csv"} {
		var text strings.Builder
		text.WriteString(map[string]string{"json": `{"metadata": {"gap_seconds": 195}, "data": [0`, "csv": "time,available\n0,0\n"}[form])
		for i := 1; i < 20000; i++ {
			if form == "json" {
				fmt.Fprintf(&text, ", %d", i/50%2)
			} else {
				fmt.Fprintf(&text, "%d,%d\n", i*195, i/50%2)
			}
		}
		raw := []byte(text.String() + map[string]string{"json": "]}"}[form])
		b.Run(form, func(b *testing.B) {
			for b.Loop() {
				if _, err := ParseSeries("b", raw); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(20000*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mticks/s")
		})
	}
}
