package app

import (
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/spot"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/provider"
)

// traceFiles are what a folder of traces is searched for.
var traceFiles = []string{".json", ".csv", ".json.gz", ".csv.gz"}

// Traces reads files of availability; folders are searched. The names leave out what all have in common. All faults come together.
func (a *App) Traces(paths []string) ([]spot.Series, error) {
	var files []string
	var faults problem.List
	for _, path := range paths {
		found, err := a.Files.Under(path, traceFiles...)
		switch {
		case err != nil:
			faults = append(faults, problem.New(problem.Input, "cli.unreadable", problem.Args{"Path": path, "Error": reason(err)}).Wrap(err))
		case len(found) == 0:
			faults = append(faults, problem.New(problem.Input, "spot.no_files", problem.Args{"Path": path, "Suffixes": traceFiles}))
		}
		for _, file := range found {
			if !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
	}
	var out []spot.Series
	names := traceNames(files)
	for i, file := range files {
		name, data, err := a.ReadTable(file)
		if err == nil {
			var s spot.Series
			s, err = spot.ParseSeries(name, data)
			s.Name = names[i]
			out = append(out, s)
		}
		faults = append(faults, problem.All(err)...)
	}
	return out, faults.OrNil()
}

// traceNames are the paths without the folders that all of them lie in, and without their endings.
func traceNames(files []string) []string {
	names := make([]string, len(files))
	common := ""
	for i, file := range files {
		dir := filepath.ToSlash(filepath.Dir(file)) + "/"
		if i == 0 {
			common = dir
		}
		for !strings.HasPrefix(dir, common) {
			common = common[:strings.LastIndex(strings.TrimSuffix(common, "/"), "/")+1]
		}
	}
	for i, file := range files {
		name := strings.TrimPrefix(filepath.ToSlash(filepath.Clean(file)), strings.TrimPrefix(common, "./"))
		for _, end := range []string{".gz", ".json", ".csv"} {
			name = strings.TrimSuffix(name, end)
		}
		names[i] = name
	}
	return names
}

// converted brings a rate into the currency that amounts are shown in.
func (a *App) converted(r money.Rate) (money.Rate, error) {
	to, err := a.Currency()
	if err != nil {
		return r, err
	}
	x, err := a.Exchange()
	if err != nil {
		return r, err
	}
	out, ok := x.Rate(r, to)
	if !ok {
		return r, problem.New(problem.Input, "cli.unknown_currency", problem.Args{"Currency": string(r.Currency())})
	}
	return out, nil
}

// SpotIntervalRequest is work on interruptible instances, and how often they are taken away.
type SpotIntervalRequest struct {
	Work, Save, Restart unit.Hours
	Notice              unit.Maybe[unit.Hours] // where it is not given, that of the instance's provider
	Instances           int                    // the loss of any stops the work
	PerHour             unit.Maybe[float64]    // losses of one instance
	Traces              []string
	Instance, Region    string
	Spot, OnDemand      unit.Maybe[money.Rate] // of one instance; where they are not given, the catalog's
}

// Where a rate of interruption comes from, beside the bases of the catalog's.
const (
	RateGiven  provider.Basis = "given"
	RateTraced provider.Basis = "traced"
)

// SpotMethod is a way to choose the interval, and what comes of it.
type SpotMethod struct {
	Name string // young, daly or exact
	spot.Outcome
	Checkpoints   float64
	Cost, P95Cost unit.Maybe[money.Amount]
}

// SpotInterval is how often to save, and what the work then takes.
type SpotInterval struct {
	Request    SpotIntervalRequest
	Process    spot.Process
	Currency   money.Currency
	Basis      provider.Basis
	Source     string
	Spells     *spot.Spells // nil without a trace
	Traces     int
	Methods    []SpotMethod // the exact one last
	OnDemand   unit.Maybe[money.Amount]
	Replay     *spot.Replayed // at the exact interval; nil without a trace, or where no instance was lost
	ReplayCost unit.Maybe[money.Amount]
	ReplayP95  unit.Maybe[money.Amount]
}

// Best is the exact method.
func (s *SpotInterval) Best() SpotMethod { return s.Methods[len(s.Methods)-1] }

// Saving is the share of the cost on demand that a cost on spot saves.
func (s *SpotInterval) Saving(cost unit.Maybe[money.Amount]) unit.Maybe[float64] {
	c, ok := cost.Get()
	od, known := s.OnDemand.Get()
	if !ok || !known || od.IsZero() {
		return unit.None[float64]()
	}
	return unit.Some(1 - c.Float()/od.Float())
}

// replays is how often recorded spells are replayed; the 95th percentile then varies by under a per cent.
const replays = 4000

// SpotInterval finds the best interval between checkpoints.
func (a *App) SpotInterval(q SpotIntervalRequest) (*SpotInterval, error) {
	out := &SpotInterval{}
	var err error
	if out.Currency, err = a.Currency(); err != nil {
		return nil, err
	}
	perHour, err := a.interruption(&q, out)
	if err != nil {
		return nil, err
	}
	p := spot.Process{MTBI: 1 / perHour, Save: float64(q.Save), Restart: float64(q.Restart), Notice: float64(q.Notice.Or(0))}
	work := float64(q.Work)
	out.Process, out.Request = p, q
	for _, m := range []struct {
		name  string
		every float64
	}{{"young", p.Young(work)}, {"daly", p.Daly(work)}, {"exact", p.Interval(work)}} {
		o := p.Run(work, m.every)
		checkpoints := math.Max(0, math.Ceil((work-p.Save)/o.Every-1e-9)-1)
		out.Methods = append(out.Methods, SpotMethod{m.name, o, checkpoints, q.cost(q.Spot, o.Mean), q.cost(q.Spot, o.P95)})
	}
	out.OnDemand = q.cost(q.OnDemand, work)
	if s := out.Spells; s != nil && s.Losses > 0 {
		r := p.Replay(work, out.Best().Every, *s, replays, 1)
		out.Replay, out.ReplayCost, out.ReplayP95 = &r, q.cost(q.Spot, r.Paid), q.cost(q.Spot, r.PaidP95)
	}
	return out, nil
}

// cost is that of all instances over so many hours; not known without a price, or without an end.
func (q *SpotIntervalRequest) cost(r unit.Maybe[money.Rate], hours float64) unit.Maybe[money.Amount] {
	rate, ok := r.Get()
	if !ok || math.IsInf(hours, 0) {
		return unit.None[money.Amount]()
	}
	return unit.Some(rate.Mul(float64(q.Instances)).For(hours))
}

// interruption is the losses an hour of all instances together, from what was given, a trace or the catalog; the catalog fills in the
// prices and the notice that were not given.
func (a *App) interruption(q *SpotIntervalRequest, out *SpotInterval) (perHour float64, err error) {
	var faults problem.List
	for _, r := range []*unit.Maybe[money.Rate]{&q.Spot, &q.OnDemand} {
		if given, ok := r.Get(); ok {
			rate, err := a.converted(given)
			*r = unit.Some(rate)
			faults = append(faults, problem.All(err)...)
		}
	}
	if faults != nil {
		return 0, faults
	}
	if q.Instance != "" {
		perHour, err = a.instance(q, out)
		if err != nil {
			return 0, err
		}
		perHour *= float64(q.Instances)
	}
	if given, ok := q.PerHour.Get(); ok {
		out.Basis, out.Source = RateGiven, ""
		return given * float64(q.Instances), nil
	}
	if len(q.Traces) == 0 {
		return perHour, nil
	}
	series, err := a.Traces(q.Traces)
	if err != nil {
		return 0, err
	}
	var traces []spot.Trace
	for _, s := range series {
		traces = append(traces, spot.TraceOf(s, q.Instances))
	}
	spells := spot.SpellsOf(traces...)
	if len(spells.Up) == 0 {
		return 0, problem.New(problem.NoMatch, "spot.never_up", problem.Args{"Instances": q.Instances})
	}
	out.Basis, out.Source, out.Spells, out.Traces = RateTraced, "", &spells, len(traces)
	return 1 / spells.MTBI(), nil
}

// instance is the losses an hour of one instance of the catalog.
func (a *App) instance(q *SpotIntervalRequest, out *SpotInterval) (perHour float64, err error) {
	offers, _, err := a.find(q.Instance)
	if err != nil {
		return 0, err
	}
	x, err := a.Exchange()
	if err != nil {
		return 0, err
	}
	o, places := offers[0], regions(offers)
	if q.Region != "" && !slices.Contains(places, q.Region) {
		return 0, problem.New(problem.NoMatch, "spot.not_there", problem.Args{"Instance": o.InstanceType, "Region": q.Region}).With(problem.Nearest(q.Region, places, 3)...)
	}
	for mode, rate := range map[catalog.BillingMode]*unit.Maybe[money.Rate]{catalog.Spot: &q.Spot, catalog.OnDemand: &q.OnDemand} {
		if p, hourly := leastOf(mode, offers, q.Region, out.Currency, x); p != nil && !rate.Known() {
			*rate = unit.Some(hourly)
		}
	}
	if p, err := a.Providers().Find(o.Provider); err == nil && !q.Notice.Known() {
		q.Notice = p.SpotNotice
	}
	var ok bool
	perHour, out.Basis, out.Source, ok = a.Providers().Interruption(o.Provider, q.Region, o.InstanceType)
	if !ok && !q.PerHour.Known() && len(q.Traces) == 0 {
		return 0, problem.New(problem.NoMatch, "spot.not_offered", problem.Args{"Provider": o.Provider})
	}
	return perHour, nil
}
