package plan

import (
	"math"
	"slices"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
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
		r, ok := v.In(s.Currency, s.Exchange)
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

func (b bill) total() money.Amount { return b.compute.Add(b.beside()) }

// beside is all but the machines.
func (b bill) beside() money.Amount { return b.storage.Add(b.egress).Add(b.people).Add(b.delay) }

// bill prices a candidate over so many hours.
func (s *search) bill(c *candidate, hours float64) bill {
	w, zero := s.Workload, money.Zero(s.Currency)
	b := bill{storage: zero, egress: zero, people: zero, delay: zero}
	b.compute = s.compute(c, hours)
	runs, months := float64(s.runs()), hours/unit.HoursPerMonth
	span := months // that the work goes on for
	if w.Horizon > 0 {
		span = float64(w.Horizon) / unit.HoursPerMonth
	}
	at, dearest := s.costs.sides[c.place.provider.ID], s.costs.dearest
	add := func(line *money.Amount, item Item, own, dearest unit.Maybe[money.Rate], gb float64) {
		if gb <= 0 {
			return
		}
		r, known := own.Get()
		if !known {
			if r, known = dearest.Get(); !known {
				b.unknown.add(item)
				return
			}
			b.assumed.add(item)
		}
		*line = line.Add(r.For(gb))
	}
	add(&b.storage, Storage, at.block, dearest.block, s.disk(c.offer).GB()*float64(s.up(c, hours))/unit.HoursPerMonth)
	keep := span
	if w.Data.Keep > 0 {
		keep = float64(w.Data.Keep) / unit.HoursPerMonth
	}
	add(&b.storage, Storage, at.object, dearest.object, (w.Data.Size.GB()+2*c.est.Checkpoint.GB())*keep)
	add(&b.egress, Egress, at.egress, dearest.egress, math.Max(0, w.Data.Egress.GB()*runs-at.free*s.freeMonths()))
	if w.People.HoursPerWeek > 0 {
		b.people = s.costs.hourly.Mul(w.People.HoursPerWeek * hours * runs / 168)
	}
	if !s.job.Service() {
		b.delay = s.costs.delay.Mul(hours * runs / 24)
	}
	return b
}

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

// quoted is a price of an offer that is allowed, in the result's currency, or why it may not be used.
type quoted struct {
	price  *catalog.Price
	hourly money.Rate
	age    int // days
	miss   miss
	bad    bool
}

// quotes are the prices of an offer that are allowed: the same for every number of machines. They stand until the next call.
func (s *search) quotes(o *catalog.Offer) []quoted {
	s.quoted = s.quoted[:0]
	for i := range o.Prices {
		if p := &o.Prices[i]; slices.Contains(s.costs.modes, p.Mode) {
			s.quoted = append(s.quoted, s.quote(p))
		}
	}
	return s.quoted
}

// ways prices a candidate in every way of paying that is allowed, and keeps those that meet the limits. It works on c itself.
func (s *search) ways(c *candidate, quotes []quoted, note func(miss)) {
	o := c.offer
	for i := range quotes {
		q := &quotes[i]
		c.price, c.hourly, c.age, c.mode, c.mix = q.price, q.hourly, q.age, q.price.Mode, nil
		s.candidates++
		if q.bad {
			m := q.miss
			m.mode, m.machines, m.stage = c.mode, c.machines, stagePrice
			note(m)
		} else {
			s.keep(c, note)
		}
	}
	switch {
	case len(o.Prices) == 0:
		note(miss{reason: ByPriceUnknown, stage: stagePrice, machines: c.machines})
	case len(quotes) == 0:
		note(miss{reason: ByBilling, stage: stagePrice, text: string(o.Prices[0].Mode), quantity: "text", machines: c.machines})
	case s.job.Service() && len(o.Prices) > 1:
		if s.blend(c, quotes) {
			s.candidates++
			s.keep(c, note)
		}
	}
}

// keep holds a priced candidate against the limits.
func (s *search) keep(c *candidate, note func(miss)) {
	m, bad := s.outcome(c)
	if !bad {
		s.file(c)
		return
	}
	m.mode, m.machines, m.stage = c.mode, c.machines, stageOutcome
	note(m)
}

// quote brings a price into the result's currency, unless it may not be used.
func (s *search) quote(p *catalog.Price) quoted {
	q := quoted{price: p, age: s.age(p.AsOf), bad: true}
	if most := s.Workload.Limits.MaxPriceAgeDays; most > 0 && q.age > most {
		q.miss = miss{reason: ByPriceAge, have: float64(q.age), want: float64(most), quantity: "days"}
		return q
	}
	if p.Doubtful() {
		q.miss = miss{reason: ByDoubt}
		return q
	}
	var ok bool
	if q.hourly, ok = s.Exchange.Rate(p.Hourly, s.Currency); !ok {
		q.miss = miss{reason: ByCurrency, text: string(p.Hourly.Currency()), quantity: "text"}
		return q
	}
	q.bad = false
	return q
}

// longestWork is the longest deadline that can be asked for, in hours. Work that takes longer is no plan, and its cost would be
// no sum of money.
const longestWork = 10 * 8760

var tooLong = Warning{"too_long", nil}

// outcome works out time, money and carbon of a candidate and holds them against the limits.
func (s *search) outcome(c *candidate) (m miss, bad bool) {
	c.fold = s.foldOf(c)
	perHour := 0.0
	if c.mode == catalog.Spot && !s.job.Service() {
		perHour = s.hazardOf(c.offer).perHour
	}
	// Offers of one machine differ by their price and place. What they share was held against the limits with the first of them.
	t := &c.fold.timing
	if !t.known || t.perHour != perHour || c.mix != nil {
		if m, bad := s.time(c); bad {
			return m, true
		}
		*t = timing{true, perHour, c.hours, s.bill(c, c.hours).beside()}
	}
	c.hours = t.hours
	total := s.compute(c, c.hours).Add(t.beside)
	if s.costs.limited && total.Cmp(s.costs.budget) > 0 {
		return miss{reason: ByBudget, have: total.Float(), want: s.costs.budget.Float(), quantity: "money"}, true
	}
	c.total = total.Micros()
	kg, known := s.carbon(c)
	if most, ok := s.Workload.Limits.MaxCarbon.Get(); ok {
		if !known {
			return miss{reason: ByCarbonUnknown}, true
		}
		if kg > float64(most) {
			return miss{reason: ByCarbon, have: kg, want: float64(most), quantity: "kg"}, true
		}
	}
	if c.carbon = kg; !known {
		c.carbon = -1
	}
	return miss{}, false
}

// time works out how long a candidate takes and holds that against the limits.
func (s *search) time(c *candidate) (m miss, bad bool) {
	if m, bad := s.unfit(c); bad {
		return m, true
	}
	start, service := float64(s.start(c)), s.job.Service()
	c.hours = start + float64(c.est.Hours)
	late := c.hours
	if c.mode == catalog.Spot && !service {
		r := s.risk(c).outcome
		if math.IsInf(r.Mean, 0) || r.Mean > 20*c.hours+24 {
			return miss{reason: BySpot, have: r.Mean, want: c.hours, quantity: "hours"}, true
		}
		c.hours, late = start+r.Mean, start+r.P95
	}
	if d := float64(s.Workload.Limits.Deadline); d > 0 && late > d && !service {
		return miss{reason: ByDeadline, have: late, want: d, quantity: "hours"}, true
	}
	if late > longestWork {
		return miss{reason: ByDeadline, have: late, want: longestWork, quantity: "hours", because: &tooLong}, true
	}
	return s.crowded(c)
}

// crowded holds runs that go on at once against the limits on counts, which each of them by itself has met.
func (s *search) crowded(c *candidate) (m miss, bad bool) {
	l := s.Workload.Limits
	machines := s.work(c.machines, c.hours).AtOnce() * c.machines
	accelerators := machines * Group(c.offer.Machine, 1).PerNode
	switch {
	case machines == c.machines:
	case single(c.offer):
		return miss{reason: ByCount, have: 1, want: float64(machines), quantity: "machines"}, true
	case l.MaxCount > 0 && accelerators > l.MaxCount:
		return miss{reason: ByCount, have: float64(accelerators), want: float64(l.MaxCount), quantity: "count"}, true
	case l.MaxInstances > 0 && machines > l.MaxInstances:
		return miss{reason: ByCount, have: float64(machines), want: float64(l.MaxInstances), quantity: "machines"}, true
	}
	return miss{}, false
}

// start is the time from a machine's launch until its work begins, which is paid for; a service's is nothing against its life.
func (s *search) start(c *candidate) unit.Hours {
	switch {
	case s.job.Service():
		return 0
	case c.mode == catalog.ServerlessPerHour:
		return s.coldStart(c.est)
	}
	return unit.Hours(s.Curves.Run.StartMin / 60)
}

// risk is what interruptions do to a candidate, and what their rate rests on.
type risk struct {
	perHour float64 // of all machines that stop the work together
	basis   provider.Basis
	source  string
	outcome spot.Outcome
}

// riskKey is what the time of a spot plan depends on beside the workload.
type riskKey struct {
	est     *estimate.Estimate // of one number of machines
	perHour float64            // of one machine
	notice  unit.Hours
}

// hazard is how often an offer's spot machines are taken away, and what says so.
type hazard struct {
	of      *catalog.Offer
	perHour float64
	basis   provider.Basis
	source  string
}

// hazardOf asks once for all numbers of machines of an offer.
func (s *search) hazardOf(o *catalog.Offer) *hazard {
	if s.hazard.of != o {
		s.hazard.of = o
		s.hazard.perHour, s.hazard.basis, s.hazard.source, _ = s.Providers.Interruption(o.Provider, o.Region, o.InstanceType)
	}
	return &s.hazard
}

// risk works out the time a spot plan takes. A job that talks across its machines stops when any of them goes; independent
// pieces lose only the machine that went.
func (s *search) risk(c *candidate) risk {
	h, run := s.hazardOf(c.offer), s.Curves.Run
	perHour := h.perHour
	if !s.job.Independent() {
		perHour *= float64(c.machines)
	}
	key := riskKey{c.est, h.perHour, c.place.provider.SpotNotice.Or(0)} // where no notice is known, nothing is saved at the last moment
	outcome, seen := s.risks[key]
	if !seen { // most regions have one rate
		save := math.Max(run.SaveSeconds, c.est.Checkpoint.GB()/(run.CheckpointGBs*float64(c.machines)))
		// A rate of 0 is no interruption: 1/0 is infinite.
		proc := spot.Process{MTBI: 1 / perHour, Save: save / 3600, Restart: run.RestartMin / 60, Notice: float64(key.notice)}
		outcome = proc.Run(float64(c.est.Hours), float64(s.Workload.Data.CheckpointEvery))
		s.risks[key] = outcome
	}
	return risk{perHour, h.basis, h.source, outcome}
}

// carbon is the emissions of a candidate; false where the board power or the grid is not known.
func (s *search) carbon(c *candidate) (kg float64, known bool) {
	grid, ok := c.place.grid.Get()
	kwh, okE := s.energy(c)
	return kwh * float64(grid) / 1000, ok && okE
}

// energy is that of chips between idle and board power by their load, with the host's share and PUE; false where the board
// power is not known.
func (s *search) energy(c *candidate) (kwh float64, known bool) {
	tdp, ok := c.offer.Accelerator.TDP.Get()
	run := s.Curves.Run
	chip := float64(tdp) * (run.IdleShare + (1-run.IdleShare)*c.est.Load)
	watts := (chip + float64(tdp)*run.HostShare) * c.offer.Count
	return watts / 1000 * float64(s.up(c, c.hours)) * c.place.pue, ok
}
