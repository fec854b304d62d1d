package store

import (
	"context"
	"time"

	"github.com/rackrate/rackrate/internal/base/problem"
)

// Lock takes the lock of updates, which only one process holds at a time: store.busy where another has it. It ends with the
// process, however that ends. It keeps nobody from reading, nor Publish from its work: two that publish without it are told
// apart by Publish itself.
func (db *DB) Lock(ctx context.Context) (unlock func() error, err error) {
	if db.w == nil {
		return nil, readOnly(db.kind.place())
	}
	unlock, err = db.kind.lock(ctx, db)
	return unlock, db.explain(ctx, err)
}

// busy is the problem that another process holds the lock of updates, with the second since when, where that is known.
func busy(place string, since time.Time) error {
	text := ""
	if !since.IsZero() {
		text = since.UTC().Format(time.RFC3339)
	}
	return problem.New(problem.Internal, "store.busy", problem.Args{"Place": place, "Since": text})
}
