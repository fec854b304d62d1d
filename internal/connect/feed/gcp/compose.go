package gcp

import (
	"errors"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/catalog/intake"
)

// rates are the prices of the parts, by region.
type rates struct {
	now      time.Time
	currency money.Currency
	of       map[string]map[key]*big.Rat
	seen     int
	passed   int
	bad      []intake.Rejection
}

type key struct {
	part
	mode catalog.BillingMode
}

func newRates(now time.Time, c money.Currency) *rates {
	return &rates{now: now, currency: c, of: map[string]map[key]*big.Rat{}}
}

// add takes SKUs. Of two prices for one part the dearer counts, so that nothing is promised for less than it may cost.
func (r *rates) add(skus []sku) {
	for i := range skus {
		s := &skus[i]
		r.seen++
		p, mode, ok := s.read()
		if !ok {
			r.passed++
			continue
		}
		price, err := s.hourly(p.kind, r.now, r.currency)
		if err != nil {
			r.reject(s, err)
			continue
		}
		if price.Sign() == 0 {
			r.bad = append(r.bad, intake.Rejection{Kind: intake.Kind(catalog.ZeroPrice), InstanceType: s.Description, At: r.place()})
			continue
		}
		for _, region := range s.Regions {
			if r.of[region] == nil {
				r.of[region] = map[key]*big.Rat{}
			}
			if old := r.of[region][key{p, mode}]; old == nil || price.Cmp(old) > 0 {
				r.of[region][key{p, mode}] = price
			}
		}
	}
}

func (r *rates) reject(s *sku, err error) {
	column, value, _ := strings.Cut(err.Error(), " ")
	want := "price"
	switch {
	case errors.Is(err, errUnit):
		want = "h, GiBy.h, GiBy.mo"
	case errors.Is(err, errCurrency):
		want = string(r.currency)
	}
	r.bad = append(r.bad, intake.Rejection{
		Kind: intake.Malformed, InstanceType: s.Description, At: r.place(),
		Args: problem.Args{"Column": column, "Value": strings.Trim(value, `"`), "Want": want},
	})
}

func (r *rates) place() intake.Place { return intake.Place{File: "skus", Line: r.seen} }

// price puts a machine together in a region: all of its parts in one way of paying, or nothing. What is promised for years
// are cores, memory and accelerators; local SSDs without such an offer are then paid for on demand.
func (r *rates) price(m *machine, region string, mode catalog.BillingMode) (money.Rate, bool) {
	total := new(big.Rat)
	for _, p := range []struct {
		part
		n *big.Rat
	}{
		{part{"core", m.host}, m.cores}, {part{"ram", m.host}, m.ram}, {part{"gpu", m.gpu}, m.n}, {part{kind: "ssd"}, m.disk},
	} {
		if p.n.Sign() == 0 || p.of == "" && p.kind != "ssd" { // a slice's host is in its price
			continue
		}
		rate := r.of[region][key{p.part, mode}]
		if rate == nil && p.kind == "ssd" && mode.Term() > 0 {
			rate = r.of[region][key{p.part, catalog.OnDemand}]
		}
		if rate == nil {
			return money.Rate{}, false
		}
		total.Add(total, new(big.Rat).Mul(rate, p.n))
	}
	rate, err := feed.PerHour(total, r.currency)
	return rate, err == nil && !rate.IsZero()
}

// emit hands over every machine of every wanted region that has a price, and gives the regions of those. A SKU's regions are those
// its price holds in, often a continent's; where a machine is not known to be sold, that is said.
func (r *rates) emit(to feed.Sink, wanted func(region string) bool, known map[[2]string]bool) (sold []string) {
	for _, bad := range r.bad {
		to.Reject(bad)
	}
	to.Pass(r.passed)
	for _, region := range slices.Sorted(maps.Keys(r.of)) {
		if !wanted(region) {
			continue
		}
		for i := range machines() {
			m := &machines()[i]
			l := m.listing(region)
			for _, mode := range m.modes {
				rate, ok := r.price(m, region, mode)
				if !ok {
					continue
				}
				p := catalog.Price{Mode: mode, Hourly: rate, Confidence: catalog.Listed}
				if !known[[2]string{m.name, region}] {
					p.Flags = []catalog.Flag{catalog.RegionUnconfirmed}
				}
				l.Prices = append(l.Prices, p)
			}
			if len(l.Prices) > 0 {
				to.Add(l)
				sold = append(sold, region)
			}
		}
	}
	return slices.Compact(sold)
}

// listing is a machine type as a row without prices.
func (m *machine) listing(region string) intake.Listing {
	n, _ := m.n.Float64()
	l := intake.Listing{
		Provider: vendor, InstanceType: m.name, Region: region, Accelerator: m.gpu, Count: n,
		At: intake.Place{File: "skus/" + region + "/" + m.name},
	}
	if c, ok := chipOf(m.gpu); ok {
		l.MiB = float64(c.memory) / float64(unit.GiB) * 1024
		if c.form != "" {
			l.Hints = []string{c.form}
		}
	}
	if cores, _ := m.cores.Float64(); cores > 0 {
		l.VCPU = unit.Some(cores)
	}
	if ram, _ := m.ram.Float64(); ram > 0 {
		l.RAM = unit.Some(unit.Bytes(ram * float64(unit.GiB)))
	}
	if disk, _ := m.disk.Float64(); disk > 0 {
		l.NVMe = unit.Some(unit.Bytes(disk * float64(unit.GiB)))
	}
	if strings.Contains(m.name, "+") {
		l.Flags = append(l.Flags, catalog.HostChosen)
	}
	return l
}
