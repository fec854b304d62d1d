package app

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/rackrate/rackrate/internal/connect/refresh"
	"github.com/rackrate/rackrate/internal/connect/store"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/front/config"
)

// CatalogStatus is where prices come from and how fresh they are.
type CatalogStatus struct {
	Store   string // its address, without a password
	Exists  bool
	Sources []SourceStatus
	// Unread are the sources that could be read and never were; Why is what keeps them, nil where nothing does.
	Unread []Skipped
	Idle   []catalog.Term // lines of contracts in force or not that change no price on the day that is looked at
	Broken error          // why the prices cannot be used as they are; nil where they can
}

// SourceStatus is one source.
type SourceStatus struct {
	Name           string
	Layer          catalog.Layer
	Offers, Prices int
	AsOf           string    // ISO day that its rows speak of; empty where it never could be read
	Read           time.Time // when it was read last with success
	Tried          time.Time // when it was last tried
	Err            error     // of the last try; nil where it went well
	Lost           []SourceLoss
	Terms          int // lines of a contract
}

// CatalogStatus tells of every source in the store, of the built-in catalog and of those that could be read.
func (a *App) CatalogStatus(ctx context.Context) (*CatalogStatus, error) {
	builtIn, err := catalog.Embedded()
	if err != nil {
		return nil, err
	}
	url, err := a.StoreURL()
	if err != nil {
		return nil, err
	}
	st := &CatalogStatus{Store: url}
	if set := a.Config.Shown(config.DB); set != "" {
		st.Store = set // without its password
	}
	stored, exists, err := a.storedSources(ctx)
	if err != nil {
		return nil, err
	}
	st.Exists = exists
	for _, s := range stored {
		status, err := statusOf(&s)
		if err != nil {
			return nil, err
		}
		st.Sources = append(st.Sources, status)
	}
	st.Sources = append(st.Sources, SourceStatus{
		Name: string(catalog.BuiltIn), Layer: catalog.BuiltIn, Offers: len(builtIn.Offers), Prices: builtIn.Prices(), AsOf: builtIn.AsOf,
	})
	if st.Unread, err = a.unread(stored); err != nil {
		return nil, err
	}
	if v, err := a.view(); err != nil {
		st.Broken = err
	} else {
		st.Idle = v.idle
	}
	return st, nil
}

func statusOf(s *store.Source) (SourceStatus, error) {
	status := SourceStatus{
		Name: s.Name, Layer: catalog.Layer(s.Layer), Offers: s.Offers, Prices: s.Prices, AsOf: s.AsOf, Read: s.Finished, Tried: s.Last.Finished,
	}
	var report refresh.Report
	if len(s.Last.Report) > 0 {
		if err := json.Unmarshal(s.Last.Report, &report); err != nil {
			return status, err
		}
	}
	status.Err, status.Terms = refresh.Problems(report.Problems), report.Terms
	for _, l := range report.Lost {
		status.Lost = append(status.Lost, SourceLoss{Provider: l.Provider, Region: l.Region, Why: refresh.Problems(l.Why), Kept: l.Kept})
	}
	return status, nil
}

// storedSources are the sources in the store; false where there is no store.
func (a *App) storedSources(ctx context.Context) (sources []store.Source, exists bool, err error) {
	db, err := a.storeToRead(ctx)
	if err != nil || db == nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	sources, err = db.Sources(ctx, time.Time{})
	return sources, true, err
}

// unread are the sources that the settings know and the store does not.
func (a *App) unread(stored []store.Source) (out []Skipped, err error) {
	configs, err := a.configured()
	if err != nil {
		return nil, err
	}
	w, err := a.world()
	if err != nil {
		return nil, err
	}
	defer w.HTTP.Close()
	for _, c := range configs {
		if c.Off || slices.ContainsFunc(stored, func(s store.Source) bool { return s.Name == c.Name }) {
			continue
		}
		_, err := makerOf(c.Kind).New(c, w)
		if err != nil && !passed(c, err) {
			return nil, err
		}
		out = append(out, Skipped{c.Name, err})
	}
	return out, nil
}

// ForgetSource takes a source and all that it said out of the store, or, unless sure, only says what that would be.
func (a *App) ForgetSource(ctx context.Context, name string, sure bool) (gone SourceStatus, err error) {
	stored, _, err := a.storedSources(ctx)
	if err != nil {
		return gone, err
	}
	var known []string
	for i := range stored {
		known = append(known, stored[i].Name)
		if stored[i].Name == name {
			if gone, err = statusOf(&stored[i]); err != nil {
				return gone, err
			}
		}
	}
	if err := unknownSources([]string{name}, known); err != nil || !sure {
		return gone, err
	}
	db, err := a.openStore(ctx)
	if err != nil {
		return gone, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	unlock, err := db.Lock(ctx)
	if err != nil {
		return gone, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	return gone, db.Forget(ctx, name)
}
