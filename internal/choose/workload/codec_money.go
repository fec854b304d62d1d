package workload

import (
	"errors"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
)

const moneyPattern = `^\s*([$¥￥€£]|US\$|[A-Za-z]{3}\s)?\s*[0-9][0-9.,]*\s*([A-Za-z]{3})?\s*$`

var moneyCodec = amount("money", moneyPattern, money.ParseAmount, printAmount)

// delayCodec is an amount per unit of time, kept per day.
var delayCodec = amount("money per time", strings.TrimSuffix(moneyPattern, "$")+`/\s*[a-z]+\s*$`, parseDelay, func(a money.Amount) any {
	return printAmount(a).(string) + "/day"
})

// perDay says how many of a unit of time make a day.
var perDay = map[string]float64{
	"h": 24, "hr": 24, "hour": 24, "d": 1, "day": 1, "w": 1.0 / 7, "week": 1.0 / 7,
	"mo": 24.0 / unit.HoursPerMonth, "month": 24.0 / unit.HoursPerMonth,
}

func parseDelay(s string) (money.Amount, error) {
	sum, per, _ := strings.Cut(s, "/")
	f, ok := perDay[strings.ToLower(strings.TrimSpace(per))]
	if !ok {
		return money.Amount{}, money.ErrSyntax
	}
	a, err := money.ParseAmount(sum)
	if err != nil {
		return money.Amount{}, err
	}
	if f == 1 {
		return a, nil
	}
	return a.Mul(f), nil
}

func amount(name, pattern string, parse func(string) (money.Amount, error), print func(money.Amount) any) codec[money.Amount] {
	return codec[money.Amount]{
		name: name,
		read: func(r *reader, f *Field, n *yaml.Node) (money.Amount, bool) {
			s, ok := r.text(f, n)
			if !ok {
				return money.Amount{}, false
			}
			a, err := parse(s)
			switch {
			case errors.Is(err, money.ErrRange) || strings.HasPrefix(s, "-") || err == nil && !f.within(a.Float()):
				cur := a.Currency()
				r.fault(n, codeOutOfBounds, problem.Args{"Key": f.Path, "Value": clip(s),
					"Min": print(money.Micros(int64(f.Min*1e6), cur)), "Max": print(money.Micros(int64(f.Max*1e6), cur))})
			case err != nil:
				r.badValue(f, n, s)
			case !r.facts.Currency(a.Currency()):
				r.fault(n, codeUnknownName, problem.Args{"Key": f.Path, "Value": string(a.Currency()), "Type": "currency"})
			default:
				return a, true
			}
			return money.Amount{}, false
		},
		write:  func(a money.Amount) (any, bool) { return print(a), !a.IsZero() },
		schema: func(*Field) Object { return Object{{"type", "string"}, {"pattern", pattern}} },
	}
}

func printAmount(a money.Amount) any {
	return strings.TrimSpace(strings.TrimSuffix(a.Decimal(), ".00") + " " + string(a.Currency()))
}
