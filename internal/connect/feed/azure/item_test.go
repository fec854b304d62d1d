package azure

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/connect/feed/feedtest"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

var now = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// Whatever the order of the rows, the same prices come out, and each row is counted once.
func TestChoiceHeedsNoOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) item {
			return item{
				Currency: "USD", Region: "eastus", Unit: "1 Hour",
				Machine:     rapid.SampledFrom([]string{"Standard_NC4as_T4_v3", "Standard_NC6s_v3", ""}).Draw(t, "machine"),
				Price:       json.Number(rapid.SampledFrom([]string{"0", "1.5", "2", "5E-05", "x"}).Draw(t, "price")),
				Since:       rapid.SampledFrom([]string{"", "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z", "2027-01-01T00:00:00Z"}).Draw(t, "since"),
				Type:        rapid.SampledFrom([]string{"Consumption", "Reservation", "DevTestConsumption"}).Draw(t, "type"),
				Term:        rapid.SampledFrom([]string{"1 Year", "3 Years", "5 Years"}).Draw(t, "term"),
				Sku:         rapid.SampledFrom([]string{"N", "N Spot", "N Low Priority"}).Draw(t, "sku"),
				Primary:     rapid.Bool().Draw(t, "primary"),
				SavingsPlan: slices.Repeat([]plan{{"0.7", "1 Year"}}, rapid.IntRange(0, 1).Draw(t, "plans")),
			}
		}), 0, 12).Draw(t, "items")
		lines := func(items []item) []string {
			c := newChoice("eastus", "USD", now)
			c.add(items)
			var got feedtest.Sink
			c.emit(&got)
			prices := 0
			for _, l := range got.Listings {
				for _, p := range l.Prices {
					if p.Mode != catalog.SavingsPlan1Y { // comes with the price on demand
						prices++
					}
				}
			}
			if sum := prices + got.Passed + len(got.Rejections); sum != len(items) {
				t.Fatalf("%d of %d rows are accounted for", sum, len(items))
			}
			return append(got.Lines(), fmt.Sprint(len(got.Rejections), got.Passed))
		}
		if a, b := lines(items), lines(rapid.Permutation(items).Draw(t, "shuffled")); !slices.Equal(a, b) {
			t.Errorf("%v, shuffled %v", a, b)
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"BillingCurrency":"USD","Items":[{"currencyCode":"USD","tierMinimumUnits":0.0,"retailPrice":98.32,"armRegionName":"eastus","effectiveStartDate":"2025-01-01T00:00:00Z","productName":"N","skuName":"N Spot","unitOfMeasure":"1 Hour","type":"Consumption","armSkuName":"Standard_NC6s_v3","savingsPlan":[{"retailPrice":1e-3,"term":"1 Year"}]}],"NextPageLink":null,"Count":1}`))
	f.Add([]byte(`{"Items":[{"type":"Reservation","reservationTerm":"3 Years","retailPrice":"7"}],"Count":-1}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := decode(body)
		if err != nil {
			return
		}
		c := newChoice("eastus", "USD", now)
		c.add(*p.Items)
		var got feedtest.Sink
		c.emit(&got)
		for _, l := range got.Listings {
			for _, price := range l.Prices {
				if price.Hourly.Nanos() <= 0 {
					t.Errorf("%s costs %s", l.InstanceType, price.Hourly)
				}
			}
		}
	})
}
