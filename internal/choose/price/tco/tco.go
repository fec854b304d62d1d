// Package tco lays ways of having machines for a workload side by side over months of use: each line of what renting costs
// (compute in its way of paying, disks, traffic, licences, support, people, carbon, delay) and of what owning costs (capital and
// what is left of it, power, room, network, spares, staff), month by month; where owning or committing breaks even, and how that
// hangs on use.
//
// Invariants: the months of a line sum to the line and the lines to the total, to the millionth; a line whose price is not known
// is unknown and listed, never zero, and an option with one is never called the cheapest; where the dearest known price stands
// in, the line says so. Pure. Imported by front.
package tco

import (
	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/plan"
	"github.com/rackrate/rackrate/internal/choose/price"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/assumption"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/provider"
)

// Item is a line of a full cost.
type Item string

// The lines, in the order they are shown.
const (
	Compute   Item = "compute"
	Capex     Item = "capex"
	Residual  Item = "residual" // got back, below zero
	Power     Item = "power"
	Rack      Item = "rack"
	Network   Item = "network"
	Spares    Item = "spares"
	Block     Item = "block"   // disks of machines that run
	Stopped   Item = "stopped" // disks kept while machines are off
	Object    Item = "object"  // the data and checkpoints
	Egress    Item = "egress"
	Interzone Item = "interzone"
	Licences  Item = "licences"
	Support   Item = "support"
	Staff     Item = "staff" // who run machines of one's own
	People    Item = "people"
	Delay     Item = "delay"
	Carbon    Item = "carbon"
	Capital   Item = "capital" // interest on what is tied up
)

// Items lists every line in the order shown.
func Items() []Item {
	return []Item{Compute, Capex, Residual, Power, Rack, Network, Spares, Block, Stopped, Object, Egress, Interzone,
		Licences, Support, Staff, People, Delay, Carbon, Capital}
}

// State says how well a line is known.
type State string

// The states.
const (
	Known   State = "known"
	Assumed State = "assumed" // the dearest known price, of anyone, stands in
	Unknown State = "unknown" // not in the total
)

// Line is one item over the months.
type Line struct {
	Item  Item
	Flow  price.Flow // zeros where it is unknown
	Total money.Amount
	State State
	// Wants is what the user can give to make an unknown line known: the key of an assumption; empty where nothing would.
	Wants string
}

// Option is one way of having the machines.
type Option struct {
	ID    string // 1, 2 … by the order asked for; B for machines bought
	Plan  *plan.Plan
	Mode  catalog.BillingMode // how it is paid; empty where it is bought
	Owned *Owned              // nil where it is rented
	// Hours is the length of a run, of a service its planned duration; Sets is how many times the machines are had so that
	// runs find room.
	Hours unit.Hours
	Sets  int
	// Used is the share of the hours in which the machines work.
	Used   float64
	Lines  []Line
	Months price.Flow // the sum of the lines, month by month
	Total  money.Amount
	// Beyond is what of the last month's payment is for a commitment that outlasts the months.
	Beyond money.Amount
}

// Cumulative is what was paid by the end of each month.
func (o *Option) Cumulative() []money.Amount {
	out := make([]money.Amount, len(o.Months))
	sum := money.Zero(o.Total.Currency())
	for i, m := range o.Months {
		sum = sum.Add(m.Total())
		out[i] = sum
	}
	return out
}

// Missing lists the lines that are not known.
func (o *Option) Missing() []Line {
	var out []Line
	for _, l := range o.Lines {
		if l.State == Unknown {
			out = append(out, l)
		}
	}
	return out
}

// Line finds a line; false where the option has none.
func (o *Option) Line(item Item) (Line, bool) {
	for _, l := range o.Lines {
		if l.Item == item {
			return l, true
		}
	}
	return Line{}, false
}

// Input is everything a comparison depends on.
type Input struct {
	Workload  *workload.Workload
	Plans     []plan.Plan // to compare, in order; at least one
	Buy       *Buy        // nil where nothing is bought
	Book      *assumption.Book
	Providers *provider.Table
	Curves    *estimate.Curves
	Exchange  money.Exchange
	Currency  money.Currency
	Months    int // as many as the workload's horizon where it has one
	// Runs is how often a job runs in a month. Used is the share of the hours a service is up; of a job, where it is above 0, the
	// share in which the first plan's machines run, in place of Runs.
	Runs, Used float64
}

// Result is the whole comparison.
type Result struct {
	Service  bool
	Months   int
	Runs     float64 // a month; 0 for a service
	Used     float64 // share of the hours; of the first option for a job
	Currency money.Currency
	Options  []Option
	// Cheapest is the id of the option with the least total; empty where none is known whole.
	Cheapest    string
	Modes       []ModeTable
	BreakEvens  []BreakEven
	Sensitivity Sensitivity
	Assumptions []assumption.Assumption // those that were used, by key
	Unused      []assumption.Assumption // what the user gave and nothing here needs, by key
}

// ModeTable is one machine in each of its ways of paying.
type ModeTable struct {
	Option string // the id of the option whose machine it is
	Modes  []Mode
}

// Mode is one way of paying.
type Mode struct {
	Mode    catalog.BillingMode
	Price   catalog.Price // empty for a mix
	Hourly  money.Rate    // of one machine; of a mix what an hour of use comes to
	Upfront money.Amount
	Total   money.Amount // of the whole option, every line
	Whole   bool         // no line is unknown
	Chosen  bool         // it is the option's own
	// Saving is the share of the total on demand that the mode saves, below zero where it costs more; unknown without an
	// on-demand price.
	Saving unit.Maybe[float64]
	// PaysFrom is the share of the hours from which a commitment is cheaper than on demand: its hourly price over that on
	// demand. Unknown for a mode without a term, and where the price on demand falls in steps.
	PaysFrom unit.Maybe[float64]
}

// BreakEven holds an option that is rented against the machines bought.
type BreakEven struct {
	Option string
	// Month is the first from whose end on owning has cost less, and stays so; unknown where there is none within the months.
	Month unit.Maybe[int]
	// Used is the share of the hours from which owning costs less over all months, or where Below is set, up to which; unknown where
	// renting is cheaper at any use.
	Used  unit.Maybe[float64]
	Below bool
	// Always says that owning costs less at any use that was looked at.
	Always bool
	// Unknown says that a line of what is bought is unknown, so that nothing can be said: it must not win by what it lacks.
	Unknown bool
	// Open says that a line of what is rented is unknown: owning breaks even then or earlier.
	Open bool
}

// Sensitivity is every option's total by the share of the hours that the machines are used.
type Sensitivity struct {
	Of     string // the id of the option whose machines' hours are meant
	Shares []float64
	Rows   []SensitivityRow
}

// SensitivityRow is the totals of one share, by option.
type SensitivityRow struct {
	Used     float64
	Runs     float64 // a month; 0 for a service
	Totals   []money.Amount
	Cheapest string
}
