package provider_test

import (
	"slices"
	"testing"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/provider"
	"pgregory.net/rapid"
)

func TestRegionCountry(t *testing.T) {
	for _, c := range []struct{ provider, id, country string }{
		{"aws", "eu-west-1", "IE"}, {"aws", "us-east-1-lim-1", "PE"}, {"aws", "eu-west-3-wl1-cmn1", "MA"},
		{"gcp", "me-central1", "QA"}, {"azure", "northeurope", "IE"}, {"azure", "belgiumcentral", "BE"},
		{"nebius", "eu-north1", "FI"}, {"verda", "ICE-01", "IS"}, {"ovhcloud", "BHS", "CA"}, {"oci", "eu-zurich-1", "CH"},
		{"alibaba", "cn-hongkong", "HK"}, {"seeweb", "ch-lug1", "CH"},
		// read off the name
		{"vast", "Texas, US, NA", "US"}, {"vast", ", CN, AS", "CN"}, {"vast", "France, FR, EU", "FR"},
		{"vast", "Georgia, US, NA", "US"}, {"vast", "Japan, JP", "JP"}, {"vast", "Namibia, NA", ""}, {"vast", "Alberta, CA, NA", "CA"},
		{"runpod", "EU-RO-1", "RO"}, {"runpod", "EUR-IS-2", "IS"}, {"runpod", "US-DE-1", "US"}, {"runpod", "CA-MTL-1", "CA"},
		{"spheron", "helsinki-finland-9", "FI"}, {"spheron", "atlanta-georgia-1", ""}, {"simplepod", "Europe-DE", "DE"},
		{"lium", "SE", "SE"},
		{"primeintellect", "IS", "IS"}, {"lambda", "me-west-1", "IL"}, {"lambda", "asia-northeast-1", "JP"}, {"ovhcloud", "FRA", "DE"},
		{"matpool", "CN", "CN"},
		// not certain
		{"daytona", "earth", ""}, {"lambda", "europe-south-1", ""}, {"aws", "us-west-9", ""}, {"vast", "", ""},
	} {
		if got := provider.Embedded().Region(c.provider, c.id); got.Country != c.country {
			t.Errorf("%s %q is in %q, want %q", c.provider, c.id, got.Country, c.country)
		}
	}
}

func TestDerivedRegion(t *testing.T) {
	r := provider.Embedded().Region("vast", "Bavaria, DE, EU")
	if r.Source != provider.DerivedSource || r.Group != "eu" || !r.Under("gdpr") || r.Grid.Known() {
		t.Errorf("%+v", r)
	}
	if u := provider.Embedded().Region("vast", "somewhere"); u.Source != "" || u.Tags != nil {
		t.Errorf("nothing is known of this place: %+v", u)
	}
}

func TestAnyPlace(t *testing.T) {
	table := provider.Embedded()
	for _, c := range []struct {
		provider, id, want string
		match              bool
	}{
		{"aws", "eu-west-1", "eu", true}, {"aws", "eu-west-1", "EU-WEST-1", true}, {"aws", "eu-west-1", "Ireland", true},
		{"aws", "eu-west-1", "爱尔兰", true}, {"aws", "eu-west-1", "欧盟", true}, {"aws", "eu-west-1", "de", false},
		{"aws", "eu-west-2", "eu", false}, {"aws", "eu-west-2", "europe", true}, {"aws", "eu-west-2", "uk", true},
		{"aws", "eu-central-2", "eea", false}, {"verda", "ICE-01", "eea", true}, {"verda", "ICE-01", "eu", false},
		{"alibaba", "cn-beijing", "中国", true}, {"alibaba", "cn-beijing", "asia", true}, {"alibaba", "cn-hongkong", "cn", false},
		{"alibaba", "cn-hongkong", "apac", true}, {"aws", "ap-southeast-2", "apac", true}, {"aws", "ap-southeast-2", "asia", false},
		{"aws", "us-east-1", "USA", true}, {"aws", "us-east-1", "na", true}, {"aws", "us-east-1", "美国", true},
		{"gcp", "me-central2", "sa", false}, {"gcp", "me-central2", "Saudi Arabia", true}, {"gcp", "southamerica-east1", "sa", true},
		{"primeintellect", "IS", "Iceland", true}, {"primeintellect", "IL", "Iceland", false},
		{"vast", "Texas, US, NA", "us", true}, {"vast", "Texas, US, NA", "texas, us, na", true},
		{"daytona", "earth", "earth", true}, {"daytona", "earth", "eu", false}, {"aws", "eu-west-1", "atlantis", false},
	} {
		if got := table.AnyPlace(c.want)(table.Region(c.provider, c.id)); got != c.match {
			t.Errorf("%s %s in %q: %v", c.provider, c.id, c.want, got)
		}
	}
}

func TestValidPlace(t *testing.T) {
	table := provider.Embedded()
	for _, want := range []string{"eu", "EU", "us-east-1", "Germany", "德国", "亚太", "cn", "GRA", "Texas, US, NA"} {
		if ok, _ := table.ValidPlace(want); !ok {
			t.Errorf("%q is a place", want)
		}
	}
	for want, meant := range map[string]string{"germny": "Germany", "us-esat-1": "us-east-1"} {
		ok, suggestions := table.ValidPlace(want)
		if ok || !slices.Contains(suggestions, meant) {
			t.Errorf("%q: %v, suggests %v", want, ok, suggestions)
		}
	}
}

func TestLaws(t *testing.T) {
	table := provider.Embedded()
	if r := table.Region("aws", "us-gov-west-1"); !r.Under("US-GovCloud") || !r.Under("us") {
		t.Errorf("%v", r.Tags)
	}
	if r := table.Region("alibaba", "cn-beijing"); !r.Under("PIPL") || !r.Under("CN-DSL") || r.Under("GDPR") || r.Under("") {
		t.Errorf("%v", r.Tags)
	}
	if r := table.Region("aws", "eu-west-2"); !r.Under("UK-GDPR") {
		t.Errorf("%v", r.Tags)
	}
	if !slices.Contains(table.Laws(), "GDPR") {
		t.Errorf("%v", table.Laws())
	}
}

// A British region is under the UK's own GDPR, which does not satisfy a demand for the EU's.
func TestUKIsNotGDPR(t *testing.T) {
	if provider.Embedded().Region("aws", "eu-west-2").Under("GDPR") {
		t.Error("UK-GDPR counts as GDPR")
	}
}

func TestGrid(t *testing.T) {
	table := provider.Embedded()
	if g := table.Region("gcp", "us-central1").Grid; g != unit.Some(unit.GramsPerKWh(412.72)) {
		t.Errorf("gcp us-central1 %v", g)
	}
	if r := table.Region("azure", "northeurope"); r.Grid.Known() {
		t.Error("the only figure found for Azure North Europe is another country's")
	}
	if table.Region("oci", "eu-frankfurt-1").Grid.Known() {
		t.Error("Oracle publishes no grid figure")
	}
	mean, ok := table.GridFallback("DE")
	if !ok || mean.Regions < 2 || mean.Grid < 200 || mean.Grid > 500 {
		t.Errorf("%+v", mean)
	}
	if _, ok := table.GridFallback(""); ok {
		t.Error("an unknown country has no grid")
	}
}

// Azure publishes its yearly market-based claim, which is another measure than Google's hourly one; one region
// has an hourly figure.
func TestCarbonFreeIsHourlyOnly(t *testing.T) {
	for _, r := range provider.Embedded().Regions("azure") {
		if r.CarbonFree.Known() && r.ID != "swedencentral" {
			t.Errorf("%s has a carbon-free share", r.ID)
		}
	}
}

// Whatever text names a place: no panic; a valid one matches itself by AnyPlace's own reading; and a region
// of unknown country is in no country and no group.
func TestPlaceProperties(t *testing.T) {
	table := provider.Embedded()
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"eu", "us", "apac", "德国", "GRA"})).Draw(t, "want")
		p, err := table.Place(want)
		ok, suggestions := table.ValidPlace(want)
		if ok != (err == nil) || ok && suggestions != nil || len(suggestions) > 3 {
			t.Fatalf("%q: %v, %v, %v", want, err, ok, suggestions)
		}
		if p.ContainsCountry("") {
			t.Fatalf("%q contains an unknown country", want)
		}
	})
}

// Every region of a group's members is in the group, and groups only grow: eu in eea in europe.
func TestGroupsNest(t *testing.T) {
	table := provider.Embedded()
	for _, p := range table.Providers() {
		for _, r := range table.Regions(p.ID) {
			eu, eea, europe := table.AnyPlace("eu")(r), table.AnyPlace("eea")(r), table.AnyPlace("europe")(r)
			if eu && !eea || eea && !europe {
				t.Errorf("%s %s: eu %v, eea %v, europe %v", r.Provider, r.ID, eu, eea, europe)
			}
			if r.Country != "" && !table.AnyPlace(r.Country)(r) && !slices.Contains([]string{"NA", "SA", "ME"}, r.Country) {
				t.Errorf("%s %s is not in %s", r.Provider, r.ID, r.Country)
			}
		}
	}
}

func FuzzPlace(f *testing.F) {
	for _, s := range []string{"eu", "Texas, US, NA", "EU-RO-1", "frankfurt-germany-6", "", ",,", "US-CA-2", "欧盟"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		table := provider.Embedded()
		r := table.Region("vast", text)
		if r.Country == "" && (r.Tags != nil || r.Group != "") {
			t.Fatalf("%q: laws without a country", text)
		}
		table.AnyPlace(text)(r)
	})
}
