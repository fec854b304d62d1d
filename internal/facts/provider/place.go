package provider

import (
	"slices"
	"strings"

	"github.com/rackrate/rackrate/internal/base/problem"
)

// country is a state or territory with the short names of its privacy laws: an aid to shortlisting, not legal advice.
type country struct {
	code, name, nameZH, group string
	laws                      []string
}

var countryColumns = []string{"code", "name", "name_zh", "aliases", "group", "laws", "as_of", "source"}

// baseGroups are the parts of the world a country is in exactly one of. Mainland China is its own part and
// Hong Kong, Macao and Taiwan are in asia, as their data laws differ. eea is what the EEA has beyond the EU.
var baseGroups = []string{"eu", "eea", "europe", "na", "sa", "asia", "cn", "me", "africa", "oceania"}

// groups are what users may name. Where a group and a country share a code (na Namibia, sa Saudi Arabia, me
// Montenegro), the group is meant: the country has a name.
var groups = []struct {
	names []string
	of    []string // base groups
}{
	{[]string{"eu", "european union", "欧盟"}, []string{"eu"}},
	{[]string{"eea", "european economic area", "欧洲经济区"}, []string{"eu", "eea"}},
	{[]string{"europe", "欧洲"}, []string{"eu", "eea", "europe"}},
	{[]string{"na", "north america", "北美", "北美洲"}, []string{"na"}},
	{[]string{"sa", "south america", "南美", "南美洲"}, []string{"sa"}},
	{[]string{"americas", "美洲"}, []string{"na", "sa"}},
	{[]string{"asia", "亚洲"}, []string{"asia", "cn"}},
	{[]string{"apac", "asia pacific", "亚太"}, []string{"asia", "cn", "oceania"}},
	{[]string{"me", "middle east", "中东"}, []string{"me"}},
	{[]string{"africa", "非洲"}, []string{"africa"}},
	{[]string{"emea"}, []string{"eu", "eea", "europe", "me", "africa"}},
	{[]string{"oceania", "大洋洲"}, []string{"oceania"}},
}

func (t *Table) addCountry(r row) {
	c := &country{
		code: r.need("code"), name: r.need("name"), nameZH: r.need("name_zh"),
		group: r.oneOf("group", baseGroups...), laws: r.list("laws"),
	}
	r.need("source")
	r.date("as_of")
	if len(c.code) != 2 || c.code != strings.ToUpper(c.code) {
		r.bad("code", "US")
	}
	t.countries[c.code] = c
	for _, name := range append([]string{c.code, c.name, c.nameZH}, r.list("aliases")...) {
		key := fold(name)
		if other, taken := t.places[key]; taken && other.Name != c.code {
			r.fault("data.duplicate", problem.Args{"Key": name})
		}
		t.places[key] = Place{Name: c.code, countries: []string{c.code}}
	}
}

// indexPlaces adds the groups after all countries, over the codes they share.
func (t *Table) indexPlaces() {
	for _, g := range groups {
		place := Place{Name: g.names[0]}
		for code, c := range t.countries {
			if slices.Contains(g.of, c.group) {
				place.countries = append(place.countries, code)
			}
		}
		slices.Sort(place.countries)
		for _, name := range g.names {
			t.places[fold(name)] = place
		}
	}
}

// Place is where a machine, or the company that rents it, may be: one region by its id, or a set of countries.
type Place struct {
	Name      string // canonical: eu, CN, us-east-1
	countries []string
	regionID  bool
}

// Contains says whether a region is in the place. A region of unknown country is in no country and no group.
func (p Place) Contains(r Region) bool {
	if p.regionID {
		return r.ID != "" && strings.EqualFold(r.ID, p.Name)
	}
	return p.ContainsCountry(r.Country)
}

// ContainsCountry says whether a country, by its code, is in the place.
func (p Place) ContainsCountry(code string) bool { return slices.Contains(p.countries, code) }

// Place reads a place: a group (eu, asia, 欧盟), a country by code or name (DE, Germany, 德国), or the id of a
// region, in any case. A word that is both is the country or group. The error is provider.unknown_place.
func (t *Table) Place(text string) (Place, error) {
	if p, ok := t.lookUp(text); ok {
		return p, nil
	}
	return Place{}, problem.New(problem.Input, "provider.unknown_place", problem.Args{"Place": text}).
		With(problem.Nearest(text, t.placeNames(), 3)...)
}

// lookUp is Place without the suggestions, which are dear.
func (t *Table) lookUp(text string) (Place, bool) {
	if p, ok := t.places[fold(text)]; ok {
		return p, true
	}
	want := strings.TrimSpace(text)
	if id, ok := t.regionIDs[strings.ToLower(want)]; ok {
		return Place{Name: id, regionID: true}, true
	}
	// A free-text name of a marketplace ("Texas, US, NA") is a region although no row lists it.
	if t.countryInName(want) != "" {
		return Place{Name: want, regionID: true}, true
	}
	return Place{}, false
}

// placeNames lists what Place understands, for suggestions.
func (t *Table) placeNames() []string {
	var names []string
	for _, g := range groups {
		names = append(names, g.names[0])
	}
	for _, c := range t.countries {
		names = append(names, c.name, c.nameZH)
	}
	for _, p := range t.providers {
		for _, r := range t.regions[p.ID] {
			names = append(names, r.ID)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// AnyPlace tells the regions that are in one of the places that the words name. The words are read once, so that thousands of
// regions can be asked about.
func (t *Table) AnyPlace(words ...string) func(Region) bool {
	places := make([]Place, len(words))
	for i, want := range words {
		p, err := t.Place(want)
		if err != nil { // a region the caller knows and no row lists, by its own id
			p = Place{Name: strings.TrimSpace(want), regionID: true}
		}
		places[i] = p
	}
	return func(r Region) bool {
		return slices.ContainsFunc(places, func(p Place) bool { return p.Contains(r) })
	}
}

// ValidPlace says whether want names a place, and what was probably meant where it does not.
func (t *Table) ValidPlace(want string) (ok bool, suggestions []string) {
	_, err := t.Place(want)
	if err == nil {
		return true, nil
	}
	return false, problem.All(err)[0].Suggest
}
