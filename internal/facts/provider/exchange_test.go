package provider_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/provider"
	"pgregory.net/rapid"
)

func TestEmbeddedExchange(t *testing.T) {
	x := provider.EmbeddedExchange()
	for _, c := range []money.Currency{"USD", "CNY", "EUR", "GBP", "JPY", "KRW", "INR", "SGD", "HKD", "AUD", "CAD", "CHF", "TWD", "BRL", "AED", "SEK", "NOK", "DKK", "PLN"} {
		if !x.Knows(c) {
			t.Errorf("no %s", c)
		}
	}
	got, ok := x.Amount(money.Micros(100e6, money.USD), money.CNY)
	if !ok || got.String() != "716.00 CNY" {
		t.Errorf("100 USD are %v", got)
	}
	if x.AsOf != "2025-06-30" || x.Source == "" {
		t.Errorf("as of %q, source %q", x.AsOf, x.Source)
	}
}

func TestParseExchange(t *testing.T) {
	x, err := provider.ParseExchange("fx.csv", []byte("\ufeffcurrency,per_usd,as_of,source\r\nEUR,0.9,2026-02-01,ours\r\nCNY,7.25,2026-01-15,ours\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	if x.AsOf != "2026-01-15" || x.Source != "ours" || x.PerUSD["CNY"].FloatString(2) != "7.25" {
		t.Errorf("%+v", x)
	}
}

func TestParseExchangeFaults(t *testing.T) {
	const head = "currency,per_usd,as_of,source\n"
	for _, c := range []struct {
		name, text string
		want       []string // place and code
	}{
		{"empty", "", []string{"fx.csv:1: data.header"}},
		{"no rows", head, []string{"fx.csv:1: data.empty"}},
		{"header", "currency,rate\nEUR,1\n", []string{"fx.csv:1: data.header"}},
		{"all at once", head + "eur,0.9,2026-01-01,s\nCNY,-7,2026-01-01,s\nGBP,1e2,2026-01-01,s\nJPY,0,2026-01-01,s\nCHF,0.9,,\n",
			[]string{"fx.csv:2: data.value", "fx.csv:3: data.value", "fx.csv:4: data.value", "fx.csv:5: data.value", "fx.csv:6: data.missing", "fx.csv:6: data.missing"}},
		{"twice", head + "EUR,0.9,2026-01-01,s\nEUR,0.9,2026-01-01,s\n", []string{"fx.csv:3: data.duplicate"}},
		{"dollar", head + "USD,1.1,2026-01-01,s\n", []string{"fx.csv:2: data.value"}},
		{"quote", head + "EUR,\"0.9,2026-01-01,s\n", []string{"fx.csv:2: data.syntax"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := provider.ParseExchange("fx.csv", []byte(c.text))
			var got []string
			for _, e := range problem.All(err) {
				got = append(got, problem.New(e.Kind, e.Code, nil).At(e.File, e.Line).Error())
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// There and back is the same to within the rounding of one step each way.
func TestExchangeRoundTrip(t *testing.T) {
	x := provider.EmbeddedExchange()
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.SampledFrom([]money.Currency{"USD", "CNY", "EUR", "GBP"}).Draw(t, "from")
		to := rapid.SampledFrom([]money.Currency{"USD", "CNY", "JPY", "INR"}).Draw(t, "to")
		a := money.Micros(rapid.Int64Range(0, 1e12).Draw(t, "micros"), from)
		there, ok1 := x.Amount(a, to)
		back, ok2 := x.Amount(there, from)
		f, _ := x.Factor(to, from)
		if !ok1 || !ok2 || math.Abs(float64(back.Micros()-a.Micros())) > 2+f {
			t.Fatalf("%v, %v, %v", a, there, back)
		}
	})
}

func FuzzParseExchange(f *testing.F) {
	f.Add([]byte("currency,per_usd,as_of,source\nEUR,0.9,2026-01-01,s\n"))
	f.Add([]byte("currency,per_usd,as_of,source\n\"\n"))
	f.Add([]byte("\ufeff"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		x, err := provider.ParseExchange("fx.csv", raw)
		if (err == nil) != (len(x.PerUSD) > 0) {
			t.Fatalf("%v with %d rates", err, len(x.PerUSD))
		}
		for c, rate := range x.PerUSD {
			if len(c) != 3 || rate == nil || rate.Sign() <= 0 {
				t.Fatalf("%q: %v", c, rate)
			}
		}
	})
}
