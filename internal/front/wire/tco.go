package wire

import (
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/price"
	"github.com/rackrate/rackrate/internal/choose/price/tco"
	"github.com/rackrate/rackrate/internal/facts/assumption"
)

// TCOSchema names the contract of tco.
const TCOSchema = "rackrate.tco/v1"

// TCO is the answer of tco.
type TCO struct {
	Schema       string          `json:"schema"`
	AsOf         string          `json:"as_of"`
	Currency     string          `json:"currency"`
	Exchange     *Exchange       `json:"exchange"`
	Workload     any             `json:"workload"`
	Months       int             `json:"months"`
	RunsPerMonth *float64        `json:"runs_per_month"`
	Used         *float64        `json:"used"`
	Options      []TCOOption     `json:"options"`
	Cheapest     *string         `json:"cheapest"`
	Modes        []TCOModes      `json:"modes"`
	BreakEvens   []TCOBreakEven  `json:"break_evens"`
	Sensitivity  TCOSensitivity  `json:"sensitivity"`
	Assumptions  []TCOAssumption `json:"assumptions"`
	Unused       []TCOAssumption `json:"unused"`
}

// TCOOption is one way of having the machines, rented by a plan or bought.
type TCOOption struct {
	ID           string     `json:"id"`
	Plan         *int       `json:"plan"` // rank
	Name         *string    `json:"name"` // of what is bought
	Provider     *string    `json:"provider"`
	Region       *string    `json:"region"`
	InstanceType *string    `json:"instance_type"`
	Accelerator  string     `json:"accelerator"`
	Instances    int        `json:"instances"`
	Accelerators int        `json:"accelerators"`
	Billing      *string    `json:"billing"`
	Hours        *float64   `json:"hours"`
	Sets         int        `json:"sets"`
	Used         *float64   `json:"used"`
	Total        Money      `json:"total"`
	Whole        bool       `json:"whole"`
	Beyond       Money      `json:"committed_beyond"`
	Lines        []TCOLine  `json:"lines"`
	Months       []TCOMonth `json:"months"`
}

// TCOLine is one line with what falls due in each month; total is null where it is unknown.
type TCOLine struct {
	Item   string     `json:"item"`
	State  string     `json:"state"`
	Total  *Money     `json:"total"`
	Wants  *string    `json:"wants"`
	Months []TCOMonth `json:"months"`
}

// TCOMonth is exact amounts in the result's currency.
type TCOMonth struct {
	Upfront string `json:"upfront"`
	Running string `json:"running"`
}

// TCOModes is one machine in its ways of paying.
type TCOModes struct {
	Option string    `json:"option"`
	Modes  []TCOMode `json:"modes"`
}

// TCOMode is one way of paying for an option's machines.
type TCOMode struct {
	Billing  string   `json:"billing"`
	Chosen   bool     `json:"chosen"`
	Price    *Price   `json:"price"`
	Upfront  Money    `json:"upfront"`
	Total    Money    `json:"total"`
	Whole    bool     `json:"whole"`
	Saving   *float64 `json:"saving"`
	PaysFrom *float64 `json:"pays_from_use"`
}

// TCOBreakEven holds a rented option against the machines bought.
type TCOBreakEven struct {
	Option  string   `json:"option"`
	Month   *int     `json:"month"`
	Used    *float64 `json:"used"`
	Below   bool     `json:"below"`
	Always  bool     `json:"always"`
	Unknown bool     `json:"unknown"`
	Open    bool     `json:"open"`
}

// TCOSensitivity is every option's total by the share of the hours that machines are used.
type TCOSensitivity struct {
	Of   string   `json:"of"`
	Rows []TCOUse `json:"rows"`
}

// TCOUse is the totals of one share, in the order of the options.
type TCOUse struct {
	Used     *float64 `json:"used"`
	Runs     *float64 `json:"runs_per_month"`
	Totals   []Money  `json:"totals"`
	Cheapest *string  `json:"cheapest"`
}

// TCOAssumption is one value that was used.
type TCOAssumption struct {
	Key        string  `json:"key"`
	Value      string  `json:"value"`
	Per        *string `json:"per"`
	Given      bool    `json:"given"`
	File       *string `json:"file"`
	Line       *int    `json:"line"`
	AsOf       *string `json:"as_of"`
	Confidence *string `json:"confidence"`
	Source     *string `json:"source"`
}

// FromTCO gives the JSON of a comparison.
func FromTCO(r *tco.Result) TCO {
	out := TCO{
		Schema: TCOSchema, Currency: string(r.Currency), Months: r.Months, RunsPerMonth: positive(r.Runs), Used: number(r.Used, 9),
		Options: []TCOOption{}, Cheapest: text(r.Cheapest), Modes: []TCOModes{}, BreakEvens: []TCOBreakEven{}, Assumptions: []TCOAssumption{}, Unused: []TCOAssumption{},
		Sensitivity: TCOSensitivity{Of: r.Sensitivity.Of, Rows: []TCOUse{}},
	}
	for i := range r.Options {
		out.Options = append(out.Options, fromOption(&r.Options[i]))
	}
	for _, t := range r.Modes {
		modes := TCOModes{Option: t.Option}
		for _, m := range t.Modes {
			modes.Modes = append(modes.Modes, TCOMode{string(m.Mode), m.Chosen, PriceOf(m.Price, m.Hourly, true), moneyOf(m.Upfront), moneyOf(m.Total),
				m.Whole, known(m.Saving), known(m.PaysFrom)})
		}
		out.Modes = append(out.Modes, modes)
	}
	for _, b := range r.BreakEvens {
		out.BreakEvens = append(out.BreakEvens, TCOBreakEven{b.Option, whole(b.Month), known(b.Used), b.Below, b.Always, b.Unknown, b.Open})
	}
	for _, row := range r.Sensitivity.Rows {
		u := TCOUse{Used: number(row.Used, 9), Runs: positive(row.Runs), Cheapest: text(row.Cheapest)}
		for _, t := range row.Totals {
			u.Totals = append(u.Totals, moneyOf(t))
		}
		out.Sensitivity.Rows = append(out.Sensitivity.Rows, u)
	}
	for i := range r.Assumptions {
		out.Assumptions = append(out.Assumptions, fromAssumption(&r.Assumptions[i]))
	}
	for i := range r.Unused {
		out.Unused = append(out.Unused, fromAssumption(&r.Unused[i]))
	}
	return out
}

func fromOption(o *tco.Option) TCOOption {
	out := TCOOption{
		ID: o.ID, Hours: number(float64(o.Hours), 9), Sets: o.Sets, Used: number(o.Used, 9), Total: moneyOf(o.Total), Whole: len(o.Missing()) == 0,
		Beyond: moneyOf(o.Beyond), Months: monthsOf(o.Months), Billing: text(string(o.Mode)),
	}
	if p := o.Plan; p != nil {
		out.Plan, out.Provider, out.Region, out.InstanceType = &p.Rank, text(p.Offer.Provider), text(p.Offer.Region), text(p.Offer.InstanceType)
		out.Accelerator, out.Instances, out.Accelerators = p.Offer.Accelerator.Name, p.Instances, p.Accelerators
	} else {
		out.Name, out.Accelerator = text(o.Owned.Buy.Name), o.Owned.Buy.Chip.Name
		out.Instances, out.Accelerators = o.Owned.Machines, o.Owned.Accelerators()
	}
	for _, l := range o.Lines {
		line := TCOLine{Item: string(l.Item), State: string(l.State), Wants: text(l.Wants), Months: []TCOMonth{}}
		if l.State != tco.Unknown {
			total := moneyOf(l.Total)
			line.Total, line.Months = &total, monthsOf(l.Flow)
		}
		out.Lines = append(out.Lines, line)
	}
	return out
}

func monthsOf(f price.Flow) []TCOMonth {
	out := []TCOMonth{}
	for _, m := range f {
		out = append(out, TCOMonth{m.Upfront.Decimal(), m.Running.Decimal()})
	}
	return out
}

func fromAssumption(a *assumption.Assumption) TCOAssumption {
	out := TCOAssumption{
		Key: a.Key(), Value: a.Text, Per: text(a.Family.Per), Given: a.Given(), File: text(a.File), AsOf: text(a.AsOf),
		Confidence: text(string(a.Confidence)), Source: text(a.Source),
	}
	if a.Line > 0 {
		out.Line = &a.Line
	}
	return out
}

func whole(m unit.Maybe[int]) *int {
	if v, ok := m.Get(); ok {
		return &v
	}
	return nil
}
