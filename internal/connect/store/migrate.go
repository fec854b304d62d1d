package store

import (
	"context"
	"embed"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/rackrate/rackrate/internal/base/problem"
)

//go:embed migrations
var migrations embed.FS

// versionTable is where goose keeps which migrations have run.
const versionTable = "schema_version"

// newest is the version of the tables that this program makes and reads.
var newest = func() (last int64) {
	files, err := fs.Glob(migrations, "migrations/sqlite/*.sql")
	if err != nil {
		panic(err) // the pattern is wrong
	}
	for _, f := range files {
		number, _, _ := strings.Cut(f[strings.LastIndex(f, "/")+1:], "_")
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			panic(err) // a file is named wrongly, which a test would have found
		}
		last = max(last, n)
	}
	return last
}()

// version is that of the tables; 0 where there are none, and a problem where there are only those of somebody else.
// It only reads, so that a file of somebody else's is not so much as switched to a log of writes.
func (db *DB) version(ctx context.Context) (int64, error) {
	var all, ours, v int64
	if err := db.r.QueryRowContext(ctx, db.kind.tables()).Scan(&all, &ours); err != nil {
		return 0, db.explain(ctx, err)
	}
	switch {
	case all == 0:
		return 0, nil
	case ours == 0:
		return 0, problem.New(problem.Input, "store.foreign", problem.Args{"Place": db.kind.place()})
	}
	err := db.r.QueryRowContext(ctx, "SELECT coalesce(max(version_id), 0) FROM "+versionTable).Scan(&v)
	return v, db.explain(ctx, err)
}

// readable says whether tables of a version can be read as they are.
func (db *DB) readable(have, want int64) error {
	switch {
	case have == 0:
		return ErrNone
	case have < want:
		return problem.New(problem.Input, "store.older_schema", problem.Args{"Place": db.kind.place(), "Have": have, "Want": want})
	case have > want:
		return problem.New(problem.Input, "store.newer_schema", problem.Args{"Place": db.kind.place(), "Have": have, "Want": want})
	}
	return nil
}

// migrate brings the tables up to date. Several processes may do so at once: each step is a transaction, so that whoever comes
// second fails, looks again, and finds it done. A lock of another process is waited for.
func (db *DB) migrate(ctx context.Context, wait time.Duration) error {
	var failed error // of the last step
	before := int64(-1)
	for until := time.Now().Add(wait); ; {
		have, err := db.version(ctx)
		switch {
		case err == nil && have >= newest:
			return db.readable(have, newest)
		case err == nil && (failed == nil || have > before || hasCode(failed, codeLocked)):
			before, failed = have, db.up(ctx)
			err = failed
		case err == nil:
			return failed // and nobody else has done it
		}
		if err != nil && !hasCode(err, codeLocked) && failed == nil || time.Now().After(until) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// up runs the migrations that are missing.
func (db *DB) up(ctx context.Context) error {
	if err := db.kind.prepare(ctx, db.w); err != nil {
		return db.explain(ctx, err)
	}
	files, err := fs.Sub(migrations, "migrations/"+map[goose.Dialect]string{goose.DialectSQLite3: "sqlite", goose.DialectPostgres: "postgres"}[db.kind.goose()])
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(db.kind.goose(), db.w, files,
		goose.WithTableName(versionTable), goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return db.explain(ctx, err)
	}
	_, err = p.Up(ctx)
	return db.explain(ctx, err)
}
