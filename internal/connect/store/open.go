// Package store keeps what was brought in from outside: for each source of prices its snapshots, the readings that gave them,
// and what changed between them; in one SQLite file or in a PostgreSQL database.
//
// Invariants: a snapshot is published whole or not at all, also where the process is killed or the power fails, and the one
// before stays readable until then; it knows bytes and rows, not offers; both databases give the same answers, of which one
// suite of tests sees to it; every fault is a problem with a code store.*, which never holds a password. Imported by the
// connect floor and by front/app.
package store

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/rackrate/rackrate/internal/base/problem"
)

// ErrNone says that there is no store yet at an address that was opened to be read; errors.Is finds fs.ErrNotExist in it.
var ErrNone = noStore{}

type noStore struct{}

func (noStore) Error() string        { return "store: there is none yet" }
func (noStore) Is(target error) bool { return target == fs.ErrNotExist }

// patience is how long a lock of another process is waited for. Publishing holds one for as long as it takes to write the
// archive: seconds at most.
const patience = 5 * time.Second

// DB is an open store. Its methods may be called from several goroutines.
type DB struct {
	kind dialect
	r    *sql.DB
	w    *sql.DB // nil where the store was opened to be read
	// moved says whether somebody has written below what is read; nil where the database sees to it.
	moved func() bool
}

// Open opens the store at an address, sqlite:PATH or postgres://USER@HOST/NAME, to read and to write. It makes the folder, the
// file and the tables that are missing, and brings older tables up to date. A path is relative to the working directory; of a
// PostgreSQL database it takes the schema rackrate, unless search_path in the address names another; what the address leaves
// out, such as the password, is taken from where PostgreSQL's own tools take it (PGPASSWORD, ~/.pgpass).
func Open(ctx context.Context, address string) (*DB, error) { return open(ctx, address, patience) }

func open(ctx context.Context, address string, wait time.Duration) (*DB, error) {
	kind, err := parse(address, wait)
	if err != nil {
		return nil, err
	}
	db := &DB{kind: kind}
	if db.r, db.w, err = kind.open(); err != nil {
		return nil, db.explain(ctx, err)
	}
	if err := db.migrate(ctx, wait); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// OpenReadOnly opens a store to be read, and makes and changes nothing, so that it also works where nothing may be written:
// ErrNone where there is no store. It is on the way of every plan, so it looks at the version of the tables only.
func OpenReadOnly(ctx context.Context, address string) (*DB, error) {
	kind, err := parse(address, patience)
	if err != nil {
		return nil, err
	}
	db := &DB{kind: kind}
	if db.r, db.moved, err = kind.openReadOnly(ctx); err != nil {
		return nil, db.explain(ctx, err)
	}
	have, err := db.version(ctx)
	if err == nil {
		err = db.readable(have, newest)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// Close lets go of the store. What Lock gave has to be unlocked before.
func (db *DB) Close() error {
	var err error
	for _, pool := range []*sql.DB{db.r, db.w} { // the writer last: it tidies up the log of writes
		if pool != nil {
			err = errors.Join(err, pool.Close())
		}
	}
	return err
}

// parse finds the database that an address speaks of. The address may hold a password, so no problem repeats it.
func parse(address string, wait time.Duration) (dialect, error) {
	scheme, rest, _ := strings.Cut(address, ":")
	switch scheme {
	case "sqlite":
		if path := strings.TrimPrefix(rest, "//"); path != "" && !strings.HasPrefix(path, "~/") {
			return sqliteFile{path, wait}, nil
		}
	case "postgres", "postgresql":
		if server, err := parsePostgres(address, wait); err == nil {
			return server, nil
		}
	}
	return nil, problem.New(problem.Input, "store.bad_url", problem.Args{"Want": "sqlite:PATH | postgres://USER@HOST/NAME"})
}

// tx is a transaction whose statements are written with $1, $2 … for both databases.
type tx struct {
	*sql.Tx
	kind dialect
}

func (t tx) exec(ctx context.Context, query string, args ...any) error {
	_, err := t.ExecContext(ctx, t.kind.bind(query), args...)
	return err
}

func (t tx) row(ctx context.Context, query string, args ...any) *sql.Row {
	return t.QueryRowContext(ctx, t.kind.bind(query), args...)
}

// write runs do in one transaction, which stands as a whole or not at all.
func (db *DB) write(ctx context.Context, do func(tx) error) error {
	if db.w == nil {
		return readOnly(db.kind.place())
	}
	t, err := db.w.BeginTx(ctx, nil)
	if err != nil {
		return db.explain(ctx, err)
	}
	if err := do(tx{t, db.kind}); err != nil {
		_ = t.Rollback() // the first fault says more, and whoever can no longer roll back has lost the transaction anyway
		return db.explain(ctx, err)
	}
	return db.explain(ctx, t.Commit())
}

// read hands each row of a query to scan.
func (db *DB) read(ctx context.Context, scan func(*sql.Rows) error, query string, args ...any) error {
	err := db.rows(ctx, scan, db.kind.bind(query), args...)
	if db.moved != nil && db.moved() {
		return at(codeLocked, db.kind.place()) // whatever was read, or was wrong with it
	}
	return db.explain(ctx, err)
}

func (db *DB) rows(ctx context.Context, scan func(*sql.Rows) error, query string, args ...any) error {
	rows, err := db.r.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
