package plan

import (
	"math"
	"slices"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/price"
	"github.com/rackrate/rackrate/internal/choose/spot"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/provider"
)

// costs is what the money of a plan needs, in the result's currency.
type costs struct {
	budget  money.Amount
	limited bool
	hourly  money.Amount // of a person
	delay   money.Amount // of a day
	modes   []catalog.BillingMode
	dearest side // the dearest known price of each item, for ranking where one is not known
	sides   map[string]side
}

// side is a provider's prices beside its machines', in the result's currency and per GB or GB-month.
type side struct {
	block, object, egress unit.Maybe[money.Rate]
	free                  float64 // GB of egress
}

func newCosts(s *search) (*costs, error) {
	w := s.Workload
	c := &costs{sides: map[string]side{}, modes: w.Billing}
	convert := func(a money.Amount) (money.Amount, error) {
		v, ok := s.Exchange.Amount(a, s.Currency)
		if !ok {
			return v, problem.New(problem.Input, "plan.unknown_currency", problem.Args{"Currency": string(a.Currency())})
		}
		return v, nil
	}
	var err error
	for _, m := range []struct {
		from unit.Maybe[money.Amount]
		to   *money.Amount
	}{{w.Limits.Budget, &c.budget}, {w.People.Hourly, &c.hourly}, {w.DelayCost, &c.delay}} {
		*m.to = money.Zero(s.Currency)
		if a, ok := m.from.Get(); ok {
			if *m.to, err = convert(a); err != nil {
				return nil, err
			}
		}
	}
	c.limited = w.Limits.Budget.Known()
	for _, p := range s.Providers.Providers() {
		v := sideOf(s, p)
		c.sides[p.ID] = v
		c.dearest = side{dearer(c.dearest.block, v.block), dearer(c.dearest.object, v.object), dearer(c.dearest.egress, v.egress), 0}
	}
	return c, nil
}

func sideOf(s *search, p *provider.Provider) side {
	rate := func(q unit.Maybe[provider.Quote]) unit.Maybe[money.Rate] {
		v, ok := q.Get()
		if !ok {
			return unit.None[money.Rate]()
		}
		r, ok := s.Exchange.Rate(money.PerHour(v.Nanos, money.Currency(v.Currency)), s.Currency)
		if !ok {
			return unit.None[money.Rate]()
		}
		return unit.Some(r)
	}
	return side{rate(p.BlockPerGBMo), rate(p.ObjectPerGBMo), rate(p.EgressPerGB), p.FreeEgressGB.Or(0)}
}

func dearer(a, b unit.Maybe[money.Rate]) unit.Maybe[money.Rate] {
	x, okA := a.Get()
	y, okB := b.Get()
	if !okA || okB && y.Nanos() > x.Nanos() {
		return b
	}
	return a
}

// bill is the cost of a plan by lines. Where a provider's own price of an item is not known, the dearest known price stands in, so that
// an unknown never wins; assumed says of which items.
type bill struct {
	compute, storage, egress, people, delay money.Amount
	assumed, unknown                        items
}

// items is a small set of the side items.
type items struct{ storage, egress bool }

func (i *items) add(item Item) {
	i.storage = i.storage || item == Storage
	i.egress = i.egress || item == Egress
}

func (i items) list() (out []Item) {
	if i.storage {
		out = append(out, Storage)
	}
	if i.egress {
		out = append(out, Egress)
	}
	return out
}

func (b *bill) total() money.Amount {
	return b.compute.Add(b.storage).Add(b.egress).Add(b.people).Add(b.delay)
}

// bill prices a plan of so many machines for so many hours.
func (s *search) bill(o *catalog.Offer, p *place, hourly money.Rate, mode catalog.BillingMode, machines int, est *estimate.Estimate, hours float64) bill {
	c, w := s.costs, s.Workload
	zero := money.Zero(s.Currency)
	b := bill{storage: zero, egress: zero, people: zero, delay: zero}
	billing := price.Billing{Step: p.provider.BillingGranularity.Or(0), Minimum: p.provider.LeastCharge(o.BareMetal.Or(false)).Or(0)}
	paid := price.Commitment{Mode: mode, Ongoing: s.job.Service()}.Hours(billing, unit.Hours(hours))
	b.compute = price.Compute(hourly, machines, paid)
	sd, known := c.sides[o.Provider]
	if !known {
		sd = side{}
	}
	months := hours / unit.HoursPerMonth
	add := func(line *money.Amount, item Item, at, dearest unit.Maybe[money.Rate], gb float64) {
		if gb <= 0 {
			return
		}
		r, known := at.Get()
		if !known {
			if r, known = dearest.Get(); !known {
				b.unknown.add(item)
				return
			}
			b.assumed.add(item)
		}
		*line = line.Add(r.For(gb))
	}
	add(&b.storage, Storage, sd.block, c.dearest.block, gb(s.disk(o))*float64(machines)*months)
	keep := months
	if w.Data.Keep > 0 {
		keep = float64(w.Data.Keep) / unit.HoursPerMonth
	}
	add(&b.storage, Storage, sd.object, c.dearest.object, (gb(w.Data.Size)+2*gb(est.Checkpoint))*keep)
	add(&b.egress, Egress, sd.egress, c.dearest.egress, math.Max(0, gb(w.Data.Egress)-sd.free))
	if w.People.HoursPerWeek > 0 {
		b.people = c.hourly.Mul(w.People.HoursPerWeek * hours / 168)
	}
	if !s.job.Service() {
		b.delay = c.delay.Mul(hours / 24)
	}
	return b
}

func gb(b unit.Bytes) float64 { return float64(b) / float64(unit.GB) }

// systemDisk is what an image, its environment and logs take.
const systemDisk = 100 * unit.GB

// disk is the block storage bought for a machine: what the user asked for, else room for the system and the model's
// weights, which local NVMe covers where it is large enough.
func (s *search) disk(o *catalog.Offer) unit.Bytes {
	w := s.Workload
	if w.Data.Disk > 0 {
		return w.Data.Disk
	}
	need := systemDisk
	if w.Model != nil {
		need += unit.Bytes(2 * w.Model.Params.Total)
	}
	if o.NVMe.Or(0) >= need {
		return 0
	}
	return need
}

// ways prices one estimate in every way of paying that is allowed.
func (s *search) ways(o *catalog.Offer, p *place, est *estimate.Estimate, k int, note func(miss)) {
	allowed := false
	for i := range o.Prices {
		pr := &o.Prices[i]
		if !slices.Contains(s.costs.modes, pr.Mode) {
			continue
		}
		allowed = true
		s.candidates++
		age := s.today
		if d, ok := dayNumber(pr.AsOf); ok {
			age -= d
		}
		if most := s.Workload.Limits.MaxPriceAgeDays; most > 0 && age > most {
			note(miss{reason: ByPriceAge, stage: stagePrice, have: float64(age), want: float64(most), quantity: "days", mode: pr.Mode, machines: k})
			continue
		}
		if doubtful(pr) {
			note(miss{reason: ByDoubt, stage: stagePrice, mode: pr.Mode, machines: k})
			continue
		}
		hourly, ok := s.Exchange.Rate(pr.Hourly, s.Currency)
		if !ok {
			note(miss{reason: ByCurrency, stage: stagePrice, text: string(pr.Hourly.Currency()), quantity: "text", mode: pr.Mode, machines: k})
			continue
		}
		if m, bad := s.outcome(o, p, est, k, i, hourly, age); bad {
			m.mode, m.machines, m.stage = pr.Mode, k, stageOutcome
			note(m)
		}
	}
	switch {
	case len(o.Prices) == 0:
		note(miss{reason: ByPriceUnknown, stage: stagePrice, machines: k})
	case !allowed:
		note(miss{reason: ByBilling, stage: stagePrice, text: string(o.Prices[0].Mode), quantity: "text", machines: k})
	}
}

// doubtful says that a price is flagged as no observation of the market: a spot price that is a fixed tenth of the list, or the
// floor of an auction. Ranking one would let a guess win.
func doubtful(p *catalog.Price) bool {
	return slices.Contains(p.Flags, catalog.Flag(catalog.SpotTenth)) || slices.Contains(p.Flags, catalog.AuctionFloor)
}

// longestWork is the longest deadline that can be asked for, in hours. Work that takes longer is no plan, and its cost would be
// no sum of money.
const longestWork = 10 * 8760

var tooLong = Warning{"too_long", nil}

// outcome works out time, money and carbon of a candidate and holds them against the limits; it keeps the candidate when all hold.
func (s *search) outcome(o *catalog.Offer, p *place, est *estimate.Estimate, k, price int, hourly money.Rate, age int) (miss, bool) {
	mode := o.Prices[price].Mode
	start := float64(s.start())
	hours, late := start+float64(est.Hours), start+float64(est.Hours)
	if mode == catalog.Spot && !s.job.Service() {
		r := s.interrupted(o, est, k)
		if math.IsInf(r.Mean, 0) || r.Mean > 20*hours+24 {
			return miss{reason: BySpot, have: r.Mean, want: hours, quantity: "hours"}, true
		}
		hours, late = start+r.Mean, start+r.P95
	}
	l := s.Workload.Limits
	if d := float64(l.Deadline); d > 0 && late > d && !s.job.Service() {
		return miss{reason: ByDeadline, have: late, want: d, quantity: "hours"}, true
	}
	if late > longestWork {
		return miss{reason: ByDeadline, have: late, want: longestWork, quantity: "hours", because: &tooLong}, true
	}
	b := s.bill(o, p, hourly, mode, k, est, hours)
	total := b.total()
	if s.costs.limited && total.Cmp(s.costs.budget) > 0 {
		return miss{reason: ByBudget, have: total.Float(), want: s.costs.budget.Float(), quantity: "money"}, true
	}
	kg, known := s.carbon(o, p, est, k, hours)
	if most, ok := l.MaxCarbon.Get(); ok {
		if !known {
			return miss{reason: ByCarbonUnknown}, true
		}
		if kg > float64(most) {
			return miss{reason: ByCarbon, have: kg, want: float64(most), quantity: "kg"}, true
		}
	}
	if !known {
		kg = -1
	}
	s.found = append(s.found, candidate{offer: o, place: p, est: est, price: int32(price), machines: int32(k), hours: hours,
		total: total.Micros(), carbon: kg, age: int32(age)})
	return miss{}, false
}

// start is the time from a machine's launch until its work begins, which is paid for; a service's is nothing against its life.
func (s *search) start() unit.Hours {
	if s.job.Service() {
		return 0
	}
	return unit.Hours(s.Curves.Run.StartMin / 60)
}

// interrupted is the time a spot plan takes. A job that talks across its machines stops when any of them goes; independent
// pieces lose only the machine that went.
func (s *search) interrupted(o *catalog.Offer, est *estimate.Estimate, k int) spot.Outcome {
	proc, _, _ := s.process(o, est, k)
	return proc.Run(float64(est.Hours), float64(s.Workload.Data.CheckpointEvery))
}

func (s *search) process(o *catalog.Offer, est *estimate.Estimate, k int) (proc spot.Process, basis provider.Basis, source string) {
	perHour, basis, source, ok := s.Providers.Interruption(o.Provider, o.Region, o.InstanceType)
	if !ok {
		return spot.Process{MTBI: math.Inf(1)}, basis, ""
	}
	if !s.job.Independent() {
		perHour *= float64(k)
	}
	run := s.Curves.Run
	save := math.Max(run.SaveSeconds, gb(est.Checkpoint)/(run.CheckpointGBs*float64(k)))
	notice := float64(s.place(o).provider.SpotNotice.Or(0)) // none is known: nothing is saved at the last moment
	return spot.Process{MTBI: 1 / perHour, Save: save / 3600, Restart: run.RestartMin / 60, Notice: notice}, basis, source
}

// carbon is the emissions of a plan: chips between idle and board power by their load, the host's share, PUE, grid. False where
// the board power or the grid is not known.
func (s *search) carbon(o *catalog.Offer, p *place, est *estimate.Estimate, k int, hours float64) (kg float64, known bool) {
	grid, ok := p.grid.Get()
	kwh, okE := s.energy(o, p, est, k, hours)
	return kwh * float64(grid) / 1000, ok && okE
}

func (s *search) energy(o *catalog.Offer, p *place, est *estimate.Estimate, k int, hours float64) (kwh float64, known bool) {
	tdp, ok := o.Accelerator.TDP.Get()
	run := s.Curves.Run
	chip := float64(tdp) * (run.IdleShare + (1-run.IdleShare)*est.Load)
	watts := (chip + float64(tdp)*run.HostShare) * o.Count * float64(k)
	return watts / 1000 * hours * p.pue, ok
}
