package aws

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/fetch"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/catalog/intake"
)

// Spot makes the source of kind aws-spot: what spot machines cost now, by zone, as an account is told.
// Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeSpotPriceHistory.html
var Spot = feed.Maker{
	Kind: "aws-spot", Layer: catalog.Vendor, Title: "AWS EC2 DescribeSpotPriceHistory",
	Reference: "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeSpotPriceHistory.html", Licence: "not stated", New: openSpot,
}

// partitions are the parts of AWS by the names that AWS gives them.
var partitions = map[string]partition{"": worldwide, "aws": worldwide, "aws-cn": china, "aws-us-gov": {api: "amazonaws.com", home: "us-gov-west-1", spot: money.USD}}

// maxPages bounds a list whose pages lead on without end; a region has some ten.
const maxPages = 200

type spot struct {
	feed.Config
	http      *fetch.Client
	world     feed.World
	keys      *keys
	partition partition
}

func openSpot(c feed.Config, w feed.World) (feed.Source, error) {
	faults := c.Check(feed.Takes{Regions: true, Options: []string{"profile", "partition", "imds"}})
	p, ok := partitions[c.Options["partition"]]
	if !ok {
		faults = append(faults, c.Bad("partition", c.Options["partition"], "aws, aws-cn, aws-us-gov"))
	}
	if v := c.Options["imds"]; v != "" && v != "true" && v != "false" {
		faults = append(faults, c.Bad("imds", v, "true, false"))
	}
	for _, r := range c.Regions {
		if !regionName.MatchString(r) {
			faults = append(faults, c.Bad("regions", r, "us-east-1, eu-west-1 …"))
		}
	}
	if len(faults) > 0 {
		return nil, faults
	}
	k, err := findKeys(c, w, p.home)
	if err != nil {
		return nil, err
	}
	return &spot{Config: c, http: c.Client(w.HTTP, perSecondEC2), world: w, keys: k, partition: p}, nil
}

// regionName is what may become part of an address that keys are sent to.
var regionName = regexp.MustCompile(`^[a-z]{2,4}(?:-[a-z]+)+-[0-9]{1,2}$`)

// server is the address of the EC2 interface in a region.
func (s *spot) server(region string) string {
	return strings.ReplaceAll(s.Address("", "https://ec2.{region}."+s.partition.api), "{region}", region)
}

// Fetch reads region by region; one that fails is lost, the others stand.
func (s *spot) Fetch(ctx context.Context, to feed.Sink) error {
	keys, err := s.keys.open(ctx)
	if err != nil {
		return err
	}
	regions, err := s.regions(ctx, keys)
	if err != nil {
		return err
	}
	types := known(s.world)
	lost, err := feed.Each(ctx, to, regions, func(ctx context.Context, region string) error {
		return s.region(ctx, keys, region, types, to)
	})
	for region, why := range lost {
		if closed(why) {
			lost[region] = problem.New(problem.Input, "feed.aws_region_closed", problem.Args{"Source": s.Name, "Region": region})
		}
	}
	feed.Lose(to, vendor, lost)
	return err
}

// regions are those the user named, or those open to the account. Local Zones are no regions of the interface: what they cost
// comes with the region they belong to.
func (s *spot) regions(ctx context.Context, keys sdk.CredentialsProvider) ([]string, error) {
	if len(s.Regions) > 0 {
		return slices.Compact(slices.Sorted(slices.Values(s.Regions))), nil
	}
	var answer regionsAnswer
	if err := s.ask(ctx, keys, s.partition.home, "DescribeRegions", url.Values{}, &answer); err != nil {
		return nil, err
	}
	var regions []string
	for _, r := range answer.Regions {
		if !regionName.MatchString(r.Name) {
			return nil, fetch.Malformed(s.server(s.partition.home), fmt.Errorf("a region named %q", r.Name))
		}
		regions = append(regions, r.Name)
	}
	if len(regions) == 0 {
		return nil, feed.Empty(s.Name)
	}
	return slices.Compact(slices.Sorted(slices.Values(regions))), nil
}

// region reads the prices of a region that hold now.
func (s *spot) region(ctx context.Context, keys sdk.CredentialsProvider, region string, known map[string]*catalog.Machine, to feed.Sink) error {
	p := newPrices(s.Name, region, s.partition.spot, known)
	// From now on is what holds now: the last change of each price, however long ago.
	q := url.Values{
		"StartTime": {s.world.Now().UTC().Format("2006-01-02T15:04:05Z")}, "MaxResults": {"1000"},
		"ProductDescription.1": {"Linux/UNIX"}, "ProductDescription.2": {"Linux/UNIX (Amazon VPC)"}, // the second in accounts of before 2013
	}
	for page := 0; ; page++ {
		var answer pricesAnswer
		if err := s.ask(ctx, keys, region, "DescribeSpotPriceHistory", q, &answer); err != nil {
			return err
		}
		for _, row := range answer.Prices {
			p.add(row)
		}
		if answer.Next == "" {
			break
		}
		if answer.Next == q.Get("NextToken") || page == maxPages {
			return fetch.Malformed(s.server(region), errors.New("pages without end"))
		}
		q.Set("NextToken", answer.Next)
	}
	if p.seen == 0 {
		return feed.Empty(s.Name + " " + region)
	}
	p.emit(to, s.describe(ctx, keys, region, p.unknown()))
	return ctx.Err()
}

// prices are the newest of one region by type and zone.
type prices struct {
	file, region string
	currency     money.Currency
	known        map[string]*catalog.Machine
	newest       map[[2]string]dated // by type and zone
	rejected     []intake.Rejection
	seen, passed int
	broken       bool // a row could not be read
}

type dated struct {
	price money.Rate
	since time.Time
	line  int
}

func newPrices(file, region string, currency money.Currency, known map[string]*catalog.Machine) *prices {
	return &prices{file: file + "/" + region, region: region, currency: currency, known: known, newest: map[[2]string]dated{}}
}

func (p *prices) add(row spotPrice) {
	p.seen++
	// The list does not say what has accelerators.
	if row.Product != "Linux/UNIX" && row.Product != "Linux/UNIX (Amazon VPC)" || p.known[row.Type] == nil && !accelerated.MatchString(row.Type) {
		p.passed++
		return
	}
	price, err := feed.Hourly(row.Price, 1, p.currency)
	since, notDate := time.Parse(time.RFC3339, row.Since)
	switch {
	case err != nil:
		p.bad(row, "spotPrice", row.Price, "price")
		return
	case notDate != nil:
		p.bad(row, "timestamp", row.Since, "2006-01-02T15:04:05Z")
		return
	case !strings.HasPrefix(row.Zone, p.region):
		p.bad(row, "availabilityZone", row.Zone, p.region+"…")
		return
	case price.IsZero():
		p.reject(row, intake.Kind(catalog.ZeroPrice), nil)
		return
	}
	key, next := [2]string{row.Type, row.Zone}, dated{price, since, p.seen}
	if old, there := p.newest[key]; there {
		p.passed++
		// Of two as new the dearer, so that nothing is promised for less than it may cost.
		if cmp.Or(next.since.Compare(old.since), cmp.Compare(price.Nanos(), old.price.Nanos())) <= 0 {
			return
		}
	}
	p.newest[key] = next
}

func (p *prices) bad(row spotPrice, column, value, want string) {
	p.broken = true
	p.reject(row, intake.Malformed, problem.Args{"Column": column, "Value": value, "Want": want})
}

func (p *prices) reject(row spotPrice, kind intake.Kind, args problem.Args) {
	p.rejected = append(p.rejected, intake.Rejection{Kind: kind, InstanceType: row.Type, Region: p.region, At: p.place(p.seen), Args: args})
}

func (p *prices) place(line int) intake.Place { return intake.Place{File: p.file, Line: line} }

// unknown are the types that nothing is known of.
func (p *prices) unknown() []string {
	found := map[string]bool{}
	for key := range p.newest {
		if p.known[key[0]] == nil {
			found[key[0]] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// localZone is the name of a zone whose region in the price list is its own: us-west-2-lax-1a lies in us-west-2-lax-1.
var localZone = regexp.MustCompile(`^([a-z-]+-[0-9]+-[a-z]{3}-[0-9]+)[a-z]$`)

func (p *prices) emit(to feed.Sink, described map[string]intake.Listing) {
	for _, r := range p.rejected {
		to.Reject(r)
	}
	to.Pass(p.passed)
	covered := map[string]bool{p.region: true}
	keys := slices.SortedFunc(maps.Keys(p.newest), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	for _, key := range keys {
		l := described[key[0]] // empty where the type is known already
		l.Provider, l.InstanceType, l.Region, l.Zone = vendor, key[0], p.region, key[1]
		if m := localZone.FindStringSubmatch(l.Zone); m != nil {
			l.Region = m[1]
		}
		covered[l.Region] = true
		l.Prices = []catalog.Price{{Mode: catalog.Spot, Hourly: p.newest[key].price, Confidence: catalog.Listed}}
		l.At = p.place(p.newest[key].line)
		to.Add(l)
	}
	for region := range covered {
		if !p.broken { // a machine whose price cannot be read may still be sold
			to.Covers(vendor, region, catalog.Spot)
		}
	}
}

// describe asks what the types are that nothing is known of: new ones, a hundred at most. Keys that may not ask it still bring
// prices, whose types have to be told by their names.
func (s *spot) describe(ctx context.Context, keys sdk.CredentialsProvider, region string, types []string) map[string]intake.Listing {
	if len(types) == 0 {
		return nil
	}
	q := url.Values{}
	for i, name := range types[:min(len(types), 100)] {
		q.Set("InstanceType."+strconv.Itoa(i+1), name)
	}
	var answer typesAnswer
	if err := s.ask(ctx, keys, region, "DescribeInstanceTypes", q, &answer); err != nil {
		return nil
	}
	described := map[string]intake.Listing{}
	for _, t := range answer.Types {
		described[t.Name] = t.listing()
	}
	return described
}

// listing is what the interface says of a type.
func (t *instanceType) listing() intake.Listing {
	l := intake.Listing{
		VCPU: number(t.VCPU), NetworkGbps: network(t.Network), BareMetal: unit.Some(t.BareMetal),
		RAM: amount(t.MiB, unit.MiB),
	}
	if t.DiskNVMe == "supported" || t.DiskNVMe == "required" {
		l.NVMe = amount(t.DiskGB, unit.GB)
	}
	for _, devices := range [][]device{t.GPUs, t.Neurons, t.Inferences} { // Inferentia comes as both of the last
		if len(devices) == 1 {
			d := devices[0]
			l.Accelerator = strings.TrimSpace(d.Maker + " " + d.Name)
			l.Count, l.MiB = number(d.Count).Or(0), float64(amount(d.MiB, unit.MiB).Or(0))/float64(unit.MiB) // 0 is not stated
			break
		}
	}
	return l
}

// amount reads a whole number of some unit up to a petabyte; unknown where it is none.
func amount(text string, of unit.Bytes) unit.Maybe[unit.Bytes] {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 || n > int64(unit.PB/of) {
		return unit.None[unit.Bytes]()
	}
	return unit.Some(unit.Bytes(n) * of)
}
