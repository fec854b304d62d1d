package workload

import (
	"slices"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/model"
	"github.com/rackrate/rackrate/internal/facts/provider"
	"github.com/rackrate/rackrate/internal/facts/software"
)

// EmbeddedFacts are the facts built into the program.
func EmbeddedFacts() Facts {
	chips, places, soft := accelerator.Embedded(), provider.Embedded(), software.Embedded()
	return Facts{
		Model:         model.Embedded().Get,
		ModelConfig:   model.ParseConfig,
		Format:        model.LookupFormat,
		Chip:          chips.One,
		Selectors:     chips.ParseSelectors,
		Provider:      found(func(text string) (string, error) { p, err := places.Find(text); return idOf(p), err }),
		Place:         found(func(text string) (string, error) { p, err := places.Place(text); return p.Name, err }),
		Residency:     lawIn(places.Laws()),
		Certification: nameIn(places.Certifications()),
		Framework:     found(soft.FindFramework),
		Need:          found(soft.FindNeed),
		Stack:         nameIn(stacksOf(chips.All())),
		Laws:          func(place string) ([]string, bool) { return lawsIn(places, place) },
		Currency:      func(code money.Currency) bool { return provider.EmbeddedExchange().Knows(code) },
	}
}

func idOf(p *provider.Provider) string {
	if p == nil {
		return ""
	}
	return p.ID
}

// found makes a Lookup of a search whose error carries the suggestions.
func found(find func(string) (string, error)) Lookup {
	return func(text string) (string, []string, bool) {
		name, err := find(text)
		if err != nil {
			return "", problem.All(err)[0].Suggest, false
		}
		return name, nil, true
	}
}

// nameIn finds one of a list, whatever its case and punctuation.
func nameIn(names []string) Lookup {
	return func(text string) (string, []string, bool) {
		for _, n := range names {
			if plainName(n) == plainName(text) {
				return n, nil, true
			}
		}
		near := problem.Nearest(text, names, 3)
		if len(near) == 0 && len(names) <= 24 {
			near = names
		}
		return "", near, false
	}
}

// lawIn also takes a law without its country, as in PIPL for CN-PIPL, where only one country's law is called so.
func lawIn(laws []string) Lookup {
	whole := nameIn(laws)
	return func(text string) (string, []string, bool) {
		name, near, ok := whole(text)
		if ok {
			return name, nil, true
		}
		var ends []string
		for _, law := range laws {
			if _, end, cut := strings.Cut(law, "-"); cut && plainName(end) == plainName(text) {
				ends = append(ends, law)
			}
		}
		if len(ends) == 1 {
			return ends[0], nil, true
		}
		return "", append(ends, near...), false
	}
}

func plainName(s string) string {
	return strings.NewReplacer("-", "", "_", "", " ", "", ".", "", "/", "").Replace(strings.ToLower(s))
}

// lawsIn lists the laws that the known regions of a place are under.
func lawsIn(t *provider.Table, place string) ([]string, bool) {
	p, err := t.Place(place)
	if err != nil {
		return nil, false
	}
	var laws []string
	known := false
	for _, company := range t.Providers() {
		for _, region := range t.Regions(company.ID) {
			if p.Contains(region) {
				known = known || region.Country != ""
				laws = append(laws, region.Tags...)
			}
		}
	}
	slices.Sort(laws)
	return slices.Compact(laws), known
}

func stacksOf(chips []*accelerator.Accelerator) []string {
	var names []string
	for _, c := range chips {
		if c.Stack != "" {
			names = append(names, c.Stack)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
