package store

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"github.com/rackrate/rackrate/internal/base/problem"
)

// The codes of what can be wrong with the store as a whole.
const (
	codeLocked        = "store.locked"
	codeReadOnly      = "store.read_only"
	codeDenied        = "store.denied"
	codeFull          = "store.full"
	codeNotWritten    = "store.not_written"
	codeCorrupt       = "store.corrupt"
	codeNeedsRecovery = "store.needs_recovery"
)

func hasCode(err error, code string) bool {
	var p *problem.Error
	return errors.As(err, &p) && p.Code == code
}

// at is a problem with the store as a whole.
func at(code, place string) *problem.Error {
	return problem.New(problem.Internal, code, problem.Args{"Place": place})
}

func readOnly(place string) *problem.Error { return at(codeReadOnly, place) }

// explain gives the problem that an error is: the end of ctx and problems as they are, what the database or the system says by
// its code, and anything else with the words it came with.
func (db *DB) explain(ctx context.Context, err error) error {
	var p *problem.Error
	switch {
	case err == nil || errors.As(err, &p) || errors.Is(err, ErrNone):
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	if known := db.kind.explain(err); known != nil {
		return known
	}
	place := db.kind.place()
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return at(codeFull, place).Wrap(err)
	case errors.Is(err, syscall.EROFS):
		return at(codeReadOnly, place).Wrap(err)
	case errors.Is(err, fs.ErrPermission):
		return at(codeDenied, place).Wrap(err)
	}
	return problem.New(problem.Internal, "store.failed", problem.Args{"Place": place, "Error": err.Error()}).Wrap(err)
}
