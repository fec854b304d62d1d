package plan

import (
	"math"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate/persample"
	"github.com/rackrate/rackrate/internal/choose/price"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// build turns a candidate into the plan a reader sees.
func (s *search) build(f fold) Plan {
	c := f.best
	p := Plan{
		Offer: c.offer, Price: *c.price, Hourly: c.hourly, Provider: c.place.provider, Region: c.place.region,
		Billing: c.mode, Mix: s.mixture(c), Instances: c.machines, Accelerators: int(math.Ceil(c.offer.Count)) * c.machines, Estimate: *c.est,
	}
	if s.job.Service() {
		p.ByHour = s.byHour(c)
	}
	hours, start := unit.Hours(c.hours), s.start(c)
	p.Time = Time{Hours: hours, LowHours: hours, HighHours: hours, P95Hours: hours, Start: start}
	if c.est.Hours > 0 {
		stretch := (hours - start) / c.est.Hours // by interruptions
		p.Time.LowHours, p.Time.HighHours = start+c.est.LowHours*stretch, start+c.est.HighHours*stretch
	}
	switch {
	case c.mode == catalog.Spot:
		s.interrupt(&p, c)
	case c.mode == catalog.ServerlessPerHour && s.job.Service():
		s.serverless(&p, c)
	}
	p.Cost = cost(s.bill(c, c.hours))
	p.Cost.Flow, p.Cost.Effective = s.flow(c, c.hours), price.Effective(p.Cost.Lines[0].Amount, s.needed(c, c.hours))
	p.Cost.Runs = s.runs()
	p.Cost.PerRun = p.Cost.Total.Mul(1 / float64(p.Cost.Runs))
	low, high := s.bill(c, float64(p.Time.LowHours)), s.bill(c, float64(p.Time.HighHours))
	p.Cost.Low, p.Cost.High = low.total(), high.total()
	p.Cost.PerUnit = perUnit(s.Workload, p.Cost.Total, c.est.Work*float64(p.Cost.Runs))
	p.Carbon = Carbon{Kg: maybeKg(c.carbon), Grid: c.place.grid, PUE: c.place.pue, Basis: c.place.basis}
	if kwh, ok := s.energy(c); ok {
		p.Carbon.Energy = unit.Some(unit.KilowattHours(kwh))
	}
	for _, e := range s.elsewhere(f) {
		p.AlsoIn = append(p.AlsoIn, Elsewhere{e.offer.Region, e.offer.Zone, money.Micros(e.total, s.Currency)})
	}
	p.Warnings = s.warnings(&p, c)
	return p
}

// interrupt sets what interruptions do to a plan. A service has no end to put off: it loses machines.
func (s *search) interrupt(p *Plan, c *candidate) {
	r := s.risk(c)
	p.Spot = &Spot{PerHour: r.perHour, Basis: r.basis, Source: r.source, Notice: c.place.provider.SpotNotice, Overhead: 1}
	if s.job.Service() {
		p.Spot.ExpectedPreemptions = r.perHour * c.hours
		return
	}
	p.Time.P95Hours = p.Time.Start + unit.Hours(r.outcome.P95)
	p.Spot.CheckpointEvery, p.Spot.ExpectedPreemptions = unit.Hours(r.outcome.Every), r.outcome.Interruptions
	if c.est.Hours > 0 {
		p.Spot.Overhead = r.outcome.Mean / float64(c.est.Hours)
	}
}

// serverless says how a service on serverless workers behaves. Where more requests start cold than the 99th percentile leaves out, its
// latencies are those of a cold start.
func (s *search) serverless(p *Plan, c *candidate) {
	e := s.elasticOf(c)
	p.Serverless = &Serverless{e.workers, e.least, e.most, e.cold, e.start, e.keepAlive}
	if e.cold <= promisedShare {
		return
	}
	v := &p.Estimate.Serving
	for i, latency := range []*unit.Hours{&v.TTFT, nil, &v.E2E} {
		if latency != nil && *latency > 0 {
			*latency += e.start
			if v.Highs[i] > 0 {
				v.Highs[i] += e.start
			}
		}
	}
}

// cost lists the lines that are not nothing; their sum is the total exactly.
func cost(b bill) Cost {
	c := Cost{Total: b.total(), Unknown: b.unknown.list()}
	for _, l := range [...]Line{{Compute, b.compute, false}, {Storage, b.storage, b.assumed.storage}, {Egress, b.egress, b.assumed.egress}, {People, b.people, false}, {Delay, b.delay, false}} {
		if l.Item == Compute || !l.Amount.IsZero() {
			c.Lines = append(c.Lines, l)
		}
	}
	return c
}

// perUnit is the cost of the unit people compare by.
func perUnit(w *workload.Workload, total money.Amount, work float64) PerUnit {
	if work <= 0 {
		return PerUnit{}
	}
	each := total.Float() / work
	if persample.Does(w) {
		return PerUnit{each * 1e6, "1M samples"}
	}
	switch w.Kind {
	case workload.Train, workload.Finetune, workload.Serve:
		return PerUnit{each * 1e6, "1M tokens"}
	case workload.BatchInfer:
		return PerUnit{each * 1e3, "1k requests"}
	case workload.Diffuse:
		return PerUnit{each, "image"}
	case workload.Render:
		return PerUnit{each, "frame"}
	case workload.Simulate:
		return PerUnit{each * 1e6, "1M steps"}
	case workload.Hash:
		return PerUnit{each * 1e12, "1T hashes"}
	}
	// A unit of the user's own may be tiny: prices of a thousand or a million of them can be read.
	switch n := w.Custom.Units; {
	case n >= 1e8:
		return PerUnit{each * 1e6, "1M " + w.Custom.Unit}
	case n >= 1e5:
		return PerUnit{each * 1e3, "1k " + w.Custom.Unit}
	}
	return PerUnit{each, w.Custom.Unit}
}
