// Package yamltext reads a YAML file as far as its one document: text in UTF-8, of a bounded size and depth. What its keys mean is for
// the packages that read such files.
//
// Invariants: every fault has its line; a hostile file is cheap; nothing is guessed at that is not UTF-8. Pure. May be imported by anyone.
package yamltext

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// Kind is what is wrong with a file as a whole.
type Kind int

// The kinds, with the figures each comes with.
const (
	TooLarge  Kind = iota // Size, Limit: bytes
	Encoding              // Encoding: UTF-16LE, UTF-16BE, UTF-32LE, UTF-32BE or other; UTF-8 is wanted
	Control               // Char: a control character such as U+0000
	Empty                 // the file holds nothing
	Syntax                // Detail: the YAML parser's own words (English)
	TooDeep               // Limit: levels of nesting
	Documents             // a second YAML document in one file
)

// Fault is what is wrong, on which line.
type Fault struct {
	Kind Kind
	Line int
	Args map[string]any
}

var errDepth = errors.New("nested too deeply")

// depthLimit stops the YAML parser early. Aliases are left to the caller, who can name each.
type depthLimit int

func (limit depthLimit) CheckDepth(depth int, _ *yaml.DepthContext) error {
	if depth > int(limit) {
		return errDepth
	}
	return nil
}

func (depthLimit) CheckAlias(int, int) error { return nil }

// Load reads a file of so many bytes and levels at most, down to the node of its document; nil where there is none to go on with. A
// second document is a fault that leaves the first one.
func Load(data []byte, maxBytes, maxDepth int) (*yaml.Node, []Fault) {
	if len(data) > maxBytes {
		return nil, []Fault{{TooLarge, 1, map[string]any{"Size": len(data), "Limit": maxBytes}}}
	}
	// A UTF-8 byte order mark is what Windows editors write; it changes nothing, so it is let through.
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if bad := checkText(data); bad != nil {
		return nil, []Fault{*bad}
	}
	l, err := yaml.NewLoader(bytes.NewReader(data), yaml.WithPlugin(depthLimit(maxDepth)))
	if err != nil {
		return nil, []Fault{syntax(err, maxDepth)}
	}
	var doc, second yaml.Node
	if err := l.Load(&doc); errors.Is(err, io.EOF) {
		return nil, []Fault{{Empty, 1, nil}}
	} else if err != nil {
		return nil, []Fault{syntax(err, maxDepth)}
	}
	if err := l.Load(&second); err == nil {
		return root(&doc, Fault{Documents, second.Line, nil})
	} else if !errors.Is(err, io.EOF) {
		return root(&doc, syntax(err, maxDepth))
	}
	return root(&doc)
}

func root(doc *yaml.Node, faults ...Fault) (*yaml.Node, []Fault) {
	if len(doc.Content) != 1 {
		return nil, append(faults, Fault{Empty, 1, nil})
	}
	return doc.Content[0], faults
}

// checkText finds what is not UTF-8 text before the YAML parser turns it into an unclear message.
func checkText(data []byte) *Fault {
	if e := wideEncoding(data); e != "" {
		return &Fault{Encoding, 1, map[string]any{"Encoding": e}}
	}
	line := 1
	for i := 0; i < len(data); {
		c, size := utf8.DecodeRune(data[i:])
		switch {
		case c == utf8.RuneError && size == 1:
			return &Fault{Encoding, line, map[string]any{"Encoding": "other"}}
		case c == '\n':
			line++
		case c < ' ' && c != '\t' && c != '\r', c == 0x7f, c == 0xfeff:
			return &Fault{Control, line, map[string]any{"Char": fmt.Sprintf("U+%04X", c)}}
		}
		i += size
	}
	return nil
}

// wideEncoding recognises UTF-16 and UTF-32 by byte order mark or, without one, by where the zero bytes of an
// ASCII first character fall.
func wideEncoding(data []byte) string {
	for _, m := range []struct{ mark, name string }{
		{"\xff\xfe\x00\x00", "UTF-32LE"}, {"\x00\x00\xfe\xff", "UTF-32BE"},
		{"\xff\xfe", "UTF-16LE"}, {"\xfe\xff", "UTF-16BE"},
	} {
		if bytes.HasPrefix(data, []byte(m.mark)) {
			return m.name
		}
	}
	if len(data) < 4 {
		return ""
	}
	switch {
	case data[0] != 0 && data[1] == 0 && data[2] != 0 && data[3] == 0:
		return "UTF-16LE"
	case data[0] == 0 && data[1] != 0 && data[2] == 0 && data[3] != 0:
		return "UTF-16BE"
	}
	return ""
}

func syntax(err error, maxDepth int) Fault {
	line, detail := 1, err.Error()
	var le *yaml.LoadError
	if errors.As(err, &le) {
		line, detail = max(1, le.Mark.Line), le.Message
	}
	if errors.Is(err, errDepth) || strings.Contains(detail, errDepth.Error()) {
		return Fault{TooDeep, line, map[string]any{"Limit": maxDepth}}
	}
	return Fault{Syntax, line, map[string]any{"Detail": detail}}
}

// Shape is what a node is in a user's words: text, list or mapping.
func Shape(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "mapping"
	case yaml.SequenceNode:
		return "list"
	}
	return "text"
}
