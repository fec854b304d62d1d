// Package strict reads the files that teams write about prices: keys that it knows, in YAML without anchors and tags, with
// every fault of a file at once, each with its line.
//
// Invariants: nothing unknown is skipped; a hostile file is cheap. Pure. Imported by anyone above facts.
package strict

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/yamltext"
)

// Limits on what is read: far above any honest file.
const (
	maxFile  = 1 << 20
	maxDepth = 8
	// maxFaults bounds the report; past it a file is another kind of file.
	maxFaults = 100
)

// The codes of what is wrong with a file as a whole.
const (
	codeTooLarge  = "file.too_large" // Size, Limit: bytes
	codeEncoding  = "file.encoding"  // Encoding, as yamltext says it
	codeControl   = "file.control"   // Char
	codeEmpty     = "file.empty"
	codeSyntax    = "file.syntax"   // Detail: the parser's own words
	codeTooDeep   = "file.too_deep" // Limit
	codeDocuments = "file.documents"
)

var codes = map[yamltext.Kind]string{
	yamltext.TooLarge: codeTooLarge, yamltext.Encoding: codeEncoding, yamltext.Control: codeControl, yamltext.Empty: codeEmpty,
	yamltext.Syntax: codeSyntax, yamltext.TooDeep: codeTooDeep, yamltext.Documents: codeDocuments,
}

// File is a file being read, with its faults so far.
type File struct {
	Name   string
	faults problem.List
}

// Load gives the node of a file's one document, and a file to note further faults in; nil where there is nothing to go on with.
func Load(name string, data []byte) (*File, *yaml.Node) {
	f := &File{Name: name}
	root, faults := yamltext.Load(data, maxFile, maxDepth)
	for _, bad := range faults {
		f.Add(problem.New(problem.Input, codes[bad.Kind], problem.Args(bad.Args)), bad.Line)
	}
	if root == nil {
		return f, nil
	}
	if before := len(f.faults); f.tricks(root) || len(f.faults) > before {
		return f, nil
	}
	return f, root
}

// tricks refuses anchors, aliases and tags: such files have no use for them, and aliases let a small file stand for a huge one.
func (f *File) tricks(n *yaml.Node) bool {
	name := ""
	switch {
	case n.Kind == yaml.AliasNode:
		name = "*" + n.Value
	case n.Anchor != "":
		name = "&" + n.Anchor
	case n.Style&yaml.TaggedStyle != 0:
		name = n.Tag
	}
	if name != "" {
		f.Add(problem.New(problem.Input, "file.trick", problem.Args{"Name": name}), n.Line)
	}
	bad := name != ""
	if n.Kind != yaml.AliasNode {
		for _, c := range n.Content {
			bad = f.tricks(c) || bad
		}
	}
	return bad
}

// Add notes a fault on a line and gives it back.
func (f *File) Add(p *problem.Error, line int) *problem.Error {
	f.faults = append(f.faults, p.At(f.Name, line))
	return p
}

// Join notes faults that have their places already.
func (f *File) Join(err error) { f.faults = append(f.faults, problem.All(err)...) }

// Count is the number of faults so far.
func (f *File) Count() int { return len(f.faults) }

// Err is all the faults, in the order of the lines; nil where there are none.
func (f *File) Err() error {
	slices.SortStableFunc(f.faults, func(a, b *problem.Error) int { return a.Line - b.Line })
	return f.faults[:min(len(f.faults), maxFaults)].OrNil()
}

// Map is the entries of a mapping. Where is what it is called in faults; empty for the file.
type Map struct {
	File  *File
	Where string
	Line  int
	Keys  []string // in the order of the file
	nodes map[string]*yaml.Node
	lines map[string]int
}

// Map reads a mapping; known are the keys that it may have, none for any. A key with a wrong name or twice is a fault, and the
// others stand.
func (f *File) Map(n *yaml.Node, where string, known ...string) *Map {
	m := &Map{File: f, Where: where, Line: n.Line, nodes: map[string]*yaml.Node{}, lines: map[string]int{}}
	if n.Kind != yaml.MappingNode {
		f.Add(problem.New(problem.Input, "file.not_mapping", problem.Args{"Key": where}), n.Line)
		return m
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		switch {
		case k.Kind != yaml.ScalarNode || strings.TrimSpace(k.Value) == "":
			f.Add(problem.New(problem.Input, "file.key_not_text", nil), k.Line)
		case m.nodes[k.Value] != nil:
			f.Add(problem.New(problem.Input, "file.twice", problem.Args{"Key": m.path(k.Value), "First": m.lines[k.Value]}), k.Line)
		case len(known) > 0 && !slices.Contains(known, k.Value):
			f.Add(problem.New(problem.Input, "file.unknown_key", problem.Args{"Key": m.path(k.Value), "Known": known}).
				With(problem.Nearest(k.Value, known, 2)...), k.Line)
		default:
			m.Keys = append(m.Keys, k.Value)
			m.nodes[k.Value], m.lines[k.Value] = v, k.Line
		}
	}
	return m
}

func (m *Map) path(key string) string {
	if m.Where == "" {
		return key
	}
	return m.Where + "." + key
}

// Has says whether a key is there.
func (m *Map) Has(key string) bool { return m.nodes[key] != nil }

// LineOf is the line of a key, or of the mapping where it has none.
func (m *Map) LineOf(key string) int {
	if line := m.lines[key]; line > 0 {
		return line
	}
	return m.Line
}

// Bad notes that a key's value cannot be read; example is one that could.
func (m *Map) Bad(key, value, example string) *problem.Error {
	if r := []rune(value); len(r) > 60 {
		value = string(r[:60]) + "…"
	}
	return m.File.Add(problem.New(problem.Input, "file.bad_value", problem.Args{"Key": m.path(key), "Value": value, "Example": example}), m.LineOf(key))
}

// Missing notes that a key has to be there.
func (m *Map) Missing(key, example string) {
	m.File.Add(problem.New(problem.Input, "file.missing", problem.Args{"Key": m.path(key), "Example": example}), m.Line)
}

func (m *Map) shape(key string, n *yaml.Node, want string) {
	m.File.Add(problem.New(problem.Input, "file.shape", problem.Args{"Key": m.path(key), "Want": want, "Got": yamltext.Shape(n)}), m.LineOf(key))
}

// Text is a plain value; empty where the key is not there.
func (m *Map) Text(key string) string {
	n := m.nodes[key]
	if n == nil {
		return ""
	}
	return m.scalar(key, n)
}

func (m *Map) scalar(key string, n *yaml.Node) string {
	switch text := strings.TrimSpace(n.Value); {
	case n.Kind != yaml.ScalarNode:
		m.shape(key, n, "text")
	case text == "" || n.ShortTag() == "!!null":
		m.File.Add(problem.New(problem.Input, "file.empty_value", problem.Args{"Key": m.path(key)}), n.Line)
	default:
		return text
	}
	return ""
}

// Texts is a list of plain values, or one of them.
func (m *Map) Texts(key string) []string {
	n := m.nodes[key]
	switch {
	case n == nil:
		return nil
	case n.Kind == yaml.MappingNode:
		m.shape(key, n, "list")
		return nil
	case n.Kind == yaml.ScalarNode:
		return nonEmpty(m.scalar(key, n))
	case len(n.Content) == 0: // it would be read as nothing, or as everything
		m.File.Add(problem.New(problem.Input, "file.empty_value", problem.Args{"Key": m.path(key)}), n.Line)
	}
	var all []string
	for _, c := range n.Content {
		all = append(all, nonEmpty(m.scalar(key, c))...)
	}
	return all
}

func nonEmpty(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// Yes is a value of true or false; false where the key is not there.
func (m *Map) Yes(key string) bool {
	switch text := m.Text(key); text {
	case "true":
		return true
	case "", "false":
	default:
		m.Bad(key, text, "true")
	}
	return false
}

// Sub is the mapping under a key; nil where the key is not there.
func (m *Map) Sub(key string, known ...string) *Map {
	n := m.nodes[key]
	if n == nil {
		return nil
	}
	return m.File.Map(n, m.path(key), known...)
}

// List is the items under a key.
func (m *Map) List(key string) []*yaml.Node {
	n := m.nodes[key]
	switch {
	case n == nil:
		return nil
	case n.Kind != yaml.SequenceNode:
		m.shape(key, n, "list")
		return nil
	}
	return n.Content
}
