package demand

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rackrate/rackrate/internal/base/problem"
)

// Parse reads a table (CSV with the columns time, units and, where there are several, group) or the answer of Prometheus to a range
// query (JSON). file is what faults call it.
func Parse(file string, data []byte, o Options) ([]History, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if first := bytes.TrimSpace(data); len(first) > 0 && first[0] == '{' {
		return parseRange(file, data, o)
	}
	return parseTable(file, data, o)
}

// report collects the faults of a file, the first ones in full and the rest by their number.
type report struct {
	file   string
	series string // of an export that is being read
	faults problem.List
	more   int
}

// maxFaults is how many faults are told one by one: a thousand say no more than twenty.
const maxFaults = 20

func (r *report) fault(line int, code string, args problem.Args) {
	if len(r.faults) == maxFaults {
		r.more++
		return
	}
	r.faults = append(r.faults, problem.New(problem.Input, code, args).At(r.file, line))
}

func (r *report) err() error {
	if r.more > 0 {
		r.faults = append(r.faults, problem.New(problem.Input, "demand.more_faults", problem.Args{"Count": r.more}).At(r.file, 0))
	}
	return r.faults.OrNil()
}

// columns are those of a table; a group is not needed.
var columns = []string{"time", "units", "group"}

func parseTable(file string, data []byte, o Options) ([]History, error) {
	r := &report{file: file}
	if o.GroupLabel != "" {
		return nil, problem.New(problem.Input, "demand.label_of_table", nil).At(file, 0)
	}
	rows := csv.NewReader(bytes.NewReader(data))
	rows.FieldsPerRecord, rows.TrimLeadingSpace = -1, true
	head, err := rows.Read()
	if err != nil {
		return nil, problem.New(problem.Input, "demand.empty", nil).At(file, 1)
	}
	var at [3]int
	for i, name := range columns {
		at[i] = slices.IndexFunc(head, func(c string) bool { return strings.EqualFold(strings.TrimSpace(c), name) })
	}
	if at[0] < 0 || at[1] < 0 {
		return nil, problem.New(problem.Input, "demand.columns", problem.Args{"Names": trimmed(head)}).At(file, 1)
	}
	groups := map[string][]sample{}
	for {
		cells, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			line := 0
			if pe, ok := errors.AsType[*csv.ParseError](err); ok {
				line = pe.Line
			}
			r.fault(line, "demand.csv", problem.Args{"Detail": strings.TrimPrefix(errors.Unwrap(err).Error(), "csv: ")})
			break // what follows a broken quote means nothing
		}
		line, _ := rows.FieldPos(0)
		if len(cells) != len(head) {
			r.fault(line, "demand.cells", problem.Args{"Got": len(cells), "Want": len(head)})
			continue
		}
		group := ""
		if at[2] >= 0 {
			if group = strings.TrimSpace(cells[at[2]]); group == "" {
				r.fault(line, "demand.no_group", nil)
				continue
			}
		}
		s, ok := r.sample(line, cells[at[0]], cells[at[1]])
		if ok && r.follows(groups[group], s) {
			groups[group] = append(groups[group], s)
		}
	}
	return r.finish(groups, o)
}

func trimmed(cells []string) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = strings.TrimSpace(c)
	}
	return out
}

func (r *report) finish(groups map[string][]sample, o Options) ([]History, error) {
	if err := r.err(); err != nil {
		return nil, err
	}
	if len(groups) == 0 {
		return nil, problem.New(problem.Input, "demand.empty", nil).At(r.file, 1)
	}
	return histories(r.file, groups, o)
}

// sample reads a moment and its units.
func (r *report) sample(line int, when, units string) (sample, bool) {
	when, units = strings.TrimSpace(when), strings.TrimSpace(units)
	at, ok := moment(when)
	if !ok {
		r.fault(line, "demand.time", problem.Args{"Value": when})
		return sample{}, false
	}
	v, err := strconv.ParseFloat(units, 64)
	switch {
	case units == "" || err == nil && math.IsNaN(v):
		r.fault(line, "demand.missing", problem.Args{"Series": r.series, "Time": stamp(at)})
	case err != nil || v > maxUnits:
		r.fault(line, "demand.units", problem.Args{"Series": r.series, "Value": units, "Limit": int(maxUnits)})
	case v < 0:
		r.fault(line, "demand.negative", problem.Args{"Series": r.series, "Value": units})
	default:
		return sample{at, v, line}, true
	}
	return sample{}, false
}

// moment reads a time in ISO 8601 with a zone; seconds may be left out, and a space may stand for the T.
func moment(text string) (time.Time, bool) {
	text = strings.Replace(text, " ", "T", 1)
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// follows says whether a sample comes after those before it.
func (r *report) follows(before []sample, s sample) bool {
	if len(before) == 0 {
		return true
	}
	last := before[len(before)-1]
	switch d := s.at.Compare(last.at); {
	case d == 0:
		r.fault(s.line, "demand.twice", problem.Args{"Series": r.series, "Time": stamp(s.at), "Line": last.line})
	case d < 0:
		r.fault(s.line, "demand.unsorted", problem.Args{"Series": r.series, "Time": stamp(s.at), "Before": stamp(last.at)})
	default:
		return true
	}
	return false
}

// answer is what Prometheus answers to /api/v1/query_range.
type answer struct {
	Status string `json:"status"`
	Error  string `json:"error"`
	Data   struct {
		Type   string `json:"resultType"`
		Result []struct {
			Metric map[string]string    `json:"metric"`
			Values [][2]json.RawMessage `json:"values"`
		} `json:"result"`
	} `json:"data"`
}

// parseRange reads a range query. Series of one group are added at each moment; one that has no value there adds nothing, as sums in
// Prometheus do.
func parseRange(file string, data []byte, o Options) ([]History, error) {
	var a answer
	if err := json.Unmarshal(data, &a); err != nil {
		line := 1
		if se, ok := errors.AsType[*json.SyntaxError](err); ok {
			line += bytes.Count(data[:min(int(se.Offset), len(data))], []byte("\n"))
		}
		return nil, problem.New(problem.Input, "demand.not_a_range", problem.Args{"Detail": err.Error()}).At(file, line)
	}
	if a.Status != "success" {
		return nil, problem.New(problem.Input, "demand.no_success", problem.Args{"Status": a.Status, "Detail": a.Error}).At(file, 1)
	}
	if a.Data.Type != "matrix" {
		return nil, problem.New(problem.Input, "demand.no_matrix", problem.Args{"Got": a.Data.Type}).At(file, 1)
	}
	r := &report{file: file}
	groups := map[string]map[int64]sample{}
	for _, series := range a.Data.Result {
		r.series = seriesName(series.Metric)
		group := ""
		if o.GroupLabel != "" {
			group = series.Metric[o.GroupLabel]
			if group == "" {
				r.fault(0, "demand.no_label", problem.Args{"Series": r.series, "Label": o.GroupLabel})
				continue
			}
		}
		var before []sample
		for _, pair := range series.Values {
			s, ok := r.point(pair)
			if !ok || !r.follows(before, s) {
				continue
			}
			before = append(before[:0], s)
			if groups[group] == nil {
				groups[group] = map[int64]sample{}
			}
			s.units += groups[group][s.at.UnixMilli()].units
			groups[group][s.at.UnixMilli()] = s
		}
	}
	sorted := map[string][]sample{}
	for name, samples := range groups {
		for _, s := range samples {
			sorted[name] = append(sorted[name], s)
		}
		slices.SortFunc(sorted[name], func(a, b sample) int { return a.at.Compare(b.at) })
	}
	return r.finish(sorted, o)
}

// point reads [seconds, "value"].
func (r *report) point(pair [2]json.RawMessage) (sample, bool) {
	var seconds float64
	var value string
	if json.Unmarshal(pair[0], &seconds) != nil || json.Unmarshal(pair[1], &value) != nil || math.Abs(seconds) > 1e11 {
		r.fault(0, "demand.point", problem.Args{"Series": r.series, "Value": "[" + clip(string(pair[0])) + "," + clip(string(pair[1])) + "]"})
		return sample{}, false
	}
	at := time.UnixMilli(int64(math.Round(seconds * 1000))).UTC()
	return r.sample(0, at.Format(time.RFC3339Nano), value)
}

// clip shortens what is quoted from a file.
func clip(text string) string {
	if len(text) > 40 {
		return text[:40] + "…"
	}
	return text
}

// seriesName is a series as Prometheus writes it, with its labels in order.
func seriesName(metric map[string]string) string {
	var parts []string
	for k, v := range metric {
		parts = append(parts, k+"="+strconv.Quote(v))
	}
	slices.SortFunc(parts, cmp.Compare)
	return "{" + strings.Join(parts, ",") + "}"
}
