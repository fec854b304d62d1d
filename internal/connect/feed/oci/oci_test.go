package oci_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/feed/feedtest"
	"github.com/rackrate/rackrate/internal/connect/feed/oci"
	"github.com/rackrate/rackrate/internal/connect/fetch"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

type object = map[string]any

// product is a part as the price list has it, with a price in another currency beside it.
func product(part, name, metric, price string) object {
	return object{
		"partNumber": part, "displayName": name, "metricName": metric, "serviceCategory": "Compute - GPU",
		"currencyCodeLocalizations": []any{
			object{"currencyCode": "EUR", "prices": []any{object{"model": "PAY_AS_YOU_GO", "value": 99}}},
			object{"currencyCode": "USD", "prices": []any{
				object{"model": "PAY_AS_YOU_GO", "value": json.Number(price)}, object{"model": "MONTHLY_COMMIT", "value": 999},
			}},
		},
	}
}

func products() []object {
	return []object{
		product("B98415", "Oracle Cloud Infrastructure - Compute - GPU - H100", "GPU Per Hour", "10"),
		product("B92740", "Oracle Cloud Infrastructure - Compute - GPU - A100", "GPU Per Hour", "3.05"),
		product("B89734", "Oracle Cloud Infrastructure - Compute - GPU - V100", "GPU Per Hour", "2.95"),
		product("B110979", "OCI - Compute - GPU - GB200", "GPU Per Hour", "16"),
		product("B112140", "OCI - Compute - GPU - GB300", "GPU Per Hour", "18"),
		product("B93113", "Oracle Cloud Infrastructure - Compute - Standard - E4", "OCPU Per Hour", "0.025"),
		product("B93114", "Oracle Cloud Infrastructure - Compute - Standard - E4 - Memory", "Gigabyte Per Hour", "0.0015"),
		product("B00001", "A disk", "Terabyte Per Month", "20"),
		product("B00000", "Free", "GPU Per Hour", "0"),
	}
}

// shape is a shape as the cost estimator has it.
func shape(name, kind string, gpus, memory any, more object, parts ...object) object {
	s := object{
		"name": name, "hidden": false, "status": "ACTIVE", "allowPreemptible": false, "bundleMemoryQty": 2048, "gpuQty": gpus,
		"gpuMemoryQty": memory, "processorType": object{"value": "arm"}, "shapeType": object{"value": kind},
		"subType": object{"value": "gpu"}, "products": parts,
	}
	for k, v := range more {
		s[k] = v
	}
	return s
}

func part(number, kind string, qty any) object {
	return object{"partNumber": number, "qty": qty, "type": object{"value": kind}}
}

func shapes() []object {
	plain := object{"subType": object{"value": "dense"}}
	return []object{
		shape("BM.GPU.H100.8", "bm", 8, 640, object{"allowPreemptible": true}, part("B98415", "ocpu", 112)),
		shape("BM.GPU4.8", "bm", 8, 320, nil, part("B92740", "ocpu", 64)),
		shape("VM.GPU3.1", "vm", 1, 16, object{"allowPreemptible": true, "bundleMemoryQty": 90}, part("B89734", "ocpu", 6)),
		shape("BM.GPU.GB200.4 (NVL72)", "bm", 4, 756, nil, part("B110979", "ocpu", 128)),
		shape("BM.GPU.GB300.4 (NVL72)", "bm", 4, 278, object{"bundleMemoryQty": nil}, part("B112140", "ocpu", nil)),
		// A machine whose cores, memory and GPUs are charged apart.
		shape("VM.GPU.Flex.2", "vm", 2, 48, nil, part("B93113", "ocpu", 10), part("B93114", "memory", 240)),
		shape("BM.DenseIO.E5.128", "bm", nil, nil, plain, part("B98202", "ocpu", 128), part("B98204", "disk", 81.6)),
		shape("BM.GPU.Secret.8", "bm", 8, 640, object{"hidden": true}, part("B98415", "ocpu", 112)),
		shape("BM.GPU2.2", "bm", 2, 32, object{"status": "END_OF_LIFE"}, part("B98415", "ocpu", 28)),
	}
}

// server answers both lists, the prices in pages of four.
func server(t *testing.T, products, shapes []object) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/shapes.json" {
			_ = json.NewEncoder(w).Encode(object{"items": shapes, "count": len(shapes)})
			return
		}
		q := r.URL.Query()
		if q.Get("currencyCode") == "" {
			t.Errorf("asked for %s", r.URL)
		}
		from := 0
		_, _ = fmt.Sscan(q.Get("offset"), &from)
		end := min(from+4, len(products))
		answer := object{"items": products[from:end], "lastUpdated": "2026-06-01"}
		if end < len(products) {
			answer["links"] = []any{object{"rel": "self", "href": r.URL.String()}, object{"rel": "next", "href": fmt.Sprintf("%s?currencyCode=%s&offset=%d", r.URL.Path, q.Get("currencyCode"), end)}}
		}
		_ = json.NewEncoder(w).Encode(answer)
	}
}

func open(address string, c feed.Config, w feed.World) feed.Source {
	c.Endpoint, c.Endpoints = address, map[string]string{"shapes": address + "/shapes.json"}
	return feedtest.Open(oci.Maker, c, w)
}

func TestConformance(t *testing.T) {
	var want []string
	for _, region := range []string{"eu-frankfurt-1", "us-chicago-1"} {
		for _, line := range []string{
			"BM.GPU.H100.8 %s 8 x - on-demand 80.00 USD",
			"BM.GPU4.8 %s 8 x - on-demand 24.40 USD",
			"VM.GPU3.1 %s 1 x - on-demand 2.95 USD",
			"VM.GPU3.1 %s 1 x - spot 1.475 USD",
			"BM.GPU.GB200.4 %s 4 x - on-demand 64.00 USD",
			"BM.GPU.GB300.4 %s 4 x - on-demand 72.00 USD",
			"VM.GPU.Flex.2 %s 2 x - on-demand 0.61 USD", // 10 x 0.025 + 240 x 0.0015
		} {
			want = append(want, "oci "+fmt.Sprintf(line, region))
		}
	}
	feedtest.Run(t, feedtest.Feed{
		New: func(_ *testing.T, address string, w feed.World) feed.Source {
			return open(address, feed.Config{Regions: []string{"us-chicago-1", "eu-frankfurt-1", "us-chicago-1"}}, w)
		},
		Server: func(t *testing.T, _ func() string) http.Handler { return server(t, products(), shapes()) },
		Want:   want,
	})
}

func read(t *testing.T, c feed.Config, products, shapes []object) (*feedtest.Sink, error) {
	t.Helper()
	s := httptest.NewServer(server(t, products, shapes))
	t.Cleanup(s.Close)
	var got feedtest.Sink
	return &got, open(s.URL, c, feedtest.World(t, nil, fetch.Options{})).Fetch(t.Context(), &got)
}

func TestFacts(t *testing.T) {
	got, err := read(t, feed.Config{Regions: []string{"us-chicago-1"}}, products(), shapes())
	if err != nil {
		t.Fatal(err)
	}
	var facts []string
	for _, l := range got.Listings {
		if !slices.Equal(l.Flags, []catalog.Flag{catalog.AvailabilityUnknown}) {
			t.Errorf("%s has the flags %v", l.InstanceType, l.Flags)
		}
		facts = append(facts, fmt.Sprintf("%s %g MiB, %g cores, %s, bare %t, %s", l.InstanceType, l.MiB, l.VCPU.Or(-1), l.RAM.Or(-1), l.BareMetal.Or(false), l.Hints))
	}
	want := []string{
		"BM.GPU.H100.8 655360 MiB, 224 cores, 2 TiB, bare true, [Oracle Cloud Infrastructure - Compute - GPU - H100]",
		"BM.GPU4.8 327680 MiB, 128 cores, 2 TiB, bare true, [Oracle Cloud Infrastructure - Compute - GPU - A100]",
		"VM.GPU3.1 16384 MiB, 12 cores, 90 GiB, bare false, [Oracle Cloud Infrastructure - Compute - GPU - V100]",
		"BM.GPU.GB200.4 774144 MiB, -1 cores, 2 TiB, bare true, [OCI - Compute - GPU - GB200]",
		"BM.GPU.GB300.4 284672 MiB, -1 cores, -1 B, bare true, [OCI - Compute - GPU - GB300]",
		"VM.GPU.Flex.2 49152 MiB, -1 cores, 2 TiB, bare false, []",
	}
	if !slices.Equal(facts, want) {
		t.Errorf("facts\n%s\nwant\n%s", strings.Join(facts, "\n"), strings.Join(want, "\n"))
	}
	if got.Passed != 3 || len(got.Rejections) != 0 || len(got.Covered) != 2 {
		t.Errorf("%d passed, %v rejected, covers %v", got.Passed, got.Rejections, got.Covered)
	}
}

// A shape without the price of all it is charged by is rejected, and no region is then said to be read whole.
func TestShapesWithoutAPrice(t *testing.T) {
	for column, s := range map[string]object{
		"partNumber": shape("BM.GPU.X.8", "bm", 8, 1, nil, part("B99999", "ocpu", 1)),
		"gpuQty":     shape("BM.GPU.X.8", "bm", nil, 1, nil, part("B98415", "ocpu", 1)),
		"qty":        shape("VM.GPU.X.2", "vm", 2, 1, nil, part("B93113", "ocpu", nil)),
		"metricName": shape("BM.GPU.X.8", "bm", 8, 1, nil, part("B98415", "ocpu", 1), part("B00001", "disk", 2)),
		"products":   shape("BM.GPU.X.8", "bm", 8, 1, nil),
		"free":       shape("BM.GPU.X.8", "bm", 8, 1, nil, part("B00000", "ocpu", 1)),
	} {
		got, err := read(t, feed.Config{Regions: []string{"us-chicago-1"}}, products(), append(shapes()[:1], s))
		if column == "free" {
			column = "partNumber"
		}
		if err != nil || len(got.Rejections) != 1 || got.Rejections[0].Args["Column"] != column {
			t.Errorf("%s: rejected %v, %v", column, got.Rejections, err)
		}
		if len(got.Listings) != 1 || len(got.Covered) != 0 {
			t.Errorf("%s: %d stand, covers %v", column, len(got.Listings), got.Covered)
		}
	}
}

// Without regions named it is all that are known, and prices come in the currency asked for.
func TestRegionsAndCurrency(t *testing.T) {
	got, err := read(t, feed.Config{Currency: "EUR"}, products(), shapes()[:1])
	if err != nil || len(got.Listings) != 44 {
		t.Errorf("%d regions, %v", len(got.Listings), err)
	}
	for _, line := range got.Lines() {
		if !strings.HasSuffix(line, "on-demand 792.00 EUR") {
			t.Error(line)
		}
	}
}

func TestRefused(t *testing.T) {
	_, err := read(t, feed.Config{Regions: []string{"us-chicago-1"}}, products(), shapes()[6:])
	if p := problem.All(err); len(p) != 1 || p[0].Code != "feed.empty" {
		t.Errorf("no shapes with GPUs: %v", err)
	}
	_, err = oci.Maker.New(feed.Config{
		Name: "oci", Kind: "oci", Endpoints: map[string]string{"shape": "https://example.com"}, Path: "x", Providers: []string{"y"},
	}, feedtest.World(t, nil, fetch.Options{}))
	if n := len(problem.All(err)); n != 3 {
		t.Errorf("%d faults: %v", n, err)
	}
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n++
		_, _ = fmt.Fprintf(w, `{"items":[{}],"links":[{"rel":"next","href":"?offset=%d"}]}`, n)
	}))
	defer s.Close()
	err = open(s.URL, feed.Config{}, feedtest.World(t, nil, fetch.Options{})).Fetch(t.Context(), &feedtest.Sink{})
	if p := problem.All(err); len(p) != 1 || p[0].Code != fetch.CodeMalformed || n != 20 {
		t.Errorf("after %d pages: %v", n, err)
	}
}

// Prices are the same everywhere, so that no list would show a slip in a region's name.
func TestRegionsThatAreNot(t *testing.T) {
	got, err := read(t, feed.Config{Regions: []string{"us-chicago-1", "us-ashbrun-1"}}, products(), shapes()[:1])
	if err != nil || len(got.Listings) != 1 || len(got.Losses) != 1 || !slices.Contains(problem.All(got.Losses[0].Why)[0].Suggest, "us-ashburn-1") {
		t.Errorf("%v, %v, losses %v", got.Lines(), err, got.Losses)
	}
	w := feedtest.World(t, nil, fetch.Options{})
	w.Known = catalog.New(nil, nil, nil)
	if err := open("http://127.0.0.1:1", feed.Config{}, w).Fetch(t.Context(), &feedtest.Sink{}); err == nil {
		t.Error("no region is known, and no error")
	}
}
