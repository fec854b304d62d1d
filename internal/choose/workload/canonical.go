package workload

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/rackrate/rackrate/internal/base/unit"
)

// Object is a mapping that keeps its order.
type Object []Member

// Member is one key of an Object with its value: text, number, boolean, Count, list or Object.
type Member struct {
	Key   string
	Value any
}

// MarshalJSON writes the members in order.
func (o Object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // a version is >=2.6 to every reader
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := enc.Encode(m.Key); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := enc.Encode(m.Value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Count is a number of things: a plain number in JSON, and 2B or 500M in YAML.
type Count float64

// String prints the count with a suffix where that is exact, as the decoder reads it.
func (c Count) String() string {
	v := float64(c)
	if v < 10000 {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	for _, s := range []scale{{1e12, "T"}, {1e9, "B"}, {1e6, "M"}, {1e3, "k"}} {
		text := strconv.FormatFloat(v/s.size, 'f', -1, 64)
		if back, err := unit.ParseCount(text + s.name); err == nil && back == v && v >= s.size && len(text) <= 6 {
			return text + s.name
		}
	}
	if v == math.Trunc(v) && v < 1<<53 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// Canonical is the workload as a plain ordered structure under the keys of the file, defaults included, for the
// JSON of a plan. The key defaulted lists what the user left open.
func Canonical(w *Workload) Object {
	o := canonical(w, true)
	return append(o, Member{"defaulted", anyList(w.Defaulted)})
}

// canonical writes every key that has a value, with or without those that were filled in.
func canonical(w *Workload, defaults bool) Object {
	d := draftOf(w)
	var o Object
	for i := range table {
		f := &table[i]
		filled := slices.Contains(w.Defaulted, f.Path)
		if !f.of(w.Kind) || filled && !defaults {
			continue
		}
		value, some := f.bind.write(d)
		if some || f.zero && value != nil && writesZero(f, d, filled) {
			o = o.set(f.Path, value)
		}
	}
	return o
}

// writesZero says whether a zero was the user's word or a default, rather than a key left out.
func writesZero(f *Field, d *draft, filled bool) bool {
	if f.Path == "traffic.profile" && d.traffic.Trace != nil {
		return false
	}
	if filled || f.Default != "" {
		return true
	}
	_, paid := d.People.Hourly.Get()
	return f.Path == "people.hours_per_week" && paid
}

// set adds a value at a dotted path.
func (o Object) set(path string, value any) Object {
	group := parent(path)
	if group == "" {
		return append(o, Member{path, value})
	}
	m := Member{path[len(group)+1:], value}
	if i := slices.IndexFunc(o, func(m Member) bool { return m.Key == group }); i >= 0 {
		o[i].Value = append(o[i].Value.(Object), m)
		return o
	}
	return append(o, Member{group, Object{m}})
}

// Marshal writes the workload as a file that Parse reads back to the same workload. What was defaulted is left
// out, so that it stays open.
func Marshal(w *Workload) ([]byte, error) {
	return yaml.Dump(node(canonical(w, false)), yaml.WithIndent(2), yaml.WithLineWidth(-1))
}

// node turns a canonical value into YAML. Text is quoted where YAML would read it as something else.
func node(v any) *yaml.Node {
	switch v := v.(type) {
	case Object:
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, m := range v {
			n.Content = append(n.Content, node(m.Key), node(m.Value))
		}
		return n
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle}
		for _, item := range v {
			n.Content = append(n.Content, node(item))
		}
		return n
	case Count:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: v.String()}
	case string:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: v}
	}
	var n yaml.Node
	if err := n.Encode(v); err != nil {
		panic("workload: a codec wrote a value that is not plain: " + err.Error())
	}
	return &n
}
