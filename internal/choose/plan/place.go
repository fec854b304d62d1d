package plan

import (
	"strconv"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/provider"
)

type placeKey struct{ provider, region string }

// place is what is known of where an offer stands.
type place struct {
	provider *provider.Provider // never nil: an unknown one has its id and nothing else
	region   provider.Region
	grid     unit.Maybe[unit.GramsPerKWh]
	pue      float64
	basis    string // of the grid figure: region, country or unknown
}

func (s *search) place(o *catalog.Offer) *place {
	key := placeKey{o.Provider, o.Region}
	if p := s.places[key]; p != nil {
		return p
	}
	p := &place{region: s.Providers.Region(o.Provider, o.Region), pue: s.Curves.Run.PUE, basis: "unknown"}
	var ok bool
	if p.provider, ok = s.Providers.Provider(o.Provider); !ok {
		p.provider = &provider.Provider{ID: o.Provider, Name: o.Provider}
	}
	if v, known := p.region.PUE.Get(); known {
		p.pue = v
	}
	if p.grid = p.region.Grid; p.grid.Known() {
		p.basis = "region"
	} else if m, known := s.Providers.GridFallback(p.region.Country); known {
		p.grid, p.basis = unit.Some(m.Grid), "country"
	}
	s.places[key] = p
	return p
}

// dayNumber counts the days of an ISO date from a fixed day; only differences mean something.
func dayNumber(iso string) (int, bool) {
	if len(iso) != 10 || iso[4] != '-' || iso[7] != '-' {
		return 0, false
	}
	y, err1 := strconv.Atoi(iso[:4])
	m, err2 := strconv.Atoi(iso[5:7])
	d, err3 := strconv.Atoi(iso[8:])
	if err1 != nil || err2 != nil || err3 != nil || m < 1 || m > 12 || d < 1 || d > 31 {
		return 0, false
	}
	// The year starts in March, so that a leap day is the last.
	if m < 3 {
		y, m = y-1, m+12
	}
	return 365*y + y/4 - y/100 + y/400 + (153*(m-3)+2)/5 + d, true
}
