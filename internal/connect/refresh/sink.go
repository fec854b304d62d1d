package refresh

import (
	"slices"
	"sync"

	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/catalog/intake"
	"github.com/rackrate/rackrate/internal/facts/provider"
)

// sink gathers what a source says.
type sink struct {
	job   Job
	watch Watch

	mu     sync.Mutex
	in     *intake.Intake
	covers []catalog.Cover
	bands  []provider.Band
	terms  []catalog.Term
	lost   []Loss
}

func newSink(j Job, o Options) *sink {
	confidence := catalog.Secondary
	if j.Layer == catalog.Vendor {
		confidence = catalog.Listed
	}
	if j.From.Date == "" {
		j.From.Date = j.AsOf
	}
	return &sink{job: j, watch: o.Watch, in: intake.New(intake.Options{
		Source: j.From, AsOf: j.AsOf, Chips: o.Chips, Known: o.Known, Confidence: confidence,
	})}
}

func (s *sink) with(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

// Add takes one row.
func (s *sink) Add(l intake.Listing) { s.with(func() { s.in.Add(l) }) }

// Cite makes a source known that rows name beside the one that is read.
func (s *sink) Cite(c catalog.Source) { s.with(func() { s.in.Cite(c) }) }

// Reject takes a row that the source cannot read.
func (s *sink) Reject(r intake.Rejection) { s.with(func() { s.in.Reject(r) }) }

// Pass counts rows that are no offers.
func (s *sink) Pass(n int) { s.with(func() { s.in.Pass(n) }) }

// Covers takes what was read whole.
func (s *sink) Covers(provider, region string, modes ...catalog.BillingMode) {
	s.with(func() {
		for _, m := range modes {
			s.covers = append(s.covers, catalog.Cover{Provider: provider, Region: region, Mode: m})
		}
	})
}

// Lost takes what could not be read.
func (s *sink) Lost(provider, region string, why error) {
	s.with(func() { s.lost = append(s.lost, Loss{Provider: provider, Region: region, Why: why}) })
}

// Band takes an interruption band.
func (s *sink) Band(b provider.Band) {
	if b.AsOf == "" {
		b.AsOf = s.job.AsOf
	}
	if b.Source == "" {
		b.Source = s.job.From.Title
	}
	s.with(func() { s.bands = append(s.bands, b) })
}

// Term takes a line of a contract.
func (s *sink) Term(t catalog.Term) {
	if t.AsOf == "" {
		t.AsOf = s.job.AsOf
	}
	if t.Source == "" {
		t.Source = s.job.From.ID
	}
	s.with(func() { s.terms = append(s.terms, t) })
}

// Progress passes on how far the reading is.
func (s *sink) Progress(done, total int64) {
	if s.watch != nil {
		s.watch.Progress(s.job.Name, done, total)
	}
}

// snapshot is all that was said.
func (s *sink) snapshot(read intake.Result) *catalog.Snapshot {
	sources := read.Sources
	if !slices.ContainsFunc(sources, func(c catalog.Source) bool { return c.ID == s.job.From.ID }) {
		sources = append(slices.Clone(sources), s.job.From)
	}
	return &catalog.Snapshot{
		Source: s.job.Name, Layer: s.job.Layer, AsOf: s.job.AsOf, Machines: read.Machines, Rows: read.Rows, Sources: sources,
		Covers: s.covers, Bands: s.bands, Terms: s.terms,
	}
}
