package plan

import (
	"slices"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/price"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/provider"
)

// oldPriceDays is the age from which a price is called old: lists of this field move several times a year.
const oldPriceDays = 90

// manyAccelerators is the number from which new accounts are refused without asking for quota.
const manyAccelerators = 16

// Args are a warning's figures, by the names its message uses.
type Args = map[string]any

// warnings is what a buyer should know of a plan, gravest first.
func (s *search) warnings(p *Plan, c *candidate) []Warning {
	var ws []Warning
	add := func(when bool, code string, args Args) {
		if when {
			ws = append(ws, Warning{code, args})
		}
	}
	o, est, l := c.offer, c.est, s.Workload.Limits
	add(l.Deadline > 0 && p.Time.HighHours > l.Deadline && !s.job.Service(), "deadline_at_risk", Args{"High": p.Time.HighHours, "Deadline": l.Deadline})
	add(s.costs.limited && p.Cost.High.Cmp(s.costs.budget) > 0, "budget_at_risk", Args{"High": p.Cost.High, "Budget": s.costs.budget})
	add(est.Speed.Like == estimate.LikeNone, "nothing_like_it", nil)
	add(o.Reservation, "reservation_only", nil)
	add(p.Accelerators >= manyAccelerators, "quota_to_check", Args{"Accelerators": p.Accelerators})
	s.termWarnings(p, c, add)
	s.elasticWarnings(p, c, add)
	s.spotWarnings(p, c, add)
	s.machineWarnings(o, est, add)
	s.inputWarnings(c, add)
	quotes := p.quotes()
	for _, q := range quotes {
		if s.age(q.AsOf) == c.age {
			add(c.age > oldPriceDays, "price_old", Args{"Days": c.age, "AsOf": q.AsOf})
			break
		}
	}
	var flags []catalog.Flag
	for _, q := range quotes {
		for _, f := range q.Flags {
			add(!slices.Contains(flags, f) && f != catalog.InStock, "price_"+string(f), nil) // no warning but a comfort
			flags = append(flags, f)
		}
	}
	for _, line := range p.Cost.Lines {
		add(line.Assumed, "cost_assumed", Args{"Item": string(line.Item)})
	}
	for _, item := range p.Cost.Unknown {
		add(true, "cost_unknown", Args{"Item": string(item)})
	}
	add(!p.Carbon.Kg.Known(), "carbon_unknown", nil)
	add(s.unnamedStack(o), "stack_to_check", Args{"Stack": o.Accelerator.Stack, "Chip": o.Accelerator.Name})
	ws = append(ws, s.softwareWarnings(o)...)
	return ws
}

// termWarnings tells of terms that go on after the time that is priced.
func (s *search) termWarnings(p *Plan, c *candidate, add func(bool, string, Args)) {
	if n := s.work(c.machines, c.hours).AtOnce(); n > 1 {
		add(true, "runs_overlap", Args{"Count": n, "Accelerators": n * p.Accelerators})
	}
	span := max(p.Time.Hours, s.Workload.Horizon)
	beyond := func(mode catalog.BillingMode, machines int, hourly money.Rate) {
		term := mode.Term()
		part := s.job.Service() && s.Workload.Horizon == 0 // of the term is all that is charged
		add(span < term && part, "commitment_beyond_job", Args{"Term": term, "Total": price.Compute(hourly, machines, term)})
		add(span < term && !part, "commitment_outlasts", Args{"Term": term})
	}
	if p.Mix == nil {
		beyond(p.Price.Mode, p.Instances, p.Hourly)
		return
	}
	for _, v := range p.Mix.Shares {
		beyond(v.Mode, v.Machines, v.Hourly)
		if v.Mode == catalog.Spot {
			perHour, _, _, _ := s.Providers.Interruption(c.offer.Provider, c.offer.Region, c.offer.InstanceType)
			add(true, "spot_share", Args{"Count": v.Machines, "PerHour": perHour})
		}
	}
}

// elasticWarnings tells of requests that wait for a serverless worker, or of what it takes that none does.
func (s *search) elasticWarnings(p *Plan, c *candidate, add func(bool, string, Args)) {
	v := p.Serverless
	if v == nil {
		return
	}
	add(v.Cold > promisedShare, "serverless_cold", Args{"Percent": 100 * v.Cold, "Start": v.ColdStart})
	add(v.MostWarm > 0 && s.elasticOf(c).promised, "serverless_warm", Args{"Count": v.MostWarm, "Start": v.ColdStart})
}

func (s *search) spotWarnings(p *Plan, c *candidate, add func(bool, string, Args)) {
	if p.Spot == nil {
		_, priced := c.offer.Mode(catalog.Spot)
		wanted := slices.Contains(s.costs.modes, catalog.Spot) && c.place.provider.SpotOffered.Or(false)
		add(wanted && !priced, "spot_price_unknown", nil)
		return
	}
	add(p.Spot.Basis == provider.BasisTraces, "spot_rate_assumed", Args{"PerHour": p.Spot.PerHour})
	add(s.job.Service(), "spot_service", Args{"PerHour": p.Spot.PerHour})
	every := p.Spot.CheckpointEvery
	if every > 0 && c.est.Checkpoint > 0 {
		run := s.Curves.Run
		save := unit.FromSeconds(c.est.Checkpoint.GB() / (run.CheckpointGBs * float64(p.Instances)))
		add(save > every/10, "checkpoint_slow", Args{"Save": save, "Every": every, "Bytes": c.est.Checkpoint})
	}
}

func (s *search) machineWarnings(o *catalog.Offer, est *estimate.Estimate, add func(bool, string, Args)) {
	if mem, ok := o.Accelerator.Memory(); ok {
		want := unit.Bytes(2 * float64(mem) * o.Count)
		ram, known := o.RAM.Get()
		add(known && ram < want, "host_ram_low", Args{"Have": ram, "Want": want})
		add(!known, "host_ram_unknown", Args{"Want": want})
	}
	talks := !s.job.Independent() && o.Count > 1
	add(talks && o.Topology == catalog.PCIeOnly && o.Count >= 8, "pcie_only", Args{"Count": o.Count, "Link": est.Bottleneck.Link})
	add(!s.job.Independent() && est.Bottleneck.Network > 0.25, "network_bound", Args{"Share": est.Bottleneck.Network})
	for _, f := range o.Flags {
		if f == catalog.TopologyInferred && !talks {
			continue
		}
		add(true, "machine_"+string(f), nil)
	}
}

// inputWarnings holds the reading rate that the work states against what its machines can take in. Data that fits on local NVMe
// is copied there once and no longer waits for the network.
func (s *search) inputWarnings(c *candidate, add func(bool, string, Args)) {
	data, machines := s.Workload.Data, float64(c.machines)
	if data.Read == 0 || data.Size > 0 && float64(c.offer.NVMe.Or(0))*machines >= float64(data.Size) {
		return
	}
	gbps, known := c.offer.NetworkGbps.Get()
	have := unit.BytesPerSec(gbps * 1e9 / 8 * machines)
	add(!known, "input_unknown", Args{"Need": data.Read})
	add(known && have < data.Read, "input_slow", Args{"Need": data.Read, "Have": have})
}
