package provider

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// WithOffered gives the table with the providers and regions of offers that came from outside, by provider and region id: of those
// that it does not have, nothing is known but their names, and what a region's own name says.
func (t *Table) WithOffered(offered map[string][]string) *Table {
	out := *t
	grown := false // the maps are the table's own until something is new
	grow := func() {
		if !grown {
			grown = true
			out.byID, out.byName = maps.Clone(t.byID), maps.Clone(t.byName)
			out.regions, out.regionIDs = maps.Clone(t.regions), maps.Clone(t.regionIDs)
			out.providers = slices.Clone(t.providers)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(offered)) {
		if out.byID[id] == nil {
			grow()
			p := &Provider{ID: id, Name: id}
			out.byID[id] = p
			out.providers = append(out.providers, p)
			if key := fold(id); out.byName[key] == nil {
				out.byName[key] = p
			}
		}
		var more []Region
		for _, region := range offered[id] {
			known := slices.ContainsFunc(t.regions[id], func(r Region) bool { return r.ID == region })
			if region == "" || known || slices.ContainsFunc(more, func(r Region) bool { return r.ID == region }) {
				continue
			}
			grow()
			more = append(more, t.Region(id, region))
			if key := strings.ToLower(region); out.regionIDs[key] == "" {
				out.regionIDs[key] = region
			}
		}
		if len(more) > 0 {
			out.regions[id] = append(slices.Clone(t.regions[id]), more...)
			slices.SortFunc(out.regions[id], func(a, b Region) int { return cmp.Compare(a.ID, b.ID) })
		}
	}
	if !grown {
		return t
	}
	slices.SortFunc(out.providers, func(a, b *Provider) int { return cmp.Compare(a.ID, b.ID) })
	return &out
}
