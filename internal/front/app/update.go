package app

import (
	"context"
	"errors"
	"io/fs"

	"github.com/rackrate/rackrate/internal/connect/refresh"
	"github.com/rackrate/rackrate/internal/connect/store"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// SourceResult is what one source said and what became of it, SourceLoss a part of it that could not be read.
type (
	SourceResult = refresh.Result
	SourceLoss   = refresh.Loss
)

// Watch is told how sources are read.
type Watch = refresh.Watch

// UpdateRequest says which sources to read anew.
type UpdateRequest struct {
	Sources       []string // none: all that can be read
	DryRun, Force bool
	Watch         Watch
}

// Updated is what became of each source.
type Updated struct {
	Results []SourceResult
	Skipped []Skipped
	DryRun  bool
}

// Failed counts the sources that failed or lost a part.
func (u *Updated) Failed() (n int) {
	for _, r := range u.Results {
		if r.Err != nil || len(r.Lost) > 0 {
			n++
		}
	}
	return n
}

// UpdateCatalog reads sources side by side and publishes what they say.
func (a *App) UpdateCatalog(ctx context.Context, q UpdateRequest) (*Updated, error) {
	w, err := a.world()
	if err != nil {
		return nil, err
	}
	defer w.HTTP.Close()
	jobs, skipped, err := a.jobs(q.Sources, w)
	if err != nil {
		return nil, err
	}
	results, err := a.refresh(ctx, jobs, refresh.Options{DryRun: q.DryRun, Force: q.Force, Watch: q.Watch})
	return &Updated{results, skipped, q.DryRun}, err
}

// refresh runs jobs against the store.
func (a *App) refresh(ctx context.Context, jobs []refresh.Job, o refresh.Options) (results []refresh.Result, err error) {
	o.Chips, o.Now = a.Chips(), a.Now
	if o.Known, err = catalog.Embedded(); err != nil {
		return nil, err
	}
	open := a.openStore
	if o.DryRun {
		open = a.storeToRead
	}
	db, err := open(ctx)
	if err != nil {
		return nil, err
	}
	if db != nil {
		defer func() { err = errors.Join(err, db.Close()) }()
	}
	results, err = refresh.Run(ctx, db, jobs, o)
	if ctx.Err() != nil {
		return results, done(ctx)
	}
	return results, err
}

// storeToRead opens the store to read; nil where there is none, and where there is nowhere to keep one.
func (a *App) storeToRead(ctx context.Context) (*store.DB, error) {
	url, err := a.StoreURL()
	if err != nil {
		return nil, nil
	}
	db, err := store.OpenReadOnly(ctx, url)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return db, err
}

// openStore opens the store to write, and makes it where there is none.
func (a *App) openStore(ctx context.Context) (*store.DB, error) {
	url, err := a.StoreURL()
	if err != nil {
		return nil, err
	}
	return store.Open(ctx, url)
}
