package huawei_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/feed/feedtest"
	"github.com/rackrate/rackrate/internal/connect/feed/huawei"
	"github.com/rackrate/rackrate/internal/connect/fetch"
)

const secret = "s3cr3tOfAnAccount"

var env = map[string]string{"HUAWEICLOUD_SDK_AK": "QTEXAMPLE", "HUAWEICLOUD_SDK_SK": secret}

const projects = `{"projects":[{"id":"p1","name":"cn-north-4","enabled":true},{"id":"p2","name":"ap-southeast-3","enabled":true},
{"id":"p3","name":"cn-north-4_tests","enabled":true},{"id":"p4","name":"MOS","enabled":true},{"id":"p5","name":"cn-east-3","enabled":false}],"links":{}}`

var flavors = map[string]string{
	"p1": `{"flavors":[
	{"id":"c6.large.2","name":"c6.large.2","vcpus":"2","ram":4096,"os_extra_specs":{"ecs:performancetype":"computingv3"}},
	{"id":"p2s.2xlarge.8","name":"p2s.2xlarge.8","vcpus":"8","ram":65536,"os_extra_specs":{"ecs:performancetype":"gpu","pci_passthrough:alias":"nvidia-v100-32g:1",
	 "info:gpu:name":"1 * NVIDIA V100 / 1 * 32 GB","quota:max_rate":"10000","cond:operation:status":"abandon","cond:operation:az":"cn-north-4a(normal), cn-north-4b(sellout)"}},
	{"id":"ai1s.large.4","name":"ai1s.large.4","vcpus":"2","ram":8192,"os_extra_specs":{"ecs:performancetype":"ascend","info:ascend:name":"1 * Ascend 310","cond:operation:status":"sellout"}},
	{"id":"p1.2xlarge.8","name":"p1.2xlarge.8","vcpus":"8","ram":65536,"os_extra_specs":{"hws:performancetype":"gpu","pci_passthrough:alias":"nvidia-p100:1"}},
	{"id":"g1.xlarge","name":"g1.xlarge","vcpus":"4","ram":8192,"os_extra_specs":{"ecs:performancetype":"gpu","cond:operation:status":"abandon"}}]}`,
	"p2": `{"flavors":[{"name":"pi2.2xlarge.4","vcpus":"8","ram":32768,"os_extra_specs":{"pci_passthrough:alias":"nvidia-t4:1"}}]}`,
}

// official are the prices of the price list; the first generation has none any more.
var official = map[string]string{
	"cn-north-4 p2s.2xlarge.8.linux": "26.46", "cn-north-4 ai1s.large.4.linux": "1.62", "ap-southeast-3 pi2.2xlarge.4.linux": "1.37",
}

func server(t *testing.T) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if a := r.Header.Get("Authorization"); !strings.HasPrefix(a, "SDK-HMAC-SHA256 Access=QTEXAMPLE, SignedHeaders=content-type;host;x-sdk-date, Signature=") {
			t.Errorf("signed %q", a)
		}
		if strings.Contains(fmt.Sprint(r.Header), secret) || r.Header.Get("X-Sdk-Date") != "20260601T120000Z" {
			t.Errorf("%v", r.Header)
		}
		part := strings.Split(r.URL.Path, "/")
		switch {
		case r.URL.Path == "/v3/projects":
			_, _ = fmt.Fprint(w, projects)
		case len(part) == 5 && part[4] == "flavors":
			if r.Header.Get("X-Project-Id") != part[2] {
				t.Errorf("%v", r.Header)
			}
			_, _ = fmt.Fprint(w, flavors[part[2]])
		case r.URL.Path == "/v2/bills/ratings/on-demand-resources":
			rate(t, w, r)
		default:
			http.NotFound(w, r)
		}
	}
}

func rate(t *testing.T, w http.ResponseWriter, r *http.Request) {
	var q struct {
		Project  string `json:"project_id"`
		Products []struct {
			ID, Region string
			Spec       string `json:"resource_spec"`
			Service    string `json:"cloud_service_type"`
			Factor     string `json:"usage_factor"`
			Measure    int    `json:"usage_measure_id"`
		} `json:"product_infos"`
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil || q.Project == "" {
		t.Errorf("%+v %v", q, err)
	}
	currency, results := "CNY", []map[string]any{}
	for i := len(q.Products) - 1; i >= 0; i-- { // in an order of its own
		p := q.Products[i]
		price := official[p.Region+" "+p.Spec]
		if p.Service != "hws.service.type.ec2" || p.Factor != "Duration" || p.Measure != 4 {
			t.Errorf("%+v", p)
		}
		if price == "" {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprint(w, `{"error_code":"CBC.99006055","error_msg":"Query product info failed."}`)
			return
		}
		if p.Region == "ap-southeast-3" {
			currency = "USD"
		}
		results = append(results, map[string]any{"id": p.ID, "product_id": "x", "amount": 0.5, "official_website_amount": json.Number(price), "measure_id": 1})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"amount": 1, "currency": currency, "measure_id": 1, "product_rating_results": results})
}

var want = []string{
	"huawei p2s.2xlarge.8 cn-north-4 1 x NVIDIA V100 on-demand 26.46 CNY in_stock",
	"huawei ai1s.large.4 cn-north-4 1 x Ascend 310 on-demand 1.62 CNY sold_out",
	"huawei p1.2xlarge.8 cn-north-4 1 x nvidia-p100 listed",
	"huawei pi2.2xlarge.4 ap-southeast-3 1 x nvidia-t4 on-demand 1.37 USD in_stock",
}

func config(address string) feed.Config {
	return feed.Config{Endpoint: address, Endpoints: map[string]string{"iam": address, "ecs": address}}
}

func TestConformance(t *testing.T) {
	feedtest.Run(t, feedtest.Feed{
		New: func(_ *testing.T, address string, w feed.World) feed.Source {
			return feedtest.Open(huawei.Maker, config(address), w)
		},
		Server:  func(t *testing.T, _ func() string) http.Handler { return server(t) },
		Env:     env,
		Secrets: []string{secret},
		Want:    want,
		Part:    "/v1/p2/", LostRegion: "ap-southeast-3",
	})
}

func read(t *testing.T, c feed.Config, h http.Handler) (*feedtest.Sink, error) {
	t.Helper()
	return feedtest.ReadAt(t, huawei.Maker, func(address string) feed.Config {
		c.Endpoint, c.Endpoints = address, config(address).Endpoints
		return c
	}, env, h)
}

func TestFlavors(t *testing.T) {
	got, err := read(t, feed.Config{Regions: []string{"cn-north-4"}, Options: map[string]string{"site": "intl"}}, server(t))
	if err != nil {
		t.Fatal(err)
	}
	if got.Passed != 2 || len(got.Listings) != 3 || len(got.Covered) != 1 {
		t.Errorf("passed %d, covers %v, %v", got.Passed, got.Covered, got.Lines())
	}
	if l := got.Listings[0]; l.VCPU.Or(0) != 8 || l.RAM.Or(0) != 64<<30 || l.NetworkGbps.Or(0) != 10 {
		t.Errorf("%+v", l)
	}
}

// What the billing system says of a whole question is no price; what it says otherwise is a failure.
func TestAnswersThatAreNone(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
	}{
		"no right":         {403, `{"error_code":"CBC.0155","error_msg":"no"}`},
		"bad signature":    {401, `{"error_code":"APIGW.0301","error_msg":"no"}`},
		"a proxy's":        {400, `<html>`},
		"none has a price": {400, `{"error_code":"CBC.0100"}`},
		"another unit":     {200, `{"currency":"CNY","measure_id":3,"product_rating_results":[{"id":"0","official_website_amount":1,"measure_id":3}]}`},
		"another product":  {200, `{"currency":"CNY","measure_id":1,"product_rating_results":[{"id":"7","official_website_amount":1,"measure_id":1}]}`},
		"fewer":            {200, `{"currency":"CNY","measure_id":1,"product_rating_results":[]}`},
		"without currency": {200, `{"measure_id":1,"product_rating_results":[{"id":"0","official_website_amount":1,"measure_id":1}]}`},
		"no number":        {200, `{"currency":"CNY","measure_id":1,"product_rating_results":[{"id":"0","official_website_amount":"x","measure_id":1}]}`},
	} {
		h := server(t)
		got, err := read(t, feed.Config{Regions: []string{"ap-southeast-3"}}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/v2/") {
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
				return
			}
			h(w, r)
		}))
		if err == nil || len(got.Listings) > 0 {
			t.Errorf("%s: %v, %v", name, err, got.Lines())
		}
	}
}

// An account's regions cannot all be without accelerators; one that was asked for can.
func TestNoAccelerators(t *testing.T) {
	h := server(t)
	bare := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/flavors") {
			_, _ = fmt.Fprint(w, `{"flavors":[{"name":"c6.large.2","os_extra_specs":{}}]}`)
			return
		}
		h(w, r)
	})
	if _, err := read(t, feed.Config{}, bare); problem.All(err)[0].Code != "feed.empty" {
		t.Errorf("%v", err)
	}
	if got, err := read(t, feed.Config{Regions: []string{"cn-north-4"}}, bare); err != nil || len(got.Covered) != 1 || got.Passed != 1 {
		t.Errorf("%v, covers %v", err, got.Covered)
	}
}

// A hundred flavors are one question; one of them without a price takes some more, not a hundred.
func TestHalves(t *testing.T) {
	var list []string
	for i := range 100 {
		list = append(list, fmt.Sprintf(`{"name":"f%d","os_extra_specs":{"pci_passthrough:alias":"nvidia-t4:1"}}`, i))
	}
	var asked atomic.Int32
	got, err := read(t, feed.Config{Regions: []string{"cn-north-4"}}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Products []struct {
				ID   string `json:"id"`
				Spec string `json:"resource_spec"`
			} `json:"product_infos"`
		}
		switch {
		case r.URL.Path == "/v3/projects":
			_, _ = fmt.Fprint(w, projects)
		case strings.HasPrefix(r.URL.Path, "/v1/"):
			_, _ = fmt.Fprintf(w, `{"flavors":[%s]}`, strings.Join(list, ","))
		default:
			asked.Add(1)
			_ = json.NewDecoder(r.Body).Decode(&q)
			var results []string
			for _, p := range q.Products {
				if p.Spec == "f42.linux" {
					w.WriteHeader(http.StatusBadRequest)
					_, _ = fmt.Fprint(w, `{"error_code":"CBC.99006055"}`)
					return
				}
				results = append(results, fmt.Sprintf(`{"id":%q,"official_website_amount":1.5,"measure_id":1}`, p.ID))
			}
			_, _ = fmt.Fprintf(w, `{"currency":"CNY","measure_id":1,"product_rating_results":[%s]}`, strings.Join(results, ","))
		}
	}))
	if err != nil || len(got.Listings) != 100 || asked.Load() > 15 {
		t.Errorf("%v: %d flavors by %d questions", err, len(got.Listings), asked.Load())
	}
	for _, l := range got.Listings {
		if priced := len(l.Prices) == 1; priced == (l.InstanceType == "f42") {
			t.Errorf("%+v", l)
		}
	}
}

func TestCredentials(t *testing.T) {
	w := feedtest.World(t, nil, fetch.Options{})
	w.Home, w.Read = t.TempDir(), os.ReadFile
	if err := os.MkdirAll(filepath.Join(w.Home, ".huaweicloud"), 0o700); err != nil {
		t.Fatal(err)
	}
	for text, ok := range map[string]bool{"[basic]\nak = a\nsk = b\n": true, "[global]\nak = a\nsk = b\n": false, "": false} {
		if err := os.WriteFile(filepath.Join(w.Home, ".huaweicloud", "credentials"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := huawei.Maker.New(feed.Config{}, w)
		if (err == nil) != ok || err != nil && problem.All(err)[0].Code != feed.CodeNoCredentials {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(flavors["p1"]), []byte(`{"currency":"CNY","measure_id":1,"product_rating_results":[{"id":"0","official_website_amount":1,"measure_id":1}]}`))
	f.Add([]byte(flavors["p2"]), []byte(`{"currency":"CNY","measure_id":1,"product_rating_results":[{"id":"0","official_website_amount":1e30,"measure_id":1}]}`))
	f.Fuzz(func(t *testing.T, list, prices []byte) {
		got, err := read(t, feed.Config{Regions: []string{"cn-north-4"}}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == "/v3/projects":
				_, _ = fmt.Fprint(w, projects)
			case strings.HasPrefix(r.URL.Path, "/v1/"):
				_, _ = w.Write(list)
			default:
				_, _ = w.Write(prices)
			}
		}))
		if !json.Valid(list) && err == nil {
			t.Error("an answer that is no JSON is read")
		}
		for _, l := range got.Listings {
			if l.InstanceType == "" || l.Count < 0 {
				t.Errorf("%+v", l)
			}
		}
	})
}
