package workload

import (
	"encoding/json"
	"maps"
	"slices"
)

// SchemaID names the JSON Schema of a workload file.
const SchemaID = "urn:rackrate:workload"

// Schema is the JSON Schema (2020-12) of a workload file, for editors and other programs. It knows the keys of
// each kind, their types, bounds and choices; what only the facts can tell (is this a model?) and contradictions
// between sound values are left to Parse.
func Schema() []byte {
	defs := Object{}
	for i := range table {
		f := &table[i]
		defs = append(defs, Member{defName(f), fieldSchema(f)})
	}
	var byKind []any
	for _, k := range kinds {
		defs = append(defs, Member{"kind-" + string(k), kindSchema(k)})
		byKind = append(byKind, Object{
			{"if", Object{{"properties", Object{{"kind", Object{{"const", string(k)}}}}}, {"required", []any{"kind"}}}},
			{"then", Object{{"$ref", "#/$defs/kind-" + string(k)}}},
		})
	}
	root := Object{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"$id", SchemaID},
		{"title", "Rackrate workload"},
		{"type", "object"},
		{"required", []any{"kind"}},
		{"properties", Object{{"kind", ref(byPath("kind")[0])}}},
		{"allOf", byKind},
		{"$defs", defs},
	}
	out, err := json.MarshalIndent(root, "", " ")
	if err != nil {
		panic("workload: the schema is not JSON: " + err.Error())
	}
	return append(out, '\n')
}

// defName names a field's definition; a path with several meanings is told apart by the first kind of each.
func defName(f *Field) string {
	if len(byPath(f.Path)) > 1 {
		return f.Path + "-" + string(f.Kinds[0])
	}
	return f.Path
}

func ref(f *Field) Object { return Object{{"$ref", "#/$defs/" + defName(f)}} }

func fieldSchema(f *Field) Object {
	o := Object{{"description", f.Doc.EN}}
	if f.Default != "" {
		o = append(o, Member{"default", f.Default})
	}
	return append(append(o, Member{"examples", []any{f.Example}}), f.bind.schema(f)...)
}

func kindSchema(k Kind) Object {
	top := scope{kind: k}
	var groupScopes []scope
	for i := range table {
		f := &table[i]
		if !f.of(k) {
			continue
		}
		group := parent(f.Path)
		if group == "" {
			top.add(f.Path, f)
			continue
		}
		if n := len(groupScopes); n == 0 || groupScopes[n-1].group != group {
			groupScopes = append(groupScopes, scope{kind: k, group: group})
		}
		groupScopes[len(groupScopes)-1].add(f.Path[len(group)+1:], f)
	}
	for _, g := range groupScopes {
		top.props = append(top.props, Member{g.group, g.schema()})
		// A group with a required key cannot be left out itself.
		if len(g.required)+len(g.unless) > 0 {
			top.required = append(top.required, g.group)
		}
	}
	return top.schema()
}

// scope is the file or one group while its schema is put together.
type scope struct {
	kind     Kind
	group    string
	props    Object
	required []any
	unless   map[string][]any // keys needed where another is left out
}

func (s *scope) add(key string, f *Field) {
	s.props = append(s.props, Member{key, ref(f)})
	switch {
	case f.For != nil: // a schema cannot tell what the model is
	case f.Required && f.Unless != "":
		if s.unless == nil {
			s.unless = map[string][]any{}
		}
		s.unless[f.Unless] = append(s.unless[f.Unless], key)
	case f.Required:
		s.required = append(s.required, key)
	}
}

func (s *scope) schema() Object {
	o := Object{{"type", "object"}, {"properties", s.props}, {"additionalProperties", false}}
	if i := slices.IndexFunc(groups, func(g Group) bool { return g.Path == s.group }); i >= 0 {
		o = append(Object{{"description", groups[i].Doc.EN}}, o...)
	}
	if len(s.required) > 0 {
		o = append(o, Member{"required", s.required})
	}
	var rules []any
	for _, other := range slices.Sorted(maps.Keys(s.unless)) {
		rules = append(rules, Object{{"anyOf", []any{
			Object{{"required", []any{other[len(parentPrefix(other)):]}}},
			Object{{"required", s.unless[other]}},
		}}})
	}
	for _, c := range choices {
		if c.of(s.kind) && parent(c.ways[0][0]) == s.group {
			rules = append(rules, s.choice(c))
		}
	}
	if len(rules) > 0 {
		o = append(o, Member{"allOf", rules})
	}
	var needs Object
	for _, c := range companions {
		if c.of(s.kind) && parent(c.key) == s.group {
			needs = append(needs, Member{c.key, []any{c.needs}})
		}
	}
	if len(needs) > 0 {
		o = append(o, Member{"dependentRequired", needs})
	}
	return o
}

// choice allows each way alone and whole, and none of them where none is needed.
func (s *scope) choice(c choice) Object {
	key := func(path string) string { return path[len(parentPrefix(path)):] }
	without := func(skip int) Object {
		var o Object
		for i, way := range c.ways {
			for _, path := range way {
				if i != skip {
					o = append(o, Member{key(path), false})
				}
			}
		}
		return o
	}
	var ways []any
	for i, way := range c.ways {
		var need []any
		for _, path := range way {
			need = append(need, key(path))
		}
		ways = append(ways, Object{{"required", need}, {"properties", without(i)}})
	}
	if !c.required {
		ways = append(ways, Object{{"properties", without(-1)}})
	}
	return Object{{"oneOf", ways}}
}
