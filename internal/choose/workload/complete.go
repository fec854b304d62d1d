package workload

import (
	"math"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// has says whether the user gave a key, well or badly.
func (r *reader) has(path string) bool { return r.given[path] != nil }

// suits says whether the workload's network has a key; where the network is not known it may.
func (r *reader) suits(f *Field) bool {
	m := r.draft.Model
	return f.For == nil || m == nil || f.For(m)
}

// complete reports what is missing, and what is said in two ways.
func (r *reader) complete(root *yaml.Node) {
	for i := range table {
		if f := &table[i]; f.Required && f.of(r.kind) && r.suits(f) && !r.has(f.Path) && !r.has(f.Unless) {
			r.missing(root, f)
		}
	}
	for _, c := range choices {
		if c.of(r.kind) {
			r.choose(root, c)
		}
	}
	for _, c := range companions {
		if c.of(r.kind) && r.has(c.key) && !r.has(c.needs) {
			r.fault(r.given[c.key], codeNeedsAlso, problem.Args{"Key": c.key, "Other": c.needs})
		}
	}
}

// lacking reports a fault of absence: on the group's line, else on the kind's, or at the flag that sets the key.
func (r *reader) lacking(root *yaml.Node, path, code string, args problem.Args) {
	line := root.Line
	if k := r.given["kind"]; k != nil {
		line = k.Line
	}
	if g := r.given[parent(path)]; g != nil && r.flags[g] == "" && g.Line > 0 {
		line = g.Line
	}
	if r.file == "" {
		if f := field(path, r.kind); f != nil {
			args["Flag"] = "--" + f.Flag
		}
	}
	r.at(line, code, args)
}

func (r *reader) missing(root *yaml.Node, f *Field) {
	r.lacking(root, f.Path, codeMissing, problem.Args{"Key": f.Path, "Kind": string(r.kind), "Example": f.example(r.kind)})
}

// suited is the choice without the ways that the workload's network has no use for.
func (r *reader) suited(c choice) choice {
	c.ways = slices.DeleteFunc(slices.Clone(c.ways), func(way []string) bool {
		return slices.ContainsFunc(way, func(path string) bool { return !r.suits(field(path, r.kind)) })
	})
	return c
}

// choose holds a choice to one way, and that way to all of its keys.
func (r *reader) choose(root *yaml.Node, c choice) {
	used, first := -1, ""
	for i, way := range c.ways {
		for _, path := range way {
			switch {
			case !r.has(path):
			case used < 0:
				used, first = i, path
			case used != i:
				r.fault(r.given[path], codeTwoWays, problem.Args{"Key": path, "Other": first, "Ways": c.String()})
				return
			}
		}
	}
	if used < 0 {
		if c.required {
			r.lacking(root, c.ways[0][0], codeMissingChoice, problem.Args{"Kind": string(r.kind), "Ways": r.suited(c).String()})
		}
		return
	}
	for _, path := range c.ways[used] {
		if !r.has(path) && r.suits(field(path, r.kind)) {
			r.fault(r.given[first], codeNeedsAlso, problem.Args{"Key": first, "Other": path})
		}
	}
}

// applyDefaults fills in what was left open, through the same decoder, and remembers it.
func (r *reader) applyDefaults() {
	for i := range table {
		f := &table[i]
		if !f.of(r.kind) || !r.suits(f) || r.has(f.Path) || r.rivalGiven(f.Path) {
			continue
		}
		text := f.Default
		if f.fill != nil {
			text = f.fill(r.draft)
		}
		if text == "" {
			continue
		}
		n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
		if f.bind.read(r, f, n) {
			r.draft.Defaulted = append(r.draft.Defaulted, f.Path)
			r.good[f.Path] = true
		}
	}
}

// rivalGiven says whether the user said the same thing in another way.
func (r *reader) rivalGiven(path string) bool {
	return slices.ContainsFunc(rivals(path, r.kind), r.has)
}

// derive works out the figures that were said in another way than they are kept.
func (r *reader) derive() {
	d := r.draft
	r.fitTrace()
	switch {
	case d.Horizon == 0:
	case d.Kind == Serve:
		d.Duration = d.Horizon
	default: // so many runs a month: 30 days are one, and so are 31
		d.Horizon = unit.Hours(max(1, math.Round(float64(d.Horizon/unit.HoursPerMonth)))) * unit.HoursPerMonth
	}
	if d.Kind == Simulate {
		d.sim.MeasuredIsBound = r.good["seconds_per_step"]
	}
	if !slices.Contains(training, d.Kind) {
		return
	}
	if r.good["global_batch_tokens"] && d.Sequence > 0 {
		// A batch is whole sequences; the nearest number of them, and at least one.
		d.GlobalBatch = max(1, int(d.batchTokens/float64(d.Sequence)+0.5))
	}
	if d.Model != nil && !onTokens(d.Model) {
		if r.good["steps"] {
			d.Samples = d.steps * float64(d.GlobalBatch)
		}
		return
	}
	switch {
	case r.good["samples"]:
		d.Tokens, d.Samples = d.Samples*float64(d.Sequence), 0
	case r.good["steps"]:
		d.Tokens = d.steps * float64(d.GlobalBatch) * float64(d.Sequence)
	case r.good["epochs"] && r.good["dataset_tokens"]:
		d.Tokens = d.epochs * d.datasetTokens
	}
}

// nativeFormat is what a checkpoint ships in, 16-bit where that is not known.
func nativeFormat(d *draft) string {
	if d.Model != nil && d.Model.NativeFormat != "" {
		if d.Model.NativeFormat == "fp32" && !writesText(d.Model) {
			return "fp16" // as such networks are deployed
		}
		return string(d.Model.NativeFormat)
	}
	return "bf16"
}

// generator gives the usual figure of an image generator, or the stand-in where the model has none.
func generator(pick func(*model.Diffusion) string, standIn string) func(*draft) string {
	return func(d *draft) string {
		if d.Model != nil && d.Model.Diffusion != nil {
			if text := pick(d.Model.Diffusion); text != "" {
				return text
			}
		}
		return standIn
	}
}
