package azure_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/feed/azure"
	"github.com/rackrate/rackrate/internal/connect/feed/feedtest"
	"github.com/rackrate/rackrate/internal/connect/fetch"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// row is a meter as the service writes it: numbers as numbers, also in the form 5E-05, and empty fields left out.
type row map[string]any

func meter(region, machine, price string, more ...any) row {
	r := row{
		"currencyCode": "USD", "tierMinimumUnits": 0.0, "retailPrice": json.Number(price), "unitPrice": json.Number(price),
		"armRegionName": region, "location": "US West", "effectiveStartDate": "2025-01-01T00:00:00Z", "meterId": "x",
		"meterName": strings.TrimPrefix(machine, "Standard_"), "productName": "Virtual Machines N Series",
		"skuName": strings.TrimPrefix(machine, "Standard_"), "serviceName": "Virtual Machines", "serviceFamily": "Compute",
		"unitOfMeasure": "1 Hour", "type": "Consumption", "isPrimaryMeterRegion": true, "armSkuName": machine,
	}
	for i := 0; i < len(more); i += 2 {
		r[more[i].(string)] = more[i+1]
	}
	return r
}

const h100 = "Standard_ND96isr_H100_v5"

func plans(year, three string) []any {
	return []any{
		row{"unitPrice": json.Number(three), "retailPrice": json.Number(three), "term": "3 Years"},
		row{"unitPrice": json.Number(year), "retailPrice": json.Number(year), "term": "1 Year"},
		row{"unitPrice": 1, "retailPrice": 1, "term": "5 Years"},
	}
}

func rows() []row {
	return []row{
		meter("eastus", "Standard_D2s_v3", "0.096"), meter("westus", "Standard_D2s_v3", "0.117"),
		meter("norwaywest", "Standard_D2s_v3", "0.12"), meter("", "Standard_D2s_v3", "0.1"),

		meter("eastus", h100, "98.32", "savingsPlan", plans("66.8576", "44.244")),
		meter("eastus", h100, "18.17", "skuName", "ND96isrH100v5 Spot", "meterName", "ND96isrH100v5 Spot"),
		meter("eastus", h100, "551179.2", "type", "Reservation", "reservationTerm", "1 Year"),
		meter("eastus", h100, "1134253", "type", "Reservation", "reservationTerm", "3 Years"),
		meter("eastus", h100, "1500000", "type", "Reservation", "reservationTerm", "5 Years"),
		// What must not count.
		meter("eastus", h100, "102.736", "productName", "Virtual Machines NDs H100 v5 Series Windows"),
		meter("eastus", h100, "98.33", "productName", "NDs H100 v5 Series Cloud Services"),
		meter("eastus", h100, "98.34", "productName", "NDs H100 v5 Series CloudServices"),
		meter("eastus", h100, "98.35", "productName", "NDs H100 v5 Series Dedicated Host"),
		meter("eastus", h100, "19.66", "meterName", "ND96isr Low Priority", "skuName", "ND96isr Low Priority"),
		meter("eastus", h100, "60", "type", "DevTestConsumption"),
		meter("eastus", h100, "90", "tierMinimumUnits", 100.0),
		meter("eastus", h100, "91", "effectiveStartDate", "2026-07-01T00:00:00Z"),
		meter("eastus", h100, "92", "effectiveEndDate", "2026-05-31T23:59:59Z"),
		meter("eastus", h100, "93", "isPrimaryMeterRegion", false, "effectiveStartDate", "2026-01-01T00:00:00Z"),
		meter("eastus", h100, "94", "armSkuName", ""),
		// Of two prices the newer, of two as new the dearer.
		meter("eastus", "Standard_NC4as_T4_v3", "0.6", "effectiveStartDate", "2024-01-01T00:00:00Z"),
		meter("eastus", "Standard_NC4as_T4_v3", "0.526", "effectiveStartDate", "2025-06-01T00:00:00Z"),
		meter("eastus", "Standard_NC4as_T4_v3", "0.5", "effectiveStartDate", "2025-06-01T00:00:00Z"),
		meter("eastus", "Standard_NC4as_T4_v3", "5E-05", "skuName", "NC4as T4 v3 Spot"),
		// Rows that the source cannot use.
		meter("eastus", "Standard_NV6ads_A10_v5", "0"),
		meter("eastus", "Standard_NV6ads_A10_v5", "331.4", "unitOfMeasure", "1/Month"),

		meter("westus", "Standard_NC6s_v3", "3.366", "savingsPlan", nil),
		meter("westus", "Standard_NC6s_v3", "0.41", "skuName", "NC6s v3 Spot"),
	}
}

var want = []string{
	"azure Standard_ND96isr_H100_v5 eastus 0 x - on-demand 98.32 USD",
	"azure Standard_ND96isr_H100_v5 eastus 0 x - spot 18.17 USD",
	"azure Standard_ND96isr_H100_v5 eastus 0 x - savings-plan-1y 66.8576 USD",
	"azure Standard_ND96isr_H100_v5 eastus 0 x - savings-plan-3y 44.244 USD",
	"azure Standard_ND96isr_H100_v5 eastus 0 x - reserved-1y 62.92 USD",        // 551179.20 / 8760
	"azure Standard_ND96isr_H100_v5 eastus 0 x - reserved-3y 43.160312024 USD", // 1134253 / 26280
	"azure Standard_NC4as_T4_v3 eastus 0 x - on-demand 0.526 USD",
	"azure Standard_NC4as_T4_v3 eastus 0 x - spot 0.00005 USD",
	"azure Standard_NC6s_v3 westus 0 x - on-demand 3.366 USD",
	"azure Standard_NC6s_v3 westus 0 x - spot 0.41 USD",
}

var clause = regexp.MustCompile(`^(?:(\w+) eq '([^']*)'|contains\((\w+), '([^']*)'\))$`)

// server answers like the service: filters that heed case, pages by $skip with links that carry the port, null at the end.
func server(t *testing.T, rows []row, size int, address func() string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if q.Get("api-version") != "2023-01-01-preview" || q.Get("currencyCode") != "'USD'" {
			t.Errorf("asked with %v", q)
		}
		var hits []row
		for _, row := range rows {
			fits := true
			for _, c := range strings.Split(q.Get("$filter"), " and ") {
				m := clause.FindStringSubmatch(c)
				if m == nil {
					http.Error(w, "bad filter "+c, http.StatusBadRequest)
					return
				}
				if m[1] == "priceType" {
					m[1] = "type"
				}
				fits = fits && (m[1] == "" || row[m[1]] == m[2]) && (m[3] == "" || strings.Contains(row[m[3]].(string), m[4]))
			}
			if fits {
				hits = append(hits, row)
			}
		}
		skip, _ := strconv.Atoi(q.Get("$skip"))
		end := min(skip+size, len(hits))
		answer := map[string]any{
			"BillingCurrency": "USD", "CustomerEntityId": "Default", "CustomerEntityType": "Retail",
			"Items": append([]row{}, hits[min(skip, end):end]...), "NextPageLink": nil, "Count": end - min(skip, end),
		}
		if end < len(hits) {
			q.Set("$skip", strconv.Itoa(end))
			answer["NextPageLink"] = address() + r.URL.Path + "?" + q.Encode()
		}
		_ = json.NewEncoder(w).Encode(answer)
	}
}

func TestConformance(t *testing.T) {
	feedtest.Run(t, feedtest.Feed{
		New: func(_ *testing.T, address string, w feed.World) feed.Source {
			w.Known = catalog.New(nil, nil, nil)
			return feedtest.Open(azure.Maker, feed.Config{Endpoint: address}, w)
		},
		Server: func(t *testing.T, address func() string) http.Handler { return server(t, rows(), 4, address) },
		Want:   want,
		Part:   "armRegionName+eq+%27westus%27", LostRegion: "westus",
	})
}

// read asks a server for some regions.
func read(t *testing.T, h http.HandlerFunc, c feed.Config) (*feedtest.Sink, error) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	c.Endpoint = server.URL
	var got feedtest.Sink
	err := feedtest.Open(azure.Maker, c, feedtest.World(t, nil, fetch.Options{})).Fetch(t.Context(), &got)
	return &got, err
}

func TestEveryRowIsAccountedFor(t *testing.T) {
	var address string
	h := server(t, rows(), 1000, func() string { return address })
	got, err := read(t, h, feed.Config{Regions: []string{"eastus", "westus", "eastus"}})
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, r := range rows() {
		if strings.Contains(r["armSkuName"].(string), "Standard_N") && r["armRegionName"] != "" {
			total++
		}
	}
	prices := 0
	for _, l := range got.Listings {
		for _, p := range l.Prices {
			if !strings.HasPrefix(string(p.Mode), "savings") { // comes with the price on demand
				prices++
			}
			if p.Confidence != catalog.Listed || p.AsOf != "" || p.Source != "" {
				t.Errorf("%+v", p)
			}
		}
		if len(l.Hints) != 1 || l.Hints[0] != "Virtual Machines N Series" || l.At.File != "azure/"+l.Region || l.At.Line == 0 {
			t.Errorf("%+v", l)
		}
	}
	if sum := prices + len(got.Rejections) + got.Passed; sum != total {
		t.Errorf("%d prices, %d rejected, %d passed: %d of %d rows", prices, len(got.Rejections), got.Passed, sum, total)
	}
	var kinds []string
	for _, r := range got.Rejections {
		kinds = append(kinds, fmt.Sprintf("%s %s %s", r.Kind, r.InstanceType, r.Region))
	}
	wantKinds := []string{"zero_price Standard_NV6ads_A10_v5 eastus", "row Standard_NV6ads_A10_v5 eastus"}
	if !slices.Equal(kinds, wantKinds) {
		t.Errorf("rejected %v, want %v", kinds, wantKinds)
	}
	// In eastus a price cannot be read, so that its machine may still be sold.
	if len(got.Covered) != 6 || got.Covered[0].Provider != "azure" || got.Covered[0].Region != "westus" {
		t.Errorf("covers %v", got.Covered)
	}
}

// A row with any part that cannot be read is rejected, and its region then not said to be read whole.
func TestRowsThatCannotBeRead(t *testing.T) {
	for column, r := range map[string]row{
		"retailPrice":        meter("eastus", h100, "-1"),
		"unitOfMeasure":      meter("eastus", h100, "1", "unitOfMeasure", "1 Month"),
		"currencyCode":       meter("eastus", h100, "1", "currencyCode", ""),
		"effectiveStartDate": meter("eastus", h100, "1", "effectiveStartDate", "1 May 2025"),
		"effectiveEndDate":   meter("eastus", h100, "1", "effectiveEndDate", "never"),
		"tierMinimumUnits":   meter("eastus", h100, "1", "tierMinimumUnits", -1),
		"savingsPlan":        meter("eastus", h100, "1", "savingsPlan", []any{row{"retailPrice": -2, "term": "1 Year"}}),
	} {
		got, err := read(t, server(t, []row{r, meter("eastus", "Standard_NC6s_v3", "3")}, 10, nil), feed.Config{Regions: []string{"eastus"}})
		if err != nil || len(got.Rejections) != 1 || got.Rejections[0].Args["Column"] != column {
			t.Errorf("%s: rejected %v, %v", column, got.Rejections, err)
		}
		if len(got.Listings) != 1 || len(got.Covered) > 0 {
			t.Errorf("%s: %v stand, covers %v", column, got.Lines(), got.Covered)
		}
	}
}

// A page that is cut short hides the rows up to the next one: it is asked for again, and its region lost if it stays short.
func TestShortPages(t *testing.T) {
	for _, c := range []struct {
		short int32
		ok    bool
	}{{0, true}, {1, true}, {2, true}, {3, false}} {
		var host atomic.Value
		var n atomic.Int32
		whole := server(t, rows(), 5, func() string { return "http://" + host.Load().(string) })
		got, err := read(t, func(w http.ResponseWriter, r *http.Request) {
			host.Store(r.Host)
			if !strings.Contains(r.URL.Query().Get("$filter"), "eastus") || r.URL.Query().Get("$skip") != "5" || n.Add(1) > c.short {
				whole(w, r)
				return
			}
			rec := httptest.NewRecorder()
			whole(rec, r)
			var page map[string]any
			if err := json.Unmarshal(rec.Body.Bytes(), &page); err != nil {
				t.Error(err)
			}
			page["Items"], page["Count"] = page["Items"].([]any)[:3], 3
			_ = json.NewEncoder(w).Encode(page)
		}, feed.Config{Regions: []string{"eastus", "westus"}})
		if err != nil {
			t.Fatal(err)
		}
		if complete := slices.Equal(got.Lines(), slices.Sorted(slices.Values(want))); complete != c.ok {
			t.Errorf("short %d times: complete %t, want %t", c.short, complete, c.ok)
		}
		if lost := len(got.Losses) == 1 && got.Losses[0].Region == "eastus"; lost == c.ok {
			t.Errorf("short %d times: losses %v", c.short, got.Losses)
		}
	}
}

func TestAnswersThatAreRefused(t *testing.T) {
	const item = `{"currencyCode":"USD","retailPrice":3,"armRegionName":"eastus","productName":"N","skuName":"N","unitOfMeasure":"1 Hour","type":"Consumption","armSkuName":"Standard_NC6s_v3"}`
	for _, c := range []struct{ name, answer, code, says string }{
		{"another host", `{"BillingCurrency":"USD","Items":[` + item + `],"NextPageLink":"http://127.0.0.2/x","Count":1}`, fetch.CodeMalformed, "leads to"},
		{"another scheme", `{"BillingCurrency":"USD","Items":[` + item + `],"NextPageLink":"https://HOST/x","Count":1}`, fetch.CodeMalformed, "leads to"},
		{"itself", `{"BillingCurrency":"USD","Items":[` + item + `],"NextPageLink":"http://HOSTSELF","Count":1}`, fetch.CodeMalformed, "back to the same page"},
		{"without end", `{"BillingCurrency":"USD","Items":[` + item + `],"NextPageLink":"http://HOST/?n=NEXT","Count":1}`, fetch.CodeMalformed, "without end"},
		{"another currency", `{"BillingCurrency":"EUR","Items":[` + item + `],"Count":1}`, fetch.CodeMalformed, `"EUR"`},
		{"cut short", `{"BillingCurrency":"USD","Items":[` + item + `],"Count":2}`, fetch.CodeMalformed, "1 rows where 2"},
		{"no rows in a region that has some", `{"BillingCurrency":"USD","Items":[],"Count":0}`, "feed.empty", "eastus"},
		{"no count", `{"BillingCurrency":"USD","Items":[]}`, fetch.CodeMalformed, "Count"},
	} {
		var n atomic.Int32
		got, err := read(t, func(w http.ResponseWriter, r *http.Request) {
			self := r.Host + r.URL.RequestURI()
			_, _ = w.Write([]byte(strings.NewReplacer("HOSTSELF", self, "HOST", r.Host, "NEXT", strconv.Itoa(int(n.Add(1)))).Replace(c.answer)))
		}, feed.Config{Regions: []string{"eastus"}})
		if p := problem.All(err); len(p) != 1 || p[0].Code != c.code || !strings.Contains(p[0].Error(), c.says) {
			t.Errorf("%s: %v, want %s %q", c.name, err, c.code, c.says)
		}
		if len(got.Listings)+len(got.Covered) > 0 {
			t.Errorf("%s: %v stands", c.name, got.Listings)
		}
	}
}

// A region that the user named and that has nothing is told, as it may be a slip of the pen.
func TestRegionThatIsNot(t *testing.T) {
	var address string
	h := server(t, rows(), 1000, func() string { return address })
	got, err := read(t, h, feed.Config{Regions: []string{"westus", "eastuss"}, File: "sources.yaml", Line: 3})
	if err != nil || len(got.Losses) != 1 || got.Losses[0].Region != "eastuss" {
		t.Fatalf("%v, losses %v", err, got.Losses)
	}
	p := problem.All(got.Losses[0].Why)[0]
	if p.Code != "feed.no_region" || p.File != "sources.yaml" || p.Line != 3 || !slices.Contains(p.Suggest, "eastus") {
		t.Errorf("%+v", p)
	}
	if len(got.Covered) != 6 {
		t.Errorf("covers %v", got.Covered)
	}
}

// A region that nobody knew to have accelerators may have none; all regions may not.
func TestNothingToSell(t *testing.T) {
	empty := func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"BillingCurrency":"USD","Items":[],"NextPageLink":null,"Count":0}`))
	}
	got, err := read(t, empty, feed.Config{Regions: []string{"atlantis"}})
	if p := problem.All(err); len(p) != 1 || p[0].Code != "feed.no_region" {
		t.Errorf("%v", err)
	}
	if len(got.Losses) > 0 {
		t.Errorf("lost %v", got.Losses)
	}
	if _, err = read(t, empty, feed.Config{}); err == nil {
		t.Error("no region sells anything, and no error")
	}
}

func TestAnotherCurrency(t *testing.T) {
	got, err := read(t, func(w http.ResponseWriter, r *http.Request) {
		if cur := r.URL.Query().Get("currencyCode"); cur != "'EUR'" {
			t.Errorf("asked for %s", cur)
		}
		item := meter("eastus", h100, "83.5", "currencyCode", "EUR")
		_ = json.NewEncoder(w).Encode(map[string]any{"BillingCurrency": "EUR", "Items": []row{item}, "Count": 1})
	}, feed.Config{Regions: []string{"eastus"}, Currency: "EUR"})
	line := "azure Standard_ND96isr_H100_v5 eastus 0 x - on-demand 83.50 EUR"
	if err != nil || !slices.Equal(got.Lines(), []string{line}) {
		t.Errorf("%v, %v", got.Lines(), err)
	}
}

func TestSettings(t *testing.T) {
	_, err := azure.Maker.New(feed.Config{
		Name: "azure", Kind: "azure", Providers: []string{"x"}, Path: "y", Options: map[string]string{"subscription": "z"},
	}, feedtest.World(t, nil, fetch.Options{}))
	if n := len(problem.All(err)); n != 3 {
		t.Errorf("%d faults: %v", n, err)
	}
}
