// Package software holds which driver, toolkit and chip a framework or a kernel library needs, and answers
// whether it runs on an accelerator.
//
// Invariants: an answer that no source backs is unknown and says so, and an unverified row alone never rejects a
// chip; every row has a source, a date and a confidence. Pure: rows come from the embedded data. Imported by
// choose and above.
package software

import (
	"slices"
	"sync"

	"github.com/rackrate/rackrate/data"
	"github.com/rackrate/rackrate/internal/base/problem"
)

// Kind says what a row is about.
type Kind string

// The kinds of component.
const (
	Toolkit   Kind = "toolkit"   // CUDA, ROCm
	GPUDriver Kind = "driver"    // NVIDIA driver branches
	Framework Kind = "framework" // PyTorch, vLLM, Blender …
	Need      Kind = "need"      // a kernel library or hardware feature that a workload asks for
)

// Fact is one row: what one component at some versions requires or contains.
type Fact struct {
	Kind        Kind
	Component   string
	Versions    Constraint // of the component; an empty one is all
	Requirement string
	Value       string // alternatives between bars
	Confidence  string // verified, single-source, unverified
	Source      string
	AsOf        string
}

// settles says whether the row is well enough backed to reject something.
func (f *Fact) settles() bool { return f.Confidence != "unverified" }

// Table is all the facts. It is not changed once loaded.
type Table struct {
	facts map[component][]*Fact
	names map[component]string // by kind and folded name or alias, the component
	ids   map[Kind][]string    // sorted
}

type component struct {
	kind Kind
	name string
}

// Embedded is the table built into the program.
var Embedded = sync.OnceValue(func() *Table {
	t, err := Load(data.FS)
	if err != nil {
		panic(err) // the embedded file is checked by this package's tests
	}
	return t
})

// Facts lists the rows of a component by its exact name, in the order of the file.
func (t *Table) Facts(k Kind, name string) []*Fact { return slices.Clone(t.facts[component{k, name}]) }

// Frameworks lists the frameworks known, sorted.
func (t *Table) Frameworks() []string { return slices.Clone(t.ids[Framework]) }

// KnownNeeds lists the needs a workload may state, sorted.
func (t *Table) KnownNeeds() []string { return slices.Clone(t.ids[Need]) }

// FindFramework gives the canonical name of a framework, however people write it: torch, TRT-LLM. The error is
// software.unknown_framework with suggestions.
func (t *Table) FindFramework(text string) (string, error) {
	return t.find(Framework, text, "software.unknown_framework")
}

// FindNeed gives the canonical name of a need. The error is software.unknown_need with suggestions.
func (t *Table) FindNeed(text string) (string, error) {
	return t.find(Need, text, "software.unknown_need")
}

func (t *Table) find(k Kind, text, code string) (string, error) {
	if name, ok := t.names[component{k, fold(text)}]; ok {
		return name, nil
	}
	near := problem.Nearest(text, t.ids[k], 3)
	return "", problem.New(problem.Input, code, problem.Args{"Name": text}).With(near...)
}

// of gives the rows of a component with one requirement.
func (t *Table) of(k Kind, name, requirement string) []*Fact {
	var out []*Fact
	for _, f := range t.facts[component{k, name}] {
		if f.Requirement == requirement {
			out = append(out, f)
		}
	}
	return out
}

// at gives the row with one requirement that holds for a version.
func (t *Table) at(k Kind, name, requirement string, v Version) *Fact {
	for _, f := range t.of(k, name, requirement) {
		if f.Versions.Allows(v) {
			return f
		}
	}
	return nil
}
