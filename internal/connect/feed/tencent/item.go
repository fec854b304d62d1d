package tencent

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/catalog/intake"
)

// item is a type in a zone, in one way of paying. Prices are list prices and, with Discount in their name, the account's.
type item struct {
	Zone, InstanceType, TypeName, Remark string
	Status                               string      // SELL or SOLD_OUT
	CPU                                  feed.Number `json:"Cpu"`
	Memory                               feed.Number // GiB
	GPU                                  feed.Number `json:"Gpu"`
	GPUCount                             feed.Number `json:"GpuCount"` // with shares of one
	GPUDesc                              string      `json:"GPUDesc"`  // not in every answer
	InstanceBandwidth                    feed.Number // Gbit/s
	Price                                struct {
		ChargeUnit          string
		UnitPrice           feed.Number // an hour, of the first 96 where there are further steps
		UnitPriceDiscount   feed.Number
		UnitPriceSecondStep feed.Number
		UnitPriceThirdStep  feed.Number
		OriginalPrice       feed.Number // a month, prepaid
	}
}

func (i *item) accelerated(known map[string]bool) bool {
	return i.GPU.Positive() || i.GPUCount.Positive() || known[i.InstanceType]
}

// number is that of GPUs before their name, as remarks have it: 8 * NVIDIA V100, 1/4 颗 NVIDIA T4.
var number = regexp.MustCompile(`^\s*\d+(?:[./]\d+)?\s*(?:[*x×]|颗|块|卡)\s*`)

// named is the name in a text that may begin with a number of GPUs.
func named(text string) string { return strings.TrimSpace(number.ReplaceAllString(text, "")) }

// emit adds a row. One without a price, as some that are sold out have none, is listed without.
func (i *item) emit(c money.Currency, region string, mode catalog.BillingMode, line int, to feed.Sink) {
	at := intake.Place{File: fmt.Sprintf("%s %s", region, mode), Line: line}
	reject := func(k intake.Kind) {
		to.Reject(intake.Rejection{Kind: k, InstanceType: i.InstanceType, Region: region, At: at})
	}
	if i.InstanceType == "" || i.Zone == "" {
		reject(intake.Malformed)
		return
	}
	count := i.GPUCount
	if !count.Positive() {
		count = i.GPU
	}
	l := intake.Listing{
		Provider: vendor, InstanceType: i.InstanceType, Region: region, Zone: i.Zone, Accelerator: named(i.GPUDesc),
		Hints: []string{named(i.Remark), i.TypeName}, Count: count.Float(), VCPU: i.CPU.Size(), RAM: i.Memory.Bytes(1 << 30),
		NetworkGbps: i.InstanceBandwidth.Size(), At: at,
	}
	price, hours := i.Price.UnitPrice, int64(1)
	switch {
	case mode == catalog.PrepaidMonthHourly:
		price, hours = i.Price.OriginalPrice, int64(unit.HoursPerMonth)
	case i.Price.ChargeUnit != "HOUR" && price.Positive():
		reject(intake.Kind(catalog.BadUnits))
		return
	case mode == catalog.Spot && i.Price.UnitPriceDiscount.Positive(): // the market's; UnitPrice is then the one on demand
		price = i.Price.UnitPriceDiscount
	}
	rate, err := feed.Hourly(string(price), hours, c)
	if err != nil && price != "" {
		reject(intake.Malformed)
		return
	}
	if !rate.IsZero() {
		p := catalog.Price{Mode: mode, Hourly: rate, Confidence: catalog.Listed}
		if mode == catalog.OnDemand && i.stepped() {
			p.Flags = append(p.Flags, catalog.SteppedPrice)
		}
		switch i.Status {
		case "SELL":
			p.Flags = append(p.Flags, catalog.InStock)
		case "SOLD_OUT":
			p.Flags = append(p.Flags, catalog.SoldOut)
		}
		l.Prices = []catalog.Price{p}
	}
	to.Add(l)
}

// stepped says whether later hours cost something else; many types say all steps and have one price.
func (i *item) stepped() bool {
	first := i.Price.UnitPrice.Float()
	for _, step := range []feed.Number{i.Price.UnitPriceSecondStep, i.Price.UnitPriceThirdStep} {
		if step.Positive() && step.Float() != first {
			return true
		}
	}
	return false
}
