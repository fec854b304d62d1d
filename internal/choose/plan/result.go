// Package plan turns a workload and a catalog into ranked plans: every offer, number of machines, layout and
// way of paying that the limits allow, priced in full, with the Pareto front and a typed reason for everything
// that was left out.
//
// Invariants: no plan breaks a limit; the total is the sum of the lines; unknown never wins; the result does not
// depend on the catalog's order; every offer without a plan is counted under one reason with the nearest miss.
// Pure and deterministic: the caller gives the day and the facts. Imported by front.
package plan

import (
	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/price"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/provider"
)

// Result is the whole answer.
type Result struct {
	AsOf     string // the day the plan was made for, ISO
	Workload *workload.Workload
	Currency money.Currency
	// FX is the day and source of the exchange rates; used only where a price was in another currency.
	FXAsOf, FXSource string
	Needs            Needs
	// Plans are ranked, rank 1 first: a machine and a way of paying each, in the number of machines that ranks highest.
	// They are the first Input.Top of Ranked.
	Plans []Plan
	// Feasible counts every feasible offer, number of machines and way of paying; Ranked those of Plans before Top.
	Feasible, Ranked int
	// OffersFit is the offers that have a plan; with the counts of Rejected it sums to Searched.Offers.
	OffersFit int
	Rejected  []Rejection // most frequent first
	Pareto    []int       // ranks of the plans that no other beats on cost, time and carbon together
	Searched  Searched
}

// Searched counts what was looked at.
type Searched struct {
	Offers     int // offers in the catalog
	Candidates int // offer x machines x way of paying
	Layouts    int // layouts estimated
}

// Needs is what the workload asks of any machine.
type Needs struct {
	Precision string
	// Parameters of the model; zero where there is no model.
	ParametersTotal, ParametersActive int64
	// Memory is the least that all accelerators together must hold, and its parts.
	Memory Bytes
	Parts  []estimate.Part
	// FLOP is the arithmetic of the whole job; zero where it is not known.
	FLOP unit.FLOP
	// Fits lists the smallest groups of common memory sizes that hold it: {80, 2} is 2 x 80 GB.
	Fits []Fit
	// HostRAM is twice the accelerator memory in use.
	HostRAM    Bytes
	Storage    Bytes
	Checkpoint Bytes
	// Network is the link a machine should have when the work crosses machines; zero when it need not.
	NetworkGbps float64
}

// Bytes is unit.Bytes, named here to keep the struct readable.
type Bytes = unit.Bytes

// Fit is a number of accelerators of one nominal memory size.
type Fit struct {
	GB    float64
	Count int
}

// Plan is one way to do the work.
type Plan struct {
	Rank         int
	Offer        *catalog.Offer
	Price        catalog.Price // as quoted
	Hourly       money.Rate    // of one machine, in the result's currency
	Provider     *provider.Provider
	Region       provider.Region
	Instances    int
	Accelerators int
	Estimate     estimate.Estimate
	ByHour       [24]int // machines of a service in each hour of the day; zeros for work that ends
	Time         Time
	Billing      catalog.BillingMode // that of Price, or catalog.Mix
	Mix          *Mixture            // nil unless paid as a mix
	Serverless   *Serverless         // nil unless a service on serverless workers
	Cost         Cost
	Carbon       Carbon
	Spot         *Spot // nil unless paid as spot
	Warnings     []Warning
	// AlsoIn lists the same machine, price mode and layout elsewhere, folded under this plan, cheapest first.
	AlsoIn []Elsewhere
	// Sizes lists the same machine, paid the same way, in other numbers, best first.
	Sizes   []Size
	OnFront bool // on the Pareto front
}

// quotes is the prices that the plan rests on: of a mix those of its shares.
func (p *Plan) quotes() []catalog.Price {
	if p.Mix == nil {
		return []catalog.Price{p.Price}
	}
	var out []catalog.Price
	for _, v := range p.Mix.Shares {
		out = append(out, v.Price)
	}
	return out
}

// Elsewhere is a folded plan.
type Elsewhere struct {
	Region, Zone string
	Total        money.Amount
}

// Time is how long a plan takes, interruptions included.
type Time struct {
	Hours, LowHours, HighHours unit.Hours // expected, start included, and the interval of the speed
	P95Hours                   unit.Hours // 95th percentile over interruptions
	Start                      unit.Hours // until the work begins: image, model, data; paid for
}

// Item is a kind of cost.
type Item string

// Size is the same plan on another number of machines.
type Size struct {
	Instances int
	Hours     unit.Hours
	Total     money.Amount
	Kg        unit.Maybe[unit.Kilograms]
	OnFront   bool
}

// The items of a plan's cost.
const (
	Compute Item = "compute"
	Storage Item = "storage" // block storage of the machines and object storage of the data
	Egress  Item = "egress"
	People  Item = "people"
	Delay   Item = "delay"
)

// Line is one item of a cost.
type Line struct {
	Item   Item
	Amount money.Amount
	// Assumed says that the provider's own price is not known and the dearest known one, of any provider, stands in.
	Assumed bool
}

// Cost is what a plan costs; Total is the sum of Lines to the millionth.
type Cost struct {
	Total     money.Amount
	Low, High money.Amount // over the speed's interval
	Lines     []Line
	// Flow is when compute is paid, month by month; it sums to that line exactly.
	Flow price.Flow
	// Effective is compute by the machine-hours that the work needs: what a commitment leaves idle makes it dearer.
	Effective money.Rate
	// Runs is how often the work is done for Total, and PerRun what one comes to; of a service, 1 and Total.
	Runs    int
	PerRun  money.Amount
	Unknown []Item // items that apply and nobody's price of is known: not in Total
	PerUnit PerUnit
}

// PerUnit is the cost of a unit of work.
type PerUnit struct {
	Price float64 // in the result's currency, for display; Total / work
	Unit  string  // "1M tokens", "image", "frame" …
}

// Carbon is a plan's emissions.
type Carbon struct {
	Kg     unit.Maybe[unit.Kilograms]
	Energy unit.Maybe[unit.KilowattHours]
	Grid   unit.Maybe[unit.GramsPerKWh]
	PUE    float64
	// Basis says where the grid intensity came from: region, country or unknown.
	Basis string
}

// Spot is what interruptions do to a plan.
type Spot struct {
	PerHour             float64 // interruptions an hour of the whole group
	Basis               provider.Basis
	Source              string
	Notice              unit.Maybe[unit.Hours]
	CheckpointEvery     unit.Hours
	Overhead            float64 // expected time over uninterrupted time
	ExpectedPreemptions float64
}

// Serverless is how a service on serverless workers behaves over a day.
type Serverless struct {
	Workers             float64 // running on average
	LeastWarm, MostWarm int     // workers that never stop, in the hour with the fewest and with the most
	Cold                float64 // share of requests that wait for a worker to start, at most
	ColdStart           unit.Hours
	KeepAlive           unit.Hours // that an idle worker is kept for
}

// Warning is something a buyer should know about a plan: a code in front's catalogue with its figures.
type Warning struct {
	Code string
	Args map[string]any
}

// Reason is why candidates were left out: an estimate.Reason or one of the limits below.
type Reason string

// The limits.
const (
	ByAccelerator     Reason = "accelerator"
	ByProvider        Reason = "provider"
	ByMarketplace     Reason = "marketplace"
	ByRegion          Reason = "region"
	ByResidency       Reason = "residency"
	ByJurisdiction    Reason = "jurisdiction"
	ByCertification   Reason = "certification"
	ByConfidential    Reason = "confidential"
	ByBareMetal       Reason = "bare-metal"
	ByMIG             Reason = "mig"
	BySLA             Reason = "sla"
	ByInterconnect    Reason = "interconnect"
	ByNetwork         Reason = "network"
	ByHostRAM         Reason = "host-ram"
	BySoftware        Reason = "software"
	BySoftwareUnknown Reason = "software-unknown" // nothing says that the software runs on the chip
	ByBilling         Reason = "billing"
	ByPriceUnknown    Reason = "price-unknown"
	ByPriceAge        Reason = "price-age"
	ByCurrency        Reason = "currency"
	ByCount           Reason = "count"
	ByDeadline        Reason = "deadline"
	ByBudget          Reason = "budget"
	ByCarbon          Reason = "carbon"
	ByCarbonUnknown   Reason = "carbon-unknown"
	ByDoubt           Reason = "price-doubtful"     // flagged as no observation: never ranked
	BySpot            Reason = "spot-interruptions" // interrupted too often to get anywhere
	BySpotShare       Reason = "spot-share"         // all on spot, where only a share may be interrupted
	BySpan            Reason = "serverless-span"    // serverless machines do not work together
)

// Rejection is the offers left out for one reason: that of the candidate which came furthest and missed by the least.
type Rejection struct {
	Reason  Reason
	Count   int
	Nearest *NearMiss
}

// NearMiss is the candidate that missed by the least.
type NearMiss struct {
	Offer     *catalog.Offer
	Mode      catalog.BillingMode // empty where the miss does not depend on it
	Instances int
	// Quantity says what Have and Want count: bytes, hours, money, kg, percent, days, count, gbps, seconds, law, text.
	Quantity   string
	Have, Want float64
	Text       string   // what was wanted, where it is not a number: a law, a certification, a region
	Because    *Warning // why, where the reason alone does not say: what the software lacks
}
