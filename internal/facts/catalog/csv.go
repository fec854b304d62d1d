package catalog

import (
	"math"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
)

// table walks one of our own CSV files. It is written by hand because encoding/csv allocates each row: here the
// fields are pieces of the file's one string, which is most of what the catalog then weighs.
type table struct {
	file   string
	rest   string
	line   int
	want   []string // the columns
	row    []string // fields of the current row, reused
	faults *problem.List
}

// newTable checks the header, which must name exactly the columns; false where it does not.
func newTable(file, text, columns string, faults *problem.List) (*table, bool) {
	t := &table{file: file, rest: strings.TrimPrefix(text, "\ufeff"), want: strings.Split(columns, ","), faults: faults}
	head, _ := t.cut()
	if head != columns {
		t.bad("header", head, columns)
		return t, false
	}
	return t, true
}

func (t *table) cut() (string, bool) {
	if t.rest == "" {
		return "", false
	}
	t.line++
	line, rest, _ := strings.Cut(t.rest, "\n")
	t.rest = rest
	return strings.TrimSuffix(line, "\r"), true
}

// next moves to the next row of the right width; rows of another width are reported and passed over.
func (t *table) next() bool {
	for {
		line, ok := t.cut()
		if !ok {
			return false
		}
		if line == "" {
			continue
		}
		t.row = splitRow(t.row[:0], line)
		if len(t.row) == len(t.want) {
			return true
		}
		t.bad("", strconv.Itoa(len(t.row)), strconv.Itoa(len(t.want))+" columns")
	}
}

// splitRow cuts a line at its commas. A field may be quoted, with quotes inside doubled, but holds no line break.
func splitRow(row []string, line string) []string {
	if strings.IndexByte(line, '"') < 0 {
		for {
			i := strings.IndexByte(line, ',')
			if i < 0 {
				return append(row, line)
			}
			row, line = append(row, line[:i]), line[i+1:]
		}
	}
	for {
		if !strings.HasPrefix(line, `"`) {
			f, rest, more := strings.Cut(line, ",")
			row = append(row, f)
			if !more {
				return row
			}
			line = rest
			continue
		}
		end := 1
		for end < len(line) && (line[end] != '"' || strings.HasPrefix(line[end:], `""`)) {
			if line[end] == '"' {
				end++
			}
			end++
		}
		row = append(row, strings.ReplaceAll(line[1:min(end, len(line))], `""`, `"`))
		_, rest, more := strings.Cut(line[min(end, len(line)):], ",")
		if !more {
			return row
		}
		line = rest
	}
}

// bad reports a fault of the current row. want says what was expected as a plain token that front can show.
func (t *table) bad(column, value, want string) {
	args := problem.Args{"Column": column, "Value": value, "Want": want}
	*t.faults = append(*t.faults, problem.New(problem.Input, "data.bad_row", args).At(t.file, t.line))
}

// number reads a non-negative figure; an empty cell is unknown.
func (t *table) number(col int) unit.Maybe[float64] {
	s := t.row[col]
	if s == "" {
		return unit.None[float64]()
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v < 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		t.bad(t.want[col], s, "number")
		return unit.None[float64]()
	}
	return unit.Some(v)
}

// size reads a number of units of bytes.
func (t *table) size(col int, of unit.Bytes) unit.Maybe[unit.Bytes] {
	v, ok := t.number(col).Get()
	if !ok {
		return unit.None[unit.Bytes]()
	}
	if v*float64(of) >= math.MaxInt64 {
		t.bad(t.want[col], t.row[col], "number")
		return unit.None[unit.Bytes]()
	}
	return unit.Some(unit.Bytes(math.Round(v * float64(of))))
}

// count reads a number of chips, whole or as an exact fraction such as 1/6.
func (t *table) count(col int) float64 {
	v, ok := parseCount(t.row[col])
	if !ok {
		t.bad(t.want[col], t.row[col], "count")
	}
	return v
}

func parseCount(s string) (float64, bool) {
	num, den, frac := strings.Cut(s, "/")
	n, err := strconv.ParseUint(num, 10, 16)
	if err != nil || n == 0 {
		return 0, false
	}
	if !frac {
		return float64(n), true
	}
	d, err := strconv.ParseUint(den, 10, 16)
	if err != nil || d <= n {
		return 0, false
	}
	return float64(n) / float64(d), true
}

// yesNo reads yes, no or unknown.
func (t *table) yesNo(col int) unit.Maybe[bool] {
	switch t.row[col] {
	case "":
		return unit.None[bool]()
	case "yes", "no":
		return unit.Some(t.row[col] == "yes")
	}
	t.bad(t.want[col], t.row[col], "yes|no")
	return unit.None[bool]()
}

// date reads an ISO date, which every row must have.
func (t *table) date(col int) string {
	if !isDate(t.row[col]) {
		t.bad(t.want[col], t.row[col], "date")
	}
	return t.row[col]
}

// isDate checks the shape and the ranges; that 30 February passes does no harm to an age in days.
func isDate(s string) bool {
	if len(s) != 10 || s[4] != '-' || s[7] != '-' {
		return false
	}
	for i, c := range []byte(s) {
		if i != 4 && i != 7 && (c < '0' || c > '9') {
			return false
		}
	}
	return s[:4] >= "2000" && s[5:7] >= "01" && s[5:7] <= "12" && s[8:] >= "01" && s[8:] <= "31"
}

// text reads a name that must be there.
func (t *table) text(col int) string {
	if t.row[col] == "" {
		t.bad(t.want[col], "", "text")
	}
	return t.row[col]
}

// mode reads a way of paying.
func (t *table) mode(col int) BillingMode {
	m := BillingMode(t.row[col])
	if modeRank(m) < 0 {
		t.bad(t.want[col], t.row[col], "mode")
	}
	return m
}
