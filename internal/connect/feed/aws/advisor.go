package aws

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/fetch"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/provider"
)

// Advisor makes the source of kind aws-advisor: how often spot machines were taken away in the last month. It has no prices;
// what it says one saves is an average of that month.
// Source: https://aws.amazon.com/ec2/spot/instance-advisor/
var Advisor = feed.Maker{
	Kind: "aws-advisor", Keyless: true, Layer: catalog.Vendor, Title: "AWS Spot Instance Advisor", Reference: advisorAddress + advisorPath,
	Licence: "not stated",
	New: func(c feed.Config, w feed.World) (feed.Source, error) {
		if err := c.Check(feed.Takes{Regions: true}).OrNil(); err != nil {
			return nil, err
		}
		return &advisor{Config: c, world: w, address: c.Address("", advisorAddress) + advisorPath}, nil
	},
}

const (
	advisorAddress = "https://spot-bid-advisor.s3.amazonaws.com"
	advisorPath    = "/spot-advisor-data.json"
	maxAdvice      = 64 << 20 // it has some 5 MB
)

type advisor struct {
	feed.Config
	world   feed.World
	address string
}

// advice is the file, as far as it is read.
type advice struct {
	Ranges []struct {
		Index int    `json:"index"`
		Label string `json:"label"`
	} `json:"ranges"`
	Regions map[string]map[string]map[string]struct {
		Savings *float64 `json:"s"` // per cent
		Range   *int     `json:"r"`
	} `json:"spot_advisor"` // by region, system and type
}

// Fetch reads the one file there is.
func (a *advisor) Fetch(ctx context.Context, to feed.Sink) error {
	body, err := a.world.HTTP.Get(ctx, fetch.Request{URL: a.address, MaxBytes: maxAdvice})
	if err != nil {
		return err
	}
	var all advice
	bands, passed, err := all.decode(body, known(a.world), a.Regions)
	if err != nil {
		return fetch.Malformed(a.address, err)
	}
	has := slices.Sorted(maps.Keys(all.Regions))
	strangers := a.Strangers(has, has)
	if len(bands) == 0 {
		return a.Nothing(strangers)
	}
	feed.Lose(to, vendor, strangers)
	to.Pass(passed)
	for _, b := range bands {
		b.AsOf, b.Source = a.world.Now().UTC().Format(time.DateOnly), a.Name
		to.Band(b)
	}
	return nil
}

// decode reads the bands of Linux machines with accelerators, of some regions or of all, and counts the other entries.
func (a *advice) decode(body []byte, known map[string]*catalog.Machine, regions []string) (bands []provider.Band, passed int, err error) {
	if err := json.Unmarshal(body, a); err != nil {
		return nil, 0, err
	}
	ranges, err := a.ranges()
	if err != nil {
		return nil, 0, err
	}
	for _, region := range slices.Sorted(maps.Keys(a.Regions)) {
		for _, system := range slices.Sorted(maps.Keys(a.Regions[region])) {
			types := a.Regions[region][system]
			if system != "Linux" || len(regions) > 0 && !slices.Contains(regions, region) {
				passed += len(types)
				continue
			}
			for _, name := range slices.Sorted(maps.Keys(types)) {
				if known[name] == nil && !accelerated.MatchString(name) {
					passed++
					continue
				}
				t := types[name]
				if t.Range == nil || ranges[*t.Range] == "" {
					return nil, 0, fmt.Errorf("%s in %s is in no range", name, region)
				}
				b := provider.Band{Provider: vendor, Region: region, InstanceType: name, Range: ranges[*t.Range]}
				if t.Savings != nil && *t.Savings >= -100 && *t.Savings <= 100 {
					b.Savings = unit.Some(*t.Savings)
				}
				bands = append(bands, b)
			}
		}
	}
	return bands, passed, nil
}

// ranges are what the numbers of the file stand for. They must be the ranges known here: what another one would mean for the
// risk of a stop nobody has said.
func (a *advice) ranges() (map[int]string, error) {
	if len(a.Ranges) == 0 {
		return nil, errors.New("no ranges")
	}
	names := map[int]string{}
	for _, r := range a.Ranges {
		name := strings.ReplaceAll(strings.ReplaceAll(r.Label, "%", ""), " ", "")
		if !slices.Contains(provider.Ranges(), name) {
			return nil, fmt.Errorf("an unknown range %q", r.Label)
		}
		names[r.Index] = name
	}
	return names, nil
}
