// Package skypilot reads catalogs in SkyPilot's format, a folder of vms.csv for each provider: the public ones, a mirror's, or
// files of one's own.
//
// Invariants: it is a copy, so its prices are second-hand and of the day that the copy was made, where that can be known; it does
// not list all that a provider has, so nothing is gone for not being in it; a provider that fails is lost. Imported by front/app only.
package skypilot

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/connect/fetch"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/catalog/intake"
	"github.com/rackrate/rackrate/internal/facts/provider"
)

// Maker makes the source of kind skypilot.
// Source: https://github.com/skypilot-org/skypilot-catalog
var Maker = feed.Maker{
	Kind: "skypilot", Keyless: true, Layer: catalog.Copy, Title: "SkyPilot catalog",
	Reference: "https://github.com/skypilot-org/skypilot-catalog", Licence: "Apache-2.0", New: open,
}

const (
	address = "https://raw.githubusercontent.com/skypilot-org/skypilot-catalog/master/catalogs/v8"
	commits = "https://api.github.com/repos/skypilot-org/skypilot-catalog/commits"
	// folder is where the public catalog is in its repository.
	folder = "catalogs/v8"
	// perSecond is how often to ask.
	perSecond = 4
	// maxFile bounds a file: that of AWS is the largest, with some 30 MB.
	maxFile = 256 << 20
	// maxCommits bounds the answer with the newest change of a file.
	maxCommits = 1 << 20
)

// folders are those of the public catalog, by SkyPilot's names.
var folders = []string{
	"aws", "azure", "cudo", "daytona", "do", "fluidstack", "gcp", "hyperbolic", "hyperstack", "ibm", "jarvislabs", "lambda", "lium",
	"mithril", "nebius", "oci", "paperspace", "primeintellect", "runpod", "seeweb", "shadeform", "spheron", "vast", "verda", "yotta",
}

type source struct {
	feed.Config
	http  *fetch.Client
	world feed.World
	base  string
	dates string // where to ask when a file was changed; empty: nobody knows
	asOf  string // the day that the user says the prices are of
}

func open(c feed.Config, w feed.World) (feed.Source, error) {
	faults := c.Check(feed.Takes{Providers: true, Path: true, Currency: true, Endpoints: []string{"commits"}, Options: []string{"as_of"}})
	c.Providers = slices.Clone(c.Providers)
	s := &source{Config: c, http: c.Client(w.HTTP, perSecond), world: w, base: c.Address("", address), dates: c.Address("commits", ""), asOf: c.Options["as_of"]}
	if c.Endpoint == "" && s.dates == "" {
		s.dates = commits
	}
	if c.Path != "" && c.Endpoint != "" {
		faults = append(faults, problem.New(problem.Input, "feed.not_both", problem.Args{"Source": c.Name}).At(c.File, c.Line))
	}
	if _, err := time.Parse(time.DateOnly, s.asOf); s.asOf != "" && err != nil {
		faults = append(faults, c.Bad("as_of", s.asOf, "2026-05-20"))
	}
	for i, name := range c.Providers {
		p, err := provider.Embedded().Find(name)
		if err != nil {
			for _, bad := range problem.All(err) {
				faults = append(faults, bad.At(c.File, c.Line))
			}
			continue
		}
		c.Providers[i] = p.ID
	}
	return s, faults.OrNil()
}

// part is one provider's file.
type part struct{ provider, at string }

// Fetch reads a folder of files, or each provider's file from an address.
func (s *source) Fetch(ctx context.Context, to feed.Sink) error {
	parts, err := s.parts()
	if err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(parts))
	lost, err := feed.Each(ctx, to, names, func(ctx context.Context, name string) error {
		p := parts[name]
		if s.Path != "" {
			return s.file(p, to)
		}
		return s.download(ctx, p, to)
	})
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(lost)) {
		to.Lost(name, "", lost[name])
	}
	return nil
}

// parts are the files to read, by provider.
func (s *source) parts() (map[string]part, error) {
	found := map[string]part{}
	add := func(name, at string) {
		p, err := provider.Embedded().Find(name)
		if err != nil || len(s.Providers) > 0 && !slices.Contains(s.Providers, p.ID) {
			return // of nobody we know, such as common
		}
		if have, ok := found[p.ID]; !ok || newer(at, have.at) {
			found[p.ID] = part{p.ID, at}
		}
	}
	if s.Path == "" {
		for _, name := range folders {
			add(name, name+"/vms.csv")
		}
		for _, id := range s.Providers { // one that the public catalog lacks is in the folder of its id, or nowhere
			if _, ok := found[id]; !ok {
				found[id] = part{id, id + "/vms.csv"}
			}
		}
		return found, nil
	}
	names, err := s.world.List(s.Path)
	if err != nil {
		return nil, s.Unreadable(s.Path, err)
	}
	for _, name := range names {
		if path.Base(name) == "vms.csv" {
			inside := path.Dir(name)
			if inside == "." {
				inside = s.Path
			}
			add(path.Base(inside), name)
		}
	}
	if len(found) == 0 {
		return nil, feed.Empty(s.Name)
	}
	return found, nil
}

// newer says whether a file is of a later version of the catalog: v8/lambda/vms.csv over v7/lambda/vms.csv, and v10 over v9.
func newer(a, b string) bool {
	va, vb := version(a), version(b)
	if len(va) != len(vb) {
		return len(va) > len(vb)
	}
	return va > vb
}

func version(name string) string {
	for _, p := range strings.Split(name, "/") {
		if n, ok := strings.CutPrefix(p, "v"); ok && n != "" && strings.Trim(n, "0123456789") == "" {
			return strings.TrimLeft(n, "0")
		}
	}
	return ""
}

func (s *source) file(p part, to feed.Sink) error {
	name := path.Join(s.Path, p.at)
	data, err := s.world.Read(name)
	if err != nil {
		return s.Unreadable(name, err)
	}
	rows, err := s.read(p, bytes.NewReader(data))
	if err != nil {
		return err
	}
	rows.emit(s.asOf, to)
	return nil
}

func (s *source) download(ctx context.Context, p part, to feed.Sink) error {
	day, err := s.day(ctx, p)
	if err != nil {
		return err
	}
	at := s.base + "/" + p.at
	var got *rows
	err = s.http.Stream(ctx, fetch.Request{URL: at, MaxBytes: maxFile}, func(in io.Reader) (err error) {
		if got, err = s.read(p, in); err != nil {
			return fetch.Malformed(at, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	got.emit(day, to)
	return nil
}

// day is when a file was last changed; empty where nobody knows.
func (s *source) day(ctx context.Context, p part) (string, error) {
	if s.asOf != "" || s.dates == "" {
		return s.asOf, nil
	}
	var answer []struct {
		Commit struct {
			Committer struct {
				Date time.Time `json:"date"`
			} `json:"committer"`
		} `json:"commit"`
	}
	q := url.Values{"path": {folder + "/" + p.at}, "per_page": {"1"}}
	at := s.dates + "?" + q.Encode()
	if err := feed.JSON(ctx, s.http, fetch.Request{URL: at, MaxBytes: maxCommits}, &answer); err != nil {
		return "", err
	}
	if len(answer) == 0 || answer[0].Commit.Committer.Date.IsZero() {
		return "", feed.Empty(s.Name + " " + p.provider)
	}
	return answer[0].Commit.Committer.Date.UTC().Format(time.DateOnly), nil
}

// rows are what a file says, held back until it is read whole.
type rows struct {
	listings []intake.Listing
	rejected []intake.Rejection
	passed   int
}

// Add takes a row.
func (r *rows) Add(l intake.Listing) { r.listings = append(r.listings, l) }

// Reject takes a row that is none; machines without accelerators, most rows of a large cloud, are only counted.
func (r *rows) Reject(no intake.Rejection) {
	if no.Kind == intake.NoAccelerator {
		r.passed++
		return
	}
	r.rejected = append(r.rejected, no)
}

func (s *source) read(p part, in io.Reader) (*rows, error) {
	r := &rows{}
	err := intake.Read(p.at, in, r, intake.ReadOptions{
		Provider: p.provider, Providers: provider.Embedded(), Currency: s.Currency, Chips: s.world.Chips, Known: s.world.Known,
	})
	if err != nil {
		return nil, err
	}
	if len(r.listings) == 0 {
		return nil, feed.Empty(s.Name + " " + p.provider)
	}
	return r, nil
}

// emit adds the rows of a day; of an unknown day, they are those of the reading and say so.
func (r *rows) emit(day string, to feed.Sink) {
	for _, l := range r.listings {
		for i := range l.Prices {
			p := &l.Prices[i]
			p.AsOf, p.Confidence = day, catalog.Secondary
			if day == "" {
				p.Flags = append(slices.Clone(p.Flags), catalog.DateUnknown)
			}
		}
		to.Add(l)
	}
	for _, no := range r.rejected {
		to.Reject(no)
	}
	to.Pass(r.passed)
}
