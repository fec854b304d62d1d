package say

import (
	"maps"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/problem"
)

// Problem says one problem as people fix it: where it is, what is wrong and what to do, and what was probably meant.
func (s *Speaker) Problem(p *problem.Error) string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File)
		if p.Line > 0 {
			b.WriteString(":" + strconv.Itoa(p.Line))
		}
		b.WriteString(": ")
	}
	if inside, ok := p.Args["Inside"].(string); ok {
		b.WriteString(printable(inside) + ": ")
	}
	id := "problem." + p.Code
	if p.Code == "workload.unknown_name" && p.Args["Type"] == "enum" {
		id = "problem.workload.unknown_word"
	}
	b.WriteString(s.Say(id, s.words(p.Args)))
	if len(p.Suggest) > 0 {
		b.WriteString(s.Say("problem.suggest", Args{"Names": s.Or(p.Suggest)}))
	}
	return b.String()
}

// Or joins alternatives: "a, b or c".
func (s *Speaker) Or(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return s.Say("list.or", Args{"First": s.List(names[:last]), "Last": names[last]})
}

// words gives the figures with those that name something of ours said in the reader's language.
func (s *Speaker) words(args problem.Args) Args {
	out := maps.Clone(args)
	for key, set := range map[string]string{"Type": "type", "Got": "type", "Reason": "selector", "Class": "class"} {
		if word, ok := out[key].(string); ok {
			out[key] = s.Term(set, word)
		}
	}
	for _, key := range []string{"Error", "Detail"} { // what the file system says
		if text, ok := out[key].(string); ok {
			out[key] = s.Term("os", text)
		}
	}
	return out
}
