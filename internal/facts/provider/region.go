package provider

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
)

// DerivedSource is the source of a region that no row lists and whose country is read off its own name.
const DerivedSource = "derived from the region's name"

var regionColumns = []string{
	"provider", "region", "name", "country", "extra_laws", "grid_g_per_kwh", "pue", "cfe_percent", "as_of", "source",
}

func (t *Table) addRegion(r row) {
	reg := Region{
		Provider: r.need("provider"), ID: r.need("region"), Name: r.text("name"),
		PUE: r.number("pue", 1, 3), CarbonFree: r.number("cfe_percent", 0, 100),
		Source: r.need("source"), AsOf: r.date("as_of"),
	}
	if g, ok := r.number("grid_g_per_kwh", 0, 2000).Get(); ok {
		reg.Grid = unit.Some(unit.GramsPerKWh(g))
	}
	if t.byID[reg.Provider] == nil {
		r.bad("provider", "providers.csv")
	}
	code := r.text("country")
	if code != "" && t.countries[code] == nil {
		r.bad("country", "countries.csv")
		return
	}
	t.locate(&reg, code, r.list("extra_laws"))
	others := t.regions[reg.Provider]
	if slices.ContainsFunc(others, func(o Region) bool { return o.ID == reg.ID }) {
		r.fault("data.duplicate", problem.Args{"Key": reg.Provider + " " + reg.ID})
	}
	t.regions[reg.Provider] = append(others, reg)
	t.regionIDs[strings.ToLower(reg.ID)] = reg.ID
}

// locate puts a region into a country; an empty code leaves everything that follows from it unknown.
func (t *Table) locate(r *Region, code string, extraLaws []string) {
	r.Country = code
	if c := t.countries[code]; c != nil {
		r.Group = c.group
		r.Tags = append(slices.Clone(c.laws), extraLaws...)
	}
}

// GridMean is a stand-in for a grid's carbon intensity where a region publishes none.
type GridMean struct {
	Grid    unit.GramsPerKWh
	Regions int    // how many published figures it is the mean of
	Source  string // "mean of N published regions in CC"
}

// GridFallback is the mean of the figures that any provider publishes for its regions in a country; false
// where there is none. Show it as such: regions of one country may sit on very different grids.
func (t *Table) GridFallback(country string) (GridMean, bool) {
	var sum float64
	n := 0
	if country != "" {
		for _, p := range t.providers { // in a fixed order, so that the sum is the same every time
			for _, r := range t.regions[p.ID] {
				if g, ok := r.Grid.Get(); ok && r.Country == country {
					sum += float64(g)
					n++
				}
			}
		}
	}
	if n == 0 {
		return GridMean{}, false
	}
	return GridMean{
		Grid: unit.GramsPerKWh(sum / float64(n)), Regions: n,
		Source: fmt.Sprintf("mean of %d published regions in %s", n, country),
	}, true
}
