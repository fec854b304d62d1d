package workload

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/yamltext"
)

// reader decodes one document and collects its faults.
type reader struct {
	facts Facts
	file  string // empty where everything came from flags
	open  func(path string) ([]byte, error)
	kind  Kind // empty where it is missing or unknown
	draft *draft

	// given holds the value nodes of the keys that were set, by path; good tells which of them could be read.
	given map[string]*yaml.Node
	good  map[string]bool
	// flags names the flag a node came from.
	flags map[*yaml.Node]string
	// bad nodes have been reported and are passed over.
	bad map[*yaml.Node]bool

	faults problem.List
	more   int // faults past maxFaults
}

func newReader(name string, open func(string) ([]byte, error), facts Facts) *reader {
	return &reader{
		facts: facts, file: name, open: open,
		given: map[string]*yaml.Node{}, good: map[string]bool{},
		flags: map[*yaml.Node]string{}, bad: map[*yaml.Node]bool{},
	}
}

// at reports a fault on a line of the file.
func (r *reader) at(line int, code string, args problem.Args) *problem.Error {
	e := problem.New(problem.Input, code, args)
	if r.file != "" {
		e.At(r.file, line)
	}
	return r.add(e)
}

// fault reports a fault at a node: its line, or its flag.
func (r *reader) fault(n *yaml.Node, code string, args problem.Args) *problem.Error {
	flag, ok := r.flags[n]
	if !ok {
		return r.at(n.Line, code, args)
	}
	args["Flag"] = "--" + flag
	return r.add(problem.New(problem.Input, code, args))
}

func (r *reader) add(e *problem.Error) *problem.Error {
	if len(r.faults) >= maxFaults {
		r.more++
	} else {
		r.faults = append(r.faults, e)
	}
	return e
}

// list gives the faults in the order of the input, those of flags first and by name.
func (r *reader) list() error {
	flag := func(e *problem.Error) string {
		name, _ := e.Args["Flag"].(string)
		return name
	}
	slices.SortStableFunc(r.faults, func(a, b *problem.Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(flag(a), flag(b)))
	})
	if r.more > 0 {
		last := r.faults[len(r.faults)-1]
		e := problem.New(problem.Input, codeTooManyFault, problem.Args{"Count": r.more})
		r.faults = append(r.faults, e.At(last.File, last.Line))
	}
	return r.faults.OrNil()
}

// text gives the text of a plain value, without surrounding space.
func (r *reader) text(f *Field, n *yaml.Node) (string, bool) {
	if r.bad[n] {
		return "", false
	}
	if n.Kind != yaml.ScalarNode {
		r.wrongType(f, n)
		return "", false
	}
	s := strings.TrimSpace(n.Value)
	if s == "" || n.ShortTag() == "!!null" {
		r.fault(n, codeEmptyValue, problem.Args{"Key": f.Path, "Type": f.Type, "Example": f.example(r.kind)})
		return "", false
	}
	if len(s) > maxText || strings.ContainsAny(s, "\n\r") {
		r.badValue(f, n, s)
		return "", false
	}
	return s, true
}

// maxText bounds one value; the longest honest one is a path.
const maxText = 4096

func (r *reader) wrongType(f *Field, n *yaml.Node) {
	if r.bad[n] {
		return
	}
	want := f.Type
	if f.List {
		want = "list"
	}
	r.fault(n, codeWrongType, problem.Args{"Key": f.Path, "Type": want, "Got": yamltext.Shape(n), "Example": f.example(r.kind)})
}

func (r *reader) badValue(f *Field, n *yaml.Node, text string) *problem.Error {
	return r.fault(n, codeBadValue, problem.Args{"Key": f.Path, "Value": clip(text), "Type": f.Type, "Example": f.example(r.kind)})
}

// unknownName reports a text that is none of the few known ones. What was probably meant comes first; where
// nothing is near and they are few, all are shown.
func (r *reader) unknownName(f *Field, n *yaml.Node, text string, known []string) {
	near := r.nearest(text, known)
	if len(near) == 0 && len(known) <= 12 {
		near = known
	}
	r.fault(n, codeUnknownName, problem.Args{"Key": f.Path, "Value": clip(text), "Type": f.Type}).With(near...)
}

// nearest is not looked for once the report is full, to keep a hostile file cheap.
func (r *reader) nearest(word string, known []string) []string {
	if len(r.faults) >= maxFaults {
		return nil
	}
	return problem.Nearest(word, known, 3)
}

// refused reports an error of the facts at a node. Its own codes are kept; the place and the key are added.
func (r *reader) refused(f *Field, n *yaml.Node, text string, err error) {
	var one *problem.Error
	var many problem.List
	if !errors.As(err, &one) && !errors.As(err, &many) {
		r.fault(n, codeUnknownName, problem.Args{"Key": f.Path, "Value": clip(text), "Type": f.Type}).Wrap(err)
		return
	}
	for _, e := range problem.All(err) {
		args := problem.Args{"Key": f.Path}
		for k, v := range e.Args {
			args[k] = v
		}
		here := r.fault(n, e.Code, args).With(e.Suggest...)
		here.Err = e.Err
	}
}

// clip keeps a text that goes into a message short.
func clip(s string) string {
	const most = 80
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return string(runes[:most-1]) + "…"
}
