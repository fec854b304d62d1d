package app

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/front/config"
)

// HistoryQuery says whose prices are wanted.
type HistoryQuery struct {
	Instance string   // an instance type, or provider/type
	Regions  []string // none: all
	Modes    []catalog.BillingMode
}

// History is what a machine cost over time, as the store and the built-in catalog saw it.
type History struct {
	*catalog.Machine
	Currency money.Currency
	Series   []PriceSeries
	From     string // the first day of any point
}

// PriceSeries is the price of one way of paying in one place as one source said it, oldest first.
type PriceSeries struct {
	Source, Region, Zone string
	Mode                 catalog.BillingMode
	Points               []PricePoint
}

// PricePoint is a price from a day on; not Known where it was no longer offered.
type PricePoint struct {
	Day    string
	Quoted money.Rate // in the currency of the quote
	Hourly money.Rate // in that of the answer
	Known  bool
}

// PriceHistory gives what a machine cost. A point is a change: the price stands until the next.
func (a *App) PriceHistory(ctx context.Context, q HistoryQuery) (*History, error) {
	machine, err := a.everSold(ctx, q.Instance)
	if err != nil {
		return nil, err
	}
	m, err := a.market()
	if err != nil {
		return nil, err
	}
	h := &History{Machine: machine, Currency: m.currency}
	series := map[seriesKey]*PriceSeries{}
	var regions []string
	add := func(source, day string, c catalog.Change) {
		if !slices.Contains(regions, c.Region) {
			regions = append(regions, c.Region)
		}
		if len(q.Regions) > 0 && !slices.Contains(q.Regions, c.Region) || len(q.Modes) > 0 && !slices.Contains(q.Modes, c.Mode) || day > a.Today {
			return
		}
		key := seriesKey{source, c.Region, c.Zone, c.Mode}
		s := series[key]
		if s == nil {
			s = &PriceSeries{Source: source, Region: c.Region, Zone: c.Zone, Mode: c.Mode}
			series[key] = s
		}
		p := PricePoint{Day: day, Quoted: c.New}
		if !c.New.IsZero() {
			p.Hourly, p.Known = m.exchange.Rate(c.New, m.currency)
		}
		s.Points = append(s.Points, p)
	}
	wanted := a.Config.List(config.Source)
	if err := a.storedChanges(ctx, h.Machine, wanted, add); err != nil {
		return nil, err
	}
	if len(wanted) == 0 || slices.Contains(wanted, string(catalog.BuiltIn)) {
		if err := builtInPrices(h.Machine, add); err != nil {
			return nil, err
		}
	}
	for _, s := range series {
		// A list that came in later may be of an earlier day.
		slices.SortStableFunc(s.Points, func(x, y PricePoint) int { return strings.Compare(x.Day, y.Day) })
		h.Series = append(h.Series, *s)
		if first := s.Points[0].Day; h.From == "" || first < h.From {
			h.From = first
		}
	}
	slices.SortFunc(h.Series, func(x, y PriceSeries) int {
		return cmp.Or(strings.Compare(x.Region, y.Region), strings.Compare(x.Zone, y.Zone),
			slices.Index(catalog.Modes(), x.Mode)-slices.Index(catalog.Modes(), y.Mode), strings.Compare(x.Source, y.Source))
	})
	if len(h.Series) == 0 {
		fault := problem.New(problem.NoMatch, "catalog.no_history", problem.Args{"Name": q.Instance, "Regions": strings.Join(q.Regions, ", ")})
		for _, r := range q.Regions {
			if !slices.Contains(regions, r) {
				fault.Suggest = append(fault.Suggest, problem.Nearest(r, regions, 2)...)
			}
		}
		return nil, fault
	}
	return h, nil
}

// everSold is the machine of a name, also one that nobody sells any more of which the store keeps what it cost.
func (a *App) everSold(ctx context.Context, instance string) (*catalog.Machine, error) {
	found, _, err := a.find(instance)
	if err == nil {
		return found[0].Machine, nil
	}
	if problem.All(err)[0].Kind != problem.NoMatch {
		return nil, err
	}
	m, failed := a.goneMachine(ctx, instance)
	if m == nil && failed == nil {
		failed = err
	}
	return m, failed
}

// goneMachine looks for a machine in the snapshots that changed its prices; nil where there is none. Without its provider in the name
// it is asked for under each that is known.
func (a *App) goneMachine(ctx context.Context, instance string) (m *catalog.Machine, err error) {
	db, err := a.storeToRead(ctx)
	if err != nil || db == nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	vendor, name, both := strings.Cut(instance, "/")
	vendors := []string{vendor}
	if !both {
		name, vendors = instance, nil
		for _, p := range a.Providers().Providers() {
			vendors = append(vendors, p.ID)
		}
	}
	for _, vendor := range vendors {
		changes, err := db.Changes(ctx, vendor, name)
		if err != nil {
			return nil, err
		}
		for _, c := range changes { // the last of them may be that it is gone
			packed, err := db.Archive(ctx, c.Snapshot)
			if err != nil {
				return nil, err
			}
			snap, err := catalog.ReadArchive(c.Source, "", c.AsOf, packed, a.Chips())
			if err != nil {
				continue // another program wrote it
			}
			i := slices.IndexFunc(snap.Machines, func(m *catalog.Machine) bool { return m.Provider == vendor && m.InstanceType == name })
			if i >= 0 {
				return snap.Machines[i], nil
			}
		}
	}
	return nil, nil
}

type seriesKey struct {
	source, region, zone string
	mode                 catalog.BillingMode
}

// storedChanges gives the changes that the store keeps of a machine, oldest first.
func (a *App) storedChanges(ctx context.Context, m *catalog.Machine, wanted []string, add func(source, day string, c catalog.Change)) (err error) {
	db, err := a.storeToRead(ctx)
	if err != nil || db == nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	all, err := db.Changes(ctx, m.Provider, m.InstanceType)
	if err != nil {
		return err
	}
	for _, c := range all {
		if len(wanted) > 0 && !slices.Contains(wanted, c.Source) {
			continue
		}
		changes, err := catalog.ReadChangeLines(m.Provider, m.InstanceType, c.Lines)
		if err != nil {
			return err
		}
		for _, one := range changes {
			add(c.Source, c.AsOf, one)
		}
	}
	return nil
}

// builtInPrices gives what ships with the program, each price on its own day.
func builtInPrices(m *catalog.Machine, add func(source, day string, c catalog.Change)) error {
	builtIn, err := catalog.Embedded()
	if err != nil {
		return err
	}
	for _, o := range builtIn.Find(m.Provider + "/" + m.InstanceType) {
		for _, p := range o.Prices {
			add(string(catalog.BuiltIn), p.AsOf, catalog.Change{Region: o.Region, Zone: o.Zone, Mode: p.Mode, New: p.Hourly})
		}
	}
	return nil
}

// DiffQuery says which two days are compared.
type DiffQuery struct {
	From, To string // ISO days; To empty is the day that is looked at
}

// Difference is what changed in what the settings look at from one day to another.
type Difference struct {
	From, To string
	Changes  []catalog.Change
}

// CatalogDiff compares what can be rented on two days. The built-in catalog is the same on both: its prices say of which day they
// are, not since when.
func (a *App) CatalogDiff(q DiffQuery) (*Difference, error) {
	d := &Difference{From: q.From, To: q.To}
	if d.To == "" {
		d.To = a.Today
	}
	whole := func(c *catalog.Catalog) *catalog.Catalog { return c }
	var states [2]*catalog.Catalog
	for i, day := range [...]string{d.From, d.To} {
		if _, err := time.Parse(time.DateOnly, day); err != nil {
			return nil, problem.New(problem.Input, "cli.bad_day", problem.Args{"Value": day})
		}
		then := *a
		then.Today = day
		v, err := then.viewOver(whole)
		if err != nil {
			return nil, err
		}
		states[i] = v.catalog
	}
	d.Changes = catalog.Diff(states[0], states[1])
	return d, nil
}
