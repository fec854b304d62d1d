package provider

import (
	"slices"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
)

var providerColumns = []string{
	"id", "name", "name_zh", "aliases", "country", "jurisdiction", "billing_s", "min_charge_s", "min_charge_bare_metal_s", "price_steps", "keep_alive_s",
	"spot_notice_s", "spot_offered", "sla_percent", "sla_multi_zone_percent", "support_tiers", "certifications",
	"marketplace", "confidence", "as_of", "source",
}

// certifications are the canonical tokens; a provider's own wording is brought to these when a row is written.
var certifications = []string{
	"SOC1", "SOC2", "SOC3", "ISO27001", "ISO27017", "ISO27018", "ISO27701", "PCI", "HIPAA", "FedRAMP", "C5", "MLPS",
}

func (t *Table) addProvider(r row) {
	p := &Provider{
		ID: r.need("id"), Name: r.need("name"), NameZH: r.text("name_zh"), Aliases: r.list("aliases"),
		Country: r.text("country"), Jurisdiction: r.list("jurisdiction"),
		BillingGranularity: r.seconds("billing_s"), MinimumCharge: r.seconds("min_charge_s"),
		BareMetalMinimum: r.seconds("min_charge_bare_metal_s"),
		Steps:            r.steps("price_steps"), KeepAlive: r.seconds("keep_alive_s"),
		SpotNotice: r.seconds("spot_notice_s"), SpotOffered: r.flag("spot_offered"),
		SLA: r.number("sla_percent", 50, 100), MultiZoneSLA: r.number("sla_multi_zone_percent", 50, 100),
		SupportTiers: r.list("support_tiers"), Certifications: r.list("certifications"),
		Confidence: r.confidence(), Source: r.need("source"), AsOf: r.date("as_of"),
	}
	switch r.oneOf("marketplace", "yes", "no", "community") {
	case "yes":
		p.Marketplace = true
	case "community":
		p.MarketplaceTier = "COMMUNITY"
	}
	if p.Country != "" && t.countries[p.Country] == nil {
		r.bad("country", "countries.csv")
	}
	if (p.Country == "") != (p.Jurisdiction == nil) {
		r.fault("data.together", problem.Args{"Column": "country", "Other": "jurisdiction"})
	}
	for _, c := range p.Certifications {
		if !slices.Contains(certifications, c) {
			r.bad("certifications", strings.Join(certifications, "|"))
		}
	}
	t.providers = append(t.providers, p)
	t.byID[p.ID] = p
	for _, name := range append([]string{p.ID, p.Name, p.NameZH}, p.Aliases...) {
		key := fold(name)
		if other := t.byName[key]; other != nil && other != p {
			r.fault("data.duplicate", problem.Args{"Key": name})
		}
		if key != "" {
			t.byName[key] = p
		}
	}
}

var priceColumns = []string{"provider", "kind", "product", "per_gb", "currency", "free_gb", "confidence", "as_of", "source"}

// addPrice sets one of a provider's prices per GB. A price of 0 is one that the provider states to be free.
func (t *Table) addPrice(r row) {
	p := t.byID[r.need("provider")]
	if p == nil {
		r.bad("provider", "providers.csv")
		return
	}
	q := Quote{
		Currency: r.need("currency"), Product: r.need("product"),
		Confidence: r.confidence(), Source: r.need("source"), AsOf: r.date("as_of"),
	}
	rate, err := money.ParseRate(r.need("per_gb"), money.Currency(q.Currency))
	if err != nil {
		r.bad("per_gb", "0.09")
	}
	q.Nanos = rate.Nanos()
	var price *unit.Maybe[Quote]
	switch r.oneOf("kind", "egress", "block", "object") {
	case "egress":
		price, p.FreeEgressGB = &p.EgressPerGB, r.number("free_gb", 0, 1e6)
	case "block":
		price = &p.BlockPerGBMo
	case "object":
		price = &p.ObjectPerGBMo
	default:
		return
	}
	if price.Known() {
		r.fault("data.duplicate", problem.Args{"Key": p.ID + " " + r.text("kind")})
	}
	*price = unit.Some(q)
}

// In is the price in a currency, as a rate of which an hour stands for a GB or a GB-month; false without an exchange rate.
func (q Quote) In(c money.Currency, x money.Exchange) (money.Rate, bool) {
	return x.Rate(money.PerHour(q.Nanos, money.Currency(q.Currency)), c)
}

// For is what so many GB, or GB-months, cost.
func (q Quote) For(gb float64) money.Amount {
	// A rate times an amount is the same exact arithmetic whatever the rate is per.
	return money.PerHour(q.Nanos, money.Currency(q.Currency)).For(gb)
}
