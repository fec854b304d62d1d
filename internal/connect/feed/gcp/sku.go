package gcp

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// page is an answer of services.skus.list.
type page struct {
	Skus          []sku  `json:"skus"`
	NextPageToken string `json:"nextPageToken"`
}

// sku is one thing that is charged for. Whole units are a string and, like the nanos, left out where they are 0.
type sku struct {
	Description string `json:"description"`
	Category    struct {
		UsageType string `json:"usageType"`
	} `json:"category"`
	Regions []string `json:"serviceRegions"`
	Pricing []struct {
		Since      string `json:"effectiveTime"`
		Expression struct {
			Unit  string `json:"usageUnit"`
			Tiers []struct {
				Start json.Number `json:"startUsageAmount"`
				Price struct {
					Currency string      `json:"currencyCode"`
					Units    json.Number `json:"units"`
					Nanos    json.Number `json:"nanos"`
				} `json:"unitPrice"`
			} `json:"tieredRates"`
		} `json:"pricingExpression"`
	} `json:"pricingInfo"`
}

func decode(body []byte) (page, error) {
	var p page
	err := json.Unmarshal(body, &p)
	return p, err
}

// codeOf is what Google says that is wrong: the reason (API_KEY_INVALID), else the status, of the API, or the error of whoever gives
// tokens (invalid_grant).
func codeOf(answer []byte) string {
	var a struct{ Error json.RawMessage }
	var code string
	var e struct {
		Status  string
		Details []struct{ Reason string }
	}
	if json.Unmarshal(answer, &a) != nil || json.Unmarshal(a.Error, &code) != nil && json.Unmarshal(a.Error, &e) != nil {
		return ""
	}
	for _, d := range e.Details {
		code = cmp.Or(code, d.Reason)
	}
	return cmp.Or(code, e.Status)
}

// part is what a machine is put together from: "core", "ram" or "gpu" with the series or type, or "ssd".
type part struct{ kind, of string }

var (
	// ordinary parts a description from the place it ends in and from what it is attached to.
	ordinary = regexp.MustCompile(`^(?i)(spot preemptible )?(.+?)( attached to spot preemptible vms?)?(?: (?:running )?in .+)?$`)
	promised = regexp.MustCompile(`^(?i)commitment v1: (.+?) (?:running )?in .+ for ([13]) years?$`)
	calendar = regexp.MustCompile(`^(?i)dws calendar mode (.+?) (?:running )?in .+$`)
	// special are prices of other ways to buy, which end as the ordinary ones do.
	special = regexp.MustCompile(`(?i)calendar mode|defined duration|reserv|sole tenancy|dws`)
)

// read says which part a SKU prices in which way of paying; false for all that is no part of a machine with accelerators.
// Some spot prices carry the usage type of on demand, so that the description counts.
func (s *sku) read() (p part, mode catalog.BillingMode, ok bool) {
	name, committed := "", false
	switch d := s.Description; s.Category.UsageType {
	case "OnDemand", "Preemptible":
		if m := calendar.FindStringSubmatch(d); m != nil {
			name, mode = m[1], catalog.CapacityBlock
			break
		}
		m := ordinary.FindStringSubmatch(d)
		if m == nil || special.MatchString(d) {
			return p, "", false
		}
		name, mode = m[2], catalog.OnDemand
		if m[1] != "" || m[3] != "" || s.Category.UsageType == "Preemptible" {
			mode = catalog.Spot
		}
	case "Commit1Yr", "Commit3Yr":
		m := promised.FindStringSubmatch(d)
		if m == nil || "Commit"+m[2]+"Yr" != s.Category.UsageType {
			return p, "", false
		}
		name, committed = m[1], true
		mode = map[string]catalog.BillingMode{"1": catalog.Reserved1Y, "3": catalog.Reserved3Y}[m[2]]
	}
	p, ok = partOf(strings.ToLower(name), committed)
	return p, mode, ok
}

// partOf reads what is left of a description. A commitment for N1 names no series.
func partOf(name string, committed bool) (part, bool) {
	if c, ok := chips[name]; ok {
		return part{"gpu", c.name}, true
	}
	words := map[string]string{" instance core": "core", " instance ram": "ram"}
	ssd := "ssd backed local storage"
	if committed {
		words, ssd = map[string]string{" cpu": "core", " ram": "ram"}, "local ssd"
		if name == "cpu" || name == "ram" {
			name = "n1 predefined " + name
		}
	}
	if name == ssd {
		return part{kind: "ssd"}, true
	}
	for suffix, kind := range words {
		host, ok := strings.CutSuffix(name, suffix)
		if ok && slices.ContainsFunc(machines(), func(m machine) bool { return m.host == host && host != "" }) {
			return part{kind, host}, true
		}
	}
	return part{}, false
}

var (
	errUnit     = errors.New("usageUnit")
	errPrice    = errors.New("pricingInfo")
	errCurrency = errors.New("currencyCode")
)

// hourly is a SKU's price now: of one core, accelerator or GiB for an hour.
func (s *sku) hourly(kind string, now time.Time, currency money.Currency) (*big.Rat, error) {
	latest := -1
	var since time.Time
	for i, p := range s.Pricing {
		at, err := time.Parse(time.RFC3339, p.Since)
		if err == nil && !at.After(now) && (latest < 0 || !at.Before(since)) {
			latest, since = i, at
		}
	}
	if latest < 0 {
		return nil, errPrice
	}
	e := s.Pricing[latest].Expression
	// A first tier may be free; what is used around the clock is soon beyond it.
	price := new(big.Rat)
	for _, tier := range e.Tiers {
		if tier.Price.Currency != string(currency) {
			return nil, fmt.Errorf("%w %q", errCurrency, tier.Price.Currency)
		}
		whole, err1 := number(tier.Price.Units)
		nanos, err2 := number(tier.Price.Nanos)
		if err := errors.Join(err1, err2); err != nil {
			return nil, errPrice
		}
		if price.Sign() == 0 {
			price.Add(whole, nanos.Quo(nanos, big.NewRat(1e9, 1)))
		}
	}
	scale, ok := scales[kind][e.Unit]
	if !ok {
		return nil, fmt.Errorf("%w %q", errUnit, e.Unit)
	}
	return price.Mul(price, scale), nil
}

func number(n json.Number) (*big.Rat, error) {
	if n == "" {
		return new(big.Rat), nil
	}
	return feed.Decimal(string(n))
}

// scales turn a price per usage unit into one per core, accelerator or GiB and hour. A month has 730 hours, as Google bills it.
var scales = func() map[string]map[string]*big.Rat {
	one := big.NewRat(1, 1)
	gb := big.NewRat(int64(unit.GiB), int64(unit.GB)) // some series sell memory by the decimal gigabyte
	month := big.NewRat(1, int64(unit.HoursPerMonth))
	space := map[string]*big.Rat{
		"GiBy.h": one, "GBy.h": gb, "GiBy.mo": month, "GBy.mo": new(big.Rat).Mul(gb, month),
	}
	return map[string]map[string]*big.Rat{"core": {"h": one}, "gpu": {"h": one}, "ram": space, "ssd": space}
}()
