package catalog

import (
	"cmp"
	"math"
	"slices"

	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

// Similar lists up to n other kinds of machine that could stand in for an offer, nearest first, each by its cheapest
// offer: of the same kind of device, by memory, bandwidth, bfloat16 rate, count and price. The order is a total one.
func (c *Catalog) Similar(o *Offer, n int) []*Offer {
	type hit struct {
		offer *Offer
		far   float64
	}
	best := map[*Machine]hit{}
	for _, x := range c.Offers {
		if x.Machine == o.Machine || x.Accelerator.Kind != o.Accelerator.Kind {
			continue
		}
		far := distance(o, x)
		if h, ok := best[x.Machine]; !ok || far < h.far {
			best[x.Machine] = hit{x, far}
		}
	}
	hits := make([]hit, 0, len(best))
	for _, m := range c.Machines {
		if h, ok := best[m]; ok {
			hits = append(hits, h)
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(a.far, b.far) })
	var out []*Offer
	for _, h := range hits[:min(n, len(hits))] {
		out = append(out, h.offer)
	}
	return out
}

// The weights of a doubling: memory decides whether a workload fits at all, so it counts most; a figure that one of
// the two lacks counts as one doubling apart, so that unknown machines are neither first nor left out.
const (
	weightMemory    = 3.0
	weightCount     = 2.0
	weightBandwidth = 2.0
	weightCompute   = 2.0
	weightPrice     = 1.0
)

func distance(a, b *Offer) float64 {
	x, y := a.Accelerator, b.Accelerator
	gbA, okA := x.NominalGB.Get()
	gbB, okB := y.NominalGB.Get()
	bwA, okC := x.Bandwidth.Get()
	bwB, okD := y.Bandwidth.Get()
	fA, okE := x.Peak[accelerator.BF16].Get()
	fB, okF := y.Peak[accelerator.BF16].Get()
	priceA, priceB := a.cheapest(), b.cheapest()
	return weightMemory*doublings(gbA, gbB, okA && okB) + weightCount*doublings(a.Count, b.Count, true) +
		weightBandwidth*doublings(float64(bwA), float64(bwB), okC && okD) +
		weightCompute*doublings(float64(fA), float64(fB), okE && okF) +
		weightPrice*doublings(priceA, priceB, priceA > 0 && priceB > 0)
}

func doublings(a, b float64, known bool) float64 {
	if !known || a <= 0 || b <= 0 {
		return 1
	}
	return math.Abs(math.Log2(a / b))
}

// cheapest is the on-demand price, else the least of the others, in rough US dollars for comparing only; 0 where unknown.
func (o *Offer) cheapest() float64 {
	least := 0.0
	for _, p := range o.Prices {
		per, ok := scale[p.Hourly.Currency()]
		if !ok {
			continue
		}
		usd := p.Hourly.Float() / per
		if p.Mode == OnDemand {
			return usd
		}
		if least == 0 || usd < least {
			least = usd
		}
	}
	return least
}
