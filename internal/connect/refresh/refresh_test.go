package refresh_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/refresh"
	"github.com/rackrate/rackrate/internal/connect/store"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/catalog/intake"
	"github.com/rackrate/rackrate/internal/facts/provider"
)

// says is a source that says what a test has it say.
type says func(ctx context.Context, to feed.Sink) error

func (s says) Fetch(ctx context.Context, to feed.Sink) error { return s(ctx, to) }

// shop says all there is in regions: machines x1, x2 …, at a price for each chip.
func shop(to feed.Sink, machines int, each float64, regions ...string) {
	page(to, machines, each, regions...)
	for _, region := range regions {
		to.Covers("acme", region, catalog.OnDemand)
	}
}

// page is some of what there is.
func page(to feed.Sink, machines int, each float64, regions ...string) {
	for _, region := range regions {
		for i := 1; i <= machines; i++ {
			to.Add(intake.Listing{
				Provider: "acme", InstanceType: fmt.Sprintf("x%d", i), Accelerator: "H100-SXM", Count: 8, Region: region, At: intake.Place{File: "page", Line: i},
				Prices: []catalog.Price{{Mode: catalog.OnDemand, Hourly: money.PerHour(int64(each*8e9)+int64(i), money.USD)}},
			})
		}
	}
}

func shopOf(machines int, each float64, regions ...string) says {
	return func(_ context.Context, to feed.Sink) error { shop(to, machines, each, regions...); return nil }
}

// bench is a store and the day.
type bench struct {
	*testing.T
	db  *store.DB
	day string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	db, err := store.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "s.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return &bench{t, db, "2026-06-01"}
}

func (b *bench) options() refresh.Options {
	b.Helper()
	known, err := catalog.Embedded()
	if err != nil {
		b.Fatal(err)
	}
	now, err := time.Parse(time.DateOnly, b.day)
	if err != nil {
		b.Fatal(err)
	}
	var seconds atomic.Int64
	tick := func() time.Time { return now.Add(time.Duration(seconds.Add(1)) * time.Second) }
	return refresh.Options{Chips: accelerator.Embedded(), Known: known, Now: tick}
}

func job(name string, s feed.Source) refresh.Job {
	return refresh.Job{Name: name, Layer: catalog.Vendor, Source: s, From: catalog.Source{ID: name, Title: "A shop", Reference: "shop.example", Licence: "not stated"}}
}

func (b *bench) run(o refresh.Options, jobs ...refresh.Job) []refresh.Result {
	b.Helper()
	results, err := refresh.Run(b.Context(), b.db, jobs, o)
	if err != nil {
		b.Fatal(err)
	}
	return results
}

func (b *bench) one(s feed.Source) refresh.Result {
	b.Helper()
	return b.run(b.options(), job("shop", s))[0]
}

// snapshot is what the store has of the shop.
func (b *bench) snapshot() *catalog.Snapshot {
	b.Helper()
	sources, err := b.db.Sources(b.Context(), time.Time{})
	if err != nil || len(sources) != 1 {
		b.Fatal(sources, err)
	}
	packed, err := b.db.Archive(b.Context(), sources[0].Snapshot)
	if err != nil {
		b.Fatal(err)
	}
	s, err := catalog.ReadArchive("shop", catalog.Vendor, sources[0].AsOf, packed, accelerator.Embedded())
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// days counts the prices of a region by the day they are of.
func (b *bench) days(region string) map[string]int {
	b.Helper()
	n := map[string]int{}
	for _, r := range b.snapshot().Rows {
		if r.Region == region {
			n[r.Price.AsOf]++
		}
	}
	return n
}

func kinds(changes []catalog.Change) map[catalog.ChangeKind]int {
	n := map[catalog.ChangeKind]int{}
	for i := range changes {
		n[changes[i].Kind()]++
	}
	return n
}

func TestPublishesWhatChanged(t *testing.T) {
	b := newBench(t)
	r := b.one(shopOf(30, 2, "east", "west"))
	if r.Outcome != refresh.Published || r.Offers != 60 || r.Prices != 60 || len(r.Changes) != 60 || r.LastGood != b.day {
		t.Errorf("%s %d offers, %d prices, %d changes, %s", r.Outcome, r.Offers, r.Prices, len(r.Changes), r.LastGood)
	}
	b.day = "2026-06-02"
	r = b.one(shopOf(30, 2, "east", "west"))
	if r.Outcome != refresh.Unchanged || len(r.Changes) != 0 || r.LastGood != "2026-06-02" {
		t.Errorf("the same again: %s %d %s", r.Outcome, len(r.Changes), r.LastGood)
	}
	if got := b.days("east"); got["2026-06-02"] != 30 {
		t.Errorf("prices that were seen again are of %v, want today", got)
	}
	b.day = "2026-06-03"
	r = b.one(says(func(_ context.Context, to feed.Sink) error {
		shop(to, 25, 2, "east")
		shop(to, 30, 2.5, "west")
		return nil
	}))
	if n := kinds(r.Changes); n[catalog.Gone] != 5 || n[catalog.Dearer] != 30 || len(n) != 2 {
		t.Errorf("%v", n)
	}
	changes, err := b.db.Changes(t.Context(), "acme", "x30")
	if err != nil || len(changes) != 2 {
		t.Fatal(changes, err)
	}
	if last := changes[1]; last.AsOf != "2026-06-03" || !strings.Contains(last.Lines, "east,,on-demand,,,\n") || !strings.Contains(last.Lines, "west,,on-demand,20.00000003,USD,\n") {
		t.Errorf("%+v", last)
	}
}

func TestFailureKeepsWhatWasSaidLast(t *testing.T) {
	b := newBench(t)
	b.one(shopOf(30, 2, "east"))
	down := problem.New(problem.Internal, "fetch.busy", problem.Args{"URL": "https://shop.example/", "Status": 503, "Text": ""})
	b.day = "2026-06-05"
	for name, s := range map[string]says{
		"refused":       func(context.Context, feed.Sink) error { return down },
		"after a start": func(_ context.Context, to feed.Sink) error { shop(to, 3, 2, "east"); return down },
		"nothing":       func(context.Context, feed.Sink) error { return nil },
		"a tenth":       shopOf(3, 2, "east"),
		"ten times":     shopOf(30, 20, "east"),
	} {
		r := b.one(s)
		if r.Outcome != refresh.Failed || r.Err == nil || r.LastGood != "2026-06-01" || len(r.Changes) > 0 {
			t.Errorf("%s: %s %v, last good %s", name, r.Outcome, r.Err, r.LastGood)
		}
		if got := b.days("east"); got["2026-06-01"] != 30 || len(got) != 1 {
			t.Errorf("%s: the store has %v", name, got)
		}
	}
	o := b.options()
	o.Force = true
	if r := b.run(o, job("shop", shopOf(3, 20, "east")))[0]; r.Outcome != refresh.Published {
		t.Errorf("forced: %s %v", r.Outcome, r.Err)
	}
	if r := b.run(o, job("shop", says(func(context.Context, feed.Sink) error { return nil })))[0]; r.Outcome != refresh.Failed {
		t.Errorf("nothing at all was published by force: %s", r.Outcome)
	}
}

// A region that was lost keeps its last rows with their day, and another day's loss does not make them younger.
func TestLostRegionKeepsItsRows(t *testing.T) {
	b := newBench(t)
	b.one(shopOf(30, 2, "east", "west"))
	partly := says(func(_ context.Context, to feed.Sink) error {
		shop(to, 30, 2.2, "east")
		page(to, 4, 2.2, "west") // the first of several came
		to.Lost("acme", "west", errors.New("gone"))
		return nil
	})
	for _, b.day = range []string{"2026-06-02", "2026-06-03"} {
		r := b.one(partly)
		if r.Err != nil || len(r.Lost) != 1 || r.Lost[0].Kept != 26 {
			t.Fatalf("%v %+v", r.Err, r.Lost)
		}
		if got := b.days("west"); got["2026-06-01"] != 26 || got[b.day] != 4 {
			t.Errorf("on %s west is of %v", b.day, got)
		}
		if got := b.days("east"); got[b.day] != 30 || len(got) != 1 {
			t.Errorf("on %s east is of %v", b.day, got)
		}
		// What west had no more on the first day has not come back since.
		want := []catalog.Cover{{Provider: "acme", Region: "east", Mode: catalog.OnDemand}, {Provider: "acme", Region: "west", Mode: catalog.OnDemand, AsOf: "2026-06-01"}}
		if got := b.snapshot().Covers; !slices.Equal(got, want) {
			t.Errorf("on %s %v was read whole", b.day, got)
		}
	}
	b.day = "2026-06-04"
	if b.one(shopOf(30, 2.2, "east", "west")); b.days("west")["2026-06-04"] != 30 {
		t.Errorf("read again, west is of %v", b.days("west"))
	}
}

// Of a lost region only what was not read whole is kept: the list prices came, the savings plans beside them did not.
func TestLostPartOfARegion(t *testing.T) {
	b := newBench(t)
	both := func(n int) says {
		return func(_ context.Context, to feed.Sink) error {
			shop(to, n, 2, "east")
			if n < 30 {
				to.Lost("acme", "east", errors.New("no plans"))
				return nil
			}
			to.Add(intake.Listing{Provider: "acme", InstanceType: "x1", Accelerator: "H100-SXM", Count: 8, Region: "east",
				Prices: []catalog.Price{{Mode: catalog.SavingsPlan1Y, Hourly: money.PerHour(10e9, money.USD)}}})
			return nil
		}
	}
	b.one(both(30))
	b.day = "2026-06-02"
	if r := b.one(both(29)); r.Err != nil || r.Lost[0].Kept != 1 {
		t.Errorf("%v %+v", r.Err, r.Lost)
	}
	if got := b.days("east"); got["2026-06-02"] != 29 || got["2026-06-01"] != 1 {
		t.Errorf("east is of %v", got)
	}
}

// What can no longer be read is published anew, although the source says what it said.
func TestUnreadableSnapshotIsReplaced(t *testing.T) {
	b := newBench(t)
	b.one(shopOf(30, 2, "east"))
	sources, err := b.db.Sources(t.Context(), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	was := sources[0]
	if err := b.db.Forget(t.Context(), "shop"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.db.Publish(t.Context(), store.Fetch{Source: "shop", Layer: was.Layer, AsOf: was.AsOf, Hash: was.Hash, Archive: []byte("damaged")}, 0); err != nil {
		t.Fatal(err)
	}
	if r := b.one(shopOf(30, 2, "east")); r.Err != nil || r.Outcome != refresh.Published {
		t.Errorf("%s %v", r.Outcome, r.Err)
	}
	if got := b.days("east"); got[b.day] != 30 {
		t.Errorf("%v", got)
	}
}

// A contract that cannot be read stays in force, and the report of the failure counts its terms.
func TestFailureKeepsTheTerms(t *testing.T) {
	b := newBench(t)
	b.one(says(func(_ context.Context, to feed.Sink) error {
		to.Term(catalog.Term{Provider: "acme", Off: unit.Some(0.1), AsOf: "2026-01-01", Source: "shop"})
		return nil
	}))
	b.one(says(func(context.Context, feed.Sink) error { return errors.New("gone") }))
	fetches, err := b.db.Fetches(t.Context(), "shop", 1)
	if err != nil || len(fetches) != 1 || fetches[0].Outcome != store.Failed || !strings.Contains(string(fetches[0].Report), `"Terms":1`) {
		t.Errorf("%v %s", err, fetches[0].Report)
	}
}

func TestDryRunChangesNothing(t *testing.T) {
	b := newBench(t)
	o := b.options()
	o.DryRun = true
	r := b.run(o, job("shop", shopOf(30, 2, "east")))[0]
	if r.Outcome != refresh.Tried || len(r.Changes) != 30 {
		t.Errorf("%s, %d changes", r.Outcome, len(r.Changes))
	}
	if sources, err := b.db.Sources(t.Context(), time.Time{}); err != nil || len(sources) > 0 {
		t.Error(sources, err)
	}
	b.one(shopOf(30, 2, "east"))
	if r := b.run(o, job("shop", shopOf(30, 2, "east")))[0]; r.Outcome != refresh.Unchanged {
		t.Errorf("the same: %s", r.Outcome)
	}
	b.run(o, job("shop", says(func(context.Context, feed.Sink) error { return errors.New("down") })))
	if fetches, err := b.db.Fetches(t.Context(), "shop", 9); err != nil || len(fetches) != 1 {
		t.Error(fetches, err)
	}
}

// Sources are read side by side: one that fails or waits does not keep the others.
func TestSourcesSideBySide(t *testing.T) {
	b := newBench(t)
	var jobs []refresh.Job
	meet := make(chan struct{})
	for i := range 6 {
		jobs = append(jobs, job(fmt.Sprintf("shop-%d", i), says(func(ctx context.Context, to feed.Sink) error {
			if i == 3 {
				return errors.New("down")
			}
			if i < 2 { // each waits for the other
				select {
				case meet <- struct{}{}:
				case <-meet:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			shop(to, 2, 2, "east")
			return nil
		})))
	}
	results := b.run(b.options(), jobs...)
	for i, r := range results {
		if want := map[bool]refresh.Outcome{true: refresh.Failed, false: refresh.Published}[i == 3]; r.Outcome != want || r.Job.Name != jobs[i].Name {
			t.Errorf("%s: %s %v", r.Job.Name, r.Outcome, r.Err)
		}
	}
}

func TestEndsWithItsContext(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := refresh.Run(ctx, b.db, []refresh.Job{job("shop", says(func(ctx context.Context, _ feed.Sink) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}))}, b.options())
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if unlock, err := b.db.Lock(t.Context()); err != nil {
		t.Errorf("the lock was not given back: %v", err)
	} else if err := unlock(); err != nil {
		t.Error(err)
	}
}

func TestOneRefreshAtATime(t *testing.T) {
	b := newBench(t)
	other := func(ctx context.Context, to feed.Sink) error {
		_, err := refresh.Run(ctx, b.db, nil, b.options())
		if problem.All(err)[0].Code != "store.busy" {
			t.Errorf("a second refresh: %v", err)
		}
		shop(to, 2, 2, "east")
		return nil
	}
	b.one(says(other))
}

func TestContractsAndBands(t *testing.T) {
	b := newBench(t)
	r := b.one(says(func(_ context.Context, to feed.Sink) error {
		to.Term(catalog.Term{Provider: "aws", InstanceType: "p5.*", Off: unit.Some(0.1)})
		to.Band(provider.Band{Provider: "aws", Region: "us-east-1", InstanceType: "p5.48xlarge", Range: "<5"})
		return nil
	}))
	s := b.snapshot()
	if r.Outcome != refresh.Published || len(s.Terms) != 1 || s.Terms[0].AsOf != b.day || s.Terms[0].Source != "shop" || len(s.Bands) != 1 || s.Bands[0].Source != "A shop" {
		t.Errorf("%s %+v %+v", r.Outcome, s.Terms, s.Bands)
	}
}

// What the store keeps of a reading says how many rows came to what.
func TestReport(t *testing.T) {
	b := newBench(t)
	b.one(says(func(_ context.Context, to feed.Sink) error {
		shop(to, 3, 2, "east")
		to.Pass(7)
		to.Reject(intake.Rejection{Kind: intake.Malformed, At: intake.Place{File: "page", Line: 9}})
		to.Add(intake.Listing{Provider: "acme", InstanceType: "y", Accelerator: "Z9000", Count: 1, Region: "east"})
		to.Lost("acme", "west", errors.New("gone"))
		return nil
	}))
	fetches, err := b.db.Fetches(t.Context(), "shop", 1)
	if err != nil || len(fetches) != 1 {
		t.Fatal(fetches, err)
	}
	for _, want := range []string{`"Read":12`, `"Kept":3`, `"Rejected":9`, `"Z9000":1`, `"Region":"west"`} {
		if !slices.Contains(strings.FieldsFunc(string(fetches[0].Report), func(r rune) bool { return strings.ContainsRune(",{}[]", r) }), want) {
			t.Errorf("%s lacks %s", fetches[0].Report, want)
		}
	}
}
