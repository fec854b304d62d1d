package main

import (
	"regexp"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// quote is one line of the table of quotes, read.
type quote struct {
	provider, region string
	sku, tier        string
	price            catalog.Price
}

// quotes adds newer prices that others quote, where provider, chip and count are clear. Averages and medians over
// sellers are nobody's offer and are left out.
func (b *builder) quotes() error {
	rows, err := b.records("extra_quotes.csv")
	if err != nil {
		return err
	}
	for _, r := range rows {
		q := quote{sku: r.get("sku_or_gpu"), tier: r.get("tier"), price: catalog.Price{Mode: catalog.OnDemand, Confidence: catalog.Quoted}}
		q.provider, q.region, _ = strings.Cut(r.get("provider"), " ")
		if strings.HasPrefix(q.tier, "average") || strings.HasPrefix(q.tier, "marketplace median") {
			b.report.left("quotes", "an average over sellers: "+r.get("provider")+" "+q.sku)
			continue
		}
		q.price.Source = quoteSource(r.get("source"))
		q.price.AsOf, q.price.Flags = quoteDay(r.get("date"))
		var ok bool
		if q.price.Hourly, ok = rate(r.get("price"), money.Currency(r.get("currency"))); !ok {
			b.report.left("quotes", "no price: "+r.get("provider")+" "+q.sku)
			continue
		}
		b.quote(q)
	}
	return nil
}

func (b *builder) quote(q quote) {
	if shop, ok := shops[q.provider]; ok {
		b.shopQuote(shop, q)
		return
	}
	switch q.provider {
	case "runpod":
		b.runPodQuote(q)
	case "nebius", "lambda":
		b.perGPUQuote(q)
	case "gcp":
		b.gcpQuote(q)
	case "aws":
		b.capacityBlockQuote(q)
	case "alibaba":
		b.alibabaQuote(q)
	default:
		b.report.left("quotes", "no rule for "+q.provider+" "+q.sku)
	}
}

func quoteSource(s string) string {
	for prefix, id := range map[string]string{
		"hf:privum": "quotes-privum", "datareceipts": "quotes-datareceipts", "tgarg01": "quotes-silybench", "hf:brian8808": "quotes-gpu-price-index",
	} {
		if strings.HasPrefix(s, prefix) {
			return id
		}
	}
	return "quotes-secondary"
}

var quoteDate = regexp.MustCompile(`\d{4}(-\d{2}){0,2}`)

// quoteDay gives the first day of a month or year, marked, where no day is stated.
func quoteDay(s string) (string, []catalog.Flag) {
	d := quoteDate.FindString(s)
	if len(d) == len("2026-01-02") {
		return d, nil
	}
	return (d + "-01-01")[:len("2026-01-02")], []catalog.Flag{catalog.DateUnknown}
}

// runPodSKUs gives the middle of RunPod's type name and the chip.
var runPodSKUs = map[string][2]string{
	"A100 PCIe 80GB": {"A100-80GB", "A100-PCIe-80GB"}, "A100 SXM 80GB": {"A100-80GB-SXM", "A100-SXM-80GB"},
	"H100 PCIe 80GB": {"H100", "H100-PCIe-80GB"}, "H100 SXM 80GB": {"H100-SXM", "H100-SXM-80GB"},
	"H100 NVL 94GB": {"H100-NVL", "H100-NVL-94GB"}, "A40 48GB": {"A40", "A40"}, "B200 180GB": {"B200", "B200"}, "B300 288GB": {"B300", "B300"},
}

func (b *builder) runPodQuote(q quote) {
	sku, ok := runPodSKUs[q.sku]
	chip, known := b.chips.Get(sku[1])
	if !ok || !known {
		b.report.left("quotes", "no rule for runpod "+q.sku)
		return
	}
	m := catalog.Machine{
		Provider: "runpod", InstanceType: "1x_" + sku[0] + "_" + strings.ToUpper(q.tier), Accelerator: chip, Count: 1,
		Source: q.price.Source, AsOf: q.price.AsOf,
	}
	if q.tier == "community" {
		m.Flags = []catalog.Flag{catalog.Marketplace}
	}
	q.price.Flags = catalog.WithFlags(q.price.Flags, catalog.RegionUnconfirmed)
	if machine := b.machine(m); machine != nil {
		b.price(machine, "", "", q.price)
	}
}

// perGPUQuote applies a price of one chip to the machines that are known to be sold at it.
func (b *builder) perGPUQuote(q quote) {
	types := map[string][]string{
		"HGX H100":    {"gpu-h100-sxm_1gpu-16vcpu-200gb", "gpu-h100-sxm_8gpu-128vcpu-1600gb"},
		"1x H100 SXM": {"gpu_1x_h100_sxm5"},
	}[q.sku]
	for _, t := range types {
		if m := b.machines[machineKey{q.provider, t}]; m != nil {
			p := q.price
			p.Hourly = p.Hourly.Mul(m.Count)
			p.Flags = catalog.WithFlags(p.Flags, catalog.PerGPUQuote, catalog.RegionUnconfirmed)
			b.price(m, "", "", p)
		}
	}
}

func (b *builder) gcpQuote(q quote) {
	m := b.machines[machineKey{"gcp", q.sku}]
	if m == nil {
		b.report.left("quotes", "unknown machine gcp "+q.sku)
		return
	}
	q.price.Mode = catalog.BillingMode(q.tier)
	if q.price.Mode == catalog.Spot {
		m.Reservation = false
	}
	b.price(m, q.region, "", q.price)
}

// awsRegion tells AWS regions from local and wavelength zones, where capacity blocks are not sold.
var awsRegion = regexp.MustCompile(`^[a-z]{2}-[a-z]+-\d$`)

// capacityBlockQuote sets the price in the regions that list the machine on demand, as the source names groups of
// regions only; a machine that is listed nowhere gets the empty region.
func (b *builder) capacityBlockQuote(q quote) {
	sku, group, grouped := strings.Cut(q.sku, " ")
	m := b.machines[machineKey{"aws", sku}]
	if m == nil {
		b.report.left("quotes", "unknown machine aws "+sku)
		return
	}
	if !grouped && q.region != "" {
		group = "(" + q.region + ")"
	}
	q.price.Mode = catalog.CapacityBlock
	q.price.Flags = catalog.WithFlags(q.price.Flags, catalog.RegionUnconfirmed)
	placed := false
	for place := range b.listed {
		american := strings.HasPrefix(place.region, "us-")
		if place.machineKey != (machineKey{"aws", sku}) || !awsRegion.MatchString(place.region) || group != "" && (group == "(US)") != american {
			continue
		}
		placed = true
		b.price(m, place.region, "", q.price)
	}
	if !placed {
		b.price(m, "", "", q.price)
	}
}

// alibabaQuote has one machine, whose host is described in the vendor's family documentation. Its 3-year price equals
// the 1-year one, which no price list does, so only the latter is taken.
func (b *builder) alibabaQuote(q quote) {
	if q.tier == "3y reserved" {
		b.report.left("quotes", "3-year price equal to the 1-year one: alibaba "+q.sku)
		return
	}
	chip, flags := b.identify("alibaba", q.sku, catalog.Evidence{Count: 8})
	m := b.machine(catalog.Machine{
		Provider: "alibaba", InstanceType: q.sku, Accelerator: chip, Count: 8, VCPU: unit.Some(192.0), RAM: unit.Some(1024 * unit.GiB),
		Source: q.price.Source, AsOf: q.price.AsOf, Flags: flags,
	})
	if q.tier == "1y reserved" {
		q.price.Mode = catalog.Reserved1Y
	}
	b.price(m, q.region, "", q.price)
}

// shops are sellers in China that a price index quotes for one chip an hour.
var shops = map[string]string{
	"恒源云": "gpushare", "算家云": "suanjia", "矩池云": "matpool", "晨涧云": "chenjian", "优云智算": "compshare", "共绩算力": "gongji",
}

func (b *builder) shopQuote(provider string, q quote) {
	chip, flags := b.identify(provider, q.sku, catalog.Evidence{Name: q.sku, Count: 1})
	if chip == nil {
		return
	}
	if q.tier == "cheapest seller" {
		q.price.Flags = catalog.WithFlags(q.price.Flags, catalog.CheapestSeller)
	}
	m := b.machine(catalog.Machine{
		Provider: provider, InstanceType: "1x-" + chip.Name, Accelerator: chip, Count: 1,
		Source: q.price.Source, AsOf: q.price.AsOf, Flags: flags,
	})
	q.price.Flags = catalog.WithFlags(q.price.Flags, catalog.RegionUnconfirmed) // the index compares sellers in mainland China
	b.price(m, "CN", "", q.price)
}
