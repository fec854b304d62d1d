package say

import (
	"math"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
)

// Unknown is how a figure that is not known is printed.
const Unknown = "—"

// symbols are the signs that need no explaining; other currencies print their code.
var symbols = map[money.Currency]string{
	money.USD: "$", money.CNY: "¥", money.EUR: "€", "GBP": "£", "INR": "₹", "KRW": "₩",
}

// Symbol is what stands before an amount: "$" or "SGD ".
func (s *Speaker) Symbol(c money.Currency) string {
	if sym, ok := symbols[c]; ok {
		return sym
	}
	return string(c) + " "
}

// Money prints an amount: whole units from 100 up, else to the cent.
func (s *Speaker) Money(a money.Amount) string {
	return signed(a.Float(), s.Symbol(a.Currency()), plainMoney)
}

// MoneyExact prints an amount to the cent, for arithmetic that a reader may want to redo.
func (s *Speaker) MoneyExact(a money.Amount) string {
	return signed(a.Float(), s.Symbol(a.Currency()), func(v float64) string { return grouped(v, 2) })
}

// MoneyRange prints "$310–540", or one amount where both print alike.
func (s *Speaker) MoneyRange(low, high money.Amount) string {
	l, h := s.Money(low), s.Money(high)
	if l == h {
		return l
	}
	return l + "–" + strings.TrimPrefix(h, s.Symbol(high.Currency()))
}

// MoneyShort prints an amount for the axis of a chart, in thousands or millions where it is large: $250k, $1.5M.
func (s *Speaker) MoneyShort(v float64, c money.Currency) string {
	return signed(v, s.Symbol(c), func(v float64) string {
		for _, step := range []struct {
			from float64
			mark string
		}{{1e9, "B"}, {1e6, "M"}, {1e3, "k"}} {
			if v >= step.from {
				return strconv.FormatFloat(v/step.from, 'g', 4, 64) + step.mark
			}
		}
		return strconv.FormatFloat(v, 'g', 4, 64)
	})
}

// Rate prints a price an hour without its unit, to the cent, or finer where it is small.
func (s *Speaker) Rate(r money.Rate) string { return s.UnitPrice(r.Float(), r.Currency()) }

// UnitPrice prints the price of one of something: three significant digits below a unit, else to the cent.
func (s *Speaker) UnitPrice(v float64, c money.Currency) string {
	return signed(v, s.Symbol(c), func(v float64) string {
		switch {
		case v >= 1000:
			return grouped(v, 0)
		case v == 0 || v >= 1:
			return grouped(v, 2)
		case v < 1e-9:
			return strconv.FormatFloat(v, 'e', 2, 64)
		}
		// Trailing zeros stay: $0.0410 says how exact it is.
		return strconv.FormatFloat(v, 'f', 2-int(math.Floor(math.Log10(v))), 64)
	})
}

func signed(v float64, symbol string, f func(float64) string) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Unknown
	}
	if v < 0 {
		return "−" + symbol + f(-v)
	}
	return symbol + f(v)
}

func plainMoney(v float64) string {
	if v >= 99.995 {
		return grouped(v, 0)
	}
	if v > 0 && v < 0.005 {
		return unit.Sig3(v)
	}
	return grouped(v, 2)
}

// Number prints a plain number with about three significant digits below a thousand, whole above.
func (s *Speaker) Number(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return Unknown
	case a >= 1e15:
		return strconv.FormatFloat(v, 'e', 2, 64)
	case a >= 1000:
		return grouped(v, 0)
	case v == math.Trunc(v):
		return grouped(v, 0)
	}
	return unit.Sig3(v)
}

// Int prints a whole number, its thousands grouped.
func (s *Speaker) Int(n int64) string { return groupDigits(strconv.FormatInt(n, 10)) }

// Percent prints a share of one as per cent.
func (s *Speaker) Percent(share float64) string {
	v := share * 100
	switch {
	case v > 0 && v < 0.5:
		return "<1%"
	case v >= 9.95 || v == math.Trunc(v):
		return strconv.FormatFloat(v, 'f', 0, 64) + "%"
	}
	return strconv.FormatFloat(v, 'f', 1, 64) + "%"
}

// Hours prints a length of time: days from 72 hours up, minutes and seconds below one.
func (s *Speaker) Hours(h unit.Hours) string {
	id, v := timeUnit(h)
	return s.Say(id, Args{"N": s.timeNumber(v)})
}

// HoursRange prints "22–31 h" in the unit of the longer of the two.
func (s *Speaker) HoursRange(low, high unit.Hours) string {
	id, h := timeUnit(high)
	l := h
	if high > 0 {
		l = h * float64(low) / float64(high)
	}
	a, b := s.timeNumber(l), s.timeNumber(h)
	if a != b {
		b = a + "–" + b
	}
	return s.Say(id, Args{"N": b})
}

func timeUnit(h unit.Hours) (string, float64) {
	v := float64(h)
	switch sec := v * 3600; {
	case v > 72:
		return "unit.days", v / 24
	case v >= 1 || v == 0:
		return "unit.hours", v
	case sec >= 60:
		return "unit.minutes", sec / 60
	case sec >= 1:
		return "unit.seconds", sec
	default:
		return "unit.milliseconds", sec * 1000
	}
}

// timeNumber keeps two digits or the whole part: 3.2 days, 26 hours, 8.6 hours.
func (s *Speaker) timeNumber(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Unknown
	}
	if v >= 9.95 {
		return grouped(v, 0)
	}
	return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
}

// Kilograms prints a mass without its unit.
func (s *Speaker) Kilograms(k unit.Kilograms) string {
	v := float64(k)
	switch {
	case v >= 9.95:
		return grouped(v, 0)
	case v > 0 && v < 0.005: // not nothing
		return "<0.01"
	}
	return unit.Sig3(math.Round(v*100) / 100)
}

// NumberRange prints "6,900–9,500".
func (s *Speaker) NumberRange(low, high float64) string {
	l, h := s.Number(low), s.Number(high)
	if l == h {
		return l
	}
	return l + "–" + h
}

// grouped prints v with so many decimals and its thousands grouped by commas, as both languages do.
func grouped(v float64, decimals int) string {
	return groupDigits(strconv.FormatFloat(v, 'f', decimals, 64))
}

func groupDigits(t string) string {
	sign := ""
	if strings.HasPrefix(t, "-") {
		sign, t = "−", t[1:]
	}
	whole, frac, dot := strings.Cut(t, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if dot {
		whole += "." + frac
	}
	return sign + whole
}
