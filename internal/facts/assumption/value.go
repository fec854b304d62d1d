package assumption

import (
	"math"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
)

// Value is what an assumption says, by the kind of its family.
type Value struct {
	Money   money.Amount
	Number  float64 // a share as a part of one, a number, a switch as 0 or 1, a power in watts
	Time    unit.Hours
	Support Fee
}

// Fee is what a support plan costs a month: the shares of the bill by its steps, and at least the minimum.
type Fee struct {
	Minimum money.Amount // no currency where there is none
	Steps   []Step
}

// Step is the share of the bill from the step before up to To; the last has no end.
type Step struct {
	To    unit.Maybe[money.Amount]
	Share float64
}

// Of is the fee for a month's bill. convert brings the fee's own amounts into the bill's currency; false where one cannot be
// brought, or the bill is less than nothing.
func (f Fee) Of(bill money.Amount, convert func(money.Amount) (money.Amount, bool)) (money.Amount, bool) {
	fee, from := money.Zero(bill.Currency()), money.Zero(bill.Currency())
	for _, s := range f.Steps {
		to := bill
		if end, limited := s.To.Get(); limited {
			end, ok := convert(end)
			if !ok {
				return fee, false
			}
			if end.Cmp(to) < 0 {
				to = end
			}
		}
		if to.Cmp(from) > 0 {
			fee, from = fee.Add(to.Sub(from).Mul(s.Share)), to
		}
	}
	if f.Minimum.Currency() == "" {
		return fee, true
	}
	least, ok := convert(f.Minimum)
	if ok && least.Cmp(fee) > 0 {
		fee = least
	}
	return fee, ok
}

// Amounts lists the amounts a value holds, to check their currencies.
func (v Value) Amounts() []money.Amount {
	var out []money.Amount
	for _, a := range []money.Amount{v.Money, v.Support.Minimum} {
		if a.Currency() != "" {
			out = append(out, a)
		}
	}
	for _, s := range v.Support.Steps {
		if a, ok := s.To.Get(); ok {
			out = append(out, a)
		}
	}
	return out
}

// Parse reads a value of the family; key is how the fault names it.
func (f *Family) Parse(key, text string) (Value, *problem.Error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return Value{}, problem.New(problem.Input, "workload.empty_value", problem.Args{"Key": key, "Type": string(f.Kind), "Example": f.Example})
	}
	v, size, ok := f.parse(text)
	switch {
	case !ok || math.IsNaN(size):
		return v, problem.New(problem.Input, "workload.bad_value", problem.Args{"Key": key, "Value": clip(text), "Type": string(f.Kind), "Example": f.Example})
	case size < f.Least || size > f.Most:
		return v, problem.New(problem.Input, "workload.out_of_bounds", problem.Args{"Key": key, "Value": clip(text), "Min": f.bound(f.Least, v), "Max": f.bound(f.Most, v)})
	}
	return v, nil
}

// parse gives the value and its size in the unit of the bounds.
func (f *Family) parse(text string) (v Value, size float64, ok bool) {
	var err error
	switch f.Kind {
	case Money:
		v.Money, err = money.ParseAmount(text)
		size = v.Money.Float()
	case Share:
		v.Number, ok = percent(text)
		return v, v.Number, ok
	case Number:
		v.Number, err = strconv.ParseFloat(text, 64)
		size = v.Number
	case Time:
		v.Time, err = unit.ParseHours(text)
		size = float64(v.Time)
	case Power:
		v.Number, ok = watts(text)
		return v, v.Number, ok
	case Switch:
		switch strings.ToLower(text) {
		case "yes", "true", "on":
			v.Number = 1
		case "no", "false", "off":
		default:
			return v, 0, false
		}
		return v, v.Number, true
	case Support:
		v.Support, ok = fee(text)
		return v, v.Support.Minimum.Float(), ok
	}
	return v, size, err == nil
}

// bound is a bound as a user would write it.
func (f *Family) bound(size float64, v Value) string {
	switch f.Kind {
	case Money, Support:
		return strconv.FormatFloat(size, 'f', -1, 64) + " " + string(v.Money.Add(v.Support.Minimum).Currency())
	case Share:
		return strconv.FormatFloat(size*100, 'f', -1, 64) + "%"
	case Time:
		return strconv.FormatFloat(size/unit.HoursPerYear, 'f', -1, 64) + "y"
	case Power:
		return strconv.FormatFloat(size, 'f', -1, 64) + " W"
	}
	return strconv.FormatFloat(size, 'f', -1, 64)
}

// percent reads "27%" as 0.27; a bare number could mean either, and is refused.
func percent(text string) (float64, bool) {
	digits, marked := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	return v / 100, marked && err == nil
}

// watts reads "10.2 kW" or "700W".
func watts(text string) (float64, bool) {
	lower := strings.ToLower(text)
	digits, factor := strings.TrimSuffix(lower, "kw"), 1e3
	if digits == lower {
		if digits = strings.TrimSuffix(lower, "w"); digits == lower {
			return 0, false
		}
		factor = 1
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	return v * factor, err == nil
}

// fee reads "100 USD; 10% to 10000 USD; 3%": a minimum, steps, and the share from the last step on; any part may be left out.
func fee(text string) (Fee, bool) {
	var f Fee
	ended := false
	for i, part := range strings.Split(text, ";") {
		part = strings.TrimSpace(part)
		share, to, limited := strings.Cut(part, " to ")
		p, isShare := percent(strings.TrimSpace(share))
		switch {
		case isShare && (ended || !(p >= 0 && p <= 1)):
			return f, false
		case isShare && limited:
			end, err := money.ParseAmount(to)
			if err != nil || !f.above(end) {
				return f, false
			}
			f.Steps = append(f.Steps, Step{unit.Some(end), p})
		case isShare:
			f.Steps, ended = append(f.Steps, Step{Share: p}), true
		default:
			least, err := money.ParseAmount(part)
			if err != nil || i > 0 {
				return f, false
			}
			f.Minimum = least
		}
	}
	return f, len(f.Steps) == 0 || ended // a bill above the last step has a share too
}

// above says that an end lies above the last step's, in its currency.
func (f Fee) above(end money.Amount) bool {
	if len(f.Steps) == 0 {
		return !end.IsZero()
	}
	last, _ := f.Steps[len(f.Steps)-1].To.Get()
	return last.Currency() == end.Currency() && end.Cmp(last) > 0
}

// clip keeps a text that goes into a message short.
func clip(s string) string {
	const most = 80
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return s
}
