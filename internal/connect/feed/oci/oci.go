// Package oci reads what Oracle Cloud's shapes with GPUs cost: shapes from the data of its cost estimator, prices by part
// number from its price list. Both ask for no credentials.
//
// Invariants: a shape's price is that of all that it is charged by; where a part has no price the shape is rejected. Prices are
// the same in all commercial regions, and no list says where a shape is to be had, which every row states. Imported by
// front/app only.
package oci

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"net/url"
	"slices"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/fetch"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/catalog/intake"
)

// Maker makes the source of kind oci.
// Sources: https://docs.oracle.com/en-us/iaas/Content/Billing/Tasks/signingup_topic-Estimating_Costs.htm (the price list),
// https://docs.oracle.com/en-us/iaas/Content/Compute/Concepts/preemptible.htm (half price).
var Maker = feed.Maker{
	Kind: "oci", Keyless: true, Layer: catalog.Vendor, Title: "Oracle Cloud price list and the shapes of its cost estimator",
	Reference: priceList, Licence: "not stated", New: open,
}

const (
	vendor    = "oci"
	priceList = "https://apexapps.oracle.com/pls/apex/cetools/api/v1/products/"
	shapeList = "https://www.oracle.com/a/ocom/docs/cloudestimator2/data/shapes.json"
	// maxAnswer bounds both answers, which have one and three megabytes.
	maxAnswer = 32 << 20
	// maxPages bounds a list that does not end.
	maxPages = 20
	// payAsYouGo is the price without a commitment.
	payAsYouGo = "PAY_AS_YOU_GO"
)

// preemptible is the share of the price on demand that is charged where capacity may be taken back.
var preemptible = big.NewRat(1, 2)

type source struct {
	feed.Config
	http     *fetch.Client
	currency money.Currency
	known    []string // regions; no list says which there are
}

func open(c feed.Config, w feed.World) (feed.Source, error) {
	faults := c.Check(feed.Takes{Regions: true, Currency: true, Endpoints: []string{"shapes"}})
	s := &source{Config: c, http: w.HTTP, currency: money.USD}
	if c.Currency != "" {
		s.currency = c.Currency
	}
	for _, o := range w.Known.Offers {
		if o.Provider == vendor {
			s.known = append(s.known, o.Region)
		}
	}
	slices.Sort(s.known)
	s.known = slices.Compact(s.known)
	return s, faults.OrNil()
}

// Fetch reads both lists and prices every shape in every region.
func (s *source) Fetch(ctx context.Context, to feed.Sink) error {
	strangers := s.Strangers(s.known, s.known)
	regions := slices.DeleteFunc(slices.Clone(s.known), func(r string) bool { return len(s.Regions) > 0 && !slices.Contains(s.Regions, r) })
	if len(regions) == 0 {
		return s.Nothing(strangers)
	}
	at := s.Address("", priceList) + "?" + url.Values{"currencyCode": {string(s.currency)}}.Encode()
	products, err := get[product](ctx, s.http, at)
	if err != nil {
		return err
	}
	to.Progress(1, 2)
	shapes, err := get[shape](ctx, s.http, s.Address("shapes", shapeList))
	if err != nil {
		return err
	}
	to.Progress(2, 2)
	parts := priced(products, s.currency)
	whole, n := true, 0
	for i := range shapes {
		switch l, kind, args := shapes[i].listing(parts, s.currency); {
		case kind == intake.NoAccelerator:
			to.Pass(1)
		case kind != "":
			whole = false
			to.Reject(intake.Rejection{Kind: kind, InstanceType: shapes[i].name(), At: intake.Place{File: "shapes.json", Line: i + 1}, Args: args})
		default:
			n++
			for _, region := range regions {
				l.Region, l.At = region, intake.Place{File: "shapes.json", Line: i + 1}
				to.Add(l)
			}
		}
	}
	if n == 0 {
		return feed.Empty(s.Name)
	}
	feed.Lose(to, vendor, strangers)
	for _, region := range regions {
		if whole { // a shape without a price may still be sold
			to.Covers(vendor, region, catalog.OnDemand, catalog.Spot)
		}
	}
	return nil
}

// list is an answer. Where it is one page of several it links to the next.
type list[T any] struct {
	Items []T `json:"items"`
	Links []struct {
		Rel  string `json:"rel"`
		Href string `json:"href"`
	} `json:"links"`
}

// get reads all pages of a list.
func get[T any](ctx context.Context, client *fetch.Client, address string) ([]T, error) {
	at, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	var items []T
	for range maxPages {
		body, err := client.Get(ctx, fetch.Request{URL: at.String(), MaxBytes: maxAnswer})
		if err != nil {
			return nil, err
		}
		page, err := decode[T](body)
		if err != nil {
			return nil, fetch.Malformed(at.String(), err)
		}
		items = append(items, page.Items...)
		next := ""
		for _, l := range page.Links {
			if l.Rel == "next" {
				next = l.Href
			}
		}
		if next == "" {
			return items, nil
		}
		to, err := feed.Follow(at, next)
		if err != nil {
			return nil, fetch.Malformed(at.String(), err)
		}
		at = to
	}
	return nil, fetch.Malformed(at.String(), errors.New("pages without end"))
}

func decode[T any](body []byte) (list[T], error) {
	var l list[T]
	err := json.Unmarshal(body, &l)
	if err == nil && len(l.Items) == 0 {
		err = errors.New("no items")
	}
	return l, err
}
