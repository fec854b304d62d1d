package provider

import (
	"io/fs"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/rackrate/rackrate/data"
	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
)

var exchangeColumns = []string{"currency", "per_usd", "as_of", "source"}

var (
	currencyCode = regexp.MustCompile(`^[A-Z]{3}$`)
	// Twelve digits on each side hold every currency there is, and bound the work of exact arithmetic.
	plainDecimal = regexp.MustCompile(`^[0-9]{1,12}(\.[0-9]{1,12})?$`)
)

// EmbeddedExchange is the table of exchange rates built into the program.
var EmbeddedExchange = sync.OnceValue(func() money.Exchange {
	raw, err := fs.ReadFile(data.FS, "exchange.csv")
	if err != nil {
		panic(err)
	}
	x, err := ParseExchange("exchange.csv", raw)
	if err != nil {
		panic(err) // the embedded file is checked by this package's tests
	}
	return x
})

// ParseExchange reads a table of exchange rates: currency,per_usd,as_of,source, one currency a row. The table
// is as old as its oldest row. The name is for the places of faults.
func ParseExchange(name string, data []byte) (money.Exchange, error) {
	x := money.Exchange{PerUSD: map[money.Currency]*big.Rat{}}
	var sources []string
	s := &sheet{file: name}
	s.each(data, exchangeColumns, func(r row) {
		code := r.need("currency")
		if code != "" && !currencyCode.MatchString(code) {
			r.bad("currency", "EUR")
		}
		rate := exactRate(r)
		asOf, source := r.date("as_of"), r.need("source")
		cur := money.Currency(code)
		if x.PerUSD[cur] != nil {
			r.fault("data.duplicate", problem.Args{"Key": code})
		}
		if cur == money.USD && rate != nil && rate.Cmp(big.NewRat(1, 1)) != 0 {
			r.bad("per_usd", "1")
		}
		x.PerUSD[cur] = rate
		if x.AsOf == "" || asOf < x.AsOf {
			x.AsOf = asOf
		}
		if !slices.Contains(sources, source) && cur != money.USD {
			sources = append(sources, source)
		}
	})
	if len(s.faults) == 0 && len(x.PerUSD) == 0 {
		s.fault(1, "data.empty", nil)
	}
	x.Source = strings.Join(sources, "; ")
	if err := s.faults.OrNil(); err != nil {
		return money.Exchange{}, err
	}
	return x, nil
}

// exactRate is the row's rate, above zero; nil after a fault.
func exactRate(r row) *big.Rat {
	text := r.need("per_usd")
	if text == "" {
		return nil
	}
	rate, ok := new(big.Rat), plainDecimal.MatchString(text)
	if ok {
		_, ok = rate.SetString(text)
	}
	if !ok || rate.Sign() <= 0 {
		r.bad("per_usd", "7.16")
		return nil
	}
	return rate
}
