package feed

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
)

// maxDigits bounds a price's text and its power of ten: a price has fewer, and more would only cost time to read.
const maxDigits = 40

// Hourly reads a price for so many hours, as the text or JSON number that a vendor sends, exponents included, as a price an
// hour. It is exact up to the one rounding, half up, to a billionth.
func Hourly(text string, hours int64, c money.Currency) (money.Rate, error) {
	price, err := Decimal(text)
	if err != nil {
		return money.Rate{}, err
	}
	return PerHour(price.Quo(price, new(big.Rat).SetInt64(hours)), c)
}

// Decimal reads a number that is not negative, as vendors write it: 1.50, 5E-05.
func Decimal(text string) (*big.Rat, error) {
	mantissa, exponent := text, ""
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa, exponent = text[:i], text[i+1:]
		if n, err := strconv.Atoi(exponent); err != nil || n < -maxDigits || n > maxDigits {
			return nil, money.ErrSyntax
		}
	}
	if len(mantissa) == 0 || len(mantissa) > maxDigits || strings.Trim(mantissa, "0123456789.") != "" {
		return nil, money.ErrSyntax
	}
	n, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil, money.ErrSyntax
	}
	return n, nil
}

// PerHour rounds an exact price an hour half up to a billionth.
func PerHour(price *big.Rat, c money.Currency) (money.Rate, error) {
	if price.Sign() < 0 {
		return money.Rate{}, money.ErrSyntax
	}
	nanos := new(big.Int).Mul(price.Num(), big.NewInt(2e9))
	nanos.Add(nanos, price.Denom()).Quo(nanos, new(big.Int).Lsh(price.Denom(), 1))
	if !nanos.IsInt64() || nanos.Int64() == math.MaxInt64 { // where sums saturate, and no price
		return money.Rate{}, money.ErrRange
	}
	return money.PerHour(nanos.Int64(), c), nil
}
