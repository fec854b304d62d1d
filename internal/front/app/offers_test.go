package app_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/front/app"
)

func newApp(t *testing.T) *app.App {
	t.Helper()
	outside := app.Real(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{})
	outside.Env = func(string) string { return "" }
	outside.Now = func() time.Time { return time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC) }
	a, err := app.New(outside, "en")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func offers(t *testing.T, a *app.App, q app.OfferQuery) *app.OfferList {
	t.Helper()
	list, err := a.Offers(q)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func queries(t *testing.T, a *app.App) map[string]app.OfferQuery {
	t.Helper()
	h100, err := a.Chips().ParseSelectors("H100:8, 80GB..:1..4")
	if err != nil {
		t.Fatal(err)
	}
	return map[string]app.OfferQuery{
		"all":     {},
		"gpu":     {Selectors: h100},
		"place":   {Places: []string{"eu", "JP"}},
		"spot":    {Modes: []catalog.BillingMode{catalog.Spot}, MaxHourly: unit.Some(money.PerHour(20e9, money.USD))},
		"several": {Selectors: h100, Places: []string{"na"}, MinRAM: 256 * unit.GB, Sort: app.ByGPUPrice},
	}
}

// A grouped list is the fold of the flat one.
func TestGroupedIsTheFoldOfFlat(t *testing.T) {
	a := newApp(t)
	for name, q := range queries(t, a) {
		list := offers(t, a, q)
		sum := 0
		for _, m := range list.Machines {
			sum += m.Offers
			for mode, cheapest := range m.Cheapest {
				for _, r := range list.Rows {
					if r.Machine == m.Machine && r.Known && r.Price.Mode == mode && r.Hourly.Nanos() < cheapest.Hourly.Nanos() {
						t.Errorf("%s: %s %s is cheaper at %s than %s", name, m.InstanceType, mode, r.Hourly, cheapest.Hourly)
					}
				}
			}
		}
		if sum != len(list.Rows) {
			t.Errorf("%s: the groups count %d rows, the flat list has %d", name, sum, len(list.Rows))
		}
	}
}

// Adding a filter never gains a row, and what it removed is said.
func TestFiltersOnlyNarrow(t *testing.T) {
	a := newApp(t)
	all := map[string]bool{}
	for _, r := range offers(t, a, app.OfferQuery{}).Rows {
		all[key(r)] = true
	}
	for name, q := range queries(t, a) {
		before := offers(t, a, q)
		for _, r := range before.Rows {
			if !all[key(r)] {
				t.Errorf("%s: %s is not in the whole list", name, key(r))
			}
		}
		narrower := q
		narrower.RDMA = true
		had := map[string]bool{}
		for _, r := range before.Rows {
			had[key(r)] = true
		}
		for _, r := range offers(t, a, narrower).Rows {
			if !had[key(r)] {
				t.Errorf("%s: --rdma gained %s", name, key(r))
			}
		}
	}
}

// Where nothing passes, every filter says how many offers would be left without it.
func TestNothingPassesWithAReason(t *testing.T) {
	a := newApp(t)
	h200, err := a.Chips().ParseSelectors("H200")
	if err != nil {
		t.Fatal(err)
	}
	list := offers(t, a, app.OfferQuery{Selectors: h200, MaxHourly: unit.Some(money.PerHour(1e6, money.USD))})
	if len(list.Rows) != 0 || len(list.Removed) != 2 {
		t.Fatalf("%d rows, removed by %v", len(list.Rows), list.Removed)
	}
	for _, r := range list.Removed {
		if r.Filter == "max-price" && (r.Only == 0 || r.Nearest == nil) {
			t.Errorf("%s removed %d, %d of them alone, nearest %v", r.Filter, r.Count, r.Only, r.Nearest)
		}
	}
}

func key(r app.OfferRow) string {
	return strings.Join([]string{r.Provider, r.InstanceType, r.Region, r.Zone, string(r.Price.Mode)}, " ")
}
