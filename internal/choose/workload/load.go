package workload

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/rackrate/rackrate/internal/base/problem"
)

// Limits on what is read. A workload is a few kilobytes and two levels deep; the limits keep a hostile file
// cheap without ever meeting an honest one.
const (
	maxFile  = 1 << 20
	maxDepth = 16
	// maxFaults bounds the report; the number of faults past it is still told.
	maxFaults = 100
)

var errDepth = errors.New("nested too deeply")

// depthLimit stops the YAML parser early. Aliases are refused after parsing, where each can be named.
type depthLimit struct{}

func (depthLimit) CheckDepth(depth int, _ *yaml.DepthContext) error {
	if depth > maxDepth {
		return errDepth
	}
	return nil
}

func (depthLimit) CheckAlias(int, int) error { return nil }

// load turns a file into its one mapping, or nil where there is none to go on with.
func (r *reader) load(data []byte) *yaml.Node {
	if len(data) > maxFile {
		r.at(1, codeTooLarge, problem.Args{"Size": len(data), "Limit": maxFile})
		return nil
	}
	// A UTF-8 byte order mark is what Windows editors write; it changes nothing, so it is let through.
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if !r.checkText(data) {
		return nil
	}
	l, err := yaml.NewLoader(bytes.NewReader(data), yaml.WithPlugin(depthLimit{}))
	if err != nil {
		r.at(1, codeSyntax, problem.Args{"Detail": err.Error()})
		return nil
	}
	var doc, second yaml.Node
	if err := l.Load(&doc); errors.Is(err, io.EOF) {
		r.at(1, codeEmpty, nil)
		return nil
	} else if err != nil {
		r.syntax(err)
		return nil
	}
	if err := l.Load(&second); err == nil {
		r.at(second.Line, codeDocuments, nil)
	} else if !errors.Is(err, io.EOF) {
		r.syntax(err)
	}
	return r.root(&doc)
}

func (r *reader) root(doc *yaml.Node) *yaml.Node {
	if len(doc.Content) != 1 {
		r.at(1, codeEmpty, nil)
		return nil
	}
	n := doc.Content[0]
	r.refuseTricks(n)
	switch {
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null", n.Kind == yaml.MappingNode && len(n.Content) == 0:
		r.at(n.Line, codeEmpty, nil)
		return nil
	case n.Kind != yaml.MappingNode:
		r.at(n.Line, codeNotMapping, problem.Args{"Key": ""})
		return nil
	}
	return n
}

// checkText finds what is not UTF-8 text before the YAML parser turns it into an unclear message.
func (r *reader) checkText(data []byte) bool {
	if e := wideEncoding(data); e != "" {
		r.at(1, codeEncoding, problem.Args{"Encoding": e})
		return false
	}
	line := 1
	for i := 0; i < len(data); {
		c, size := utf8.DecodeRune(data[i:])
		switch {
		case c == utf8.RuneError && size == 1:
			r.at(line, codeEncoding, problem.Args{"Encoding": "other"})
			return false
		case c == '\n':
			line++
		case c < ' ' && c != '\t' && c != '\r', c == 0x7f, c == 0xfeff:
			r.at(line, codeControl, problem.Args{"Char": fmt.Sprintf("U+%04X", c)})
			return false
		}
		i += size
	}
	return true
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

func (r *reader) syntax(err error) {
	line, detail := 1, err.Error()
	var le *yaml.LoadError
	if errors.As(err, &le) {
		line, detail = max(1, le.Mark.Line), le.Message
	}
	if errors.Is(err, errDepth) || strings.Contains(detail, errDepth.Error()) {
		r.at(line, codeTooDeep, problem.Args{"Limit": maxDepth})
		return
	}
	r.at(line, codeSyntax, problem.Args{"Detail": detail})
}

// refuseTricks reports every anchor, alias and explicit tag: a workload has no use for them, and aliases let a
// small file stand for a huge one.
func (r *reader) refuseTricks(n *yaml.Node) {
	if n.Kind == yaml.AliasNode {
		r.at(n.Line, codeAnchor, problem.Args{"Name": "*" + n.Value})
		r.bad[n] = true
		return
	}
	if n.Anchor != "" {
		r.at(n.Line, codeAnchor, problem.Args{"Name": "&" + n.Anchor})
	}
	if n.Style&yaml.TaggedStyle != 0 {
		r.at(n.Line, codeTag, problem.Args{"Tag": n.Tag})
		r.bad[n] = true
	}
	for _, c := range n.Content {
		r.refuseTricks(c)
	}
}
