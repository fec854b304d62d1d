package model

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"strings"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

// Tolerance is how far a count may be from the checkpoint's, as a share, before somebody should look.
const Tolerance = 0.01

// Draft is a model that a user brings in, before it is counted.
type Draft struct {
	Name    string
	HF      string   // organisation/name on Hugging Face; empty for one from elsewhere
	Aliases []string // organisation/name on another hub
	License string
	Source  string
	AsOf    string // ISO date
	// Confidence is what the source is worth by itself; a checkpoint's own count raises or lowers it.
	Confidence accelerator.Confidence
	// Checkpoint is the parameters that the checkpoint itself counts; unknown where it counts packed numbers, or not at all.
	Checkpoint unit.Maybe[int64]
	Config     []byte // config.json
	File       string // where Config stands, for the places of faults
}

// row is a row of the table as it is written; the reader is readRow.
type row struct {
	Name       string          `json:"name"`
	HF         string          `json:"hf,omitempty"`
	Aliases    []string        `json:"aliases,omitempty"`
	Published  int64           `json:"published,omitempty"`
	License    string          `json:"license,omitempty"`
	Source     string          `json:"source"`
	AsOf       string          `json:"as_of"`
	Confidence string          `json:"confidence"`
	Config     json.RawMessage `json:"config"`
}

// Row counts the model and gives its row, as the table keeps rows: one line of JSON. The whole configuration is kept, so that the
// model can be counted anew by a later version. Faults are those of the configuration, at its file.
func (d Draft) Row() (*Row, []byte, error) {
	m, err := ParseConfig(d.File, d.Config)
	if err != nil {
		return nil, nil, err
	}
	m.Published = d.Checkpoint
	confidence := d.Confidence
	if m.Published.Known() {
		confidence = accelerator.Unverified
		if m.CountHolds() {
			confidence = accelerator.Verified
		}
	}
	var config bytes.Buffer
	if err := json.Compact(&config, bytes.TrimPrefix(d.Config, []byte("\xef\xbb\xbf"))); err != nil {
		return nil, nil, err
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(row{
		Name: d.Name, HF: d.HF, Aliases: d.Aliases, Published: d.Checkpoint.Or(0), License: d.License,
		Source: d.Source, AsOf: d.AsOf, Confidence: string(confidence), Config: config.Bytes(),
	}); err != nil {
		return nil, nil, err
	}
	r, err := ReadRow(d.File, text.Bytes())
	return r, text.Bytes(), err
}

// ReadRow reads a user's own row. Unlike in the table's file, a configuration may have keys that nothing reads. All faults
// come together, at the file.
func ReadRow(file string, data []byte) (*Row, error) {
	text, fault := decodeText(file, data)
	if fault != nil {
		return nil, problem.List{fault}
	}
	root, faults, whole := parseJSON(file, text, 1)
	if !whole {
		return nil, faults
	}
	r, bad := readRow(file, root, false)
	if faults = append(faults, bad...); len(faults) > 0 {
		return nil, faults
	}
	return r, nil
}

// CheckpointGap is by how much the count is above that of the published checkpoint, as a share of it; below is negative. A
// checkpoint may hold the multi-token-prediction layers that the count leaves out: the nearer of the two counts.
func (m *Model) CheckpointGap() (share float64, known bool) {
	published, known := m.Published.Get()
	if !known {
		return 0, false
	}
	gap := func(n int64) float64 { return float64(n-published) / float64(published) }
	plain, whole := gap(m.Params.Total), gap(m.Params.Total+m.MTP)
	if math.Abs(whole) < math.Abs(plain) {
		return whole, true
	}
	return plain, true
}

// CountHolds says that the count and the published checkpoint agree within Tolerance.
func (m *Model) CountHolds() bool {
	gap, known := m.CheckpointGap()
	return known && math.Abs(gap) <= Tolerance
}

// With gives the table with rows of a user's own. Where one has the name or the hub name of a model of the table, the user's is
// meant by it; the part of a hub name after the organisation is the user's only where nobody else has it.
func (t *Table) With(own ...*Row) *Table {
	out := &Table{byName: maps.Clone(t.byName), pointless: maps.Clone(t.pointless), own: map[string]bool{}}
	mine := map[string]bool{}
	claim := func(name string, m *Model) {
		if key := foldName(name); key != "" && !mine[key] {
			mine[key], out.byName[key], out.pointless[strings.ReplaceAll(key, ".", "")] = true, m, m
		}
	}
	for _, r := range own {
		claim(r.Model.Name, r.Model)
		out.own[r.Model.Name] = true
		out.models = append(out.models, r.Model)
	}
	named := maps.Clone(mine)
	for _, r := range own {
		claim(r.Model.HF, r.Model)
		for _, alias := range r.Aliases {
			claim(alias, r.Model)
		}
	}
	for _, r := range own {
		if short := hubName(r.Model.HF); out.byName[foldName(short)] == nil {
			claim(short, r.Model)
		}
	}
	for _, m := range t.models {
		if !named[foldName(m.Name)] {
			out.models = append(out.models, m)
		}
	}
	for _, m := range out.models {
		out.names = append(out.names, m.Name)
	}
	return out
}

// Own says whether a model is one of the user's own.
func (t *Table) Own(m *Model) bool { return t.own[m.Name] }

// Named gives the model of exactly this name; nil where there is none.
func (t *Table) Named(name string) *Model {
	if m := t.byName[foldName(name)]; m != nil && m.Name == name {
		return m
	}
	return nil
}
