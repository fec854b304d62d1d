package feed_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/connect/feed"
)

var kinds = []feed.Maker{{Kind: "aws"}, {Kind: "azure"}, {Kind: "skypilot"}, {Kind: "contract"}}

func TestParseConfigs(t *testing.T) {
	got, err := feed.ParseConfigs("sources.yaml", []byte(`# what we read
sources:
  azure:
    currency: eur
    regions: [westeurope, norwayeast]
  aws: {off: true}
  ours:
    kind: contract
    path: contracts/nordic.yaml
  mirror:
    kind: skypilot
    endpoint: https://mirror.example.com/catalogs/v8/
    providers: lambda
    endpoints: {spot: https://spot.example.com}
    options: {profile: prod, limit: 40}
`), kinds)
	if err != nil {
		t.Fatal(err)
	}
	want := []feed.Config{
		{Name: "azure", Kind: "azure", Currency: "EUR", Regions: []string{"westeurope", "norwayeast"}, Line: 3},
		{Name: "aws", Kind: "aws", Off: true, Line: 6},
		{Name: "ours", Kind: "contract", Path: "contracts/nordic.yaml", Line: 7},
		{Name: "mirror", Kind: "skypilot", Endpoint: "https://mirror.example.com/catalogs/v8/", Providers: []string{"lambda"},
			Endpoints: map[string]string{"spot": "https://spot.example.com"}, Options: map[string]string{"profile": "prod", "limit": "40"}, Line: 10},
	}
	for i := range want {
		want[i].File = "sources.yaml"
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseConfigsListsEveryFault(t *testing.T) {
	_, err := feed.ParseConfigs("s.yaml", []byte(`sources:
  azur: {}
  nordic: {kind: contracts}
  aws: {kind: azure}
  azure: {region: westeurope, off: perhaps}
  "our deal": {kind: contract}
  mirror: {kind: skypilot, options: [a], endpoint: {a: b}}
  mirror: {kind: skypilot}
source: {}
`), kinds)
	var got []string
	for _, p := range problem.All(err) {
		got = append(got, p.Code+" "+strings.Join(p.Suggest, ","))
		if p.File != "s.yaml" {
			t.Errorf("%v has no file", p)
		}
	}
	want := []string{
		"feed.unknown_kind azure", "feed.unknown_kind contract", "feed.name_is_kind ", "file.unknown_key regions",
		"file.bad_value ", "feed.bad_name ", "file.shape ", "file.not_mapping ", "file.twice ", "file.unknown_key sources",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if bad := feed.CheckName("built-in", nil); bad == nil || bad.Code != "feed.name_taken" {
		t.Errorf("the name of the built-in catalog: %v", bad)
	}
	if bad := feed.CheckName("mine", []string{"azure"}); bad != nil {
		t.Errorf("a free name: %v", bad)
	}
	for _, text := range []string{"", "sources:", "a: b", "sources: {}x", "- sources"} {
		if _, err := feed.ParseConfigs("s.yaml", []byte(text), kinds); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

func FuzzParseConfigs(f *testing.F) {
	f.Add([]byte("sources:\n  azure: {currency: EUR, regions: [a]}\n"))
	f.Add([]byte("sources: {a: {kind: aws, options: {b: 1}, off: true}}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := feed.ParseConfigs("s.yaml", data, kinds)
		if (all == nil) == (err == nil) && len(all) > 0 {
			t.Errorf("%v and %v", all, err)
		}
		for _, c := range all {
			if c.Line < 1 || c.Name == "" || !slices.ContainsFunc(kinds, func(m feed.Maker) bool { return m.Kind == c.Kind }) {
				t.Errorf("%+v", c)
			}
		}
	})
}
