package provider

import (
	"cmp"
	"io/fs"
	"slices"
	"sync"

	"github.com/rackrate/rackrate/data"
	"github.com/rackrate/rackrate/internal/base/problem"
)

// Table is every provider, region and country known. It is not changed once loaded, so that any number of
// goroutines may read it.
type Table struct {
	providers []*Provider          // by id
	byID      map[string]*Provider // exact
	byName    map[string]*Provider // folded id, names and aliases
	regions   map[string][]Region  // of a provider, by id
	regionIDs map[string]string    // of any provider, by lower case
	countries map[string]*country  // by code
	places    map[string]Place     // folded names of countries and groups
	laws      []string             // sorted
	hazards   map[hazardKey]hazard
	seen      map[hazardKey]*Seen // by the store's own readings
}

// Load reads the facts from the files below fsys, and reports all the faults of all of them.
func Load(fsys fs.FS) (*Table, error) {
	t := &Table{
		byID: map[string]*Provider{}, byName: map[string]*Provider{}, regions: map[string][]Region{}, regionIDs: map[string]string{},
		countries: map[string]*country{}, places: map[string]Place{}, hazards: make(map[hazardKey]hazard, 2000),
	}
	var faults problem.List
	// In this order: later files name countries and providers of earlier ones.
	for _, part := range []struct {
		file    string
		columns []string
		add     func(*Table, row)
	}{
		{"countries.csv", countryColumns, (*Table).addCountry},
		{"providers.csv", providerColumns, (*Table).addProvider},
		{"storage_prices.csv", priceColumns, (*Table).addPrice},
		{"regions.csv", regionColumns, (*Table).addRegion},
		{"spot_interruption.csv", hazardColumns, (*Table).addHazard},
	} {
		raw, err := fs.ReadFile(fsys, part.file)
		if err != nil {
			faults = append(faults, problem.New(problem.Input, "data.unreadable", nil).At(part.file, 0).Wrap(err))
			continue
		}
		s := &sheet{file: part.file}
		s.each(raw, part.columns, func(r row) { part.add(t, r) })
		faults = append(faults, s.faults...)
	}
	if err := faults.OrNil(); err != nil {
		return nil, err
	}
	t.index()
	return t, nil
}

// index sorts what is listed and names the groups of countries; files may come in any order.
func (t *Table) index() {
	slices.SortFunc(t.providers, func(a, b *Provider) int { return cmp.Compare(a.ID, b.ID) })
	for _, rs := range t.regions {
		slices.SortFunc(rs, func(a, b Region) int { return cmp.Compare(a.ID, b.ID) })
	}
	for _, c := range t.countries {
		t.laws = append(t.laws, c.laws...)
	}
	slices.Sort(t.laws)
	t.laws = slices.Compact(t.laws)
	t.indexPlaces()
}

// Embedded is the table built into the program.
var Embedded = sync.OnceValue(func() *Table {
	t, err := Load(data.FS)
	if err != nil {
		panic(err) // the embedded files are checked by this package's tests
	}
	return t
})

// Provider finds a provider by its exact id.
func (t *Table) Provider(id string) (*Provider, bool) {
	p, ok := t.byID[id]
	return p, ok
}

// Providers lists all providers by id.
func (t *Table) Providers() []*Provider { return slices.Clone(t.providers) }

// Named is Find for those who have no use for suggestions, which take a while to find.
func (t *Table) Named(text string) (*Provider, bool) {
	p, ok := t.byName[fold(text)]
	return p, ok
}

// Find finds a provider by the name people write: an id, a name in English or Chinese, or another usual name,
// whatever its case and punctuation. The error is provider.unknown with suggestions.
func (t *Table) Find(text string) (*Provider, error) {
	if p, ok := t.Named(text); ok {
		return p, nil
	}
	names := make([]string, 0, 2*len(t.providers))
	for _, p := range t.providers {
		names = append(names, p.ID, p.Name)
	}
	var ids []string
	for _, name := range problem.Nearest(text, names, 6) {
		if id := t.byName[fold(name)].ID; !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return nil, problem.New(problem.Input, "provider.unknown", problem.Args{"Name": text}).With(ids[:min(3, len(ids))]...)
}

// Regions lists the regions of a provider by id; nil for a provider without known regions.
func (t *Table) Regions(provider string) []Region { return slices.Clone(t.regions[provider]) }

// Region finds a region by provider and id. One that is not listed is read off its own name where that has a
// known form ("Texas, US, NA"), as marketplaces name places freely; else its country stays unknown, and an
// unknown country satisfies no limit on places or laws.
func (t *Table) Region(provider, id string) Region {
	rs := t.regions[provider]
	if i, ok := slices.BinarySearchFunc(rs, id, func(r Region, id string) int { return cmp.Compare(r.ID, id) }); ok {
		return rs[i]
	}
	r := Region{Provider: provider, ID: id}
	if code := t.countryInName(id); code != "" {
		r.Source = DerivedSource
		t.locate(&r, code, nil)
	}
	return r
}

// Laws lists the law tags that some known country has.
func (t *Table) Laws() []string { return slices.Clone(t.laws) }

// Certifications lists the certifications that some provider holds.
func (t *Table) Certifications() []string {
	var all []string
	for _, p := range t.providers {
		all = append(all, p.Certifications...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
