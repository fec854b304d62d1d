package wire

import (
	"time"

	"github.com/rackrate/rackrate/internal/choose/price/commit"
	"github.com/rackrate/rackrate/internal/choose/price/demand"
	"github.com/rackrate/rackrate/internal/front/app"
)

// CommitSchema names the contract of commit.
const CommitSchema = "rackrate.commit/v1"

// Commit is the answer of commit.
type Commit struct {
	Schema        string        `json:"schema"`
	AsOf          string        `json:"as_of"`
	Currency      string        `json:"currency"`
	Provider      *string       `json:"provider"`
	InstanceType  *string       `json:"instance_type"`
	Region        *string       `json:"region"`
	Service       bool          `json:"service"` // the demand is a day of a workload, not a history
	Growth        float64       `json:"growth_per_year"`
	Interruptible float64       `json:"interruptible"`
	SpotOverhead  float64       `json:"spot_overhead"`
	Every         int           `json:"buy_every_months"`
	Groups        []CommitGroup `json:"groups"`
	Totals        []CommitSum   `json:"totals"`
}

// CommitGroup is one group.
type CommitGroup struct {
	Group     *string         `json:"group"`
	History   CommitHistory   `json:"history"`
	Basis     string          `json:"scenario_basis"` // given, history or unknown
	Spread    *CommitSpread   `json:"spread"`
	Prices    []CommitPrice   `json:"prices"`
	Solutions []CommitHorizon `json:"horizons"`
}

// CommitHistory is what the demand was.
type CommitHistory struct {
	From     string   `json:"from"`
	To       string   `json:"to"`
	Hours    int      `json:"hours"`
	Filled   int      `json:"filled_hours"`
	Repeated int      `json:"repeated_hours"`
	Mean     *float64 `json:"mean_units"`
	Peak     *float64 `json:"peak_units"`
}

// CommitSpread is how the level of a history wandered.
type CommitSpread struct {
	Monthly *float64 `json:"four_week_deviation"`
	Trend   *float64 `json:"trend_per_year"`
	Weeks   int      `json:"weeks"`
}

// CommitPrice is one price.
type CommitPrice struct {
	Mode      string   `json:"billing"`
	Hourly    string   `json:"hourly"`
	Quoted    Money    `json:"quoted"`
	BreakEven *float64 `json:"break_even"`
	AsOf      *string  `json:"as_of"`
	Source    *string  `json:"source"`
	Used      bool     `json:"used"`
}

// CommitHorizon is the cheapest mix of a group over one horizon.
type CommitHorizon struct {
	CommitSum
	Bound string      `json:"bound"`
	Mix   []CommitBuy `json:"purchases"`
}

// CommitBuy is units bought together.
type CommitBuy struct {
	Mode        string   `json:"billing"`
	Units       int      `json:"units"`
	Month       int      `json:"month"`
	Bought      string   `json:"bought"`
	Ends        string   `json:"ends"`
	Hourly      string   `json:"hourly"`
	BreakEven   *float64 `json:"break_even"`
	Utilisation *float64 `json:"utilisation"`
	Used        *float64 `json:"used_hours"`
	Idle        *float64 `json:"idle_hours"`
	Cost        string   `json:"cost"`
}

// CommitSum is what a mix comes to over one horizon.
type CommitSum struct {
	Months      int              `json:"months"`
	Cost        string           `json:"cost"`
	Committed   string           `json:"cost_committed"`
	OnDemand    string           `json:"cost_on_demand"`
	Spot        string           `json:"cost_spot"`
	AllOnDemand string           `json:"all_on_demand"`
	Uncommitted string           `json:"uncommitted"`
	Saving      *float64         `json:"saving"`
	Hours       CommitHours      `json:"unit_hours"`
	Utilisation *float64         `json:"utilisation"`
	Flow        []CommitMonth    `json:"cash_flow"`
	Scenarios   []CommitScenario `json:"scenarios"`
	Falls       []CommitFall     `json:"if_demand_falls"`
	Holds       *float64         `json:"worth_it_until_fall"`
}

// CommitHours is unit-hours over a horizon; demand is what is used of commitments, on spot and on demand together.
type CommitHours struct {
	Demand   *float64 `json:"demand"`
	Used     *float64 `json:"committed"`
	Idle     *float64 `json:"idle"`
	Spot     *float64 `json:"spot"`
	OnDemand *float64 `json:"on_demand"`
}

// CommitMonth is what falls due in one month.
type CommitMonth struct {
	Month   int    `json:"month"`
	Date    string `json:"date"`
	Upfront string `json:"upfront"`
	Running string `json:"running"`
	Total   string `json:"total"`
}

// CommitScenario is a mix in one scenario.
type CommitScenario struct {
	Quantile int      `json:"quantile"`
	Weight   float64  `json:"weight"`
	First    *float64 `json:"first_level"` // multiple of the median in the first and the last month; null of several groups
	Last     *float64 `json:"last_level"`
	Cost     string   `json:"cost"`
	Best     string   `json:"best"`
	Regret   string   `json:"regret"`
}

// CommitFall is a mix when demand is lower.
type CommitFall struct {
	Fall        float64  `json:"fall"`
	Cost        string   `json:"cost"`
	AllOnDemand string   `json:"all_on_demand"`
	Saving      *float64 `json:"saving"`
	Utilisation *float64 `json:"utilisation"`
}

// CommitOf gives the JSON of commit.
func CommitOf(c *app.Commitments, asOf string) Commit {
	q := c.Request
	out := Commit{
		Schema: CommitSchema, AsOf: asOf, Currency: string(c.Currency), Region: text(c.Region), Service: c.Service != nil, Growth: q.Outlook.Growth,
		Interruptible: q.Outlook.Interruptible, SpotOverhead: q.SpotOverhead, Every: max(1, q.Every), Groups: []CommitGroup{},
	}
	if c.Machine != nil {
		out.Provider, out.InstanceType = text(c.Machine.Provider), text(c.Machine.InstanceType)
	}
	for _, g := range c.Groups {
		out.Groups = append(out.Groups, commitGroupOf(g, q, asOf))
	}
	for i, t := range c.Totals {
		sum := commitSumOf(t, app.CommitHorizons[i], asOf)
		if len(c.Groups) == 1 {
			sum = out.Groups[0].Solutions[i].CommitSum
		}
		out.Totals = append(out.Totals, sum)
	}
	return out
}

func commitGroupOf(g app.CommitGroup, q app.CommitRequest, asOf string) CommitGroup {
	out := CommitGroup{Group: text(g.Group), Basis: "unknown", Prices: []CommitPrice{}, History: CommitHistory{
		From: g.Start.Format(time.RFC3339), To: g.End().Format(time.RFC3339), Hours: len(g.Hours), Filled: g.Filled, Repeated: len(g.Cycle()),
		Mean: number(g.Mean(), 9), Peak: number(g.Peak(), 9),
	}}
	if s, ok := g.Spread.Get(); ok {
		out.Basis, out.Spread = "history", &CommitSpread{number(s.Monthly, 9), number(s.Trend, 9), s.Weeks}
	}
	if q.Levels != nil {
		out.Basis = "given"
	}
	for _, p := range g.Prices {
		price := CommitPrice{Mode: string(p.Mode), Hourly: p.Hourly.Decimal(), Quoted: rateOf(p.Quoted), AsOf: text(p.AsOf), Source: text(p.Source), Used: p.Used}
		if p.Used && p.Mode.Term() > 0 {
			price.BreakEven = number(p.Hourly.Float()/g.Prices[0].Hourly.Float(), 9)
		}
		out.Prices = append(out.Prices, price)
	}
	for i, r := range g.Reports {
		months := app.CommitHorizons[i]
		h := CommitHorizon{commitSumOf(r.Summary, months, asOf), r.Mix.Bound.Decimal(), []CommitBuy{}}
		for s := range h.Scenarios {
			h.Scenarios[s].First, h.Scenarios[s].Last = number(g.Level(q, s, 0), 9), number(g.Level(q, s, months-1), 9)
		}
		for n, b := range r.Mix.Purchases {
			o := r.Problem.Options[b.Option]
			h.Mix = append(h.Mix, CommitBuy{
				Mode: string(o.Mode), Units: b.Units, Month: b.Month + 1, Bought: MonthAfter(asOf, b.Month), Ends: MonthAfter(asOf, b.Month+o.Months()),
				Hourly: o.Hourly.Decimal(), BreakEven: number(r.Problem.BreakEven(b.Option), 9), Utilisation: number(r.Use.Utilisation(n), 9),
				Used: number(r.Use.Used[n], 9), Idle: number(r.Use.Idle[n], 9), Cost: o.Price().Times(b.Units).Decimal(),
			})
		}
		out.Solutions = append(out.Solutions, h)
	}
	return out
}

func commitSumOf(s commit.Summary, months int, asOf string) CommitSum {
	out := CommitSum{
		Months: months, Cost: s.Cost.Decimal(), Committed: s.Committed.Decimal(), OnDemand: s.OnDemand.Decimal(), Spot: s.Spot.Decimal(),
		AllOnDemand: s.AllOnDemand.Decimal(), Uncommitted: s.Uncommitted.Decimal(), Saving: known(commit.Saving(s.AllOnDemand, s.Cost)),
		Hours: CommitHours{
			number(s.Hours.Demand, 9), number(s.Hours.Used, 9), number(s.Hours.Idle, 9), number(s.Hours.Spot, 9), number(s.Hours.OnDemand, 9),
		},
		Utilisation: known(s.Hours.Utilised()), Holds: known(s.Holds),
	}
	for m, due := range s.Flow {
		out.Flow = append(out.Flow, CommitMonth{m + 1, MonthAfter(asOf, m), due.Upfront.Decimal(), due.Running.Decimal(), due.Total().Decimal()})
	}
	for i, o := range s.Outcomes {
		out.Scenarios = append(out.Scenarios, CommitScenario{
			Quantile: demand.Quantiles[i], Weight: float64(demand.Weights[i]) / 10, Cost: o.Cost.Decimal(), Best: o.Best.Decimal(), Regret: o.Regret().Decimal(),
		})
	}
	for _, f := range s.Falls {
		out.Falls = append(out.Falls, CommitFall{
			f.Share, f.Cost.Decimal(), f.AllOnDemand.Decimal(), known(commit.Saving(f.AllOnDemand, f.Cost)), known(f.Hours.Utilised()),
		})
	}
	return out
}

// MonthAfter is the month that begins so many months after a day, such as 2027-03.
func MonthAfter(day string, months int) string {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return ""
	}
	return time.Date(t.Year(), t.Month()+time.Month(months), 1, 0, 0, 0, 0, time.UTC).Format("2006-01")
}
