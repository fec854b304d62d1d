package spot

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
)

// ParseSeries reads availability: JSON {"metadata": {"gap_seconds": 195}, "data": [1, 0, …]}, or CSV with the columns time and available.
// Every fault of the file is told, up to maxFaults.
func ParseSeries(name string, raw []byte) (Series, error) {
	r := reader{name: name, column: "available"}
	if err := r.read(raw); err != nil {
		return Series{}, err
	}
	return Series{Name: name, Gap: unit.FromSeconds(r.gap), At: r.at, Since: r.since}, nil
}

// ParsePrices reads prices an hour in the same two forms: the column is price, and metadata or a third column may name the currency.
func ParsePrices(name string, raw []byte) (Prices, error) {
	r := reader{name: name, column: "price"}
	if err := r.read(raw); err != nil {
		return Prices{}, err
	}
	p := Prices{Name: name, Gap: unit.FromSeconds(r.gap), Currency: money.Currency(r.currency), Since: r.since, Nanos: make([]int64, len(r.at))}
	for i, v := range r.at {
		p.Nanos[i] = int64(math.Round(v * 1e9)) // exact for prices of up to 15 digits
	}
	return p, nil
}

// What a file may hold: a tick lasts at least a second, so that hours are not too many ticks to count, and at most a month.
const (
	maxFaults  = 20
	minGap     = 1.0
	maxGap     = 31 * 86400.0
	maxPrice   = 1e6 // an hour
	tickJitter = 0.01
)

// reader collects a series and its faults.
type reader struct {
	name     string
	column   string  // available or price
	gap      float64 // seconds
	spaced   bool    // the length of a tick is stated, right or wrong
	currency string
	since    unit.Maybe[int64]
	at       []float64
	faults   problem.List
	more     int // faults beyond those that are told
}

func (r *reader) read(raw []byte) error {
	raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
	switch start := bytes.TrimLeft(raw, " \t\r\n"); {
	case len(start) == 0:
		r.fault(1, "spot.empty", nil)
	case start[0] == '{' || start[0] == '[':
		r.json(raw)
	default:
		r.csv(raw)
	}
	slices.SortStableFunc(r.faults, func(a, b *problem.Error) int { return a.Line - b.Line })
	if r.more > 0 {
		r.faults = append(r.faults, problem.New(problem.Input, "spot.more_faults", problem.Args{"Count": r.more}).At(r.name, 0))
	}
	return r.faults.OrNil()
}

func (r *reader) fault(line int, code string, args problem.Args) {
	if len(r.faults) == maxFaults {
		r.more++
		return
	}
	r.faults = append(r.faults, problem.New(problem.Input, code, args).At(r.name, line))
}

var errNumber = errors.New("not a plain decimal number")

// number reads a plain decimal number, exponent allowed: no hex, no underscores, no NaN.
func number(text string) (float64, error) {
	if strings.Trim(text, "0123456789+-.eE") != "" {
		return 0, errNumber
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(v, 0) {
		return 0, errNumber
	}
	return v, nil
}

// value takes a figure of the series; place says which in words of the file, such as data[17], and its line.
func (r *reader) value(text string, place func() (where string, line int)) {
	v, err := number(text)
	code := ""
	switch {
	case text == "" || text == "null":
		code = codeMissing
	case err != nil:
		code = codeNotNumber
	case v < 0:
		code = codeNegative
	case r.column == "available" && v != math.Trunc(v):
		code = codeFraction
	case r.column == "price" && (v < 1e-9 || v > maxPrice):
		code = codePrice
	}
	r.at = append(r.at, v)
	if code == "" {
		return
	}
	if len(r.faults) == maxFaults {
		r.more++
		return
	}
	where, line := place()
	r.fault(line, code, problem.Args{"Where": where, "Value": text, "Most": int64(maxPrice)})
}

// The faults of a figure.
const (
	codeMissing   = "spot.missing_value"
	codeNotNumber = "spot.not_a_number"
	codeNegative  = "spot.negative"
	codeFraction  = "spot.fraction"
	codePrice     = "spot.bad_price"
)

// money takes the currency; a file has one.
func (r *reader) money(code string, line int) {
	code = strings.ToUpper(code)
	if len(code) != 3 || strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		r.fault(line, "spot.bad_currency", problem.Args{"Value": code})
		return
	}
	if r.currency != "" && r.currency != code {
		r.fault(line, "spot.two_currencies", problem.Args{"Value": code, "First": r.currency})
		return
	}
	r.currency = code
}

// spacing checks the length of a tick.
func (r *reader) spacing(seconds float64, text string, line int) {
	if r.gap, r.spaced = seconds, true; seconds < minGap || seconds > maxGap {
		r.fault(line, "spot.bad_gap", problem.Args{"Value": text, "Most": int64(maxGap)})
	}
}
