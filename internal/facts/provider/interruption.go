package provider

import (
	"math"

	"github.com/rackrate/rackrate/internal/base/unit"
)

// Basis is what a spot interruption rate rests on.
type Basis string

// The bases of a spot interruption rate.
const (
	BasisPublished Basis = "published" // the provider's own figure for that machine in that region
	BasisHistory   Basis = "history"   // how often it was seen to run out where the store watched it
	BasisElsewhere Basis = "elsewhere" // its worst figure for the same machine in other regions
	BasisTraces    Basis = "traces"    // measured on other machines; a cautious stand-in
	BasisUnknown   Basis = "unknown"   // the provider is known to have no spot machines, or is not known
)

// tracesPerHour is the pooled rate of the 17 single-node availability traces: 3,412 losses in 9,049.6 hours of
// being available, a mean of 2.65 hours to a loss. It is cautious on purpose: the traces are of scarce
// V100 and K80 zones, and machines that other providers rent as spot have no figures at all.
const tracesPerHour = 3412 / 9049.6

const tracesSource = "skypilot-org/spot-traces, 2022-2023, AWS V100 and K80: mean time to a loss 2.65 h"

// monthlyBands are the midpoints of AWS's frequency of interruption: the share of instances that were reclaimed
// in the trailing month. The open band ">20" is taken as 0.25; the advisor prints no upper end.
var monthlyBands = map[string]float64{"<5": 0.025, "5-10": 0.075, "10-15": 0.125, "15-20": 0.175, ">20": 0.25}

type hazardKey struct{ provider, region, instanceType string }

type hazard struct {
	monthly            float64
	source, asOf, band string
}

// cite is composed only when asked for: few of the rows ever are.
func (h hazard) cite() string { return h.source + ", " + h.asOf + ", band " + h.band + " % a month" }

var hazardColumns = []string{"provider", "region", "instance_type", "band", "savings_percent", "as_of", "source"}

// Interruption is the constant rate an hour at which a spot machine is taken away, with its basis and source.
// False where the provider is known to have no spot machines, or is itself unknown. A monthly frequency p
// becomes the rate −ln(1−p)/730 of an exponential law.
func (t *Table) Interruption(provider, region, instanceType string) (perHour float64, basis Basis, source string, ok bool) {
	p := t.byID[provider]
	if p == nil || !p.SpotOffered.Or(true) { // not knowing whether there are spot machines is no reason to deny them
		return 0, BasisUnknown, "", false
	}
	if h, found := t.hazards[hazardKey{provider, region, instanceType}]; found && region != "" {
		return hourly(h.monthly), BasisPublished, h.cite(), true
	}
	if s := t.seen[hazardKey{provider, region, instanceType}]; s != nil && s.Hours >= leastSeen {
		return s.perHour(), BasisHistory, s.cite(), true
	}
	if h, found := t.hazards[hazardKey{provider, "", instanceType}]; found {
		return hourly(h.monthly), BasisElsewhere, h.cite(), true
	}
	return tracesPerHour, BasisTraces, tracesSource, true
}

func hourly(monthly float64) float64 { return -math.Log1p(-monthly) / unit.HoursPerMonth }
