// Package refresh keeps the store's prices fresh: it reads sources side by side, checks what each says as a whole, and publishes
// it in one step.
//
// Invariants: a source that fails, or says so little that it cannot be all, keeps its last good snapshot; a region that could
// not be read keeps its last good rows with their day; one refresh of a store runs at a time. Imported by front/app.
package refresh

import (
	"context"
	"encoding/json"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/store"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/catalog/intake"
)

// Job is one source to read.
type Job struct {
	Name   string // the user's name of the source
	Layer  catalog.Layer
	Source feed.Source
	From   catalog.Source // what its rows cite; its date is the day of the reading where it is empty
	AsOf   string         // the ISO day that its rows speak of; empty: the day of the reading
	// Once says that it is a file that is brought in by hand: that it could not be read is told and not kept.
	Once bool
}

// Outcome is what became of a source.
type Outcome string

// The outcomes.
const (
	Published Outcome = "published" // its new snapshot stands
	Unchanged Outcome = "unchanged" // it says what it said before, and is as fresh as today
	Failed    Outcome = "failed"    // it could not be read, or what it said cannot be all; the last good snapshot stays
	Tried     Outcome = "tried"     // a dry run: it would have been published
)

// Loss is a part of a source that could not be read.
type Loss struct {
	Provider, Region string // empty: all
	Why              error
	Kept             int // rows of the last good snapshot that stand in
}

// holds says whether a region lies in what was lost.
func (l *Loss) holds(provider, region string) bool {
	return (l.Provider == "" || l.Provider == provider) && (l.Region == "" || l.Region == region)
}

// Result is what one source said and what became of it.
type Result struct {
	Job            Job
	Outcome        Outcome
	Err            error // why it failed
	Took           time.Duration
	Read           intake.Result
	Lost           []Loss
	Offers, Prices int
	Terms          int              // lines of a contract
	Changes        []catalog.Change // against its last good snapshot
	LastGood       string           // ISO day that the snapshot in force speaks of; empty where there is none
}

// Watch is told how a refresh goes. Its methods may be called from several goroutines.
type Watch interface {
	Started(source string)
	Progress(source string, done, total int64)
	Ended(Result)
}

// Options say how to refresh. Chips, Known and Now have to be set.
type Options struct {
	DryRun bool
	// Force publishes what Failed would keep out because it is much less, or much dearer or cheaper, than before.
	Force    bool
	Parallel int // sources read at once; 0 is 4
	Chips    *accelerator.Table
	Known    *catalog.Catalog // the built-in catalog
	Now      func() time.Time
	Watch    Watch
}

// Run reads the sources and publishes what they say. Results are in the order of the jobs. The error is one of the store, or
// the end of ctx; a source that fails is a result. A dry run only reads the store, and does without one: db may be nil.
func Run(ctx context.Context, db *store.DB, jobs []Job, o Options) (results []Result, err error) {
	if !o.DryRun {
		unlock, err := db.Lock(ctx)
		if err != nil {
			return nil, err
		}
		defer func() {
			if failed := unlock(); err == nil {
				err = failed
			}
		}()
	}
	var last []store.Source
	if db != nil {
		if last, err = db.Sources(ctx, time.Time{}); err != nil {
			return nil, err
		}
	}
	if o.Parallel == 0 {
		o.Parallel = 4
	}
	results = make([]Result, len(jobs))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(o.Parallel)
	for i, j := range jobs {
		group.Go(func() error {
			r := &runner{db: db, o: o, job: j, last: sourceNamed(last, j.Name), started: o.Now()}
			if o.Watch != nil {
				o.Watch.Started(j.Name)
			}
			err := r.run(ctx)
			r.result.Job, r.result.Took = j, o.Now().Sub(r.started)
			results[i] = r.result
			if o.Watch != nil && err == nil {
				o.Watch.Ended(r.result)
			}
			return err
		})
	}
	return results, group.Wait()
}

func sourceNamed(all []store.Source, name string) *store.Source {
	for i := range all {
		if all[i].Name == name {
			return &all[i]
		}
	}
	return nil
}

// runner reads one source.
type runner struct {
	db      *store.DB
	o       Options
	job     Job
	last    *store.Source // nil where the source is new
	started time.Time
	before  *catalog.Snapshot // what it said last; nil where it never did, or nobody can read that any more
	result  Result
}

func (r *runner) run(ctx context.Context) error {
	var err error
	if r.before, err = r.lastGood(ctx); err != nil {
		return err
	}
	if r.before != nil {
		r.result.LastGood = r.before.AsOf
	}
	if r.job.AsOf == "" {
		r.job.AsOf = r.started.UTC().Format(time.DateOnly)
	}
	s := newSink(r.job, r.o)
	err = r.job.Source.Fetch(ctx, s)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	r.result.Read = s.in.Result()
	if err != nil {
		return r.fail(ctx, err)
	}
	snap := s.snapshot(r.result.Read)
	r.result.Lost = carry(snap, r.before, s.lost)
	return r.publish(ctx, snap)
}

// lastGood is what the source said last; nil where it never did, or nobody can read any more what it said.
func (r *runner) lastGood(ctx context.Context) (*catalog.Snapshot, error) {
	if r.last == nil || r.last.Snapshot == 0 {
		return nil, nil
	}
	packed, err := r.db.Archive(ctx, r.last.Snapshot)
	if err != nil {
		return nil, err
	}
	snap, err := catalog.ReadArchive(r.job.Name, r.job.Layer, r.last.AsOf, packed, r.o.Chips)
	if err != nil {
		return nil, nil // a chip that a later program no longer knows under its name; the new snapshot replaces it
	}
	return snap, nil
}

func (r *runner) publish(ctx context.Context, snap *catalog.Snapshot) error {
	after := catalog.New(snap.Machines, snap.Rows, snap.Sources)
	was := catalog.New(nil, nil, nil)
	if r.before != nil {
		was = catalog.New(r.before.Machines, r.before.Rows, r.before.Sources)
	}
	r.result.Offers, r.result.Prices, r.result.Terms = len(after.Offers), after.Prices(), len(snap.Terms)
	changes := catalog.Diff(was, after)
	if err := plausible(r.job.Name, snap, was, after, changes); err != nil && (!r.o.Force || empty(snap)) {
		return r.fail(ctx, err)
	}
	r.result.Changes = changes
	if r.before != nil {
		watched, err := r.watched(ctx)
		if err != nil {
			return err
		}
		snap.Seen = sightings(r.before, snap, r.result.Lost, watched, r.job.From.Title)
	}
	files, err := snap.Files()
	if err != nil {
		return err
	}
	packed, hash, err := catalog.Archive(files)
	if err != nil {
		return err
	}
	if _, err := catalog.ReadArchive(r.job.Name, r.job.Layer, r.job.AsOf, packed, r.o.Chips); err != nil {
		return r.fail(ctx, err) // what cannot be read back is never published
	}
	if r.o.DryRun {
		r.result.Outcome = Tried
		if r.last != nil && r.last.Hash == hash {
			r.result.Outcome = Unchanged
		}
		return nil
	}
	f := r.fetch()
	f.Hash, f.Archive, f.Changes = hash, packed, changesByMachine(r.result.Changes)
	f.Anew = r.before == nil
	var previous store.SnapshotID
	if r.last != nil {
		previous = r.last.Snapshot
	}
	done, err := r.db.Publish(ctx, f, previous)
	if err != nil {
		return err
	}
	r.result.Outcome, r.result.LastGood = Published, r.job.AsOf
	if done.Unchanged {
		r.result.Outcome = Unchanged
	}
	return nil
}

// fail keeps the last good snapshot and records why.
func (r *runner) fail(ctx context.Context, why error) error {
	r.result.Outcome, r.result.Err, r.result.Changes = Failed, why, nil
	if r.o.DryRun || r.job.Once {
		return nil
	}
	f := r.fetch()
	f.Error = why.Error()
	return r.db.Fail(ctx, f)
}

func (r *runner) fetch() store.Fetch {
	// What the report holds can always be written as JSON.
	said := reportOf(&r.result)
	if r.result.Err != nil && r.before != nil {
		said.Terms = len(r.before.Terms) // which are in force still
	}
	report, _ := json.Marshal(said)
	return store.Fetch{
		Source: r.job.Name, Layer: string(r.job.Layer), Started: r.started, Finished: r.o.Now(), AsOf: r.job.AsOf,
		Offers: r.result.Offers, Prices: r.result.Prices, Report: report,
	}
}

// changesByMachine groups changes, which are sorted, as the store keeps them.
func changesByMachine(changes []catalog.Change) (out []store.Change) {
	for i := 0; i < len(changes); {
		j := i + 1
		for j < len(changes) && changes[j].Provider == changes[i].Provider && changes[j].InstanceType == changes[i].InstanceType {
			j++
		}
		out = append(out, store.Change{
			Provider: changes[i].Provider, InstanceType: changes[i].InstanceType, Lines: catalog.ChangeLines(changes[i:j]),
		})
		i = j
	}
	return out
}
