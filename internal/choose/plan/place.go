package plan

import (
	"time"

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

// age is how many days ago a price was quoted.
func (s *search) age(asOf string) int {
	days, seen := s.ages[asOf]
	if !seen {
		if day, err := time.Parse(time.DateOnly, asOf); err == nil { // the loader has refused what is no day
			days = int(s.today.Sub(day).Hours() / 24)
		}
		s.ages[asOf] = days
	}
	return days
}
