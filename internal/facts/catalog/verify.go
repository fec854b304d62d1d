package catalog

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
)

// FaultKind is what is wrong with a row; each is a message code in front, and a Flag on the prices it makes doubtful.
type FaultKind string

// The kinds of fault.
const (
	BadIdentity   FaultKind = "identity"       // accelerators present, model or memory missing
	BadMemory     FaultKind = "memory"         // stated memory does not fit the chip
	NodeMemory    FaultKind = "node_memory"    // stated memory is that of all chips together
	BadUnits      FaultKind = "units"          // price of one chip outside what its class can cost: monthly, cents, hourly / 730
	ZeroPrice     FaultKind = "zero_price"     // zero, which is never a price
	BadCurrency   FaultKind = "currency"       // not a currency we know the scale of
	BadSource     FaultKind = "source"         // no such source
	Duplicate     FaultKind = "duplicate"      // one place, machine and mode twice
	FallingPrice  FaultKind = "falling_price"  // price per chip falls by more than 40 % with the count
	SamePrice     FaultKind = "same_price"     // as dear as a machine with another count
	SpotNotBelow  FaultKind = "spot_not_below" // spot at or above on demand
	SpotTenth     FaultKind = "spot_tenth"     // spot at a tenth of on demand or less: a default or a floor, not an observation
	ReservedAbove FaultKind = "reserved_above" // reserved dearer than on demand
	Stale         FaultKind = "stale"          // older than the limit
	LooseTopology FaultKind = "topology"       // how the chips are linked was inferred or recalled
	PartAlone     FaultKind = "part_alone"     // a host without its accelerators, or the accelerators without a host
	BadRow        FaultKind = "row"            // cannot be read
	CountMissing  FaultKind = "count"          // accelerators named, their number missing
)

// Severity says whether a row may stay.
type Severity string

// The severities.
const (
	IsError Severity = "error" // must not rank; the embedded catalog has none
	IsFlag  Severity = "flag"  // may rank, with a warning
)

// warnings are the kinds that a row may have and stay.
var warnings = []FaultKind{NodeMemory, FallingPrice, SamePrice, SpotTenth, Stale, LooseTopology}

// Severity is the same for every fault of a kind.
func (k FaultKind) Severity() Severity {
	if slices.Contains(warnings, k) {
		return IsFlag
	}
	return IsError
}

// Lasts says whether a doubt stays with a price, as a flag of it, and does not pass with the day or with another row.
func (k FaultKind) Lasts() bool { return k == FallingPrice || k == SamePrice || k == SpotTenth }

// Fault is one finding about one row. Line is 0 where the row did not come from a file.
type Fault struct {
	Kind         FaultKind    `json:"kind"`
	Severity     Severity     `json:"severity"`
	Provider     string       `json:"provider,omitempty"`
	InstanceType string       `json:"instance_type,omitempty"`
	Region       string       `json:"region,omitempty"`
	Zone         string       `json:"zone,omitempty"`
	Mode         BillingMode  `json:"mode,omitempty"`
	Line         int          `json:"line,omitempty"`
	Args         problem.Args `json:"args,omitempty"`
}

// StaleAfterDays is the age from which Verify calls a price stale.
const StaleAfterDays = 365

// Verify checks every row of a catalog as of a day. It costs O(n log n) in the number of prices.
func Verify(c *Catalog, today string) []Fault { return VerifyAged(c, today, StaleAfterDays) }

// VerifyAged is Verify with another age limit, in days.
func VerifyAged(c *Catalog, today string, maxDays int) []Fault {
	v := newVerifier(c, today, maxDays)
	for i, m := range c.Machines {
		if i > 0 && compareMachines(m, c.Machines[i-1]) == 0 {
			v.machine(m, Duplicate, nil)
		}
		v.checkMachine(m)
	}
	return v.prices(c)
}

// VerifyPrices is Verify for prices alone: machines are not judged.
func VerifyPrices(c *Catalog, today string) []Fault {
	return newVerifier(c, today, StaleAfterDays).prices(c)
}

func newVerifier(c *Catalog, today string, maxDays int) *verifier {
	v := &verifier{sources: make(map[string]bool, len(c.Sources)), oldest: daysBefore(today, maxDays)}
	for _, s := range c.Sources {
		v.sources[s.ID] = true
	}
	return v
}

func (v *verifier) prices(c *Catalog) []Fault {
	for _, o := range c.Offers {
		v.checkOffer(o)
	}
	v.checkCounts(c.Offers)
	slices.SortStableFunc(v.faults, func(a, b Fault) int {
		return cmp.Or(strings.Compare(a.Provider, b.Provider), strings.Compare(a.InstanceType, b.InstanceType),
			strings.Compare(a.Region, b.Region), strings.Compare(a.Zone, b.Zone),
			cmp.Compare(modeRank(a.Mode), modeRank(b.Mode)), strings.Compare(string(a.Kind), string(b.Kind)))
	})
	return v.faults
}

// daysBefore gives the day so many days earlier; empty, before every date, where today is not a date.
func daysBefore(today string, days int) string {
	d, err := time.Parse(time.DateOnly, today)
	if err != nil {
		return ""
	}
	return d.AddDate(0, 0, -days).Format(time.DateOnly)
}

type verifier struct {
	faults  []Fault
	sources map[string]bool
	oldest  string // prices before this day are stale
}

func (v *verifier) machine(m *Machine, k FaultKind, args problem.Args) {
	v.faults = append(v.faults, Fault{Kind: k, Severity: k.Severity(), Provider: m.Provider, InstanceType: m.InstanceType, Args: args})
}

func (v *verifier) price(o *Offer, p Price, k FaultKind, args problem.Args) {
	v.faults = append(v.faults, Fault{
		Kind: k, Severity: k.Severity(), Provider: o.Provider, InstanceType: o.InstanceType,
		Region: o.Region, Zone: o.Zone, Mode: p.Mode, Args: args,
	})
}

func (v *verifier) checkMachine(m *Machine) {
	switch chip := m.Accelerator; {
	case chip == nil:
		v.machine(m, BadIdentity, problem.Args{"Missing": "model", "Count": m.Count})
	case !chip.NominalGB.Known():
		v.machine(m, BadIdentity, problem.Args{"Missing": "memory", "Accelerator": chip.Name, "Count": m.Count})
	}
	if m.Count <= 0 {
		v.machine(m, PartAlone, nil)
	}
	if !v.sources[m.Source] {
		v.machine(m, BadSource, problem.Args{"Source": m.Source})
	}
	if !m.TopologyKnown && m.Count > 1 {
		v.machine(m, LooseTopology, problem.Args{"Topology": string(m.Topology)})
	}
}

func (v *verifier) checkOffer(o *Offer) {
	onDemand, hasOnDemand := o.Mode(OnDemand)
	for i, p := range o.Prices {
		if i > 0 && p.Mode == o.Prices[i-1].Mode {
			v.price(o, p, Duplicate, nil)
		}
		if !v.sources[p.Source] {
			v.price(o, p, BadSource, problem.Args{"Source": p.Source})
		}
		if p.AsOf < v.oldest {
			v.price(o, p, Stale, problem.Args{"AsOf": p.AsOf})
		}
		v.checkRate(o, p)
		if hasOnDemand && p.Hourly.Currency() == onDemand.Hourly.Currency() {
			v.checkDiscount(o, p, onDemand.Hourly)
		}
	}
}

func (v *verifier) checkDiscount(o *Offer, p Price, onDemand money.Rate) {
	var kind FaultKind
	switch {
	case p.Mode == Spot && p.Hourly.Nanos() >= onDemand.Nanos():
		kind = SpotNotBelow
	case p.Mode == Spot && p.Hourly.Nanos() <= onDemand.Nanos()/10:
		kind = SpotTenth
	case p.Mode.isCommitment() && p.Hourly.Nanos() > onDemand.Nanos():
		kind = ReservedAbove
	default:
		return
	}
	v.price(o, p, kind, problem.Args{"Price": p.Hourly.Decimal(), "OnDemand": onDemand.Decimal()})
}

func (m BillingMode) isCommitment() bool { return m.Term() >= PrepaidMonthHourly.Term() }
