// Package runpod reads RunPod's GPUs, their prices and where there are any left, which asks for no credentials.
//
// Invariants: prices are of one GPU and the same everywhere, so a GPU that is left nowhere keeps its price and is sold out; a
// data center or country that cannot be read is lost. Imported by front/app only.
package runpod

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/fetch"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/provider"
)

// Maker makes the source of kind runpod.
// Source: https://docs.runpod.io/sdks/graphql/manage-pods and the fields that public clients ask for.
var Maker = feed.Maker{
	Kind: "runpod", Keyless: true, Layer: catalog.Vendor, Title: "RunPod GPU types",
	Reference: "https://api.runpod.io/graphql", Licence: "not stated", New: open,
}

const (
	vendor  = "runpod"
	address = "https://api.runpod.io/graphql"
	// perSecond is how often to ask: no limit is documented; a reading makes some 70 requests.
	perSecond = 4
	// maxAnswer bounds an answer: all GPU types in one place are some 60 kB.
	maxAnswer = 8 << 20
	// mostGPUs bounds the number of GPUs that one pod may have.
	mostGPUs = 64
)

var modes = []catalog.BillingMode{catalog.OnDemand, catalog.Spot, catalog.Reserved1M, catalog.Reserved3M, catalog.Reserved6M}

type source struct {
	feed.Config
	http    *fetch.Client
	address string
	world   feed.World
}

func open(c feed.Config, w feed.World) (feed.Source, error) {
	if err := c.Check(feed.Takes{Regions: true}).OrNil(); err != nil {
		return nil, err
	}
	return &source{Config: c, http: c.Client(w.HTTP, perSecond), address: c.Address("", address), world: w}, nil
}

// gpu is a GPU with the prices of one, an hour, in dollars; those for months are hourly too, and null where they are not sold.
type gpu struct {
	ID             string      `json:"id"`
	Name           string      `json:"displayName"`
	GB             feed.Number `json:"memoryInGb"`
	Secure         bool        `json:"secureCloud"`
	Community      bool        `json:"communityCloud"`
	MaxSecure      feed.Number `json:"maxGpuCountSecureCloud"`
	MaxCommunity   feed.Number `json:"maxGpuCountCommunityCloud"`
	Max            feed.Number `json:"maxGpuCount"`
	Min            feed.Number `json:"minPodGpuCount"`
	SecurePrice    feed.Number `json:"securePrice"`
	CommunityPrice feed.Number `json:"communityPrice"`
	SecureSpot     feed.Number `json:"secureSpotPrice"`
	CommunitySpot  feed.Number `json:"communitySpotPrice"`
	OneMonth       feed.Number `json:"oneMonthPrice"`
	ThreeMonths    feed.Number `json:"threeMonthPrice"`
	SixMonths      feed.Number `json:"sixMonthPrice"`
}

const listQuery = `query Rackrate {
  countryCodes
  dataCenters { id listed }
  gpuTypes {
    id displayName memoryInGb secureCloud communityCloud maxGpuCount maxGpuCountSecureCloud maxGpuCountCommunityCloud minPodGpuCount
    securePrice communityPrice secureSpotPrice communitySpotPrice oneMonthPrice threeMonthPrice sixMonthPrice
  }
}`

// list is what there is to ask for.
type list struct {
	Countries   []*string `json:"countryCodes"`
	DataCenters []struct {
		ID     string `json:"id"`
		Listed bool   `json:"listed"`
	} `json:"dataCenters"`
	GPUs []gpu `json:"gpuTypes"`
}

// stock is what is left of a GPU in a place, with the least that a pod there gets of its host.
type stock struct {
	Status *string     `json:"stockStatus"` // High, Medium, Low; null: none
	Bid    feed.Number `json:"minimumBidPrice"`
	VCPU   feed.Number `json:"minVcpu"`
	RAM    feed.Number `json:"minMemory"` // GB
}

// spot is a place to ask about: a data center of the secure cloud, or a country of the community's.
type spot struct {
	id, region string
	secure     bool
}

// ask asks one question of the GraphQL kind, which answers errors with status 200.
func (s *source) ask(ctx context.Context, query string, into any) error {
	body, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		return err
	}
	var answer struct {
		Data   json.RawMessage `json:"data"`
		Errors []struct {
			Message string `json:"message"`
		} `json:"errors"`
	}
	r := fetch.Request{
		Method: http.MethodPost, URL: s.address, Body: body, Header: http.Header{"Content-Type": {"application/json"}}, MaxBytes: maxAnswer,
	}
	if err := feed.JSON(ctx, s.http, r, &answer); err != nil {
		return err
	}
	if len(answer.Errors) > 0 {
		return feed.Refused(s.Name, answer.Errors[0].Message)
	}
	if len(answer.Data) == 0 || string(answer.Data) == "null" {
		return fetch.Malformed(s.address, errors.New("no data"))
	}
	if err := json.Unmarshal(answer.Data, into); err != nil {
		return fetch.Malformed(s.address, err)
	}
	return nil
}

// Fetch reads the GPUs, and then what is left of each in every place.
func (s *source) Fetch(ctx context.Context, to feed.Sink) error {
	var all list
	if err := s.ask(ctx, listQuery, &all); err != nil {
		return err
	}
	if len(all.GPUs) == 0 {
		return feed.Empty(s.Name)
	}
	slices.SortFunc(all.GPUs, func(a, b gpu) int { return strings.Compare(a.ID, b.ID) })
	pods := s.pods(all.GPUs, to)
	spots := s.spots(&all)
	if len(spots) == 0 {
		return feed.Empty(s.Name)
	}
	var ids []string
	for _, p := range spots {
		ids = append(ids, p.id)
	}
	var mu sync.Mutex
	lost, err := feed.Each(ctx, to, ids, func(ctx context.Context, id string) error {
		at := spots[slices.Index(ids, id)]
		found, err := s.stock(ctx, at, counts(pods, at.secure))
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		for _, p := range pods {
			if st := found[p.gpu.ID][p.count]; p.secure == at.secure && st != nil && st.Status != nil {
				p.emit(at, st, to)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.conclude(pods, spots, lost, to)
	return nil
}

// conclude says what was read whole. Pods that are left nowhere are sold out everywhere, where everything was read.
func (s *source) conclude(pods []*pod, spots []spot, lost map[string]error, to feed.Sink) {
	missing := map[string]error{}
	for _, at := range spots {
		if err := lost[at.id]; err != nil && missing[at.region] == nil {
			missing[at.region] = err
		}
	}
	feed.Lose(to, vendor, missing)
	if len(missing) == 0 && len(s.Regions) == 0 {
		for _, p := range pods {
			if !p.found {
				p.emit(spot{}, nil, to)
			}
		}
		to.Covers(vendor, "", modes...)
		return
	}
	read := map[string]bool{}
	for _, at := range spots {
		if missing[at.region] == nil {
			read[at.region] = true
		}
	}
	for _, region := range slices.Sorted(maps.Keys(read)) {
		to.Covers(vendor, region, modes...)
	}
}

// spots lists the places, in the regions that the user named where there are any. A data center stands in the country that its
// name says (EU-RO-1), or for itself.
func (s *source) spots(all *list) []spot {
	var places []spot
	for _, d := range all.DataCenters {
		if d.Listed && d.ID != "" {
			region := provider.Embedded().Region(vendor, d.ID).Country
			if region == "" {
				region = d.ID
			}
			places = append(places, spot{d.ID, region, true})
		}
	}
	for _, c := range all.Countries {
		if c != nil && *c != "" {
			places = append(places, spot{*c, *c, false})
		}
	}
	slices.SortFunc(places, func(a, b spot) int { return strings.Compare(a.id, b.id) })
	places = slices.CompactFunc(places, func(a, b spot) bool { return a.id == b.id })
	if len(s.Regions) > 0 {
		places = slices.DeleteFunc(places, func(p spot) bool { return !slices.Contains(s.Regions, p.region) && !slices.Contains(s.Regions, p.id) })
	}
	return places
}

// stock asks for all GPUs in one place, by id and number of GPUs. Each number is a field of its own in the one question.
func (s *source) stock(ctx context.Context, at spot, counts []int) (map[string]map[int]*stock, error) {
	where := "secureCloud: true, dataCenterId: "
	if !at.secure {
		where = "secureCloud: false, countryCode: "
	}
	id, err := json.Marshal(at.id) // a string of GraphQL is one of JSON
	if err != nil {
		return nil, err
	}
	var q strings.Builder
	q.WriteString("query Rackrate { gpuTypes { id")
	for _, n := range counts {
		fmt.Fprintf(&q, " n%d: lowestPrice(input: {gpuCount: %d, %s%s}) { stockStatus minimumBidPrice minVcpu minMemory }", n, n, where, id)
	}
	q.WriteString(" } }")
	var answer struct {
		GPUs *[]map[string]json.RawMessage `json:"gpuTypes"`
	}
	if err := s.ask(ctx, q.String(), &answer); err != nil {
		return nil, err
	}
	if answer.GPUs == nil {
		return nil, fetch.Malformed(s.address, errors.New("no gpuTypes"))
	}
	found := map[string]map[int]*stock{}
	for _, g := range *answer.GPUs {
		var id string
		if err := json.Unmarshal(g["id"], &id); err != nil {
			return nil, fetch.Malformed(s.address, err)
		}
		found[id] = map[int]*stock{}
		for _, n := range counts {
			var st *stock
			if raw := g[fmt.Sprintf("n%d", n)]; raw != nil {
				if err := json.Unmarshal(raw, &st); err != nil {
					return nil, fetch.Malformed(s.address, err)
				}
			}
			found[id][n] = st
		}
	}
	return found, nil
}
