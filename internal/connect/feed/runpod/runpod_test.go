package runpod_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/feed/feedtest"
	"github.com/rackrate/rackrate/internal/connect/feed/runpod"
)

const listed = `{"data":{"countryCodes":["US",null,"SE"],
"dataCenters":[{"id":"US-KS-2","listed":true},{"id":"EU-RO-1","listed":true},{"id":"EU-SE-9","listed":false}],
"gpuTypes":[
{"id":"NVIDIA H100 80GB HBM3","displayName":"H100 SXM","memoryInGb":80,"manufacturer":"Nvidia","secureCloud":true,"communityCloud":true,
 "maxGpuCount":8,"maxGpuCountSecureCloud":8,"maxGpuCountCommunityCloud":1,"securePrice":2.69,"communityPrice":2.5,
 "secureSpotPrice":1.75,"communitySpotPrice":null,"oneMonthPrice":2.29,"threeMonthPrice":null,"sixMonthPrice":2.03},
{"id":"NVIDIA L4","displayName":"L4","memoryInGb":24,"secureCloud":true,"communityCloud":false,
 "maxGpuCount":3,"maxGpuCountSecureCloud":null,"maxGpuCountCommunityCloud":0,"securePrice":"0.39","communityPrice":null,
 "secureSpotPrice":null,"communitySpotPrice":null,"oneMonthPrice":null,"threeMonthPrice":null,"sixMonthPrice":null},
{"id":"NVIDIA B200","displayName":"B200","memoryInGb":180,"secureCloud":true,"communityCloud":false,"maxGpuCount":8,"maxGpuCountSecureCloud":8,
 "minPodGpuCount":3,"securePrice":5.98},
{"id":"unknown","displayName":"unknown","memoryInGb":0,"secureCloud":false,"communityCloud":false,"maxGpuCount":1,"securePrice":0}
]}}`

var field = regexp.MustCompile(`n(\d+): lowestPrice\(input: \{gpuCount: (\d+), secureCloud: (true|false), (dataCenterId|countryCode): "([^"]*)"\}\)`)

// server has H100s in Kansas, one at a time, and in the community of Sweden; L4s in Romania in pairs, without a spot price of their own.
func server(t *testing.T) http.HandlerFunc {
	left := map[string]string{
		"NVIDIA H100 80GB HBM3/true/US-KS-2/1": `{"stockStatus":"High","minimumBidPrice":1.75,"minVcpu":20,"minMemory":125}`,
		"NVIDIA H100 80GB HBM3/false/SE/1":     `{"stockStatus":"Low","minimumBidPrice":1.25,"minVcpu":16,"minMemory":100}`,
		"NVIDIA L4/true/EU-RO-1/2":             `{"stockStatus":"Medium","minimumBidPrice":0.19,"minVcpu":null,"minMemory":null}`,
	}
	return func(w http.ResponseWriter, r *http.Request) {
		var q struct{ Query string }
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil || r.Method != http.MethodPost {
			http.Error(w, "bad question", http.StatusBadRequest)
			return
		}
		if strings.Contains(q.Query, "dataCenters {") {
			_, _ = w.Write([]byte(listed))
			return
		}
		fields := field.FindAllStringSubmatch(q.Query, -1)
		if len(fields) == 0 {
			t.Errorf("asked %s", q.Query)
		}
		var gpus []string
		for _, id := range []string{"NVIDIA H100 80GB HBM3", "NVIDIA L4", "unknown"} {
			text := fmt.Sprintf(`{"id":%q`, id)
			for _, f := range fields {
				if f[1] != f[2] || (f[3] == "true") != (f[4] == "dataCenterId") {
					t.Errorf("asked %s", f[0])
				}
				st := left[id+"/"+f[3]+"/"+f[5]+"/"+f[1]]
				if st == "" {
					st = `{"stockStatus":null,"minimumBidPrice":null,"minVcpu":null,"minMemory":null}`
				}
				text += `,"n` + f[1] + `":` + st
			}
			gpus = append(gpus, text+"}")
		}
		_, _ = fmt.Fprintf(w, `{"data":{"gpuTypes":[%s]}}`, strings.Join(gpus, ","))
	}
}

var want = []string{
	"runpod 1x_H100-SXM_SECURE US/US-KS-2 1 x H100 SXM on-demand 2.69 USD in_stock",
	"runpod 1x_H100-SXM_SECURE US/US-KS-2 1 x H100 SXM spot 1.75 USD in_stock",
	"runpod 1x_H100-SXM_SECURE US/US-KS-2 1 x H100 SXM reserved-1m 2.29 USD in_stock",
	"runpod 1x_H100-SXM_SECURE US/US-KS-2 1 x H100 SXM reserved-6m 2.03 USD in_stock",
	"runpod 1x_H100-SXM_COMMUNITY SE 1 x H100 SXM on-demand 2.50 USD in_stock",
	"runpod 1x_H100-SXM_COMMUNITY SE 1 x H100 SXM spot 1.25 USD auction_floor,in_stock",
	"runpod 2x_L4_SECURE RO/EU-RO-1 2 x L4 on-demand 0.78 USD in_stock",
	"runpod 2x_L4_SECURE RO/EU-RO-1 2 x L4 spot 0.38 USD auction_floor,in_stock",
	// Left nowhere: the price stands, sold out.
	"runpod 2x_H100-SXM_SECURE - 2 x H100 SXM on-demand 5.38 USD sold_out,region_unconfirmed",
	"runpod 2x_H100-SXM_SECURE - 2 x H100 SXM spot 3.50 USD sold_out,region_unconfirmed",
	"runpod 2x_H100-SXM_SECURE - 2 x H100 SXM reserved-1m 4.58 USD sold_out,region_unconfirmed",
	"runpod 2x_H100-SXM_SECURE - 2 x H100 SXM reserved-6m 4.06 USD sold_out,region_unconfirmed",
	"runpod 4x_H100-SXM_SECURE - 4 x H100 SXM on-demand 10.76 USD sold_out,region_unconfirmed",
	"runpod 4x_H100-SXM_SECURE - 4 x H100 SXM spot 7.00 USD sold_out,region_unconfirmed",
	"runpod 4x_H100-SXM_SECURE - 4 x H100 SXM reserved-1m 9.16 USD sold_out,region_unconfirmed",
	"runpod 4x_H100-SXM_SECURE - 4 x H100 SXM reserved-6m 8.12 USD sold_out,region_unconfirmed",
	"runpod 8x_H100-SXM_SECURE - 8 x H100 SXM on-demand 21.52 USD sold_out,region_unconfirmed",
	"runpod 8x_H100-SXM_SECURE - 8 x H100 SXM spot 14.00 USD sold_out,region_unconfirmed",
	"runpod 8x_H100-SXM_SECURE - 8 x H100 SXM reserved-1m 18.32 USD sold_out,region_unconfirmed",
	"runpod 8x_H100-SXM_SECURE - 8 x H100 SXM reserved-6m 16.24 USD sold_out,region_unconfirmed",
	"runpod 4x_B200_SECURE - 4 x B200 on-demand 23.92 USD sold_out,region_unconfirmed", // pods have three at least
	"runpod 8x_B200_SECURE - 8 x B200 on-demand 47.84 USD sold_out,region_unconfirmed",
	"runpod 1x_L4_SECURE - 1 x L4 on-demand 0.39 USD sold_out,region_unconfirmed",
	"runpod 3x_L4_SECURE - 3 x L4 on-demand 1.17 USD sold_out,region_unconfirmed",
}

func TestConformance(t *testing.T) {
	feedtest.Run(t, feedtest.Feed{
		New: func(_ *testing.T, address string, w feed.World) feed.Source {
			return feedtest.Open(runpod.Maker, feed.Config{Endpoint: address}, w)
		},
		Server: func(t *testing.T, _ func() string) http.Handler { return server(t) },
		Want:   want,
		Part:   `EU-RO-1`, LostRegion: "RO",
	})
}

func TestHostsAndPlaces(t *testing.T) {
	got, err := feedtest.Read(t, runpod.Maker, feed.Config{Regions: []string{"US", "EU-RO-1"}}, nil, server(t))
	if err != nil {
		t.Fatal(err)
	}
	if lines := got.Lines(); len(lines) != 6 || got.Passed != 1 {
		t.Errorf("passed %d and %s", got.Passed, strings.Join(lines, "\n"))
	}
	for _, l := range got.Listings {
		switch l.InstanceType {
		case "1x_H100-SXM_SECURE":
			if l.VCPU.Or(0) != 20 || l.RAM.Or(0) != 125<<30 || l.MiB != 80*1024 || l.Flags[0] != "host_varies" {
				t.Errorf("%+v", l)
			}
		case "2x_L4_SECURE":
			if l.VCPU.Known() || l.RAM.Known() {
				t.Errorf("%+v", l)
			}
		}
	}
	var covered []string
	for _, c := range got.Covered {
		covered = append(covered, c.Region)
	}
	if covered = slices.Compact(covered); !slices.Equal(covered, []string{"RO", "US"}) {
		t.Errorf("covers %v", covered)
	}
}

func TestErrorsWithStatus200(t *testing.T) {
	_, err := feedtest.Read(t, runpod.Maker, feed.Config{}, nil, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"errors":[{"message":"Cannot query field \"sixMonthPrice\" on type \"GpuType\"."}],"data":null}`))
	}))
	if p := problem.All(err); len(p) != 1 || p[0].Code != "feed.refused" || !strings.Contains(p[0].Error(), "sixMonthPrice") {
		t.Errorf("%v", err)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(listed), []byte(`{"data":{"gpuTypes":[{"id":"NVIDIA L4","n1":{"stockStatus":"High","minimumBidPrice":0.1,"minVcpu":1e300,"minMemory":-1}}]}}`))
	f.Add([]byte(`{"data":{"gpuTypes":[{"id":"a","displayName":"a","secureCloud":true,"maxGpuCount":1e9,"securePrice":1e30}],"dataCenters":[{}]}}`), []byte(`{"data":{"gpuTypes":[{}]}}`))
	f.Fuzz(func(t *testing.T, first, later []byte) {
		var n atomic.Int32
		got, err := feedtest.Read(t, runpod.Maker, feed.Config{Regions: []string{"US"}}, nil, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if n.Add(1) == 1 {
				_, _ = w.Write(first)
				return
			}
			_, _ = w.Write(later)
		}))
		if !json.Valid(first) && err == nil {
			t.Error("an answer that is no JSON is read")
		}
		for _, l := range got.Listings {
			if l.Count < 1 || len(l.Prices) == 0 || l.RAM.Or(1) <= 0 {
				t.Errorf("%+v", l)
			}
		}
	})
}
