// Package alibaba reads Alibaba Cloud's list prices of machines with accelerators: from the signed ECS interface, with spot
// prices and stock, or from the data of its public price page, which asks for no credentials.
//
// Invariants: list prices, not the account's; prices of the machine alone, without the disk that a quote is for; a region that
// fails is lost. Imported by front/app only.
package alibaba

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/fetch"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// Maker makes the source of kind alibaba.
// Source: https://www.alibabacloud.com/help/en/ecs/developer-reference/api-ecs-2014-05-26-describeprice
var Maker = feed.Maker{
	Kind: "alibaba", Layer: catalog.Vendor, Title: "Alibaba Cloud ECS",
	Reference: "https://ecs.aliyuncs.com", Licence: "not stated", New: open,
}

const (
	vendor  = "alibaba"
	version = "2014-05-26"
	address = "https://ecs.aliyuncs.com"
	// perSecond is how often to ask; the limits differ by action and account, and past them the answer is Throttling.
	perSecond = 10
	// maxAnswer bounds an answer: what a region sells is some 500 kB, a page of 100 types 300 kB.
	maxAnswer = 16 << 20
	// maxPages bounds lists whose pages do not end.
	maxPages = 100
	// busyWait is the first wait after a Throttling.
	busyWait = time.Second
)

var modes = []catalog.BillingMode{catalog.OnDemand, catalog.Spot, catalog.PrepaidMonthHourly, catalog.PrepaidYearHourly}

type source struct {
	feed.Config
	http    *fetch.Client
	world   feed.World
	address string
	keys    keys
}

func open(c feed.Config, w feed.World) (feed.Source, error) {
	if err := c.Check(feed.Takes{Regions: true}).OrNil(); err != nil {
		return nil, err
	}
	s := &source{Config: c, http: c.Client(w.HTTP, perSecond), world: w, address: c.Address("", address), keys: credentials(w)}
	if s.keys.id == "" || s.keys.secret == "" {
		return nil, feed.NoCredentials(c.Name, "ALIBABA_CLOUD_ACCESS_KEY_ID + ALIBABA_CLOUD_ACCESS_KEY_SECRET", "~/.aliyun/config.json")
	}
	return s, nil
}

// own is a server of the vendor, where credentials may go.
var own = regexp.MustCompile(`^[a-z0-9.-]+\.aliyuncs\.com$`)

// ask calls an action at a server, which is the central one where there is no other.
func (s *source) ask(ctx context.Context, server, action string, params map[string]string, into any) error {
	at := s.address
	if s.Endpoint == "" && own.MatchString(server) {
		at = "https://" + server
	}
	r := fetch.Request{
		Method: http.MethodPost, URL: at + "/?" + query(params), Secret: true, MaxBytes: maxAnswer, Header: http.Header{"Accept": {"application/json"}},
		Sign: func(r *http.Request) error { s.keys.sign(r, action, nonce(), s.world.Now()); return nil },
	}
	return feed.Patient(ctx, busyWait, func() (bool, error) {
		err := feed.JSON(ctx, s.http, r, into)
		code := codeOf(err)
		if code != "" { // says more than its status: a key that is not there is 404, too
			err = feed.Refused(s.Name, code).Wrap(err)
		}
		return strings.HasPrefix(code, "Throttling"), err
	})
}

// codeOf is the vendor's own code in an answer that is an error; empty where there is none.
func codeOf(err error) string {
	status, ok := errors.AsType[*fetch.StatusError](err)
	var said struct{ Code string }
	if !ok || json.Unmarshal(status.Body, &said) != nil { // a proxy's page, for example: no code
		return ""
	}
	return said.Code
}

// region is a region with the server that knows it.
type region struct {
	RegionID       string `json:"RegionId"`
	RegionEndpoint string
}

// Fetch reads which types have accelerators, and then region by region what they cost and whether there are any left.
func (s *source) Fetch(ctx context.Context, to feed.Sink) error {
	types, passed, err := s.types(ctx)
	if err != nil {
		return err
	}
	regions, err := s.regions(ctx)
	if err != nil {
		return err
	}
	to.Pass(passed)
	var rows atomic.Int64
	lost, err := feed.Each(ctx, to, slices.Sorted(maps.Keys(regions)), func(ctx context.Context, name string) error {
		n, err := s.region(ctx, regions[name], types, to)
		rows.Add(int64(n))
		return err
	})
	if err != nil {
		return err
	}
	feed.Lose(to, vendor, lost)
	if rows.Load() == 0 && len(lost) == 0 {
		return feed.Empty(s.Name)
	}
	return nil
}

func (s *source) regions(ctx context.Context) (map[string]region, error) {
	var answer struct {
		Regions struct {
			Region []region
		}
	}
	if err := s.ask(ctx, "", "DescribeRegions", nil, &answer); err != nil {
		return nil, err
	}
	found := map[string]region{}
	for _, r := range answer.Regions.Region {
		if r.RegionID != "" && (len(s.Regions) == 0 || slices.Contains(s.Regions, r.RegionID)) {
			found[r.RegionID] = r
		}
	}
	if len(found) == 0 {
		return nil, feed.Empty(s.Name)
	}
	return found, nil
}

// types are the types with accelerators, and the number of those without.
func (s *source) types(ctx context.Context) (map[string]machine, int, error) {
	found := map[string]machine{}
	passed, token := 0, ""
	for range maxPages {
		params := map[string]string{"MaxResults": "100"}
		if token != "" {
			params["NextToken"] = token
		}
		var answer struct {
			InstanceTypes struct {
				InstanceType []machine
			}
			NextToken string
		}
		if err := s.ask(ctx, "", "DescribeInstanceTypes", params, &answer); err != nil {
			return nil, 0, err
		}
		for _, m := range answer.InstanceTypes.InstanceType {
			if !m.accelerated() {
				passed++
				continue
			}
			found[m.ID] = m
		}
		if token = answer.NextToken; token == "" {
			if len(found) == 0 {
				return nil, 0, feed.Empty(s.Name)
			}
			return found, passed, nil
		}
	}
	return nil, 0, fetch.Malformed(s.address, errors.New("pages without end"))
}

// region adds what a region sells, once it has all of it.
func (s *source) region(ctx context.Context, r region, types map[string]machine, to feed.Sink) (int, error) {
	stock, err := s.stock(ctx, r)
	if err != nil {
		return 0, err
	}
	var offers []offer
	priced := false
	for _, id := range slices.Sorted(maps.Keys(stock)) {
		m, ok := types[id]
		if !ok {
			continue
		}
		o := offer{machine: m, region: r.RegionID, inStock: stock[id]}
		if o.prices, err = s.prices(ctx, r, id); err != nil {
			return 0, err
		}
		if o.spots, err = s.spots(ctx, r, id); err != nil {
			return 0, err
		}
		priced = priced || len(o.prices)+len(o.spots) > 0
		offers = append(offers, o)
	}
	if len(offers) > 0 && !priced { // not one of them is sold: the questions are wrong, or the answers
		return 0, feed.Empty(s.Name + " " + r.RegionID)
	}
	for _, o := range offers {
		o.emit(to)
	}
	to.Covers(vendor, r.RegionID, modes...)
	return len(offers), nil
}

// stock is which types a region sells, and whether any are left in one of its zones.
func (s *source) stock(ctx context.Context, r region) (map[string]bool, error) {
	var answer struct {
		AvailableZones *struct {
			AvailableZone []struct {
				AvailableResources struct {
					AvailableResource []struct {
						SupportedResources struct {
							SupportedResource []struct{ Value, Status string }
						}
					}
				}
			}
		}
	}
	err := s.ask(ctx, r.RegionEndpoint, "DescribeAvailableResource", map[string]string{
		"RegionId": r.RegionID, "DestinationResource": "InstanceType", "IoOptimized": "optimized",
		"InstanceChargeType": "PostPaid", "NetworkCategory": "vpc", "ResourceType": "instance",
	}, &answer)
	if err != nil {
		return nil, err
	}
	if answer.AvailableZones == nil {
		return nil, fetch.Malformed(s.address, errors.New("no AvailableZones"))
	}
	left := map[string]bool{}
	for _, z := range answer.AvailableZones.AvailableZone {
		for _, a := range z.AvailableResources.AvailableResource {
			for _, t := range a.SupportedResources.SupportedResource {
				left[t.Value] = left[t.Value] || t.Status == "Available"
			}
		}
	}
	return left, nil
}
