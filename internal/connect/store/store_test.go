package store_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/connect/store"
	"github.com/rackrate/rackrate/internal/connect/store/pgtest"
)

func TestMain(m *testing.M) {
	if child() {
		return
	}
	goleak.VerifyTestMain(m)
}

// databases are the two that every test of the suite runs on, each with how to get a new address.
var databases = map[string]func(testing.TB) string{
	"sqlite":   func(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "new folder", "a?b#c%20.db") },
	"postgres": func(t testing.TB) string { return pgtest.Start(t) },
}

// onBoth runs a test on an empty store in each database.
func onBoth(t *testing.T, test func(t *testing.T, address string, db *store.DB)) {
	for name, address := range databases {
		t.Run(name, func(t *testing.T) {
			at := address(t)
			test(t, at, open(t, at))
		})
	}
}

func open(t testing.TB, address string) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// noon is a time with more digits than the store keeps, in another zone than it keeps them in.
var noon = time.Date(2026, 5, 20, 14, 0, 0, 123456789, time.FixedZone("", 2*3600))

// reading is a reading of a source at some minute.
func reading(source, archive string, minute int) store.Fetch {
	return store.Fetch{
		Source: source, Layer: "vendor", Started: noon.Add(time.Duration(minute-1) * time.Minute), Finished: noon.Add(time.Duration(minute) * time.Minute),
		AsOf: "2026-05-20", Hash: "hash of " + archive, Archive: []byte(archive), Offers: 3, Prices: 7, Report: json.RawMessage(`{"Read":9}`),
	}
}

func publish(t testing.TB, db *store.DB, f store.Fetch, previous store.SnapshotID) store.SnapshotID {
	t.Helper()
	p, err := db.Publish(t.Context(), f, previous)
	if err != nil || p.Unchanged {
		t.Fatalf("%+v %v", p, err)
	}
	return p.Snapshot
}

// wants checks the code of a problem, and that no password is in it.
func wants(t testing.TB, err error, code string) {
	t.Helper()
	var p *problem.Error
	if !errors.As(err, &p) || p.Code != code {
		t.Errorf("got %v, want %s", err, code)
	} else if strings.Contains(p.Error(), "s3cr3t") {
		t.Errorf("the password is in %v", p)
	}
}

func TestPublishing(t *testing.T) {
	onBoth(t, func(t *testing.T, address string, db *store.DB) {
		first := reading("aws", "one", 1)
		first.Changes = []store.Change{{"aws", "p5.48xlarge", "a,1\n"}, {"aws", "p4d.24xlarge", "b,2\n"}}
		one := publish(t, db, first, 0)

		again := reading("aws", "one", 2)
		again.AsOf, again.Archive, again.Offers = "2026-05-21", nil, 4
		if p, err := db.Publish(t.Context(), again, one); err != nil || !p.Unchanged || p.Snapshot != one {
			t.Fatalf("%+v %v", p, err)
		}
		second := reading("aws", "two", 3)
		second.Layer, second.Changes = "copy", []store.Change{{"aws", "p5.48xlarge", "a,3\n"}}
		two := publish(t, db, second, one)

		broken := reading("aws", "", 4)
		broken.Layer, broken.Error = "copy", "it said \x00\xff no"
		if err := db.Fail(t.Context(), broken); err != nil {
			t.Fatal(err)
		}
		utc := func(minute int) time.Time {
			return noon.Add(time.Duration(minute) * time.Minute).UTC().Truncate(time.Microsecond)
		}
		failed := store.FetchRecord{Source: "aws", Started: utc(3), Finished: utc(4), AsOf: "2026-05-20", Outcome: store.Failed,
			Offers: 3, Prices: 7, Report: json.RawMessage(`{"Read":9}`), Error: "it said \uFFFD no"}
		published := failed
		published.Started, published.Finished, published.Outcome, published.Snapshot, published.Error = utc(2), utc(3), store.Published, two, ""
		unchanged := published
		unchanged.Started, unchanged.Finished, unchanged.Outcome = utc(1), utc(2), store.Unchanged
		unchanged.Snapshot, unchanged.AsOf, unchanged.Offers = one, "2026-05-21", 4

		same(t, sources(t, db, time.Time{}), []store.Source{{Name: "aws", Layer: "copy", Snapshot: two, Finished: utc(3),
			AsOf: "2026-05-20", Hash: "hash of two", Offers: 3, Prices: 7, Last: failed}})
		same(t, sources(t, db, noon.Add(2*time.Minute)), []store.Source{{Name: "aws", Layer: "copy", Snapshot: one, Finished: utc(2),
			AsOf: "2026-05-21", Hash: "hash of one", Offers: 4, Prices: 7, Last: unchanged}})
		same(t, sources(t, db, noon), nil)

		log, err := db.Fetches(t.Context(), "aws", 3)
		if err != nil {
			t.Fatal(err)
		}
		same(t, log, []store.FetchRecord{failed, published, unchanged})

		changes, err := db.Changes(t.Context(), "aws", "p5.48xlarge")
		if err != nil {
			t.Fatal(err)
		}
		same(t, changes, []store.Changed{
			{Source: "aws", Snapshot: one, Finished: utc(1), AsOf: "2026-05-20", Lines: "a,1\n"},
			{Source: "aws", Snapshot: two, Finished: utc(3), AsOf: "2026-05-20", Lines: "a,3\n"},
		})
		for id, want := range map[store.SnapshotID]string{one: "one", two: "two"} {
			if got, err := db.Archive(t.Context(), id); err != nil || string(got) != want {
				t.Errorf("%d: %q %v", id, got, err)
			}
		}
	})
}

func sources(t testing.TB, db *store.DB, asOf time.Time) []store.Source {
	t.Helper()
	list, err := db.Sources(t.Context(), asOf)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func same[T any](t testing.TB, got, want T) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
}

// A source that never succeeded is there with its failure and without a snapshot.
func TestFailingFromTheStart(t *testing.T) {
	onBoth(t, func(t *testing.T, _ string, db *store.DB) {
		f := reading("gcp", "", 1)
		f.Report, f.Error = nil, "denied"
		if err := db.Fail(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		got := sources(t, db, time.Time{})
		if len(got) != 1 || got[0].Snapshot != 0 || got[0].Hash != "" || !got[0].Finished.IsZero() || got[0].Last.Error != "denied" || got[0].Last.Report != nil {
			t.Errorf("%+v", got)
		}
		publish(t, db, reading("gcp", "one", 2), 0)
	})
}

func TestConflict(t *testing.T) {
	onBoth(t, func(t *testing.T, _ string, db *store.DB) {
		one := publish(t, db, reading("aws", "one", 1), 0)
		two := publish(t, db, reading("aws", "two", 2), one)
		for _, stale := range []store.SnapshotID{0, one, two + 1} {
			_, err := db.Publish(t.Context(), reading("aws", "three", 3), stale)
			wants(t, err, "store.conflict")
		}
		// Whoever read the same has nothing to lose.
		if p, err := db.Publish(t.Context(), reading("aws", "two", 3), one); err != nil || p != (store.Publication{Snapshot: two, Unchanged: true}) {
			t.Errorf("%+v %v", p, err)
		}
		if got := sources(t, db, time.Time{}); got[0].Snapshot != two {
			t.Errorf("%+v", got)
		}
		if log, err := db.Fetches(t.Context(), "aws", 10); err != nil || len(log) != 3 {
			t.Errorf("%v %v", log, err)
		}
	})
}

func TestForget(t *testing.T) {
	onBoth(t, func(t *testing.T, _ string, db *store.DB) {
		f := reading("aws", "one", 1)
		f.Changes = []store.Change{{"aws", "p5.48xlarge", "a,1\n"}}
		one := publish(t, db, f, 0)
		f.Source = "copy"
		other := publish(t, db, f, 0)
		if err := db.Forget(t.Context(), "aws"); err != nil {
			t.Fatal(err)
		}
		_, err := db.Archive(t.Context(), one)
		wants(t, err, "store.unknown_snapshot")
		if got := sources(t, db, time.Time{}); len(got) != 1 || got[0].Snapshot != other {
			t.Errorf("%+v", got)
		}
		if got, err := db.Changes(t.Context(), "aws", "p5.48xlarge"); err != nil || len(got) != 1 || got[0].Source != "copy" {
			t.Errorf("%+v %v", got, err)
		}
		wants(t, db.Forget(t.Context(), "aws"), "store.unknown_source")
		var p *problem.Error
		if err := db.Forget(t.Context(), "coppy"); !errors.As(err, &p) || !slices.Equal(p.Suggest, []string{"copy"}) {
			t.Errorf("%v", err)
		}
		// Its ids are gone for good, so that nobody's stale one means another snapshot.
		if again := publish(t, db, reading("aws", "one", 2), 0); again <= other {
			t.Errorf("%d is used again", again)
		}
	})
}

// A clock that was set back does not bring an old snapshot back.
func TestClockSetBack(t *testing.T) {
	onBoth(t, func(t *testing.T, _ string, db *store.DB) {
		one := publish(t, db, reading("aws", "one", 10), 0)
		two := publish(t, db, reading("aws", "two", 5), one)
		for _, asOf := range []time.Time{{}, noon.Add(time.Hour), noon.Add(5 * time.Minute)} {
			if got := sources(t, db, asOf); got[0].Snapshot != two {
				t.Errorf("%v: %+v", asOf, got)
			}
		}
	})
}

// Both databases sort by bytes, whatever the locale is.
func TestOrder(t *testing.T) {
	onBoth(t, func(t *testing.T, _ string, db *store.DB) {
		for i, name := range []string{"b", "Ä", "a", "B", "_", "价"} {
			publish(t, db, reading(name, "one", i), 0)
		}
		var got []string
		for _, s := range sources(t, db, time.Time{}) {
			got = append(got, s.Name)
		}
		same(t, got, []string{"B", "_", "a", "b", "Ä", "价"})
	})
}

func TestManyChanges(t *testing.T) {
	onBoth(t, func(t *testing.T, _ string, db *store.DB) {
		f := reading("aws", string(bytes.Repeat([]byte{0, 255, 'x'}, 1<<20)), 1)
		f.Changes = manyChanges(1201)
		id := publish(t, db, f, 0)
		for _, c := range []store.Change{f.Changes[0], f.Changes[499], f.Changes[500], f.Changes[1200]} {
			if got, err := db.Changes(t.Context(), c.Provider, c.InstanceType); err != nil || len(got) != 1 || got[0].Lines != c.Lines {
				t.Errorf("%v: %v %v", c, got, err)
			}
		}
		if got, err := db.Archive(t.Context(), id); err != nil || !bytes.Equal(got, f.Archive) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		// The same machine twice is a fault, and nothing of it stays.
		f = reading("aws", "two", 2)
		f.Changes = append(manyChanges(501), manyChanges(1)...)
		_, err := db.Publish(t.Context(), f, id)
		wants(t, err, "store.failed")
		if got := sources(t, db, time.Time{}); got[0].Snapshot != id || got[0].Last.Snapshot != id {
			t.Errorf("%+v", got)
		}
	})
}

// An empty archive is one, and not none.
func TestEmptyArchive(t *testing.T) {
	onBoth(t, func(t *testing.T, _ string, db *store.DB) {
		f := reading("aws", "", 1)
		f.Archive = nil
		if got, err := db.Archive(t.Context(), publish(t, db, f, 0)); err != nil || len(got) != 0 {
			t.Errorf("%q %v", got, err)
		}
	})
}

func TestLock(t *testing.T) {
	onBoth(t, func(t *testing.T, address string, db *store.DB) {
		before := time.Now().Add(-2 * time.Second)
		unlock, err := db.Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		second := open(t, address)
		for _, other := range []*store.DB{db, second} {
			_, err := other.Lock(t.Context())
			wants(t, err, "store.busy")
			var p *problem.Error
			if errors.As(err, &p) {
				since, err := time.Parse(time.RFC3339, p.Args["Since"].(string))
				if err != nil || since.Before(before) || since.After(time.Now().Add(2*time.Second)) {
					t.Errorf("since %v %v", since, err)
				}
			}
		}
		publish(t, second, reading("aws", "one", 1), 0) // it is about updates, not about writing
		if err := unlock(); err != nil {
			t.Fatal(err)
		}
		unlock, err = second.Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := unlock(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestReadOnly(t *testing.T) {
	for name, address := range databases {
		t.Run(name, func(t *testing.T) {
			at := address(t)
			if _, err := store.OpenReadOnly(t.Context(), at); !errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("no store yet: %v", err)
			}
			w := open(t, at)
			one := publish(t, w, reading("aws", "one", 1), 0)
			r, err := store.OpenReadOnly(t.Context(), at)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if got := sources(t, r, time.Time{}); len(got) != 1 || got[0].Snapshot != one {
				t.Errorf("%+v", got)
			}
			two := publish(t, w, reading("aws", "two", 2), one)
			if got := sources(t, r, time.Time{}); got[0].Snapshot != two {
				t.Errorf("it does not see what came later: %+v", got)
			}
			_, err = r.Publish(t.Context(), reading("aws", "three", 3), two)
			wants(t, err, "store.read_only")
			wants(t, r.Fail(t.Context(), reading("aws", "", 3)), "store.read_only")
			wants(t, r.Forget(t.Context(), "aws"), "store.read_only")
			_, err = r.Lock(t.Context())
			wants(t, err, "store.read_only")
		})
	}
}

func TestCancelled(t *testing.T) {
	onBoth(t, func(t *testing.T, _ string, db *store.DB) {
		why := errors.New("why")
		ctx, stop := context.WithCancelCause(t.Context())
		stop(why)
		if _, err := db.Publish(ctx, reading("aws", "one", 1), 0); !errors.Is(err, why) {
			t.Errorf("%v", err)
		}
		if _, err := db.Sources(ctx, time.Time{}); !errors.Is(err, why) {
			t.Errorf("%v", err)
		}
		publish(t, db, reading("aws", "one", 1), 0) // and it goes on with another
	})
}

func TestBadAddress(t *testing.T) {
	for _, address := range []string{"", "sqlite", "sqlite:", "sqlite://", "sqlite:~/x.db", "mysql://u:s3cr3t@h/d", "/tmp/x.db",
		"postgres://u:s3cr3t@h:99999999/d", "postgres://u:s3cr3t@[::1/d", "postgres:%zz", "postgres://u:s3cr3t@h/d?sslmode=maybe"} {
		_, err := store.Open(t.Context(), address)
		wants(t, err, "store.bad_url")
		_, err = store.OpenReadOnly(t.Context(), address)
		wants(t, err, "store.bad_url")
	}
}
