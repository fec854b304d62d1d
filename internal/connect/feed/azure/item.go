package azure

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/catalog/intake"
)

// item is one meter's price.
type item struct {
	Currency    string      `json:"currencyCode"`
	Tier        json.Number `json:"tierMinimumUnits"`
	Price       json.Number `json:"retailPrice"`
	Region      string      `json:"armRegionName"`
	Since       string      `json:"effectiveStartDate"`
	Until       string      `json:"effectiveEndDate"`
	Meter       string      `json:"meterName"`
	Product     string      `json:"productName"`
	Sku         string      `json:"skuName"`
	Unit        string      `json:"unitOfMeasure"`
	Type        string      `json:"type"`
	Primary     bool        `json:"isPrimaryMeterRegion"`
	Machine     string      `json:"armSkuName"`
	Term        string      `json:"reservationTerm"`
	SavingsPlan []struct {
		Price json.Number `json:"retailPrice"`
		Term  string      `json:"term"`
	} `json:"savingsPlan"`
}

// terms are how the service writes the length of a reservation or savings plan; longer ones have no way of paying here.
var (
	reserved = map[string]catalog.BillingMode{"1 Year": catalog.Reserved1Y, "3 Years": catalog.Reserved3Y}
	saving   = map[string]catalog.BillingMode{"1 Year": catalog.SavingsPlan1Y, "3 Years": catalog.SavingsPlan3Y}
)

// mode is the way of paying that an item prices; false where it prices something else than a Linux machine by the hour: the
// licence of Windows, a Cloud Service, a whole host, a low-priority machine (no longer sold), a tariff for developers.
func (i *item) mode() (catalog.BillingMode, bool) {
	product := strings.ReplaceAll(i.Product, " ", "")
	if strings.Contains(product, "Windows") || strings.Contains(product, "CloudServices") || strings.Contains(product, "Dedicated") ||
		strings.Contains(i.Meter, "Low Priority") || strings.Contains(i.Sku, "Low Priority") || i.Machine == "" {
		return "", false
	}
	switch i.Type {
	case "Consumption":
		if strings.Contains(i.Sku, " Spot") || strings.Contains(i.Meter, " Spot") {
			return catalog.Spot, true
		}
		return catalog.OnDemand, true
	case "Reservation":
		mode, ok := reserved[i.Term]
		return mode, ok
	}
	return "", false
}

// inForce says whether an item's price is charged now, by its dates and its tier.
func (i *item) inForce(now time.Time) bool {
	since, err := time.Parse(time.RFC3339, i.Since)
	if err != nil && i.Since != "" || since.After(now) {
		return false
	}
	if until, err := time.Parse(time.RFC3339, i.Until); err == nil && !until.After(now) {
		return false
	}
	tier, err := feed.Decimal(string(i.Tier))
	return i.Tier == "" || err == nil && tier.Sign() == 0
}

// hourly is a price by the hour. A reservation's is the total of its term, although its unit says an hour; a savings plan's is not.
func (i *item) hourly(mode catalog.BillingMode, price json.Number) (money.Rate, error) {
	hours := int64(1)
	if i.Type == "Reservation" {
		hours = int64(mode.Term())
	}
	return feed.Hourly(string(price), hours, money.Currency(i.Currency))
}

// choice picks one item for each machine and way of paying of a region.
type choice struct {
	region string
	now    time.Time
	seen   int
	passed int
	best   map[string]map[catalog.BillingMode]candidate // by machine
	bad    []intake.Rejection
	broken bool // a row could not be read
}

type candidate struct {
	item
	price money.Rate
	line  int
}

func newChoice(region string, now time.Time) *choice {
	return &choice{region: region, now: now, best: map[string]map[catalog.BillingMode]candidate{}}
}

func (c *choice) add(items []item) {
	for n := range items {
		i := &items[n]
		c.seen++
		mode, ok := i.mode()
		if !ok || i.Region != c.region || !i.inForce(c.now) {
			c.passed++
			continue
		}
		price, err := i.hourly(mode, i.Price)
		switch {
		case err != nil:
			c.reject(i, intake.Malformed, problem.Args{"Column": "retailPrice", "Value": i.Price.String(), "Want": "price"})
			continue
		case i.Unit != "1 Hour":
			c.reject(i, intake.Malformed, problem.Args{"Column": "unitOfMeasure", "Value": i.Unit, "Want": "1 Hour"})
			continue
		case price.IsZero():
			c.reject(i, intake.Kind(catalog.ZeroPrice), nil)
			continue
		}
		if c.best[i.Machine] == nil {
			c.best[i.Machine] = map[catalog.BillingMode]candidate{}
		}
		next := candidate{*i, price, c.seen}
		if old, there := c.best[i.Machine][mode]; there {
			c.passed++
			if !next.beats(old) {
				continue
			}
		}
		c.best[i.Machine][mode] = next
	}
}

func (c *choice) reject(i *item, kind intake.Kind, args problem.Args) {
	c.broken = c.broken || kind == intake.Malformed
	c.bad = append(c.bad, intake.Rejection{Kind: kind, InstanceType: i.Machine, Region: c.region, At: c.place(c.seen), Args: args})
}

func (c *choice) place(line int) intake.Place {
	return intake.Place{File: vendor + "/" + c.region, Line: line}
}

// beats says which of two meters of one machine counts: the region's own before another's that also serves it, then the
// newer, then the dearer, so that nothing is promised for less than it may cost.
func (c candidate) beats(old candidate) bool {
	if c.Primary != old.Primary {
		return c.Primary
	}
	// Dates of one format and zone, which the service writes, sort as text.
	return cmp.Or(cmp.Compare(c.Since, old.Since), cmp.Compare(c.price.Nanos(), old.price.Nanos())) > 0
}

// emit hands over the machines with their prices and gives their number.
func (c *choice) emit(to feed.Sink) int {
	for _, r := range c.bad {
		to.Reject(r)
	}
	to.Pass(c.passed)
	for _, machine := range slices.Sorted(maps.Keys(c.best)) {
		l := intake.Listing{Provider: vendor, InstanceType: machine, Region: c.region}
		for _, mode := range modes {
			m, ok := c.best[machine][mode]
			if !ok {
				continue
			}
			if len(l.Prices) == 0 {
				l.Hints, l.At = []string{m.Product}, c.place(m.line)
			}
			l.Prices = append(l.Prices, catalog.Price{Mode: mode, Hourly: m.price, Confidence: catalog.Listed})
			if mode == catalog.OnDemand {
				l.Prices = append(l.Prices, m.savings()...)
			}
		}
		to.Add(l)
	}
	return len(c.best)
}

// savings are the prices under a savings plan that come with an item's price on demand.
func (c candidate) savings() (prices []catalog.Price) {
	for _, s := range c.SavingsPlan {
		mode, ok := saving[s.Term]
		if !ok {
			continue
		}
		if rate, err := c.hourly(mode, s.Price); err == nil && !rate.IsZero() {
			prices = append(prices, catalog.Price{Mode: mode, Hourly: rate, Confidence: catalog.Listed})
		}
	}
	return prices
}
