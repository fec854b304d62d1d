// Package lambda reads what Lambda's cloud interface says of its machines: one price everywhere, and where there is capacity.
//
// Invariants: a machine is listed in every region, in stock where Lambda says so and sold out elsewhere. Imported by front/app only.
package lambda

import (
	"context"
	"maps"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/fetch"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/catalog/intake"
)

// Maker makes the source of kind lambda.
// Source: https://docs.lambda.ai/api/cloud
var Maker = feed.Maker{
	Kind: "lambda", Layer: catalog.Vendor, Title: "Lambda Cloud API",
	Reference: "https://cloud.lambda.ai/api/v1/instance-types", Licence: "not stated", New: open,
}

const (
	vendor  = "lambda"
	address = "https://cloud.lambda.ai/api/v1"
	// perSecond is the documented limit of requests.
	perSecond = 1
	// maxAnswer bounds an answer: all types are some 50 kB, all images 200 kB.
	maxAnswer = 8 << 20
)

type source struct {
	feed.Config
	http    *fetch.Client
	address string
	key     string
}

func open(c feed.Config, w feed.World) (feed.Source, error) {
	if err := c.Check(feed.Takes{Regions: true}).OrNil(); err != nil {
		return nil, err
	}
	s := &source{Config: c, http: c.Client(w.HTTP, perSecond), address: c.Address("", address), key: key(w)}
	if s.key == "" {
		return nil, feed.NoCredentials(c.Name, "LAMBDA_API_KEY", "~/.lambda_cloud/lambda_keys")
	}
	return s, nil
}

// key is the API key, from the environment or the file that tools for Lambda share, with a line "api_key = …".
func key(w feed.World) string {
	if k := strings.TrimSpace(w.Env("LAMBDA_API_KEY")); k != "" || w.Home == "" {
		return k
	}
	text, err := w.Read(path.Join(w.Home, ".lambda_cloud", "lambda_keys"))
	if err != nil { // not there: no credentials
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, "="); ok && strings.TrimSpace(name) == "api_key" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

type region struct {
	Name string `json:"name"`
}

type machine struct {
	Type struct {
		Name        string      `json:"name"`
		Description string      `json:"description"`
		GPU         string      `json:"gpu_description"`
		Cents       feed.Number `json:"price_cents_per_hour"` // of the whole machine
		Specs       struct {
			VCPU    feed.Number `json:"vcpus"`
			RAM     feed.Number `json:"memory_gib"`
			Storage feed.Number `json:"storage_gib"`
			GPUs    feed.Number `json:"gpus"`
		} `json:"specs"`
	} `json:"instance_type"`
	Regions []region `json:"regions_with_capacity_available"`
}

// types is the answer to the question for machines.
type types struct {
	Data map[string]machine `json:"data"`
}

// images is the answer to the question for images, which are the only list of all regions.
type images struct {
	Data []struct {
		Region region `json:"region"`
	} `json:"data"`
}

func (s *source) ask(ctx context.Context, what string, into any) error {
	return feed.JSON(ctx, s.http, fetch.Request{
		URL: s.address + "/" + what, Header: http.Header{"Authorization": {"Bearer " + s.key}}, Secret: true, MaxBytes: maxAnswer,
	}, into)
}

// Fetch reads the machines, and the regions that have none of any machine left, which are named by the list of images alone.
func (s *source) Fetch(ctx context.Context, to feed.Sink) error {
	var all types
	if err := s.ask(ctx, "instance-types", &all); err != nil {
		return err
	}
	regions := map[string]bool{}
	for _, m := range all.Data {
		for _, r := range m.Regions {
			regions[r.Name] = true
		}
	}
	var known images
	lost := s.ask(ctx, "images", &known)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if lost == nil && len(known.Data) == 0 {
		lost = feed.Empty(s.Name)
	}
	for _, i := range known.Data {
		regions[i.Region.Name] = true
	}
	delete(regions, "")
	if len(s.Regions) > 0 {
		maps.DeleteFunc(regions, func(r string, _ bool) bool { return !slices.Contains(s.Regions, r) })
	}
	places := slices.Sorted(maps.Keys(regions))
	emitted := 0
	for _, name := range slices.Sorted(maps.Keys(all.Data)) {
		emitted += all.Data[name].emit(name, places, to)
	}
	switch {
	case lost != nil:
		to.Lost(vendor, "", lost)
	case emitted == 0:
		return feed.Empty(s.Name)
	case len(s.Regions) > 0:
		for _, r := range places {
			to.Covers(vendor, r, catalog.OnDemand)
		}
	default:
		to.Covers(vendor, "", catalog.OnDemand)
	}
	return nil
}

// described is a GPU as the descriptions have it: "8x H100 (80 GB SXM5)", the count left out where the field is of one GPU.
var described = regexp.MustCompile(`^(?:\d+x )?(.+?) \((\d+) GB`)

// emit adds a machine in each region and gives the number of them.
func (m machine) emit(name string, regions []string, to feed.Sink) int {
	t := m.Type
	gpus := t.Specs.GPUs.Float()
	if gpus == 0 { // a machine without accelerators
		to.Pass(1)
		return 0
	}
	at := intake.Place{File: "instance-types " + name}
	rate, err := feed.Hourly(string(t.Cents), 100, money.USD) // a hundred cents are a dollar as 100 hours' price is an hour's
	if err != nil {
		to.Reject(intake.Rejection{Kind: intake.Malformed, InstanceType: name, At: at})
		return 0
	}
	if rate.IsZero() {
		to.Reject(intake.Rejection{Kind: intake.Kind(catalog.ZeroPrice), InstanceType: name, At: at})
		return 0
	}
	text := t.GPU
	if text == "" {
		text = t.Description
	}
	l := intake.Listing{
		Provider: vendor, InstanceType: name, Accelerator: text, Hints: []string{t.Description, t.GPU}, Count: gpus, At: at,
		VCPU: t.Specs.VCPU.Size(), RAM: t.Specs.RAM.Bytes(1 << 30), NVMe: t.Specs.Storage.Bytes(1 << 30),
	}
	if m := described.FindStringSubmatch(text); m != nil {
		l.Accelerator = m[1]
		gb, _ := strconv.Atoi(m[2]) // digits only
		l.MiB = float64(gb) * 1024
	}
	for _, r := range regions {
		stock := catalog.SoldOut
		if slices.Contains(m.Regions, region{r}) {
			stock = catalog.InStock
		}
		l.Region = r
		l.Prices = []catalog.Price{{Mode: catalog.OnDemand, Hourly: rate, Confidence: catalog.Listed, Flags: []catalog.Flag{stock}}}
		to.Add(l)
	}
	return len(regions)
}
