package aws_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/feed/aws"
	"github.com/rackrate/rackrate/internal/connect/feed/feedtest"
	"github.com/rackrate/rackrate/internal/connect/fetch"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/catalog/intake"
	"github.com/rackrate/rackrate/internal/sharedtest"
)

// What AWS charges everywhere, written as its price lists write it and read back: every price comes out at its place, with the
// chips that the machine is known to have.
func TestPublishedPrices(t *testing.T) {
	lists := map[string]map[string][]row{"aws": {}, "aws-china": {}} // rows by kind of source and region
	want := map[string]string{}
	world := feedtest.World(t, nil, fetch.Options{})
	known := map[string]*catalog.Machine{}
	for _, m := range world.Known.Machines {
		if m.Provider == "aws" {
			known[m.InstanceType] = m
		}
	}
	for i, r := range sharedtest.Rows(t, "catalog", "aws_gpu.csv") {
		kind, price, currency := "aws", r["on_demand_usd_hour"], "USD"
		if price == "" {
			kind, price, currency = "aws-china", r["on_demand_cny_hour"], "CNY"
		}
		if price == "" {
			continue
		}
		m := known[r["instance_type"]]
		l := onDemand(r["region"], r["instance_type"], fmt.Sprint("S", i), price).with("Currency", currency, "vCPU", r["vcpu"], "Storage", "EBS only",
			"Network Performance", "Up to 10 Gigabit", "GPU", "1", "GPU Memory", "NA", "Memory", "1 GiB", "Instance Family", "Compute optimized")
		if m != nil {
			rate, err := money.ParseRate(price, money.Currency(currency))
			if err != nil {
				t.Fatal(err)
			}
			want[r["region"]+" "+r["instance_type"]] = fmt.Sprintf("%s %g x %s", rate, m.Count, m.Accelerator.Name)
			if m.Count >= 1 {
				l["GPU"] = fmt.Sprint(m.Count)
			}
		}
		lists[kind][r["region"]] = append(lists[kind][r["region"]], l)
	}
	got := map[string]string{}
	for kind, maker := range map[string]feed.Maker{"aws": aws.Maker, "aws-china": aws.China} {
		in := intake.New(intake.Options{Source: catalog.Source{ID: kind}, AsOf: "2026-06-01", Chips: world.Chips, Known: world.Known})
		sink, err := read(t, maker, priceServer(kind, lists[kind]), feed.Config{})
		if err != nil || len(sink.Losses) > 0 {
			t.Fatalf("%s: %v, lost %v", kind, err, sink.Losses)
		}
		for _, l := range sink.Listings {
			in.Add(l)
		}
		result := in.Result()
		for _, r := range result.Rows {
			if p := r.Price; p.Mode != "" {
				got[r.Region+" "+r.InstanceType] = fmt.Sprintf("%s %g x %s", p.Hourly, r.Count, r.Accelerator.Name)
			}
		}
		for _, r := range result.Rejections {
			// Qualcomm's chip and Gaudi 1 are not in the table of chips.
			if !strings.HasPrefix(r.InstanceType, "dl") || r.Kind != intake.UnknownMachine {
				t.Errorf("%s: rejected %+v", kind, r)
			}
		}
	}
	if len(want) < 1100 || len(got) != len(want) {
		t.Errorf("%d prices, want %d", len(got), len(want))
	}
	for at, w := range want {
		if got[at] != w {
			t.Errorf("%s: %q, want %q", at, got[at], w)
		}
	}
}

// priceServer has a price list for each region, without savings plans.
func priceServer(kind string, regions map[string][]row) map[string]string {
	partition := map[string]string{"aws": "aws", "aws-china": "cn"}[kind]
	base := "/offers/v1.0/" + partition
	files := map[string]string{base + "/index.json": `{"offers":{"AmazonEC2":{"currentRegionIndexUrl":"` + base + `/regions.json"}}}`}
	var entries []string
	for region, rows := range regions {
		path := base + "/AmazonEC2/1/" + region + "/index"
		entries = append(entries, fmt.Sprintf(`%q:{"regionCode":%q,"currentVersionUrl":%q}`, region, region, path+".json"))
		files[path+".csv"] = text(rows...)
	}
	files[base+"/regions.json"] = `{"regions":{` + strings.Join(entries, ",") + `}}`
	return files
}
