package tco

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/plan"
	"github.com/rackrate/rackrate/internal/facts/assumption"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// comparison is the state of one.
type comparison struct {
	Input
	service bool
	owned   *Owned
	used    map[string]*assumption.Assumption
}

// use is how much work is done in a month.
type use struct {
	runs float64 // of a job
	up   float64 // share of the hours a service is up
}

// Compare prices every option over the months.
func Compare(in Input) (*Result, error) {
	job, err := plan.NewJob(in.Workload, in.Curves)
	if err != nil {
		return nil, err
	}
	c := &comparison{Input: in, service: job.Service(), used: map[string]*assumption.Assumption{}}
	if !c.service && in.Used > 0 {
		c.Runs = in.Used * unit.HoursPerMonth / float64(in.Plans[0].Time.Hours)
	}
	if err := c.checkCurrencies(); err != nil {
		return nil, err
	}
	if in.Buy != nil {
		if c.owned, err = c.own(job); err != nil {
			return nil, err
		}
	}
	r := &Result{Service: c.service, Months: in.Months, Currency: in.Currency}
	now := use{runs: c.Runs, up: in.Used}
	if c.service {
		r.Used = in.Used
	} else {
		r.Runs = c.Runs
	}
	r.Options = c.options(now)
	r.Cheapest = cheapest(r.Options)
	if !c.service {
		r.Used = r.Options[0].Used
	}
	r.Modes = c.modes(now)
	r.Sensitivity, r.BreakEvens = c.sensitivity(), c.breakEvens(r.Options)
	for _, key := range slices.Sorted(maps.Keys(c.used)) {
		r.Assumptions = append(r.Assumptions, *c.used[key])
	}
	for _, a := range c.Book.Given() {
		if c.used[a.Key()] != a {
			r.Unused = append(r.Unused, *a)
		}
	}
	return r, nil
}

// checkCurrencies refuses what the user gave in a currency without a rate; all of them at once.
func (c *comparison) checkCurrencies() error {
	var faults problem.List
	for _, a := range c.Book.Given() {
		for _, m := range a.Value.Amounts() {
			if !c.Exchange.Knows(m.Currency()) {
				e := problem.New(problem.Input, "plan.unknown_currency", problem.Args{"Currency": string(m.Currency())})
				if a.File != "" {
					e.At(a.File, a.Line)
				}
				faults = append(faults, e)
			}
		}
	}
	return faults.OrNil()
}

// options prices every option for one amount of use.
func (c *comparison) options(u use) []Option {
	var out []Option
	for i := range c.Plans {
		p := &c.Plans[i]
		o := c.rent(p, own(p), p.Hourly, u)
		o.ID = strconv.Itoa(i + 1)
		out = append(out, o)
	}
	if c.owned != nil {
		out = append(out, c.buy(u))
	}
	return out
}

// cheapest is the id of the least total of those that are known whole, the first of equals.
func cheapest(options []Option) string {
	id := ""
	var least money.Amount
	for i := range options {
		o := &options[i]
		if len(o.Missing()) == 0 && (id == "" || o.Total.Cmp(least) < 0) {
			id, least = o.ID, o.Total
		}
	}
	return id
}

// modes prices each machine that is rented in its other ways of paying.
func (c *comparison) modes(u use) []ModeTable {
	var out []ModeTable
	seen := map[string]bool{}
	for i := range c.Plans {
		p := &c.Plans[i]
		key := p.Offer.Provider + "/" + p.Offer.InstanceType + "/" + p.Offer.Region + "/" + strconv.Itoa(p.Instances)
		if seen[key] {
			continue
		}
		seen[key] = true
		t := ModeTable{Option: strconv.Itoa(i + 1), Modes: c.modesOf(p, u)}
		if len(t.Modes) > 1 {
			out = append(out, t)
		}
	}
	return out
}

func (c *comparison) modesOf(p *plan.Plan, u use) []Mode {
	var out []Mode
	var onDemand *Mode
	order := catalog.Modes()
	prices := slices.Clone(p.Offer.Prices)
	slices.SortStableFunc(prices, func(a, b catalog.Price) int {
		return cmp.Compare(slices.Index(order, a.Mode), slices.Index(order, b.Mode))
	})
	if p.Mix != nil {
		m := c.mode(p, own(p), p.Cost.Effective, u)
		m.Price = catalog.Price{} // of its parts there are several
		out = append(out, m)
	}
	for _, pr := range prices {
		// A spot price that is no observation must not look like a way to save; what stops and cold starts do was worked out only
		// for plans that are paid that way.
		elsewise := pr.Mode == catalog.Spot || pr.Mode == catalog.ServerlessPerHour && c.service || slices.Contains(pr.Flags, catalog.AuctionFloor)
		if elsewise && pr.Mode != p.Billing {
			continue
		}
		hourly, ok := c.Exchange.Rate(pr.Hourly, c.Currency)
		if !ok {
			continue
		}
		out = append(out, c.mode(p, pr, hourly, u))
	}
	if i := slices.IndexFunc(out, func(m Mode) bool { return m.Mode == catalog.OnDemand }); i >= 0 {
		onDemand = &out[i]
	}
	for i := range out {
		m := &out[i]
		if onDemand == nil || m == onDemand || onDemand.Total.IsZero() {
			continue
		}
		m.Saving = unit.Some(1 - m.Total.Float()/onDemand.Total.Float())
		if m.Mode.Term() > 0 && !slices.Contains(onDemand.Price.Flags, catalog.SteppedPrice) {
			m.PaysFrom = unit.Some(m.Hourly.Float() / onDemand.Hourly.Float())
		}
	}
	return out
}

// mode prices a plan's machines in one way of paying.
func (c *comparison) mode(p *plan.Plan, pr catalog.Price, hourly money.Rate, u use) Mode {
	o := c.rent(p, pr, hourly, u)
	m := Mode{Mode: pr.Mode, Price: pr, Hourly: hourly, Upfront: money.Zero(c.Currency), Total: o.Total, Whole: len(o.Missing()) == 0, Chosen: pr.Mode == p.Billing}
	for _, month := range o.Months {
		m.Upfront = m.Upfront.Add(month.Upfront)
	}
	return m
}

// convert brings an amount into the result's currency.
func (c *comparison) convert(a money.Amount) (money.Amount, bool) {
	return c.Exchange.Amount(a, c.Currency)
}

// assume looks an assumption up and notes that it was used; false where nothing is known.
func (c *comparison) assume(family, of string) (assumption.Value, bool) {
	a, ok := c.Book.Get(family, of)
	if !ok {
		return assumption.Value{}, false
	}
	c.used[a.Key()] = a
	return a.Value, true
}

// amount is an assumption that is an amount, in the result's currency.
func (c *comparison) amount(family, of string) (money.Amount, bool) {
	v, ok := c.assume(family, of)
	if !ok {
		return money.Zero(c.Currency), false
	}
	return c.convert(v.Money)
}
