package render

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/catalog/intake"
	"github.com/rackrate/rackrate/internal/front/app"
	"github.com/rackrate/rackrate/internal/front/say"
	"github.com/rackrate/rackrate/internal/front/wire"
)

// problems says each problem of an error.
func problems(err error, s *say.Speaker) []string {
	var out []string
	for _, p := range problem.All(err) {
		out = append(out, s.Problem(p))
	}
	return out
}

// codes lists the codes of an error's problems.
func codes(err error) string {
	var out []string
	for _, p := range problem.All(err) {
		out = append(out, p.Code)
	}
	return strings.Join(out, ";")
}

// rejected is the rows that were left out for one reason.
type rejected struct {
	kind  string
	count int
	at    []string
}

// byKind groups the rejections of all sources, the commonest reason first.
func (d *Refreshed) byKind() []rejected {
	index := map[intake.Kind]int{}
	var out []rejected
	for i := range d.Results {
		for _, r := range d.Results[i].Read.Rejections {
			at, seen := index[r.Kind]
			if !seen {
				at = len(out)
				index[r.Kind] = at
				out = append(out, rejected{kind: string(r.Kind)})
			}
			out[at].count++
			out[at].at = append(out[at].at, placeOf(r.At))
		}
	}
	slices.SortStableFunc(out, func(a, b rejected) int {
		return cmp.Or(-cmp.Compare(a.count, b.count), strings.Compare(a.kind, b.kind))
	})
	return out
}

func placeOf(at intake.Place) string {
	if at.Line == 0 {
		return at.File
	}
	return at.File + ":" + strconv.Itoa(at.Line)
}

// Wire gives the JSON.
func (d *Refreshed) Wire(s *say.Speaker) any {
	sources := make([]wire.CatalogSource, len(d.Results))
	for i := range d.Results {
		sources[i] = sourceWire(&d.Results[i], s)
		if d.Paths != nil {
			file := filepath.ToSlash(d.Paths[i])
			sources[i].File = &file
		}
	}
	skipped := []wire.SkippedSource{}
	for _, k := range d.Skipped {
		skipped = append(skipped, wire.SkippedSource{Source: k.Name, Errors: messages(k.Why, s)})
	}
	if d.Paths == nil {
		return wire.CatalogUpdate{Schema: wire.CatalogUpdateSchema, DryRun: d.DryRun, Sources: sources, Skipped: skipped}
	}
	out := wire.CatalogImport{
		Schema: wire.CatalogImportSchema, DryRun: d.DryRun, Rejections: []wire.Rejections{}, Files: sources, Skipped: skipped,
	}
	for i := range d.Results {
		t := d.Results[i].Read.Tally
		out.Read, out.Kept, out.Merged, out.Rejected = out.Read+t.Read, out.Kept+t.Kept, out.Merged+t.Merged, out.Rejected+t.Rejected
	}
	for _, k := range d.byKind() {
		out.Rejections = append(out.Rejections, wire.Rejections{Kind: k.kind, Message: rejectedText(k.kind, s), Count: k.count, At: k.at})
	}
	return out
}

func sourceWire(r *app.SourceResult, s *say.Speaker) wire.CatalogSource {
	t, seconds := r.Read.Tally, r.Took.Round(1e6).Seconds()
	out := wire.CatalogSource{
		Source: r.Job.Name, Layer: string(r.Job.Layer), Outcome: string(r.Outcome), Seconds: &seconds,
		Read: t.Read, Kept: t.Kept, Merged: t.Merged, Rejected: t.Rejected, Offers: r.Offers, Prices: r.Prices, Terms: r.Terms,
		LeftOut: leftOut(r, true), Changes: map[string]int{}, Lost: lostParts(r.Lost, s), Unrecognised: []wire.UnrecognisedChip{}, Errors: messages(r.Err, s),
	}
	if r.LastGood != "" {
		out.AsOf = &r.LastGood
	}
	counts := changeCounts(r.Changes)
	for _, k := range catalog.ChangeKinds() {
		out.Changes[string(k)] = counts[k]
	}
	for _, u := range r.Read.Unrecognised {
		out.Unrecognised = append(out.Unrecognised, wire.UnrecognisedChip{Text: u.Text, Provider: u.Provider, Count: u.Count, First: placeOf(u.First)})
	}
	return out
}

func lostParts(lost []app.SourceLoss, s *say.Speaker) []wire.LostPart {
	out := []wire.LostPart{}
	for _, l := range lost {
		out = append(out, wire.LostPart{Provider: l.Provider, Region: wire.Text(l.Region), Kept: l.Kept, Errors: messages(l.Why, s)})
	}
	return out
}

// messages gives each problem of an error by its code, with its text.
func messages(err error, s *say.Speaker) []wire.Message {
	out := []wire.Message{}
	for _, p := range problem.All(err) {
		out = append(out, wire.MessageOf(p.Code, p.Args, s.Problem(p)))
	}
	return out
}
