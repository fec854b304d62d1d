package alibaba_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/feed/alibaba"
	"github.com/rackrate/rackrate/internal/connect/feed/feedtest"
	"github.com/rackrate/rackrate/internal/connect/fetch"
)

const secret = "s3cr3tOfAnAccount"

var env = map[string]string{"ALIBABA_CLOUD_ACCESS_KEY_ID": "LTAIexample", "ALIBABA_CLOUD_ACCESS_KEY_SECRET": secret}

// pages are two pages of types: one with a GPU, a share of one, and none.
var pages = map[string]string{
	"": `{"InstanceTypes":{"InstanceType":[
	 {"InstanceTypeId":"ecs.gn6v-c8g1.2xlarge","InstanceTypeFamily":"ecs.gn6v","CpuCoreCount":8,"MemorySize":32.0,"GPUAmount":1,"GPUSpec":"NVIDIA V100",
	  "GPUMemorySize":16.0,"LocalStorageAmount":0,"InstanceBandwidthTx":2500000,"EriQuantity":0},
	 {"InstanceTypeId":"ecs.g7.large","InstanceTypeFamily":"ecs.g7","CpuCoreCount":2,"MemorySize":8.0,"GPUAmount":0,"GPUSpec":""}]},"NextToken":"two"}`,
	"two": `{"InstanceTypes":{"InstanceType":[
	 {"InstanceTypeId":"ecs.sgn7i-vws-m2.xlarge","InstanceTypeFamily":"ecs.sgn7i-vws","CpuCoreCount":4,"MemorySize":15.5,"GPUAmount":1,"GPUSpec":"NVIDIA A10*1/12","GPUMemorySize":2},
	 {"InstanceTypeId":"ecs.gn8v-8x.48xlarge","InstanceTypeFamily":"ecs.gn8v","CpuCoreCount":192,"MemorySize":1024,"GPUAmount":8,"GPUSpec":"GPU H","GPUMemorySize":96,
	  "LocalStorageAmount":2,"LocalStorageCapacity":3576,"InstanceBandwidthTx":100000000,"EriQuantity":4}]},"NextToken":""}`,
}

var stocks = map[string]string{
	"cn-beijing": `{"AvailableZones":{"AvailableZone":[
	 {"ZoneId":"cn-beijing-h","AvailableResources":{"AvailableResource":[{"Type":"InstanceType","SupportedResources":{"SupportedResource":[
	  {"Value":"ecs.gn6v-c8g1.2xlarge","Status":"SoldOut","StatusCategory":"WithoutStock"},{"Value":"ecs.g7.large","Status":"Available","StatusCategory":"WithStock"},
	  {"Value":"ecs.gn8v-8x.48xlarge","Status":"SoldOut","StatusCategory":"WithoutStock"}]}}]}},
	 {"ZoneId":"cn-beijing-i","AvailableResources":{"AvailableResource":[{"Type":"InstanceType","SupportedResources":{"SupportedResource":[
	  {"Value":"ecs.gn6v-c8g1.2xlarge","Status":"Available","StatusCategory":"WithStock"}]}}]}}]}}`,
	"us-west-1": `{"AvailableZones":{"AvailableZone":[{"ZoneId":"us-west-1a","AvailableResources":{"AvailableResource":[{"SupportedResources":{"SupportedResource":[
	  {"Value":"ecs.sgn7i-vws-m2.xlarge","Status":"Available","StatusCategory":"WithStock"}]}}]}}]}}`,
	"cn-qingdao": `{"AvailableZones":{"AvailableZone":[]}}`,
}

// lists are list prices of the machine; a quote adds a disk, and an account's own discount.
var lists = map[string]string{
	"cn-beijing ecs.gn6v-c8g1.2xlarge Hour": "26.46", "cn-beijing ecs.gn6v-c8g1.2xlarge Month": "7620.48", "cn-beijing ecs.gn6v-c8g1.2xlarge Year": "77728.9",
	"cn-beijing ecs.gn8v-8x.48xlarge Month": "292000", "us-west-1 ecs.sgn7i-vws-m2.xlarge Hour": "0.31",
}

const spots = `{"Currency":"CNY","NextOffset":%s,"SpotPrices":{"SpotPriceType":[%s]}}`

func server(t *testing.T) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if a := r.Header.Get("Authorization"); !strings.HasPrefix(a, "ACS3-HMAC-SHA256 Credential=LTAIexample,SignedHeaders=host;x-acs-action;") {
			t.Errorf("signed %q", a)
		}
		if r.Header.Get("X-Acs-Version") != "2014-05-26" || r.Header.Get("X-Acs-Date") != "2026-06-01T12:00:00Z" || strings.Contains(fmt.Sprint(r.Header), secret) {
			t.Errorf("%v", r.Header)
		}
		q := r.URL.Query()
		region := q.Get("RegionId")
		switch r.Header.Get("X-Acs-Action") {
		case "DescribeRegions":
			_, _ = fmt.Fprint(w, `{"Regions":{"Region":[{"RegionId":"cn-beijing","RegionEndpoint":"ecs.aliyuncs.com"},
			 {"RegionId":"us-west-1","RegionEndpoint":"ecs.evil.example"},{"RegionId":"cn-qingdao","RegionEndpoint":"ecs.aliyuncs.com"}]}}`)
		case "DescribeInstanceTypes":
			_, _ = fmt.Fprint(w, pages[q.Get("NextToken")])
		case "DescribeAvailableResource":
			_, _ = fmt.Fprint(w, stocks[region])
		case "DescribePrice":
			price := lists[region+" "+q.Get("InstanceType")+" "+q.Get("PriceUnit")]
			old := strings.Contains(q.Get("InstanceType"), ".gn6v-") // an old type takes no new kind of disk, and says so in two ways
			if disk := q.Get("SystemDisk.Category"); old && disk != "cloud_ssd" || !old && disk != "cloud_essd" {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = fmt.Fprintf(w, `{"Code":%q}`, map[bool]string{
					true: "InvalidSystemDiskCategory.ValueNotSupported", false: "InvalidInstanceType.NotSupportDiskCategory",
				}[disk == "cloud_essd"])
				return
			}
			if price == "" {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = fmt.Fprint(w, `{"Code":"PriceNotFound","Message":"The price of your queried resource is not found.","RequestId":"1"}`)
				return
			}
			currency := "CNY"
			if region == "us-west-1" {
				currency = "USD"
			}
			_, _ = fmt.Fprintf(w, `{"PriceInfo":{"Price":{"Currency":%q,"OriginalPrice":%s9,"TradePrice":1,"DetailInfos":{"DetailInfo":[
			 {"Resource":"systemDisk","OriginalPrice":0.056,"TradePrice":0.056},{"Resource":"instanceType","OriginalPrice":%s,"TradePrice":0.5}]}}}}`, currency, price, price)
		case "DescribeSpotPriceHistory":
			if q.Get("NetworkType") != "vpc" || q.Get("StartTime") != "2026-05-31T12:00:00Z" {
				t.Errorf("asked %v", q)
			}
			row := `{"ZoneId":"cn-beijing-%s","InstanceType":"x","SpotPrice":%s,"OriginPrice":26.46,"Timestamp":"2026-06-01T%s:00:00Z"}`
			switch {
			case q.Get("InstanceType") != "ecs.gn6v-c8g1.2xlarge":
				_, _ = fmt.Fprintf(w, spots, "0", "")
			case q.Get("Offset") == "0":
				_, _ = fmt.Fprintf(w, spots, "2", fmt.Sprintf(row, "h", "3.9", "10")+","+fmt.Sprintf(row, "h", "3.5", "09"))
			default:
				_, _ = fmt.Fprintf(w, spots, "0", fmt.Sprintf(row, "i", "2.646", "08"))
			}
		default:
			t.Errorf("asked to %s", r.Header.Get("X-Acs-Action"))
		}
	}
}

var want = []string{
	"alibaba ecs.gn6v-c8g1.2xlarge cn-beijing 1 x NVIDIA V100 on-demand 26.46 CNY in_stock",
	"alibaba ecs.gn6v-c8g1.2xlarge cn-beijing 1 x NVIDIA V100 prepaid-month 10.439013699 CNY in_stock", // 7620.48 / 730
	"alibaba ecs.gn6v-c8g1.2xlarge cn-beijing 1 x NVIDIA V100 prepaid-year 8.8731621 CNY in_stock",     // 77728.90 / 8760
	"alibaba ecs.gn6v-c8g1.2xlarge cn-beijing/cn-beijing-h 1 x NVIDIA V100 spot 3.90 CNY",
	"alibaba ecs.gn6v-c8g1.2xlarge cn-beijing/cn-beijing-i 1 x NVIDIA V100 spot 2.646 CNY",
	"alibaba ecs.gn8v-8x.48xlarge cn-beijing 8 x GPU H prepaid-month 400.00 CNY sold_out", // not sold by the hour
	"alibaba ecs.sgn7i-vws-m2.xlarge us-west-1 0.0833333 x NVIDIA A10 on-demand 0.31 USD in_stock",
}

func TestConformance(t *testing.T) {
	feedtest.Run(t, feedtest.Feed{
		New: func(_ *testing.T, address string, w feed.World) feed.Source {
			return feedtest.Open(alibaba.Maker, feed.Config{Endpoint: address}, w)
		},
		Server:  func(t *testing.T, _ func() string) http.Handler { return server(t) },
		Env:     env,
		Secrets: []string{secret},
		Want:    want,
		Part:    "RegionId=us-west-1", LostRegion: "us-west-1",
	})
}

func TestMachines(t *testing.T) {
	got, err := feedtest.Read(t, alibaba.Maker, feed.Config{Regions: []string{"cn-beijing"}}, env, server(t))
	if err != nil {
		t.Fatal(err)
	}
	if got.Passed != 1 || len(got.Covered) != 4 {
		t.Errorf("passed %d, covers %v", got.Passed, got.Covered)
	}
	i := slices.IndexFunc(got.Listings, func(l listing) bool { return l.InstanceType == "ecs.gn8v-8x.48xlarge" })
	l := got.Listings[i]
	if l.VCPU.Or(0) != 192 || l.RAM.Or(0) != 1024<<30 || l.NVMe.Or(0) != 7152<<30 || l.NetworkGbps.Or(0) != 100 || l.Network != "erdma" || l.MiB != 96*1024 {
		t.Errorf("%+v", l)
	}
}

// Throttling is status 400 here, and passes; other codes do not, and are told without the server's words.
func TestCodes(t *testing.T) {
	var n atomic.Int32
	h := server(t)
	busy := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) == 1 {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"Code":"Throttling.User"}`))
			return
		}
		h(w, r)
	})
	if got, err := feedtest.Read(t, alibaba.Maker, feed.Config{}, env, busy); err != nil || len(got.Lines()) != len(want) {
		t.Errorf("%v %v", err, got.Lines())
	}
	_, err := feedtest.Read(t, alibaba.Maker, feed.Config{}, env, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"Code":"InvalidAccessKeyId.NotFound","Message":"` + secret + `"}`))
	}))
	if p := problem.All(err); len(p) != 1 || p[0].Code != "feed.refused" || p[0].Args["Answer"] != "InvalidAccessKeyId.NotFound" || strings.Contains(fmt.Sprintf("%+v", err), secret) {
		t.Errorf("%+v", err)
	}
}

func TestCredentials(t *testing.T) {
	w := feedtest.World(t, nil, fetch.Options{})
	w.Home, w.Read = t.TempDir(), os.ReadFile
	if err := os.MkdirAll(filepath.Join(w.Home, ".aliyun"), 0o700); err != nil {
		t.Fatal(err)
	}
	for text, ok := range map[string]bool{
		`{"current":"b","profiles":[{"name":"a"},{"name":"b","mode":"AK","access_key_id":"x","access_key_secret":"y"}]}`: true,
		`{"current":"a","profiles":[{"name":"a","mode":"EcsRamRole"}]}`:                                                  false, `{}`: false, `not JSON`: false,
	} {
		if err := os.WriteFile(filepath.Join(w.Home, ".aliyun", "config.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := alibaba.Maker.New(feed.Config{}, w)
		if (err == nil) != ok || err != nil && problem.All(err)[0].Code != feed.CodeNoCredentials {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(pages[""]), []byte(stocks["cn-beijing"]))
	f.Add([]byte(`{"InstanceTypes":{"InstanceType":[{"InstanceTypeId":"a","GPUAmount":"1e39","GPUSpec":"1/0","LocalStorageAmount":1e30,"LocalStorageCapacity":1e30}]}}`), []byte(`{"AvailableZones":null}`))
	f.Fuzz(func(t *testing.T, types, rest []byte) {
		got, err := feedtest.Read(t, alibaba.Maker, feed.Config{}, env, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.Header.Get("X-Acs-Action") {
			case "DescribeInstanceTypes":
				_, _ = w.Write(types)
			case "DescribeRegions":
				_, _ = w.Write([]byte(`{"Regions":{"Region":[{"RegionId":"a"}]}}`))
			default:
				_, _ = w.Write(rest)
			}
		}))
		if !json.Valid(types) && err == nil {
			t.Error("an answer that is no JSON is read")
		}
		for _, l := range got.Listings {
			if l.Count < 0 || l.NVMe.Or(1) <= 0 {
				t.Errorf("%+v", l)
			}
		}
	})
}
