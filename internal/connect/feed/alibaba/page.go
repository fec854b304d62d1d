package alibaba

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/fetch"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/catalog/intake"
)

// PageMaker makes the source of kind alibaba-page.
// Source: https://www.aliyun.com/price/ecs/ecs-pricing/zh, which links to the version of its data.
var PageMaker = feed.Maker{
	Kind: "alibaba-page", Keyless: true, Layer: catalog.Vendor, Title: "Alibaba Cloud ECS price page",
	Reference: pageAddress, Licence: "not stated", New: openPage,
}

const (
	pageAddress = "https://www.aliyun.com/price/ecs/ecs-pricing/zh"
	dataAddress = "https://g.alicdn.com"
	// maxHTML bounds the page, which has 1 MB.
	maxHTML = 16 << 20
	// maxPrices bounds the data, which has some 100 MB: all types, regions and systems. It is read as it comes.
	maxPrices = 1 << 30
)

var pageModes = []catalog.BillingMode{catalog.OnDemand, catalog.PrepaidMonthHourly, catalog.PrepaidYearHourly}

// link is where a page says its data are: of the site in China, or the one for other countries.
var link = regexp.MustCompile(`//g\.alicdn\.com(/aliyun/ecs-price-info(?:-intl)?/[0-9]+(?:\.[0-9]+)*)`)

// family is how types with accelerators are named: ecs.gn7i, ecs.ebmgn8v, ecs.vgn6i, ecs.sgn7i, ecs.sccgn7ex, ecs.ga1.
var family = regexp.MustCompile(`^ecs\.(?:ebm|scc)?[sv]?g[na][0-9]`)

type pageSource struct {
	feed.Config
	http  *fetch.Client
	page  string
	data  string
	known map[string]bool
}

func openPage(c feed.Config, w feed.World) (feed.Source, error) {
	if err := c.Check(feed.Takes{Regions: true, Endpoints: []string{"data"}}).OrNil(); err != nil {
		return nil, err
	}
	s := &pageSource{
		Config: c, http: w.HTTP, page: c.Address("", pageAddress), data: c.Address("data", dataAddress), known: map[string]bool{},
	}
	for _, m := range w.Known.Machines {
		if m.Provider == vendor {
			s.known[m.InstanceType] = true
		}
	}
	return s, nil
}

// quotes are the prices of one type; Period counts hours, months and years.
type quotes struct {
	Hours, Months, Years []listed
}

type listed struct {
	Price, Period feed.Number
}

// priced is what a type costs in a region.
type priced struct {
	region, machine string
	quotes          quotes
}

// Fetch finds the data that the page is made of, and reads them.
func (s *pageSource) Fetch(ctx context.Context, to feed.Sink) error {
	html, err := s.http.Get(ctx, fetch.Request{URL: s.page, MaxBytes: maxHTML})
	if err != nil {
		return err
	}
	found := link.FindSubmatch(html)
	if found == nil {
		return fetch.Malformed(s.page, errors.New("no link to price data"))
	}
	at := s.data + string(found[1]) + "/price/download/instancePrice.json"
	var l list
	err = s.http.Stream(ctx, fetch.Request{URL: at, MaxBytes: maxPrices}, func(in io.Reader) error {
		l = list{wanted: s.wanted, progress: to.Progress}
		if err := l.read(in); err != nil {
			return fetch.Malformed(at, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	switch {
	case len(l.currency) != 3:
		return fetch.Malformed(at, errors.New("no currency"))
	case len(l.rows) == 0:
		return feed.Empty(s.Name)
	}
	regions := map[string]bool{}
	for i := range l.rows {
		regions[l.rows[i].region] = true
		l.rows[i].emit(l.currency, i+1, to)
	}
	to.Pass(l.passed)
	for _, r := range slices.Sorted(maps.Keys(regions)) {
		to.Covers(vendor, r, pageModes...)
	}
	return nil
}

// wanted says whether a type in a region is one with accelerators that was asked for.
func (s *pageSource) wanted(region, machine string) bool {
	return (s.known[machine] || family.MatchString(machine)) && (len(s.Regions) == 0 || slices.Contains(s.Regions, region))
}

// list is the data being read: "region::type::network::system::disks" to the prices of a type.
type list struct {
	wanted   func(region, machine string) bool
	progress func(done, total int64)
	currency money.Currency
	rows     []priced
	passed   int
}

// read reads the data as they come, keeping what is wanted.
func (l *list) read(in io.Reader) error {
	d := json.NewDecoder(in)
	if err := begin(d); err != nil {
		return err
	}
	for d.More() {
		key, err := text(d)
		if err != nil {
			return err
		}
		switch key {
		case "currency":
			err = d.Decode(&l.currency)
		case "pricingInfo":
			err = l.prices(d)
		default:
			var skipped json.RawMessage
			err = d.Decode(&skipped)
		}
		if err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil { // the closing brace: without it the data broke off
		return err
	}
	return nil
}

func (l *list) prices(d *json.Decoder) error {
	if err := begin(d); err != nil {
		return err
	}
	for n := 1; d.More(); n++ {
		key, err := text(d)
		if err != nil {
			return err
		}
		var q quotes
		if err := d.Decode(&q); err != nil {
			return err
		}
		if n%10_000 == 0 {
			l.progress(d.InputOffset(), 0)
		}
		part := strings.Split(key, "::")
		if len(part) == 5 && part[2] == "vpc" && part[3] == "linux" && part[4] == "optimized" && l.wanted(part[0], part[1]) {
			l.rows = append(l.rows, priced{part[0], part[1], q})
		} else {
			l.passed++
		}
	}
	_, err := d.Token()
	return err
}

// begin reads the start of an object.
func begin(d *json.Decoder) error {
	t, err := d.Token()
	if err == nil && t != json.Delim('{') {
		err = errors.New("no object where one is documented")
	}
	return err
}

// text reads a key.
func text(d *json.Decoder) (string, error) {
	t, err := d.Token()
	if err != nil {
		return "", err
	}
	key, ok := t.(string)
	if !ok {
		return "", errors.New("no key")
	}
	return key, nil
}

// emit adds a type in a region: the hour, one month and one year; longer prepayments have no way of paying of their own.
func (p *priced) emit(c money.Currency, line int, to feed.Sink) {
	l := intake.Listing{
		Provider: vendor, InstanceType: p.machine, Region: p.region, Flags: []catalog.Flag{catalog.AvailabilityUnknown},
		At: intake.Place{File: "instancePrice.json " + p.region, Line: line},
	}
	for _, q := range []struct {
		of    []listed
		hours int64
		mode  catalog.BillingMode
	}{
		{p.quotes.Hours, 1, catalog.OnDemand},
		{p.quotes.Months, int64(unit.HoursPerMonth), catalog.PrepaidMonthHourly},
		{p.quotes.Years, int64(unit.HoursPerYear), catalog.PrepaidYearHourly},
	} {
		for _, one := range q.of {
			if one.Period != "" && one.Period != "1" || !one.Price.Positive() {
				continue
			}
			rate, err := feed.Hourly(string(one.Price), q.hours, c)
			if err == nil && !rate.IsZero() {
				l.Prices = append(l.Prices, catalog.Price{Mode: q.mode, Hourly: rate, Confidence: catalog.Listed})
			}
			break
		}
	}
	if len(l.Prices) == 0 {
		to.Reject(intake.Rejection{Kind: intake.Kind(catalog.ZeroPrice), InstanceType: p.machine, Region: p.region, At: l.At})
		return
	}
	to.Add(l)
}
