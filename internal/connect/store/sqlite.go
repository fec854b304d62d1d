package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/rackrate/rackrate/internal/base/problem"
)

// sqliteFile is a store in one file. Beside it stand, while it is in use, the log of writes (-wal) and its index (-shm), which
// SQLite tidies up, and the lock of updates (.lock), which stays.
type sqliteFile struct {
	path string
	wait time.Duration // for a lock of another process
}

// readers is how many statements may read at once.
const readers = 4

func (s sqliteFile) goose() goose.Dialect     { return goose.DialectSQLite3 }
func (s sqliteFile) place() string            { return s.path }
func (s sqliteFile) bind(query string) string { return strings.ReplaceAll(query, "$", "?") }

// tables leaves out SQLite's own.
func (s sqliteFile) tables() string {
	return `SELECT count(*), count(*) FILTER (WHERE name = '` + versionTable + `') FROM sqlite_master
		WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`
}

// pool opens the file with the settings that every connection needs. Waiting for locks comes first, so that the rest may wait.
//
// A write-ahead log lets readers read on while a snapshot is written, and a writer that is killed leaves a log whose unfinished
// end is never read. Full synchronisation costs one flush per transaction and keeps what was said to be published, also where
// the power fails.
func (s sqliteFile) pool(write bool, more ...string) (*sql.DB, error) {
	abs, err := filepath.Abs(s.path)
	if err != nil {
		return nil, err
	}
	options := url.Values{"_busy_timeout": {fmt.Sprint(s.wait.Milliseconds())}, "_dqs": {"0"}, "_defensive": {"1"}}
	if write {
		options["_pragma"] = []string{"journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)"}
		options.Set("_txlock", "immediate") // a transaction that reads before it writes would fail halfway instead of waiting
		options.Set("mode", "rw")
	} else {
		options.Set("_query_only", "1")
		options.Set("mode", "ro")
	}
	for _, name := range more {
		options.Set(name, "1")
	}
	slashed := filepath.ToSlash(abs)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // C:/…
	}
	pool, err := sql.Open("sqlite", "file://"+(&url.URL{Path: slashed}).EscapedPath()+"?"+options.Encode())
	if err != nil {
		return nil, err
	}
	most := readers
	if write {
		most = 1
	}
	pool.SetMaxOpenConns(most)
	pool.SetMaxIdleConns(most)
	return pool, nil
}

// open makes what is missing; only its owner may read it, since contracts are in it.
func (s sqliteFile) open() (r, w *sql.DB, err error) {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return nil, nil, err
	}
	file, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, err // which says more than SQLite would
	}
	if err := file.Close(); err != nil {
		return nil, nil, err
	}
	if w, err = s.pool(true); err != nil {
		return nil, nil, err
	}
	if r, err = s.pool(false); err != nil {
		return nil, nil, errors.Join(err, w.Close())
	}
	return r, w, nil
}

// openReadOnly reads the file as it is where its folder cannot be written, or the disk is full, and nobody is writing: SQLite would
// want to make the index of the log there. Should somebody with more rights begin to write after all, the time of the file tells.
func (s sqliteFile) openReadOnly(ctx context.Context) (*sql.DB, func() bool, error) {
	before, err := s.stat()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, ErrNone
	}
	if err != nil {
		return nil, nil, err
	}
	pool, err := s.pool(false)
	if err != nil {
		return nil, nil, err
	}
	var tables int
	err = pool.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master").Scan(&tables)
	if err == nil {
		return pool, nil, nil
	}
	if failed := pool.Close(); failed != nil {
		return nil, nil, errors.Join(err, failed)
	}
	switch code := resultCode(err); {
	case code == sqlite3.SQLITE_IOERR_SHMOPEN, code == sqlite3.SQLITE_IOERR_SHMSIZE:
	case code&0xff == sqlite3.SQLITE_CANTOPEN, code&0xff == sqlite3.SQLITE_READONLY, code&0xff == sqlite3.SQLITE_FULL:
	default:
		return nil, nil, err
	}
	if log, failed := os.Stat(s.path + "-wal"); failed == nil && log.Size() > 0 {
		return nil, nil, at(codeNeedsRecovery, s.path).Wrap(err)
	}
	pool, err = s.pool(false, "immutable")
	return pool, func() bool {
		now, err := s.stat()
		return err != nil || !now.ModTime().Equal(before.ModTime()) || now.Size() != before.Size()
	}, err
}

// stat looks at the file, and at whether it may be read at all, which SQLite would not tell from other faults.
func (s sqliteFile) stat() (fs.FileInfo, error) {
	file, err := os.Open(s.path)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	return info, errors.Join(err, file.Close())
}

func (s sqliteFile) prepare(context.Context, *sql.DB) error { return nil }

// resultCode is SQLite's extended result code in an error, whose lowest byte is the primary one; 0 where there is none.
func resultCode(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

// explain goes by the result codes (https://www.sqlite.org/rescode.html).
func (s sqliteFile) explain(err error) error {
	switch code := resultCode(err); code & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return at(codeLocked, s.path).Wrap(err)
	case sqlite3.SQLITE_FULL:
		return at(codeFull, s.path).Wrap(err)
	case sqlite3.SQLITE_IOERR:
		if code == sqlite3.SQLITE_IOERR_WRITE || code == sqlite3.SQLITE_IOERR_SHMOPEN || code == sqlite3.SQLITE_IOERR_SHMSIZE {
			return at(codeNotWritten, s.path).Wrap(err)
		}
	case sqlite3.SQLITE_READONLY:
		return at(codeReadOnly, s.path).Wrap(err)
	case sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH:
		return at(codeDenied, s.path).Wrap(err)
	case sqlite3.SQLITE_NOTADB:
		return problem.New(problem.Input, "store.not_a_database", problem.Args{"Place": s.path}).Wrap(err)
	case sqlite3.SQLITE_CORRUPT:
		return at(codeCorrupt, s.path).Wrap(err)
	}
	return nil
}

// lock is that of the operating system on a file, which it lets go of when the process ends, however it ends. When the file was
// last touched says since when.
func (s sqliteFile) lock(context.Context, *DB) (func() error, error) {
	path := s.path + ".lock"
	l := flock.New(path, flock.SetPermissions(0o600))
	got, err := l.TryLock()
	if err != nil {
		return nil, err
	}
	if !got {
		since := time.Time{}
		if held, err := os.Stat(path); err == nil {
			since = held.ModTime()
		}
		return nil, busy(s.path, since)
	}
	now := time.Now()
	if err := os.Chtimes(path, now, now); err != nil {
		return nil, errors.Join(err, l.Unlock())
	}
	return l.Unlock, nil
}
