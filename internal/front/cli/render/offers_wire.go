package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/front/app"
	"github.com/rackrate/rackrate/internal/front/say"
	"github.com/rackrate/rackrate/internal/front/wire"
)

// Wire gives the JSON.
func (d *Offers) Wire(*say.Speaker) any {
	out := wire.OfferList{
		Schema: wire.OffersSchema, AsOf: d.AsOf, Currency: string(d.List.Currency), Total: d.List.Total,
		Matched: len(d.List.Rows), Removed: []wire.Removed{}, Machines: []wire.OfferMachine{},
	}
	for _, m := range d.Written {
		out.Selectors = append(out.Selectors, wire.Selector{Text: m.Text, Chips: append([]string{}, m.Chips...)})
	}
	for _, r := range d.List.Removed {
		w := wire.Removed{Filter: r.Filter, Count: r.Count, Only: r.Only}
		if r.Nearest != nil {
			n := rowOf(*r.Nearest, d.Age)
			w.Nearest = &n
		}
		out.Removed = append(out.Removed, w)
	}
	if d.Flat {
		for _, r := range d.List.Rows[:d.shown()] {
			out.Offers = append(out.Offers, rowOf(r, d.Age))
		}
		return out
	}
	for _, m := range d.List.Machines[:d.shown()] {
		out.Machines = append(out.Machines, machineOf(m, d.Age))
	}
	return out
}

func machineOf(m app.MachineRow, age func(string) (int, bool)) wire.OfferMachine {
	w := wire.OfferMachine{
		Provider: m.Provider, InstanceType: m.InstanceType, Accelerator: m.Accelerator.Name, Accelerators: m.Count,
		MemoryGB: wire.MemoryGBOf(m.Accelerator), Offers: m.Offers, Regions: m.Regions,
		Cheapest: map[string]wire.OfferPrice{}, Machine: wire.MachineOf(m.Machine),
	}
	for mode, r := range m.Cheapest {
		w.Cheapest[string(mode)] = rowOf(r, age)
	}
	return w
}

func rowOf(r app.OfferRow, age func(string) (int, bool)) wire.OfferPrice {
	w := wire.OfferPrice{
		Provider: r.Provider, InstanceType: r.InstanceType, Accelerator: r.Accelerator.Name, Accelerators: r.Count,
		Region: r.Region, Zone: wire.Text(r.Zone), Billing: wire.Text(string(r.Price.Mode)),
		Price: wire.PriceOf(r.Price, r.Hourly, r.Known), Quality: quality(r, age),
	}
	if r.Known && r.Count > 0 {
		w.PerGPU = wire.RateOf(r.PerAccelerator())
	}
	if days, ok := age(r.Price.AsOf); ok {
		v := float64(days)
		w.AgeDays = &v
	}
	return w
}

// quality lists every reason to doubt a row, and that the seller had it in stock.
func quality(r app.OfferRow, age func(string) (int, bool)) []string {
	out := doubtsOf(r)
	if days, ok := age(r.Price.AsOf); ok && days > catalog.StaleAfterDays {
		out = append(out, string(catalog.Stale))
	}
	return out
}

// doubtsOf lists the flags of a row's machine and of its price.
func doubtsOf(r app.OfferRow) []string {
	out := []string{}
	for _, f := range slices.Concat(r.Flags, r.Price.Flags) {
		if f != "" {
			out = append(out, string(f))
		}
	}
	return out
}

var offerHeads = []string{
	"provider", "region", "zone", "instance_type", "accelerator", "accelerators_per_instance", "memory_gb", "vcpu", "ram_bytes",
	"billing", "hourly", "currency", "hourly_converted", "converted_currency", "as_of", "source", "confidence", "flags",
}

// Rows gives one row a price, the heads first, whether or not the table folds them.
func (d *Offers) Rows() [][]string {
	rows := d.List.Rows
	if d.Flat {
		rows = rows[:d.shown()]
	}
	return offerRows(rows)
}

func offerRows(list []app.OfferRow) [][]string {
	rows := [][]string{offerHeads}
	for _, r := range list {
		row := []string{
			r.Provider, r.Region, r.Zone, r.InstanceType, r.Accelerator.Name, float(r.Count), maybe(r.Accelerator.NominalGB),
			maybe(r.VCPU), bytesOf(r.RAM), string(r.Price.Mode), "", "", "", "", r.Price.AsOf, r.Price.Source,
			string(r.Price.Confidence), strings.Join(doubtsOf(r), " "),
		}
		if r.Price.Mode != "" {
			row[10], row[11] = r.Price.Hourly.Decimal(), string(r.Price.Hourly.Currency())
		}
		if r.Known {
			row[12], row[13] = r.Hourly.Decimal(), string(r.Hourly.Currency())
		}
		rows = append(rows, row)
	}
	return rows
}

func bytesOf(m unit.Maybe[unit.Bytes]) string {
	if v, ok := m.Get(); ok {
		return strconv.FormatInt(int64(v), 10)
	}
	return ""
}
