package catalog

import (
	"cmp"
	"math"
	"slices"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

// scale is roughly what one US dollar buys of each currency that a catalog quotes, to within a fifth. It serves
// only to tell a price from a hundred or seven hundred times that price; conversion has its own dated table.
var scale = map[money.Currency]float64{
	money.USD: 1, money.EUR: 0.9, "GBP": 0.8, money.CNY: 7.2, "JPY": 150, "INR": 85, "KRW": 1400, "SGD": 1.35, "CAD": 1.4, "AUD": 1.55, "HKD": 7.8,
}

// priceBand is what one chip an hour can plausibly cost in USD, host included, by the chip's memory. The floors are
// about half the least auction or marketplace price seen, the roofs lie over the dearest list price seen with the largest host; a
// monthly price is 730 times and a price in cents 100 times too high, so both fall outside for all but odd cases.
func priceBand(chip *accelerator.Accelerator) (low, high float64) {
	gb, _ := chip.NominalGB.Get()
	switch {
	case gb <= 16:
		return 0.015, 8
	case gb <= 24:
		return 0.05, 10
	case gb <= 48:
		return 0.06, 16
	case gb <= 80:
		return 0.2, 24
	case gb <= 144:
		return 0.4, 30
	}
	return 0.8, 90
}

func (v *verifier) checkRate(o *Offer, p Price) {
	per, ok := scale[p.Hourly.Currency()]
	switch {
	case p.Hourly.Nanos() <= 0:
		v.price(o, p, ZeroPrice, nil)
		return
	case !ok:
		v.price(o, p, BadCurrency, problem.Args{"Currency": string(p.Hourly.Currency())})
		return
	case o.Accelerator == nil || !o.Accelerator.NominalGB.Known() || o.Count <= 0:
		return // reported with the machine
	}
	each := p.Hourly.Float() / per / o.Count
	low, high := priceBand(o.Accelerator)
	if o.Count < 1 {
		low, high = low/2, high*2 // a share of a chip carries a whole host's minimum
	}
	if each >= low && each <= high {
		return
	}
	args := problem.Args{"PerAccelerator": each, "Low": low, "High": high, "Looks": looksLike(each, low, high)}
	v.price(o, p, BadUnits, args)
}

// looksLike names the slip that would bring a price back into its band. Where two would, the commoner is named:
// cents before months, a second division by 730 before dollars taken for cents.
func looksLike(each, low, high float64) string {
	fits := func(f float64) bool { return each*f >= low*2 && each*f <= high/2 }
	switch {
	case fits(1.0 / 100):
		return "cents"
	case fits(1.0 / 730):
		return "monthly"
	case fits(730):
		return "divided_by_730"
	case fits(100):
		return "hundredth"
	}
	return "unknown"
}

// countGroup is what prices of machines with different counts may be compared within: one provider, place, chip, mode, currency, day
// and kind of host.
type countGroup struct {
	provider, region, zone string
	chip                   *accelerator.Accelerator
	mode                   BillingMode
	currency               money.Currency
	asOf                   string
	host                   float64
}

type countCell struct {
	o *Offer
	p *Price
}

// checkCounts compares machines of one place and chip whose hosts are alike and whose counts differ.
func (v *verifier) checkCounts(offers []*Offer) {
	groups := map[countGroup][]countCell{}
	for _, o := range offers {
		if o.Accelerator == nil || o.Count <= 0 {
			continue
		}
		key := countGroup{provider: o.Provider, region: o.Region, zone: o.Zone, chip: o.Accelerator, host: hostClass(o.Machine)}
		for i := range o.Prices {
			if p := &o.Prices[i]; p.Mode == OnDemand || p.Mode == Spot {
				key.mode, key.currency, key.asOf = p.Mode, p.Hourly.Currency(), p.AsOf
				groups[key] = append(groups[key], countCell{o, p})
			}
		}
	}
	for _, cells := range groups {
		v.checkGroup(cells)
	}
}

// checkGroup holds each cell against the cheapest one of the next smaller count: a provider that sells two series on one chip, one of
// them at a discount, is no fault.
func (v *verifier) checkGroup(cells []countCell) {
	slices.SortStableFunc(cells, func(c, d countCell) int {
		return cmp.Or(cmp.Compare(c.o.Count, d.o.Count), cmp.Compare(c.p.Hourly.Nanos(), d.p.Hourly.Nanos()))
	})
	smaller, cheapest := countCell{}, cells[0]
	for _, c := range cells {
		if c.o.Count > cheapest.o.Count {
			smaller, cheapest = cheapest, c
		}
		if smaller.o != nil {
			v.compareCounts(smaller, c)
		}
	}
}

// hostClass is the CPUs per chip to the nearest power of two: a big host explains a big price for one chip.
func hostClass(m *Machine) float64 {
	cpu, ok := m.VCPU.Get()
	if !ok || cpu <= 0 {
		return -1
	}
	return math.Round(math.Log2(cpu / m.Count))
}

// maxFall is how much the price of a chip may fall from one size to the next before it is doubted.
const maxFall = 0.40

func (v *verifier) compareCounts(small, big countCell) {
	a, b := small.p.Hourly.Float()/small.o.Count, big.p.Hourly.Float()/big.o.Count
	kind := SamePrice
	if small.p.Hourly != big.p.Hourly {
		if b >= a*(1-maxFall) || big.p.Mode != OnDemand { // spot prices of two sizes are two markets
			return
		}
		kind = FallingPrice
	}
	v.price(big.o, *big.p, kind, problem.Args{"PerAccelerator": b, "Other": small.o.InstanceType, "OtherPerAccelerator": a})
}
