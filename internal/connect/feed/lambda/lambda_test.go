package lambda_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/feed/feedtest"
	"github.com/rackrate/rackrate/internal/connect/feed/lambda"
	"github.com/rackrate/rackrate/internal/connect/fetch"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

const key = "secret_us_0123456789"

const types = `{"data":{
"gpu_8x_h100_sxm5":{"instance_type":{"name":"gpu_8x_h100_sxm5","description":"8x H100 (80 GB SXM5)","gpu_description":"H100 (80 GB SXM5)",
 "price_cents_per_hour":2392,"specs":{"vcpus":208,"memory_gib":1800,"storage_gib":22528,"gpus":8}},
 "regions_with_capacity_available":[{"name":"us-west-3","description":"Utah, USA"}]},
"gpu_8x_v100":{"instance_type":{"name":"gpu_8x_v100","description":"8x Tesla V100 (16 GB)",
 "price_cents_per_hour":440,"specs":{"vcpus":92,"memory_gib":448,"storage_gib":6041,"gpus":8}},"regions_with_capacity_available":[]},
"cpu_4x_general":{"instance_type":{"name":"cpu_4x_general","description":"4x CPU General","gpu_description":"N/A",
 "price_cents_per_hour":25,"specs":{"vcpus":4,"memory_gib":16,"storage_gib":100,"gpus":0}},"regions_with_capacity_available":[{"name":"us-east-1"}]},
"gpu_1x_free":{"instance_type":{"name":"gpu_1x_free","description":"1x A10 (24 GB PCIe)",
 "price_cents_per_hour":0,"specs":{"vcpus":4,"memory_gib":16,"storage_gib":100,"gpus":1}},"regions_with_capacity_available":[]},
"gpu_1x_odd":{"instance_type":{"name":"gpu_1x_odd","description":"1x A10 (24 GB PCIe)",
 "price_cents_per_hour":"a lot","specs":{"gpus":1}},"regions_with_capacity_available":[]}
}}`

const images = `{"data":[{"id":"1","region":{"name":"us-west-3","description":"Utah, USA"}},{"id":"2","region":{"name":"europe-central-1"}},
{"id":"3","region":{"name":"us-west-3"}}]}`

func server(t *testing.T) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+key {
			t.Errorf("asked with the credentials %q", r.Header.Get("Authorization"))
		}
		switch r.URL.Path {
		case "/instance-types":
			_, _ = io.WriteString(w, types)
		case "/images":
			_, _ = io.WriteString(w, images)
		default:
			http.NotFound(w, r)
		}
	})
}

var want = []string{
	"lambda gpu_8x_h100_sxm5 us-west-3 8 x H100 on-demand 23.92 USD in_stock",
	"lambda gpu_8x_h100_sxm5 us-east-1 8 x H100 on-demand 23.92 USD sold_out",
	"lambda gpu_8x_h100_sxm5 europe-central-1 8 x H100 on-demand 23.92 USD sold_out",
	"lambda gpu_8x_v100 us-west-3 8 x Tesla V100 on-demand 4.40 USD sold_out",
	"lambda gpu_8x_v100 us-east-1 8 x Tesla V100 on-demand 4.40 USD sold_out",
	"lambda gpu_8x_v100 europe-central-1 8 x Tesla V100 on-demand 4.40 USD sold_out",
}

func TestConformance(t *testing.T) {
	feedtest.Run(t, feedtest.Feed{
		New: func(_ *testing.T, address string, w feed.World) feed.Source {
			return feedtest.Open(lambda.Maker, feed.Config{Endpoint: address}, w)
		},
		Server:  func(t *testing.T, _ func() string) http.Handler { return server(t) },
		Env:     map[string]string{"LAMBDA_API_KEY": key},
		Secrets: []string{key},
		Want:    want,
		Part:    "/images", LostRegion: "", // without it, regions that have nothing left are not known
	})
}

func read(t *testing.T, c feed.Config) *feedtest.Sink {
	t.Helper()
	got, err := feedtest.Read(t, lambda.Maker, c, map[string]string{"LAMBDA_API_KEY": key}, server(t))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestMachinesAndTheRest(t *testing.T) {
	got := read(t, feed.Config{})
	if got.Passed != 1 || len(got.Rejections) != 2 || got.Rejections[0].Kind != "zero_price" || got.Rejections[1].Kind != "row" {
		t.Errorf("passed %d, rejected %v", got.Passed, got.Rejections)
	}
	l := got.Listings[0]
	if l.VCPU.Or(0) != 208 || l.RAM.Or(0) != 1800<<30 || l.NVMe.Or(0) != 22528<<30 || l.MiB != 80*1024 {
		t.Errorf("%+v", l)
	}
	if len(got.Covered) != 1 || got.Covered[0] != (catalog.Cover{Provider: "lambda", Mode: catalog.OnDemand}) {
		t.Errorf("covers %v", got.Covered)
	}
	some := read(t, feed.Config{Regions: []string{"us-east-1"}})
	if len(some.Listings) != 2 || len(some.Covered) != 1 || some.Covered[0].Region != "us-east-1" {
		t.Errorf("%v, covers %v", some.Lines(), some.Covered)
	}
}

func TestKey(t *testing.T) {
	w := feedtest.World(t, nil, fetch.Options{})
	if _, err := lambda.Maker.New(feed.Config{Name: "lambda"}, w); problem.All(err)[0].Code != feed.CodeNoCredentials {
		t.Errorf("%v", err)
	}
	w.Home, w.Read = t.TempDir(), os.ReadFile
	if err := os.MkdirAll(filepath.Join(w.Home, ".lambda_cloud"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.Home, ".lambda_cloud", "lambda_keys"), []byte("# key\napi_key = "+key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := lambda.Maker.New(feed.Config{Name: "lambda"}, w); err != nil {
		t.Error(err)
	}
	_, err := lambda.Maker.New(feed.Config{Name: "mine", Currency: "EUR", Options: map[string]string{"x": "y"}, File: "s.yaml", Line: 3}, w)
	if p := problem.All(err); len(p) != 2 || p[0].Line != 3 {
		t.Errorf("%v", err)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(types), []byte(images))
	f.Add([]byte(`{"data":{"a":{"instance_type":{"specs":{"gpus":"1e9"}}}}}`), []byte(`{"data":[null]}`))
	f.Fuzz(func(t *testing.T, types, images []byte) {
		got, err := feedtest.Read(t, lambda.Maker, feed.Config{}, map[string]string{"LAMBDA_API_KEY": key},
			http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "images") {
					_, _ = w.Write(images)
					return
				}
				_, _ = w.Write(types)
			}))
		if !json.Valid(types) && err == nil {
			t.Error("an answer that is no JSON is read")
		}
		for _, l := range got.Listings {
			if l.Count <= 0 || l.Region == "" || l.Prices[0].Hourly.IsZero() {
				t.Errorf("%+v", l)
			}
		}
	})
}
