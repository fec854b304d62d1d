package app

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/feed/contract"
	"github.com/rackrate/rackrate/internal/connect/refresh"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/catalog/intake"
)

// ImportRequest says which files to bring in, and what they do not say themselves.
type ImportRequest struct {
	Paths         []string       // files, or folders of them
	Provider      string         // of rows that name none
	Currency      money.Currency // of prices that name none
	AsOf          string         // ISO day that the prices are of; empty: the day the file was last changed
	Name          string         // of the source, where one file is brought in
	DryRun, Force bool
	Watch         Watch
}

// Imported is what became of each file. Skipped are files of a folder that hold no prices.
type Imported struct {
	Updated
	Paths []string // of the results
}

// priceFiles are the endings of files that may hold prices or a contract.
var priceFiles = []string{".csv", ".csv.gz", ".yaml", ".yml", ".zip"}

// ImportCatalog brings files of prices into the store, each as a source of its own.
func (a *App) ImportCatalog(ctx context.Context, q ImportRequest) (*Imported, error) {
	w, err := a.world()
	if err != nil {
		return nil, err
	}
	defer w.HTTP.Close()
	faults, err := a.importName(q.Name)
	if err != nil {
		return nil, err
	}
	var jobs []refresh.Job
	var paths []string
	listed := map[string]bool{} // found in a folder, not named
	for _, path := range q.Paths {
		files, err := a.Files.Under(path, priceFiles...)
		if err != nil {
			faults = append(faults, unreadable(path, err))
			continue
		}
		if len(files) == 0 {
			faults = append(faults, problem.New(problem.Input, "cli.no_files", problem.Args{"Path": path, "Endings": priceFiles}))
		}
		for _, file := range files {
			job, err := a.importJob(path, file, q, w)
			if err != nil {
				faults = append(faults, problem.All(err)...)
				continue
			}
			if slices.ContainsFunc(jobs, func(j refresh.Job) bool { return j.Name == job.Name }) {
				faults = append(faults, problem.New(problem.Input, "cli.two_of_a_name", problem.Args{"Path": file, "Name": job.Name}))
				continue
			}
			jobs, paths = append(jobs, job), append(paths, file)
			listed[job.Name] = file != path
		}
	}
	if err := faults.OrNil(); err != nil {
		return nil, err
	}
	results, err := a.refresh(ctx, jobs, refresh.Options{DryRun: q.DryRun, Force: q.Force, Watch: q.Watch})
	if err != nil {
		return nil, err
	}
	out := &Imported{Updated: Updated{DryRun: q.DryRun}}
	for i, r := range results {
		if r.Err != nil && listed[r.Job.Name] && problem.All(r.Err)[0].Code == intake.CodeNotPrices {
			out.Skipped = append(out.Skipped, Skipped{r.Job.Name, r.Err})
			continue
		}
		out.Results, out.Paths = append(out.Results, r), append(out.Paths, paths[i])
	}
	return out, nil
}

// importName is what is wrong with the name that the user gave: a source that updates read is none of files.
func (a *App) importName(name string) (problem.List, error) {
	if name == "" {
		return nil, nil
	}
	configs, err := a.configured()
	if err != nil {
		return nil, err
	}
	var taken []string
	for _, c := range configs {
		taken = append(taken, c.Name)
	}
	if bad := feed.CheckName(name, taken); bad != nil {
		return problem.List{bad}, nil
	}
	return nil, nil
}

// importJob is one file as a source.
func (a *App) importJob(root, file string, q ImportRequest, w feed.World) (refresh.Job, error) {
	day := q.AsOf
	if day == "" && file != "-" {
		changed, err := a.Files.Modified(file)
		if err != nil {
			return refresh.Job{}, unreadable(file, err)
		}
		day = min(changed.UTC().Format(time.DateOnly), a.Today) // a clock that was ahead makes no price of tomorrow
	}
	job := refresh.Job{Name: q.Name, Layer: catalog.Copy, AsOf: day, Once: true, Source: &priceFile{a, file, q}}
	if job.Name == "" {
		job.Name = sourceName(root, file)
	}
	if ext := filepath.Ext(file); ext == ".yaml" || ext == ".yml" {
		source, err := contract.Maker.New(feed.Config{Name: job.Name, Kind: contract.Maker.Kind, Path: file}, w)
		if err != nil {
			return refresh.Job{}, err
		}
		job.Source, job.Layer = source, catalog.Contract
	}
	job.From = catalog.Source{ID: job.Name, Title: filepath.Base(file), Reference: filepath.ToSlash(file), Licence: "not stated"}
	return job, nil
}

// priceFile reads a file of prices as a source.
type priceFile struct {
	app  *App
	path string
	q    ImportRequest
}

// Fetch reads the file.
func (f *priceFile) Fetch(ctx context.Context, to feed.Sink) error {
	name, data, err := f.app.ReadTable(f.path)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	known, err := catalog.Embedded()
	if err != nil {
		return err
	}
	return intake.Read(name, bytes.NewReader(data), to, intake.ReadOptions{
		Provider: f.q.Provider, Providers: f.app.Providers(), Currency: f.q.Currency, Dated: f.q.AsOf != "", Chips: f.app.Chips(), Known: known,
	})
}

// sourceName is the name of a file's source: its place below what was named, without its ending.
func sourceName(root, file string) string {
	name := file
	if rel, err := filepath.Rel(root, file); err == nil && rel != "." {
		name = filepath.Join(filepath.Base(root), rel)
	} else if dir := filepath.Base(filepath.Dir(file)); dir != "." && dir != string(filepath.Separator) {
		name = filepath.Join(dir, filepath.Base(file))
	}
	name = filepath.ToSlash(name)
	for _, end := range []string{".gz", ".csv", ".yaml", ".yml", ".zip"} {
		name = strings.TrimSuffix(name, end)
	}
	return "file:" + strings.ReplaceAll(name, ",", "_") // lists of sources are cut at commas
}
