package tco

import (
	"math"
	"slices"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/plan"
	"github.com/rackrate/rackrate/internal/choose/price"
	"github.com/rackrate/rackrate/internal/facts/assumption"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/provider"
)

// rental is one plan paid one way, for one amount of use.
type rental struct {
	*comparison
	*bill
	p     *plan.Plan
	way   price.Way
	use   use
	hours float64 // of a run, or a service's planned duration
	sets  int
	// planned is the hours that the plan's own bill is for: of all its runs, or of a service.
	planned float64
	// running and whole are how much of the plan's own bill falls in a month: of what is paid while machines run, and of what
	// is paid whether they do or not.
	running, whole float64
	// on is how many machines are on, on average, over those of the plan's own way of paying.
	on float64
}

// own is the price of a plan in its own way of paying, which of a mix is no single price's.
func own(p *plan.Plan) catalog.Price {
	pr := p.Price
	pr.Mode = p.Billing
	return pr
}

// rent prices a plan, in its own way of paying or another of its machine's.
func (c *comparison) rent(p *plan.Plan, pr catalog.Price, hourly money.Rate, u use) Option {
	hours := float64(p.Time.Hours)
	r := &rental{comparison: c, bill: c.newBill(), p: p, way: p.Way(&pr, hourly), use: u, hours: hours, planned: hours * float64(p.Cost.Runs), sets: 1, on: 1}
	if c.service {
		if r.way.Mode != p.Billing {
			r.on = r.machinesOn(r.way.Mode) / r.machinesOn(p.Billing)
		}
		r.running, r.whole = u.up*unit.HoursPerMonth/r.planned, unit.HoursPerMonth/r.planned
	} else {
		if p.Price.Mode == catalog.Spot && pr.Mode != catalog.Spot { // nothing interrupts it
			r.hours = float64(p.Time.Start + p.Estimate.Hours)
		}
		r.running = u.runs * r.hours / r.planned
		r.whole, r.sets = r.running, setsFor(u.runs, r.hours)
	}
	o := Option{Plan: p, Mode: pr.Mode, Hours: unit.Hours(r.hours), Sets: r.sets, Used: u.up}
	if !c.service {
		o.Used = u.runs * r.hours / (unit.HoursPerMonth * float64(r.sets))
	}
	o.Beyond = r.compute()
	r.storage()
	r.traffic()
	r.support(o.Beyond)
	if fee, ok := c.amount(assumption.Licence, ""); ok {
		r.every(Licences, fee.Mul(float64(p.Accelerators*r.sets)/12), Known)
	} else {
		r.unknown(Licences, assumption.Licence)
	}
	r.every(People, r.line(plan.People).Amount.Mul(r.whole), Known)
	r.every(Delay, r.line(plan.Delay).Amount.Mul(r.running), Known)
	r.carbon()
	return r.close(o)
}

// machinesOn is how many of a service's machines are on, on average: those that an hour needs, and of a commitment all.
func (r *rental) machinesOn(mode catalog.BillingMode) float64 {
	switch {
	case mode == catalog.Mix:
		sum := unit.Hours(0)
		for _, s := range r.p.Mix.Shares {
			sum += s.Hours
		}
		return float64(sum) / r.planned
	case mode.Term() > 0:
		return float64(r.p.Instances)
	}
	return float64(price.Service{ByHour: r.p.ByHour, Hours: 1}.MachineHours())
}

// setsFor is how many times the machines are needed for so many runs a month, side by side.
func setsFor(runs, hours float64) int {
	return max(1, int(math.Ceil(runs*hours/unit.HoursPerMonth-1e-9)))
}

// line is a line of the plan's own bill, nothing where it has none.
func (r *rental) line(item plan.Item) plan.Line {
	for _, l := range r.p.Cost.Lines {
		if l.Item == item {
			return l
		}
	}
	return plan.Line{Item: item, Amount: r.zero}
}

// compute adds the machines. Pay as you go is by the run, or by the hours that a service's machines are up; a term of a month or more
// is held throughout and paid whole, used or not, whatever of the last one lies beyond the months.
func (r *rental) compute() (beyond money.Amount) {
	f, beyond := price.Nothing(r.months, r.zero.Currency()), r.zero
	switch own := r.way.Mode == r.p.Billing; {
	case own && r.p.Mix != nil:
		for _, s := range r.p.Mix.Shares {
			switch {
			case s.Terms > 0: // bought for these very months
				beyond = beyond.Add(r.pay(f, s.Flow))
			case s.Mode.Term() > 0:
				beyond = beyond.Add(r.terms(f, s.Way, s.Machines))
			default:
				r.pay(f, r.up(func(h unit.Hours) money.Amount { return s.Hourly.For(float64(s.Hours) / r.planned * float64(h)) }))
			}
		}
	case r.way.Mode.Term() >= unit.HoursPerMonth:
		beyond = r.terms(f, r.way, r.p.Instances*r.sets)
	case own && r.way.Mode == catalog.ServerlessPerHour && r.service:
		r.pay(f, r.each(r.line(plan.Compute).Amount.Mul(r.running)))
	case r.service:
		r.pay(f, r.up(func(h unit.Hours) money.Amount { return price.Service{ByHour: r.p.ByHour, Hours: h}.Cost(r.way) }))
	case own:
		r.pay(f, r.each(r.line(plan.Compute).Amount.Mul(r.use.runs/float64(r.p.Cost.Runs))))
	default:
		run := price.Runs{Machines: r.p.Instances, Hours: unit.Hours(r.hours)}
		r.pay(f, r.each(run.Cost(r.way).Mul(r.use.runs)))
	}
	r.flow(Compute, f, Known)
	return beyond
}

// up is what a service's machines cost month by month; cost says it by the hours they have been up since the start, so that a price
// that falls with a machine's life falls on.
func (r *rental) up(cost func(unit.Hours) money.Amount) price.Flow {
	f, paid := price.Nothing(r.months, r.zero.Currency()), r.zero
	for m := range f {
		at := cost(unit.Hours(float64(m+1) * unit.HoursPerMonth * r.use.up))
		f[m].Running, paid = at.Sub(paid), at
	}
	return f
}

// terms pays for one commitment after the other.
func (r *rental) terms(f price.Flow, w price.Way, machines int) (beyond money.Amount) {
	beyond = r.zero
	for start := 0; start < r.months; start += price.Months(w.Mode.Term()) {
		beyond = beyond.Add(r.pay(f, price.Term(w.Mode, w.Hourly, machines, start)))
	}
	return beyond
}

// pay adds payments to a flow. What is still owed when the months end is paid with the last.
func (r *rental) pay(f, more price.Flow) (beyond money.Amount) {
	beyond = r.zero
	for i, m := range more {
		at := &f[min(i, r.months-1)]
		at.Upfront, at.Running = at.Upfront.Add(m.Upfront), at.Running.Add(m.Running)
		if i >= r.months {
			beyond = beyond.Add(m.Total())
		}
	}
	return beyond
}

// storage adds the disks of running machines, those kept while they are off, and the data. The plan bills disks and data in one
// line; the data's part is worked out as it did, and the rest is the disks'.
func (r *rental) storage() {
	if slices.Contains(r.p.Cost.Unknown, plan.Storage) {
		r.unknown(Block, "")
		return
	}
	w := r.Workload
	size := w.Data.Size.GB() + 2*r.p.Estimate.Checkpoint.GB()
	keep := float64(r.p.Time.Hours) / unit.HoursPerMonth
	if w.Horizon > 0 {
		keep = float64(w.Horizon) / unit.HoursPerMonth
	}
	if w.Data.Keep > 0 {
		keep = float64(w.Data.Keep) / unit.HoursPerMonth
	}
	data, rate, state := r.zero, money.Rate{}, Known
	if size > 0 {
		rate, state = r.side(r.p.Provider, func(p *provider.Provider) unit.Maybe[provider.Quote] { return p.ObjectPerGBMo })
		data = rate.For(size * keep)
	}
	disks := r.line(plan.Storage).Amount.Sub(data)
	diskState := Known
	if !r.p.Provider.BlockPerGBMo.Known() && !disks.IsZero() {
		diskState = Assumed
	}
	r.every(Block, disks.Mul(r.running*r.on), diskState)
	if !disks.IsZero() && r.keepsDisks() {
		off := float64(r.sets)*unit.HoursPerMonth - r.use.runs*r.hours
		if r.service {
			off = (1 - r.use.up) * unit.HoursPerMonth
		}
		r.every(Stopped, disks.Mul(math.Max(0, off)/r.planned*r.on), diskState)
	}
	switch {
	case w.Data.Keep > 0 && r.service:
		r.every(Object, data.Mul(r.whole), state)
	case w.Data.Keep > 0:
		r.every(Object, data.Mul(r.use.runs), state)
	case size > 0: // the next run wants it
		r.every(Object, rate.For(size), state)
	}
}

// keepsDisks says whether disks outlive the machines' running.
func (r *rental) keepsDisks() bool {
	v, _ := r.assume(assumption.DisksStopped, "")
	return v.Number == 1
}

// traffic adds what leaves the cloud, beyond the month's free part, and what goes between its zones.
func (r *rental) traffic() {
	times := r.use.runs
	if r.service {
		times = r.running
	}
	free := r.p.Provider.FreeEgressGB.Or(0)
	if out := r.Workload.Data.Egress.GB()*times - free; out > 0 {
		if rate, state := r.side(r.p.Provider, func(p *provider.Provider) unit.Maybe[provider.Quote] { return p.EgressPerGB }); state == Unknown {
			r.unknown(Egress, "")
		} else {
			r.every(Egress, rate.For(out), state)
		}
	}
	v, _ := r.assume(assumption.ZonesGB, "")
	if v.Number <= 0 {
		return
	}
	per, state := r.dearestOf(assumption.ZonesPrice, func(v assumption.Value, _ bool) (money.Amount, bool) { return r.convert(v.Money) })
	if state == Unknown {
		r.unknown(Interzone, assumption.ZonesPrice)
		return
	}
	r.every(Interzone, per.Mul(v.Number), state)
}

// support adds the provider's support plan, on what its own bill of each month comes to. Where another's stands in, its share of the
// bill does: the least that one provider takes of an account says nothing of another.
func (r *rental) support(beyond money.Amount) {
	f, state := price.Nothing(r.months, r.zero.Currency()), Known
	for m := range f {
		spend := r.due(m, Compute, Block, Stopped, Object, Egress, Interzone)
		if m == r.months-1 {
			spend = spend.Sub(beyond) // falls due later, when no support is needed
		}
		fee, s := r.dearestOf(assumption.SupportPlan, func(v assumption.Value, own bool) (money.Amount, bool) {
			plan := v.Support
			if !own {
				plan.Minimum = money.Amount{}
			}
			return plan.Of(spend, r.convert)
		})
		if s == Unknown {
			r.unknown(Support, assumption.SupportPlan+"."+r.p.Provider.ID)
			return
		}
		f[m].Running, state = fee, s
	}
	r.flow(Support, f, state)
}

// dearestOf prices by a family's value for the plan's own provider; where none is known, by the one that comes dearest.
func (r *rental) dearestOf(family string, priced func(v assumption.Value, own bool) (money.Amount, bool)) (money.Amount, State) {
	if v, ok := r.assume(family, r.p.Provider.ID); ok {
		if a, ok := priced(v, true); ok {
			return a, Known
		}
		return r.zero, Unknown
	}
	var dearest *assumption.Assumption
	most := r.zero
	for _, row := range r.Book.Rows(family) {
		if a, ok := priced(row.Value, false); ok && (dearest == nil || a.Cmp(most) > 0) {
			dearest, most = row, a
		}
	}
	if dearest == nil {
		return r.zero, Unknown
	}
	r.used[dearest.Key()] = dearest
	return most, Assumed
}

// carbon adds what the emissions would cost at the price of carbon. Where the grid is not known, the dirtiest published one
// stands in; where the power of the chip is not, nothing can.
func (r *rental) carbon() {
	per, ok := r.amount(assumption.CarbonPrice, "")
	if !ok {
		r.unknown(Carbon, assumption.CarbonPrice)
		return
	}
	state := Known
	kg, known := r.p.Carbon.Kg.Get()
	if !known {
		kwh, powered := r.p.Carbon.Energy.Get()
		grid, found := r.dirtiest()
		if !powered || !found {
			r.unknown(Carbon, "")
			return
		}
		kg, state = unit.Kilograms(float64(kwh)*float64(grid)/1000), Assumed
	}
	r.every(Carbon, per.Mul(float64(kg)/1000*r.running*r.on), state)
}

// dirtiest is the highest grid intensity that any region publishes.
func (c *comparison) dirtiest() (unit.GramsPerKWh, bool) {
	most, found := unit.GramsPerKWh(0), false
	for _, p := range c.Providers.Providers() {
		for _, region := range c.Providers.Regions(p.ID) {
			if g, ok := region.Grid.Get(); ok && g > most {
				most, found = g, true
			}
		}
	}
	return most, found
}

// side is a provider's price of a thing beside its machines, or the dearest of anyone's where it is not known, as in plan.
func (c *comparison) side(p *provider.Provider, quote func(*provider.Provider) unit.Maybe[provider.Quote]) (money.Rate, State) {
	if r, ok := c.quoted(quote(p)); ok {
		return r, Known
	}
	dearest, state := money.PerHour(0, c.Currency), Unknown
	for _, other := range c.Providers.Providers() {
		if r, ok := c.quoted(quote(other)); ok && (state == Unknown || r.Nanos() > dearest.Nanos()) {
			dearest, state = r, Assumed
		}
	}
	return dearest, state
}

func (c *comparison) quoted(q unit.Maybe[provider.Quote]) (money.Rate, bool) {
	v, ok := q.Get()
	if !ok {
		return money.Rate{}, false
	}
	return v.In(c.Currency, c.Exchange)
}
