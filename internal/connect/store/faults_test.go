package store_test

import (
	"bytes"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rackrate/rackrate/internal/connect/store"
)

// impatient opens a store that does not wait for locks for long.
func impatient(t *testing.T, address string) (*store.DB, error) {
	return store.OpenWaiting(t.Context(), address, 50*time.Millisecond)
}

func TestNewerSchema(t *testing.T) {
	onBoth(t, func(t *testing.T, address string, db *store.DB) {
		one := publish(t, db, reading("aws", "one", 1), 0)
		must(t, db.Exec(t.Context(), "INSERT INTO schema_version (version_id, is_applied) SELECT 99, is_applied FROM schema_version LIMIT 1"))
		_, err := store.Open(t.Context(), address)
		wants(t, err, "store.newer_schema")
		_, err = store.OpenReadOnly(t.Context(), address)
		wants(t, err, "store.newer_schema")
		if got := sources(t, db, time.Time{}); got[0].Snapshot != one {
			t.Errorf("%+v", got)
		}
		for _, c := range []struct {
			have, want int64
			code       string
		}{{1, 1, "fine"}, {1, 2, "store.older_schema"}, {3, 2, "store.newer_schema"}} {
			if got := codeOf(db.Readable(c.have, c.want)); got != c.code {
				t.Errorf("%d read by %d: %s", c.have, c.want, got)
			}
		}
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Tables whose making was interrupted before the first of ours are made; to read there is nothing yet.
func TestUnfinishedSchema(t *testing.T) {
	for name, address := range databases {
		t.Run(name, func(t *testing.T) {
			at := address(t)
			db, err := store.Open(t.Context(), at)
			must(t, err)
			for _, s := range []string{"DROP TABLE price_change", "DROP TABLE fetch_log", "UPDATE source SET snapshot = NULL"} {
				must(t, db.Exec(t.Context(), s))
			}
			if name == "postgres" {
				must(t, db.Exec(t.Context(), "DROP TABLE source, snapshot"))
			} else {
				must(t, db.Exec(t.Context(), "DROP TABLE source"))
				must(t, db.Exec(t.Context(), "DROP TABLE snapshot"))
			}
			must(t, db.Exec(t.Context(), "DELETE FROM schema_version WHERE version_id > 0"))
			must(t, db.Close())
			if _, err := store.OpenReadOnly(t.Context(), at); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%v", err)
			}
			publish(t, open(t, at), reading("aws", "one", 1), 0)
		})
	}
}

// raw is a connection past the store.
func raw(t *testing.T, address string) *sql.Conn {
	t.Helper()
	driver, name := "pgx", address
	if path, file := strings.CutPrefix(address, "sqlite:"); file {
		driver, name = "sqlite", "file://"+(&url.URL{Path: path}).EscapedPath()
	}
	db, err := sql.Open(driver, name)
	must(t, err)
	c, err := db.Conn(t.Context())
	must(t, err)
	t.Cleanup(func() {
		if err := errors.Join(c.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
	return c
}

func run(t *testing.T, c *sql.Conn, statements ...string) {
	t.Helper()
	for _, s := range statements {
		_, err := c.ExecContext(t.Context(), s)
		must(t, err)
	}
}

func TestLocked(t *testing.T) {
	hold := map[string][]string{
		"sqlite":   {"BEGIN EXCLUSIVE", "UPDATE source SET layer = 'held'"},
		"postgres": {"BEGIN", "LOCK TABLE rackrate.source"},
	}
	for name, address := range databases {
		t.Run(name, func(t *testing.T) {
			at := address(t)
			one := publish(t, open(t, at), reading("aws", "one", 1), 0)
			db, err := impatient(t, at)
			must(t, err)
			defer db.Close()
			other := raw(t, at)
			run(t, other, hold[name]...)
			_, err = db.Publish(t.Context(), reading("aws", "two", 2), one)
			wants(t, err, "store.locked")
			if name == "sqlite" { // readers go on
				if got := sources(t, db, time.Time{}); got[0].Snapshot != one || got[0].Layer != "vendor" {
					t.Errorf("%+v", got)
				}
			}
			run(t, other, "ROLLBACK")
			publish(t, db, reading("aws", "two", 2), one)
		})
	}
}

// A file that another process keeps to itself before there are tables in it.
func TestLockedBeforeTables(t *testing.T) {
	address := databases["sqlite"](t)
	path := strings.TrimPrefix(address, "sqlite:")
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	other := raw(t, address)
	run(t, other, "BEGIN EXCLUSIVE")
	_, err := impatient(t, address)
	wants(t, err, "store.locked")
	time.AfterFunc(100*time.Millisecond, func() { run(t, other, "ROLLBACK") })
	publish(t, open(t, address), reading("aws", "one", 1), 0)
}

// noRoom lets the database say that its disk is full in the middle of a publication, and room gives it back its room.
var noRoom, room = map[string][]string{
	"sqlite": {"PRAGMA max_page_count = 40"},
	"postgres": {
		`CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'could not extend file' USING ERRCODE = 'disk_full'; END $$`,
		`CREATE TRIGGER full_disk BEFORE INSERT ON price_change EXECUTE FUNCTION full_disk()`,
	},
}, map[string][]string{
	"sqlite":   {"PRAGMA max_page_count = 1000000"},
	"postgres": {"DROP TRIGGER full_disk ON price_change"},
}

func TestFullDisk(t *testing.T) {
	for name, address := range databases {
		t.Run(name, func(t *testing.T) {
			db := open(t, address(t))
			one := publish(t, db, reading("aws", "one", 1), 0)
			before := sources(t, db, time.Time{})
			for _, s := range noRoom[name] {
				must(t, db.Exec(t.Context(), s))
			}
			f := reading("aws", strings.Repeat("much", 100_000), 2)
			f.Changes = manyChanges(3)
			_, err := db.Publish(t.Context(), f, one)
			wants(t, err, "store.full")
			same(t, sources(t, db, time.Time{}), before)
			if got, err := db.Archive(t.Context(), one); err != nil || string(got) != "one" {
				t.Errorf("%q %v", got, err)
			}
			for _, s := range room[name] {
				must(t, db.Exec(t.Context(), s))
			}
			publish(t, db, f, one)
		})
	}
}

// A file that is no store, or somebody else's, is left as it is.
func TestOtherFiles(t *testing.T) {
	for code, content := range map[string]func(path string){
		"store.not_a_database": func(path string) {
			must(t, os.WriteFile(path, bytes.Repeat([]byte("provider,price\n"), 1000), 0o600))
		},
		"store.foreign": func(path string) {
			db, err := sql.Open("sqlite", path)
			must(t, err)
			_, err = db.Exec("CREATE TABLE bookmarks (url)")
			must(t, errors.Join(err, db.Close()))
		},
		"store.failed": func(path string) { must(t, os.Mkdir(path, 0o700)) },
	} {
		t.Run(code, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "other")
			content(path)
			before, _ := os.ReadFile(path)
			_, err := store.OpenReadOnly(t.Context(), "sqlite:"+path)
			wants(t, err, code)
			_, err = store.Open(t.Context(), "sqlite:"+path)
			wants(t, err, code)
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("it was written to")
			}
		})
	}
}

// A folder that cannot be made, because a file is in its way.
func TestFolderInTheWay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(path, nil, 0o600))
	_, err := store.Open(t.Context(), "sqlite:"+filepath.Join(path, "prices.db"))
	wants(t, err, "store.failed")
}

func TestDamagedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prices.db")
	db, err := store.Open(t.Context(), "sqlite:"+path)
	must(t, err)
	f := reading("aws", strings.Repeat("much", 100_000), 1)
	f.Changes = manyChanges(2000)
	publish(t, db, f, 0)
	must(t, db.Close())
	content, err := os.ReadFile(path)
	must(t, err)
	for i := 4096; i < len(content); i++ { // all but the page that says what tables there are
		content[i] = 0xAA
	}
	must(t, os.WriteFile(path, content, 0o600))
	_, err = store.OpenReadOnly(t.Context(), "sqlite:"+path)
	wants(t, err, "store.corrupt")
	_, err = store.Open(t.Context(), "sqlite:"+path)
	wants(t, err, "store.corrupt")
}

// What is new is for its owner only; an empty file is as good as none.
func TestFileModes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "folder", "prices.db")
	db := open(t, "sqlite:"+path)
	publish(t, db, reading("aws", "one", 1), 0)
	for name, want := range map[string]fs.FileMode{path: 0o600, path + "-wal": 0o600, filepath.Dir(path): 0o700, filepath.Dir(filepath.Dir(path)): 0o700} {
		info, err := os.Stat(name)
		must(t, err)
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s: %o", name, got)
		}
	}
	empty := filepath.Join(t.TempDir(), "empty.db")
	must(t, os.WriteFile(empty, nil, 0o600))
	if _, err := store.OpenReadOnly(t.Context(), "sqlite:"+empty); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	publish(t, open(t, "sqlite:"+empty), reading("aws", "one", 1), 0)
}

func TestServerFaults(t *testing.T) {
	address := databases["postgres"](t)
	open(t, address)
	run(t, raw(t, address), "CREATE ROLE guest LOGIN")
	guest := strings.Replace(address, "rackrate:", "guest:", 1)
	for code, bad := range map[string]string{
		"store.no_database": address[:strings.LastIndex(address, "/")] + "/nowhere?sslmode=disable",
		"store.unreachable": "postgres://u:s3cr3t@127.0.0.1:1/d?sslmode=disable",
		"store.denied":      strings.Replace(address, "rackrate:", "stranger:", 1), // there is no such role
	} {
		_, err := store.Open(t.Context(), bad)
		wants(t, err, code)
		_, err = store.OpenReadOnly(t.Context(), bad)
		wants(t, err, code)
	}
	// The schema is there, but is not the guest's to use, nor to make another in.
	_, err := store.Open(t.Context(), guest)
	wants(t, err, "store.denied")
	_, err = store.Open(t.Context(), guest+"&search_path=nowhere")
	wants(t, err, "store.failed")
	// In a schema that somebody names it is that one's.
	run(t, raw(t, address), "CREATE SCHEMA team", "CREATE TABLE team.others (x int)", "CREATE SCHEMA mine")
	_, err = store.Open(t.Context(), address+"&search_path=team")
	wants(t, err, "store.foreign")
	publish(t, open(t, address+"&search_path=mine"), reading("aws", "mine", 1), 0)
	if got := sources(t, open(t, address), time.Time{}); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// Placeholders may come in any order, and more than once.
func TestPlaceholders(t *testing.T) {
	onBoth(t, func(t *testing.T, _ string, db *store.DB) {
		got, err := db.Bound(t.Context(), "SELECT CAST($2 AS TEXT) || CAST($1 AS TEXT) || CAST($3 AS TEXT) || CAST($1 AS TEXT)", "a", "b", "c")
		if err != nil || got != "baca" {
			t.Errorf("%q %v", got, err)
		}
	})
}
