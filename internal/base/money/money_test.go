package money

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestParseAmount(t *testing.T) {
	for _, c := range []struct {
		text string
		want Amount
	}{
		{"5000 USD", Micros(5000e6, USD)},
		{"5000USD", Micros(5000e6, USD)},
		{"usd 5,000.50", Micros(5000_500000, USD)},
		{"$5000", Micros(5000e6, USD)},
		{"US$12", Micros(12e6, USD)},
		{"¥300", Micros(300e6, CNY)},
		{"￥300", Micros(300e6, CNY)},
		{"€ 20", Micros(20e6, EUR)},
		{"£.5", Micros(500000, "GBP")},
		{"0.0000005 USD", Micros(1, USD)},
		{" 1. eur ", Micros(1e6, EUR)},
	} {
		if got, err := ParseAmount(c.text); err != nil || got != c.want {
			t.Errorf("%q = %v (%v), want %v", c.text, got, err, c.want)
		}
	}
}

func TestParseAmountRefuses(t *testing.T) {
	for text, want := range map[string]error{
		"":                    ErrSyntax,
		"5000":                ErrSyntax,
		"USD":                 ErrSyntax,
		"-5 USD":              ErrSyntax,
		"1e3 USD":             ErrSyntax,
		"1.2.3 USD":           ErrSyntax,
		"1,5 EUR":             ErrSyntax,
		"$":                   ErrSyntax,
		"$5 USD":              ErrSyntax,
		"5000 dollars":        ErrSyntax,
		"5 USD an hour":       ErrSyntax,
		"9999999999999 USD":   ErrRange,
		"9223372036854775807": ErrSyntax,
	} {
		if got, err := ParseAmount(text); !errors.Is(err, want) {
			t.Errorf("%q = %v (%v), want error %v", text, got, err, want)
		}
	}
}

func TestParseRate(t *testing.T) {
	for _, c := range []struct {
		text  string
		nanos int64
	}{
		{"3.5", 3_500000000},
		{"0.36979999999999996", 369800000}, // what a binary float prints
		{"0.0000000005", 1},
		{"0.00000000049", 0},
		{"1,234.50", 1234_500000000},
	} {
		if got, err := ParseRate(c.text, USD); err != nil || got != PerHour(c.nanos, USD) {
			t.Errorf("%q = %v (%v), want %d nanos", c.text, got, err, c.nanos)
		}
	}
	for _, text := range []string{"", ".", "NaN", "-1", "1 USD", "1,2", "10000000000"} {
		if got, err := ParseRate(text, USD); err == nil {
			t.Errorf("%q read as %v", text, got)
		}
	}
}

func TestPrint(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Micros(412_500000, USD).String(), "412.50 USD"},
		{Micros(1, USD).String(), "0.000001 USD"},
		{Micros(-1_250000, CNY).String(), "-1.25 CNY"},
		{Micros(math.MinInt64, USD).Decimal(), "-9223372036854.775808"},
		{Zero(EUR).String(), "0.00 EUR"},
		{PerHour(3_500000000, USD).String(), "3.50 USD/h"},
		{PerHour(12345, USD).Decimal(), "0.000012345"},
	} {
		if c.got != c.want {
			t.Errorf("printed %q, want %q", c.got, c.want)
		}
	}
}

func TestArithmetic(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want Amount
	}{
		{"a third and two thirds", Micros(333333, USD).Add(Micros(666667, USD)), Micros(1e6, USD)},
		{"no currency yet, left", Amount{}.Add(Micros(5, CNY)), Micros(5, CNY)},
		{"no currency yet, right", Micros(5, CNY).Add(Amount{}), Micros(5, CNY)},
		{"below zero", Zero(USD).Sub(Micros(7, USD)), Micros(-7, USD)},
		{"scaled", Micros(1e6, USD).Mul(1.0 / 3), Micros(333333, USD)},
		{"8 machines for 730 h", PerHour(98_320000000, USD).Mul(8).For(730), Micros(574188_800000, USD)},
		{"no time", PerHour(1e9, USD).For(0), Zero(USD)},
		{"too much", Micros(math.MaxInt64, USD).Add(Micros(1, USD)), Micros(math.MaxInt64, USD)},
		{"too little", Micros(math.MinInt64, USD).Sub(Micros(1, USD)), Micros(math.MinInt64, USD)},
		{"less the least", Zero(USD).Sub(Micros(math.MinInt64, USD)), Micros(math.MaxInt64, USD)},
		{"scaled too far", Micros(math.MaxInt64, USD).Mul(-2), Micros(math.MinInt64, USD)},
		{"for ever", PerHour(1, USD).For(math.Inf(1)), Micros(math.MaxInt64, USD)},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	if got := (Rate{}).Add(PerHour(5, CNY)); got != PerHour(5, CNY) {
		t.Errorf("nothing + rate = %v", got)
	}
	if got := PerHour(5, CNY).Add(Rate{}); got != PerHour(5, CNY) {
		t.Errorf("rate + nothing = %v", got)
	}
	if !Zero(USD).IsZero() || !(Rate{}).IsZero() || Micros(1, USD).IsZero() || PerHour(1, USD).IsZero() {
		t.Error("IsZero is wrong")
	}
}

func TestBugsOfCallersPanic(t *testing.T) {
	for name, f := range map[string]func(){
		"amounts of two currencies": func() { Micros(1, USD).Add(Micros(1, CNY)) },
		"compared currencies":       func() { Micros(1, USD).Cmp(Micros(1, CNY)) },
		"rates of two currencies":   func() { PerHour(1, USD).Add(PerHour(1, EUR)) },
		"times not a number":        func() { Micros(1, USD).Mul(math.NaN()) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("went through")
				}
			}()
			f()
		})
	}
}

var (
	anyMicros   = rapid.Int64Range(-1e15, 1e15)
	anyCurrency = rapid.SampledFrom([]Currency{USD, CNY, EUR, "JPY"})
)

// Every amount and rate that is not negative reads back exactly as it was printed.
func TestPrintThenParse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := Micros(rapid.Int64Range(0, math.MaxInt64-1).Draw(t, "micros"), anyCurrency.Draw(t, "currency"))
		if got, err := ParseAmount(a.String()); err != nil || got != a {
			t.Fatalf("%v read as %v (%v)", a, got, err)
		}
		r := PerHour(rapid.Int64Range(0, math.MaxInt64-1).Draw(t, "nanos"), a.Currency())
		if got, err := ParseRate(r.Decimal(), r.Currency()); err != nil || got != r {
			t.Fatalf("%v read as %v (%v)", r, got, err)
		}
	})
}

// The parts of a bill sum to the bill in whatever order they are added, and taking them off leaves nothing.
func TestSumsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyCurrency.Draw(t, "currency")
		parts := rapid.SliceOfN(anyMicros, 1, 50).Draw(t, "parts")
		exact, forth, back := int64(0), Zero(c), Zero(c)
		for i, n := range parts {
			exact += n
			forth = forth.Add(Micros(n, c))
			back = back.Add(Micros(parts[len(parts)-1-i], c))
		}
		if forth != Micros(exact, c) || back != forth {
			t.Fatalf("summed to %v and %v, want %d micros", forth, back, exact)
		}
		for _, n := range parts {
			forth = forth.Sub(Micros(n, c))
		}
		if !forth.IsZero() {
			t.Fatalf("%v is left", forth)
		}
	})
}

// Sums stop at the ends of the range instead of wrapping round into another sign.
func TestSumsSaturate(t *testing.T) {
	least, most := big.NewInt(math.MinInt64), big.NewInt(math.MaxInt64)
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64().Draw(t, "a"), rapid.Int64().Draw(t, "b")
		want := new(big.Int).Add(big.NewInt(a), big.NewInt(b))
		if want.Cmp(most) > 0 {
			want = most
		}
		if want.Cmp(least) < 0 {
			want = least
		}
		if got := Micros(a, USD).Add(Micros(b, USD)).Micros(); got != want.Int64() {
			t.Fatalf("amounts: %d, want %d", got, want)
		}
		if got := PerHour(a, USD).Add(PerHour(b, USD)).Nanos(); got != want.Int64() {
			t.Fatalf("rates: %d, want %d", got, want)
		}
	})
}

func TestCmpOrders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := Micros(anyMicros.Draw(t, "a"), USD), Micros(anyMicros.Draw(t, "b"), USD)
		if a.Cmp(b) != -b.Cmp(a) || (a.Cmp(b) == 0) != (a == b) || (a.Cmp(b) < 0) != (a.Micros() < b.Micros()) {
			t.Fatalf("%v against %v: %d", a, b, a.Cmp(b))
		}
	})
}

func table(perUSD string) Exchange {
	r, _ := new(big.Rat).SetString(perUSD)
	return Exchange{AsOf: "2026-01-02", Source: "test", PerUSD: map[Currency]*big.Rat{CNY: r, EUR: big.NewRat(4, 5), "XXX": new(big.Rat)}}
}

func TestExchange(t *testing.T) {
	x := table("7.2")
	if got, ok := x.Amount(Micros(10e6, USD), CNY); !ok || got != Micros(72e6, CNY) {
		t.Errorf("10 USD = %v (%v)", got, ok)
	}
	if got, ok := x.Amount(Micros(72e6, CNY), EUR); !ok || got != Micros(8e6, EUR) {
		t.Errorf("72 CNY = %v (%v)", got, ok)
	}
	if got, ok := x.Rate(PerHour(36e9, CNY), USD); !ok || got != PerHour(5e9, USD) {
		t.Errorf("36 CNY/h = %v (%v)", got, ok)
	}
	for _, c := range []Currency{"JPY", "XXX"} { // not in the table; in it as nothing
		_, okAmount := x.Amount(Micros(1, USD), c)
		_, okRate := x.Rate(PerHour(1, c), USD)
		if okAmount || okRate || x.Knows(c) {
			t.Errorf("converted %s without a rate", c)
		}
	}
	if !x.Knows(USD) || !x.Knows(CNY) {
		t.Error("does not know its own currencies")
	}
	if f, ok := (Exchange{}).Factor("JPY", "JPY"); !ok || f != 1 {
		t.Error("a currency is worth itself, in any table")
	}
}

// There and back again loses at most what rounding to a millionth can lose.
func TestExchangeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := table(rapid.SampledFrom([]string{"6.9", "7.2431", "7.30"}).Draw(t, "yuan"))
		a := Micros(rapid.Int64Range(0, 1e13).Draw(t, "micros"), USD)
		there, ok1 := x.Amount(a, CNY)
		back, ok2 := x.Amount(there, USD)
		if d := back.Sub(a).Micros(); !ok1 || !ok2 || d < -1 || d > 1 {
			t.Fatalf("%v -> %v -> %v", a, there, back)
		}
	})
}

func FuzzParseAmount(f *testing.F) {
	for _, s := range []string{"5000 USD", "$5,000.50", "¥300", "USD5", "9999999999999 USD", "1,5 EUR", ".", "€"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := ParseAmount(s)
		if err != nil {
			if !errors.Is(err, ErrSyntax) && !errors.Is(err, ErrRange) {
				t.Errorf("%q: %v is neither of the errors that callers know", s, err)
			}
			return
		}
		if a.Micros() < 0 || a.Currency() == "" {
			t.Errorf("%q read as %v", s, a)
		}
		if again, err := ParseAmount(a.String()); err != nil || again != a {
			t.Errorf("%q read as %v, which reads as %v (%v)", s, a, again, err)
		}
	})
}

func FuzzParseRate(f *testing.F) {
	for _, s := range []string{"3.5", "0.36979999999999996", "1,234.50", "9223372036.854775807", ".", "1e3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRate(s, USD)
		if err != nil {
			return
		}
		if again, err := ParseRate(r.Decimal(), USD); err != nil || again != r || r.Nanos() < 0 {
			t.Errorf("%q read as %v, which reads as %v (%v)", s, r, again, err)
		}
	})
}

func TestTimes(t *testing.T) {
	for _, c := range []struct {
		micros int64
		n      int
		want   int64
	}{
		{3, 4, 12}, {-3, 4, -12}, {5, 0, 0}, {1e15 + 1, 9000, 9e18 + 9000}, {math.MaxInt64, 2, math.MaxInt64}, {-math.MaxInt64, 3, math.MinInt64},
	} {
		if got := Micros(c.micros, USD).Times(c.n).Micros(); got != c.want {
			t.Errorf("%d times %d is %d, want %d", c.micros, c.n, got, c.want)
		}
	}
}

// The short way to read a price gives what the long one does, wherever it gives anything.
func TestPlainPricesAreReadAlike(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[0-9]{0,12}[.,]?[0-9]{0,10}[.x-]?`).Draw(t, "text")
		places := rapid.IntRange(0, 9).Draw(t, "places")
		short, ok := parsePlain(s, places)
		if !ok {
			return
		}
		// A leading zero does not change a number, and enough of them send it the long way.
		long, err := parseFixed("00000000000000000000"+s, places)
		if err != nil || long != short {
			t.Fatalf("%q: %d, the long way %d %v", s, short, long, err)
		}
	})
}
