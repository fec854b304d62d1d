package demand

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
)

func TestReads(t *testing.T) {
	for _, c := range []struct {
		name, text string
		o          Options
		want       string
	}{
		{"hourly", "time,units\n2026-01-05T00:00:00Z,3\n2026-01-05T01:00:00Z,4.5\n", Options{}, " 2026-01-05T00:00Z [3 4.5] 0"},
		{"columns in any order, extra ones, quotes and a zone", "\ufeffnote,Group,Units,TIME\n\"a,b\",x,1,2026-01-05 08:00+08:00\n,x,2,2026-01-05 09:00+08:00\n",
			Options{}, "x 2026-01-05T00:00Z [1 2] 0"},
		{"groups in order of their names", "time,units,group\n2026-01-05T00:00Z,1,b\n2026-01-05T00:00Z,2,a\n", Options{}, "a 2026-01-05T00:00Z [2] 0; b 2026-01-05T00:00Z [1] 0"},
		// 15 minutes at 4, 45 at 8; then a quarter at 8 carried over, three at 0.
		{"finer samples are weighed by time", "time,units\n2026-01-05T00:00Z,4\n2026-01-05T00:15Z,8\n2026-01-05T01:15Z,0\n", Options{}, " 2026-01-05T00:00Z [7 2] 0"},
		{"the first hour counts from its first sample", "time,units\n2026-01-05T00:30Z,4\n2026-01-05T00:45Z,8\n", Options{}, " 2026-01-05T00:00Z [6] 0"},
		{"hours of a clock half an hour off UTC", "time,units\n2026-01-05T00:00+05:30,4\n2026-01-05T01:00+05:30,8\n2026-01-04T20:30Z,0\n", Options{}, " 2026-01-04T18:30Z [4 8 0] 0"},
		{"gaps filled", "time,units\n2026-01-05T00:00Z,4\n2026-01-05T03:00Z,8\n", Options{FillGaps: true}, " 2026-01-05T00:00Z [4 4 4 8] 2"},
		{"a range of Prometheus", `{"status":"success","data":{"resultType":"matrix","result":[
			{"metric":{"team":"a"},"values":[[1767571200,"1"],[1767574800,"2"]]},{"metric":{"team":"b"},"values":[[1767574800,"5"]]}]}}`,
			Options{}, " 2026-01-05T00:00Z [1 7] 0"},
		{"by a label", `{"status":"success","data":{"resultType":"matrix","result":[
			{"metric":{"team":"b","x":"1"},"values":[[1767571200,"1"]]},{"metric":{"team":"b","x":"2"},"values":[[1767571200.0,"1"]]},
			{"metric":{"team":"a"},"values":[[1767574800,"5"]]}]}}`,
			Options{GroupLabel: "team"}, "a 2026-01-05T01:00Z [5] 0; b 2026-01-05T00:00Z [2] 0"},
	} {
		hs, err := Parse("f", []byte(c.text), c.o)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for _, h := range hs {
			got = append(got, fmt.Sprintf("%s %s %v %d", h.Group, stamp(h.Start), h.Hours, h.Filled))
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}

// Every fault is told, with its line, all of a file at once.
func TestFaults(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "1 demand.empty"},
		{"heads only", "time,units\n", "1 demand.empty"},
		{"columns", "when,units\n", "1 demand.columns"},
		{"all at once", "time,units\n2026-01-05T00:00,1\n2026-01-05T00:00Z,\n2026-01-05T00:00Z,x\n2026-01-05T00:00Z,-1\n2026-01-05T00:00Z,1,2\n2026-01-05T00:00Z,NaN\n2026-01-05T00:00Z,1e9",
			"2 demand.time; 3 demand.missing; 4 demand.units; 5 demand.negative; 6 demand.cells; 7 demand.missing; 8 demand.units"},
		{"order", "time,units\n2026-01-05T02:00Z,1\n2026-01-05T01:00Z,1\n2026-01-05T02:00Z,1\n", "3 demand.unsorted; 4 demand.twice"},
		{"twice in two zones", "time,units\n2026-01-05T08:00+08:00,1\n2026-01-05T00:00Z,1\n", "3 demand.twice"},
		{"no group", "time,units,group\n2026-01-05T02:00Z,1,\n", "2 demand.no_group"},
		{"a gap", "time,units\n2026-01-05T00:00Z,1\n2026-01-05T03:30Z,1\n", "3 demand.gap"},
		{"gaps of two groups", "time,units,group\n2026-01-05T00:00Z,1,b\n2026-01-05T00:00Z,1,a\n2026-01-05T03:00Z,1,b\n2026-01-05T03:00Z,1,a\n", "4 demand.gap; 5 demand.gap"},
		{"a broken quote", "time,units\n\"2026-01-05T00:00Z,1\n", "2 demand.csv"},
		{"centuries", "time,units\n0001-01-05T00:00Z,1\n2026-01-05T03:30Z,1\n", "3 demand.too_long"},
		{"many", "time,units\n" + strings.Repeat("x,1\n", 30), strings.Repeat("# demand.time; ", 20) + "0 demand.more_faults"},
		{"no JSON", "{\n\"status\":}", "2 demand.not_a_range"},
		{"failed", `{"status":"error","error":"timeout"}`, "1 demand.no_success"},
		{"an instant", `{"status":"success","data":{"resultType":"vector"}}`, "1 demand.no_matrix"},
		{"no series", `{"status":"success","data":{"resultType":"matrix","result":[]}}`, "1 demand.empty"},
		{"a value that is no number", `{"status":"success","data":{"resultType":"matrix","result":[{"values":[[0,"NaN"],["x","1"],[3600,2],[0,"1"],[0,"1"]]}]}}`,
			"0 demand.missing; 0 demand.point; 0 demand.point; 0 demand.twice"},
	} {
		_, err := Parse("f", []byte(c.text), Options{})
		var got []string
		for _, p := range problem.All(err) {
			if line := fmt.Sprint(p.Line); c.name == "many" && p.Line > 0 {
				got = append(got, strings.Replace(line, line, "#", 1)+" "+p.Code)
			} else {
				got = append(got, line+" "+p.Code)
			}
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
	_, err := Parse("f", []byte(`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"b":"1","a":"2"},"values":[[0,"1"]]}]}}`), Options{GroupLabel: "team"})
	if p := problem.All(err)[0]; p.Code != "demand.no_label" || p.Args["Series"] != `{a="2",b="1"}` {
		t.Errorf("%v", err)
	}
	_, err = Parse("f", []byte(`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"pod":"1"},"values":[[0,"1"]]},{"metric":{"pod":"2"},"values":[[0,"NaN"]]}]}}`), Options{})
	if p := problem.All(err)[0]; p.Code != "demand.missing" || p.Args["Series"] != `{pod="2"}` {
		t.Errorf("%v", err)
	}
}

// A label picks groups of an export; a table, which has a column for them, does not pass over it in silence.
func TestLabelOfTable(t *testing.T) {
	_, err := Parse("f", []byte("time,units\n2026-01-05T00:00Z,1\n"), Options{GroupLabel: "team"})
	if faults := problem.All(err); len(faults) != 1 || faults[0].Code != "demand.label_of_table" {
		t.Errorf("%v", err)
	}
}

// Accelerators come in whole machines, an hour at a time.
func TestMachines(t *testing.T) {
	third := 0.1 + 0.2 // a little more than 0.3
	h := History{Hours: []float64{0, 1, 8, 8 * third / 0.3, 8.5, 12, 16}}
	if got := fmt.Sprint(h.Machines(8).Hours); got != "[0 1 1 1 2 2 2]" {
		t.Errorf("machines of eight: %s", got)
	}
}

// What is in use over the whole time does not change by taking means of hours.
func TestHourlyKeepsTheSum(t *testing.T) {
	start := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	rapid.Check(t, func(r *rapid.T) {
		var samples []sample
		minute, want := 0, 0.0
		n := rapid.IntRange(1, 50).Draw(r, "samples")
		for i := range n {
			v := float64(rapid.IntRange(0, 100).Draw(r, "units"))
			samples = append(samples, sample{at: start.Add(time.Duration(minute) * time.Minute), units: v})
			step := rapid.IntRange(1, 200).Draw(r, "step")
			if i == n-1 {
				step = 60 - minute%60
			}
			want += v * float64(step) / 60
			minute += step
		}
		h, fault := hourly("f", "", samples, Options{FillGaps: true})
		if fault != nil {
			r.Fatal(fault)
		}
		got := 0.0
		for _, v := range h.Hours {
			got += v
		}
		if math.Abs(got-want) > 1e-9*(1+want) || len(h.Hours) != minute/60 {
			r.Fatalf("%v unit-hours in %d hours, want %v in %d", got, len(h.Hours), want, minute/60)
		}
	})
}

// Weekdays go on where the history ends, growth compounds by the month, and all months are whole.
func TestLay(t *testing.T) {
	h := History{Hours: make([]float64, 3*HoursPerWeek+50)}
	for i := range h.Hours {
		h.Hours[i] = float64(i)
	}
	got := h.Lay(13, Outlook{Growth: 0.2, Interruptible: 0.25}, func(m int) float64 { return []float64{1, 2}[m%2] })
	if first := got[0][0]; first.Units != 50 || first.Firm != 37.5 || first.Hours != 1 {
		t.Errorf("first hour %+v", first)
	}
	if again := got[0][3*HoursPerWeek].Units; again != 50 {
		t.Errorf("after three weeks %v", again)
	}
	hour := 12 * unit.HoursPerMonth % (3 * HoursPerWeek)
	if year := got[12][0].Units; math.Abs(year-1.2*float64(50+hour)) > 1e-9 {
		t.Errorf("after a year %v, want %v", year, 1.2*float64(50+hour))
	}
	if odd := got[1][0].Units; math.Abs(odd-2*math.Pow(1.2, 1.0/12)*float64(50+unit.HoursPerMonth%(3*HoursPerWeek))) > 1e-9 {
		t.Errorf("the second month %v", odd)
	}
	for m, steps := range got {
		if len(steps) != unit.HoursPerMonth {
			t.Errorf("month %d has %d hours", m, len(steps))
		}
	}
}

func TestCycle(t *testing.T) {
	for hours, want := range map[int]int{5: 5, 24: 24, 47: 24, 167: 144, 168: 168, 400: 336, 8760: 8736} {
		if got := len(History{Hours: make([]float64, hours)}.Cycle()); got != want {
			t.Errorf("%d hours repeat %d, want %d", hours, got, want)
		}
	}
}

// walk is weeks whose level wanders with a deviation, and grows, each with noise of its own.
func walk(seed uint64, weeks int, deviation, trend, noise float64) History {
	rng := rand.New(rand.NewPCG(seed, 1))
	var h History
	level := math.Log(50)
	for range weeks {
		w := math.Exp(level + noise*rng.NormFloat64())
		for range HoursPerWeek {
			h.Hours = append(h.Hours, w)
		}
		level += deviation*rng.NormFloat64() + trend
	}
	return h
}

// Over many walks the estimated variance is that of the walk, whatever its trend and its length.
func TestSpreadIsUnbiased(t *testing.T) {
	for _, weeks := range []int{MinWeeks, 26, 52} {
		variance, trend := 0.0, 0.0
		const n = 2000
		for seed := range uint64(n) {
			s, ok := walk(seed, weeks, 0.05, 0.01, 0).Spread().Get()
			if !ok || s.Weeks != weeks {
				t.Fatalf("%d weeks: %+v, %v", weeks, s, ok)
			}
			variance += s.Monthly * s.Monthly / n
			trend += math.Log(1+s.Trend) / n
		}
		if want := 4 * 0.05 * 0.05; math.Abs(variance/want-1) > 0.08 {
			t.Errorf("%d weeks: variance over four weeks %v, want %v", weeks, variance, want)
		}
		if want := 0.01 * 8760 / 168; math.Abs(trend/want-1) > 0.1 {
			t.Errorf("%d weeks: trend %v a year, want %v", weeks, trend, want)
		}
	}
}

func TestSpreadLimits(t *testing.T) {
	if s, ok := walk(1, 20, 0, 0.02, 0).Spread().Get(); !ok || s.Monthly > 1e-9 || s.Level(90, 35)-1 > 1e-9 {
		t.Errorf("steady growth spreads by %v", s.Monthly)
	}
	if walk(1, MinWeeks-1, 0.1, 0, 0).Spread().Known() {
		t.Error("twelve weeks tell a spread")
	}
	idle := walk(1, 20, 0.1, 0, 0)
	clear(idle.Hours[5*HoursPerWeek : 6*HoursPerWeek])
	if idle.Spread().Known() {
		t.Error("an idle week has a logarithm")
	}
	s := Spread{Monthly: 0.1}
	if got := s.Level(50, 7); got != 1 {
		t.Errorf("the median's level is %v", got)
	}
	// The middle of month 12 is 12.5 x 730 / 168 weeks off.
	want := math.Exp(1.2815515655446 * 0.1 * math.Sqrt(12.5*730/168/4))
	if got := s.Level(90, 12); math.Abs(got-want) > 1e-12 || math.Abs(got*s.Level(10, 12)-1) > 1e-12 {
		t.Errorf("levels %v and %v, want %v and its inverse", got, s.Level(10, 12), want)
	}
}

// Whatever is read is a history without holes, or a fault with a code.
func FuzzParse(f *testing.F) {
	f.Add([]byte("time,units\n2026-01-05T00:00Z,1\n2026-01-05T00:30Z,1\n"), true, "")
	f.Add([]byte("time,units,group\n2026-01-05T00:00Z,1,a\n"), false, "")
	f.Add([]byte(`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"a":"b"},"values":[[0,"1"],[3600,"2"]]}]}}`), false, "a")
	f.Fuzz(func(t *testing.T, data []byte, fill bool, label string) {
		hs, err := Parse("f", data, Options{FillGaps: fill, GroupLabel: label})
		if (err == nil) != (len(hs) > 0) {
			t.Fatalf("%d histories, %v", len(hs), err)
		}
		for _, p := range problem.All(err) {
			if p.Code == "internal" {
				t.Fatal(err)
			}
		}
		for _, h := range hs {
			if len(h.Hours) == 0 || len(h.Hours) > maxHours+2 {
				t.Fatalf("%d hours", len(h.Hours))
			}
			for _, v := range h.Hours {
				if v < 0 || v > maxUnits*float64(1+len(data)) || math.IsNaN(v) {
					t.Fatalf("%v units", v)
				}
			}
		}
	})
}
