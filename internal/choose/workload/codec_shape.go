package workload

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
)

// boolCodec takes true and false only: yes and on are text in YAML 1.2 and true in YAML 1.1.
var boolCodec = codec[bool]{
	name: "bool",
	read: func(r *reader, f *Field, n *yaml.Node) (bool, bool) {
		s, ok := r.text(f, n)
		if !ok {
			return false, false
		}
		if s != "true" && s != "false" {
			r.badValue(f, n, s).With("true", "false")
			return false, false
		}
		return s == "true", true
	},
	write:  func(v bool) (any, bool) { return v, v },
	schema: func(*Field) Object { return Object{{"enum", []any{true, false, "true", "false"}}} },
}

// resolution is the size of an image.
type resolution struct{ width, height int }

const resolutionPattern = `^\s*[0-9]+\s*[xX×]\s*[0-9]+\s*$`

var resolutionCodec = codec[resolution]{
	name: "resolution",
	read: func(r *reader, f *Field, n *yaml.Node) (resolution, bool) {
		s, ok := r.text(f, n)
		if !ok {
			return resolution{}, false
		}
		width, height, _ := strings.Cut(strings.NewReplacer("×", "x", "X", "x").Replace(s), "x")
		w, err1 := strconv.Atoi(strings.TrimSpace(width))
		h, err2 := strconv.Atoi(strings.TrimSpace(height))
		if err1 != nil || err2 != nil {
			r.badValue(f, n, s)
			return resolution{}, false
		}
		if !f.within(float64(w)) || !f.within(float64(h)) {
			r.fault(n, codeOutOfBounds, problem.Args{"Key": f.Path, "Value": clip(s), "Min": printSize(f.Min), "Max": printSize(f.Max)})
			return resolution{}, false
		}
		return resolution{w, h}, true
	},
	write: func(v resolution) (any, bool) {
		return strconv.Itoa(v.width) + "x" + strconv.Itoa(v.height), v.width > 0
	},
	schema: func(*Field) Object { return Object{{"type", "string"}, {"pattern", resolutionPattern}} },
}

func printSize(side float64) string {
	s := strconv.Itoa(int(side))
	return s + "x" + s
}

// keyspaceCodec is a number of candidates, also written as a power such as 95^8.
var keyspaceCodec = quantity(shape{
	name: "keyspace", bare: "number",
	pattern: `^\s*([0-9]+\s*\^\s*[0-9]+|` + strings.TrimPrefix(countShape.pattern, "^"),
}.closed(), func(s string) (float64, error) {
	base, exp, power := strings.Cut(s, "^")
	if !power {
		return unit.ParseCount(s)
	}
	b, err1 := strconv.ParseUint(strings.TrimSpace(base), 10, 32)
	e, err2 := strconv.ParseUint(strings.TrimSpace(exp), 10, 16)
	if err1 != nil || err2 != nil {
		return 0, unit.ErrSyntax
	}
	return math.Pow(float64(b), float64(e)), nil
}, func(v float64) any { return Count(v) })

// closed ends an alternative that a pattern opened.
func (s shape) closed() shape {
	s.pattern = strings.TrimSuffix(s.pattern, "$") + ")$"
	return s
}

// mixParts are the resources that can bound a measured time.
var mixParts = []string{"compute", "memory", "link", "host"}

// mixCodec is what bounds a measured time: one resource's name, or shares that sum to 1, as a mapping or as
// compute=0.7,memory=0.3.
var mixCodec = codec[Mix]{
	name: "mix",
	read: func(r *reader, f *Field, n *yaml.Node) (Mix, bool) {
		parts, ok := r.mixParts(f, n)
		var shares [4]float64
		sum := 0.0
		for name, node := range parts.each {
			i := slices.Index(mixParts, name)
			if i < 0 {
				r.fault(node, codeUnknownName, problem.Args{"Key": f.Path, "Value": clip(name), "Type": "resource"}).With(problem.Nearest(name, mixParts, 2)...)
				ok = false
				continue
			}
			v, good := shareCodec.read(r, &Field{Path: f.Path + "." + name, Max: 1, Example: "0.7"}, node)
			shares[i], sum, ok = v, sum+v, ok && good
		}
		// A thousandth is left for shares that were rounded.
		if ok && math.Abs(sum-1) > 1e-3 {
			r.fault(n, codeSharesSum, problem.Args{"Key": f.Path, "Sum": sum})
			ok = false
		}
		return Mix{shares[0], shares[1], shares[2], shares[3]}, ok
	},
	write: func(m Mix) (any, bool) {
		var o Object
		for i, v := range []float64{m.Compute, m.Memory, m.Link, m.Host} {
			if v != 0 {
				o = append(o, Member{mixParts[i], v})
			}
		}
		return o, len(o) > 0
	},
	schema: mixSchema,
}

func mixSchema(*Field) Object {
	var props Object
	for _, p := range mixParts {
		props = append(props, Member{p, numberShape.schema(&Field{Max: 1})})
	}
	return Object{{"anyOf", []any{
		Object{{"type", "object"}, {"properties", props}, {"additionalProperties", false}, {"minProperties", 1}},
		Object{{"type", "string"}, {"pattern", `\S`}},
	}}}
}

// pairs are names with the nodes that hold their values, in order.
type pairs []struct {
	name string
	node *yaml.Node
}

func (p pairs) each(yield func(string, *yaml.Node) bool) {
	for _, e := range p {
		if !yield(e.name, e.node) {
			return
		}
	}
}

func (r *reader) mixParts(f *Field, n *yaml.Node) (pairs, bool) {
	var list pairs
	add := func(name string, node *yaml.Node) { list = append(list, pairs{{name, node}}...) }
	if n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			add(n.Content[i].Value, n.Content[i+1])
		}
	} else {
		s, ok := r.text(f, n)
		if !ok {
			return nil, false
		}
		for piece := range strings.SplitSeq(strings.Trim(s, "{} "), ",") { // a flag may be written as the file is
			name, share, given := strings.Cut(strings.Replace(piece, ":", "=", 1), "=")
			if !given {
				share = "1"
			}
			add(strings.TrimSpace(name), r.piece(n, strings.TrimSpace(share)))
		}
	}
	seen, ok := map[string]bool{}, len(list) > 0
	if !ok {
		r.fault(n, codeEmptyValue, problem.Args{"Key": f.Path})
	}
	for name, node := range list.each {
		if seen[name] {
			r.fault(node, codeRepeated, problem.Args{"Key": f.Path, "Value": clip(name)})
			ok = false
		}
		seen[name] = true
	}
	return list, ok
}

// diurnal is a day with its peak at 16:00 and its trough, at 30 % of the peak, at 04:00, a cosine between. It is
// an assumption for services people use by day, not a measurement; measured shares can be listed instead.
var diurnal = func() []float64 {
	day := make([]float64, 24)
	for h := range day {
		share := 0.65 - 0.35*math.Cos(2*math.Pi*float64(h-4)/24)
		day[h] = math.Round(share*100) / 100
	}
	return day
}()

// profileCodec is flat, diurnal, or 24 shares of the peak, which are scaled so that the highest is 1.
var profileCodec = codec[[]float64]{
	name: "profile",
	read: func(r *reader, f *Field, n *yaml.Node) ([]float64, bool) {
		switch {
		case n.Kind == yaml.ScalarNode && n.Value == "flat":
			return nil, true
		case n.Kind == yaml.ScalarNode && n.Value == "diurnal":
			return slices.Clone(diurnal), true
		case n.Kind == yaml.ScalarNode && !strings.Contains(n.Value, ","):
			if s, ok := r.text(f, n); ok {
				r.unknownName(f, n, s, []string{"flat", "diurnal"})
			}
			return nil, false
		}
		return r.hours(f, n)
	},
	write: func(v []float64) (any, bool) {
		switch {
		case len(v) == 0:
			return "flat", false
		case slices.Equal(v, diurnal):
			return "diurnal", true
		}
		return anyList(v), true
	},
	schema: func(f *Field) Object {
		return Object{{"anyOf", []any{
			Object{{"enum", []any{"flat", "diurnal"}}},
			Object{{"type", "array"}, {"items", numberShape.schema(f)}, {"minItems", 24}, {"maxItems", 24}},
			Object{{"type", "string"}, {"pattern", "^[0-9. ]+(,[0-9. eE+-]+){23}$"}},
		}}}
	},
}

func (r *reader) hours(f *Field, n *yaml.Node) ([]float64, bool) {
	nodes := n.Content
	if n.Kind == yaml.ScalarNode {
		nodes = nil
		for piece := range strings.SplitSeq(n.Value, ",") {
			nodes = append(nodes, r.piece(n, strings.TrimSpace(piece)))
		}
	} else if n.Kind != yaml.SequenceNode {
		r.wrongType(f, n)
		return nil, false
	}
	if len(nodes) != 24 {
		r.fault(n, codeProfileHours, problem.Args{"Key": f.Path, "Count": len(nodes)})
		return nil, false
	}
	ok, day := true, make([]float64, 24)
	for h, node := range nodes {
		v, good := shareCodec.read(r, f, node)
		day[h], ok = v, ok && good
	}
	peak := slices.Max(day)
	if ok && peak == 0 {
		r.fault(n, codeProfilePeak, problem.Args{"Key": f.Path})
		return nil, false
	}
	if peak != 1 {
		for h := range day {
			day[h] /= peak
		}
	}
	return day, ok
}
