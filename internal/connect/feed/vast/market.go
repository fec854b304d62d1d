package vast

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/catalog/intake"
	"github.com/rackrate/rackrate/internal/facts/provider"
)

// market is the machines by what they are.
type market map[string]*kind

// kind is machines of the same GPUs: where they stand, with the least of what their hosts have, which differs.
type kind struct {
	listing intake.Listing
	places  map[string]*place
}

// place is the cheapest machines of a kind in a country.
type place struct {
	hourly, bid money.Rate
	at          intake.Place
}

// add takes a machine in: one row in each place stands for the others, which are passed.
func (m market) add(o *offer, at intake.Place, to feed.Sink) {
	reject := func(k intake.Kind) {
		to.Reject(intake.Rejection{Kind: k, InstanceType: o.GPU, Region: o.Place, At: at})
	}
	base := o.Base
	if base == "" {
		base = o.Total
	}
	hourly, err := feed.Hourly(string(base), 1, money.USD)
	count := o.Count.Float()
	switch {
	case err != nil, o.GPU == "", count < 1, count > 1024, count != math.Trunc(count):
		reject(intake.Malformed)
		return
	case hourly.IsZero():
		reject(intake.Kind(catalog.ZeroPrice))
		return
	}
	bid, err := feed.Hourly(string(o.Bid), 1, money.USD)
	if err != nil { // null: it cannot be bid for
		bid = money.Rate{}
	}
	k := m.kind(o, count)
	k.least(o)
	region := provider.Embedded().Region(vendor, o.Place).Country
	if region == "" {
		region = o.Place
	}
	p := k.places[region]
	if p == nil {
		k.places[region] = &place{hourly, bid, at}
		return
	}
	to.Pass(1)
	if hourly.Nanos() < p.hourly.Nanos() {
		p.hourly, p.at = hourly, at
	}
	if !bid.IsZero() && (p.bid.IsZero() || bid.Nanos() < p.bid.Nanos()) {
		p.bid = bid
	}
}

// kind is what a machine is named by, as the market has no names: 8x-H100_SXM-80GB. The memory is in it, as one GPU's name may
// stand for several sizes.
func (m market) kind(o *offer, count float64) *kind {
	name := fmt.Sprintf("%sx-%s", strconv.FormatFloat(count, 'f', -1, 64), strings.ReplaceAll(o.GPU, " ", "_"))
	if gib := math.Round(o.GPURAM.Float() / 1024); gib > 0 {
		name += fmt.Sprintf("-%.0fGB", gib)
	}
	k := m[name]
	if k == nil {
		k = &kind{places: map[string]*place{}, listing: intake.Listing{
			Provider: vendor, InstanceType: name, Accelerator: chip(o.GPU), MiB: o.GPURAM.Float(), Count: count,
			Flags: []catalog.Flag{catalog.Marketplace, catalog.HostVaries},
		}}
		m[name] = k
	}
	return k
}

// chip is a GPU's name as others write it. An H200 NVL is named so, which makes the other the SXM part.
func chip(name string) string {
	if name == "H200" {
		return "H200 SXM"
	}
	if rest, ok := strings.CutPrefix(name, "Q RTX "); ok {
		return "Quadro RTX " + rest
	}
	return name
}

// least lowers what is said of the hosts to those of one more machine. A machine gets its share of its host's RAM.
func (k *kind) least(o *offer) {
	cores, share := o.Effective.Float(), 0.0
	if all := o.Cores.Float(); all > 0 {
		share = cores / all
	}
	l := &k.listing
	if cores = math.Floor(cores); cores > 0 {
		l.VCPU = unit.Some(min(cores, l.VCPU.Or(math.Inf(1))))
	}
	if ram := o.RAM.Float() * min(share, 1); ram > 0 && ram < 1<<40 {
		l.RAM = unit.Some(min(unit.Bytes(ram)<<20, l.RAM.Or(math.MaxInt64)))
	}
}

// emit adds the cheapest machine of each kind and country, in these regions where there are any.
func (m market) emit(regions []string, to feed.Sink) {
	for _, k := range m {
		for region, p := range k.places {
			if len(regions) > 0 && !slices.Contains(regions, region) {
				to.Pass(1)
				continue
			}
			l := k.listing
			l.Region, l.At = region, p.at
			flags := []catalog.Flag{catalog.CheapestSeller, catalog.InStock}
			if region == "" {
				flags = append(flags, catalog.RegionUnconfirmed)
			}
			l.Prices = []catalog.Price{{Mode: catalog.OnDemand, Hourly: p.hourly, Confidence: catalog.Listed, Flags: flags}}
			if !p.bid.IsZero() {
				l.Prices = append(l.Prices, catalog.Price{Mode: catalog.Spot, Hourly: p.bid, Confidence: catalog.Listed, Flags: flags})
			}
			to.Add(l)
		}
	}
}
