package render

import (
	"maps"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/front/say"
	"github.com/rackrate/rackrate/internal/front/wire"
)

// snake is the part of a message's name for a field.
func snake(s string) string { return strings.ToLower(s) }

// translated gives the figures with those that are words of ours said in the reader's language.
func translated(args problem.Args, s *say.Speaker) say.Args {
	out := maps.Clone(args)
	for _, key := range []string{"Missing", "Part", "Looks", "Want"} {
		if text, ok := out[key].(string); ok {
			var words []string
			for word := range strings.SplitSeq(text, ",") {
				words = append(words, s.Term("fault_word", word))
			}
			out[key] = words
		}
	}
	return out
}

// Markdown writes the table of kinds as a piece of a document.
func (d *Verified) Markdown(p *Printer) { d.grid(p.Say, d.kinds()).Markdown(p) }

// Wire gives the JSON.
func (d *Verified) Wire(s *say.Speaker) any {
	out := wire.Verified{
		Schema: wire.VerifySchema, Errors: d.Errors(), Flags: d.count(catalog.IsFlag),
		Kinds: []wire.VerifiedKind{}, Files: []wire.VerifiedFile{},
	}
	for _, k := range d.kinds() {
		out.Kinds = append(out.Kinds, wire.VerifiedKind{
			Kind: string(k.kind), Severity: string(k.severity), Count: len(k.found), Message: s.Text("fault." + string(k.kind)),
		})
	}
	for _, f := range d.files {
		out.Files = append(out.Files, wire.VerifiedFile{File: f.name, Faults: append([]catalog.Fault{}, f.faults...)})
	}
	return out
}

// Rows gives one row a finding, the heads first.
func (d *Verified) Rows() [][]string {
	rows := [][]string{{"file", "line", "kind", "severity", "provider", "instance_type", "region", "zone", "billing"}}
	for _, f := range d.files {
		for _, x := range f.faults {
			line := ""
			if x.Line > 0 {
				line = strconv.Itoa(x.Line)
			}
			rows = append(rows, []string{f.name, line, string(x.Kind), string(x.Severity), x.Provider, x.InstanceType, x.Region, x.Zone, string(x.Mode)})
		}
	}
	return rows
}
