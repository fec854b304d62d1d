package plan_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/rackrate/rackrate/internal/choose/plan/plantest"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// A candidate is an offer with a number of machines and a layout; offers of one hardware shape share its layouts, which are counted
// once here, so that candidates/s is a lower bound. Each offer, number of machines and way of paying is then priced. Parts of the
// embedded catalog, all of it, and as many regions as make a hundred thousand offers, for the work that has the most layouts and for
// those that have the most offers.
func BenchmarkSearch(b *testing.B) {
	cat, err := catalog.Embedded()
	if err != nil {
		b.Fatal(err)
	}
	for _, job := range []struct {
		name string
		w    *workload.Workload
	}{{"train", plantest.Train(b, "llama-3.1-70b")}, {"serve", plantest.Serve(b, "llama-3.1-70b", "fp8")}, {"batch", plantest.Batch(b, "llama-3.1-8b", "fp16")}} {
		for _, n := range []int{500, 2000, len(cat.Offers), 100_000} {
			b.Run(fmt.Sprintf("%s/%d", job.name, n), func(b *testing.B) {
				in := plantest.Input(job.w, crowd(cat.Offers, n)...)
				in.Top = 10
				candidates, layouts := 0, 0
				for b.Loop() {
					res := plantest.Search(b, in)
					candidates += res.Searched.Candidates
					layouts += res.Searched.Layouts
				}
				b.ReportMetric(float64(candidates)/b.Elapsed().Seconds(), "priced/s")
				b.ReportMetric(float64(layouts)/b.Elapsed().Seconds(), "candidates/s")
			})
		}
	}
}

// crowd is the last n of the offers, or these in ever more regions until there are n.
func crowd(offers []*catalog.Offer, n int) []*catalog.Offer {
	if n <= len(offers) {
		return offers[len(offers)-n:]
	}
	all := slices.Clone(offers)
	for i := 0; len(all) < n; i++ {
		o := *offers[i%len(offers)]
		o.Region = fmt.Sprintf("%s-%d", o.Region, i/len(offers))
		all = append(all, &o)
	}
	return all
}
