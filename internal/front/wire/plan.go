package wire

import (
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/plan"
)

// PlanSchema names the contract of a plan result.
const PlanSchema = "rackrate.plan/v1"

// PlanResult is the answer of plan.
type PlanResult struct {
	Schema   string      `json:"schema"`
	AsOf     string      `json:"as_of"`
	Currency string      `json:"currency"`
	Exchange *Exchange   `json:"exchange"`
	Workload any         `json:"workload"`
	Needs    Needs       `json:"needs"`
	Searched Searched    `json:"searched"`
	Plans    []Plan      `json:"plans"`
	Rejected []Rejection `json:"rejected"`
	Pareto   []int       `json:"pareto"`
}

// Exchange is the day and source of the exchange rates.
type Exchange struct {
	AsOf   string `json:"as_of"`
	Source string `json:"source"`
}

// Searched counts what was looked at: Feasible every offer, number of machines and way of paying that fits, Plans those
// that are ranked, listed or not, OffersFit the offers that have a plan.
type Searched struct {
	Offers     int `json:"offers"`
	Candidates int `json:"candidates"`
	Layouts    int `json:"layouts"`
	Feasible   int `json:"feasible"`
	Plans      int `json:"plans"`
	OffersFit  int `json:"offers_fit"`
}

// Needs is what the workload asks of any machine.
type Needs struct {
	Precision   *string          `json:"precision"`
	Parameters  *Parameters      `json:"parameters"`
	MemoryBytes *float64         `json:"memory_bytes"`
	Parts       map[string]int64 `json:"parts"`
	FLOP        *float64         `json:"flop"`
	Fits        []Fit            `json:"fits"`
	HostRAM     *float64         `json:"host_ram_bytes"`
	Storage     *float64         `json:"storage_bytes"`
	Checkpoint  *float64         `json:"checkpoint_bytes"`
	Network     *float64         `json:"network_gbps"`
}

// Parameters counts a model's parameters.
type Parameters struct {
	Total  int64 `json:"total"`
	Active int64 `json:"active"`
}

// Fit is a number of accelerators of one nominal memory size that holds the workload.
type Fit struct {
	MemoryGB float64 `json:"memory_gb"`
	Count    int     `json:"count"`
}

// Plan is one way to do the work.
type Plan struct {
	Rank                    int                `json:"rank"`
	Provider                string             `json:"provider"`
	Region                  string             `json:"region"`
	Zone                    *string            `json:"zone"`
	InstanceType            string             `json:"instance_type"`
	Accelerator             string             `json:"accelerator"`
	AcceleratorsPerInstance float64            `json:"accelerators_per_instance"`
	Instances               int                `json:"instances"`
	Accelerators            int                `json:"accelerators"`
	Layout                  estimate.Layout    `json:"layout"`
	Billing                 string             `json:"billing"`
	Memory                  Memory             `json:"memory"`
	Speed                   Speed              `json:"speed"`
	Work                    *float64           `json:"work"`
	Time                    Time               `json:"time"`
	Cost                    Cost               `json:"cost"`
	CarbonKg                *float64           `json:"carbon_kg"`
	Carbon                  Carbon             `json:"carbon"`
	Bottleneck              map[string]float64 `json:"bottleneck"`
	Serving                 *Serving           `json:"serving"`
	Spot                    *Spot              `json:"spot"`
	Mix                     *Mix               `json:"mix"`
	Serverless              *Serverless        `json:"serverless"`
	Warnings                []Message          `json:"warnings"`
	Notes                   []Message          `json:"notes"`
	Price                   Price              `json:"price"`
	Machine                 Machine            `json:"machine"`
	Chip                    Chip               `json:"chip"`
	AlsoIn                  []Elsewhere        `json:"also_in"`
	Sizes                   []OtherSize        `json:"sizes"`
	Pareto                  bool               `json:"pareto"`
}

// Memory is the busiest accelerator's memory by parts; the parts sum to UsedBytes.
type Memory struct {
	PerAcceleratorBytes int64            `json:"per_accelerator_bytes"`
	UsedBytes           int64            `json:"used_bytes"`
	FreeBytes           int64            `json:"free_bytes"`
	Parts               map[string]int64 `json:"parts"`
}

// Speed is a rate of work with its interval and what it rests on.
type Speed struct {
	Value  *float64 `json:"value"`
	Low    *float64 `json:"low"`
	High   *float64 `json:"high"`
	Unit   string   `json:"unit"`
	Basis  string   `json:"basis"`
	Source *string  `json:"source"`
	Like   *string  `json:"like"`
	// Target is the kind of rackrate.accuracy/v1 that says how far off such predictions are, and Measurements counts those like it.
	Target       *string  `json:"accuracy_kind"`
	Measurements int      `json:"measurements"`
	MFU          *float64 `json:"mfu"`
	Precision    string   `json:"precision"`
}

// Time is how long a plan takes.
type Time struct {
	Hours     *float64 `json:"hours"`
	LowHours  *float64 `json:"low_hours"`
	HighHours *float64 `json:"high_hours"`
	P95Hours  *float64 `json:"p95_hours"`
	Start     *float64 `json:"start_hours"`
}

// Cost is what a plan costs; the lines sum to the total exactly.
type Cost struct {
	Total   Money    `json:"total"`
	Low     Money    `json:"low"`
	High    Money    `json:"high"`
	PerUnit *PerUnit `json:"per_unit"`
	Lines   []Line   `json:"lines"`
	Unknown []string `json:"unknown"`
	// CashFlow is when the compute line is paid; it sums to it exactly.
	CashFlow  []Payment `json:"cash_flow"`
	Effective Money     `json:"effective_hourly"`
	Runs      int       `json:"runs"`
	PerRun    Money     `json:"per_run"`
}

// PerUnit is the cost of a unit of work.
type PerUnit struct {
	Amount   string `json:"amount"`
	Currency string `json:"currency"`
	Unit     string `json:"unit"`
}

// Line is one item of a cost; assumed where the dearest known price stands in for one that is not known.
type Line struct {
	Item    string `json:"item"`
	Amount  string `json:"amount"`
	Assumed bool   `json:"assumed"`
}

// Carbon is a plan's emissions and what they rest on.
type Carbon struct {
	Kg              *float64 `json:"kg"`
	EnergyKWh       *float64 `json:"energy_kwh"`
	GridGramsPerKWh *float64 `json:"grid_g_per_kwh"`
	PUE             *float64 `json:"pue"`
	Basis           string   `json:"basis"`
}

// Serving is what requests see; times in seconds. LatencyBasis says what the latencies are, whatever their keys: p99, the 99th
// percentile at a service's peak, or mean, of a batch.
type Serving struct {
	LatencyBasis      string   `json:"latency_basis"`
	TTFT              *float64 `json:"ttft_p99_s"`
	TPOT              *float64 `json:"tpot_p99_s"`
	E2E               *float64 `json:"e2e_p99_s"`
	TTFTRange         *Range   `json:"ttft_range_s"`
	TPOTRange         *Range   `json:"tpot_range_s"`
	E2ERange          *Range   `json:"e2e_range_s"`
	Concurrency       int      `json:"concurrency"`
	RequestsPerSecond *float64 `json:"requests_per_second"`
	ReplicasNeeded    int      `json:"replicas_needed"`
	Replicas          int      `json:"replicas"`
	PerReplica        int      `json:"accelerators_per_replica"`
	ByHour            []int    `json:"replicas_by_hour"`
}

// Range is the ends of the interval of a figure.
type Range struct {
	Low  *float64 `json:"low"`
	High *float64 `json:"high"`
}

// Spot is what interruptions do to a plan.
type Spot struct {
	PerHour              *float64 `json:"interruptions_per_hour"`
	Basis                string   `json:"basis"`
	Source               *string  `json:"source"`
	NoticeSeconds        *float64 `json:"notice_s"`
	CheckpointEveryHours *float64 `json:"checkpoint_every_hours"`
	Overhead             *float64 `json:"overhead"`
	Preemptions          *float64 `json:"expected_preemptions"`
}

// Price is the price a plan rests on, as quoted, and in the result's currency.
type Price struct {
	Hourly     Money    `json:"hourly"`
	Converted  *Money   `json:"hourly_converted"`
	AsOf       string   `json:"as_of"`
	Source     string   `json:"source"`
	Confidence string   `json:"confidence"`
	Flags      []string `json:"flags"`
}

// Elsewhere is the same plan in another place.
type Elsewhere struct {
	Region string  `json:"region"`
	Zone   *string `json:"zone"`
	Total  Money   `json:"total"`
}

// OtherSize is the same machine, paid the same way, in another number.
type OtherSize struct {
	Instances int      `json:"instances"`
	Hours     *float64 `json:"hours"`
	Total     Money    `json:"total"`
	CarbonKg  *float64 `json:"carbon_kg"`
	Pareto    bool     `json:"pareto"`
}

// Rejection is everything left out for one reason, with the candidate that missed by the least.
type Rejection struct {
	Reason  string    `json:"reason"`
	Count   int       `json:"count"`
	Nearest *NearMiss `json:"nearest"`
}

// NearMiss is that candidate. ShortBy says by how much it missed, in words; null where there is no measure.
type NearMiss struct {
	Provider     string   `json:"provider"`
	Region       string   `json:"region"`
	InstanceType string   `json:"instance_type"`
	Accelerator  *string  `json:"accelerator"`
	Billing      *string  `json:"billing"`
	Instances    int      `json:"instances"`
	Quantity     string   `json:"quantity"`
	Have         *float64 `json:"have"`
	Want         *float64 `json:"want"`
	Text         *string  `json:"text"`
	ShortBy      *string  `json:"short_by"`
	Because      *Message `json:"because"`
}

// FromPlan gives the JSON of a result; workload is its canonical form. Messages are said by s.
func FromPlan(r *plan.Result, workload any, s *Speaker) PlanResult {
	out := PlanResult{
		Schema: PlanSchema, AsOf: r.AsOf, Currency: string(r.Currency), Workload: workload,
		Needs:    FromNeeds(r.Needs),
		Searched: Searched{r.Searched.Offers, r.Searched.Candidates, r.Searched.Layouts, r.Feasible, r.Ranked, r.OffersFit},
		Plans:    []Plan{}, Rejected: []Rejection{}, Pareto: list(r.Pareto),
	}
	if r.FXAsOf != "" {
		out.Exchange = &Exchange{r.FXAsOf, r.FXSource}
	}
	for i := range r.Plans {
		out.Plans = append(out.Plans, fromOnePlan(&r.Plans[i], s))
	}
	for _, rej := range r.Rejected {
		out.Rejected = append(out.Rejected, fromRejection(rej, r.Currency, s))
	}
	return out
}

// FromNeeds gives the JSON of what a workload needs.
func FromNeeds(n plan.Needs) Needs {
	out := Needs{
		Precision: text(n.Precision), MemoryBytes: positive(float64(n.Memory)), Parts: partsOf(n.Parts),
		FLOP: positive(float64(n.FLOP)), Fits: []Fit{}, HostRAM: positive(float64(n.HostRAM)),
		Storage: positive(float64(n.Storage)), Checkpoint: positive(float64(n.Checkpoint)), Network: positive(n.NetworkGbps),
	}
	if n.ParametersTotal > 0 {
		out.Parameters = &Parameters{n.ParametersTotal, n.ParametersActive}
	}
	for _, f := range n.Fits {
		out.Fits = append(out.Fits, Fit{f.GB, f.Count})
	}
	return out
}

// partsOf gives memory by part; parts of one name are summed.
func partsOf(parts []estimate.Part) map[string]int64 {
	out := map[string]int64{}
	for _, p := range parts {
		out[p.Name] += int64(p.Bytes)
	}
	return out
}

func seconds(h unit.Hours) *float64 { return positive(h.Seconds()) }
