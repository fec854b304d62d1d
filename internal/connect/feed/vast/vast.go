// Package vast reads the search for machines of Vast.ai, a market of single machines of private owners, which asks for no
// credentials.
//
// Invariants: one offer per GPU, number and country, at its cheapest machine; single machines are not listed, as they are gone
// within minutes. Imported by front/app only.
package vast

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/fetch"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/catalog/intake"
)

// Maker makes the source of kind vast.
// Source: https://docs.vast.ai/api-reference/search/search-offers
var Maker = feed.Maker{
	Kind: "vast", Keyless: true, Layer: catalog.Vendor, Title: "Vast.ai offers",
	Reference: "https://console.vast.ai/api/v0/bundles/", Licence: "not stated", New: open,
}

const (
	vendor  = "vast"
	address = "https://console.vast.ai/api/v0"
	// perSecond is how often to ask: no limit is documented, and bursts are answered by 429.
	perSecond = 1
	// limit is how many rows are asked for at once. The service has no pages and may give fewer, so the next question begins
	// at the price where the last answer ended.
	limit = 1000
	// maxAnswer bounds an answer: a row has some 3 kB.
	maxAnswer = 32 << 20
	// maxAnswers bounds a market that gets dearer for ever; a whole one has some ten thousand rows.
	maxAnswers = 200
)

type source struct {
	feed.Config
	http    *fetch.Client
	address string
}

func open(c feed.Config, w feed.World) (feed.Source, error) {
	if err := c.Check(feed.Takes{Regions: true}).OrNil(); err != nil {
		return nil, err
	}
	return &source{Config: c, http: c.Client(w.HTTP, perSecond), address: c.Address("", address)}, nil
}

// offer is a machine that is free now.
type offer struct {
	ID        feed.Number `json:"id"`
	GPU       string      `json:"gpu_name"`
	Count     feed.Number `json:"num_gpus"`
	GPURAM    feed.Number `json:"gpu_ram"`             // MiB of one GPU
	Cores     feed.Number `json:"cpu_cores"`           // of the host
	Effective feed.Number `json:"cpu_cores_effective"` // of the machine
	RAM       feed.Number `json:"cpu_ram"`             // MiB of the host
	Base      feed.Number `json:"dph_base"`            // dollars an hour of the machine, without its disk
	Total     feed.Number `json:"dph_total"`           // with a small disk; what the rows are ordered by
	Bid       feed.Number `json:"min_bid"`             // dollars an hour that get it now, until somebody bids more
	Place     string      `json:"geolocation"`
}

// Fetch reads the whole market, dearer and dearer, and adds the cheapest machines once it has them all.
func (s *source) Fetch(ctx context.Context, to feed.Sink) error {
	m := market{}
	seen := map[feed.Number]bool{}
	from, most := feed.Number("0"), 1
	for n := range maxAnswers {
		rows, err := s.ask(ctx, from)
		if err != nil {
			return err
		}
		fresh := 0
		for i, o := range rows {
			if !seen[o.ID] {
				seen[o.ID] = true
				fresh++
				m.add(&rows[i], intake.Place{File: "offers", Line: len(seen)}, to)
			}
		}
		to.Progress(int64(len(seen)), 0)
		if most > 1 && fresh == 0 && len(rows) >= most {
			return fetch.Malformed(s.address, errors.New("a whole answer at one price, so that the rows after it cannot be asked for"))
		}
		if fresh == 0 {
			break
		}
		most = max(most, len(rows))
		if from = rows[len(rows)-1].Total; n == maxAnswers-1 || !from.Positive() {
			return fetch.Malformed(s.address, errors.New("the rows do not end, or have no price"))
		}
	}
	if len(seen) == 0 {
		return feed.Empty(s.Name)
	}
	m.emit(s.Regions, to)
	for _, r := range s.Regions {
		to.Covers(vendor, r, catalog.OnDemand, catalog.Spot)
	}
	if len(s.Regions) == 0 {
		to.Covers(vendor, "", catalog.OnDemand, catalog.Spot)
	}
	return nil
}

type filter map[string]any

// ask reads the machines of trusted owners that are free and cost at least so much, the cheapest first.
func (s *source) ask(ctx context.Context, from feed.Number) ([]offer, error) {
	body, err := json.Marshal(map[string]any{
		"rentable": filter{"eq": true}, "rented": filter{"eq": false}, "verified": filter{"eq": true}, "num_gpus": filter{"gte": 1},
		"dph_total": filter{"gte": json.Number(from)}, "type": "on-demand", "limit": limit, "order": [][2]string{{"dph_total", "asc"}},
	})
	if err != nil {
		return nil, err
	}
	r := fetch.Request{
		Method: http.MethodPost, URL: s.address + "/bundles/", Body: body, Header: http.Header{"Content-Type": {"application/json"}}, MaxBytes: maxAnswer,
	}
	var answer struct {
		Offers *[]offer `json:"offers"`
	}
	if err := feed.JSON(ctx, s.http, r, &answer); err != nil {
		return nil, err
	}
	if answer.Offers == nil {
		return nil, fetch.Malformed(r.URL, errors.New("no offers"))
	}
	return *answer.Offers, nil
}
