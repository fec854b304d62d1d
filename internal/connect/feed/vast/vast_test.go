package vast_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/feed/feedtest"
	"github.com/rackrate/rackrate/internal/connect/feed/vast"
)

type row map[string]any

func machine(id int, gpu string, count int, ram int, base float64, bid any, place any) row {
	return row{
		"id": id, "machine_id": 7, "gpu_name": gpu, "num_gpus": count, "gpu_ram": ram, "cpu_cores": 128, "cpu_cores_effective": 64.0,
		"cpu_ram": 515_000, "dph_base": base, "dph_total": base + 0.02, "min_bid": bid, "geolocation": place, "verification": "verified",
	}
}

func rows() []row {
	small := machine(3, "H100 SXM", 8, 81559, 16.1, 9.5, "Utah, US")
	small["cpu_cores_effective"], small["cpu_ram"] = 31.7, 400_000.0
	hostless := machine(6, "RTX 3060", 1, 12288, 0.05, nil, nil)
	hostless["cpu_cores"], hostless["cpu_cores_effective"], hostless["dph_base"] = nil, nil, nil
	return []row{
		machine(1, "RTX 4090", 1, 24564, 0.36979999999999996, 0.2, "Texas, US"),
		machine(2, "RTX 4090", 1, 24564, 0.31, 0.25, "California, US, NA"), // cheaper to rent, dearer to bid for
		small,
		machine(4, "H100 SXM", 8, 81559, 15.9, nil, "Sweden, SE"),
		machine(5, "A100 SXM4", 1, 40960, 0.7, 0.4, ", DE"),
		machine(8, "A100 SXM4", 1, 81920, 0.9, 0.5, ", DE"),
		hostless,
		machine(11, "H200", 2, 143771, 4.4, nil, ", US"),
		machine(12, "Q RTX 8000", 1, 49152, 0.2, nil, ", US"),
		machine(9, "RTX 4090", 1, 24564, 0, 0, "Texas, US"),
		machine(10, "", 1, 24564, 0.5, 0.3, "Texas, US"),
	}
}

var want = []string{
	"vast 1x-RTX_4090-24GB US 1 x RTX 4090 on-demand 0.31 USD cheapest_seller,in_stock",
	"vast 1x-RTX_4090-24GB US 1 x RTX 4090 spot 0.20 USD cheapest_seller,in_stock",
	"vast 8x-H100_SXM-80GB US 8 x H100 SXM on-demand 16.10 USD cheapest_seller,in_stock",
	"vast 8x-H100_SXM-80GB US 8 x H100 SXM spot 9.50 USD cheapest_seller,in_stock",
	"vast 8x-H100_SXM-80GB SE 8 x H100 SXM on-demand 15.90 USD cheapest_seller,in_stock",
	"vast 1x-A100_SXM4-40GB DE 1 x A100 SXM4 on-demand 0.70 USD cheapest_seller,in_stock",
	"vast 1x-A100_SXM4-40GB DE 1 x A100 SXM4 spot 0.40 USD cheapest_seller,in_stock",
	"vast 1x-A100_SXM4-80GB DE 1 x A100 SXM4 on-demand 0.90 USD cheapest_seller,in_stock",
	"vast 1x-A100_SXM4-80GB DE 1 x A100 SXM4 spot 0.50 USD cheapest_seller,in_stock",
	"vast 2x-H200-140GB US 2 x H200 SXM on-demand 4.40 USD cheapest_seller,in_stock",
	"vast 1x-Q_RTX_8000-48GB US 1 x Quadro RTX 8000 on-demand 0.20 USD cheapest_seller,in_stock",
	"vast 1x-RTX_3060-12GB - 1 x RTX 3060 on-demand 0.07 USD cheapest_seller,in_stock,region_unconfirmed",
}

// server gives the cheapest machines above a price, fewer than were asked for, as a service that caps its answers does.
func server(t *testing.T, rows []row, most int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Price    map[string]float64 `json:"dph_total"`
			Rentable map[string]bool    `json:"rentable"`
			Rented   map[string]bool    `json:"rented"`
			Order    [][]string         `json:"order"`
			Type     string             `json:"type"`
		}
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil || r.Method != http.MethodPost || r.URL.Path != "/bundles/" {
			http.Error(w, "bad question", http.StatusBadRequest)
			return
		}
		if !q.Rentable["eq"] || q.Rented["eq"] || q.Type != "on-demand" || len(q.Order) != 1 || q.Order[0][0] != "dph_total" {
			t.Errorf("asked %+v", q)
		}
		slices.SortFunc(rows, func(a, b row) int {
			return strings.Compare(fmt.Sprintf("%9.4f", a["dph_total"]), fmt.Sprintf("%9.4f", b["dph_total"]))
		})
		var hits []row
		for _, o := range rows {
			if o["dph_total"].(float64) >= q.Price["gte"] && len(hits) < most {
				hits = append(hits, o)
			}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"offers": append([]row{}, hits...)})
	}
}

func TestConformance(t *testing.T) {
	feedtest.Run(t, feedtest.Feed{
		New: func(_ *testing.T, address string, w feed.World) feed.Source {
			return feedtest.Open(vast.Maker, feed.Config{Endpoint: address}, w)
		},
		Server: func(t *testing.T, _ func() string) http.Handler { return server(t, rows(), 3) },
		Want:   want,
	})
}

func TestEveryRowIsAccountedFor(t *testing.T) {
	for _, regions := range [][]string{nil, {"US"}} {
		got, err := feedtest.Read(t, vast.Maker, feed.Config{Regions: regions}, nil, server(t, rows(), 100))
		if err != nil {
			t.Fatal(err)
		}
		if n := len(got.Listings) + got.Passed + len(got.Rejections); n != len(rows()) || len(got.Rejections) != 2 {
			t.Errorf("%d listings, %d passed, %d rejected of %d", len(got.Listings), got.Passed, len(got.Rejections), len(rows()))
		}
		for _, l := range got.Listings {
			if len(regions) > 0 && l.Region != "US" {
				t.Errorf("%+v was not asked for", l)
			}
			// 31 of 128 cores, floored, and 400000 × 31.7/128 MiB; the other host has more.
			if l.InstanceType == "8x-H100_SXM-80GB" && (l.VCPU.Or(0) != 31 || l.RAM.Or(0) != 99062<<20) {
				t.Errorf("%+v", l)
			}
			if l.InstanceType == "1x-RTX_3060-12GB" && (l.VCPU.Known() || l.RAM.Known()) {
				t.Errorf("%+v", l)
			}
		}
		if len(got.Covered) != 2 || (got.Covered[0].Region == "") != (regions == nil) {
			t.Errorf("covers %v", got.Covered)
		}
	}
}

// A market that cannot be read to its end is not read whole, and says so.
func TestRowsWithoutEnd(t *testing.T) {
	n := 0
	for name, h := range map[string]http.HandlerFunc{
		"no price": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"offers":[{"id":1,"gpu_name":"L4","num_gpus":1,"dph_base":1}]}`))
		},
		"all at one price": server(t, []row{
			machine(1, "L4", 1, 23034, 0.2, nil, "US"), machine(2, "L4", 1, 23034, 0.3, nil, "US"), machine(3, "L4", 1, 23034, 0.3, nil, "US"),
			machine(4, "L4", 1, 23034, 0.3, nil, "US"),
		}, 2),
		"new ones for ever": func(w http.ResponseWriter, _ *http.Request) {
			n++
			_, _ = fmt.Fprintf(w, `{"offers":[{"id":%d,"gpu_name":"L4","num_gpus":1,"dph_base":1,"dph_total":%d}]}`, n, n)
		},
	} {
		got, err := feedtest.Read(t, vast.Maker, feed.Config{}, nil, h)
		if p := problem.All(err); len(p) != 1 || p[0].Code != "fetch.malformed" || len(got.Covered) > 0 {
			t.Errorf("%s: %v, covers %v", name, err, got.Covered)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	text, _ := json.Marshal(map[string]any{"offers": rows()})
	f.Add(text)
	f.Add([]byte(`{"offers":[{"id":1,"gpu_name":"L4","num_gpus":"1e30","cpu_ram":1e39,"cpu_cores":1e-9,"cpu_cores_effective":1e30,"dph_base":1,"dph_total":1}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := feedtest.Read(t, vast.Maker, feed.Config{}, nil, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(text) }))
		if !json.Valid(text) && err == nil {
			t.Error("an answer that is no JSON is read")
		}
		for _, l := range got.Listings {
			if l.Count < 1 || l.Prices[0].Hourly.IsZero() || l.RAM.Or(1) <= 0 || l.VCPU.Or(1) <= 0 {
				t.Errorf("%+v", l)
			}
		}
	})
}
