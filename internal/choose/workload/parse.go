package workload

import (
	"go.yaml.in/yaml/v4"

	"github.com/rackrate/rackrate/internal/base/problem"
)

// Parse reads a workload file. Faults carry its name. A model's config.json is read through open, which gets the
// path as it is written and takes it from the workload file's folder; nil lets no other file be read. The error is
// a problem.List of every fault, in line order; the workload is nil then.
func Parse(name string, data []byte, open func(path string) ([]byte, error), f Facts) (*Workload, error) {
	return ParseWith(name, data, nil, open, f)
}

// ParseWith reads a workload file with flags laid over it, by the names that Flags lists, without their dashes.
// A flag beats the file, and puts aside what says the same thing in another way: --steps puts aside the file's
// tokens.
func ParseWith(name string, data []byte, flags map[string]string, open func(path string) ([]byte, error), f Facts) (*Workload, error) {
	r := newReader(name, open, f)
	root := r.load(data)
	if root == nil {
		return nil, r.list()
	}
	return r.workload(root, flags)
}

// FromFlags reads a workload from flags alone. Faults carry the argument Flag in place of a file and line.
func FromFlags(flags map[string]string, open func(path string) ([]byte, error), f Facts) (*Workload, error) {
	r := newReader("", open, f)
	return r.workload(&yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}, flags)
}

func (r *reader) workload(root *yaml.Node, flags map[string]string) (*Workload, error) {
	r.kind = kindIn(root, flags)
	r.overlay(root, flags)
	r.draft = newDraft(r.kind, r.file)
	r.mapping(root, "")
	switch {
	case r.kind == "" && !r.has("kind"):
		r.missing(root, byPath("kind")[0])
	case r.kind != "":
		r.complete(root)
		r.applyDefaults()
		r.derive()
		r.check()
	}
	if err := r.list(); err != nil {
		return nil, err
	}
	return r.draft.finish(), nil
}

// kindIn finds the kind of work first, because it decides what the other keys mean. It is empty where it is not
// known; the fault is reported when the key is read.
func kindIn(root *yaml.Node, flags map[string]string) Kind {
	if text, ok := flags["kind"]; ok {
		return knownKind(text)
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if k, v := root.Content[i], root.Content[i+1]; k.Value == "kind" && v.Kind == yaml.ScalarNode {
			return knownKind(v.Value)
		}
	}
	return ""
}

func knownKind(text string) Kind {
	for _, k := range kinds {
		if string(k) == text {
			return k
		}
	}
	return ""
}

// mapping reads the keys of the file or of a group.
func (r *reader) mapping(n *yaml.Node, prefix string) {
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind != yaml.ScalarNode || k.Style&yaml.TaggedStyle != 0 || k.Value == "" {
			if !r.bad[k] {
				r.at(k.Line, codeKeyNotText, problem.Args{"Key": parent(prefix)})
			}
			continue
		}
		path := prefix + k.Value
		if first, twice := seen[path]; twice {
			r.at(k.Line, codeDuplicateKey, problem.Args{"Key": clip(path), "FirstLine": first})
			continue
		}
		seen[path] = k.Line
		r.entry(k, v, path)
	}
}

// entry reads one key.
func (r *reader) entry(k, v *yaml.Node, path string) {
	f := field(path, r.kind)
	inTable := isGroup(path) || len(byPath(path)) > 0
	switch {
	case !inTable:
		r.unknownKey(k, path)
	case r.kind != "" && f == nil && !groupOf(path, r.kind):
		at := k
		if _, flag := r.flags[v]; flag {
			at = v
		}
		r.fault(at, codeNotForKind, problem.Args{"Key": path, "Kind": string(r.kind), "Kinds": joinKinds(kindsOf(path))})
	case isGroup(path):
		r.group(v, path)
	case f != nil:
		r.given[path] = v
		r.good[path] = f.bind.read(r, f, v)
	}
}

// groupOf says whether a kind of work has any key of a group.
func groupOf(path string, k Kind) bool {
	if !isGroup(path) {
		return false
	}
	for i := range table {
		if parent(table[i].Path) == path && table[i].of(k) {
			return true
		}
	}
	return false
}

func (r *reader) group(v *yaml.Node, path string) {
	r.given[path] = v
	switch {
	case r.bad[v]:
	case v.Kind == yaml.MappingNode:
		r.mapping(v, path+".")
	case v.Kind == yaml.ScalarNode && v.ShortTag() == "!!null":
		r.fault(v, codeEmptyValue, problem.Args{"Key": path, "Type": "mapping", "Example": ""})
	default:
		r.fault(v, codeNotMapping, problem.Args{"Key": path})
	}
}

// unknownKey suggests the keys that end alike wherever they stand, and those spelt alike.
func (r *reader) unknownKey(k *yaml.Node, path string) {
	last := path[len(parentPrefix(path)):]
	var known, suggest []string
	for i := range table {
		f := &table[i]
		if r.kind != "" && !f.of(r.kind) {
			continue
		}
		known = append(known, f.Path)
		if f.Path[len(parentPrefix(f.Path)):] == last {
			suggest = append(suggest, f.Path)
		}
	}
	for _, g := range groups {
		if r.kind == "" || groupOf(g.Path, r.kind) {
			known = append(known, g.Path)
		}
	}
	suggest = unique(append(append(suggest, r.nearest(path, known)...), r.nearest(last, known)...))
	r.at(k.Line, codeUnknownKey, problem.Args{"Key": clip(path), "Kind": string(r.kind)}).With(suggest[:min(3, len(suggest))]...)
}

// parentPrefix is the group of a path with its dot.
func parentPrefix(path string) string {
	if p := parent(path); p != "" {
		return p + "."
	}
	return ""
}
