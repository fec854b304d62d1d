// Package azure reads the list prices of Azure's virtual machines with accelerators from the Retail Prices API, which asks
// for no credentials: on demand, spot, savings plans and reservations.
//
// Invariants: a region is read whole or lost; a reservation's total becomes an hourly price exactly; of several meters for
// one machine one counts, chosen without regard to their order. Imported by front/app only.
package azure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/fetch"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// Maker makes the source of kind azure.
// Source: https://learn.microsoft.com/en-us/rest/api/cost-management/retail-prices/azure-retail-prices
var Maker = feed.Maker{
	Kind: "azure", Keyless: true, Layer: catalog.Vendor, Title: "Azure Retail Prices",
	Reference: "https://prices.azure.com/api/retail/prices", Licence: "not stated", New: open,
}

const (
	vendor  = "azure"
	address = "https://prices.azure.com/api/retail/prices"
	version = "2023-01-01-preview" // the first with savings plans; its filters heed the case of letters

	// machines are those with accelerators: GPUs (NC, ND, NV, NG), FPGAs (NP) and encoders (NM).
	machines = "serviceName eq 'Virtual Machines' and contains(armSkuName, 'Standard_N')"
	// everywhere is a machine that every region sells, whose rows list the regions.
	everywhere = "serviceName eq 'Virtual Machines' and armSkuName eq 'Standard_D2s_v3' and priceType eq 'Consumption'"

	// perSecond is how often to ask: the service documents no limit and answers 429 to more than a few at once.
	perSecond = 5
	// maxPage bounds an answer: a page of 1,000 rows has 1 MB.
	maxPage = 16 << 20
	// maxPages bounds a list that links to itself; a region has two.
	maxPages = 100
)

var modes = []catalog.BillingMode{
	catalog.OnDemand, catalog.Spot, catalog.SavingsPlan1Y, catalog.SavingsPlan3Y, catalog.Reserved1Y, catalog.Reserved3Y,
}

type source struct {
	feed.Config
	http     *fetch.Client
	world    feed.World
	address  *url.URL
	currency money.Currency
}

func open(c feed.Config, w feed.World) (feed.Source, error) {
	if err := c.Check(feed.Takes{Regions: true, Currency: true}).OrNil(); err != nil {
		return nil, err
	}
	at, err := url.Parse(c.Address("", address))
	if err != nil {
		return nil, err
	}
	s := &source{Config: c, http: c.Client(w.HTTP, perSecond), world: w, address: at, currency: money.USD}
	if c.Currency != "" {
		s.currency = c.Currency
	}
	return s, nil
}

// Fetch reads region by region; one that fails is lost, the others stand.
func (s *source) Fetch(ctx context.Context, to feed.Sink) error {
	regions, err := s.regions(ctx)
	if err != nil {
		return err
	}
	known := s.known()
	var machines atomic.Int64
	lost, err := feed.Each(ctx, to, regions, func(ctx context.Context, region string) error {
		n, err := s.region(ctx, region, known, to)
		machines.Add(int64(n))
		return err
	})
	if err == nil && len(lost) == 0 && machines.Load() == 0 {
		err = feed.Empty(s.Name)
	}
	feed.Lose(to, vendor, lost)
	return err
}

// regions are those the user named, or all: the ones known already, and those that sell the machine sold everywhere.
func (s *source) regions(ctx context.Context) ([]string, error) {
	if len(s.Regions) > 0 {
		return slices.Compact(slices.Sorted(slices.Values(s.Regions))), nil
	}
	found := map[string]bool{}
	err := s.pages(ctx, everywhere, func(items []item) {
		for _, i := range items {
			if i.Region != "" {
				found[i.Region] = true
			}
		}
	})
	if err == nil && len(found) == 0 {
		err = feed.Empty(s.Name)
	}
	maps.Copy(found, s.known())
	return slices.Sorted(maps.Keys(found)), err
}

// known is the regions that are known to have machines with accelerators.
func (s *source) known() map[string]bool {
	regions := map[string]bool{}
	for _, o := range s.world.Known.Offers {
		if o.Provider == vendor {
			regions[o.Region] = true
		}
	}
	return regions
}

// region reads one region and gives the number of its machines. Where some are known, an answer without any is no answer, and
// where the user named it, nothing that may pass in silence.
func (s *source) region(ctx context.Context, region string, known map[string]bool, to feed.Sink) (int, error) {
	c := newChoice(region, s.currency, s.world.Now())
	err := s.pages(ctx, machines+" and armRegionName eq '"+strings.ReplaceAll(region, "'", "''")+"'", c.add)
	if err != nil {
		return 0, err
	}
	switch {
	case len(c.best) > 0:
	case known[region]:
		return 0, feed.Empty(s.Name + " " + region)
	case len(s.Regions) > 0:
		return 0, s.Stranger(region, slices.Collect(maps.Keys(known)))
	}
	n := c.emit(to)
	if !c.broken { // a machine whose price cannot be read may still be sold
		to.Covers(vendor, region, modes...)
	}
	return n, nil
}

// page is an answer; the fields that tell it from other JSON are pointers.
type page struct {
	BillingCurrency string
	Items           *[]item
	NextPageLink    string
	Count           *int
}

// pages hands over all rows that a filter lets through, page by page.
//
// Pages are cut by $skip out of a list that may change between two of them, and one that is cut short would hide the rows
// up to the next: such a page is asked for again, and fails after three times.
func (s *source) pages(ctx context.Context, filter string, each func([]item)) error {
	at := *s.address
	at.RawQuery = url.Values{
		"api-version": {version}, "currencyCode": {"'" + string(s.currency) + "'"}, "$filter": {filter},
	}.Encode()
	for range maxPages {
		var p page
		var next *url.URL
		for tries := 1; ; tries++ {
			var err error
			if p, next, err = s.page(ctx, &at); err != nil {
				return err
			}
			if have, want := len(*p.Items), p.length(&at, next); have >= want {
				break
			} else if tries == 3 {
				return fetch.Malformed(at.String(), fmt.Errorf("%d rows where %d are said to be, three times", have, want))
			}
		}
		each(*p.Items)
		if next == nil {
			return nil
		}
		at = *next
	}
	return fetch.Malformed(at.String(), errors.New("pages without end"))
}

// length is how many rows a page must have: as many as it says, and as many as the next page skips beyond it.
func (p *page) length(at, next *url.URL) int {
	want := *p.Count
	if next != nil {
		if to, ok := skip(next); ok {
			from, _ := skip(at)
			want = max(want, to-from)
		}
	}
	return want
}

func skip(u *url.URL) (int, bool) {
	var n int
	_, err := fmt.Sscanf(u.Query().Get("$skip"), "%d", &n)
	return n, err == nil
}

func (s *source) page(ctx context.Context, at *url.URL) (p page, next *url.URL, err error) {
	body, err := s.http.Get(ctx, fetch.Request{URL: at.String(), MaxBytes: maxPage})
	if err != nil {
		return p, nil, err
	}
	p, err = decode(body)
	if err == nil && p.NextPageLink != "" {
		next, err = feed.Follow(at, p.NextPageLink)
	}
	if err == nil && p.BillingCurrency != string(s.currency) {
		err = fmt.Errorf("prices in %q where %s was asked for", p.BillingCurrency, s.currency)
	}
	if err != nil {
		return p, nil, fetch.Malformed(at.String(), err)
	}
	return p, next, nil
}

func decode(body []byte) (page, error) {
	var p page
	if err := json.Unmarshal(body, &p); err != nil {
		return p, err
	}
	if p.Items == nil || p.Count == nil || *p.Count < 0 {
		return p, errors.New("no Items or no Count")
	}
	return p, nil
}
