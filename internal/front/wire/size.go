package wire

import (
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/facts/model"
	"github.com/rackrate/rackrate/internal/front/say"
)

// SizeSchema names the contract of size.
const SizeSchema = "rackrate.size/v1"

// Size is the answer of size. What a model by itself does not have is null.
type Size struct {
	Schema      string        `json:"schema"`
	Model       *Model        `json:"model"`
	Parameters  *model.Params `json:"parameters"`
	Weights     []Weights     `json:"weights"`
	KVPerToken  *float64      `json:"kv_bytes_per_token"`
	KVPerToken8 *float64      `json:"kv_bytes_per_token_8bit"`
	Workload    any           `json:"workload"`
	Needs       *Needs        `json:"needs"`
	On          *SizeOn       `json:"on"`
}

// Model is a network's shape.
type Model struct {
	Name         string  `json:"name"`
	Class        string  `json:"class"`
	Layers       int     `json:"layers"`
	Hidden       int     `json:"hidden"`
	Heads        int     `json:"heads"`
	Vocab        int     `json:"vocab"`
	MaxContext   int     `json:"max_context"`
	NativeFormat string  `json:"native_format"`
	Published    *int64  `json:"published_parameters"`
	Source       *string `json:"source"`
	// Notes are the codes of what was assumed or left out in counting.
	Notes []string `json:"notes"`
}

// Weights is what all weights take in one stored format.
type Weights struct {
	Format string `json:"format"`
	Bytes  int64  `json:"bytes"`
}

// SizeOn is a workload on a number of accelerators: the memory of the fullest one, or by how much it does not fit.
type SizeOn struct {
	Accelerator  string           `json:"accelerator"`
	Accelerators int              `json:"accelerators"`
	Fits         bool             `json:"fits"`
	Reason       *string          `json:"reason"`
	ShortBytes   *float64         `json:"short_by_bytes"`
	Layout       *estimate.Layout `json:"layout"`
	Memory       *Memory          `json:"memory"`
	Speed        *Speed           `json:"speed"`
	Checkpoint   *float64         `json:"checkpoint_bytes"`
	Notes        []Message        `json:"notes"`
}

// ModelOf gives the JSON of a model's shape.
func ModelOf(m *model.Model) *Model {
	out := &Model{
		Name: m.Name, Class: string(m.Class), Layers: m.Layers, Hidden: m.Hidden, Heads: m.Heads, Vocab: m.Vocab,
		MaxContext: m.MaxContext, NativeFormat: string(m.NativeFormat), Source: text(m.Source), Notes: say.ModelNotes(m),
	}
	if n, ok := m.Published.Get(); ok {
		out.Published = &n
	}
	return out
}

// Positive is a figure of which zero means that there is none, or null.
func Positive(v float64) *float64 { return positive(v) }

// SizeOnOf gives the JSON of a workload on accelerators.
func SizeOnOf(g estimate.Group, e *estimate.Estimate, r *estimate.Refusal, s *Speaker) *SizeOn {
	out := &SizeOn{Accelerator: g.Chip.Name, Accelerators: g.Accelerators(), Fits: e != nil, Notes: []Message{}}
	if r != nil {
		out.Reason = text(string(r.Reason))
		if r.Reason == estimate.NoMemory {
			out.ShortBytes = positive(float64(unit.Bytes(r.Want - r.Have)))
		}
	}
	if e != nil {
		m, v := FromMemory(e.Memory), FromSpeed(*e)
		out.Layout, out.Memory, out.Speed = &e.Layout, &m, &v
		out.Checkpoint, out.Notes = positive(float64(e.Checkpoint)), NotesOf(e.Notes, s)
	}
	return out
}
