package plan

import (
	"math"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// build turns a candidate into the plan a reader sees.
func (s *search) build(f fold) Plan {
	c := f.best
	o, est := c.offer, c.est
	pr := o.Prices[c.price]
	hourly, _ := s.Exchange.Rate(pr.Hourly, s.Currency)
	machines := int(c.machines)
	p := Plan{
		Offer: o, Price: pr, Hourly: hourly, Provider: c.place.provider, Region: c.place.region,
		Instances: machines, Accelerators: int(math.Ceil(o.Count)) * machines, Estimate: *est,
	}
	start := s.start()
	p.Time = Time{Hours: unit.Hours(c.hours), LowHours: unit.Hours(c.hours), HighHours: unit.Hours(c.hours), P95Hours: unit.Hours(c.hours), Start: start}
	if est.Hours > 0 {
		stretch := (unit.Hours(c.hours) - start) / est.Hours // by interruptions
		p.Time.LowHours, p.Time.HighHours = start+est.LowHours*stretch, start+est.HighHours*stretch
	}
	if pr.Mode == catalog.Spot {
		p.Spot = s.spot(o, c)
		if !s.job.Service() {
			p.Time.P95Hours = start + unit.Hours(s.interrupted(o, est, machines).P95)
		}
	}
	b := s.bill(o, c.place, hourly, pr.Mode, machines, est, c.hours)
	p.Cost = s.cost(b)
	p.Cost.Low = s.total(c, hourly, pr.Mode, float64(p.Time.LowHours))
	p.Cost.High = s.total(c, hourly, pr.Mode, float64(p.Time.HighHours))
	p.Cost.PerUnit = perUnit(s.Workload, p.Cost.Total, est.Work)
	p.Carbon.Basis, p.Carbon.Grid, p.Carbon.PUE = c.place.basis, c.place.grid, c.place.pue
	if kwh, ok := s.energy(o, c.place, est, machines, c.hours); ok {
		p.Carbon.Energy = unit.Some(unit.KilowattHours(kwh))
	}
	p.Carbon.Kg = maybeKg(c.carbon)
	for _, e := range f.also {
		p.AlsoIn = append(p.AlsoIn, Elsewhere{e.offer.Region, e.offer.Zone, money.Micros(e.total, s.Currency)})
	}
	p.Warnings = s.warnings(&p, c)
	return p
}

func (s *search) total(c candidate, hourly money.Rate, mode catalog.BillingMode, hours float64) money.Amount {
	b := s.bill(c.offer, c.place, hourly, mode, int(c.machines), c.est, hours)
	return b.total()
}

func (s *search) spot(o *catalog.Offer, c candidate) *Spot {
	proc, basis, source := s.process(o, c.est, int(c.machines))
	sp := &Spot{PerHour: 1 / proc.MTBI, Basis: basis, Source: source, Notice: c.place.provider.SpotNotice, Overhead: 1}
	if s.job.Service() {
		sp.ExpectedPreemptions = sp.PerHour * c.hours
		return sp
	}
	r := s.interrupted(o, c.est, int(c.machines))
	sp.CheckpointEvery, sp.ExpectedPreemptions = unit.Hours(r.Every), r.Interruptions
	if c.est.Hours > 0 {
		sp.Overhead = r.Mean / float64(c.est.Hours)
	}
	return sp
}

// cost lists the lines that are not nothing; their sum is the total exactly.
func (s *search) cost(b bill) Cost {
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
