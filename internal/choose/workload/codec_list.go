package workload

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rackrate/rackrate/internal/base/problem"
)

// listOf is a YAML list, or one text with commas between the items, as flags give it.
func listOf[T comparable](item codec[T]) codec[[]T] {
	c := joined(codec[[]T]{
		name: item.name,
		read: func(r *reader, f *Field, n *yaml.Node) ([]T, bool) {
			v, ok := item.read(r, f, n)
			return []T{v}, ok
		},
		write: func(v []T) (any, bool) {
			texts := make([]any, len(v))
			for i := range v {
				texts[i], _ = item.write(v[i])
			}
			return texts, len(v) > 0
		},
		schema: item.schema,
	})
	read := c.read
	c.read = func(r *reader, f *Field, n *yaml.Node) ([]T, bool) {
		all, ok := read(r, f, n)
		return unique(all), ok
	}
	return c
}

// joined makes a list of a codec whose every item gives several values.
func joined[T any](item codec[[]T]) codec[[]T] {
	c := item
	c.list = true
	c.read = func(r *reader, f *Field, n *yaml.Node) ([]T, bool) {
		items, ok := r.items(f, n)
		var all []T
		for _, i := range items {
			v, good := item.read(r, f, i)
			all, ok = append(all, v...), ok && good
		}
		return all, ok
	}
	c.schema = func(f *Field) Object {
		one := item.schema(f)
		return Object{{"anyOf", []any{
			Object{{"type", "array"}, {"items", one}, {"minItems", 1}, {"uniqueItems", true}},
			Object{{"type", []any{"number", "boolean"}}},
			// Text with something between any two commas.
			Object{{"type", "string"}, {"pattern", `^[^,]*[^,\s][^,]*(,[^,]*[^,\s][^,]*)*$`}},
		}}}
	}
	return c
}

// unique keeps the first of each value, in order.
func unique[T comparable](list []T) []T {
	var kept []T
	for _, v := range list {
		if !slices.Contains(kept, v) {
			kept = append(kept, v)
		}
	}
	return kept
}

// wideCommas are the commas that Chinese keyboards write.
var wideCommas = strings.NewReplacer("，", ",", "、", ",")

// maxItems bounds a list; there are fewer regions in the world that rent accelerators.
const maxItems = 1000

// items gives the nodes of a list and reports an empty list and items that come twice.
func (r *reader) items(f *Field, n *yaml.Node) ([]*yaml.Node, bool) {
	items, ok := n.Content, true
	if n.Kind != yaml.SequenceNode {
		s, textOK := r.text(f, n)
		if !textOK {
			return nil, false
		}
		items = nil
		for piece := range strings.SplitSeq(wideCommas.Replace(s), ",") {
			items = append(items, r.piece(n, strings.TrimSpace(piece)))
		}
	}
	if len(items) == 0 {
		r.fault(n, codeEmptyValue, problem.Args{"Key": f.Path})
		return nil, false
	}
	if len(items) > maxItems {
		r.fault(n, codeListTooLong, problem.Args{"Key": f.Path, "Count": len(items), "Limit": maxItems})
		return nil, false
	}
	seen := map[string]bool{}
	for _, i := range items {
		if i.Kind == yaml.ScalarNode && seen[i.Value] {
			r.fault(i, codeRepeated, problem.Args{"Key": f.Path, "Value": clip(i.Value)})
			ok = false
		}
		seen[i.Value] = true
	}
	return items, ok
}

// piece is a node for a part of another's text, at the same place.
func (r *reader) piece(n *yaml.Node, text string) *yaml.Node {
	p := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Line: n.Line}
	if flag, ok := r.flags[n]; ok {
		r.flags[p] = flag
	}
	return p
}
