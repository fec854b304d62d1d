package cli

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/rackrate/rackrate/internal/choose/accuracy"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/front/cli/render"
	"github.com/rackrate/rackrate/internal/front/say"
)

// badly is the median error from which a group is listed among what is predicted badly, where it has rows enough to tell.
const badly, enoughRows = 0.25, 10

// accuracyReference is the errors of the last fit by kind and accelerator, what is predicted badly, and what each fit rests on.
func accuracyReference(s *say.Speaker, curves *estimate.Curves) string {
	doc := &render.Accuracy{Summaries: accuracy.Embedded(curves), By: "accelerator"}
	for _, k := range curves.Calibrations {
		doc.AsOf = max(doc.AsOf, k.AsOf)
	}
	var b strings.Builder
	title := func(id string) { b.WriteString("\n## " + s.Text(id) + "\n\n") }
	b.WriteString("# " + s.Text("docs.accuracy.title") + "\n\n" + s.Text("docs.generated") + "\n\n" + s.Text("docs.accuracy") + "\n\n")
	p := render.NewPrinter(render.Options{Say: s})
	doc.Markdown(p)
	var tables strings.Builder
	_ = p.Flush(&tables) // a builder cannot fail
	overall, chips, _ := strings.Cut(tables.String(), "\n\n")
	b.WriteString(overall + "\n\n" + s.Text("accuracy.legend") + " " + s.Text("accuracy.legend.unseen") + "\n")
	title("docs.accuracy.badly")
	b.WriteString(s.Text("docs.accuracy.badly_text") + "\n\n")
	bad := false
	for _, x := range doc.Summaries {
		for _, g := range worstGroups(x.Shares) {
			bad = true
			b.WriteString("- " + s.Say("docs.accuracy.badly_row", say.Args{"Kind": s.Term("target", string(x.Target)), "By": s.Text("accuracy.by." + g.By),
				"Value": g.Value, "Median": s.Percent(g.MdAPE), "Rows": g.N}) + "\n")
		}
	}
	if !bad {
		b.WriteString(s.Text("docs.accuracy.none") + "\n")
	}
	title("docs.accuracy.worst")
	for _, x := range doc.Summaries {
		for _, w := range x.Worst[:min(3, len(x.Worst))] {
			b.WriteString("- " + s.Term("target", string(x.Target)) + " · " + render.WorstRow(s, x.Target, w) + "\n")
		}
	}
	title("docs.accuracy.chips")
	b.WriteString(chips)
	title("docs.accuracy.fits")
	fits(&b, s, curves)
	return b.String()
}

// worstGroups is the groups that are predicted badly, the worst first.
func worstGroups(shares []estimate.Share) []estimate.Share {
	bad := slices.DeleteFunc(slices.Clone(shares), func(g estimate.Share) bool { return g.MdAPE < badly || g.N < enoughRows || g.By == "source" })
	slices.SortStableFunc(bad, func(a, b estimate.Share) int { return cmp.Compare(b.MdAPE, a.MdAPE) })
	return bad
}

// fits lists what each calibration holds and rests on.
func fits(b *strings.Builder, s *say.Speaker, curves *estimate.Curves) {
	for _, target := range estimate.Fittable {
		k := curves.Calibrations[target]
		if k == nil {
			continue
		}
		b.WriteString("**" + s.Term("target", string(target)) + "** · " + s.Say("docs.accuracy.fit", say.Args{"Rows": k.N, "Groups": k.Groups, "Date": k.AsOf,
			"Terms": slices.Sorted(maps.Keys(k.Terms)), "Params": slices.Sorted(maps.Keys(k.Params))}) + "\n\n")
		for _, source := range k.Sources {
			b.WriteString("- " + source + "\n")
		}
		b.WriteString("\n")
	}
}
