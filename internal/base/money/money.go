// Package money holds exact amounts and hourly rates of a currency, and dated exchange rates.
//
// Invariants: an Amount is a whole number of millionths and a Rate a whole number of billionths of its
// currency, so that sums are exact and parts sum to the whole; two currencies are never added. Fixed point
// in an int64 rather than arbitrary decimals because the planner prices hundreds of thousands of candidates
// a second, and nine digits hold every list price seen. Anything may import this package; it imports nothing of ours.
package money

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Currency is an ISO 4217 code in capitals, such as USD or CNY.
type Currency string

// The currencies that prices are quoted in most.
const (
	USD Currency = "USD"
	CNY Currency = "CNY"
	EUR Currency = "EUR"
)

// ErrSyntax marks text that is not an amount of money.
var ErrSyntax = errors.New("not an amount of money")

// ErrRange marks an amount that is too large to hold.
var ErrRange = errors.New("amount of money out of range")

// Amount is an exact sum of money.
type Amount struct {
	micros int64
	cur    Currency
}

// Micros is an amount from millionths of the currency.
func Micros(n int64, c Currency) Amount { return Amount{n, c} }

// Zero is nothing of a currency.
func Zero(c Currency) Amount { return Amount{0, c} }

// Micros gives the amount in millionths of its currency.
func (a Amount) Micros() int64 { return a.micros }

// Currency gives the amount's currency.
func (a Amount) Currency() Currency { return a.cur }

// IsZero says whether the amount is nothing.
func (a Amount) IsZero() bool { return a.micros == 0 }

// Float gives the amount as a number, for ratios, charts and display only.
func (a Amount) Float() float64 { return float64(a.micros) / 1e6 }

// Add sums two amounts of one currency. Mixing currencies is a bug in the caller and panics, as an index out of range does.
func (a Amount) Add(b Amount) Amount {
	if a.cur == "" && a.micros == 0 {
		return b
	}
	if b.cur == "" && b.micros == 0 {
		return a
	}
	mustMatch(a.cur, b.cur)
	return Amount{satAdd(a.micros, b.micros), a.cur}
}

// Sub takes b from a.
func (a Amount) Sub(b Amount) Amount {
	if b.micros == math.MinInt64 { // has no opposite in an int64
		return a.Add(Amount{math.MaxInt64, b.cur})
	}
	return a.Add(Amount{-b.micros, b.cur})
}

// Mul scales an amount and rounds to the nearest millionth.
func (a Amount) Mul(f float64) Amount { return Amount{toInt(float64(a.micros) * f), a.cur} }

// Times is the amount so many times, exactly.
func (a Amount) Times(n int) Amount {
	product := a.micros * int64(n)
	if n != 0 && product/int64(n) != a.micros {
		return a.Mul(float64(n)) // where sums saturate
	}
	return Amount{product, a.cur}
}

// Cmp compares two amounts of one currency.
func (a Amount) Cmp(b Amount) int {
	mustMatch(a.cur, b.cur)
	switch {
	case a.micros < b.micros:
		return -1
	case a.micros > b.micros:
		return 1
	}
	return 0
}

// Decimal prints the exact number without its currency, with at least two decimals.
func (a Amount) Decimal() string { return fixed(a.micros, 6) }

// String prints "412.50 USD".
func (a Amount) String() string { return a.Decimal() + " " + string(a.cur) }

// Rate is an exact price per hour.
type Rate struct {
	nanos int64
	cur   Currency
}

// PerHour is a rate from billionths of the currency an hour.
func PerHour(nanos int64, c Currency) Rate { return Rate{nanos, c} }

// Nanos gives the rate in billionths of its currency an hour.
func (r Rate) Nanos() int64 { return r.nanos }

// Currency gives the rate's currency.
func (r Rate) Currency() Currency { return r.cur }

// IsZero says whether the rate is nothing; a catalog price never is.
func (r Rate) IsZero() bool { return r.nanos == 0 }

// Float gives the rate as a number an hour, for ratios, charts and display only.
func (r Rate) Float() float64 { return float64(r.nanos) / 1e9 }

// For is what the rate costs over so many hours, rounded to the nearest millionth.
func (r Rate) For(hours float64) Amount {
	return Amount{toInt(float64(r.nanos) / 1e3 * hours), r.cur}
}

// Mul scales a rate, for a number of machines or a discount.
func (r Rate) Mul(f float64) Rate { return Rate{toInt(float64(r.nanos) * f), r.cur} }

// Add sums two rates of one currency.
func (r Rate) Add(s Rate) Rate {
	if r.cur == "" && r.nanos == 0 {
		return s
	}
	if s.cur == "" && s.nanos == 0 {
		return r
	}
	mustMatch(r.cur, s.cur)
	return Rate{satAdd(r.nanos, s.nanos), r.cur}
}

// Decimal prints the exact number an hour without its currency, with at least two decimals.
func (r Rate) Decimal() string { return fixed(r.nanos, 9) }

// String prints "3.50 USD/h".
func (r Rate) String() string { return r.Decimal() + " " + string(r.cur) + "/h" }

// ParseRate reads a plain decimal price an hour. Digits past the ninth are rounded: feeds print
// binary floating-point noise such as 0.36979999999999996.
func ParseRate(s string, c Currency) (Rate, error) {
	n, err := parseFixed(s, 9)
	return Rate{n, c}, err
}

// ParseAmount reads "5000 USD", "$5000", "¥300", "€20" or "USD 5,000.50".
func ParseAmount(s string) (Amount, error) {
	t := strings.TrimSpace(s)
	for _, p := range []struct {
		sign string
		cur  Currency
	}{{"$", USD}, {"US$", USD}, {"¥", CNY}, {"￥", CNY}, {"€", EUR}, {"£", "GBP"}} {
		if rest, ok := strings.CutPrefix(t, p.sign); ok {
			n, err := parseFixed(rest, 6)
			return Amount{n, p.cur}, err
		}
	}
	fields := strings.Fields(t)
	if len(fields) == 1 { // 5000USD
		i := strings.LastIndexAny(t, "0123456789.")
		fields = []string{t[:i+1], t[i+1:]}
	}
	if len(fields) != 2 {
		return Amount{}, ErrSyntax
	}
	num, code := fields[0], fields[1]
	if isCode(num) {
		num, code = code, num
	}
	if !isCode(code) {
		return Amount{}, fmt.Errorf("%w: want a currency code such as USD or CNY", ErrSyntax)
	}
	n, err := parseFixed(num, 6)
	return Amount{n, Currency(strings.ToUpper(code))}, err
}

func isCode(s string) bool {
	if len(s) != 3 {
		return false
	}
	for i := range s {
		if c := s[i] | 0x20; c < 'a' || c > 'z' {
			return false
		}
	}
	return true
}

// parseFixed reads a non-negative plain decimal into units of 10^-places, rounding half up.
func parseFixed(s string, places int) (int64, error) {
	if n, ok := parsePlain(s, places); ok {
		return n, nil
	}
	s, ok := ungroup(strings.TrimSpace(s))
	if !ok {
		return 0, ErrSyntax
	}
	whole, frac, _ := strings.Cut(s, ".")
	if whole == "" && frac == "" || len(s) > 64 {
		return 0, ErrSyntax
	}
	for i := 0; i < len(s); i++ {
		if s[i] != '.' && (s[i] < '0' || s[i] > '9') {
			return 0, ErrSyntax
		}
	}
	if strings.Contains(frac, ".") {
		return 0, ErrSyntax
	}
	up := len(frac) > places && frac[places] >= '5'
	if len(frac) > places {
		frac = frac[:places]
	}
	n, err := strconv.ParseInt(whole+frac+strings.Repeat("0", places-len(frac)), 10, 64)
	if err == nil && up && n < math.MaxInt64 {
		n++
	}
	if err != nil || n == math.MaxInt64 { // where sums saturate, and no price
		return 0, ErrRange
	}
	return n, nil
}

// ungroup takes the commas out of "5,000.50". A comma anywhere else is refused: half the world writes one and a
// half as "1,5", and reading that as fifteen would be worse than asking again.
// parsePlain reads what nearly every price is, a few digits with at most one point between them, without a copy: a catalog has
// a hundred thousand. False leaves the text to parseFixed.
func parsePlain(s string, places int) (n int64, ok bool) {
	if len(s) == 0 || len(s)+places > 18 {
		return 0, false
	}
	point := -1
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			n = 10*n + int64(c-'0')
		case c == '.' && point < 0 && i > 0 && i+1 < len(s):
			point = i
		default:
			return 0, false
		}
	}
	decimals := 0
	if point >= 0 {
		decimals = len(s) - 1 - point
	}
	if decimals > places {
		return 0, false
	}
	for range places - decimals {
		n *= 10
	}
	return n, true
}

func ungroup(num string) (string, bool) {
	whole, frac, _ := strings.Cut(num, ".")
	groups := strings.Split(whole, ",")
	if len(groups) == 1 {
		return num, !strings.Contains(frac, ",")
	}
	for i, g := range groups {
		if i > 0 && len(g) != 3 || i == 0 && (len(g) == 0 || len(g) > 3) {
			return "", false
		}
	}
	return strings.ReplaceAll(whole, ",", "") + num[len(whole):], !strings.Contains(frac, ",")
}

// fixed prints n units of 10^-places with at least two decimals and no further trailing zeros.
func fixed(n int64, places int) string {
	sign := ""
	u := uint64(n)
	if n < 0 {
		sign, u = "-", -u
	}
	s := strconv.FormatUint(u, 10)
	if len(s) <= places {
		s = strings.Repeat("0", places+1-len(s)) + s
	}
	whole, frac := s[:len(s)-places], s[len(s)-places:]
	for len(frac) > 2 && frac[len(frac)-1] == '0' {
		frac = frac[:len(frac)-1]
	}
	return sign + whole + "." + frac
}

func mustMatch(a, b Currency) {
	if a != b {
		panic(fmt.Sprintf("money: %s mixed with %s", a, b))
	}
}

func toInt(f float64) int64 {
	switch {
	case f != f:
		panic("money: not a number")
	case f >= math.MaxInt64:
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64
	}
	return int64(math.RoundToEven(f))
}

func satAdd(a, b int64) int64 {
	s := a + b
	if a > 0 && b > 0 && s < 0 {
		return math.MaxInt64
	}
	if a < 0 && b < 0 && s >= 0 {
		return math.MinInt64
	}
	return s
}

// Exchange holds the exchange rates of one day.
type Exchange struct {
	AsOf   string // ISO date
	Source string
	// PerUSD says how much of each currency one US dollar buys, as exact decimals.
	PerUSD map[Currency]*big.Rat
}

// Knows says whether the table can convert from and to c.
func (x Exchange) Knows(c Currency) bool {
	_, ok := x.perUSD(c)
	return ok
}

// Factor is what one unit of from is worth in to; false where a currency is not in the table.
func (x Exchange) Factor(from, to Currency) (float64, bool) {
	if from == to {
		return 1, true
	}
	f, okF := x.perUSD(from)
	t, okT := x.perUSD(to)
	if !okF || !okT {
		return 0, false
	}
	v, _ := new(big.Rat).Quo(t, f).Float64()
	return v, true
}

func (x Exchange) perUSD(c Currency) (*big.Rat, bool) {
	if c == USD {
		return big.NewRat(1, 1), true
	}
	r := x.PerUSD[c]
	return r, r != nil && r.Sign() > 0
}

// Rate converts an hourly rate.
func (x Exchange) Rate(r Rate, to Currency) (Rate, bool) {
	f, ok := x.Factor(r.cur, to)
	if !ok {
		return Rate{}, false
	}
	return Rate{toInt(float64(r.nanos) * f), to}, true
}

// Amount converts a sum of money.
func (x Exchange) Amount(a Amount, to Currency) (Amount, bool) {
	f, ok := x.Factor(a.cur, to)
	if !ok {
		return Amount{}, false
	}
	return Amount{toInt(float64(a.micros) * f), to}, true
}
