package oci

import (
	"testing"

	"github.com/rackrate/rackrate/internal/facts/catalog/intake"
)

func FuzzLists(f *testing.F) {
	f.Add([]byte(`{"items":[{"partNumber":"B1","displayName":"GPU - H100","metricName":"GPU Per Hour","currencyCodeLocalizations":[{"currencyCode":"USD","prices":[{"model":"PAY_AS_YOU_GO","value":10}]}]}]}`),
		[]byte(`{"items":[{"name":"VM.GPU.H100.1 (x)","status":"ACTIVE","allowPreemptible":true,"gpuQty":1,"gpuMemoryQty":80,"bundleMemoryQty":90.5,"shapeType":{"value":"vm"},"subType":{"value":"gpu"},"products":[{"partNumber":"B1","qty":6,"type":{"value":"ocpu"}}]}]}`))
	f.Add([]byte(`{"items":[{}],"links":[{"rel":"next","href":"?"}]}`), []byte(`{"items":[{"gpuQty":"1e30"}]}`))
	f.Fuzz(func(t *testing.T, prices, machines []byte) {
		products, err1 := decode[product](prices)
		shapes, err2 := decode[shape](machines)
		if err1 != nil || err2 != nil {
			return
		}
		parts := priced(products.Items, "USD")
		for i := range shapes.Items {
			l, kind, _ := shapes.Items[i].listing(parts, "USD")
			if kind == "" && (l.Count <= 0 || len(l.Prices) == 0) {
				t.Errorf("%+v", l)
			}
			for _, p := range l.Prices {
				if kind == intake.NoAccelerator || p.Hourly.Nanos() < 0 {
					t.Errorf("%s %+v", kind, l)
				}
			}
		}
	})
}
