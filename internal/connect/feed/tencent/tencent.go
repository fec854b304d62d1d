// Package tencent reads Tencent Cloud's own list of what each zone sells: on demand, spot and prepaid by the month.
//
// Invariants: list prices, not the account's; a price that falls with the hours a machine runs is the first step's and says so;
// a region that fails is lost. Imported by front/app only.
package tencent

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/fetch"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// Maker makes the source of kind tencent.
// Source: https://www.tencentcloud.com/document/api/213/33254 (DescribeZoneInstanceConfigInfos)
var Maker = feed.Maker{
	Kind: "tencent", Layer: catalog.Vendor, Title: "Tencent Cloud CVM",
	Reference: "https://cvm.tencentcloudapi.com", Licence: "not stated", New: open,
}

const (
	vendor  = "tencent"
	service = "cvm"
	version = "2017-03-12"
	// perSecond is below the documented 40 requests a second.
	perSecond = 20
	// maxAnswer bounds an answer: a large region has some 5,000 rows of 1 kB for each way of paying.
	maxAnswer = 32 << 20
	// busyWait is the first wait after a RequestLimitExceeded.
	busyWait = time.Second
)

// sites are the two that accounts belong to, with what each charges in.
var sites = map[string]struct {
	address  string
	currency money.Currency
}{
	"china": {"https://cvm.tencentcloudapi.com", money.CNY},
	"intl":  {"https://cvm.intl.tencentcloudapi.com", money.USD},
}

// charges are the ways of paying, in the order they are asked for.
var charges = []struct {
	name string
	mode catalog.BillingMode
}{
	{"POSTPAID_BY_HOUR", catalog.OnDemand}, {"SPOTPAID", catalog.Spot}, {"PREPAID", catalog.PrepaidMonthHourly},
}

type source struct {
	feed.Config
	http     *fetch.Client
	world    feed.World
	address  string
	currency money.Currency
	keys     keys
	known    map[string]bool // the types that are known to have accelerators
}

func open(c feed.Config, w feed.World) (feed.Source, error) {
	faults := c.Check(feed.Takes{Regions: true, Options: []string{"site"}})
	name, bad := c.Choice("site", "china", "intl")
	if bad != nil {
		faults = append(faults, bad)
	}
	if err := faults.OrNil(); err != nil {
		return nil, err
	}
	s := &source{
		Config: c, http: c.Client(w.HTTP, perSecond), world: w, address: c.Address("", sites[name].address), currency: sites[name].currency,
		keys: credentials(w), known: map[string]bool{},
	}
	if s.keys.ID == "" || s.keys.Key == "" {
		return nil, feed.NoCredentials(c.Name, "TENCENTCLOUD_SECRET_ID + TENCENTCLOUD_SECRET_KEY", "~/.tccli/default.credential")
	}
	for _, m := range w.Known.Machines {
		if m.Provider == vendor {
			s.known[m.InstanceType] = true
		}
	}
	return s, nil
}

// answer is what every question is answered with; errors come with status 200.
type answer struct {
	Response struct {
		Error *struct {
			Code string
		}
		RegionSet            *[]region
		InstanceTypeQuotaSet *[]item
	}
}

type region struct {
	Region, RegionState string
}

// ask calls an action in a region; financial regions have servers of their own.
func (s *source) ask(ctx context.Context, action, region string, body []byte) (*answer, error) {
	address := s.address
	if s.Endpoint == "" && strings.HasSuffix(region, "-fsi") {
		address = strings.Replace(address, "cvm.", "cvm."+region+".", 1)
	}
	r := fetch.Request{
		Method: http.MethodPost, URL: address + "/", Body: body, Secret: true, MaxBytes: maxAnswer,
		Header: http.Header{"X-Tc-Action": {action}, "X-Tc-Version": {version}},
		Sign:   func(r *http.Request) error { s.keys.sign(r, service, body, s.world.Now()); return nil },
	}
	if region != "" {
		r.Header.Set("X-TC-Region", region)
	}
	var a answer
	err := feed.Patient(ctx, busyWait, func() (bool, error) {
		a = answer{}
		if err := feed.JSON(ctx, s.http, r, &a); err != nil {
			return false, err
		}
		if e := a.Response.Error; e != nil {
			return strings.HasPrefix(e.Code, "RequestLimitExceeded"), feed.Refused(s.Name, e.Code)
		}
		return false, nil
	})
	return &a, err
}

// Fetch reads region by region.
func (s *source) Fetch(ctx context.Context, to feed.Sink) error {
	regions, err := s.regions(ctx)
	if err != nil {
		return err
	}
	var rows, passed atomic.Int64
	lost, err := feed.Each(ctx, to, regions, func(ctx context.Context, region string) error {
		n, others, err := s.region(ctx, region, to)
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

func (s *source) regions(ctx context.Context) ([]string, error) {
	if len(s.Regions) > 0 {
		return slices.Compact(slices.Sorted(slices.Values(s.Regions))), nil
	}
	a, err := s.ask(ctx, "DescribeRegions", "", []byte("{}"))
	if err != nil {
		return nil, err
	}
	if a.Response.RegionSet == nil {
		return nil, fetch.Malformed(s.address, errors.New("no RegionSet"))
	}
	var names []string
	for _, r := range *a.Response.RegionSet {
		if r.Region != "" && r.RegionState == "AVAILABLE" {
			names = append(names, r.Region)
		}
	}
	if len(names) == 0 {
		return nil, feed.Empty(s.Name)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// region reads what a region sells in each way of paying, and adds it once it has all of them: rows with accelerators, and others.
func (s *source) region(ctx context.Context, region string, to feed.Sink) (rows, passed int, err error) {
	type filter struct {
		Name   string
		Values []string
	}
	var all [][]item
	for _, c := range charges {
		body, err := json.Marshal(map[string][]filter{"Filters": {{"instance-charge-type", []string{c.name}}}})
		if err != nil {
			return 0, 0, err
		}
		a, err := s.ask(ctx, "DescribeZoneInstanceConfigInfos", region, body)
		if err != nil {
			return 0, 0, err
		}
		if a.Response.InstanceTypeQuotaSet == nil {
			return 0, 0, fetch.Malformed(s.address, errors.New("no InstanceTypeQuotaSet"))
		}
		all = append(all, *a.Response.InstanceTypeQuotaSet)
	}
	for i, items := range all {
		for j := range items {
			if !items[j].accelerated(s.known) {
				passed++
				continue
			}
			rows++
			items[j].emit(s.currency, region, charges[i].mode, j+1, to)
		}
		to.Covers(vendor, region, charges[i].mode)
	}
	to.Pass(passed)
	return rows, passed, nil
}
