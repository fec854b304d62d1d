// Package gcp reads what Google Cloud's machines with accelerators cost: from the Cloud Billing Catalog, which sells cores,
// memory, accelerators and local SSDs apart and needs a key, and from a public table of whole machines, which needs none.
//
// Invariants: a machine's price is that of all its parts, local SSDs that cannot be declined included, or it has none; a part
// alone is never an offer. Imported by front/app only.
package gcp

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/fetch"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// Maker makes the source of kind gcp.
// Source: https://cloud.google.com/billing/v1/how-tos/catalog-api
var Maker = feed.Maker{
	Kind: "gcp", Layer: catalog.Vendor, Title: "Google Cloud Billing Catalog, put together into machine types",
	Reference: api + list, Licence: "not stated", New: open,
}

const (
	vendor = "gcp"
	api    = "https://cloudbilling.googleapis.com"
	// list is the SKUs of Compute Engine.
	list = "/v1/services/6F81-5844-456A/skus"

	// perSecond is within the 300 calls a minute that the API documents.
	perSecond = 5
	// maxPage bounds a page of 5,000 SKUs, which has 10 MB.
	maxPage = 64 << 20
	// maxPages bounds a list that does not end; it has seven.
	maxPages = 50
)

type source struct {
	feed.Config
	http     *fetch.Client
	world    feed.World
	currency money.Currency
	login    login
}

func open(c feed.Config, w feed.World) (feed.Source, error) {
	if err := c.Check(feed.Takes{Regions: true, Currency: true}).OrNil(); err != nil {
		return nil, err
	}
	s := &source{Config: c, http: c.Client(w.HTTP, perSecond), world: w, currency: money.USD}
	if c.Currency != "" {
		s.currency = c.Currency
	}
	var err error
	s.login, err = credentials(c, w)
	return s, err
}

// Fetch reads all SKUs and puts the machines together.
func (s *source) Fetch(ctx context.Context, to feed.Sink) error {
	header, err := s.login.header(ctx, s.http)
	if err != nil {
		return feed.Told(err, codeOf)
	}
	r := newRates(s.world.Now(), s.currency)
	q := url.Values{"currencyCode": {string(s.currency)}, "pageSize": {"5000"}}
	for pages := int64(1); ; pages++ {
		at := s.Address("", api) + list + "?" + q.Encode()
		body, err := s.http.Get(ctx, fetch.Request{URL: at, Header: header, Secret: true, MaxBytes: maxPage})
		if err != nil {
			return feed.Told(err, codeOf)
		}
		p, err := decode(body)
		switch {
		case err != nil:
		case p.NextPageToken != "" && (p.NextPageToken == q.Get("pageToken") || pages == maxPages):
			err = errors.New("pages without end")
		}
		if err != nil {
			return fetch.Malformed(at, err)
		}
		r.add(p.Skus)
		to.Progress(pages, 0)
		if p.NextPageToken == "" {
			break
		}
		q.Set("pageToken", p.NextPageToken)
	}
	sold := r.emit(to, s.wanted, s.known())
	strangers := s.Strangers(sold, slices.Collect(maps.Keys(r.of)))
	if len(sold) == 0 {
		return s.Nothing(strangers)
	}
	feed.Lose(to, vendor, strangers)
	return nil
}

func (s *source) wanted(region string) bool {
	return len(s.Regions) == 0 || slices.Contains(s.Regions, region)
}

// known is the machines, with their regions, that are known to be sold.
func (s *source) known() map[[2]string]bool {
	known := map[[2]string]bool{}
	for _, o := range s.world.Known.Offers {
		if o.Provider == vendor {
			known[[2]string{o.InstanceType, o.Region}] = true
		}
	}
	return known
}

// login makes the header that a request is let in with.
type login interface {
	header(context.Context, *fetch.Client) (http.Header, error)
}
