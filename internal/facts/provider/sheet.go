package provider

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
)

// sheet reads one CSV file strictly: the header must be exactly the columns wanted, and every fault is
// collected with its line, so that the reader of a long file fixes all of them at once.
type sheet struct {
	file    string
	columns map[string]int
	faults  problem.List
}

// row is one line of a sheet. A cell is trimmed; an empty one is unknown.
type row struct {
	sheet *sheet
	line  int
	cells []string
}

// each calls f for every row of the file in order.
func (s *sheet) each(data []byte, columns []string, f func(row)) {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	r.FieldsPerRecord = -1 // counted here, so that a short row does not end the reading
	header, err := r.Read()
	if err != nil || !slices.Equal(header, columns) {
		s.fault(1, "data.header", problem.Args{"Want": strings.Join(columns, ","), "Got": strings.Join(header, ",")})
		return
	}
	s.columns = make(map[string]int, len(columns))
	for i, c := range columns {
		s.columns[c] = i
	}
	for {
		record, err := r.Read()
		var syntax *csv.ParseError
		switch {
		case err == io.EOF:
			return
		case errors.As(err, &syntax):
			s.fault(syntax.StartLine, "data.syntax", problem.Args{"Error": syntax.Err.Error()})
			return // where the next row starts is no longer known
		}
		line, _ := r.FieldPos(0)
		if len(record) != len(columns) {
			s.fault(line, "data.cells", problem.Args{"Want": len(columns), "Got": len(record)})
			continue
		}
		for i := range record {
			record[i] = strings.TrimSpace(record[i])
		}
		f(row{s, line, record})
	}
}

func (s *sheet) fault(line int, code string, args problem.Args) {
	s.faults = append(s.faults, problem.New(problem.Input, code, args).At(s.file, line))
}

func (r row) fault(code string, args problem.Args) { r.sheet.fault(r.line, code, args) }

// bad reports a cell that is not what its column holds.
func (r row) bad(column, want string) {
	r.fault("data.value", problem.Args{"Column": column, "Value": r.text(column), "Want": want})
}

// text is a cell as written. The columns are constants of this package: a wrong name panics in any test.
func (r row) text(column string) string {
	i, ok := r.sheet.columns[column]
	if !ok {
		panic("provider: no column " + column)
	}
	return r.cells[i]
}

// need is text that may not be empty.
func (r row) need(column string) string {
	v := r.text(column)
	if v == "" {
		r.fault("data.missing", problem.Args{"Column": column})
	}
	return v
}

// list is text parts between semicolons; nil when the cell is empty.
func (r row) list(column string) []string {
	if r.text(column) == "" {
		return nil
	}
	parts := strings.Split(r.text(column), ";")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
		if parts[i] == "" {
			r.bad(column, "a;b;c")
		}
	}
	return parts
}

// number is a figure between low and high, both included; unknown when the cell is empty.
func (r row) number(column string, low, high float64) unit.Maybe[float64] {
	if r.text(column) == "" {
		return unit.None[float64]()
	}
	v, err := strconv.ParseFloat(r.text(column), 64)
	if err != nil || math.IsNaN(v) || v < low || v > high {
		r.bad(column, strconv.FormatFloat(low, 'g', -1, 64)+".."+strconv.FormatFloat(high, 'g', -1, 64))
		return unit.None[float64]()
	}
	return unit.Some(v)
}

// seconds is a length of time written in seconds, up to 30 days.
func (r row) seconds(column string) unit.Maybe[unit.Hours] {
	v, ok := r.number(column, 0, 30*86400).Get()
	if !ok {
		return unit.None[unit.Hours]()
	}
	return unit.Some(unit.FromSeconds(v))
}

// steps are hours and shares of the first price, as in 96:0.5;360:0.34: each later and lower than the one before.
func (r row) steps(column string) (out []PriceStep) {
	last := PriceStep{0, 1}
	for _, part := range r.list(column) {
		from, share, _ := strings.Cut(part, ":")
		h, errH := strconv.ParseFloat(from, 64)
		s, errS := strconv.ParseFloat(share, 64)
		step := PriceStep{unit.Hours(h), s}
		if errH != nil || errS != nil || !(step.From > last.From && step.From < 1e6 && s > 0 && s < last.Share) {
			r.bad(column, "96:0.5;360:0.34")
			return nil
		}
		out, last = append(out, step), step
	}
	return out
}

// oneOf is one of the words given, which may include the empty one.
func (r row) oneOf(column string, words ...string) string {
	v := r.text(column)
	if !slices.Contains(words, v) {
		r.bad(column, strings.Join(words, "|"))
	}
	return v
}

// flag is yes, no, or unknown when the cell is empty.
func (r row) flag(column string) unit.Maybe[bool] {
	switch r.oneOf(column, "", "yes", "no") {
	case "yes":
		return unit.Some(true)
	case "no":
		return unit.Some(false)
	}
	return unit.None[bool]()
}

// date is an ISO day.
func (r row) date(column string) string {
	v := r.need(column)
	if _, err := time.Parse(time.DateOnly, v); err != nil && v != "" {
		r.bad(column, "2026-01-31")
	}
	return v
}

// confidence is how well a row is backed, in the words of the accelerator facts.
func (r row) confidence() string {
	return r.oneOf("confidence", "verified", "single-source", "unverified")
}

// fold makes names comparable: lower case without spaces and punctuation.
func fold(s string) string {
	return strings.Map(func(c rune) rune {
		switch c {
		case ' ', '-', '_', '.', '/', '(', ')', ',', '　':
			return -1
		}
		return c
	}, strings.ToLower(s))
}
