package render

import (
	"strconv"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/choose/price/tco"
	"github.com/rackrate/rackrate/internal/front/say"
	"github.com/rackrate/rackrate/internal/front/wire"
)

// Wire gives the JSON.
func (d *TCO) Wire(*say.Speaker) any {
	out := wire.FromTCO(d.Result)
	out.AsOf, out.Workload = d.Search.AsOf, d.Canonical
	if d.Search.FXAsOf != "" {
		out.Exchange = &wire.Exchange{AsOf: d.Search.FXAsOf, Source: d.Search.FXSource}
	}
	return out
}

// tcoHeads are the columns of the CSV of tco; a column is never renamed or moved, only added at the end.
var tcoHeads = []string{"option", "plan", "provider", "region", "instance_type", "accelerator", "instances", "accelerators", "billing",
	"item", "state", "month", "upfront", "running", "currency"}

// Rows gives one row for each month of each line; a line that is not known is one row without a month.
func (d *TCO) Rows() [][]string {
	rows := [][]string{tcoHeads}
	for i := range d.Options {
		o := &d.Options[i]
		head := []string{o.ID, "", "", "", "", "", "", "", string(o.Mode)}
		if q := o.Plan; q != nil {
			head = []string{o.ID, strconv.Itoa(q.Rank), q.Offer.Provider, q.Offer.Region, q.Offer.InstanceType, q.Offer.Accelerator.Name,
				strconv.Itoa(q.Instances), strconv.Itoa(q.Accelerators), string(o.Mode)}
		} else {
			head[5], head[6], head[7] = o.Owned.Buy.Chip.Name, strconv.Itoa(o.Owned.Machines), strconv.Itoa(o.Owned.Accelerators())
		}
		row := func(l tco.Line, month string, upfront, running money.Amount) {
			cells := append(append([]string{}, head...), string(l.Item), string(l.State), month, "", "", string(d.Currency))
			if month != "" {
				cells[12], cells[13] = upfront.Decimal(), running.Decimal()
			}
			rows = append(rows, cells)
		}
		for _, l := range o.Lines {
			if l.State == tco.Unknown {
				row(l, "", money.Amount{}, money.Amount{})
				continue
			}
			for m, month := range l.Flow {
				row(l, strconv.Itoa(m+1), month.Upfront, month.Running)
			}
		}
	}
	return rows
}
