package workload

import (
	"fmt"
	"slices"
	"strings"
)

// Example is a commented workload file of one kind, to start from: what is needed and what is usual stands
// there, the rest is commented out. The language is en or zh.
func Example(k Kind, lang string) []byte {
	var b strings.Builder
	for line := range strings.SplitSeq(exampleHead.In(lang), "\n") {
		fmt.Fprintf(&b, "# %s\n", line)
	}
	fs := FieldsOf(k)
	for i := 0; i < len(fs); {
		group := parent(fs[i].Path)
		end := i + 1
		for end < len(fs) && group != "" && parent(fs[end].Path) == group {
			end++
		}
		if group == "" {
			b.WriteString(exampleLine(&fs[i], k, lang, "", fs[i].standsIn(k)))
		} else {
			exampleGroup(&b, group, fs[i:end], k, lang)
		}
		i = end
	}
	return []byte(b.String())
}

var exampleHead = Text{
	"A workload: what to run, and within which limits. Keys after a # are optional: remove the # to use one.\n" +
		"Rank the plans for it with: rackrate plan FILE",
	"一个作业：要运行什么，以及有哪些限制。带 # 的键是可选的，删除 # 即可启用。\n" +
		"用以下命令得到排序后的方案：rackrate plan 文件",
}

// standsIn says whether a key stands uncommented in the example of a kind.
func (f *Field) standsIn(k Kind) bool { return f.Required || slices.Contains(f.shown, k) }

func exampleGroup(b *strings.Builder, group string, fs []Field, k Kind, lang string) {
	stands := slices.ContainsFunc(fs, func(f Field) bool { return f.standsIn(k) })
	i := slices.IndexFunc(groups, func(g Group) bool { return g.Path == group })
	b.WriteString(commented(group+":", groups[i].Doc.In(lang), "", stands))
	for j := range fs {
		b.WriteString(exampleLine(&fs[j], k, lang, "  ", fs[j].standsIn(k)))
	}
}

func exampleLine(f *Field, k Kind, lang, indent string, stands bool) string {
	value := f.example(k)
	if f.List {
		value = "[" + value + "]"
	}
	doc := f.Doc.In(lang)
	if len(f.Enum) > 0 && f.Path != "billing" {
		doc += " " + strings.Join(f.Enum, " | ")
	}
	return commented(f.Path[len(parentPrefix(f.Path)):]+": "+value, doc, indent, stands)
}

// commented puts the documentation to the right of a key, in a column where the key is short enough.
func commented(text, doc, indent string, stands bool) string {
	const column = 34
	lead := indent
	if !stands {
		lead = "# " + indent
	}
	return fmt.Sprintf("%-*s # %s\n", column, lead+text, doc)
}
