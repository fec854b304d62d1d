package render_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/front/app"
	"github.com/rackrate/rackrate/internal/front/cli/render"
	"github.com/rackrate/rackrate/internal/front/say"
)

// The chart of a history says of each day it names what the price was, over a week as over years, and leaves out the days
// before the first price that it draws.
func TestHistoryChart(t *testing.T) {
	chip, _ := accelerator.Embedded().Get("T4")
	rapid.Check(t, func(t *rapid.T) {
		start := time.Date(2024, 2, 27, 0, 0, 0, 0, time.UTC)
		day := func(n int) string { return start.AddDate(0, 0, n).Format(time.DateOnly) }
		last := rapid.IntRange(0, 1500).Draw(t, "today")
		h := &app.History{Machine: &catalog.Machine{Provider: "acme", InstanceType: "x1", Accelerator: chip, Count: 1}, Currency: money.USD, From: day(0)}
		moved := app.PriceSeries{Source: "s", Region: "moves", Mode: catalog.Spot}
		first := rapid.IntRange(0, last).Draw(t, "first")
		for n := first; n <= last; n += rapid.IntRange(1, 400).Draw(t, "gap") {
			p := app.PricePoint{Day: day(n), Known: rapid.Bool().Draw(t, "known")}
			if p.Known {
				p.Hourly = money.PerHour(int64(len(moved.Points)+1)*1e9, money.USD)
			}
			moved.Points = append(moved.Points, p)
		}
		h.Series = []app.PriceSeries{moved}
		d := &render.History{History: h, Today: day(last)}
		c := d.Chart(say.For("en"))
		values := c.Series[0].Values
		if len(values) > 366 || len(values) == 0 || c.Begins(1) != day(first) {
			t.Fatalf("%d steps from %s; the first price is of %s", len(values), c.Begins(1), day(first))
		}
		for i, got := range values {
			end := day(last) // the last day of the step
			if i+1 < len(values) {
				next, err := time.Parse(time.DateOnly, c.Begins(i+2))
				if err != nil {
					t.Fatal(err)
				}
				end = next.AddDate(0, 0, -1).Format(time.DateOnly)
			}
			want := math.NaN()
			for _, p := range moved.Points {
				if p.Day <= end {
					want = math.NaN()
					if p.Known {
						want = p.Hourly.Float()
					}
				}
			}
			if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Fatalf("from %s to %s: %v, want %v", c.Begins(i+1), end, got, want)
			}
		}
		if c.Begins(len(values)) > day(last) {
			t.Fatalf("the last step begins on %s, after %s", c.Begins(len(values)), day(last))
		}
	})
}

// What changed comes before what did not, in the table and in the chart alike.
func TestHistoryShowsChangesFirst(t *testing.T) {
	chip, _ := accelerator.Embedded().Get("T4")
	h := &app.History{Machine: &catalog.Machine{Provider: "acme", InstanceType: "x1", Accelerator: chip, Count: 1}, Currency: money.USD, From: "2026-01-01"}
	for i := range 12 {
		s := app.PriceSeries{Source: "s", Region: fmt.Sprintf("r%02d", i), Mode: catalog.OnDemand, Points: []app.PricePoint{{Day: "2026-01-01", Known: true, Hourly: money.PerHour(1e9, money.USD)}}}
		if i == 11 {
			s.Points = append(s.Points, app.PricePoint{Day: "2026-02-01", Known: true, Hourly: money.PerHour(2e9, money.USD)})
		}
		h.Series = append(h.Series, s)
	}
	d := &render.History{History: h, Today: "2026-03-01", Top: 10}
	if text := show(t, d, render.Options{Format: render.Table, Say: say.For("en"), Width: 100}); !strings.Contains(text, "r11") || strings.Contains(text, "r10") {
		t.Errorf("%s", text)
	}
	if name := d.Chart(say.For("en")).Series[0].Name; !strings.HasPrefix(name, "r11") {
		t.Errorf("the first line is of %s", name)
	}
}
