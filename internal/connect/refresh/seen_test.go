package refresh_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/catalog/intake"
)

// stock is a market whose only spot machine is in stock or not, at a price that changes when asked to.
func stock(in bool, price float64) says {
	return func(_ context.Context, to feed.Sink) error {
		flag := catalog.SoldOut
		if in {
			flag = catalog.InStock
		}
		to.Add(intake.Listing{Provider: "acme", InstanceType: "spot", Accelerator: "H100-SXM", Count: 1, Region: "east",
			Prices: []catalog.Price{{Mode: catalog.Spot, Hourly: money.PerHour(int64(price*1e9), money.USD), Flags: []catalog.Flag{flag}}}})
		return nil
	}
}

// Readings of a market are added up: hours in stock between readings no more than a day apart, and losses between two of them.
func TestSightings(t *testing.T) {
	b := newBench(t)
	start := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	for i, c := range []struct {
		at     float64 // hours after the start
		source feed.Source
		hours  float64 // seen in all, by then; below 0: nothing
		losses int
	}{
		{0, stock(true, 1), -1, 0},
		{1, stock(true, 1), -1, 0}, // unchanged: counted with the next change
		{3, says(func(context.Context, feed.Sink) error { return errors.New("down") }), -1, 0},
		{4, stock(true, 1.1), 4, 0},  // dearer, and there all the time
		{6, stock(false, 1.1), 5, 1}, // lost in the middle of two hours
		{10, stock(true, 1.1), 5, 1}, // back: what it was away is no time in stock
		{60, stock(true, 1.2), 5, 1}, // two days without a look: nothing is concluded
		{61, stock(false, 1.2), 5.5, 2},
	} {
		o := b.options()
		now := start.Add(time.Duration(c.at * float64(time.Hour)))
		o.Now = func() time.Time { return now }
		r := b.run(o, job("shop", c.source))[0]
		got := "nothing"
		if seen := b.snapshot().Seen; len(seen) == 1 {
			got = fmt.Sprintf("%.3f h, %d losses", float64(seen[0].Hours), seen[0].Losses)
		}
		want := "nothing"
		if c.hours >= 0 {
			want = fmt.Sprintf("%.3f h, %d losses", c.hours, c.losses)
		}
		if got != want {
			t.Errorf("reading %d at %g h (%s): %s, want %s", i, c.at, r.Outcome, got, want)
		}
	}
}

// A region that cannot be read has not sold out: up to the reading before it is known what was there, after it nothing.
func TestLostRegionIsNoLoss(t *testing.T) {
	b := newBench(t)
	start := time.Date(2026, 6, 1, 20, 0, 0, 0, time.UTC)
	read := func(hours int, s feed.Source) {
		o := b.options()
		o.Now = func() time.Time { return start.Add(time.Duration(hours) * time.Hour) }
		b.run(o, job("shop", s))
	}
	lost := says(func(_ context.Context, to feed.Sink) error {
		page(to, 1, 2, "west")
		to.Lost("acme", "east", errors.New("down"))
		return nil
	})
	read(0, stock(true, 1))
	read(2, stock(true, 1))
	read(5, lost)
	seen := b.snapshot().Seen
	if len(seen) != 1 || seen[0].Hours != 2 || seen[0].Losses != 0 || seen[0].Since != "2026-06-01" {
		t.Errorf("%+v", seen)
	}
	read(7, stock(false, 1))
	if seen := b.snapshot().Seen; len(seen) != 1 || seen[0].Hours != 2 || seen[0].Losses != 0 {
		t.Errorf("%+v", seen)
	}
}
