package wire

import (
	"github.com/rackrate/rackrate/internal/choose/plan"
	"github.com/rackrate/rackrate/internal/choose/price"
)

// Payment is what falls due in one month of a plan: Upfront at its start, Running over it.
type Payment struct {
	Month   int    `json:"month"`
	Upfront string `json:"upfront"`
	Running string `json:"running"`
}

// Mix is how a plan's machines are split over ways of paying; the shares' costs sum to the compute line.
type Mix struct {
	Shares    []MixShare `json:"shares"`
	AtPeak    Money      `json:"on_demand_at_peak"`
	ByTheHour Money      `json:"on_demand_by_the_hour"`
}

// MixShare is one way of paying in a mix.
type MixShare struct {
	Billing          string    `json:"billing"`
	Machines         int       `json:"machines"`
	ByHour           [24]int   `json:"machines_by_hour"`
	MachineHours     *float64  `json:"machine_hours"`
	IdleMachineHours *float64  `json:"idle_machine_hours"`
	Terms            int       `json:"terms"`
	Purchases        []MixBuy  `json:"purchases"`
	Cost             string    `json:"cost"`
	Share            *float64  `json:"share"`
	CashFlow         []Payment `json:"cash_flow"`
	Price            *Price    `json:"price"`
}

// MixBuy is machines committed from the start of a month on, counted from 1, for a term.
type MixBuy struct {
	Month    int `json:"month"`
	Machines int `json:"machines"`
}

// Serverless is how a service on serverless workers behaves over a day.
type Serverless struct {
	Workers   *float64 `json:"workers"`
	LeastWarm int      `json:"least_kept_warm"`
	MostWarm  int      `json:"most_kept_warm"`
	Cold      *float64 `json:"cold_share"`
	ColdStart *float64 `json:"cold_start_s"`
	KeepAlive *float64 `json:"keep_alive_s"`
}

func fromFlow(f price.Flow) []Payment {
	out := []Payment{}
	for i, m := range f {
		out = append(out, Payment{i + 1, m.Upfront.Decimal(), m.Running.Decimal()})
	}
	return out
}

func fromMix(m *plan.Mixture) *Mix {
	if m == nil {
		return nil
	}
	out := &Mix{AtPeak: moneyOf(m.AtPeak), ByTheHour: moneyOf(m.ByTheHour)}
	for _, v := range m.Shares {
		buys := []MixBuy{}
		for _, b := range v.Bought {
			buys = append(buys, MixBuy{b.Start + 1, b.Machines})
		}
		out.Shares = append(out.Shares, MixShare{
			Billing: string(v.Mode), Machines: v.Machines, ByHour: v.ByHour, MachineHours: number(float64(v.Hours), 9),
			IdleMachineHours: number(float64(v.Idle), 9), Terms: v.Terms, Purchases: buys, Cost: v.Cost.Decimal(), Share: number(v.Of, 6),
			CashFlow: fromFlow(v.Flow), Price: PriceOf(v.Price, v.Hourly, true),
		})
	}
	return out
}

func fromServerless(v *plan.Serverless) *Serverless {
	if v == nil {
		return nil
	}
	return &Serverless{
		number(v.Workers, 6), v.LeastWarm, v.MostWarm, number(v.Cold, 6), number(v.ColdStart.Seconds(), 6), number(v.KeepAlive.Seconds(), 6),
	}
}
