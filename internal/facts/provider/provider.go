// Package provider holds what is known of each cloud and each of its regions: jurisdiction, billing rules,
// SLA, support, spot notice, certifications, carbon.
//
// Invariants: the provider's own jurisdiction is kept apart from the region's; an unknown figure is unknown;
// every row has a source and a date. Pure: rows come from the embedded data. Imported by choose and above.
package provider

import (
	"slices"
	"strings"

	"github.com/rackrate/rackrate/internal/base/unit"
)

// Provider is a company that rents accelerators.
type Provider struct {
	ID      string // aws, gcp, azure, alibaba …
	Name    string
	NameZH  string
	Aliases []string // other names people write, for Find
	Country string   // ISO 3166-1 alpha-2 of the company's seat
	// Jurisdiction lists the laws that reach the company itself (US-CLOUD-Act …), apart from its regions'.
	Jurisdiction       []string
	BillingGranularity unit.Maybe[unit.Hours]
	MinimumCharge      unit.Maybe[unit.Hours]
	// BareMetalMinimum is the least that a bare-metal machine is charged for, where that differs (OCI: an hour).
	BareMetalMinimum unit.Maybe[unit.Hours]
	// Steps is where its prices on demand fall with the hours of one machine's life, for prices that are flagged as such; none is unknown.
	Steps []PriceStep
	// KeepAlive is how long a serverless worker is kept idle, and paid for, by default.
	KeepAlive   unit.Maybe[unit.Hours]
	SpotNotice  unit.Maybe[unit.Hours]
	SpotOffered unit.Maybe[bool]
	// SLA is the on-demand availability promised for a single machine, in per cent.
	SLA unit.Maybe[float64]
	// MultiZoneSLA is the same for machines spread over two or more zones.
	MultiZoneSLA   unit.Maybe[float64]
	SupportTiers   []string
	Certifications []string // canonical: SOC2, ISO27001, PCI, HIPAA, FedRAMP, C5, MLPS
	Marketplace    bool     // resells other owners' machines
	// MarketplaceTier is the word in an instance type's name that marks other owners' machines, where only some
	// of the provider's are (RunPod: COMMUNITY); empty otherwise.
	MarketplaceTier string
	EgressPerGB     unit.Maybe[Quote]
	BlockPerGBMo    unit.Maybe[Quote] // block storage, a GB-month
	ObjectPerGBMo   unit.Maybe[Quote] // object storage, a GB-month
	FreeEgressGB    unit.Maybe[float64]
	Confidence      string
	Source          string
	AsOf            string
}

// PriceStep is where an hour starts to cost only Share of the first one.
type PriceStep struct {
	From  unit.Hours
	Share float64
}

// Quote is a price per GB with its currency, as an exact decimal in nano units.
type Quote struct {
	Nanos      int64
	Currency   string
	Product    string // what the price is of: EBS gp3, us-east-1
	Confidence string
	Source     string
	AsOf       string
}

// Region is one place of one provider.
type Region struct {
	Provider string
	ID       string
	Name     string
	Country  string   // ISO 3166-1 alpha-2; empty where unknown
	Group    string   // eu, eea, na, sa, asia, cn, me, africa, oceania; derived from the country
	Tags     []string // laws of the place: GDPR, UK-GDPR, CN-PIPL …
	Grid     unit.Maybe[unit.GramsPerKWh]
	PUE      unit.Maybe[float64]
	// CarbonFree is the hourly carbon-free share in per cent as Google defines it; not the annual market-based claim.
	CarbonFree unit.Maybe[float64]
	Source     string
	AsOf       string
}

// Resells says whether a machine of this type belongs to another owner than the provider.
func (p *Provider) Resells(instanceType string) bool {
	return p.Marketplace || p.MarketplaceTier != "" && strings.Contains(strings.ToUpper(instanceType), p.MarketplaceTier)
}

// LeastCharge is the least time a machine is charged for; the provider's general minimum where bare metal has none of its own.
func (p *Provider) LeastCharge(bareMetal bool) unit.Maybe[unit.Hours] {
	if bareMetal && p.BareMetalMinimum.Known() {
		return p.BareMetalMinimum
	}
	return p.MinimumCharge
}

// Certified says whether the provider is known to hold a certification, however it is punctuated: "ISO 27001".
func (p *Provider) Certified(name string) bool {
	return slices.ContainsFunc(p.Certifications, func(c string) bool { return fold(c) == fold(name) })
}

// Under says whether a law applies to the place: by its tag, or by the tag without the place's own country code
// (PIPL for CN-PIPL). UK-GDPR is not shortened to GDPR: one does not stand for the other.
func (r Region) Under(law string) bool {
	want := fold(law)
	return slices.ContainsFunc(r.Tags, func(tag string) bool {
		short, own := strings.CutPrefix(tag, r.Country+"-")
		return fold(tag) == want || own && fold(short) == want
	})
}
