package app

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// ownModels are the rows that the user added, a file each in the folder models of the user's data.
type ownModels struct {
	table  *model.Table      // with those that ship with the program
	files  map[string]string // by the model's name
	faults problem.List      // of files that cannot be read, which are left out
}

// Models is every known model, the user's own first.
func (a *App) Models() *model.Table { return a.own().table }

// ModelFaults are what is wrong with the user's own rows; those at fault are left out of Models.
func (a *App) ModelFaults() error { return a.own().faults.OrNil() }

// Model finds a model by name. Where it is not known, a row of the user's that cannot be read may be the one: its faults are told, too.
func (a *App) Model(name string) (*model.Model, error) {
	m, err := a.Models().Get(name)
	if err != nil {
		return nil, join(err, a.ModelFaults())
	}
	return m, nil
}

// modelsDir is the folder of the user's own rows.
func (a *App) modelsDir() (string, error) {
	dir, err := a.DataDir()
	return filepath.Join(dir, "models"), err
}

func (a *App) readOwnModels() ownModels {
	out := ownModels{table: model.Embedded(), files: map[string]string{}}
	dir, err := a.modelsDir()
	if err != nil {
		return out // nowhere to keep any
	}
	files, err := a.Files.Under(dir, ".json")
	if err != nil {
		out.faults = append(out.faults, unreadable(dir, err))
	}
	var rows []*model.Row
	for _, file := range files {
		if filepath.Dir(file) != dir { // the folder itself, where there is none, and what somebody put below it
			continue
		}
		r, err := a.readOwnModel(file)
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed just now
		case err != nil:
			out.faults = append(out.faults, problem.All(err)...)
		default:
			rows = append(rows, r)
			out.files[r.Model.Name] = file
		}
	}
	if len(rows) > 0 {
		out.table = out.table.With(rows...)
	}
	return out
}

func (a *App) readOwnModel(file string) (*model.Row, error) {
	data, err := a.Files.Read(file)
	if err != nil {
		return nil, unreadable(file, err)
	}
	r, err := model.ReadRow(file, data)
	if err != nil {
		return nil, err
	}
	if name := strings.TrimSuffix(filepath.Base(file), ".json"); name != r.Model.Name || model.CheckName(name) != nil {
		return nil, problem.New(problem.Input, "model.misnamed", problem.Args{"Name": r.Model.Name}).At(file, 1)
	}
	return r, nil
}

// unreadable is the problem of a file that the file system does not give.
func unreadable(path string, err error) *problem.Error {
	return problem.New(problem.Input, "cli.unreadable", problem.Args{"Path": path, "Error": reason(err)}).Wrap(err)
}

// ModelChange is what a command did to the user's models.
type ModelChange string

// The changes; none is empty.
const (
	ModelAdded    ModelChange = "added"
	ModelReplaced ModelChange = "replaced"
	ModelKnown    ModelChange = "known" // nothing: it was there already
)

// Known is a model with where it is kept.
type Known struct {
	*model.Model
	Own    bool
	File   string // of the user's own
	Change ModelChange
	// Hides says that the user's own stands before a built-in one of the same name.
	Hides bool
	// Packed says that the checkpoint holds several weights in one number, so that its count says nothing.
	Packed bool
}

// ShowModel finds a model by name.
func (a *App) ShowModel(name string) (*Known, error) {
	m, err := a.Model(name)
	if err != nil {
		return nil, err
	}
	return a.known(m), nil
}

func (a *App) known(m *model.Model) *Known {
	k := &Known{Model: m, Own: a.Models().Own(m), File: a.own().files[m.Name]}
	k.Hides = k.Own && model.Embedded().Named(m.Name) != nil
	return k
}

// ModelList is the models that hold a text.
type ModelList struct {
	Total, Own int // known in all, and of them the user's own
	Text       string
	Found      []*Known
}

// ListModels gives the models whose name, hub name or family holds a text, the user's own first.
func (a *App) ListModels(text string) *ModelList {
	out := &ModelList{Text: text, Total: len(a.Models().All()), Own: len(a.own().files)}
	text = strings.ToLower(text)
	for _, m := range a.Models().All() {
		if strings.Contains(strings.ToLower(m.Name+" "+m.HF+" "+m.Family), text) {
			out.Found = append(out.Found, a.known(m))
		}
	}
	return out
}
