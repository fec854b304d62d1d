package feed_test

import (
	"math/big"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/connect/feed"
)

func TestHourly(t *testing.T) {
	for _, c := range []struct {
		text  string
		hours int64
		want  string // empty: refused
	}{
		{"98.32", 1, "98.32"},
		{"5E-05", 1, "0.00005"},
		{"1.2e3", 1, "1200.00"},
		{"8760", 8760, "1.00"},
		{"8761", 8760, "1.000114155"},      // 1.00011415525…
		{"1134253", 26280, "43.160312024"}, // 43.16031202435…
		{"0.0000000005", 1, "0.000000001"},
		{"0.00000000049", 1, "0.00"},
		{"0", 1, "0.00"},
		{"", 1, ""},
		{"-1", 1, ""},
		{"1/3", 1, ""},
		{"0x10", 1, ""},
		{"1_000", 1, ""},
		{"1e99", 1, ""},
		{"1e999999999", 1, ""},
		{"1e", 1, ""},
		{".", 1, ""},
		{"NaN", 1, ""},
		{strings.Repeat("9", 30), 1, ""},
	} {
		got, err := feed.Hourly(c.text, c.hours, money.USD)
		if (err == nil) != (c.want != "") || err == nil && got.Decimal() != c.want {
			t.Errorf("Hourly(%q, %d) = %s, %v; want %q", c.text, c.hours, got.Decimal(), err, c.want)
		}
	}
}

// Rounding loses at most half a billionth, whatever the price and the hours.
func TestHourlyIsExactUpToOneRounding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		micros := rapid.Int64Range(0, 1e13).Draw(t, "micros")
		hours := rapid.SampledFrom([]int64{1, 730, 8760, 26280}).Draw(t, "hours")
		text := money.Micros(micros, money.USD).Decimal()
		got, err := feed.Hourly(text, hours, money.USD)
		if err != nil {
			t.Fatal(err)
		}
		exact := big.NewRat(micros, 1e6*hours)
		off := new(big.Rat).Sub(exact, big.NewRat(got.Nanos(), 1e9))
		if off.Abs(off).Cmp(big.NewRat(1, 2e9)) > 0 {
			t.Errorf("%s over %d hours is %s, off by %s", text, hours, got, off.FloatString(12))
		}
	})
}

func FuzzDecimal(f *testing.F) {
	for _, s := range []string{"1.5", "5E-05", "1e41", "..", "9e-9", "+1", "1e+2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := feed.Decimal(s)
		if err == nil && n.Sign() < 0 {
			t.Errorf("Decimal(%q) = %s", s, n)
		}
	})
}

func TestCheckListsEveryFault(t *testing.T) {
	c := feed.Config{
		Name: "mine", Kind: "azure", File: "sources.yaml", Line: 7, Endpoint: "http://prices.example.com",
		Endpoints: map[string]string{"sku": "https://user:hidden@example.com", "skus": "https://example.com\x7f", "more": "https://example.com/?key=hidden"},
		Providers: []string{"aws"}, Path: "x", Currency: "usd", Options: map[string]string{"tenent": "a"},
	}
	faults := c.Check(feed.Takes{Currency: true, Endpoints: []string{"skus"}, Options: []string{"tenant"}})
	var got []string
	for _, p := range faults {
		got = append(got, p.Code)
		if p.File != "sources.yaml" || p.Line != 7 {
			t.Errorf("%v is not at its place", p)
		}
	}
	want := []string{
		"feed.not_taken", "feed.not_taken", "feed.bad_setting", "feed.unknown_option", "feed.unknown_endpoint", "feed.unknown_endpoint",
		"fetch.insecure", "feed.bad_setting", "fetch.bad_url", "feed.bad_setting",
	}
	if !slices.Equal(got, want) {
		t.Errorf("faults %v, want %v", got, want)
	}
	if strings.Contains(faults.Error(), "hidden") {
		t.Errorf("a password is repeated: %v", faults)
	}
	for _, p := range faults {
		if p.Code == "feed.unknown_option" && !slices.Equal(p.Suggest, []string{"tenant"}) {
			t.Errorf("suggests %v", p.Suggest)
		}
	}
	fine := feed.Config{Name: "mine", Kind: "azure", Endpoint: "http://127.0.0.1:1/", Currency: "EUR", Regions: []string{"eastus"}}
	if faults := fine.Check(feed.Takes{Currency: true, Regions: true}); len(faults) > 0 {
		t.Errorf("faults %v in %+v", faults, fine)
	}
	if got := fine.Address("", "https://prices.azure.com"); got != "http://127.0.0.1:1" {
		t.Errorf("address %s", got)
	}
	if got := fine.Address("skus", "https://prices.azure.com"); got != "https://prices.azure.com" {
		t.Errorf("address %s", got)
	}
	if p := problem.All(feed.Empty("mine"))[0]; p.Code != "feed.empty" || p.Args["Source"] != "mine" {
		t.Errorf("%v", p)
	}
}

func TestFollow(t *testing.T) {
	from, err := url.Parse("https://prices.example.com/v1/list?page=1")
	if err != nil {
		t.Fatal(err)
	}
	for link, want := range map[string]string{
		"https://prices.example.com:443/v1/list?page=2": "https://prices.example.com:443/v1/list?page=2",
		"https://PRICES.example.com/v1/list?page=2":     "https://PRICES.example.com/v1/list?page=2",
		"/v1/list?page=2": "https://prices.example.com/v1/list?page=2",
		"?page=2":         "https://prices.example.com/v1/list?page=2",
		"https://prices.example.com/v1/list?page=1":    "",
		"http://prices.example.com/v1/list?page=2":     "",
		"https://prices.example.com:8443/?page=2":      "",
		"https://prices.example.com.evil.test/?page=2": "",
		"//evil.test/?page=2":                          "",
		"https://me@prices.example.com/?page=2":        "",
		"https://prices.example.com/\x7f":              "",
	} {
		to, err := feed.Follow(from, link)
		if (err == nil) != (want != "") || err == nil && to.String() != want {
			t.Errorf("Follow(%q) = %v, %v; want %q", link, to, err, want)
		}
	}
}
