package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/connect/fetch"
	"github.com/rackrate/rackrate/internal/connect/hub"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// AddRequest is a model to bring in: from a hub, or from the config.json of a file.
type AddRequest struct {
	From     string // hf:ORG/NAME, ms:ORG/NAME or a path
	Revision string // of a hub; empty is its default, or the one that From names
	Name     string // empty: after the hub's name or the file's folder
	Force    bool   // even where it is known, or the name is taken
}

// hubPatience is the longest that a hub is waited for in all.
const hubPatience = 3 * time.Minute

// AddModel brings a model into the user's data and counts it. One that is known already is left as it is, unless forced.
func (a *App) AddModel(ctx context.Context, q AddRequest) (*Known, error) {
	if q.Name != "" {
		if err := model.CheckName(q.Name); err != nil {
			return nil, err
		}
	}
	if !model.IsRef(q.From) {
		return a.addFile(q)
	}
	ref, err := model.ParseRef(q.From)
	if err == nil && q.Revision != "" {
		ref, err = ref.At(q.Revision)
	}
	if err != nil {
		return nil, err
	}
	if m, err := a.Models().Get(ref.String()); err == nil && !q.Force {
		k := a.known(m)
		k.Change = ModelKnown
		return k, nil
	}
	d := model.Draft{Name: q.Name, AsOf: a.Today, Confidence: accelerator.SingleSource}
	if d.Name == "" {
		if d.Name = ref.DefaultName(); model.CheckName(d.Name) != nil {
			return nil, problem.New(problem.Input, "model.needs_name", problem.Args{"Path": ref.String()})
		}
	}
	if err := a.freeName(d.Name, q.Force); err != nil {
		return nil, err
	}
	card, err := a.ask(ctx, ref)
	if err != nil {
		return nil, err
	}
	d.License, d.Source, d.Checkpoint, d.Config = card.License, card.Source, card.Parameters, card.Config
	d.File = strings.TrimSuffix(card.Source, " config.json") + "/config.json"
	if ref.Hub == model.HuggingFace {
		d.HF = card.Name
	} else {
		d.Aliases = []string{card.Name}
	}
	k, err := a.keep(d, q.Force)
	if err == nil {
		k.Packed = card.Packed
	}
	return k, err
}

// ask asks a hub.
func (a *App) ask(ctx context.Context, ref model.Ref) (*hub.Card, error) {
	limited, cancel := context.WithTimeout(ctx, hubPatience)
	defer cancel()
	client := fetch.New(fetch.Options{Agent: "rackrate", Stall: 30 * time.Second})
	defer client.Close()
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // then nobody has signed in there
	}
	card, err := hub.Fetch(limited, hub.World{HTTP: client, Env: a.Env, Home: home, Read: a.Files.Read}, ref)
	if err != nil && ctx.Err() != nil {
		return nil, done(ctx)
	}
	return card, err
}

// addFile brings in a model from its config.json, which is named after its folder, as the hub lays models out.
func (a *App) addFile(q AddRequest) (*Known, error) {
	if q.Revision != "" {
		return nil, problem.New(problem.Input, "model.file_revision", problem.Args{"Path": q.From})
	}
	name, data, err := a.ReadInput(q.From)
	if errors.Is(err, fs.ErrNotExist) {
		if ref, bad := model.ParseRef(string(model.HuggingFace) + ":" + q.From); bad == nil {
			return nil, problem.All(err)[0].With(ref.String())
		}
	}
	if err != nil {
		return nil, err
	}
	d := model.Draft{
		Name: q.Name, AsOf: a.Today, Confidence: accelerator.Unverified, Config: data, File: name, Source: filepath.ToSlash(name),
	}
	if d.Name == "" {
		d.Name = strings.ToLower(modelName(q.From))
		if d.Name == "config" || model.CheckName(d.Name) != nil {
			return nil, problem.New(problem.Input, "model.needs_name", problem.Args{"Path": name})
		}
	}
	if err := a.freeName(d.Name, q.Force); err != nil {
		return nil, err
	}
	return a.keep(d, q.Force)
}

// freeName refuses a name that another model has.
func (a *App) freeName(name string, force bool) error {
	m := a.Models().Named(name)
	if m == nil || force {
		return nil
	}
	own := ""
	if a.Models().Own(m) {
		own = name
	}
	return problem.New(problem.Input, "model.name_taken", problem.Args{"Name": name, "Own": own})
}

// keep counts a model and writes its row.
func (a *App) keep(d model.Draft, force bool) (*Known, error) {
	r, text, err := d.Row()
	if err != nil {
		return nil, err
	}
	dir, err := a.modelsDir()
	if err != nil {
		return nil, err
	}
	if err := a.Files.Folder(dir); err != nil {
		return nil, problem.New(problem.Internal, "cli.cannot_write", problem.Args{"Error": err.Error()}).Wrap(err)
	}
	change := ModelAdded
	file := filepath.Join(dir, d.Name+".json")
	err = a.Files.Create(file, text, false)
	if errors.Is(err, fs.ErrExist) && force {
		change = ModelReplaced
		err = a.Files.Create(file, text, true)
	}
	switch {
	case errors.Is(err, fs.ErrExist): // a file that cannot be read, or of somebody who was faster
		return nil, problem.New(problem.Input, "model.name_taken", problem.Args{"Name": d.Name, "Own": d.Name})
	case err != nil:
		return nil, problem.New(problem.Internal, "cli.cannot_write", problem.Args{"Error": err.Error()}).Wrap(err)
	}
	a.forgetModels()
	k := a.known(r.Model)
	k.Change = change
	return k, nil
}

// RemoveModel takes one of the user's own rows away, in whatever state it is, and gives its file.
func (a *App) RemoveModel(name string) (file string, err error) {
	dir, err := a.modelsDir()
	if err != nil {
		return "", err
	}
	file = filepath.Join(dir, name+".json")
	if err = model.CheckName(name); err == nil {
		err = a.Files.Remove(file)
	}
	switch {
	case err == nil:
		a.forgetModels()
		return file, nil
	case !errors.Is(err, fs.ErrNotExist) && model.CheckName(name) == nil:
		return "", problem.New(problem.Internal, "cli.cannot_write", problem.Args{"Error": err.Error()}).Wrap(err)
	case a.Models().Named(name) != nil:
		return "", problem.New(problem.Input, "model.built_in", problem.Args{"Name": name})
	}
	var names []string
	for own := range a.own().files {
		names = append(names, own)
	}
	return "", problem.New(problem.NoMatch, "model.not_own", problem.Args{"Name": name}).With(problem.Nearest(name, names, 3)...)
}

// forgetModels lets the user's rows be read anew.
func (a *App) forgetModels() { a.own = sync.OnceValue(a.readOwnModels) }
