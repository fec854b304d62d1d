package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/connect/store"
)

// model is what a store has to do, as simply as it can be said: a list of all that was ever recorded.
type model struct {
	log      []store.FetchRecord // in order
	layer    map[string]string
	hash     map[store.SnapshotID]string
	archive  map[store.SnapshotID]string
	changes  []machineChange
	current  map[string]store.SnapshotID
	readings int
}

type machineChange struct {
	machine string
	store.Changed
}

func (m *model) sources(asOf time.Time) (list []store.Source) {
	for _, name := range names {
		var s store.Source
		for _, f := range m.log {
			if f.Source != name || !asOf.IsZero() && f.Finished.After(asOf) {
				continue
			}
			s.Name, s.Layer, s.Last = name, m.layer[name], f
			if f.Outcome != store.Failed {
				s.Snapshot, s.Finished, s.AsOf, s.Offers, s.Prices = f.Snapshot, f.Finished, f.AsOf, f.Offers, f.Prices
				s.Hash = m.hash[f.Snapshot]
			}
		}
		if s.Name != "" {
			list = append(list, s)
		}
	}
	return list
}

var (
	names    = []string{"aws", "gcp", "价"} // in the order of their bytes
	machines = []string{"p5", "a3"}
)

// fetch draws a reading, whose clock may be ahead or behind.
func (m *model) fetch(t *rapid.T) store.Fetch {
	m.readings++
	at := noon.Add(time.Duration(m.readings*60+rapid.IntRange(-150, 150).Draw(t, "clock")) * time.Second)
	content := fmt.Sprint(rapid.IntRange(1, 3).Draw(t, "content"))
	f := store.Fetch{
		Source: rapid.SampledFrom(names).Draw(t, "source"), Layer: rapid.SampledFrom([]string{"vendor", "copy"}).Draw(t, "layer"),
		Started: at.Add(-time.Second), Finished: at, AsOf: at.Format(time.DateOnly), Hash: "h" + content, Archive: []byte(content),
		Offers: rapid.IntRange(0, 9).Draw(t, "offers"), Prices: m.readings, Error: rapid.SampledFrom([]string{"", "e"}).Draw(t, "error"),
	}
	if rapid.Bool().Draw(t, "reports") {
		f.Report = json.RawMessage(`{"n":1}`)
	}
	for _, machine := range machines {
		if rapid.Bool().Draw(t, machine+" changed") {
			f.Changes = append(f.Changes, store.Change{Provider: "p", InstanceType: machine, Lines: fmt.Sprint(m.readings)})
		}
	}
	return f
}

func (m *model) record(f store.Fetch, o store.Outcome, id store.SnapshotID) {
	micro := func(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }
	m.layer[f.Source] = f.Layer
	m.log = append(m.log, store.FetchRecord{Source: f.Source, Started: micro(f.Started), Finished: micro(f.Finished), AsOf: f.AsOf,
		Outcome: o, Snapshot: id, Offers: f.Offers, Prices: f.Prices, Report: f.Report, Error: f.Error})
}

func (m *model) publish(t *rapid.T, db *store.DB) {
	f := m.fetch(t)
	current := m.current[f.Source]
	previous := current
	if rapid.IntRange(0, 3).Draw(t, "stale") == 0 {
		previous = store.SnapshotID(rapid.Int64Range(0, 9).Draw(t, "previous"))
	}
	p, err := db.Publish(context.Background(), f, previous)
	var conflict *problem.Error
	switch {
	case m.hash[current] == f.Hash:
		if err != nil || p != (store.Publication{Snapshot: current, Unchanged: true}) {
			t.Fatalf("said it before: %+v %v", p, err)
		}
		m.record(f, store.Unchanged, current)
	case previous != current:
		if !errors.As(err, &conflict) || conflict.Code != "store.conflict" {
			t.Fatalf("%d is not %d: %+v %v", previous, current, p, err)
		}
	default:
		if _, used := m.hash[p.Snapshot]; err != nil || p.Unchanged || used || p.Snapshot <= 0 {
			t.Fatalf("%+v %v", p, err)
		}
		m.current[f.Source], m.hash[p.Snapshot], m.archive[p.Snapshot] = p.Snapshot, f.Hash, string(f.Archive)
		m.record(f, store.Published, p.Snapshot)
		for _, c := range f.Changes {
			m.changes = append(m.changes, machineChange{c.InstanceType, store.Changed{Source: f.Source, Snapshot: p.Snapshot,
				Finished: m.log[len(m.log)-1].Finished, AsOf: f.AsOf, Lines: c.Lines}})
		}
	}
}

func (m *model) fail(t *rapid.T, db *store.DB) {
	f := m.fetch(t)
	if err := db.Fail(context.Background(), f); err != nil {
		t.Fatal(err)
	}
	m.record(f, store.Failed, 0)
}

func (m *model) forget(t *rapid.T, db *store.DB) {
	name := rapid.SampledFrom(names).Draw(t, "source")
	err := db.Forget(context.Background(), name)
	if _, known := m.layer[name]; known != (err == nil) {
		t.Fatalf("%s is known: %v, and forgetting it gives %v", name, known, err)
	}
	delete(m.layer, name)
	delete(m.current, name)
	var log []store.FetchRecord
	for _, f := range m.log {
		if f.Source != name {
			log = append(log, f)
		} else if f.Snapshot != 0 {
			m.archive[f.Snapshot] = "gone"
		}
	}
	var changes []machineChange
	for _, c := range m.changes {
		if c.Source != name {
			changes = append(changes, c)
		}
	}
	m.log, m.changes = log, changes
}

// check compares all that a store can be asked.
func (m *model) check(t *rapid.T, db *store.DB) {
	ctx := context.Background()
	for _, asOf := range []time.Time{{}, noon.Add(time.Duration(rapid.IntRange(-3, 20).Draw(t, "as of")) * time.Minute)} {
		got, err := db.Sources(ctx, asOf)
		compare(t, got, m.sources(asOf), err)
	}
	for id, want := range m.archive {
		got, err := db.Archive(ctx, id)
		if gone := err != nil; gone != (want == "gone") || !gone && string(got) != want {
			t.Fatalf("snapshot %d: %q %v, want %q", id, got, err, want)
		}
	}
	for _, machine := range machines {
		var want []store.Changed
		for _, c := range m.changes {
			if c.machine != machine {
				continue
			}
			at := len(want) // by time, and by snapshot where the times are the same
			for at > 0 && want[at-1].Finished.After(c.Finished) {
				at--
			}
			want = append(want[:at], append([]store.Changed{c.Changed}, want[at:]...)...)
		}
		got, err := db.Changes(ctx, "p", machine)
		compare(t, got, want, err)
	}
	limit := rapid.IntRange(0, 5).Draw(t, "limit")
	for _, name := range names {
		var want []store.FetchRecord
		for i := len(m.log) - 1; i >= 0 && len(want) < limit; i-- {
			if m.log[i].Source == name {
				want = append(want, m.log[i])
			}
		}
		got, err := db.Fetches(ctx, name, limit)
		compare(t, got, want, err)
	}
}

func compare[T any](t *rapid.T, got, want T, err error) {
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" || err != nil {
		t.Fatal(d, err)
	}
}

// Whatever is done in whatever order, a store gives the answers of the model, also when it is opened again.
func TestModel(t *testing.T) {
	root := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(root, "")
		if err != nil {
			t.Fatal(err)
		}
		address := "sqlite:" + filepath.Join(dir, "prices.db")
		db, err := store.Open(context.Background(), address)
		if err != nil {
			t.Fatal(err)
		}
		m := &model{layer: map[string]string{}, hash: map[store.SnapshotID]string{}, archive: map[store.SnapshotID]string{}, current: map[string]store.SnapshotID{}}
		t.Repeat(map[string]func(*rapid.T){
			"publish": func(t *rapid.T) { m.publish(t, db) },
			"again":   func(t *rapid.T) { m.publish(t, db) }, // most often
			"fail":    func(t *rapid.T) { m.fail(t, db) },
			"forget":  func(t *rapid.T) { m.forget(t, db) },
			"":        func(t *rapid.T) { m.check(t, db) },
		})
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		db, err = store.OpenReadOnly(context.Background(), address)
		if err != nil {
			t.Fatal(err)
		}
		m.check(t, db)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
