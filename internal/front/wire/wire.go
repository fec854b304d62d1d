// Package wire is the JSON that programs read: one value per command, the same from the command line and the API.
//
// Invariants: a field is never renamed or removed within a schema version, only added; amounts of money are exact
// decimals in strings; an unknown figure is null; the same result gives the same bytes. Documented in
// docs/formats. Imported by front only.
package wire

import (
	"math"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/front/say"
)

// Money is an exact amount.
type Money struct {
	Amount   string `json:"amount"`
	Currency string `json:"currency"`
}

func moneyOf(a money.Amount) Money {
	return Money{a.Decimal(), string(a.Currency())}
}

func rateOf(r money.Rate) Money { return Money{r.Decimal(), string(r.Currency())} }

// Message is a warning or note: its code and figures for programs, its text for people in the language asked for.
type Message struct {
	Code    string         `json:"code"`
	Args    map[string]any `json:"args,omitempty"`
	Message string         `json:"message"`
}

// args makes figures of a message fit for JSON: money as exact decimals, text and numbers as they are.
func args(in map[string]any) map[string]any {
	out := make(map[string]any, len(in))
	for k, v := range in {
		switch v := v.(type) {
		case money.Amount:
			out[snake(k)] = moneyOf(v)
		case money.Rate:
			out[snake(k)] = rateOf(v)
		case float64:
			out[snake(k)] = finite(v)
		case error:
			out[snake(k)] = v.Error()
		default:
			out[snake(k)] = v
		}
	}
	return out
}

// snake turns the name of a message's field into that of a JSON field: ShortBy into short_by.
func snake(s string) string {
	var b strings.Builder
	for i, r := range s {
		if r >= 'A' && r <= 'Z' {
			if i > 0 && (s[i-1] < 'A' || s[i-1] > 'Z') {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// finite is v, or null where it is not a number, which JSON cannot hold.
func finite(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return v
}

// number is v to so many significant digits: what is predicted is not known to sixteen.
func number(v float64, digits int) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 { // a count or a size is exact
		return &v
	}
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil {
		return nil
	}
	return &r
}

// decimal is v as a plain decimal to so many significant digits.
func decimal(v float64, digits int) string {
	r := number(v, digits)
	if r == nil {
		return ""
	}
	return strconv.FormatFloat(*r, 'f', -1, 64)
}

// known is a figure or null.
func known[T ~float64 | ~int64 | ~int](m unit.Maybe[T]) *float64 {
	v, ok := m.Get()
	if !ok {
		return nil
	}
	return number(float64(v), 9)
}

// positive is a figure of which zero means unknown, or null.
func positive(v float64) *float64 {
	if v == 0 {
		return nil
	}
	return number(v, 9)
}

// text is a string or null.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// list is s, or an empty list, so that a program never meets null where it expects a list.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// Speaker says messages; say.Speaker is one.
type Speaker = say.Speaker

// MessageOf gives the JSON of a message with its figures.
func MessageOf(code string, figures map[string]any, text string) Message {
	return Message{code, args(figures), text}
}
