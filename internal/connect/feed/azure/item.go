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
	SavingsPlan []plan      `json:"savingsPlan"`
}

// plan is what a machine costs an hour under a savings plan.
type plan struct {
	Price json.Number `json:"retailPrice"`
	Term  string      `json:"term"`
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
func (i *item) inForce(now time.Time) (bool, *fault) {
	since, bad1 := date(i.Since)
	until, bad2 := date(i.Until)
	tier, bad3 := feed.Decimal(cmp.Or(string(i.Tier), "0"))
	switch {
	case bad1 != nil:
		return false, &fault{"effectiveStartDate", i.Since, "2026-01-01T00:00:00Z"}
	case bad2 != nil:
		return false, &fault{"effectiveEndDate", i.Until, "2026-01-01T00:00:00Z"}
	case bad3 != nil:
		return false, &fault{"tierMinimumUnits", i.Tier.String(), "0"}
	}
	return !since.After(now) && (until.IsZero() || until.After(now)) && tier.Sign() == 0, nil
}

// date reads a date; without one it is the zero time.
func date(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	return time.Parse(time.RFC3339, text)
}

// fault is a field that cannot be read.
type fault struct{ column, value, want string }

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
	region   string
	currency money.Currency
	now      time.Time
	seen     int
	passed   int
	best     map[string]map[catalog.BillingMode]candidate // by machine
	bad      []intake.Rejection
	broken   bool // a row could not be read
}

type candidate struct {
	item
	price money.Rate
	plans []catalog.Price // under savings plans, which come with the price on demand
	line  int
}

func newChoice(region string, currency money.Currency, now time.Time) *choice {
	return &choice{region: region, currency: currency, now: now, best: map[string]map[catalog.BillingMode]candidate{}}
}

func (c *choice) add(items []item) {
	for n := range items {
		i := &items[n]
		c.seen++
		mode, ok := i.mode()
		if !ok || i.Region != c.region {
			c.passed++
			continue
		}
		next, in, bad := c.read(i, mode)
		switch {
		case bad != nil:
			c.reject(i, intake.Malformed, problem.Args{"Column": bad.column, "Value": bad.value, "Want": bad.want})
			continue
		case !in:
			c.passed++
			continue
		case next.price.IsZero():
			c.reject(i, intake.Kind(catalog.ZeroPrice), nil)
			continue
		}
		if c.best[i.Machine] == nil {
			c.best[i.Machine] = map[catalog.BillingMode]candidate{}
		}
		if old, there := c.best[i.Machine][mode]; there {
			c.passed++
			if !next.beats(old) {
				continue
			}
		}
		c.best[i.Machine][mode] = next
	}
}

// read takes an item's prices; false where they are not charged now.
func (c *choice) read(i *item, mode catalog.BillingMode) (next candidate, in bool, bad *fault) {
	if in, bad = i.inForce(c.now); !in {
		return next, false, bad
	}
	switch {
	case i.Currency != string(c.currency):
		return next, false, &fault{"currencyCode", i.Currency, string(c.currency)}
	case i.Unit != "1 Hour":
		return next, false, &fault{"unitOfMeasure", i.Unit, "1 Hour"}
	}
	price, err := i.hourly(mode, i.Price)
	if err != nil {
		return next, false, &fault{"retailPrice", i.Price.String(), "price"}
	}
	next = candidate{item: *i, price: price, line: c.seen}
	for _, plan := range i.SavingsPlan {
		planned, ok := saving[plan.Term]
		if !ok || mode != catalog.OnDemand {
			continue
		}
		rate, err := i.hourly(planned, plan.Price)
		switch {
		case err != nil:
			return next, false, &fault{"savingsPlan", plan.Price.String(), "price"}
		case !rate.IsZero():
			next.plans = append(next.plans, catalog.Price{Mode: planned, Hourly: rate, Confidence: catalog.Listed})
		}
	}
	return next, true, nil
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
	return cmp.Or(cmp.Compare(c.Since, old.Since), cmp.Compare(c.price.Nanos(), old.price.Nanos()),
		cmp.Compare(len(c.plans), len(old.plans)), cmp.Compare(c.Product, old.Product)) > 0
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
			l.Prices = append(l.Prices, m.plans...)
		}
		to.Add(l)
	}
	return len(c.best)
}
