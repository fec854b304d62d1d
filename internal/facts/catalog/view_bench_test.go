package catalog

import (
	"fmt"
	"slices"
	"testing"

	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

// crowd is a vendor's snapshot of at least so many offers: the built-in ones in ever more regions.
func crowd(t require, offers int) *Snapshot {
	t.Helper()
	c, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	s := &Snapshot{Source: "crowd", Layer: Vendor, AsOf: "2026-12-01", Machines: c.Machines, Sources: slices.Clone(c.Sources)}
	s.Sources = append(s.Sources, Source{"crowd", "A crowd of offers", "made here", "2026-12-01", "not stated"})
	for n := 0; n*len(c.Offers) < offers; n++ {
		for _, r := range c.Rows() {
			if n > 0 {
				r.Region = fmt.Sprintf("%s-%d", r.Region, n)
			}
			if r.Price.Mode != "" {
				r.Price.AsOf, r.Price.Source = s.AsOf, s.Source
			}
			s.Rows = append(s.Rows, r)
		}
	}
	return s
}

// BenchmarkView is what each command pays for a store: unpacking a snapshot and laying it over the built-in catalog.
func BenchmarkView(b *testing.B) {
	builtIn, err := Embedded()
	if err != nil {
		b.Fatal(err)
	}
	for _, offers := range []int{10_000, 100_000} {
		packed, _ := pack(b, crowd(b, offers))
		b.Run(fmt.Sprintf("%d", offers), func(b *testing.B) {
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				s, err := ReadArchive("crowd", Vendor, "2026-12-01", packed, accelerator.Embedded())
				if err != nil {
					b.Fatal(err)
				}
				c, _ := Merge(builtIn, []*Snapshot{s}, "2026-12-01")
				n = len(c.Offers)
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "offers/s")
			b.ReportMetric(float64(len(packed)), "archive-bytes")
		})
	}
}
