package plan

import (
	"slices"
	"strings"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/provider"
)

// limit is one hard limit on an offer; false comes with what was missed. An unknown fact never satisfies a limit.
type limit func(o *catalog.Offer, p *place) (miss, bool)

// compileLimits turns the workload's limits into checks, in the order their misses are reported in. A limit that is not set
// adds no check, so that relaxing one can only gain plans.
func (s *search) compileLimits() []limit {
	var ls []limit
	for _, group := range [...]func() []limit{s.whereLimits, s.whoLimits, s.machineLimits, s.softwareLimits} {
		ls = append(ls, group()...)
	}
	return ls
}

func must(reason Reason, wanted string, holds func(o *catalog.Offer, p *place) bool) limit {
	return func(o *catalog.Offer, p *place) (miss, bool) {
		return miss{reason: reason, text: wanted, quantity: "text"}, holds(o, p)
	}
}

// atLeast checks a figure; one that is not known counts as 0.
func atLeast(reason Reason, quantity string, want float64, have func(o *catalog.Offer, p *place) float64) limit {
	return func(o *catalog.Offer, p *place) (miss, bool) {
		v := have(o, p)
		return miss{reason: reason, have: v, want: want, quantity: quantity}, v >= want
	}
}

func (s *search) whereLimits() (ls []limit) {
	l := s.Workload.Limits
	if len(l.Regions) > 0 {
		in := s.Providers.AnyPlace(l.Regions...)
		ls = append(ls, must(ByRegion, strings.Join(l.Regions, ", "), func(_ *catalog.Offer, p *place) bool { return in(p.region) }))
	}
	for _, law := range l.Residency {
		ls = append(ls, must(ByResidency, law, func(_ *catalog.Offer, p *place) bool { return p.region.Under(law) }))
	}
	return ls
}

func (s *search) whoLimits() (ls []limit) {
	l := s.Workload.Limits
	if len(l.Accelerators) > 0 {
		texts := make([]string, len(l.Accelerators))
		for i, a := range l.Accelerators {
			texts[i] = a.Text
		}
		ls = append(ls, must(ByAccelerator, strings.Join(texts, ", "), func(o *catalog.Offer, _ *place) bool {
			for _, a := range l.Accelerators {
				if a.Matches(o.Accelerator, o.Count) {
					return true
				}
			}
			return false
		}))
	}
	if len(l.Providers) > 0 {
		ls = append(ls, must(ByProvider, strings.Join(l.Providers, ", "), func(o *catalog.Offer, _ *place) bool { return slices.Contains(l.Providers, o.Provider) }))
	}
	if len(l.NotProviders) > 0 {
		ls = append(ls, must(ByProvider, strings.Join(l.NotProviders, ", "), func(o *catalog.Offer, _ *place) bool { return !slices.Contains(l.NotProviders, o.Provider) }))
	}
	if l.NoMarketplace {
		ls = append(ls, must(ByMarketplace, "", func(o *catalog.Offer, p *place) bool { return !single(o) && !p.provider.Resells(o.InstanceType) }))
	}
	if len(l.ProviderJurisdiction) > 0 {
		places := s.jurisdictions(l.ProviderJurisdiction)
		ls = append(ls, must(ByJurisdiction, strings.Join(l.ProviderJurisdiction, ", "), func(_ *catalog.Offer, p *place) bool {
			return slices.ContainsFunc(places, func(j provider.Place) bool { return p.provider.Country != "" && j.ContainsCountry(p.provider.Country) })
		}))
	}
	for _, c := range l.Certifications {
		ls = append(ls, must(ByCertification, c, func(_ *catalog.Offer, p *place) bool { return p.provider.Certified(c) }))
	}
	if l.MinSLA > 0 {
		ls = append(ls, atLeast(BySLA, "percent", l.MinSLA, func(_ *catalog.Offer, p *place) float64 { return p.provider.SLA.Or(0) }))
	}
	return ls
}

// jurisdictions resolves countries and groups; the workload's validator has refused what is neither.
func (s *search) jurisdictions(names []string) (out []provider.Place) {
	for _, n := range names {
		if p, err := s.Providers.Place(n); err == nil {
			out = append(out, p)
		}
	}
	return out
}

func (s *search) machineLimits() (ls []limit) {
	l := s.Workload.Limits
	yes := func(reason Reason, on bool, has func(*catalog.Offer) bool) {
		if on {
			ls = append(ls, must(reason, "", func(o *catalog.Offer, _ *place) bool { return has(o) }))
		}
	}
	yes(ByConfidential, l.Confidential, func(o *catalog.Offer) bool { return o.Confidential.Or(false) })
	yes(ByBareMetal, l.BareMetal, func(o *catalog.Offer) bool { return o.BareMetal.Or(false) })
	yes(ByMIG, l.MIG, func(o *catalog.Offer) bool { return o.MIG.Or(false) })
	if len(l.Interconnect) > 0 {
		names := make([]string, len(l.Interconnect))
		for i, k := range l.Interconnect {
			names[i] = string(k)
		}
		ls = append(ls, must(ByInterconnect, strings.Join(names, ", "), func(o *catalog.Offer, _ *place) bool { return slices.Contains(l.Interconnect, o.Network) }))
	}
	if l.MinNetworkGbps > 0 {
		ls = append(ls, atLeast(ByNetwork, "gbps", l.MinNetworkGbps, func(o *catalog.Offer, _ *place) float64 { return o.NetworkGbps.Or(0) }))
	}
	if l.MinHostRAM > 0 {
		ls = append(ls, atLeast(ByHostRAM, "bytes", float64(l.MinHostRAM), func(o *catalog.Offer, _ *place) float64 { return float64(o.RAM.Or(unit.Bytes(0))) }))
	}
	return ls
}
