package gcp

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/rackrate/rackrate/internal/connect/feed/feedtest"
)

// BenchmarkSkus reads a list of the real one's size: 32,000 SKUs, a tenth of them parts of machines, in 40 regions.
func BenchmarkSkus(b *testing.B) {
	const n = 32000
	parts := []string{
		"A2 Instance Core", "A2 Instance Ram", "Nvidia Tesla A100 GPU", "Nvidia Tesla A100 80GB GPU", "SSD backed Local Storage",
		"G2 Instance Core", "G2 Instance Ram", "Nvidia L4 GPU", "N1 Predefined Instance Core", "N1 Predefined Instance Ram",
	}
	units := map[string]string{"A2 Instance Ram": "GiBy.h", "G2 Instance Ram": "GiBy.h", "N1 Predefined Instance Ram": "GiBy.h", "SSD backed Local Storage": "GiBy.mo"}
	var skus []map[string]any
	for i := range n {
		name, unit := fmt.Sprintf("Licensing Fee for Product %d", i), "h"
		if i%10 == 0 {
			name = parts[i/10%len(parts)]
			if u := units[name]; u != "" {
				unit = u
			}
		}
		tier := map[string]any{"startUsageAmount": 0, "unitPrice": map[string]any{"currencyCode": "USD", "units": "0", "nanos": 31611000 + i}}
		skus = append(skus, map[string]any{
			"name": fmt.Sprintf("services/6F81-5844-456A/skus/%08X", i), "description": name + " running in Americas",
			"category":       map[string]any{"serviceDisplayName": "Compute Engine", "resourceFamily": "Compute", "usageType": "OnDemand"},
			"serviceRegions": []string{fmt.Sprintf("region-%d", i/100%40)},
			"pricingInfo": []any{map[string]any{
				"effectiveTime": "2026-01-01T00:00:00Z", "currencyConversionRate": 1,
				"pricingExpression": map[string]any{"usageUnit": unit, "displayQuantity": 1, "tieredRates": []any{tier}},
			}},
			"geoTaxonomy": map[string]any{"type": "REGIONAL", "regions": []string{"us-central1"}},
		})
	}
	body, err := json.Marshal(map[string]any{"skus": skus})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		p, err := decode(body)
		if err != nil {
			b.Fatal(err)
		}
		r := newRates(time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC), "USD")
		r.add(p.Skus)
		var got feedtest.Sink
		if r.emit(&got, func(string) bool { return true }, nil) == nil {
			b.Fatal("no machines")
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "skus/s")
}
