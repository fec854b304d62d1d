package workload

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/model"
	"github.com/rackrate/rackrate/internal/facts/software"
)

// textSchema accepts what YAML turns into a number or a truth value too, such as a name that is all digits.
func textSchema(*Field) Object {
	return Object{{"anyOf", []any{
		Object{{"type", []any{"number", "boolean"}}},
		Object{{"type", "string"}, {"pattern", `\S`}},
	}}}
}

// writeText writes any text; the empty one is none.
func writeText[T ~string](v T) (any, bool) { return string(v), v != "" }

// textCodec is free text of one line.
var textCodec = codec[string]{
	name:   "text",
	read:   func(r *reader, f *Field, n *yaml.Node) (string, bool) { return r.text(f, n) },
	write:  writeText[string],
	schema: textSchema,
}

// enum is one of the few values in f.Enum.
func enum[T ~string]() codec[T] {
	return codec[T]{
		name: "enum",
		read: func(r *reader, f *Field, n *yaml.Node) (T, bool) {
			s, ok := r.text(f, n)
			if !ok {
				return "", false
			}
			if !slices.Contains(f.Enum, s) {
				r.unknownName(f, n, s, f.Enum)
				return "", false
			}
			return T(s), true
		},
		write:  writeText[T],
		schema: func(f *Field) Object { return Object{{"enum", anyList(f.Enum)}} },
	}
}

func anyList[T any](list []T) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}

// precisionCodec is an arithmetic precision by its name.
var precisionCodec = codec[accelerator.Precision]{
	name: "enum",
	read: func(r *reader, f *Field, n *yaml.Node) (accelerator.Precision, bool) {
		s, ok := enum[string]().read(r, f, n)
		return accelerator.Precision(slices.Index(precisionNames, s)), ok
	},
	write:  func(p accelerator.Precision) (any, bool) { return p.String(), true },
	schema: enum[string]().schema,
}

var precisionNames = func() []string {
	var names []string
	for p := range accelerator.NumPrecisions {
		names = append(names, p.String())
	}
	return names
}()

// lookup is a name out of a table of facts.
func lookup(what string, pick func(Facts) Lookup) codec[string] {
	return codec[string]{
		name: what,
		read: func(r *reader, f *Field, n *yaml.Node) (string, bool) {
			s, ok := r.text(f, n)
			if !ok {
				return "", false
			}
			name, suggest, known := pick(r.facts)(s)
			if !known {
				r.fault(n, codeUnknownName, problem.Args{"Key": f.Path, "Value": clip(s), "Type": what}).With(suggest...)
			}
			return name, known
		},
		write:  writeText[string],
		schema: textSchema,
	}
}

// formatCodec is a stored number format.
var formatCodec = codec[model.Format]{
	name: "format",
	read: func(r *reader, f *Field, n *yaml.Node) (model.Format, bool) {
		s, ok := r.text(f, n)
		if !ok {
			return "", false
		}
		info, err := r.facts.Format(s)
		if err != nil {
			r.refused(f, n, s, err)
			return "", false
		}
		return info.Name, true
	},
	write:  writeText[model.Format],
	schema: textSchema,
}

// framework is a name and a constraint on its version, as in pytorch>=2.6.
type framework struct{ name, version string }

var frameworkParts = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9 ._/+-]*?)\s*([<>=!~].*)?$`)

var frameworkCodec = codec[framework]{
	name: "framework",
	read: func(r *reader, f *Field, n *yaml.Node) (framework, bool) {
		s, ok := r.text(f, n)
		if !ok {
			return framework{}, false
		}
		m := frameworkParts.FindStringSubmatch(s)
		if m == nil {
			r.badValue(f, n, s)
			return framework{}, false
		}
		if _, err := software.ParseConstraint(m[2]); err != nil {
			r.badValue(f, n, s).Wrap(err)
			return framework{}, false
		}
		name, suggest, known := r.facts.Framework(m[1])
		if !known {
			r.fault(n, codeUnknownName, problem.Args{"Key": f.Path, "Value": clip(m[1]), "Type": "framework"}).With(suggest...)
		}
		return framework{name, strings.ReplaceAll(m[2], " ", "")}, known
	},
	write:  func(v framework) (any, bool) { return v.name + v.version, v.name != "" },
	schema: textSchema,
}

// versionCodec is a plain version, such as 550.54.15.
var versionCodec = codec[string]{
	name: "version",
	read: func(r *reader, f *Field, n *yaml.Node) (string, bool) {
		s, ok := r.text(f, n)
		if ok && !versionShape.MatchString(s) {
			r.badValue(f, n, s)
			return "", false
		}
		return s, ok
	},
	write: writeText[string],
	schema: func(*Field) Object {
		return Object{{"anyOf", []any{Object{{"type", "number"}}, Object{{"type", "string"}, {"pattern", versionShape.String()}}}}}
	},
}

var versionShape = regexp.MustCompile(`^[0-9]+(\.[0-9]+)*$`)

// referenceCodec is the device that a measurement was made on, as in RTX-4090 or RTX-4090:2.
var referenceCodec = codec[Reference]{
	name: "device",
	read: func(r *reader, f *Field, n *yaml.Node) (Reference, bool) {
		s, ok := r.text(f, n)
		if !ok {
			return Reference{}, false
		}
		name, count := s, 1
		if i := strings.LastIndex(s, ":"); i >= 0 {
			v, err := strconv.Atoi(s[i+1:])
			if err != nil {
				r.badValue(f, n, s)
				return Reference{}, false
			}
			name, count = s[:i], v
		}
		if !f.within(float64(count)) {
			r.fault(n, codeOutOfBounds, problem.Args{"Key": f.Path, "Value": clip(s), "Min": int(f.Min), "Max": int(f.Max)})
			return Reference{}, false
		}
		chip, err := r.facts.Chip(name)
		if err != nil {
			r.refused(f, n, name, err)
			return Reference{}, false
		}
		return Reference{chip, count}, true
	},
	write: func(v Reference) (any, bool) {
		switch {
		case v.Device == nil:
			return nil, false
		case v.Count > 1:
			return v.Device.Name + ":" + strconv.Itoa(v.Count), true
		}
		return v.Device.Name, true
	},
	schema: textSchema,
}

var selectorCodec = codec[[]accelerator.Selector]{
	name: "gpu",
	read: func(r *reader, f *Field, n *yaml.Node) ([]accelerator.Selector, bool) {
		s, ok := r.text(f, n)
		if !ok {
			return nil, false
		}
		found, err := r.facts.Selectors(s)
		if err != nil {
			r.refused(f, n, s, err)
			return nil, false
		}
		return found, true
	},
	write: func(v []accelerator.Selector) (any, bool) {
		texts := make([]string, len(v))
		for i, s := range v {
			texts[i] = s.Text
		}
		return anyList(texts), len(v) > 0
	},
	schema: textSchema,
}

// The shorthands for ways of paying, each standing for several.
var (
	billingModes = []catalog.BillingMode{
		catalog.OnDemand, catalog.Spot,
		catalog.Reserved1M, catalog.Reserved3M, catalog.Reserved6M,
		catalog.Reserved1Y, catalog.Reserved1YPartial, catalog.Reserved1YAll,
		catalog.Reserved3Y, catalog.Reserved3YPartial, catalog.Reserved3YAll,
		catalog.SavingsPlan1Y, catalog.SavingsPlan3Y,
		catalog.CapacityBlock, catalog.ServerlessPerHour, catalog.PrepaidMonthHourly, catalog.PrepaidYearHourly,
	}
	billingShort = map[string][]catalog.BillingMode{
		"reserved":     billingModes[2:11],
		"savings-plan": billingModes[11:13],
		"all":          billingModes,
	}
)

var billingCodec = codec[[]catalog.BillingMode]{
	name: "enum",
	read: func(r *reader, f *Field, n *yaml.Node) ([]catalog.BillingMode, bool) {
		s, ok := enum[string]().read(r, f, n)
		if !ok {
			return nil, false
		}
		if modes, short := billingShort[s]; short {
			return modes, true
		}
		return []catalog.BillingMode{catalog.BillingMode(s)}, true
	},
	write: func(v []catalog.BillingMode) (any, bool) {
		names := make([]any, len(v))
		for i, m := range v {
			names[i] = string(m)
		}
		return names, len(v) > 0
	},
	schema: enum[string]().schema,
}

var billingEnum = func() []string {
	names := []string{"reserved", "savings-plan", "all"}
	for _, m := range billingModes {
		names = append(names, string(m))
	}
	return names
}()
