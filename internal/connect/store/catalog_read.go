package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/rackrate/rackrate/internal/base/problem"
)

// FetchRecord is a reading as it was recorded.
type FetchRecord struct {
	Source            string
	Started, Finished time.Time // UTC, to the microsecond
	AsOf              string
	Outcome           Outcome
	Snapshot          SnapshotID // what the source said then; 0 where it failed
	Offers, Prices    int
	Report            json.RawMessage
	Error             string
}

// Source is a source with its last good reading and the last one of all.
type Source struct {
	Name, Layer    string
	Snapshot       SnapshotID // of the last good reading; 0, like all of it, where there was none
	Finished       time.Time  // of the last good reading
	AsOf           string     // ISO day that it speaks of
	Hash           string
	Offers, Prices int
	Last           FetchRecord
}

// Changed is what one snapshot changed of a machine.
type Changed struct {
	Source   string
	Snapshot SnapshotID
	Finished time.Time // of the reading that found it
	AsOf     string
	Lines    string
}

const fetchColumns = "f.source, f.started, f.finished, f.as_of, f.outcome, f.snapshot, f.offers, f.prices, f.report, f.error"

// into gives where the values of fetchColumns go.
func (f *FetchRecord) into() []any {
	return []any{&f.Source, scanTime{&f.Started}, scanTime{&f.Finished}, &f.AsOf, &f.Outcome, orZero[SnapshotID]{&f.Snapshot},
		&f.Offers, &f.Prices, (*jsonText)(&f.Report), &f.Error}
}

// orZero scans a value that may be absent.
type orZero[T any] struct{ to *T }

// Scan is how database/sql hands over a value.
func (o orZero[T]) Scan(v any) error {
	var n sql.Null[T]
	err := n.Scan(v)
	*o.to = n.V
	return err
}

// jsonText scans a text; nil where it is empty.
type jsonText json.RawMessage

// Scan is how database/sql hands over a value.
func (j *jsonText) Scan(v any) error {
	var n sql.Null[string]
	err := n.Scan(v)
	*j = nil
	if n.V != "" {
		*j = jsonText(n.V)
	}
	return err
}

// Sources gives every source that had been read by a time, by name, with its last good reading by then and the last one of
// all by then; the zero time is now. Readings count in the order they were recorded in, which a clock that was set back does
// not change.
func (db *DB) Sources(ctx context.Context, asOf time.Time) (list []Source, err error) {
	by := ":" // after every digit, so after every time
	if !asOf.IsZero() {
		by = stampOf(asOf)
	}
	err = db.read(ctx, func(rows *sql.Rows) error {
		var s Source
		good := []any{&s.Name, &s.Layer, orZero[SnapshotID]{&s.Snapshot}, scanTime{&s.Finished}, orZero[string]{&s.AsOf},
			orZero[string]{&s.Hash}, orZero[int]{&s.Offers}, orZero[int]{&s.Prices}}
		err := rows.Scan(append(good, s.Last.into()...)...)
		list = append(list, s)
		return err
	}, `SELECT s.name, s.layer, good.snapshot, good.finished, good.as_of, n.hash, good.offers, good.prices, `+fetchColumns+`
		FROM source s
		JOIN fetch_log f ON f.id = (
			SELECT id FROM fetch_log WHERE source = s.name AND finished <= $1 ORDER BY id DESC LIMIT 1)
		LEFT JOIN fetch_log good ON good.id = (
			SELECT id FROM fetch_log WHERE source = s.name AND finished <= $1 AND snapshot IS NOT NULL ORDER BY id DESC LIMIT 1)
		LEFT JOIN snapshot n ON n.id = good.snapshot
		ORDER BY s.name`, by)
	return list, err
}

// Archive gives the bytes of a snapshot: store.unknown_snapshot where there is none, or no longer.
func (db *DB) Archive(ctx context.Context, id SnapshotID) (archive []byte, err error) {
	found := false
	err = db.read(ctx, func(rows *sql.Rows) error {
		found = true
		return rows.Scan(&archive)
	}, "SELECT archive FROM snapshot WHERE id = $1", id)
	if err == nil && !found {
		err = problem.New(problem.NoMatch, "store.unknown_snapshot", problem.Args{"Snapshot": int64(id)})
	}
	return archive, err
}

// Changes gives what changed of a machine, in the order of time.
func (db *DB) Changes(ctx context.Context, provider, instanceType string) (list []Changed, err error) {
	err = db.read(ctx, func(rows *sql.Rows) error {
		var c Changed
		err := rows.Scan(&c.Source, &c.Snapshot, scanTime{&c.Finished}, &c.AsOf, &c.Lines)
		list = append(list, c)
		return err
	}, `SELECT n.source, n.id, n.created, n.as_of, c.lines FROM price_change c JOIN snapshot n ON n.id = c.snapshot
		WHERE c.instance_type = $2 AND c.provider = $1 ORDER BY n.created, n.id`, clean(provider), clean(instanceType))
	return list, err
}

// Fetches gives the last readings of a source, the newest first, and at most limit of them.
func (db *DB) Fetches(ctx context.Context, source string, limit int) (list []FetchRecord, err error) {
	err = db.read(ctx, func(rows *sql.Rows) error {
		var f FetchRecord
		err := rows.Scan(f.into()...)
		list = append(list, f)
		return err
	}, "SELECT "+fetchColumns+" FROM fetch_log f WHERE f.source = $1 ORDER BY f.id DESC LIMIT $2", clean(source), limit)
	return list, err
}
