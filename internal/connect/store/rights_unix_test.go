//go:build unix

package store_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rackrate/rackrate/internal/connect/store"
)

// folderForAll is a folder that everybody may enter, which those of testing are not.
func folderForAll(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "store")
	must(t, err)
	t.Cleanup(func() {
		must(t, os.Chmod(dir, 0o700))
		must(t, os.RemoveAll(dir))
	})
	return dir
}

// What somebody sees who may not write the folder, the file or both.
func TestWithoutRights(t *testing.T) {
	const reads = `1 "one" fine | `
	for name, c := range map[string]struct {
		folder, file os.FileMode
		log          string // what becomes of the log of writes: kept, kept or empty with its index, or gone
		want         string
	}{
		"all read-only":              {0o555, 0o444, "", reads + "store.denied"},
		"file read-only":             {0o777, 0o444, "", reads + "store.denied"},
		"folder read-only":           {0o555, 0o666, "", reads + "store.read_only"},
		"file of another":            {0o777, 0o600, "", "store.denied | store.denied"},
		"folder of another":          {0o700, 0o666, "", "store.denied | store.denied"},
		"being written":              {0o555, 0o444, "with its index", reads + "store.denied"},
		"being read":                 {0o555, 0o444, "empty with its index", reads + "store.denied"},
		"left in the middle":         {0o555, 0o444, "kept", "store.needs_recovery | store.denied"},
		"left and nothing forbidden": {0o777, 0o666, "kept", reads + "fine"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folderForAll(t)
			path := filepath.Join(dir, "prices.db")
			made := filepath.Join(t.TempDir(), "prices.db")
			db, err := store.Open(t.Context(), "sqlite:"+made)
			must(t, err)
			publish(t, db, reading("aws", "one", 1), 0)
			files := map[string][]string{"": {""}, "kept": {"", "-wal"}, "with its index": {"", "-wal", "-shm"}, "empty with its index": {"", "-wal", "-shm"}}[c.log]
			open := c.log == "kept" || c.log == "with its index"
			if !open {
				must(t, db.Close())
			}
			if c.log == "empty with its index" { // as a reader leaves it
				r, err := store.OpenReadOnly(t.Context(), "sqlite:"+made)
				must(t, err)
				must(t, r.Close())
			}
			for _, f := range files {
				content, err := os.ReadFile(made + f)
				must(t, err)
				must(t, os.WriteFile(path+f, content, 0o600))
				must(t, os.Chmod(path+f, c.file))
			}
			if open {
				must(t, db.Close())
			}
			must(t, os.Chmod(dir, c.folder))
			child, out := spawn(t, "look", "sqlite:"+path, 0, 0)
			if got := drain(out); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			must(t, child.Wait())
		})
	}
}

// Who reads a file without being able to keep others from writing it is told when they do.
func TestWrittenBelow(t *testing.T) {
	if os.Getuid() != 0 {
		return // nobody here may write what the other may not
	}
	dir := folderForAll(t)
	address := "sqlite:" + filepath.Join(dir, "prices.db")
	db, err := store.Open(t.Context(), address)
	must(t, err)
	one := publish(t, db, reading("aws", "one", 1), 0)
	must(t, db.Close())
	must(t, os.Chmod(filepath.Join(dir, "prices.db"), 0o644))
	must(t, os.Chmod(dir, 0o755))
	child, out := spawn(t, "watch", address, 0, 0)
	if !out.Scan() || out.Text() != "fine" {
		t.Error(out.Text())
	}
	db, err = store.Open(t.Context(), address)
	must(t, err)
	publish(t, db, reading("aws", "two", 2), one)
	must(t, db.Close())
	must(t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o644))
	if got := drain(out); got != "store.locked" {
		t.Error(got)
	}
	must(t, child.Wait())
}

// What the system says where a quota is used up, it says for a file that may not grow.
func TestNoRoomInTheSystem(t *testing.T) {
	address := databases["sqlite"](t)
	db := open(t, address)
	one := publish(t, db, reading("aws", "one", 1), 0)
	child, out := spawn(t, "fill", address, 0, 0)
	if got := drain(out); got != "store.not_written" {
		t.Errorf("got %s", got)
	}
	must(t, child.Wait())
	publish(t, db, reading("aws", "two", 2), one)
	checkArchive(t, db, one, "one")
}

// A full disk keeps nobody from reading.
func TestReadsFromAFullDisk(t *testing.T) {
	address := databases["sqlite"](t)
	db, err := store.Open(t.Context(), address)
	must(t, err)
	publish(t, db, reading("aws", "one", 1), 0)
	must(t, db.Close())
	child, out := spawn(t, "lookfull", address, 0, 0)
	if got := drain(out); got != `"one" fine` {
		t.Errorf("got %s", got)
	}
	must(t, child.Wait())
}

func checkArchive(t *testing.T, db *store.DB, id store.SnapshotID, want string) {
	t.Helper()
	if got, err := db.Archive(t.Context(), id); err != nil || string(got) != want {
		t.Errorf("%d: %q %v", id, got, err)
	}
}
