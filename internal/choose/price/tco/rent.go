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
	p      *plan.Plan
	mode   catalog.BillingMode
	hourly money.Rate // of one machine
	use    use
	hours  float64 // of a run, or a service's planned duration
	sets   int
	// running and whole are how much of the plan's own bill falls in a month: of what is paid while machines run, and of what
	// is paid whether they do or not.
	running, whole float64
}

// own is the price of a plan in its own way of paying, which of a mix is no single price's.
func own(p *plan.Plan) catalog.Price {
	pr := p.Price
	pr.Mode = p.Billing
	return pr
}

// rent prices a plan, in its own way of paying or another of its machine's.
func (c *comparison) rent(p *plan.Plan, pr catalog.Price, hourly money.Rate, u use) Option {
	planned := float64(p.Time.Hours)
	r := &rental{comparison: c, bill: c.newBill(), p: p, mode: pr.Mode, hourly: hourly, use: u, hours: planned, sets: 1}
	if c.service {
		r.running, r.whole = u.up*unit.HoursPerMonth/planned, unit.HoursPerMonth/planned
	} else {
		if p.Price.Mode == catalog.Spot && pr.Mode != catalog.Spot { // nothing interrupts it
			r.hours = float64(p.Time.Start + p.Estimate.Hours)
		}
		r.running = u.runs * r.hours / planned
		r.whole, r.sets = r.running, setsFor(u.runs, r.hours)
	}
	o := Option{Plan: p, Mode: pr.Mode, Hours: unit.Hours(r.hours), Sets: r.sets, Used: u.up}
	if !c.service {
		o.Used = u.runs * r.hours / (unit.HoursPerMonth * float64(r.sets))
	}
	o.Beyond = r.compute()
	r.storage()
	r.traffic()
	r.support()
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

// compute adds the machines. Pay as you go is the plan's own line, run by run; a term of a month or more is held throughout and
// paid whole, used or not, whatever of the last one lies beyond the months.
func (r *rental) compute() (beyond money.Amount) {
	term := r.mode.Term()
	if term >= unit.HoursPerMonth {
		f, beyond := r.terms(price.Months(term))
		r.flow(Compute, f, Known)
		return beyond
	}
	switch own := r.mode == r.p.Billing; {
	case own && r.service:
		r.every(Compute, r.line(plan.Compute).Amount.Mul(r.running), Known)
	case own:
		r.every(Compute, r.line(plan.Compute).Amount.Mul(r.use.runs), Known)
	case r.service:
		r.every(Compute, price.Compute(r.hourly, r.p.Instances, unit.Hours(r.use.up*unit.HoursPerMonth)), Known)
	default:
		b := price.Billing{Step: r.p.Provider.BillingGranularity.Or(0), Minimum: r.p.Provider.LeastCharge(r.p.Offer.BareMetal.Or(false)).Or(0)}
		run := price.Runs{Machines: r.p.Instances, Hours: unit.Hours(r.hours)}
		r.every(Compute, run.Cost(price.Way{Mode: r.mode, Hourly: r.hourly, Billing: b}).Mul(r.use.runs), Known)
	}
	return r.zero
}

// terms is one commitment after the other. What is still owed when the months end is paid with the last.
func (r *rental) terms(months int) (f price.Flow, beyond money.Amount) {
	f, beyond = price.Nothing(r.months, r.zero.Currency()), r.zero
	for start := 0; start < r.months; start += months {
		for i, m := range price.Term(r.mode, r.hourly, r.p.Instances*r.sets, start) {
			at := &f[min(i, r.months-1)]
			at.Upfront, at.Running = at.Upfront.Add(m.Upfront), at.Running.Add(m.Running)
			if i >= r.months {
				beyond = beyond.Add(m.Total())
			}
		}
	}
	return f, beyond
}

// storage adds the disks of running machines, those kept while they are off, and the data. The plan bills disks and data in one
// line; the data's part is worked out as it did, and the rest is the disks'.
func (r *rental) storage() {
	if slices.Contains(r.p.Cost.Unknown, plan.Storage) {
		r.unknown(Block, "")
		return
	}
	w, planned := r.Workload, float64(r.p.Time.Hours)
	size := gb(w.Data.Size) + 2*gb(r.p.Estimate.Checkpoint)
	keep := planned / unit.HoursPerMonth
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
	r.every(Block, disks.Mul(r.running), diskState)
	if !disks.IsZero() && r.keepsDisks() {
		off := float64(r.sets)*unit.HoursPerMonth - r.use.runs*r.hours
		if r.service {
			off = (1 - r.use.up) * unit.HoursPerMonth
		}
		r.every(Stopped, disks.Mul(math.Max(0, off)/planned), diskState)
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
	if out := gb(r.Workload.Data.Egress)*times - free; out > 0 {
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
func (r *rental) support() {
	f, state := price.Nothing(r.months, r.zero.Currency()), Known
	for m := range f {
		spend := r.monthly(m, Compute, Block, Stopped, Object, Egress, Interzone)
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
	r.every(Carbon, per.Mul(float64(kg)/1000*r.running), state)
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
	return c.Exchange.Rate(money.PerHour(v.Nanos, money.Currency(v.Currency)), c.Currency)
}

func gb(b unit.Bytes) float64 { return float64(b) / float64(unit.GB) }
