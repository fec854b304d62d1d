package wire

import (
	"github.com/rackrate/rackrate/internal/facts/model"
	"github.com/rackrate/rackrate/internal/front/app"
)

// The contracts of model show, add and remove, and of model list.
const (
	ModelSchema  = "rackrate.model/v1"
	ModelsSchema = "rackrate.models/v1"
)

// KnownModel is one model with where it is kept and what it was checked against.
type KnownModel struct {
	Schema      string        `json:"schema"`
	Change      *string       `json:"change"`
	Model       ListedModel   `json:"model"`
	Shape       *Model        `json:"shape"`
	Parameters  *model.Params `json:"parameters"`
	MTP         int64         `json:"multi_token_prediction_parameters"`
	Check       *ModelCheck   `json:"check"`
	KVPerToken  *float64      `json:"kv_bytes_per_token"`
	KVPerToken8 *float64      `json:"kv_bytes_per_token_8bit"`
	Weights     []Weights     `json:"weights"`
	Source      *string       `json:"source"`
	License     *string       `json:"license"`
	File        *string       `json:"file"`
}

// ModelCheck holds the count against the published checkpoint's.
type ModelCheck struct {
	Counted   int64    `json:"counted"`
	Published int64    `json:"published"`
	Gap       *float64 `json:"gap"` // as a share of the published
	Holds     bool     `json:"holds"`
}

// ListedModel is a model in a list.
type ListedModel struct {
	Name       string   `json:"name"`
	Own        bool     `json:"own"`
	HF         *string  `json:"hf"`
	Family     *string  `json:"family"`
	Class      string   `json:"class"`
	Parameters int64    `json:"parameters"`
	Active     int64    `json:"active_parameters"`
	Context    *float64 `json:"max_context"`
	Format     *string  `json:"native_format"`
	AsOf       string   `json:"as_of"`
	Confidence string   `json:"confidence"`
}

// ModelList is the answer of model list.
type ModelList struct {
	Schema  string        `json:"schema"`
	Total   int           `json:"total"`
	Own     int           `json:"own"`
	Matched int           `json:"matched"`
	Models  []ListedModel `json:"models"`
}

// ListedModelOf gives the JSON of a model in a list.
func ListedModelOf(k *app.Known) ListedModel {
	return ListedModel{
		Name: k.Name, Own: k.Own, HF: text(k.HF), Family: text(k.Family), Class: string(k.Class), Parameters: k.Params.Total, Active: k.Params.Active,
		Context: positive(float64(k.MaxContext)), Format: text(string(k.NativeFormat)), AsOf: k.AsOf, Confidence: k.Confidence,
	}
}

// ModelCheckOf gives the JSON of the check; null where nothing was published.
func ModelCheckOf(m *model.Model) *ModelCheck {
	gap, known := m.CheckpointGap()
	if !known {
		return nil
	}
	return &ModelCheck{Counted: m.Params.Total, Published: m.Published.Or(0), Gap: number(gap, 6), Holds: m.CountHolds()}
}
