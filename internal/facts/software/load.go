package software

import (
	"encoding/csv"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/rackrate/rackrate/internal/base/problem"
)

const file = "software.csv"

var columns = []string{"kind", "component", "version", "requirement", "value", "confidence", "as_of", "source"}

// requirements are the words of the file, and how the value of each is checked; nil is free text.
var requirements = map[string]func(string) bool{
	"alias": nil, "stacks": nil,
	"no_other_stack":         func(s string) bool { return s == "yes" }, // the list of stacks is complete
	"min_compute_capability": isVersion, "min_compute_capability_cuda_13": isVersion,
	"only_compute_capability": areVersions,
	"compute_capability":      isRange,   // of the chips that a CUDA toolkit builds for
	"any_release_up_to":       isVersion, // chips this old ran on the first release already
	"gfx":                     nil,       // AMD targets; a star ends a family
	"adds_gfx":                nil,
	"cuda_wheels":             areVersions, "rocm_wheels": areVersions, // toolkits that binaries are published for
	"built_for_cuda_12.6": areVersions, "built_for_cuda_12.8": areVersions, "built_for_cuda_12.9": areVersions,
	"built_for_rocm": nil,
	"cuda":           isVersion, "stable_cuda": isVersion, "experimental_cuda": isVersion, "cudnn": isVersion,
	"min_driver": isVersion, "min_driver_minor": isVersion, "max_cuda": isVersion, "optix_min_driver": isVersion,
	"python": nil, "python_range": nil, "torch": nil,
	"pytorch_versions": nil, "tensorflow_versions": nil, "jax_versions": nil,
}

// Load reads the facts from the file below fsys, and reports all its faults.
func Load(fsys fs.FS) (*Table, error) {
	f, err := fsys.Open(file)
	if err != nil {
		return nil, problem.List{problem.New(problem.Input, "data.unreadable", nil).At(file, 0).Wrap(err)}
	}
	defer f.Close()
	t := &Table{facts: map[component][]*Fact{}, names: map[component]string{}, ids: map[Kind][]string{}}
	faults := t.read(f)
	if err := faults.OrNil(); err != nil {
		return nil, err
	}
	for _, ids := range t.ids {
		slices.Sort(ids)
	}
	return t, nil
}

func (t *Table) read(from io.Reader) (faults problem.List) {
	r := csv.NewReader(from)
	r.FieldsPerRecord = -1 // counted here, so that a short row does not end the reading
	if header, err := r.Read(); err != nil || !slices.Equal(header, columns) {
		return problem.List{problem.New(problem.Input, "data.header",
			problem.Args{"Want": strings.Join(columns, ","), "Got": strings.Join(header, ",")}).At(file, 1)}
	}
	for {
		rec, err := r.Read()
		var syntax *csv.ParseError
		switch {
		case err == io.EOF:
			return faults
		case errors.As(err, &syntax):
			return append(faults, problem.New(problem.Input, "data.syntax", problem.Args{"Error": syntax.Err.Error()}).At(file, syntax.StartLine))
		case err != nil:
			return append(faults, problem.New(problem.Input, "data.unreadable", nil).At(file, 0).Wrap(err))
		}
		line, _ := r.FieldPos(0)
		for _, e := range t.add(rec) {
			faults = append(faults, e.At(file, line))
		}
	}
}

// add checks one record and keeps it when it is sound.
func (t *Table) add(rec []string) (faults problem.List) {
	if len(rec) != len(columns) {
		return problem.List{problem.New(problem.Input, "data.cells", problem.Args{"Want": len(columns), "Got": len(rec)})}
	}
	bad := func(column int, want string) {
		faults = append(faults, problem.New(problem.Input, "data.value",
			problem.Args{"Column": columns[column], "Value": rec[column], "Want": want}))
	}
	f := &Fact{
		Kind: Kind(rec[0]), Component: rec[1], Requirement: rec[3], Value: rec[4],
		Confidence: rec[5], AsOf: rec[6], Source: rec[7],
	}
	for i, cell := range rec {
		if cell == "" && columns[i] != "version" {
			faults = append(faults, problem.New(problem.Input, "data.missing", problem.Args{"Column": columns[i]}))
		}
	}
	if !slices.Contains([]Kind{Toolkit, GPUDriver, Framework, Need}, f.Kind) {
		bad(0, "toolkit|driver|framework|need")
	}
	versions, err := ParseConstraint(rec[2])
	if err != nil {
		bad(2, ">=2.4,<2.8")
	}
	f.Versions = versions
	if check, known := requirements[f.Requirement]; !known {
		bad(3, "requirements")
	} else if check != nil && !check(f.Value) {
		bad(4, f.Requirement)
	}
	if !slices.Contains([]string{"verified", "single-source", "unverified"}, f.Confidence) {
		bad(5, "verified|single-source|unverified")
	}
	if _, err := time.Parse(time.DateOnly, f.AsOf); err != nil {
		bad(6, "2026-01-31")
	}
	faults = append(faults, t.name(f)...)
	key := component{f.Kind, f.Component}
	t.facts[key] = append(t.facts[key], f)
	return faults
}

// name makes the component findable by its name and, for an alias row, by those. One name means one component.
func (t *Table) name(f *Fact) (faults problem.List) {
	names := []string{f.Component}
	if f.Requirement == "alias" {
		names = append(names, f.list()...)
	}
	if t.facts[component{f.Kind, f.Component}] == nil {
		t.ids[f.Kind] = append(t.ids[f.Kind], f.Component)
	}
	for _, n := range names {
		key := component{f.Kind, fold(n)}
		if other, taken := t.names[key]; taken && other != f.Component {
			faults = append(faults, problem.New(problem.Input, "data.duplicate", problem.Args{"Key": n}))
		}
		t.names[key] = f.Component
	}
	return faults
}

// list is the value's alternatives.
func (f *Fact) list() []string { return strings.Split(f.Value, "|") }

// span is the two ends of a value such as 5.0-12.1.
func (f *Fact) span() (low, high Version) {
	a, b, _ := strings.Cut(f.Value, "-")
	return mustVersion(a), mustVersion(b)
}

func isVersion(s string) bool { _, err := ParseVersion(s); return err == nil }

func areVersions(s string) bool {
	for v := range strings.SplitSeq(s, "|") {
		if !isVersion(v) {
			return false
		}
	}
	return true
}

func isRange(s string) bool {
	a, b, ok := strings.Cut(s, "-")
	return ok && isVersion(a) && isVersion(b)
}

// fold makes names comparable: lower case without spaces and punctuation.
func fold(s string) string {
	return strings.Map(func(c rune) rune {
		switch c {
		case ' ', '-', '_', '.', '/':
			return -1
		}
		return c
	}, strings.ToLower(s))
}
