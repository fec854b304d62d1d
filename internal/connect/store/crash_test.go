package store_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rackrate/rackrate/internal/connect/store"
)

// A process that is killed at any moment leaves a store in which all that was said to be published is complete and the rest
// was never there. Every eighth kill falls on a new store, whose tables may not stand yet.
func TestKilled(t *testing.T) {
	kills := map[string]int{"sqlite": 40, "postgres": 20}
	for name, address := range databases {
		t.Run(name, func(t *testing.T) {
			if testing.Short() {
				kills[name] /= 4
			}
			seed := uint64(time.Now().UnixNano())
			t.Logf("seed %d", seed)
			rnd := rand.New(rand.NewPCG(seed, 0))
			at, published, last := "", 0, int64(0)
			for kill := range kills[name] {
				if kill%8 == 0 {
					at, last = address(t), 0
				}
				last = max(last, publishUntilKilled(t, at, rnd))
				published += checkWhole(t, at, last)
			}
			t.Logf("looked at %d snapshots after %d kills", published, kills[name])
			if published == 0 {
				t.Error("every child was killed before it published anything")
			}
		})
	}
}

// publishUntilKilled kills a child some time after its start or, more often, after it opened the store, and gives the last
// snapshot that it said it had published.
func publishUntilKilled(t *testing.T, address string, rnd *rand.Rand) (last int64) {
	t.Helper()
	c, out := spawn(t, "publish", address, rnd.Uint64(), 0)
	if rnd.IntN(4) > 0 {
		out.Scan()
	}
	time.AfterFunc(time.Duration(rnd.IntN(120_000))*time.Microsecond, func() { _ = c.Process.Kill() })
	for out.Scan() {
		if strings.HasPrefix(out.Text(), "failed") {
			t.Error(out.Text())
		}
		if id, err := strconv.ParseInt(out.Text(), 10, 64); err == nil {
			last = id
		}
	}
	_ = c.Wait() // killed
	return last
}

// checkWhole checks that a store agrees with itself and holds what was said to be published, and gives how many snapshots it
// holds.
func checkWhole(t *testing.T, address string, said int64) (published int) {
	t.Helper()
	db := open(t, address)
	waitForTheDead(t, address, db)
	list := sources(t, db, time.Time{})
	if len(list) == 0 {
		if said > 0 {
			t.Errorf("snapshot %d is lost", said)
		}
		return 0
	}
	if list[0].Snapshot < store.SnapshotID(said) {
		t.Errorf("snapshot %d is lost: the newest is %d", said, list[0].Snapshot)
	}
	log, err := db.Fetches(t.Context(), "aws", 1_000_000)
	if err != nil {
		t.Fatal(err)
	}
	if log[0].Snapshot != list[0].Snapshot {
		t.Errorf("the newest snapshot is %d, but the last reading gave %d", list[0].Snapshot, log[0].Snapshot)
	}
	want := map[string]int{}
	for _, f := range log {
		if f.Outcome != store.Published {
			continue
		}
		published++
		var c counted
		if err := json.Unmarshal(f.Report, &c); err != nil {
			t.Fatal(err)
		}
		for i := range c.Changed {
			want[fmt.Sprintf("type-%d", i)]++
		}
	}
	for name, n := range want {
		if got, err := db.Changes(t.Context(), "aws", name); err != nil || len(got) != n {
			t.Errorf("%s: %d changes, want %d (%v)", name, len(got), n, err)
		}
	}
	hashes, err := db.Strings(t.Context(), "SELECT hash FROM snapshot ORDER BY id DESC LIMIT 8")
	if err != nil {
		t.Fatal(err)
	}
	for i := range min(len(hashes), len(log)) {
		archive, err := db.Archive(t.Context(), log[i].Snapshot)
		if err != nil || hashOf(archive) != hashes[i] {
			t.Errorf("snapshot %d is not what was written: %v", log[i].Snapshot, err)
		}
	}
	if orphans, err := db.Strings(t.Context(), "SELECT source FROM snapshot WHERE id NOT IN (SELECT snapshot FROM fetch_log)"); err != nil || len(orphans) > 0 {
		t.Errorf("snapshots that no reading gave: %v %v", orphans, err)
	}
	if strings.HasPrefix(address, "sqlite:") {
		if said, err := db.Strings(t.Context(), "PRAGMA integrity_check"); err != nil || len(said) != 1 || said[0] != "ok" {
			t.Errorf("%v %v", said, err)
		}
	}
	return published
}

// waitForTheDead waits until a server has ended what a client that is no more had asked of it.
func waitForTheDead(t *testing.T, address string, db *store.DB) {
	t.Helper()
	for strings.HasPrefix(address, "postgres:") {
		busy, err := db.Strings(t.Context(), `SELECT state FROM pg_stat_activity
			WHERE datname = current_database() AND state <> 'idle' AND pid <> pg_backend_pid()`)
		if err != nil {
			t.Fatal(err)
		}
		if len(busy) == 0 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// Two processes that publish to one source take turns; each starts again from what the other published.
func TestTwoWriters(t *testing.T) {
	for name, address := range databases {
		t.Run(name, func(t *testing.T) {
			const each = 25
			at := address(t) // new: they also make the tables at once
			first, firstOut := spawn(t, "publish", at, 1, each)
			second, secondOut := spawn(t, "publish", at, 2, each)
			a, b := drain(firstOut), drain(secondOut)
			if err := first.Wait(); err != nil {
				t.Error(err, a)
			}
			if err := second.Wait(); err != nil {
				t.Error(err, b)
			}
			if n := checkWhole(t, at, 2*each); n != 2*each {
				t.Errorf("%d snapshots, want %d", n, 2*each)
			}
		})
	}
}

// The lock of updates goes with the process that held it.
func TestLockOfTheDead(t *testing.T) {
	onBoth(t, func(t *testing.T, address string, db *store.DB) {
		c, out := spawn(t, "lock", address, 0, 0)
		if !out.Scan() || out.Text() != "locked" {
			t.Fatal(out.Text())
		}
		_, err := db.Lock(t.Context())
		wants(t, err, "store.busy")
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		drain(out)
		_ = c.Wait() // killed
		for until := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			unlock, err := db.Lock(t.Context()) // a server needs a moment to see that the client is gone
			if err == nil {
				if err := unlock(); err != nil {
					t.Error(err)
				}
				return
			}
			if time.Now().After(until) {
				t.Fatal(err)
			}
		}
	})
}
