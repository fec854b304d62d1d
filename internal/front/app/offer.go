package app

import (
	"slices"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// Offer is one machine with every price there is for it.
type Offer struct {
	*catalog.Machine
	Currency money.Currency
	Rows     []OfferRow
	Sources  map[string]catalog.Source // of the machine and its prices, by id
}

// Offer finds a machine by its instance type, or provider/type where several providers have one of that name.
func (a *App) Offer(instance string) (*Offer, error) {
	found, cat, err := a.find(instance)
	if err != nil {
		return nil, err
	}
	currency, err := a.Currency()
	if err != nil {
		return nil, err
	}
	exchange, err := a.Exchange()
	if err != nil {
		return nil, err
	}
	o := &Offer{Machine: found[0].Machine, Currency: currency, Sources: map[string]catalog.Source{}}
	for _, offer := range found {
		o.Rows = append(o.Rows, rowsOf(offer, catalog.Filter{}, exchange, currency)...)
	}
	used := map[string]bool{o.Source: true}
	for _, r := range o.Rows {
		used[r.Price.Source] = true
	}
	for _, s := range cat.Sources {
		if used[s.ID] {
			o.Sources[s.ID] = s
		}
	}
	return o, nil
}

// Similar lists machines that could stand in for one, nearest first, each by its cheapest row.
func (a *App) Similar(instance string, n int) (like *Offer, rows []OfferRow, err error) {
	like, err = a.Offer(instance)
	if err != nil {
		return nil, nil, err
	}
	m, err := a.market()
	if err != nil {
		return nil, nil, err
	}
	best := cheaper(nil, like.Rows)
	for _, o := range m.Similar(best.Offer, n) {
		rows = append(rows, *cheaper(nil, rowsOf(o, catalog.Filter{}, m.exchange, m.currency)))
	}
	return like, rows, nil
}

// regions are where a machine is offered.
func regions(offers []*catalog.Offer) []string {
	var names []string
	for _, o := range offers {
		if !slices.Contains(names, o.Region) {
			names = append(names, o.Region)
		}
	}
	return names
}

// leastOf is the least price of a way of paying among a machine's offers in a region, of zones the cheapest, and what it comes to in a
// currency; nil where there is none that was observed.
func leastOf(mode catalog.BillingMode, offers []*catalog.Offer, region string, to money.Currency, x money.Exchange) (least *catalog.Price, hourly money.Rate) {
	for _, o := range offers {
		for i := range o.Prices {
			p := &o.Prices[i]
			rate, ok := x.Rate(p.Hourly, to)
			if o.Region != region || p.Mode != mode || p.Doubtful() || !ok {
				continue
			}
			if least == nil || rate.Nanos() < hourly.Nanos() {
				least, hourly = p, rate
			}
		}
	}
	return least, hourly
}

// find gives the offers of exactly one machine.
func (a *App) find(instance string) ([]*catalog.Offer, *catalog.Catalog, error) {
	cat, err := a.Catalog()
	if err != nil {
		return nil, nil, err
	}
	found := cat.Find(instance)
	if len(found) == 0 {
		var names []string
		for _, m := range cat.Machines {
			names = append(names, m.InstanceType)
		}
		return nil, nil, problem.New(problem.NoMatch, "cli.no_such_offer", problem.Args{"Name": instance}).
			With(problem.Nearest(instance, names, 3)...)
	}
	var choices []string
	for _, o := range found {
		if name := o.Provider + "/" + o.InstanceType; len(choices) == 0 || choices[len(choices)-1] != name {
			choices = append(choices, name)
		}
	}
	if len(choices) > 1 && !strings.Contains(instance, "/") {
		return nil, nil, problem.New(problem.Input, "cli.ambiguous_offer", problem.Args{"Name": instance, "Choices": choices})
	}
	return found, cat, nil
}
