// Package assumption holds what a full cost assumes where the user says nothing (tariffs, support plans, the life of a
// server, what one costs to buy), each with its source and day, and reads what the user says instead.
//
// Invariants: a figure nobody could source has no row and is unknown, never zero; what the user gives beats a row; a value
// keeps the currency it was quoted in. Pure: rows come from the embedded data/tco.yaml. Imported by choose and above.
package assumption

import (
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/rackrate/rackrate/data"
	"github.com/rackrate/rackrate/internal/base/problem"
)

// Confidence says how a value is backed.
type Confidence string

// The confidences, best first.
const (
	Listed    Confidence = "listed"    // the seller's own statement
	Secondary Confidence = "secondary" // a report of it
	Quoted    Confidence = "quoted"    // a press or blog figure, or one derived from such
	Supposed  Confidence = "supposed"  // a choice of ours that nothing outside backs
)

// Assumption is one value with where it came from.
type Assumption struct {
	Family *Family
	Of     string // the provider, country or accelerator it is for; empty for all
	Value  Value
	// Text is the value as it was written.
	Text string
	// AsOf, Source and Confidence back a row of ours; empty where the user gave the value.
	AsOf, Source string
	Confidence   Confidence
	// File and Line say where the user gave it; empty and 0 for a row of ours or a flag.
	File string
	Line int
}

// Given says that the user gave the value.
func (a *Assumption) Given() bool { return a.Source == "" }

// Key is how the assumption is written: support.aws.
func (a *Assumption) Key() string {
	if a.Of == "" {
		return a.Family.Name
	}
	return a.Family.Name + "." + a.Of
}

// Book is every assumption that holds.
type Book struct {
	rows, given map[string]*Assumption
}

// Get finds what holds for one provider, country or accelerator: what the user gave for it, or for all, else our row for it,
// or for all.
func (b *Book) Get(family, of string) (*Assumption, bool) {
	key := family + "." + of
	for _, find := range []struct {
		in  map[string]*Assumption
		key string
	}{{b.given, key}, {b.given, family}, {b.rows, key}, {b.rows, family}} {
		if a := find.in[find.key]; a != nil {
			return a, true
		}
	}
	return nil, false
}

// Rows lists our own rows of a family, by key.
func (b *Book) Rows(family string) []*Assumption {
	var out []*Assumption
	for _, key := range slices.Sorted(maps.Keys(b.rows)) {
		if a := b.rows[key]; a.Family.Name == family {
			out = append(out, a)
		}
	}
	return out
}

// Given lists what the user gave, by key.
func (b *Book) Given() []*Assumption {
	var out []*Assumption
	for _, key := range slices.Sorted(maps.Keys(b.given)) {
		out = append(out, b.given[key])
	}
	return out
}

// With is the book with further values of the user's laid over it; of two for one key the first holds.
func (b *Book) With(given ...*Assumption) *Book {
	out := &Book{rows: b.rows, given: maps.Clone(b.given)}
	for _, a := range given {
		if out.given[a.Key()] == nil {
			out.given[a.Key()] = a
		}
	}
	return out
}

// Embedded is the table built into the program.
var Embedded = sync.OnceValue(func() *Book {
	text, err := fs.ReadFile(data.FS, "tco.yaml")
	if err == nil {
		var b *Book
		if b, err = load("tco.yaml", text); err == nil {
			return b
		}
	}
	panic(err) // the embedded file is checked by this package's tests
})

// row is a row of the file.
type row struct {
	Key, Value, Confidence, Source string
	AsOf                           string `yaml:"as_of"`
}

func load(name string, text []byte) (*Book, error) {
	var file struct{ Values []row }
	if err := decode(text, &file); err != nil {
		return nil, problem.New(problem.Internal, "data.bad_file", problem.Args{"File": name}).Wrap(err)
	}
	b := &Book{rows: map[string]*Assumption{}, given: map[string]*Assumption{}}
	var faults problem.List
	for _, r := range file.Values {
		a, fault := read(r.Key, r.Value)
		if fault != nil {
			faults = append(faults, fault)
			continue
		}
		c := Confidence(r.Confidence)
		if !isDay(r.AsOf) || !slices.Contains([]Confidence{Listed, Secondary, Quoted, Supposed}, c) || strings.TrimSpace(r.Source) == "" || b.rows[r.Key] != nil {
			faults = append(faults, problem.New(problem.Internal, "data.value", problem.Args{"Column": r.Key, "Value": r.AsOf, "Want": "as_of, confidence, source"}))
			continue
		}
		a.AsOf, a.Confidence, a.Source = r.AsOf, c, r.Source
		b.rows[r.Key] = a
	}
	return b, faults.OrNil()
}
