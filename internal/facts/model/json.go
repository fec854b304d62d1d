package model

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rackrate/rackrate/internal/base/problem"
)

// Bounds on a configuration file. The largest published one is under 1 MiB and ten levels deep; the rest is
// somebody's mistake or attack, and the tree that is built from the text takes many times its size.
const (
	maxConfigBytes  = 16 << 20
	maxConfigDepth  = 64
	maxConfigValues = 200_000
)

// nodeKind is what a JSON value is, by its first byte: { [ " t f n, and 0 for a number.
type nodeKind byte

const (
	objectNode nodeKind = '{'
	arrayNode  nodeKind = '['
	stringNode nodeKind = '"'
	boolNode   nodeKind = 't'
	nullNode   nodeKind = 'n'
	numberNode nodeKind = '0'
)

// node is a JSON value that knows its line. encoding/json keeps neither lines nor duplicate keys, and at a
// hundred embedded configurations it would be most of the program's start-up time.
type node struct {
	kind nodeKind
	line int
	text string // a string's value, a number's digits, "true" or "false"
	keys []string
	vals []node // an array's items or an object's values
}

// get finds an object's value; a null counts as absent, as it does to the hub's own loader.
func (n node) get(key string) (node, bool) {
	for i, k := range n.keys {
		if k == key {
			return n.vals[i], n.vals[i].kind != nullNode
		}
	}
	return node{}, false
}

// parser reads one strict RFC 8259 text. It stops at the first fault of syntax, since nothing after it can be
// trusted, and gathers the faults of meaning (duplicate keys).
type parser struct {
	file   string
	text   string
	pos    int
	line   int
	depth  int
	values int
	faults problem.List
	broken bool
}

// parseJSON reads one value and nothing after it, counting lines from the given first one. The value is whole
// unless the syntax broke; the faults may then still name duplicate keys.
func parseJSON(file, text string, firstLine int) (n node, faults problem.List, whole bool) {
	p := &parser{file: file, text: text, line: firstLine}
	n = p.value()
	p.space()
	if !p.broken && p.pos < len(p.text) {
		p.fail("config.not_json", problem.Args{"Near": p.near()})
	}
	return n, p.faults, !p.broken
}

// decodeText checks the size and encoding of a file from outside.
func decodeText(file string, data []byte) (string, *problem.Error) {
	fault := func(code string, args problem.Args) (string, *problem.Error) {
		return "", problem.New(problem.Input, code, args).At(file, 1)
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // editors of another system write one; it says nothing
	head := string(data[:min(len(data), 3)])
	switch {
	case len(data) > maxConfigBytes:
		return fault("config.too_large", problem.Args{"Limit": maxConfigBytes})
	case strings.HasPrefix(head, "\xff\xfe"), strings.HasPrefix(head, "\xfe\xff"), strings.Contains(head, "\x00"):
		return fault("config.encoding", problem.Args{"Encoding": "UTF-16"})
	case !utf8.Valid(data):
		return fault("config.encoding", problem.Args{"Encoding": "?"})
	case strings.TrimSpace(string(data)) == "":
		return fault("config.empty", nil)
	}
	return string(data), nil
}

func (p *parser) fail(code string, args problem.Args) {
	if !p.broken {
		p.faults = append(p.faults, problem.New(problem.Input, code, args).At(p.file, p.line))
	}
	p.broken = true
}

// near is the text at the fault, short enough for one line of a message.
func (p *parser) near() string {
	rest := p.text[min(p.pos, len(p.text)):]
	if i := strings.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[:i]
	}
	for i := range rest {
		if i >= 20 {
			return rest[:i]
		}
	}
	return rest
}

func (p *parser) space() {
	for p.pos < len(p.text) {
		switch p.text[p.pos] {
		case '\n':
			p.line++
		case ' ', '\t', '\r':
		default:
			return
		}
		p.pos++
	}
}

func (p *parser) take(literal string) bool {
	if strings.HasPrefix(p.text[p.pos:], literal) {
		p.pos += len(literal)
		return true
	}
	return false
}

func (p *parser) value() node {
	p.space()
	n := node{line: p.line}
	if p.values++; p.values > maxConfigValues {
		p.fail("config.too_many_values", problem.Args{"Limit": maxConfigValues})
		return n
	}
	switch {
	case p.pos < len(p.text) && (p.text[p.pos] == '{' || p.text[p.pos] == '['):
		n.kind = nodeKind(p.text[p.pos])
		if p.depth++; p.depth > maxConfigDepth {
			p.fail("config.too_deep", problem.Args{"Limit": maxConfigDepth})
			return n
		}
		p.pos++
		p.members(&n)
		p.depth--
	case p.pos < len(p.text) && p.text[p.pos] == '"':
		n.kind, n.text = stringNode, p.str()
	case p.take("true"):
		n.kind, n.text = boolNode, "true"
	case p.take("false"):
		n.kind, n.text = boolNode, "false"
	case p.take("null"):
		n.kind = nullNode
	default:
		n.kind, n.text = numberNode, p.number()
	}
	return n
}

// members reads an object's or an array's inside and its closing bracket.
func (p *parser) members(n *node) {
	closing := "]"
	if n.kind == objectNode {
		closing = "}"
	}
	var seen map[string]bool // made for a large object only: a configuration's few keys are found faster one by one
	for first := true; !p.broken; first = false {
		p.space()
		if first && p.take(closing) {
			return
		}
		if n.kind == objectNode {
			line, key := p.line, p.str()
			if p.space(); !p.take(":") {
				p.fail("config.not_json", problem.Args{"Near": p.near()})
				return
			}
			if seen[key] || seen == nil && slices.Contains(n.keys, key) {
				p.faults = append(p.faults, problem.New(problem.Input, "config.duplicate_key", problem.Args{"Key": key}).At(p.file, line))
			}
			n.keys = append(n.keys, key)
			if seen = remember(seen, n.keys); p.broken {
				return
			}
		}
		n.vals = append(n.vals, p.value())
		p.space()
		if p.take(closing) {
			return
		}
		if !p.take(",") {
			p.fail("config.not_json", problem.Args{"Near": p.near()})
		}
	}
}

// remember keeps a set of an object's keys once there are many.
func remember(seen map[string]bool, keys []string) map[string]bool {
	const many = 64
	if len(keys) < many {
		return nil
	}
	if seen == nil {
		seen = make(map[string]bool, 2*many)
		for _, k := range keys {
			seen[k] = true
		}
	}
	seen[keys[len(keys)-1]] = true
	return seen
}

func (p *parser) str() string {
	start := p.pos
	if !p.take(`"`) {
		p.fail("config.not_json", problem.Args{"Near": p.near()})
		return ""
	}
	escaped := false
	for p.pos < len(p.text) && p.text[p.pos] != '"' && p.text[p.pos] >= ' ' {
		if p.text[p.pos] == '\\' {
			escaped = true
			p.pos++
		}
		p.pos++
	}
	if p.pos >= len(p.text) || !p.take(`"`) {
		p.pos = start
		p.fail("config.not_json", problem.Args{"Near": p.near()})
		return ""
	}
	raw := p.text[start:p.pos]
	if !escaped {
		return raw[1 : len(raw)-1]
	}
	var s string
	if json.Unmarshal([]byte(raw), &s) != nil {
		p.pos = start
		p.fail("config.not_json", problem.Args{"Near": p.near()})
	}
	return s
}

func (p *parser) number() string {
	start := p.pos
	for p.pos < len(p.text) && strings.IndexByte("+-.0123456789eE", p.text[p.pos]) >= 0 {
		p.pos++
	}
	raw := p.text[start:p.pos]
	// A number is short; json.Valid knows its grammar (no leading zero, no bare point) and every other literal is out by now.
	if raw == "" || len(raw) > 64 || !json.Valid([]byte(raw)) {
		p.pos = start
		p.fail("config.not_json", problem.Args{"Near": p.near()})
	}
	return raw
}
