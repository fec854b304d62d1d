package tencent_test

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
	"github.com/rackrate/rackrate/internal/connect/feed/tencent"
	"github.com/rackrate/rackrate/internal/connect/fetch"
)

const secret = "s3cr3tKeyOfAnAccount"

var env = map[string]string{"TENCENTCLOUD_SECRET_ID": "AKIDexample", "TENCENTCLOUD_SECRET_KEY": secret}

type row map[string]any

func item(zone, machine string, gpus float64, status string, price row) row {
	return row{
		"Zone": zone, "InstanceType": machine, "InstanceFamily": strings.Split(machine, ".")[0], "TypeName": "GPU", "Cpu": 10, "Memory": 40,
		"Gpu": int(gpus), "GpuCount": gpus, "Status": status, "InstanceBandwidth": 6.5, "Price": price, "Remark": "", "Externals": row{},
	}
}

func hour(price, second, third any) row {
	return row{"ChargeUnit": "HOUR", "UnitPrice": price, "UnitPriceDiscount": price, "UnitPriceSecondStep": second, "UnitPriceThirdStep": third, "OriginalPrice": 0.0}
}

var answers = map[string]map[string][]row{
	"ap-guangzhou": {
		"POSTPAID_BY_HOUR": {
			item("ap-guangzhou-6", "GN10Xp.2XLARGE40", 1, "SELL", hour(10.37, 5.19, 3.53)),
			item("ap-guangzhou-7", "GN10Xp.2XLARGE40", 1, "SOLD_OUT", hour(10.37, 5.19, 3.53)),
			item("ap-guangzhou-6", "GN7.2XLARGE32", 1, "SELL", hour(8.68, 8.68, 8.68)),
			item("ap-guangzhou-6", "GNV4v.XLARGE12", 0.25, "SELL", hour(2.5, nil, nil)),
			item("ap-guangzhou-6", "S5.SMALL1", 0, "SELL", hour(0.12, 0.06, 0.04)),
			item("ap-guangzhou-6", "GN8.LARGE56", 1, "SOLD_OUT", row{"ChargeUnit": "HOUR", "UnitPrice": 0}),
			item("ap-guangzhou-6", "GN6.X", 1, "SELL", row{"ChargeUnit": "GB", "UnitPrice": 1}),
			item("", "GN6.Y", 1, "SELL", hour(1, 1, 1)),
			item("ap-guangzhou-6", "GN6.Z", 1, "SELL", hour("much", 1, 1)),
		},
		"SPOTPAID": {
			item("ap-guangzhou-6", "GN10Xp.2XLARGE40", 1, "SELL", row{"ChargeUnit": "HOUR", "UnitPrice": 10.37, "UnitPriceDiscount": 2.074, "Discount": 20}),
		},
		"PREPAID": {
			item("ap-guangzhou-6", "GN10Xp.2XLARGE40", 1, "SELL", row{"OriginalPrice": 4971.3, "DiscountPrice": 4500.0, "UnitPrice": nil}),
		},
	},
	// A region where a type that is known to have accelerators is listed without their number.
	"na-ashburn": {
		"POSTPAID_BY_HOUR": {item("na-ashburn-1", "PNV4.7XLARGE116", 0, "SELL", hour(9.5, 9.5, 9.5))},
		"SPOTPAID":         {},
		"PREPAID":          {},
	},
}

var want = []string{
	"tencent GN10Xp.2XLARGE40 ap-guangzhou/ap-guangzhou-6 1 x - on-demand 10.37 CNY stepped_price,in_stock",
	"tencent GN10Xp.2XLARGE40 ap-guangzhou/ap-guangzhou-7 1 x - on-demand 10.37 CNY stepped_price,sold_out",
	"tencent GN7.2XLARGE32 ap-guangzhou/ap-guangzhou-6 1 x - on-demand 8.68 CNY in_stock",
	"tencent GNV4v.XLARGE12 ap-guangzhou/ap-guangzhou-6 0.25 x - on-demand 2.50 CNY in_stock",
	"tencent GN8.LARGE56 ap-guangzhou/ap-guangzhou-6 1 x - listed",
	"tencent GN10Xp.2XLARGE40 ap-guangzhou/ap-guangzhou-6 1 x - spot 2.074 CNY in_stock",
	"tencent GN10Xp.2XLARGE40 ap-guangzhou/ap-guangzhou-6 1 x - prepaid-month 6.81 CNY in_stock", // 4971.30 / 730
	"tencent PNV4.7XLARGE116 na-ashburn/na-ashburn-1 0 x - on-demand 9.50 CNY in_stock",
}

// server answers as documented: one address, the action and region in headers, errors with status 200.
func server(t *testing.T) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		auth := r.Header.Get("Authorization")
		if !strings.HasPrefix(auth, "TC3-HMAC-SHA256 Credential=AKIDexample/2026-06-01/cvm/tc3_request, SignedHeaders=content-type;host, Signature=") {
			t.Errorf("signed %q", auth)
		}
		if strings.Contains(fmt.Sprint(r.Header), secret) || r.Header.Get("X-TC-Version") != "2017-03-12" {
			t.Errorf("%v", r.Header)
		}
		var q struct {
			Filters []struct {
				Name   string
				Values []string
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			t.Error(err)
		}
		var response any
		switch r.Header.Get("X-TC-Action") {
		case "DescribeRegions":
			response = row{"TotalCount": 3, "RegionSet": []row{
				{"Region": "ap-guangzhou", "RegionName": "South China", "RegionState": "AVAILABLE"}, {"Region": "na-ashburn", "RegionState": "AVAILABLE"},
				{"Region": "ap-nowhere", "RegionState": "UNAVAILABLE"},
			}}
		case "DescribeZoneInstanceConfigInfos":
			items, ok := answers[r.Header.Get("X-TC-Region")][q.Filters[0].Values[0]]
			response = row{"InstanceTypeQuotaSet": items}
			if !ok || q.Filters[0].Name != "instance-charge-type" {
				response = row{"Error": row{"Code": "UnsupportedRegion", "Message": "no"}}
			}
		}
		_ = json.NewEncoder(w).Encode(row{"Response": response})
	}
}

// byRegion lets a test fail one region: it is in a header, which the contract does not look at.
func byRegion(h http.Handler, region string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-TC-Region") == region {
			_, _ = w.Write([]byte(`{"Response":{"Error":{"Code":"InternalError","Message":"x"},"RequestId":"1"}}`))
			return
		}
		h.ServeHTTP(w, r)
	})
}

func TestConformance(t *testing.T) {
	feedtest.Run(t, feedtest.Feed{
		New: func(_ *testing.T, address string, w feed.World) feed.Source {
			return feedtest.Open(tencent.Maker, feed.Config{Endpoint: address}, w)
		},
		Server:  func(t *testing.T, _ func() string) http.Handler { return server(t) },
		Env:     env,
		Secrets: []string{secret},
		Want:    want,
	})
}

func TestARegionFails(t *testing.T) {
	got, err := feedtest.Read(t, tencent.Maker, feed.Config{}, env, byRegion(server(t), "na-ashburn"))
	if err != nil || len(got.Lines()) != len(want)-1 || len(got.Losses) != 1 || got.Losses[0].Region != "na-ashburn" {
		t.Errorf("%v, losses %v, %v", err, got.Losses, got.Lines())
	}
	for _, c := range got.Covered {
		if c.Region != "ap-guangzhou" {
			t.Errorf("covers %v", c)
		}
	}
	if p := problem.All(got.Losses[0].Why)[0]; p.Code != "feed.refused" || p.Args["Answer"] != "InternalError" {
		t.Errorf("%v", p)
	}
}

func TestRowsAndSites(t *testing.T) {
	got, err := feedtest.Read(t, tencent.Maker, feed.Config{Regions: []string{"ap-guangzhou"}, Options: map[string]string{"site": "intl"}}, env, server(t))
	if err != nil {
		t.Fatal(err)
	}
	if got.Passed != 1 || len(got.Rejections) != 3 || got.Rejections[0].Kind != "units" || got.Rejections[1].Kind != "row" {
		t.Errorf("passed %d, rejected %v", got.Passed, got.Rejections)
	}
	l := got.Listings[0]
	if l.VCPU.Or(0) != 10 || l.RAM.Or(0) != 40<<30 || l.NetworkGbps.Or(0) != 6.5 || l.Prices[0].Hourly.Currency() != "USD" {
		t.Errorf("%+v", l)
	}
	_, err = feedtest.Read(t, tencent.Maker, feed.Config{Options: map[string]string{"site": "moon"}, Currency: "CNY"}, env, server(t))
	if p := problem.All(err); len(p) != 2 || p[0].Code != "feed.not_taken" || p[1].Code != "feed.bad_setting" {
		t.Errorf("%v", err)
	}
}

// A site's regions cannot all be without accelerators; one that was asked for can.
func TestNoAccelerators(t *testing.T) {
	h := server(t)
	bare := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-TC-Action") == "DescribeZoneInstanceConfigInfos" {
			_, _ = w.Write([]byte(`{"Response":{"InstanceTypeQuotaSet":[{"Zone":"a-1","InstanceType":"S5.SMALL1","Gpu":0}]}}`))
			return
		}
		h(w, r)
	})
	if _, err := feedtest.Read(t, tencent.Maker, feed.Config{}, env, bare); problem.All(err)[0].Code != "feed.empty" {
		t.Errorf("%v", err)
	}
	if got, err := feedtest.Read(t, tencent.Maker, feed.Config{Regions: []string{"ap-guangzhou"}}, env, bare); err != nil || len(got.Covered) != 3 || got.Passed != 3 {
		t.Errorf("%v, covers %v", err, got.Covered)
	}
}

// Remarks name the GPU after its number.
func TestNamed(t *testing.T) {
	h := server(t)
	got, err := feedtest.Read(t, tencent.Maker, feed.Config{Regions: []string{"ap-guangzhou"}}, env, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-TC-Action") != "DescribeZoneInstanceConfigInfos" {
			h(w, r)
			return
		}
		_, _ = w.Write([]byte(`{"Response":{"InstanceTypeQuotaSet":[
		 {"Zone":"a-1","InstanceType":"A.1","GpuCount":8,"Remark":"8 * NVIDIA H800"}, {"Zone":"a-1","InstanceType":"A.2","GpuCount":0.25,"Remark":"1/4颗NVIDIA T4"},
		 {"Zone":"a-1","InstanceType":"A.3","GpuCount":1,"GPUDesc":"1 * NVIDIA A10"}, {"Zone":"a-1","InstanceType":"A.4","GpuCount":1,"Remark":"3090"}]}}`))
	}))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{" NVIDIA H800", " NVIDIA T4", "NVIDIA A10 ", " 3090"} {
		if l := got.Listings[i]; l.Accelerator+" "+l.Hints[0] != want {
			t.Errorf("%s: %q of %q", l.InstanceType, l.Accelerator, l.Hints)
		}
	}
}

// Too many requests are an error with status 200, which passes.
func TestBusy(t *testing.T) {
	var n atomic.Int32
	h := server(t)
	got, err := feedtest.Read(t, tencent.Maker, feed.Config{}, env, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) == 1 {
			_, _ = w.Write([]byte(`{"Response":{"Error":{"Code":"RequestLimitExceeded.IPLimitExceeded"}}}`))
			return
		}
		h(w, r)
	}))
	if err != nil || len(got.Lines()) != len(want) {
		t.Errorf("%v %v", err, got.Lines())
	}
}

func TestCredentials(t *testing.T) {
	w := feedtest.World(t, nil, fetch.Options{})
	w.Home, w.Read = t.TempDir(), os.ReadFile
	if _, err := tencent.Maker.New(feed.Config{}, w); problem.All(err)[0].Code != feed.CodeNoCredentials {
		t.Errorf("%v", err)
	}
	for text, ok := range map[string]bool{`{"secretId":"a","secretKey":"b"}`: true, `{"secretId":"a"}`: false, `not JSON`: false} {
		if err := os.MkdirAll(filepath.Join(w.Home, ".tccli"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(w.Home, ".tccli", "default.credential"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := tencent.Maker.New(feed.Config{}, w); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	for _, charge := range []string{"POSTPAID_BY_HOUR", "SPOTPAID", "PREPAID"} {
		text, _ := json.Marshal(row{"Response": row{"InstanceTypeQuotaSet": answers["ap-guangzhou"][charge]}})
		f.Add(text)
	}
	f.Add([]byte(`{"Response":{"InstanceTypeQuotaSet":[{"InstanceType":"a","Zone":"b","Gpu":"1e39","Memory":1e30,"Price":{"ChargeUnit":"HOUR","UnitPrice":1e38}}]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := feedtest.Read(t, tencent.Maker, feed.Config{Regions: []string{"a"}}, env, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(text) }))
		if !json.Valid(text) && err == nil {
			t.Error("an answer that is no JSON is read")
		}
		for _, l := range got.Listings {
			if l.InstanceType == "" || len(l.Prices) > 0 && l.Prices[0].Hourly.IsZero() {
				t.Errorf("%+v", l)
			}
		}
	})
}
