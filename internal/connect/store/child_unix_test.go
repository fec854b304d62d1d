//go:build unix

package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/rackrate/rackrate/internal/connect/store"
)

func init() {
	chores["look"], chores["fill"], chores["watch"], chores["lookfull"] = looking, filling, watching, lookingFull
}

// becomeNobody drops root's right to read and write everything.
func becomeNobody() error {
	if os.Getuid() != 0 {
		return nil
	}
	if err := syscall.Setgid(65534); err != nil {
		return err
	}
	return syscall.Setuid(65534)
}

// allowNoLargeFiles makes writing beyond a size fail.
func allowNoLargeFiles(most uint64) error {
	signal.Ignore(syscall.SIGXFSZ) // which would end the process instead
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: most, Max: most})
}

// looking opens a store as somebody without rights, and says what both ways of opening it give.
func looking(address string, _ uint64, _ int) error {
	if err := becomeNobody(); err != nil {
		return err
	}
	ctx := context.Background()
	db, err := store.OpenReadOnly(ctx, address)
	if err == nil {
		var list []store.Source
		if list, err = db.Sources(ctx, time.Time{}); err == nil {
			var archive []byte
			archive, err = db.Archive(ctx, list[0].Snapshot)
			fmt.Printf("%d %q ", len(list), archive)
		}
		err = errors.Join(err, db.Close())
	}
	fmt.Print(codeOf(err))
	db, err = store.Open(ctx, address)
	if err == nil {
		err = errors.Join(db.Fail(ctx, reading("aws", "", 1)), db.Close())
	}
	fmt.Println(" |", codeOf(err))
	return nil
}

// watching opens a store as somebody without rights, and reads it once and, when a file called go is there, again.
func watching(address string, _ uint64, _ int) error {
	if err := becomeNobody(); err != nil {
		return err
	}
	ctx := context.Background()
	db, err := store.OpenReadOnly(ctx, address)
	if err != nil {
		return err
	}
	_, err = db.Sources(ctx, time.Time{})
	fmt.Println(codeOf(err))
	for path := filepath.Join(filepath.Dir(strings.TrimPrefix(address, "sqlite:")), "go"); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			break
		}
	}
	_, err = db.Sources(ctx, time.Time{})
	fmt.Println(codeOf(err))
	return db.Close()
}

// lookingFull reads where no file may grow, as on a full disk, and says what it reads.
func lookingFull(address string, _ uint64, _ int) error {
	if err := allowNoLargeFiles(0); err != nil {
		return err
	}
	ctx := context.Background()
	db, err := store.OpenReadOnly(ctx, address)
	if err == nil {
		var archive []byte
		archive, err = db.Archive(ctx, 1)
		fmt.Printf("%q ", archive)
		err = errors.Join(err, db.Close())
	}
	fmt.Println(codeOf(err))
	return nil
}

// filling publishes where no file may grow, as on a full disk, and says what it is told.
func filling(address string, _ uint64, _ int) error {
	ctx := context.Background()
	db, err := store.Open(ctx, address)
	if err != nil {
		return err
	}
	if err := allowNoLargeFiles(1 << 20); err != nil {
		return err
	}
	f := reading("aws", string(randomBytes(rand.New(rand.NewPCG(1, 2)), 4<<20)), 5)
	_, err = db.Publish(ctx, f, 1)
	fmt.Println(codeOf(err))
	return db.Close()
}
