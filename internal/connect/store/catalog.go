package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rackrate/rackrate/internal/base/problem"
)

// SnapshotID names a snapshot; 0 is none. An id is never used twice.
type SnapshotID int64

// Outcome is what became of a reading.
type Outcome string

// The outcomes.
const (
	Published Outcome = "published" // its snapshot is the source's newest
	Unchanged Outcome = "unchanged" // the source says what it said before
	Failed    Outcome = "failed"
)

// Fetch is one reading of one source, good or failed.
type Fetch struct {
	Source, Layer     string
	Started, Finished time.Time
	AsOf              string // ISO day that the rows speak of
	Hash              string // of what the rows say: two archives of one hash are one snapshot
	Archive           []byte
	Changes           []Change // against the snapshot before, each machine once
	Offers, Prices    int
	Report            json.RawMessage // what else there is to know of it, which the store does not read
	Error             string          // why it failed
	Anew              bool            // publish the archive also where it says what the newest snapshot says, which can no longer be read
}

// Change is what changed of one machine; the store does not read its lines.
type Change struct{ Provider, InstanceType, Lines string }

// Publication is what Publish did.
type Publication struct {
	Snapshot  SnapshotID // the source's newest
	Unchanged bool       // it was that already
}

// Publish makes a reading's archive the newest snapshot of its source, in one transaction with what changed and the record of
// the reading. A reading that says what the newest snapshot says is recorded alone. Previous is the snapshot that Changes are
// against, 0 where there was none: store.conflict where another one has been published since.
func (db *DB) Publish(ctx context.Context, f Fetch, previous SnapshotID) (done Publication, err error) {
	err = db.write(ctx, func(t tx) error {
		current, err := t.source(ctx, f)
		if err != nil {
			return err
		}
		hash := ""
		err = t.row(ctx, "SELECT hash FROM snapshot WHERE id = $1", current).Scan(&hash)
		switch {
		case err != nil && !errors.Is(err, sql.ErrNoRows):
			return err
		case hash == clean(f.Hash) && hash != "" && !f.Anew:
			done = Publication{Snapshot: current, Unchanged: true}
			return t.record(ctx, f, Unchanged, current)
		case current != previous:
			return problem.New(problem.Internal, "store.conflict", problem.Args{"Source": f.Source})
		}
		archive := f.Archive
		if archive == nil {
			archive = []byte{} // nil would be an absent value
		}
		err = t.row(ctx, "INSERT INTO snapshot (source, hash, as_of, created, archive) VALUES ($1, $2, $3, $4, $5) RETURNING id",
			clean(f.Source), clean(f.Hash), clean(f.AsOf), stampOf(f.Finished), archive).Scan(&done.Snapshot)
		if err != nil {
			return err
		}
		if err := t.changes(ctx, done.Snapshot, f.Changes); err != nil {
			return err
		}
		if err := t.exec(ctx, "UPDATE source SET snapshot = $2 WHERE name = $1", clean(f.Source), done.Snapshot); err != nil {
			return err
		}
		return t.record(ctx, f, Published, done.Snapshot)
	})
	if err != nil {
		return Publication{}, err
	}
	return done, nil
}

// Fail records a reading that failed; the source's snapshot stays.
func (db *DB) Fail(ctx context.Context, f Fetch) error {
	return db.write(ctx, func(t tx) error {
		if _, err := t.source(ctx, f); err != nil {
			return err
		}
		return t.record(ctx, f, Failed, 0)
	})
}

// Forget deletes a source with all that it ever said: store.unknown_source where there is none of that name.
func (db *DB) Forget(ctx context.Context, source string) error {
	err := db.write(ctx, func(t tx) error {
		name := clean(source)
		for _, statement := range []string{
			"UPDATE source SET snapshot = NULL WHERE name = $1",
			"DELETE FROM fetch_log WHERE source = $1",
			"DELETE FROM price_change WHERE snapshot IN (SELECT id FROM snapshot WHERE source = $1)",
			"DELETE FROM snapshot WHERE source = $1",
		} {
			if err := t.exec(ctx, statement, name); err != nil {
				return err
			}
		}
		return t.row(ctx, "DELETE FROM source WHERE name = $1 RETURNING name", name).Scan(&name)
	})
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	var known []string
	err = db.read(ctx, func(rows *sql.Rows) error {
		known = append(known, "")
		return rows.Scan(&known[len(known)-1])
	}, "SELECT name FROM source ORDER BY name")
	return cmp.Or(err, error(problem.New(problem.NoMatch, "store.unknown_source", problem.Args{"Source": source}).
		With(problem.Nearest(source, known, 2)...)))
}

// source enters the source of a reading and gives its newest snapshot. From here on its row is this transaction's alone, also
// in PostgreSQL: an update on conflict locks it and sees what was committed last.
func (t tx) source(ctx context.Context, f Fetch) (SnapshotID, error) {
	var id sql.Null[int64]
	err := t.row(ctx, `INSERT INTO source (name, layer) VALUES ($1, $2)
		ON CONFLICT (name) DO UPDATE SET layer = excluded.layer RETURNING snapshot`, clean(f.Source), clean(f.Layer)).Scan(&id)
	return SnapshotID(id.V), err
}

func (t tx) record(ctx context.Context, f Fetch, o Outcome, id SnapshotID) error {
	return t.exec(ctx, `INSERT INTO fetch_log (source, started, finished, as_of, outcome, snapshot, offers, prices, report, error)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		clean(f.Source), stampOf(f.Started), stampOf(f.Finished), clean(f.AsOf), string(o), sql.Null[int64]{V: int64(id), Valid: id != 0},
		f.Offers, f.Prices, clean(string(f.Report)), clean(f.Error))
}

// rowsAtOnce is how many changes one statement takes: enough that a far server is asked seldom, and few enough for the 32,766
// values that SQLite allows in one.
const rowsAtOnce = 500

func (t tx) changes(ctx context.Context, id SnapshotID, list []Change) error {
	for part := range slices.Chunk(list, rowsAtOnce) {
		var query strings.Builder
		args := []any{id}
		query.WriteString("INSERT INTO price_change (snapshot, provider, instance_type, lines) VALUES ")
		for i, c := range part {
			if i > 0 {
				query.WriteString(", ")
			}
			query.WriteString("($1")
			for _, text := range []string{c.Provider, c.InstanceType, c.Lines} {
				args = append(args, clean(text))
				query.WriteString(", $" + strconv.Itoa(len(args)))
			}
			query.WriteString(")")
		}
		if err := t.exec(ctx, query.String(), args...); err != nil {
			return err
		}
	}
	return nil
}
