package store_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/connect/store"
)

// A child is this test binary started again, to do one thing in a process of its own: what it does, to which store, with which
// seed, and how often (0: until it is killed).
const (
	childDoes = "STORE_CHILD"
	childAt   = "STORE_ADDRESS"
	childSeed = "STORE_SEED"
	childRuns = "STORE_RUNS"
)

// chores are what a child can do; each says on standard output how it went.
var chores = map[string]func(address string, seed uint64, runs int) error{
	"publish": publishing,
	"lock":    locking,
}

// child does what a child has to, and says whether this process is one.
func child() bool {
	chore := chores[os.Getenv(childDoes)]
	if chore == nil {
		return false
	}
	seed, _ := strconv.ParseUint(os.Getenv(childSeed), 10, 64)
	runs, _ := strconv.Atoi(os.Getenv(childRuns))
	if err := chore(os.Getenv(childAt), seed, runs); err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
	return true
}

// spawn starts a child; its output is read line by line.
func spawn(t testing.TB, does, address string, seed uint64, runs int) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, "-test.run=^$")
	c.Env = append(os.Environ(), childDoes+"="+does, childAt+"="+address, fmt.Sprint(childSeed, "=", seed), fmt.Sprint(childRuns, "=", runs))
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return c, bufio.NewScanner(out)
}

// counted is the report of what publishing publishes: how many machines changed, so that the changes can be checked against it.
type counted struct{ Changed int }

// publishing publishes archives of random sizes, and says the id of each when it stands.
func publishing(address string, seed uint64, runs int) error {
	ctx := context.Background()
	db, err := store.Open(ctx, address)
	if err != nil {
		return err
	}
	fmt.Println("open")
	rnd := rand.New(rand.NewPCG(seed, 1))
	for run := 0; runs == 0 || run < runs; {
		list, err := db.Sources(ctx, time.Time{})
		if err != nil {
			return err
		}
		var previous store.SnapshotID
		for _, s := range list {
			previous = s.Snapshot
		}
		size := rnd.IntN(100_000)
		if rnd.IntN(8) == 0 {
			size *= 30 // more than the log is let grow to before it is moved into the file
		}
		f := reading("aws", string(randomBytes(rnd, size)), run)
		f.Changes = manyChanges(rnd.IntN(40))
		f.Report, _ = json.Marshal(counted{len(f.Changes)})
		f.Hash = hashOf(f.Archive)
		p, err := db.Publish(ctx, f, previous)
		var conflict *problem.Error
		switch {
		case errors.As(err, &conflict) && conflict.Code == "store.conflict":
			continue
		case err != nil:
			return err
		}
		run++
		fmt.Println(p.Snapshot)
	}
	return db.Close()
}

func randomBytes(rnd *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rnd.Uint32())
	}
	return b
}

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// locking takes the lock of updates, and keeps it until it is killed or its input ends.
func locking(address string, _ uint64, _ int) error {
	ctx := context.Background()
	db, err := store.Open(ctx, address)
	if err != nil {
		return err
	}
	if _, err := db.Lock(ctx); err != nil {
		return err
	}
	fmt.Println("locked")
	time.Sleep(time.Minute)
	return nil
}

// drain reads what is left of a child's output and gives its last line.
func drain(out *bufio.Scanner) (last string) {
	for out.Scan() {
		last = out.Text()
	}
	return last
}

func codeOf(err error) string {
	var p *problem.Error
	switch {
	case err == nil:
		return "fine"
	case errors.As(err, &p):
		return p.Code
	}
	return err.Error()
}
