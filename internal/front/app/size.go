package app

import (
	"path/filepath"
	"strings"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/plan"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// SizeRequest is what is to be sized: a model by itself, or a workload, on an accelerator or by itself.
type SizeRequest struct {
	Model    *model.Model
	Workload *workload.Workload
	Chip     *accelerator.Accelerator
	Count    int
}

// Size is what a model or workload needs.
type Size struct {
	Model    *model.Model       // nil where the work has none
	Workload *workload.Workload // nil for a model by itself
	Sizing   *plan.Sizing       // nil for a model by itself
}

// Size works out what a model or workload needs.
func (a *App) Size(q SizeRequest) (*Size, error) {
	out := &Size{Model: q.Model, Workload: q.Workload}
	if q.Workload == nil {
		return out, nil
	}
	out.Model = q.Workload.Model
	sizing, err := plan.SizeOf(plan.SizeInput{
		Workload: q.Workload, Curves: estimate.EmbeddedCurves(), Chip: q.Chip, Count: q.Count,
	})
	out.Sizing = sizing
	return out, err
}

// ModelFile counts a model from its config.json. It is named after the folder it lies in, as the hub lays models out.
func (a *App) ModelFile(path string) (*model.Model, error) {
	name, data, err := a.ReadInput(path)
	if err != nil {
		return nil, err
	}
	m, err := model.ParseConfig(name, data)
	if err == nil && (m.Name == "" || m.Name == name) {
		named := *m
		named.Name = modelName(path)
		m = &named
	}
	return m, err
}

func modelName(path string) string {
	dir := filepath.Base(filepath.Dir(path))
	if dir == "." || dir == string(filepath.Separator) || !strings.EqualFold(filepath.Base(path), "config.json") {
		return strings.TrimSuffix(filepath.Base(path), ".json")
	}
	return dir
}
