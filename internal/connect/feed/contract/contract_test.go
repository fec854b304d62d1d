package contract_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/feed/contract"
	"github.com/rackrate/rackrate/internal/connect/feed/feedtest"
	"github.com/rackrate/rackrate/internal/connect/fetch"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

func line(t catalog.Term) string {
	what := fmt.Sprintf("%g off", t.Off.Or(0))
	if !t.Off.Known() {
		what = t.Hourly.String()
	}
	if t.PerGPU {
		what += " per GPU"
	}
	return fmt.Sprintf("%s type=%s gpu=%s region=%s %v %s %s..%s of %s", t.Provider, t.InstanceType, t.Accelerator, t.Region, t.Modes, what, t.From, t.Until, t.AsOf)
}

func TestGoodFile(t *testing.T) {
	w := feedtest.World(t, nil, fetch.Options{})
	w.Read = os.ReadFile
	var got feedtest.Sink
	if err := feedtest.Open(contract.Maker, feed.Config{Path: "testdata/nordic.good.yaml"}, w).Fetch(t.Context(), &got); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, term := range got.Terms {
		lines = append(lines, line(term))
	}
	want := []string{"aws type= gpu= region= [] 0.05 off 2026-04-01..2027-03-31 of 2026-04-01"}
	for _, name := range []string{"H100", "H200"} {
		chips := accelerator.Embedded().Resolve(name)
		if len(chips) == 0 {
			t.Fatal(name)
		}
		for _, c := range chips {
			want = append(want, "aws type= gpu="+c.Name+" region=eu-* [on-demand savings-plan-1y] 0.125 off 2026-04-01..2027-03-31 of 2026-04-01")
		}
	}
	want = append(want, "aws type=p5.48xlarge gpu= region=eu-north-1 [] 38.50 USD/h 2026-04-01..2026-12-31 of 2026-04-01",
		"nebius type= gpu=H200-SXM-141GB region= [reserved-6m] 2.10 EUR/h per GPU 2026-06-01..2027-03-31 of 2026-04-01")
	if !slices.Equal(lines, want) {
		t.Errorf("got  %s\nwant %s", strings.Join(lines, "\n     "), strings.Join(want, "\n     "))
	}
}

// Every fault is told at once, at its line, with what was probably meant.
func TestBadFile(t *testing.T) {
	data, err := os.ReadFile("testdata/nordic.bad.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, err = contract.Parse("nordic.yaml", data, accelerator.Embedded())
	var got []string
	for _, p := range problem.All(err) {
		got = append(got, fmt.Sprintf("%s:%d %s %s", p.File, p.Line, p.Code, strings.Join(p.Suggest, ",")))
	}
	want := []string{
		"nordic.yaml:1 provider.unknown azure",
		"nordic.yaml:1 file.missing ", // the date
		"nordic.yaml:4 contract.days ",
		"nordic.yaml:6 file.bad_value ",
		"nordic.yaml:7 accelerator.unknown H20,H200",
		"nordic.yaml:7 contract.one_amount ",
		"nordic.yaml:11 contract.price_of_many ",
		"nordic.yaml:13 file.bad_value reserved-1m,reserved-1y,reserved-3m",
		"nordic.yaml:14 file.bad_value ",
		"nordic.yaml:15 file.unknown_key type",
		"nordic.yaml:15 contract.one_amount ",
		"nordic.yaml:16 file.bad_value ",
		"nordic.yaml:17 file.not_mapping ",
		"nordic.yaml:18 contract.per_any_gpu ",
		"nordic.yaml:19 file.bad_value ",
		"nordic.yaml:20 file.bad_value ",
		"nordic.yaml:21 file.unknown_key ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

func TestFaultsOfTheWhole(t *testing.T) {
	for _, c := range []struct{ name, text, code string }{
		{"no provider", "date: 2026-04-01\nterms: [{off: 5%}]", "file.missing"},
		{"a list of no GPUs", "provider: aws\ndate: 2026-04-01\nterms: [{gpu: [], off: 5%}, {gpu: H200, off: 6%}]", "file.empty_value"},
		{"no terms", "provider: aws\ndate: 2026-04-01", "file.missing"},
		{"one twice", "provider: aws\ndate: 2026-04-01\nterms: [{gpu: H100, off: 5%}, {gpu: H100 SXM, off: 6%}]", "contract.twice"},
		{"empty", "", "file.empty"},
		{"days", "provider: aws\ndate: 2026-04-01\nfrom: 2026-01-02\nterms: [{until: 2026-01-01, off: 5%}]", "contract.days"},
		{"free", "provider: aws\ndate: 2026-04-01\nterms: [{type: a, price: 0 USD}]", "file.bad_value"},
		{"dear", "provider: aws\ndate: 2026-04-01\nterms: [{type: a, price: 9000000000000 USD}]", "file.bad_value"},
	} {
		_, err := contract.Parse("a.yaml", []byte(c.text), accelerator.Embedded())
		if p := problem.All(err); len(p) != 1 || p[0].Code != c.code {
			t.Errorf("%s: %v, want %s", c.name, err, c.code)
		}
	}
}

func TestSettings(t *testing.T) {
	w := feedtest.World(t, nil, fetch.Options{})
	for _, c := range []struct {
		c    feed.Config
		code string
	}{
		{feed.Config{}, feed.CodeNoCredentials},
		{feed.Config{File: "s.yaml", Line: 2}, "feed.bad_setting"},
		{feed.Config{Path: "a", Endpoint: "https://example.com"}, "feed.not_taken"},
		{feed.Config{Path: "a"}, "feed.unreadable"},
	} {
		err := feedtest.Open(contract.Maker, c.c, w).Fetch(t.Context(), &feedtest.Sink{})
		if p := problem.All(err); len(p) != 1 || p[0].Code != c.code {
			t.Errorf("%+v: %v, want %s", c.c, err, c.code)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w.Read = func(string) ([]byte, error) { return os.ReadFile("testdata/nordic.good.yaml") }
	if err := feedtest.Open(contract.Maker, feed.Config{Path: "a"}, w).Fetch(ctx, &feedtest.Sink{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// What is read makes sense, whatever the file.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"testdata/nordic.good.yaml", "testdata/nordic.bad.yaml"} {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		terms, err := contract.Parse("a.yaml", data, accelerator.Embedded())
		if (err == nil) == (len(terms) == 0) {
			t.Fatalf("%d terms and %v", len(terms), err)
		}
		for _, term := range terms {
			off, isOff := term.Off.Get()
			priced := term.Hourly.Nanos() > 0 && len(term.Hourly.Currency()) == 3 && term.Hourly.Currency() == money.Currency(strings.ToUpper(string(term.Hourly.Currency())))
			if term.Provider == "" || term.AsOf == "" || isOff && (off <= 0 || off >= 1) || isOff == priced {
				t.Errorf("%+v", term)
			}
		}
	})
}
