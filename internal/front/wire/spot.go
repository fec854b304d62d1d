package wire

import (
	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/spot/deadline"
	"github.com/rackrate/rackrate/internal/front/app"
)

// SpotIntervalSchema names the contract of spot interval.
const SpotIntervalSchema = "rackrate.spot-interval/v1"

// SpotInterval is the answer of spot interval. Hours that never end are null, and so is a mean time between interruptions without any.
type SpotInterval struct {
	Schema       string       `json:"schema"`
	Currency     string       `json:"currency"`
	WorkHours    *float64     `json:"work_hours"`
	Instances    int          `json:"instances"`
	SaveHours    *float64     `json:"save_hours"`
	RestartHours *float64     `json:"restart_hours"`
	NoticeHours  *float64     `json:"notice_hours"`
	MTBI         *float64     `json:"mtbi_hours"`
	Basis        string       `json:"basis"`
	Source       *string      `json:"source"`
	Minimiser    *float64     `json:"endless_interval_hours"`
	Chosen       string       `json:"chosen"`
	Methods      []SpotMethod `json:"methods"`
	OnDemand     SpotOnDemand `json:"on_demand"`
	Trace        *SpotTrace   `json:"trace"`
}

// SpotMethod is a way to choose the interval, and what comes of it.
type SpotMethod struct {
	Method        string   `json:"method"`
	IntervalHours *float64 `json:"interval_hours"`
	Checkpoints   *float64 `json:"checkpoints"`
	MeanHours     *float64 `json:"mean_hours"`
	P95Hours      *float64 `json:"p95_hours"`
	Overhead      *float64 `json:"overhead"`
	Interruptions *float64 `json:"interruptions"`
	MeanCost      *Money   `json:"mean_cost"`
	P95Cost       *Money   `json:"p95_cost"`
	Saving        *float64 `json:"saving"`
}

// SpotOnDemand is the same work on instances that stay.
type SpotOnDemand struct {
	Hours *float64 `json:"hours"`
	Cost  *Money   `json:"cost"`
}

// SpotTrace is what recorded availability says, and the work replayed on it.
type SpotTrace struct {
	Traces         int         `json:"traces"`
	UpHours        *float64    `json:"up_hours"`
	Losses         int         `json:"losses"`
	AvailableShare *float64    `json:"available_share"`
	Spread         *float64    `json:"spread"`
	Replay         *SpotReplay `json:"replay"`
}

// SpotReplay is the work at the chosen interval on the recorded times up and down.
type SpotReplay struct {
	Runs          int      `json:"runs"`
	MeanHours     *float64 `json:"mean_hours"`
	P95Hours      *float64 `json:"p95_hours"`
	PaidHours     *float64 `json:"mean_paid_hours"`
	PaidP95Hours  *float64 `json:"p95_paid_hours"`
	Interruptions *float64 `json:"interruptions"`
	MeanCost      *Money   `json:"mean_cost"`
	P95Cost       *Money   `json:"p95_cost"`
}

func maybeMoney(m unit.Maybe[money.Amount]) *Money {
	a, ok := m.Get()
	if !ok {
		return nil
	}
	out := moneyOf(a)
	return &out
}

// SpotIntervalOf gives the JSON of an interval.
func SpotIntervalOf(s *app.SpotInterval) SpotInterval {
	n := func(v float64) *float64 { return number(v, 9) }
	q, p := s.Request, s.Process
	out := SpotInterval{
		Schema: SpotIntervalSchema, Currency: string(s.Currency), WorkHours: n(float64(q.Work)), Instances: q.Instances,
		SaveHours: n(p.Save), RestartHours: n(p.Restart), NoticeHours: known(q.Notice), MTBI: n(p.MTBI),
		Basis: string(s.Basis), Source: text(s.Source), Minimiser: n(p.Minimiser()), Chosen: s.Best().Name,
		OnDemand: SpotOnDemand{n(float64(q.Work)), maybeMoney(s.OnDemand)},
	}
	for _, m := range s.Methods {
		out.Methods = append(out.Methods, SpotMethod{
			m.Name, n(m.Every), n(m.Checkpoints), n(m.Mean), n(m.P95), n(m.Mean/float64(q.Work) - 1), n(m.Interruptions),
			maybeMoney(m.Cost), maybeMoney(m.P95Cost), known(s.Saving(m.Cost)),
		})
	}
	if t := s.Spells; t != nil {
		out.Trace = &SpotTrace{Traces: s.Traces, UpHours: n(t.UpHours()), Losses: t.Losses, AvailableShare: n(t.Available()), Spread: n(t.Spread()), Replay: replayOf(s)}
	}
	return out
}

func replayOf(s *app.SpotInterval) *SpotReplay {
	r := s.Replay
	if r == nil {
		return nil
	}
	n := func(v float64) *float64 { return number(v, 9) }
	return &SpotReplay{r.Runs, n(r.Mean), n(r.P95), n(r.Paid), n(r.PaidP95), n(r.Interruptions), maybeMoney(s.ReplayCost), maybeMoney(s.ReplayP95)}
}

// SpotSimulateSchema names the contract of spot simulate.
const SpotSimulateSchema = "rackrate.spot-simulate/v1"

// SpotSimulation is the answer of spot simulate. Costs are means over runs, and so numbers and no amounts.
type SpotSimulation struct {
	Schema         string               `json:"schema"`
	Currency       string               `json:"currency"`
	WorkHours      *float64             `json:"work_hours"`
	DeadlineHours  *float64             `json:"deadline_hours"`
	OverheadHours  *float64             `json:"overhead_hours"`
	OnDemandHourly Money                `json:"on_demand_hourly"`
	Nodes          int                  `json:"nodes"`
	Zones          string               `json:"zones"`
	Starts         int                  `json:"starts"`
	LeftOut        []string             `json:"left_out"`
	Overall        map[string]SpotScore `json:"overall"`
	Traces         []SpotMarket         `json:"traces"`
}

// SpotMarket is how the policies did on a trace, or on several as the zones of one market.
type SpotMarket struct {
	Name           string               `json:"name"`
	GapSeconds     *float64             `json:"gap_seconds"`
	AvailableShare *float64             `json:"available_share"`
	WorkTicks      int                  `json:"work_ticks"`
	DeadlineTicks  int                  `json:"deadline_ticks"`
	OverheadTicks  int                  `json:"overhead_ticks"`
	Policies       map[string]SpotScore `json:"policies"`
}

// SpotScore is a policy's means over its runs.
type SpotScore struct {
	Mean           *float64 `json:"cost"`
	RatioToOptimal *float64 `json:"ratio_to_optimal"`
	Saving         *float64 `json:"saving"`
	Preemptions    *float64 `json:"preemptions"`
	Missed         int      `json:"missed"`
	Runs           int      `json:"runs"`
	SpotShare      *float64 `json:"spot_share"`
	Hours          *float64 `json:"hours"`
}

// SpotSimulationOf gives the JSON of a simulation.
func SpotSimulationOf(s *app.SpotSimulation) SpotSimulation {
	n := func(v float64) *float64 { return number(v, 9) }
	out := SpotSimulation{
		Schema: SpotSimulateSchema, Currency: string(s.Currency), WorkHours: n(float64(s.Work)), DeadlineHours: n(float64(s.Deadline)),
		OverheadHours: n(float64(s.Overhead)), OnDemandHourly: rateOf(s.Hourly), Nodes: s.Nodes, Zones: "apart", Starts: s.Starts,
		LeftOut: list(s.Short), Overall: spotScores(s.Overall), Traces: []SpotMarket{},
	}
	if s.Together {
		out.Zones = "together"
	}
	for _, m := range s.Markets {
		out.Traces = append(out.Traces, SpotMarket{m.Name, n(m.Gap.Seconds()), n(m.Up), m.Job.Work, m.Job.Deadline, m.Job.Overhead, spotScores(m.Scores)})
	}
	return out
}

func spotScores(scores []deadline.Score) map[string]SpotScore {
	n := func(v float64) *float64 { return number(v, 9) }
	out := map[string]SpotScore{}
	for _, s := range scores {
		out[s.Policy] = SpotScore{n(s.Cost.Float()), n(s.RatioToOptimal), n(s.Saving), n(s.Preemptions), s.Missed, s.Runs, n(s.SpotShare), n(float64(s.Hours))}
	}
	return out
}
