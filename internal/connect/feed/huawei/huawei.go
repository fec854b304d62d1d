// Package huawei reads Huawei Cloud's flavors with accelerators, region by region, and asks for their official prices on demand.
//
// Invariants: official prices, not the account's; a flavor that has no price is listed without; a region that fails is lost.
// Imported by front/app only.
package huawei

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/fetch"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// Maker makes the source of kind huawei.
// Source: https://support.huaweicloud.com/intl/en-us/api-oce/bcloud_01001.html (prices) and
// https://support.huaweicloud.com/intl/en-us/api-ecs/en-us_topic_0020212656.html (flavors)
var Maker = feed.Maker{
	Kind: "huawei", Layer: catalog.Vendor, Title: "Huawei Cloud ECS",
	Reference: "https://bss.myhuaweicloud.com/v2/bills/ratings/on-demand-resources", Licence: "not stated", New: open,
}

const (
	vendor = "huawei"
	// perSecond is how often to ask: the limits are per account and not the same for all actions.
	perSecond = 5
	// maxAnswer bounds an answer: all flavors of a region are some 2 MB.
	maxAnswer = 32 << 20
	// atOnce is how many prices one question may ask for.
	atOnce = 100
	// yuan is the unit of amounts in answers: the whole unit of the currency.
	yuan = 1
)

// sites are the servers of prices of the two that accounts belong to.
var sites = map[string]string{"china": "https://bss.myhuaweicloud.com", "intl": "https://bss-intl.myhuaweicloud.com"}

type source struct {
	feed.Config
	http  *fetch.Client
	world feed.World
	bss   string
	keys  keys
}

func open(c feed.Config, w feed.World) (feed.Source, error) {
	faults := c.Check(feed.Takes{Regions: true, Endpoints: []string{"iam", "ecs"}, Options: []string{"site"}})
	name, bad := c.Choice("site", "china", "intl")
	if bad != nil {
		faults = append(faults, bad)
	}
	if err := faults.OrNil(); err != nil {
		return nil, err
	}
	s := &source{Config: c, http: c.Client(w.HTTP, perSecond), world: w, bss: c.Address("", sites[name]), keys: credentials(w)}
	if s.keys.ak == "" || s.keys.sk == "" {
		return nil, feed.NoCredentials(c.Name, "HUAWEICLOUD_SDK_AK + HUAWEICLOUD_SDK_SK", "~/.huaweicloud/credentials")
	}
	return s, nil
}

// ask asks a server; project is the one whose resources are asked about, where it matters.
func (s *source) ask(ctx context.Context, method, address, project string, body []byte, into any) error {
	r := fetch.Request{
		Method: method, URL: address, Body: body, Secret: true, MaxBytes: maxAnswer, Header: http.Header{},
		Sign: func(r *http.Request) error { s.keys.sign(r, body, s.world.Now()); return nil },
	}
	if project != "" {
		r.Header.Set("X-Project-Id", project)
	}
	return feed.JSON(ctx, s.http, r, into)
}

// Fetch reads region by region.
func (s *source) Fetch(ctx context.Context, to feed.Sink) error {
	projects, err := s.projects(ctx)
	if err != nil {
		return err
	}
	regions := slices.Sorted(maps.Keys(projects))
	var rows, passed atomic.Int64
	lost, err := feed.Each(ctx, to, regions, func(ctx context.Context, region string) error {
		n, others, err := s.region(ctx, region, projects[region], to)
		rows.Add(int64(n))
		passed.Add(int64(others))
		return err
	})
	if err != nil {
		return err
	}
	feed.Lose(to, vendor, lost)
	if rows.Load() == 0 && len(lost) == 0 && (passed.Load() == 0 || len(s.Regions) == 0) { // a region may have no accelerators, but not all
		return feed.Empty(s.Name)
	}
	return nil
}

// projects are the account's project of each region, which has the region's name; others (cn-north-4_tests) are below these.
func (s *source) projects(ctx context.Context) (map[string]string, error) {
	var answer struct {
		Projects []struct {
			ID      string `json:"id"`
			Name    string `json:"name"`
			Enabled bool   `json:"enabled"`
		} `json:"projects"`
	}
	if err := s.ask(ctx, http.MethodGet, s.Address("iam", "https://iam.myhuaweicloud.com")+"/v3/projects", "", nil, &answer); err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, p := range answer.Projects {
		if p.Enabled && p.ID != "" && strings.Contains(p.Name, "-") && !strings.Contains(p.Name, "_") && (len(s.Regions) == 0 || slices.Contains(s.Regions, p.Name)) {
			found[p.Name] = p.ID
		}
	}
	if len(found) == 0 {
		return nil, feed.Empty(s.Name)
	}
	return found, nil
}

// region adds what a region sells, once it has all of it: flavors with accelerators, and others.
func (s *source) region(ctx context.Context, region, project string, to feed.Sink) (rows, passed int, err error) {
	var answer struct {
		Flavors *[]flavor `json:"flavors"`
	}
	at := s.Address("ecs", "https://ecs."+region+".myhuaweicloud.com") + "/v1/" + project + "/cloudservers/flavors"
	if err := s.ask(ctx, http.MethodGet, at, project, nil, &answer); err != nil {
		return 0, 0, err
	}
	if answer.Flavors == nil {
		return 0, 0, fetch.Malformed(at, errors.New("no flavors"))
	}
	var found []flavor
	for _, f := range *answer.Flavors {
		if f.accelerated() && !f.gone() {
			found = append(found, f)
		}
	}
	prices := map[string]money.Rate{}
	for part := range slices.Chunk(found, atOnce) {
		if err := s.prices(ctx, region, project, part, prices); err != nil {
			return 0, 0, err
		}
	}
	if len(found) > 0 && len(prices) == 0 { // not one of them is sold: the questions are wrong, or the answers
		return 0, 0, feed.Empty(s.Name + " " + region)
	}
	for _, f := range found {
		f.emit(region, prices[f.Name], to)
	}
	passed = len(*answer.Flavors) - len(found)
	to.Pass(passed)
	to.Covers(vendor, region, catalog.OnDemand)
	return len(found), passed, nil
}

// product is one price that is asked for: an hour of a machine with Linux.
type product struct {
	ID       string `json:"id"`
	Service  string `json:"cloud_service_type"`
	Resource string `json:"resource_type"`
	Spec     string `json:"resource_spec"`
	Region   string `json:"region"`
	Factor   string `json:"usage_factor"`
	Value    int    `json:"usage_value"`
	Measure  int    `json:"usage_measure_id"` // 4: hours
	Number   int    `json:"subscription_num"`
}

// prices asks for the prices of some flavors. A question with one that has no price fails as a whole, so it is asked again in
// halves, down to the one.
func (s *source) prices(ctx context.Context, region, project string, flavors []flavor, into map[string]money.Rate) error {
	products := make([]product, len(flavors))
	for i, f := range flavors {
		products[i] = product{
			ID: strconv.Itoa(i), Service: "hws.service.type.ec2", Resource: "hws.resource.type.vm", Spec: f.Name + ".linux", Region: region,
			Factor: "Duration", Value: 1, Measure: 4, Number: 1,
		}
	}
	body, err := json.Marshal(map[string]any{"project_id": project, "product_infos": products})
	if err != nil {
		return err
	}
	var answer struct {
		Currency money.Currency `json:"currency"`
		Measure  int            `json:"measure_id"`
		Results  []struct {
			ID       string      `json:"id"`
			Official feed.Number `json:"official_website_amount"`
			Measure  int         `json:"measure_id"`
		} `json:"product_rating_results"`
	}
	at := s.bss + "/v2/bills/ratings/on-demand-resources"
	err = s.ask(ctx, http.MethodPost, at, "", body, &answer)
	switch {
	case err != nil && !unpriced(err):
		return err
	case err != nil && len(flavors) == 1:
		return nil
	case err != nil:
		half := len(flavors) / 2
		return errors.Join(s.prices(ctx, region, project, flavors[:half], into), s.prices(ctx, region, project, flavors[half:], into))
	case len(answer.Currency) != 3 || len(answer.Results) != len(flavors):
		return fetch.Malformed(at, errors.New("no currency, or not the prices that were asked for"))
	}
	for _, r := range answer.Results {
		i, err := strconv.Atoi(r.ID)
		if err != nil || i < 0 || i >= len(flavors) || r.Measure != yuan && answer.Measure != yuan {
			return fetch.Malformed(at, errors.New("a price of nothing that was asked for, or in another unit"))
		}
		rate, err := feed.Hourly(string(r.Official), 1, answer.Currency)
		if err != nil {
			return fetch.Malformed(at, err)
		}
		into[flavors[i].Name] = rate
	}
	return nil
}

// unpriced says whether an answer is the billing system's own refusal of what was asked for.
func unpriced(err error) bool {
	status, ok := errors.AsType[*fetch.StatusError](err)
	var said struct {
		Code string `json:"error_code"`
	}
	return ok && status.Status == http.StatusBadRequest && json.Unmarshal(status.Body, &said) == nil && strings.HasPrefix(said.Code, "CBC.")
}
