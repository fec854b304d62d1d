package tco

import (
	"math"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/serve"
	"github.com/rackrate/rackrate/internal/choose/plan"
	"github.com/rackrate/rackrate/internal/choose/price"
	"github.com/rackrate/rackrate/internal/facts/assumption"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// Owned is machines that are bought, as the work runs on them.
type Owned struct {
	Buy      *Buy
	Machines int
	Estimate estimate.Estimate
}

// Accelerators is how many there are in all.
func (o *Owned) Accelerators() int { return o.Machines * o.Buy.PerNode }

// cardGbps is the network that machines of one's own are taken to have for each accelerator, as the price of the network does.
const cardGbps = 400

// spanMost is the most machines a replica of a service is tried on, and growMost the most for a job whose number is left open.
const (
	spanMost = 8
	growMost = 1024
)

// own finds how the work runs on the machines bought, and how many it takes where the file leaves that open.
func (c *comparison) own(job estimate.Job) (*Owned, error) {
	b := c.Buy
	nodes, most := 1, growMost
	switch {
	case c.service:
		most = spanMost
		if b.Machines > 0 {
			most = min(most, b.Machines)
		}
	case b.Machines > 0:
		nodes, most = b.Machines, b.Machines
	}
	fits, why := c.fewest(job, nodes, most)
	if fits == nil {
		e := problem.New(problem.NoMatch, "tco.cannot_run", problem.Args{"Chip": b.Chip.Name, "Machines": most, "Why": why})
		return nil, e.At(b.File, max(1, b.MachinesLine))
	}
	need := fits.Machines * setsFor(c.Runs, float64(fits.Estimate.Hours))
	if c.service {
		need = serve.Machines(fits.Estimate.Serving, b.PerNode)
	}
	if b.Machines > 0 && need > b.Machines {
		return nil, problem.New(problem.Input, "tco.too_few_machines", problem.Args{"Machines": b.Machines, "Need": need}).At(b.File, b.MachinesLine)
	}
	fits.Machines = max(need, b.Machines)
	return fits, nil
}

// fewest is the fewest machines, doubling from nodes, that do the work within its deadline and as often as it is wanted; where none
// does it that often, the fewest that do it in time, to be had several times over. nil where none does, with the reason.
func (c *comparison) fewest(job estimate.Job, nodes, most int) (first *Owned, why plan.Reason) {
	for ; nodes <= most; nodes *= 2 {
		e, refusal, _ := job.Best(c.group(nodes))
		deadline := c.Workload.Limits.Deadline
		switch {
		case refusal != nil:
			why = plan.Reason(refusal.Reason)
			continue
		case !c.service && deadline > 0 && e.Hours > deadline:
			why = plan.ByDeadline
			continue
		}
		o := &Owned{Buy: c.Buy, Machines: nodes, Estimate: e}
		if c.service || c.Runs*float64(e.Hours) <= unit.HoursPerMonth {
			return o, ""
		}
		if first == nil {
			first = o
		}
	}
	return first, why
}

func (c *comparison) group(nodes int) estimate.Group {
	b := c.Buy
	return estimate.Group{Chip: b.Chip, Share: 1, PerNode: b.PerNode, Nodes: nodes, Topology: catalog.InferTopology(b.Chip, float64(b.PerNode)),
		NetworkGbps: unit.Some(float64(cardGbps * b.PerNode)), Network: catalog.InfiniBand}
}

// ownedUse is the share of the hours in which the machines bought work.
func (c *comparison) ownedUse(u use) float64 {
	if c.service {
		return u.up
	}
	return u.runs * float64(c.owned.Estimate.Hours) / unit.HoursPerMonth / float64(c.ownedSets())
}

// ownedSets is how many runs the machines bought take at a time: those of the estimate fit that often.
func (c *comparison) ownedSets() int {
	if c.service {
		return 1
	}
	return setsFor(c.Runs, float64(c.owned.Estimate.Hours))
}

// purchase is the bill of machines bought.
type purchase struct {
	*comparison
	*bill
	owned *Owned
	used  float64
}

// buy prices the machines bought for one amount of use.
func (c *comparison) buy(u use) Option {
	r := &purchase{comparison: c, bill: c.newBill(), owned: c.owned, used: c.ownedUse(u)}
	o := Option{ID: "B", Owned: c.owned, Hours: c.owned.Estimate.Hours, Sets: c.ownedSets(), Used: r.used}
	capex, known := r.capex()
	r.tiedUp(capex, known)
	r.energy()
	r.priced(Rack, assumption.BuyRack, r.fullKW())
	if r.owned.Machines > 1 { // one machine needs no fabric
		r.network()
	}
	if v, ok := c.assume(assumption.BuySpares, ""); !ok {
		r.unknown(Spares, assumption.BuySpares)
	} else if known {
		r.every(Spares, capex.Mul(v.Number/12), Known)
	} else {
		r.unknown(Spares, assumption.BuyCapex)
	}
	r.priced(Licences, assumption.Licence, unit.Some(float64(r.owned.Accelerators())/12))
	r.people(u)
	if w := c.Workload; w.Data.Size > 0 || r.owned.Estimate.Checkpoint > 0 {
		r.priced(Object, assumption.BuyStorage, unit.Some(1.0))
	}
	if c.Workload.Data.Egress > 0 {
		r.priced(Egress, assumption.BuyTraffic, unit.Some(1.0))
	}
	return r.close(o)
}

// priced adds a line of so many of something each month, at an assumed price.
func (r *purchase) priced(item Item, family string, quantity unit.Maybe[float64]) {
	per, ok := r.amount(family, "")
	n, known := quantity.Get()
	switch {
	case !ok:
		r.unknown(item, family)
	case !known:
		r.unknown(item, assumption.BuyPower)
	default:
		r.every(item, per.Mul(n), Known)
	}
}

// capex is the price of all machines: what the user says of one, else the quote for its accelerators.
func (r *purchase) capex() (money.Amount, bool) {
	if a, ok := r.amount(assumption.BuyCapex, ""); ok {
		return a.Mul(float64(r.owned.Machines)), true
	}
	a, ok := r.amount(assumption.Capex, r.owned.Buy.Chip.Name)
	return a.Mul(float64(r.owned.Accelerators())), ok
}

// tiedUp adds the capital: machines are bought at the start and again whenever their life ends, what is left of them is got
// back then and at the end, and interest runs between on what of their price is not written off yet, in a straight line down to the
// residual. What they would sell for falls by the same share each month, down to the residual at the end of the life, as second-hand
// prices of accelerators do; a residual of 0 is nothing at any time.
func (r *purchase) tiedUp(capex money.Amount, known bool) {
	life, okLife := r.assume(assumption.BuyLife, "")
	left, okLeft := r.assume(assumption.BuyResidual, "")
	interest, wanted := r.Book.Get(assumption.BuyCapital, "")
	switch {
	case !known:
		r.unknown(Capex, assumption.BuyCapex)
		r.unknown(Residual, assumption.BuyCapex)
		if wanted {
			r.unknown(Capital, assumption.BuyCapex)
		}
		return
	case !okLife || !okLeft:
		r.unknown(Residual, map[bool]string{true: assumption.BuyResidual, false: assumption.BuyLife}[okLife])
		left.Number = 0
	}
	months := r.months
	if okLife {
		months = max(1, int(math.Round(float64(life.Time)/unit.HoursPerMonth)))
	}
	cur := r.zero.Currency()
	paid, back, cost := price.Nothing(r.months, cur), price.Nothing(r.months, cur), price.Nothing(r.months, cur)
	for m := range r.months {
		age := m % months
		if age == 0 {
			paid[m].Upfront = capex
		}
		if wanted {
			r.comparison.used[interest.Key()] = interest
			tied := 1 - (1-left.Number)*float64(age)/float64(months)
			cost[m].Running = capex.Mul(tied * interest.Value.Number / 12)
		}
		if age == months-1 || m == r.months-1 {
			back[m].Running = r.zero.Sub(capex.Mul(worth(left.Number, age+1, months)))
		}
	}
	r.flow(Capex, paid, Known)
	if okLife && okLeft {
		r.flow(Residual, back, Known)
	}
	r.flow(Capital, cost, Known)
}

// worth is the share of its price that a machine sells for at an age in months, from one on.
func worth(residual float64, age, life int) float64 {
	return math.Pow(residual, float64(age)/float64(life))
}

// network adds the switches and cables between machines, bought once: they outlive a generation of servers.
func (r *purchase) network() {
	per, ok := r.amount(assumption.BuyNetwork, "")
	if !ok {
		r.unknown(Network, assumption.BuyNetwork)
		return
	}
	f := price.Nothing(r.months, r.zero.Currency())
	f[0].Upfront = per.Mul(float64(r.owned.Accelerators()))
	r.flow(Network, f, Known)
}

// fullKW is the power all machines draw at most: as the file says, else that of the accelerators with the host's share.
func (r *purchase) fullKW() unit.Maybe[float64] {
	if v, ok := r.assume(assumption.BuyPower, ""); ok {
		return unit.Some(v.Number / 1000 * float64(r.owned.Machines))
	}
	tdp, ok := r.owned.Buy.Chip.TDP.Get()
	if !ok {
		return unit.None[float64]()
	}
	return unit.Some(float64(tdp) / 1000 * (1 + r.Curves.Run.HostShare) * float64(r.owned.Accelerators()))
}

// working is the share of the machines' hours in which they work: of a service, those of them that an hour of its day needs.
func (r *purchase) working() float64 {
	if !r.service {
		return r.used
	}
	v := r.owned.Estimate.Serving
	by, ok := serve.MachinesByHour(v, r.owned.Buy.PerNode)
	if !ok {
		by = price.Flat(serve.Machines(v, r.owned.Buy.PerNode))
	}
	needed := price.Service{ByHour: by, Hours: 1}.MachineHours()
	return r.used * float64(needed) / float64(r.owned.Machines)
}

// energy adds power and carbon: machines draw their share of full power by the work's load while they work, and idle power
// while they wait, as in plan.
func (r *purchase) energy() {
	run := r.Curves.Run
	busy := (run.IdleShare + (1-run.IdleShare)*r.owned.Estimate.Load + run.HostShare) / (1 + run.HostShare)
	full, known := r.fullKW().Get()
	pue, okPUE := r.assume(assumption.BuyPUE, "")
	working := r.working()
	kwh := full * (working*busy + (1-working)*run.IdleShare) * unit.HoursPerMonth * pue.Number
	tariff, okTariff := r.tariff()
	switch {
	case !known:
		r.unknown(Power, assumption.BuyPower)
	case !okPUE:
		r.unknown(Power, assumption.BuyPUE)
	case !okTariff:
		r.unknown(Power, assumption.Tariff)
	default:
		r.every(Power, tariff.Mul(kwh), Known)
	}
	per, priced := r.amount(assumption.CarbonPrice, "")
	grid, found := r.Providers.GridFallback(r.owned.Buy.Country)
	if !priced || !found || !known || !okPUE {
		r.unknown(Carbon, map[bool]string{true: "country", false: assumption.CarbonPrice}[priced])
		return
	}
	r.every(Carbon, per.Mul(kwh*float64(grid.Grid)/1e6), Known)
}

// tariff is the price of a kilowatt-hour: what the user says, else that of the country, else that of the European Union for a
// country in it.
func (r *purchase) tariff() (money.Amount, bool) {
	country := r.owned.Buy.Country
	if a, ok := r.amount(assumption.Tariff, country); ok || country == "" {
		return a, ok
	}
	if eu, err := r.Providers.Place("eu"); err == nil && eu.ContainsCountry(country) {
		return r.amount(assumption.Tariff, assumption.EU)
	}
	return r.zero, false
}

// people adds who run the machines, the people the workload names and what waiting costs it.
func (r *purchase) people(u use) {
	hours, ok := r.assume(assumption.BuyStaff, "")
	hourly, known := r.amount(assumption.StaffHourly, "")
	switch {
	case !ok:
		r.unknown(Staff, assumption.BuyStaff)
	case !known:
		r.unknown(Staff, assumption.StaffHourly)
	default:
		r.every(Staff, hourly.Mul(hours.Number), Known)
	}
	running := float64(unit.HoursPerMonth)
	if !r.service {
		running = u.runs * float64(r.owned.Estimate.Hours)
	}
	w := r.Workload
	for _, l := range []struct {
		item Item
		per  unit.Maybe[money.Amount]
		n    float64
	}{{People, w.People.Hourly, w.People.HoursPerWeek * running / 168}, {Delay, w.DelayCost, running / 24}} {
		a, given := l.per.Get()
		if !given || l.item == Delay && r.service {
			continue
		}
		if a, ok := r.convert(a); ok {
			r.every(l.item, a.Mul(l.n), Known)
		}
	}
}
