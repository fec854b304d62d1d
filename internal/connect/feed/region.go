package feed

import (
	"maps"
	"slices"

	"github.com/rackrate/rackrate/internal/base/problem"
)

// Stranger is the problem of a region that the user named and a source has nothing in; near are those that may be meant.
func (c *Config) Stranger(region string, near []string) *problem.Error {
	return problem.New(problem.Input, "feed.no_region", problem.Args{"Source": c.Name, "Region": region}).
		With(problem.Nearest(region, near, 2)...).At(c.File, c.Line)
}

// Strangers are the regions that the user named and that are not among those a source has something in, each with its problem.
func (c *Config) Strangers(has, near []string) map[string]error {
	strangers := map[string]error{}
	for _, region := range c.Regions {
		if !slices.Contains(has, region) {
			strangers[region] = c.Stranger(region, near)
		}
	}
	return strangers
}

// Nothing is the problem of a source that has no rows: because it has nothing in the regions that the user named, or for no
// reason.
func (c *Config) Nothing(strangers map[string]error) error {
	if len(strangers) == 0 {
		return Empty(c.Name)
	}
	var all problem.List
	for _, region := range slices.Sorted(maps.Keys(strangers)) {
		all = append(all, problem.All(strangers[region])...)
	}
	return all
}

// Lose tells that regions could not be read, in the order of their names.
func Lose(to Sink, provider string, lost map[string]error) {
	for _, region := range slices.Sorted(maps.Keys(lost)) {
		to.Lost(provider, region, lost[region])
	}
}
