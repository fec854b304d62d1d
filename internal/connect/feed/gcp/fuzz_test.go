package gcp

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/connect/feed/feedtest"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

func FuzzSkus(f *testing.F) {
	f.Add([]byte(`{"skus":[{"description":"TpuV5e running in Iowa","category":{"usageType":"OnDemand"},"serviceRegions":["us-central1"],"pricingInfo":[{"effectiveTime":"2026-01-01T00:00:00Z","pricingExpression":{"usageUnit":"h","tieredRates":[{"startUsageAmount":0,"unitPrice":{"currencyCode":"USD","units":"1","nanos":200000000}}]}}]}],"nextPageToken":"x"}`))
	f.Add([]byte(`{"skus":[{"description":"Commitment v1: Cpu in A for 1 Year","category":{"usageType":"Commit1Yr"},"serviceRegions":[""],"pricingInfo":[{"effectiveTime":"2026-01-01T00:00:00Z","pricingExpression":{"usageUnit":"h","tieredRates":[{"unitPrice":{"currencyCode":"USD","units":-1}}]}}]}]}`))
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := decode(body)
		if err != nil {
			return
		}
		r := newRates(now, "USD")
		r.add(p.Skus)
		var got feedtest.Sink
		r.emit(&got, func(string) bool { return true }, nil)
		for _, l := range got.Listings {
			for _, price := range l.Prices {
				if price.Hourly.Nanos() <= 0 {
					t.Errorf("%s costs %s", l.InstanceType, price.Hourly)
				}
			}
		}
		if r.passed+len(r.bad) > len(p.Skus) {
			t.Errorf("%d passed and %d rejected of %d", r.passed, len(r.bad), len(p.Skus))
		}
	})
}

func FuzzTable(f *testing.F) {
	f.Add("name,region,acceleratorCount,acceleratorType,hour,hourSpot\na2,r,1,x,1.5,5E-05\nb,r,0,,1,\n")
	f.Add("name,region,acceleratorCount,acceleratorType,hour,hourSpot\n\"a\n")
	f.Fuzz(func(t *testing.T, text string) {
		read, err := readTable(strings.NewReader(text), nil)
		if err != nil {
			return
		}
		for _, l := range read.machines {
			if l.InstanceType == "" || l.Region == "" || l.Count < 0 {
				t.Errorf("%+v", l)
			}
		}
	})
}

// Words around a part's name never turn another way to buy into the ordinary price.
func TestOtherWaysToBuyAreNotOnDemand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"A2 Instance Core", "A3Plus Instance Ram", "Nvidia L4 GPU", "H200 141GB GPU", "SSD backed Local Storage"}).Draw(t, "name")
		place := rapid.SampledFrom([]string{"", " in Iowa", " running in Americas"}).Draw(t, "place")
		s := sku{Description: name + place}
		s.Category.UsageType = "OnDemand"
		if p, mode, ok := s.read(); !ok || mode != catalog.OnDemand {
			t.Fatalf("%q is %v %s, %t", s.Description, p, mode, ok)
		}
		s.Description = rapid.SampledFrom([]string{
			"Reserved " + name + place, "DWS Defined Duration " + name + place, name + " attached to DWS Defined Duration VMs" + place,
			name + place + " in Calendar Mode", name + " attached to Sole Tenancy VMs" + place, "Sole Tenancy Premium for " + name + place,
			"Commitment v1: " + name + " in Iowa for 1 Year", "Spot Preemptible " + name + place, name + " attached to Spot Preemptible VMs" + place,
		}).Draw(t, "other")
		if p, mode, ok := s.read(); ok && mode == catalog.OnDemand {
			t.Errorf("%q is %v on demand", s.Description, p)
		}
		s.Category.UsageType = rapid.SampledFrom([]string{"Commit1Mo", "Commit3Yr", "Commit", "CmtCudPremium", ""}).Draw(t, "usage")
		if p, mode, ok := s.read(); ok {
			t.Errorf("%q as %s is %v %s", s.Description, s.Category.UsageType, p, mode)
		}
	})
}
