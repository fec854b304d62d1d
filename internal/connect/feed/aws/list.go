package aws

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/fetch"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

const (
	// perSecond is how often to ask the server of price lists, which documents no limit.
	perSecond = 10
	// maxIndex bounds an index: that of services has 200 KB.
	maxIndex = 16 << 20
	// maxList bounds the file of a region: the largest have half a gigabyte.
	maxList = 4 << 30
)

// listed are the ways of paying that the price list of EC2 has everything about.
var listed = []catalog.BillingMode{
	catalog.OnDemand, catalog.Reserved1Y, catalog.Reserved1YPartial, catalog.Reserved1YAll,
	catalog.Reserved3Y, catalog.Reserved3YPartial, catalog.Reserved3YAll,
}

// planned are the ways of paying that the price list of savings plans has everything about.
var planned = []catalog.BillingMode{catalog.SavingsPlan1Y, catalog.SavingsPlan3Y}

func listMaker(kind, title string, p partition) feed.Maker {
	return feed.Maker{
		Kind: kind, Keyless: true, Layer: catalog.Vendor, Title: title, Reference: p.list + p.offers, Licence: "not stated",
		New: func(c feed.Config, w feed.World) (feed.Source, error) {
			faults := c.Check(feed.Takes{Regions: true, Options: []string{"savings-plan"}})
			family, ok := planFamilies[c.Options["savings-plan"]]
			if !ok {
				faults = append(faults, c.Bad("savings-plan", c.Options["savings-plan"], "compute, ec2-instance"))
			}
			if len(faults) > 0 {
				return nil, faults
			}
			return &list{Config: c, http: c.Client(w.HTTP, perSecond), world: w, address: c.Address("", p.list), offers: p.offers, family: family}, nil
		},
	}
}

// list is the price list of one partition.
type list struct {
	feed.Config
	http            *fetch.Client
	world           feed.World
	address, offers string
	family          string // of savings plans
}

// Fetch reads region by region; one that fails is lost, the others stand.
func (l *list) Fetch(ctx context.Context, to feed.Sink) error {
	index, err := l.index(ctx)
	if err != nil {
		return err
	}
	regions, err := l.regions(ctx, index.Regions)
	if err != nil {
		return err
	}
	plans, unplanned := l.savings(ctx, index.Plans)
	var codes []string
	for _, r := range regions {
		codes = append(codes, r.code)
	}
	strangers := l.Strangers(codes, codes)
	regions = slices.DeleteFunc(regions, func(r region) bool { return len(l.Regions) > 0 && !slices.Contains(l.Regions, r.code) })
	if len(regions) == 0 {
		return l.Nothing(strangers)
	}
	feed.Lose(to, vendor, strangers)
	asked := &reading{list: l, known: known(l.world), to: to, today: l.world.Now().UTC().Format(time.DateOnly), plans: plans, unplanned: unplanned}
	return asked.all(ctx, regions)
}

// index is where the list of services says that the files of EC2 are.
type index struct {
	Regions string `json:"currentRegionIndexUrl"`
	Plans   string `json:"currentSavingsPlanIndexUrl"` // empty where no savings plans are sold
}

func (l *list) index(ctx context.Context) (index, error) {
	body, err := l.http.Get(ctx, fetch.Request{URL: l.address + l.offers, MaxBytes: maxIndex})
	if err != nil {
		return index{}, err
	}
	i, err := decodeIndex(body)
	if err != nil {
		return index{}, fetch.Malformed(l.address+l.offers, err)
	}
	return i, nil
}

func decodeIndex(body []byte) (index, error) {
	var all struct{ Offers map[string]index }
	if err := json.Unmarshal(body, &all); err != nil {
		return index{}, err
	}
	i := all.Offers["AmazonEC2"]
	if !onServer(i.Regions) || i.Plans != "" && !onServer(i.Plans) {
		return index{}, errors.New("no address of AmazonEC2's regions on this server")
	}
	return i, nil
}

// onServer says whether an address that an index names lies on the server that was asked.
func onServer(path string) bool {
	return strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "//")
}

// region is where the prices of a region are.
type region struct{ code, path string }

// regions are those that the index of EC2 names.
func (l *list) regions(ctx context.Context, path string) ([]region, error) {
	body, err := l.http.Get(ctx, fetch.Request{URL: l.address + path, MaxBytes: maxIndex})
	if err != nil {
		return nil, err
	}
	regions, err := decodeRegions(body)
	if err == nil && len(regions) == 0 {
		return nil, feed.Empty(l.Name)
	}
	if err != nil {
		return nil, fetch.Malformed(l.address+path, err)
	}
	return regions, nil
}

// decodeRegions reads an index of regions in either form: that of a service, an object, and that of savings plans, an array.
// The files it names are JSON; the same in CSV lie beside them.
func decodeRegions(body []byte) ([]region, error) {
	type entry struct {
		Code    string `json:"regionCode"`
		Current string `json:"currentVersionUrl"`
		Version string `json:"versionUrl"`
	}
	var all struct{ Regions json.RawMessage }
	if err := json.Unmarshal(body, &all); err != nil {
		return nil, err
	}
	var entries []entry
	if strings.HasPrefix(string(all.Regions), "{") {
		var named map[string]entry
		if err := json.Unmarshal(all.Regions, &named); err != nil {
			return nil, err
		}
		for _, name := range slices.Sorted(maps.Keys(named)) {
			entries = append(entries, named[name])
		}
	} else if err := json.Unmarshal(all.Regions, &entries); err != nil {
		return nil, errors.New("no list of regions")
	}
	var regions []region
	for _, e := range entries {
		path, ok := strings.CutSuffix(e.Current+e.Version, ".json")
		if e.Code == "" || !ok || !onServer(path) {
			return nil, fmt.Errorf("region %q without an address on this server", e.Code)
		}
		regions = append(regions, region{e.Code, path + ".csv"})
	}
	return regions, nil
}

// savings is where the savings plans of each region are; where that cannot be read, the prices without them still stand.
func (l *list) savings(ctx context.Context, path string) (map[string]string, error) {
	if path == "" {
		return nil, nil
	}
	regions, err := l.regions(ctx, path)
	plans := map[string]string{}
	for _, r := range regions {
		plans[r.code] = r.path
	}
	return plans, err
}

// reading is one Fetch.
type reading struct {
	*list
	known     map[string]*catalog.Machine
	to        feed.Sink
	today     string
	plans     map[string]string // path of the savings plans by region
	unplanned error             // why there is none
	sold      atomic.Int64      // machines
}

// all reads all regions. Without a machine in any it is an error.
func (r *reading) all(ctx context.Context, regions []region) error {
	paths := map[string]string{}
	for _, at := range regions {
		paths[at.code] = at.path
	}
	lost, err := feed.Each(ctx, r.to, slices.Sorted(maps.Keys(paths)), func(ctx context.Context, code string) error {
		return r.region(ctx, region{code, paths[code]})
	})
	if err == nil && len(lost) == 0 && r.sold.Load() == 0 {
		err = feed.Empty(r.Name)
	}
	feed.Lose(r.to, vendor, lost)
	return err
}

// region reads one region. Where only its savings plans fail, the rest stands.
func (r *reading) region(ctx context.Context, at region) error {
	var o *offers
	err := r.stream(ctx, at.path, func(in io.Reader) (err error) {
		o, err = readOffers(in, r.address+at.path, r.today, r.known)
		return err
	})
	if err == nil && o.rows == 0 {
		err = feed.Empty(r.Name + " " + at.code)
	}
	if err != nil {
		return err
	}
	machines := o.done()
	plans, err := r.rates(ctx, at.code, machines)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		r.to.Lost(vendor, at.code, err)
	}
	if plans != nil {
		o.passed += plans.passed
		plans.join(machines)
	}
	for _, rejected := range o.rejected {
		r.to.Reject(rejected)
	}
	r.to.Pass(o.passed)
	r.sold.Add(int64(len(machines)))
	covered := map[string]bool{at.code: true}
	for _, m := range machines {
		r.to.Add(m.Listing)
		covered[m.Region] = true
	}
	for code := range covered {
		if !o.broken { // a machine whose price cannot be read may still be sold
			r.to.Covers(vendor, code, listed...)
		}
		if plans != nil && !plans.broken {
			r.to.Covers(vendor, code, planned...)
		}
	}
	return nil
}

// stream reads a file as it comes. What its reader cannot make sense of is no price list.
func (r *reading) stream(ctx context.Context, path string, read func(io.Reader) error) error {
	return r.http.Stream(ctx, fetch.Request{URL: r.address + path, MaxBytes: maxList}, func(in io.Reader) error {
		if err := read(in); err != nil {
			return fetch.Malformed(r.address+path, err)
		}
		return nil
	})
}
