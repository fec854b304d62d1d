package alibaba_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/feed/alibaba"
	"github.com/rackrate/rackrate/internal/connect/feed/feedtest"
	"github.com/rackrate/rackrate/internal/connect/fetch"
	"github.com/rackrate/rackrate/internal/facts/catalog/intake"
)

type listing = intake.Listing

const html = `<html><script src="//g.alicdn.com/aliyun/other/1.2/x.js"></script><script src="https://g.alicdn.com/aliyun/ecs-price-info/2.0.243/index.js"></script>`

// data has strings for numbers, other systems and networks, prepayments of several years, and the currency at its end.
const data = `{"version":"2.0.243","disclaimer":{"a":[1,2]},"pricingInfo":{
"cn-beijing::ecs.gn7i-c8g1.2xlarge::vpc::linux::optimized":{"hours":[{"price":"9.5326","period":"1"}],"weeks":[{"price":"1"}],
 "months":[{"price":"3431.73","period":"1"}],"years":[{"price":"35003.69","period":"1"},{"price":"60000","period":"2"}]},
"cn-beijing::ecs.gn7i-c8g1.2xlarge::vpc::windows::optimized":{"hours":[{"price":"10"}],"months":[],"years":[]},
"cn-beijing::ecs.gn7i-c8g1.2xlarge::classic::linux::optimized":{"hours":[{"price":"11"}],"months":[],"years":[]},
"cn-beijing::ecs.gn7i-c8g1.2xlarge::vpc::linux::none":{"hours":[{"price":"12"}]},
"cn-beijing::ecs.g7.large::vpc::linux::optimized":{"hours":[{"price":"0.9"}]},
"odd key":{},
"us-west-1::ecs.ebmgn8v.48xlarge::vpc::linux::optimized":{"hours":[{"price":"0.0"}],"months":[{"price":"292000.0"}],"years":null},
"us-west-1::ecs.vgn6i-m4.xlarge::vpc::linux::optimized":{"hours":[],"months":[],"years":[]}
},"currency":"CNY"}`

func pageServer(t *testing.T, data string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/page":
			_, _ = io.WriteString(w, html)
		case "/aliyun/ecs-price-info/2.0.243/price/download/instancePrice.json":
			_, _ = io.WriteString(w, data)
		default:
			t.Errorf("asked for %s", r.URL)
		}
	}
}

func pageConfig(address string) feed.Config {
	return feed.Config{Endpoint: address + "/page", Endpoints: map[string]string{"data": address}}
}

func openPage(address string, w feed.World) feed.Source {
	return feedtest.Open(alibaba.PageMaker, pageConfig(address), w)
}

func TestPageConformance(t *testing.T) {
	feedtest.Run(t, feedtest.Feed{
		New:    func(_ *testing.T, address string, w feed.World) feed.Source { return openPage(address, w) },
		Server: func(t *testing.T, _ func() string) http.Handler { return pageServer(t, data) },
		Want: []string{
			"alibaba ecs.gn7i-c8g1.2xlarge cn-beijing 0 x - on-demand 9.5326 CNY",
			"alibaba ecs.gn7i-c8g1.2xlarge cn-beijing 0 x - prepaid-month 4.701 CNY",      // 3431.73 / 730
			"alibaba ecs.gn7i-c8g1.2xlarge cn-beijing 0 x - prepaid-year 3.995855023 CNY", // 35003.69 / 8760
			"alibaba ecs.ebmgn8v.48xlarge us-west-1 0 x - prepaid-month 400.00 CNY",       // not sold by the hour
		},
	})
}

func readPage(t *testing.T, data string) (*feedtest.Sink, error) {
	t.Helper()
	return feedtest.ReadAt(t, alibaba.PageMaker, pageConfig, nil, pageServer(t, data))
}

func TestPageAccounts(t *testing.T) {
	got, err := readPage(t, data)
	if err != nil || len(got.Listings) != 2 || got.Passed != 5 || len(got.Rejections) != 1 || len(got.Covered) != 6 {
		t.Errorf("%v: %d listings, %d passed, rejected %v, covers %v", err, len(got.Listings), got.Passed, got.Rejections, got.Covered)
	}
	for _, l := range got.Listings {
		if len(l.Flags) != 1 || l.Flags[0] != "availability_unknown" {
			t.Errorf("%+v", l)
		}
	}
	for name, text := range map[string]string{
		"broken off": data[:len(data)-30], "no currency": `{"pricingInfo":{}}`, "a list": `[]`, "prices in a list": `{"pricingInfo":[]}`,
		"number for prices": `{"pricingInfo":{"a":1}}`, "not closed": `{"currency":"CNY"`,
	} {
		if got, err := readPage(t, text); err == nil || len(got.Listings) > 0 || problem.All(err)[0].Code != fetch.CodeMalformed {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The data are read as they come: what they take does not grow with them.
func TestPageMemory(t *testing.T) {
	row := []byte(`"cn-beijing::ecs.g7.large::vpc::windows::optimized":{"hours":[{"price":"0.9","period":"1"}],"months":[{"price":"99","period":"1"}]},` + "\n")
	const size = 40 << 20
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/page" {
			_, _ = io.WriteString(w, html)
			return
		}
		_, _ = io.WriteString(w, `{"pricingInfo":{`)
		block := bytes.Repeat(row, 1000)
		for n := 0; n < size; n += len(block) {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
		_, _ = io.WriteString(w, `"cn-beijing::ecs.gn7i-c8g1.2xlarge::vpc::linux::optimized":{"hours":[{"price":"9"}]}},"currency":"CNY"}`)
	}))
	defer s.Close()
	peak := uint64(0)
	watch := watcher{progress: func() {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		peak = max(peak, m.HeapInuse)
	}}
	if err := openPage(s.URL, feedtest.World(t, nil, fetch.Options{})).Fetch(t.Context(), &watch); err != nil {
		t.Fatal(err)
	}
	if watch.Passed < 250_000 || len(watch.Listings) != 1 || peak == 0 || peak > 48<<20 {
		t.Errorf("%d rows passed, %d kept, %d MB in use", watch.Passed, len(watch.Listings), peak>>20)
	}
}

type watcher struct {
	feedtest.Sink
	progress func()
}

func (w *watcher) Progress(_, _ int64) { w.progress() }

func FuzzPage(f *testing.F) {
	f.Add([]byte(data))
	f.Add([]byte(`{"pricingInfo":{"a::ecs.gn1::vpc::linux::optimized":{"hours":[{"price":1e30}]}},"currency":"CNY"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := readPage(t, string(text))
		if !json.Valid(text) && err == nil && !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
			t.Error("an answer that is no JSON is read")
		}
		for _, l := range got.Listings {
			for _, p := range l.Prices {
				if p.Hourly.IsZero() {
					t.Errorf("%+v", l)
				}
			}
		}
	})
}

// BenchmarkPage reads data of a hundred thousand rows.
func BenchmarkPage(b *testing.B) {
	row := `"cn-beijing::ecs.g7.large%d::vpc::linux::optimized":{"hours":[{"price":"0.9","period":"1"}],"months":[{"price":"99","period":"1"}]},` + "\n"
	var text bytes.Buffer
	text.WriteString(`{"pricingInfo":{`)
	for i := range 100_000 {
		fmt.Fprintf(&text, row, i)
	}
	text.WriteString(`"cn-beijing::ecs.gn7i-c8g1.2xlarge::vpc::linux::optimized":{"hours":[{"price":"9"}]}},"currency":"CNY"}`)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/page" {
			_, _ = io.WriteString(w, html)
			return
		}
		_, _ = w.Write(text.Bytes())
	}))
	defer s.Close()
	source := openPage(s.URL, feedtest.World(b, nil, fetch.Options{}))
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if err := source.Fetch(b.Context(), &feedtest.Sink{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(100_001*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
