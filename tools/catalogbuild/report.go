package main

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// report is what a maintainer reads after a rebuild: what came in, what came out, what was left out and why.
type report struct {
	in      map[string]int            // accelerator rows read, by provider
	out     map[string][2]int         // offers and priced offers, by provider
	leftOut map[string]map[string]int // reasons, by provider
	faults  map[string]int            // Verify's findings, by severity and kind
}

func newReport() *report {
	return &report{in: map[string]int{}, out: map[string][2]int{}, leftOut: map[string]map[string]int{}, faults: map[string]int{}}
}

func (r *report) left(provider, why string) {
	if r.leftOut[provider] == nil {
		r.leftOut[provider] = map[string]int{}
	}
	r.leftOut[provider][why]++
}

func (r *report) count(c *catalog.Catalog) {
	for _, o := range c.Offers {
		n := r.out[o.Provider]
		n[0]++
		if len(o.Prices) > 0 {
			n[1]++
		}
		r.out[o.Provider] = n
	}
}

func (r *report) print(w io.Writer) {
	fmt.Fprintf(w, "%-16s %7s %7s %7s\n", "provider", "rows in", "offers", "priced")
	var total [3]int
	providers := slices.Sorted(maps.Keys(r.in))
	for p := range r.out {
		if _, ok := r.in[p]; !ok {
			providers = append(providers, p)
		}
	}
	slices.Sort(providers)
	for _, p := range providers {
		fmt.Fprintf(w, "%-16s %7d %7d %7d\n", p, r.in[p], r.out[p][0], r.out[p][1])
		total = [3]int{total[0] + r.in[p], total[1] + r.out[p][0], total[2] + r.out[p][1]}
	}
	fmt.Fprintf(w, "%-16s %7d %7d %7d\n\nleft out:\n", "total", total[0], total[1], total[2])
	for _, p := range slices.Sorted(maps.Keys(r.leftOut)) {
		for _, why := range slices.Sorted(maps.Keys(r.leftOut[p])) {
			fmt.Fprintf(w, "%6d  %s: %s\n", r.leftOut[p][why], p, why)
		}
	}
	fmt.Fprintln(w, "\nfindings:")
	for _, k := range slices.Sorted(maps.Keys(r.faults)) {
		fmt.Fprintf(w, "%6d  %s\n", r.faults[k], k)
	}
}
