package app

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/fetch"
	"github.com/rackrate/rackrate/internal/connect/refresh"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/front/config"
)

// feedsFile is the name of the file of sources where the settings name none.
const feedsFile = "sources.yaml"

// Skipped is a source that is not read, and why.
type Skipped struct {
	Name string
	Why  error
}

// WantsCredentials says that it lacks nothing but those.
func (s Skipped) WantsCredentials() bool { return problem.All(s.Why)[0].Code == feed.CodeNoCredentials }

// configured gives every source that the user set and, with the defaults, every kind that the user did not. Base is the folder
// that the paths of each are relative to.
func (a *App) configured() (configs []feed.Config, err error) {
	path := a.Config.Text(config.Feeds)
	named := path != ""
	if !named {
		dir, err := os.UserConfigDir()
		if err != nil {
			return defaults(nil), nil // no home, no sources of the user's own
		}
		path = filepath.Join(dir, "rackrate", feedsFile)
	}
	data, err := a.Files.Read(path)
	switch {
	case os.IsNotExist(err) && !named:
		return defaults(nil), nil
	case err != nil:
		return nil, problem.New(problem.Input, "cli.unreadable", problem.Args{"Path": path, "Error": reason(err)}).Wrap(err)
	}
	configs, err = feed.ParseConfigs(path, data, makers())
	if err != nil {
		return nil, err
	}
	for i := range configs {
		if p := configs[i].Path; p != "" && !filepath.IsAbs(p) {
			configs[i].Path = filepath.Join(filepath.Dir(path), p)
		}
	}
	return defaults(configs), nil
}

// defaults adds the kinds that nothing was said of.
func defaults(configs []feed.Config) []feed.Config {
	for _, m := range makers() {
		if m.Layer == catalog.Contract {
			continue // there is none to be found
		}
		said := func(c feed.Config) bool { return c.Kind == m.Kind }
		if !slices.ContainsFunc(configs, said) {
			configs = append(configs, feed.Config{Name: m.Kind, Kind: m.Kind})
		}
	}
	return configs
}

// jobs makes the sources that are named, or all that can be read; those without credentials are skipped unless they are named.
func (a *App) jobs(names []string, w feed.World) (jobs []refresh.Job, skipped []Skipped, err error) {
	configs, err := a.configured()
	if err != nil {
		return nil, nil, err
	}
	var known []string
	for _, c := range configs {
		known = append(known, c.Name)
	}
	faults := problem.All(unknownSources(names, known))
	for _, c := range configs {
		named := slices.Contains(names, c.Name)
		if len(names) > 0 && !named || c.Off && !named {
			continue
		}
		maker := makerOf(c.Kind)
		source, err := maker.New(c, w)
		switch {
		case err == nil:
			jobs = append(jobs, refresh.Job{Name: c.Name, Layer: maker.Layer, Source: source, From: catalog.Source{
				ID: c.Name, Title: cmp.Or(maker.Title, filepath.Base(c.Path)), Reference: cmp.Or(filepath.ToSlash(c.Path), c.Endpoint, maker.Reference), Licence: maker.Licence,
			}})
		case !named && passed(c, err):
			skipped = append(skipped, Skipped{c.Name, err})
		default:
			faults = append(faults, problem.All(err)...)
		}
	}
	return jobs, skipped, faults.OrNil()
}

// passed says whether a source that cannot be made may be passed over where nobody named it: it has no credentials, or nothing was
// set of it, so that what is wrong (a file of another program's, for instance) is none of the user's settings.
func passed(c feed.Config, err error) bool {
	return c.File == "" || problem.All(err)[0].Code == feed.CodeNoCredentials
}

// world is what sources may touch.
func (a *App) world() (feed.World, error) {
	known, err := catalog.Embedded()
	if err != nil {
		return feed.World{}, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	return feed.World{
		HTTP: fetch.New(fetch.Options{Agent: "rackrate"}), Env: a.Env, Home: home, Read: a.Files.Read, List: listFiles, Now: a.clock,
		Chips: a.Chips(), Known: known,
	}, nil
}

// listFiles names the files in a folder and its folders, relative to it, with slashes, sorted.
func listFiles(folder string) ([]string, error) {
	var names []string
	err := fs.WalkDir(os.DirFS(folder), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasPrefix(d.Name(), ".") {
			names = append(names, name)
		}
		return err
	})
	return names, err
}
