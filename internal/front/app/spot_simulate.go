package app

import (
	"context"
	"math"
	"slices"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/spot"
	"github.com/rackrate/rackrate/internal/choose/spot/deadline"
)

// SpotPrice is the price of a spot instance: a number, or a file of them by time.
type SpotPrice struct {
	Rate money.Rate
	File string // empty for a number
}

// SpotSimulateRequest is work under a deadline, and where it may be played.
type SpotSimulateRequest struct {
	deadline.Ask
	Traces, History []string
	OnDemand        money.Rate  // of one instance
	Spot            []SpotPrice // of one instance: one for all traces, or one for each
	Starts, Nodes   int
	Policies        []string // none for all
	Together        bool     // the traces are the zones of one market
}

// SpotSimulation is how the policies did.
type SpotSimulation struct {
	SpotSimulateRequest
	*deadline.Report
	Hourly     money.Rate             // on demand, of all instances, in the report's currency
	SpotHourly unit.Maybe[money.Rate] // as Hourly, where it never changes and is the same for all traces
	Zones      int                    // traces read
}

// Missed is how many runs of all policies missed the deadline.
func (s *SpotSimulation) Missed() int {
	n := 0
	for _, score := range s.Overall {
		n += score.Missed
	}
	return n
}

// SpotSimulate plays policies on recorded availability.
func (a *App) SpotSimulate(ctx context.Context, q SpotSimulateRequest) (*SpotSimulation, error) {
	series, err := a.Traces(q.Traces)
	faults := problem.All(err)
	past, err := a.Traces(q.History)
	faults = append(faults, problem.All(err)...)
	prices, err := a.spotPrices(q, len(series))
	faults = append(faults, problem.All(err)...)
	var history []spot.Trace
	for _, s := range past {
		history = append(history, spot.TraceOf(s, q.Nodes))
	}
	policies, err := deadline.Named(q.Policies, history...)
	faults = append(faults, problem.All(err)...)
	hourly, err := a.converted(q.OnDemand)
	faults = append(faults, problem.All(err)...)
	if faults != nil {
		return nil, faults
	}
	hourly = hourly.Mul(float64(q.Nodes))
	markets, err := markets(q, series, prices, hourly)
	if err != nil {
		return nil, err
	}
	report, err := deadline.Sweep{Ask: q.Ask, Markets: markets, Starts: q.Starts, Policies: policies}.Compare(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil, done(ctx)
		}
		return nil, err
	}
	return &SpotSimulation{q, report, hourly, steady(prices, hourly.Currency()), len(series)}, nil
}

// steady is the price that holds throughout and everywhere.
func steady(prices []spot.Prices, c money.Currency) unit.Maybe[money.Rate] {
	first := prices[0].Nanos[0]
	if slices.ContainsFunc(prices, func(p spot.Prices) bool { return p.Gap != maxTick || p.Nanos[0] != first }) {
		return unit.None[money.Rate]()
	}
	return unit.Some(money.PerHour(first, c))
}

// spotPrices are the prices of an instance for each of so many traces, in the currency that amounts are shown in.
func (a *App) spotPrices(q SpotSimulateRequest, traces int) ([]spot.Prices, error) {
	var out []spot.Prices
	var faults problem.List
	for _, p := range q.Spot {
		prices := spot.Prices{Gap: maxTick, Nanos: []int64{p.Rate.Nanos()}, Currency: p.Rate.Currency()}
		if p.File != "" {
			name, data, err := a.ReadTable(p.File)
			if err == nil {
				prices, err = spot.ParsePrices(name, data)
			}
			if err != nil {
				faults = append(faults, problem.All(err)...)
				continue
			}
			if prices.Currency == "" {
				prices.Currency = a.Config.Money()
			}
		}
		for i, nanos := range prices.Nanos {
			rate, err := a.converted(money.PerHour(nanos, prices.Currency))
			if err != nil {
				faults = append(faults, problem.All(err)...)
				break
			}
			prices.Nanos[i] = rate.Mul(float64(q.Nodes)).Nanos()
		}
		out = append(out, prices)
	}
	if traces > 0 && len(out) > 1 && len(out) != traces {
		faults = append(faults, problem.New(problem.Input, "spot.prices_count", problem.Args{"Prices": len(out), "Traces": traces}))
	}
	return out, faults.OrNil()
}

// maxTick is the length of the one tick of a price that holds throughout.
const maxTick = unit.Hours(math.MaxFloat64)

// markets are the places where the work is played: each trace by itself, or all as zones of one.
func markets(q SpotSimulateRequest, series []spot.Series, prices []spot.Prices, hourly money.Rate) ([]*deadline.Market, error) {
	var out []*deadline.Market
	var faults problem.List
	var gaps []float64
	for i, s := range series {
		p := prices[min(i, len(prices)-1)]
		faults = append(faults, sameStart(s.Name, s.Since, p.Name, p.Since)...)
		zone := deadline.Zone{Name: s.Name, Up: spot.TraceOf(s, q.Nodes).Up, Price: p.On(s.Gap, len(s.At))}
		zone.Up = zone.Up[:len(zone.Price)] // a market is known as far as both its availability and its price are
		if !q.Together || i == 0 {
			out = append(out, &deadline.Market{Gap: s.Gap, OnDemand: hourly, Zones: []deadline.Zone{zone}})
			continue
		}
		first := series[0]
		if other := s.Gap.Seconds(); math.Abs(other-first.Gap.Seconds()) > 1e-6 && !slices.Contains(gaps, other) {
			gaps = append(gaps, other) // once for each length
			faults = append(faults, problem.New(problem.Input, "spot.gaps_differ", problem.Args{"Trace": s.Name, "Gap": other, "Other": first.Name, "OtherGap": first.Gap.Seconds()}))
		}
		faults = append(faults, sameStart(s.Name, s.Since, first.Name, first.Since)...)
		out[0].Zones = append(out[0].Zones, zone)
	}
	return out, faults.OrNil()
}

// sameStart refuses two files that both say when they start and do not agree, since tick would not meet tick.
func sameStart(name string, since unit.Maybe[int64], other string, otherSince unit.Maybe[int64]) problem.List {
	a, known := since.Get()
	b, too := otherSince.Get()
	if !known || !too || a == b {
		return nil
	}
	return problem.List{problem.New(problem.Input, "spot.starts_differ", problem.Args{"Trace": name, "Other": other})}
}

// Slack is the share of the work that the deadline leaves beside it.
func (q SpotSimulateRequest) Slack() float64 { return float64(q.Deadline/q.Work) - 1 }
