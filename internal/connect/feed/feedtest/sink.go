package feedtest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/catalog/intake"
	"github.com/rackrate/rackrate/internal/facts/provider"
)

// Sink keeps what a source says. The zero value is empty.
type Sink struct {
	mu         sync.Mutex
	Listings   []intake.Listing
	Rejections []intake.Rejection
	Passed     int
	Covered    []catalog.Cover
	Losses     []Loss
	Bands      []provider.Band
	Terms      []catalog.Term
}

// Loss is a part that could not be read.
type Loss struct {
	Provider, Region string
	Why              error
}

// Add keeps a row.
func (s *Sink) Add(l intake.Listing) { s.with(func() { s.Listings = append(s.Listings, l) }) }

// Reject keeps a rejection.
func (s *Sink) Reject(r intake.Rejection) { s.with(func() { s.Rejections = append(s.Rejections, r) }) }

// Pass counts rows.
func (s *Sink) Pass(n int) { s.with(func() { s.Passed += n }) }

// Covers keeps what was read whole.
func (s *Sink) Covers(provider, region string, modes ...catalog.BillingMode) {
	s.with(func() {
		for _, m := range modes {
			s.Covered = append(s.Covered, catalog.Cover{Provider: provider, Region: region, Mode: m})
		}
	})
}

// Lost keeps a loss.
func (s *Sink) Lost(provider, region string, why error) {
	s.with(func() { s.Losses = append(s.Losses, Loss{provider, region, why}) })
}

// Band keeps a band.
func (s *Sink) Band(b provider.Band) { s.with(func() { s.Bands = append(s.Bands, b) }) }

// Term keeps a line of a contract.
func (s *Sink) Term(t catalog.Term) { s.with(func() { s.Terms = append(s.Terms, t) }) }

// Progress keeps nothing.
func (s *Sink) Progress(_, _ int64) {}

func (s *Sink) with(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

// Lines gives every price as a line, and listings without one, sorted.
func (s *Sink) Lines() []string {
	var lines []string
	s.with(func() {
		for _, l := range s.Listings {
			if len(l.Prices) == 0 {
				lines = append(lines, Line(l, catalog.Price{}))
			}
			for _, p := range l.Prices {
				lines = append(lines, Line(l, p))
			}
		}
	})
	slices.Sort(lines)
	return lines
}

// Line is a price as "provider type region/zone count x chip mode hourly currency flags", with a dash for what is not stated.
func Line(l intake.Listing, p catalog.Price) string {
	or := func(s string) string {
		if s == "" {
			return "-"
		}
		return s
	}
	place := or(l.Region)
	if l.Zone != "" {
		place += "/" + l.Zone
	}
	line := fmt.Sprintf("%s %s %s %s x %s", l.Provider, or(l.InstanceType), place, strconv.FormatFloat(l.Count, 'g', 6, 64), or(l.Accelerator))
	if p.Mode == "" {
		return line + " listed"
	}
	line += fmt.Sprintf(" %s %s %s", p.Mode, p.Hourly.Decimal(), p.Hourly.Currency())
	var flags []string
	for _, f := range p.Flags {
		flags = append(flags, string(f))
	}
	if len(flags) > 0 {
		line += " " + strings.Join(flags, ",")
	}
	return line
}
