package app

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/connect/store"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/provider"
	"github.com/rackrate/rackrate/internal/front/config"
)

// view is what can be rented as the settings look at it: contracts over what was synced over the built-in catalog, of the sources
// that count, on a day.
type view struct {
	catalog   *catalog.Catalog
	providers *provider.Table
	sources   []string       // that it was made of
	idle      []catalog.Term // lines of contracts that change no price
}

// storeWait bounds how long a command waits for the store before it says so.
const storeWait = 20 * time.Second

// Catalog is every known offer: contracts over synced prices over those that ship with the program.
func (a *App) Catalog() (*catalog.Catalog, error) {
	v, err := a.view()
	if err != nil {
		return nil, err
	}
	return v.catalog, nil
}

// Providers is every known cloud and region, with the newest interruption bands. Where the store cannot be read it is what ships
// with the program; whoever needs prices is told by Catalog.
func (a *App) Providers() *provider.Table {
	v, err := a.view()
	if err != nil {
		return provider.Embedded()
	}
	return v.providers
}

// StoreURL is where the store is.
func (a *App) StoreURL() (string, error) {
	if url := a.Config.Text(config.DB); url != "" {
		return url, nil
	}
	dir, err := a.DataDir()
	if err != nil {
		return "", err
	}
	return "sqlite:" + filepath.Join(dir, "rackrate.db"), nil
}

func (a *App) readView() (*view, error) {
	return a.viewOver(func(c *catalog.Catalog) *catalog.Catalog { return c.Until(a.Today) })
}

// viewOver is the view over what is made of the built-in catalog.
func (a *App) viewOver(take func(*catalog.Catalog) *catalog.Catalog) (*view, error) {
	ctx, cancel := context.WithTimeout(context.Background(), storeWait)
	defer cancel()
	builtIn, err := catalog.Embedded()
	if err != nil {
		return nil, err
	}
	wanted := a.Config.List(config.Source)
	snaps, known, err := a.snapshots(ctx, wanted)
	if err != nil {
		return nil, err
	}
	if err := unknownSources(wanted, append(known, string(catalog.BuiltIn))); err != nil {
		return nil, err
	}
	v := &view{providers: provider.Embedded()}
	for _, s := range snaps {
		v.sources = append(v.sources, s.Source)
	}
	if len(wanted) > 0 && !slices.Contains(wanted, string(catalog.BuiltIn)) {
		v.catalog = builtIn.Facts() // its machines are facts; its prices are those of a source that does not count
	} else {
		v.sources = append(v.sources, string(catalog.BuiltIn))
		v.catalog = take(builtIn)
	}
	v.catalog, v.idle = catalog.Merge(v.catalog, snaps, a.Today)
	for _, s := range snaps {
		v.providers = v.providers.WithBands(s.Bands).WithSeen(s.Seen)
	}
	if len(snaps) > 0 {
		v.providers = v.providers.WithOffered(offered(v.catalog))
	}
	return v, nil
}

// offered lists the regions of each provider that has offers.
func offered(c *catalog.Catalog) map[string][]string {
	seen := map[[2]string]bool{}
	regions := map[string][]string{}
	for _, o := range c.Offers {
		if key := [2]string{o.Provider, o.Region}; !seen[key] {
			seen[key] = true
			regions[o.Provider] = append(regions[o.Provider], o.Region)
		}
	}
	return regions
}

// snapshots reads what the sources said last on the day that is looked at, of those that are wanted, the oldest first; known are the
// names of all there are.
func (a *App) snapshots(ctx context.Context, wanted []string) (snaps []*catalog.Snapshot, known []string, err error) {
	if len(wanted) == 1 && wanted[0] == string(catalog.BuiltIn) {
		return nil, nil, nil // works without a store, or with one that is broken
	}
	db, err := a.storeToRead(ctx)
	if err != nil || db == nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	sources, err := db.Sources(ctx, a.endOfDay())
	if err != nil {
		return nil, nil, err
	}
	if len(wanted) > 0 { // a source that was not there on that day is no slip of the pen
		all, err := db.Sources(ctx, time.Time{})
		if err != nil {
			return nil, nil, err
		}
		for _, s := range all {
			known = append(known, s.Name)
		}
	}
	sources = slices.DeleteFunc(sources, func(s store.Source) bool {
		return s.Snapshot == 0 || len(wanted) > 0 && !slices.Contains(wanted, s.Name)
	})
	slices.SortFunc(sources, func(x, y store.Source) int { return x.Finished.Compare(y.Finished) })
	snaps = make([]*catalog.Snapshot, len(sources))
	group, ctx := errgroup.WithContext(ctx)
	for i, s := range sources {
		group.Go(func() error {
			packed, err := db.Archive(ctx, s.Snapshot)
			if err != nil {
				return err
			}
			if snaps[i], err = catalog.ReadArchive(s.Name, catalog.Layer(s.Layer), s.AsOf, packed, a.Chips()); err != nil {
				// It was read back when it was published: another program wrote it, with other words or chips.
				return problem.New(problem.Internal, "catalog.snapshot_unreadable", problem.Args{"Source": s.Name}).Wrap(err)
			}
			return nil
		})
	}
	return snaps, known, group.Wait()
}

// endOfDay is the last moment of the day that is looked at.
func (a *App) endOfDay() time.Time {
	day, err := time.Parse(time.DateOnly, a.Today)
	if err != nil {
		return a.Now()
	}
	return day.Add(24*time.Hour - time.Nanosecond)
}

// unknownSources is the problem of names that are no source's.
func unknownSources(wanted, known []string) error {
	var faults problem.List
	for _, name := range wanted {
		if !slices.Contains(known, name) {
			faults = append(faults, problem.New(problem.Input, "catalog.no_such_source", problem.Args{"Name": name, "Known": known}).
				With(problem.Nearest(name, known, 2)...))
		}
	}
	return faults.OrNil()
}
