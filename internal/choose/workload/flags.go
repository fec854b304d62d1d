package workload

import (
	"slices"
	"sort"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rackrate/rackrate/internal/base/problem"
)

// Flag is one command-line flag with every key it can set, one for each meaning among the kinds of work.
type Flag struct {
	Name   string // without dashes
	Fields []Field
}

// Flags lists the flags that set a workload, in file order.
func Flags() []Flag {
	var fs []Flag
	for _, f := range table {
		i := slices.IndexFunc(fs, func(g Flag) bool { return g.Name == f.Flag })
		if i < 0 {
			fs, i = append(fs, Flag{Name: f.Flag}), len(fs)
		}
		fs[i].Fields = append(fs[i].Fields, f)
	}
	return fs
}

// overlay lays flags over a document: each becomes a node that remembers its flag.
func (r *reader) overlay(root *yaml.Node, flags map[string]string) {
	names := make([]string, 0, len(flags))
	for name := range flags {
		names = append(names, name)
	}
	sort.Strings(names)
	// Every rival is put aside before any flag is laid, so that two flags that clash are both seen.
	var set []flagValue
	for _, name := range names {
		path, ok := r.flagPath(name)
		if !ok {
			continue
		}
		n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: flags[name]}
		r.flags[n] = name
		set = append(set, flagValue{path, n})
		for _, rival := range rivals(path, r.kind) {
			remove(root, rival)
		}
	}
	for _, v := range set {
		put(root, v.path, v.node)
	}
}

type flagValue struct {
	path string
	node *yaml.Node
}

// flagPath finds the key a flag sets for the kind of work, and the first it could set where it has none.
func (r *reader) flagPath(name string) (string, bool) {
	first := ""
	for i := range table {
		f := &table[i]
		if f.Flag != name {
			continue
		}
		if first == "" {
			first = f.Path
		}
		if r.kind != "" && f.of(r.kind) {
			return f.Path, true
		}
	}
	if first == "" {
		var known []string
		for _, f := range Flags() {
			known = append(known, f.Name)
		}
		r.add(problem.New(problem.Input, codeUnknownFlag, problem.Args{"Flag": "--" + clip(name)}).With(r.nearest(name, known)...))
	}
	return first, first != ""
}

// rivals lists the keys that say in another way what a key says.
func rivals(path string, k Kind) []string {
	var out []string
	for _, c := range choices {
		mine := slices.IndexFunc(c.ways, func(w []string) bool { return slices.Contains(w, path) })
		if mine < 0 || !c.of(k) {
			continue
		}
		for i, w := range c.ways {
			if i != mine {
				out = append(out, w...)
			}
		}
	}
	return out
}

// remove takes a key out of a document.
func remove(root *yaml.Node, path string) {
	group, key, inside := strings.Cut(path, ".")
	for i := 0; i+1 < len(root.Content); i += 2 {
		switch value := root.Content[i+1]; {
		case root.Content[i].Value != group:
		case !inside:
			root.Content = slices.Delete(root.Content, i, i+2)
			return
		case value.Kind == yaml.MappingNode:
			remove(value, key)
			return
		}
	}
}

// put sets a key of a document, making the group that it is in.
func put(root *yaml.Node, path string, value *yaml.Node) {
	if p := parent(path); p != "" {
		i := keyIndex(root, p)
		if i < 0 {
			i = len(root.Content)
			root.Content = append(root.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: p}, &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"})
		}
		if root.Content[i+1].Kind != yaml.MappingNode {
			return // what the file has there is a fault of its own
		}
		put(root.Content[i+1], path[len(p)+1:], value)
		return
	}
	if i := keyIndex(root, path); i >= 0 {
		root.Content[i+1] = value
		return
	}
	root.Content = append(root.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: path}, value)
}

func keyIndex(n *yaml.Node, key string) int {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return i
		}
	}
	return -1
}
