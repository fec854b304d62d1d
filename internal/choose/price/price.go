// Package price turns a quoted price and a length of time into what is paid: billing steps and minimum charges,
// terms that are paid whether used or not, storage and egress, people and delay.
//
// Invariants: every line is exact and a total is the sum of its lines; a price that is not known stays unknown and
// is listed as such. Pure. Imported by choose/plan.
package price

import (
	"math"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// Billing is how a provider counts time.
type Billing struct {
	Step    unit.Hours // granularity; 0 is exact
	Minimum unit.Hours
}

// Billed is the time that is charged: max(minimum, hours rounded up to the step).
func (b Billing) Billed(h unit.Hours) unit.Hours {
	if b.Step > 0 {
		// A hair under a whole step is that step: 0.1 h x 3600 is not exactly 360 s in binary.
		h = unit.Hours(math.Ceil(float64(h/b.Step)-1e-9)) * b.Step
	}
	return max(h, b.Minimum)
}

// Commitment says how much of a mode's term must be paid.
type Commitment struct {
	Mode catalog.BillingMode
	// Ongoing work goes on after the planned time and uses the term up, so that only its share is charged.
	Ongoing bool
}

// Hours is the time paid for: the billed time of pay as you go, whole terms of a commitment.
func (c Commitment) Hours(b Billing, h unit.Hours) unit.Hours {
	term := c.Mode.Term()
	if term == 0 {
		return b.Billed(h)
	}
	if c.Ongoing {
		return h
	}
	return unit.Hours(math.Ceil(float64(h/term)-1e-9)) * term
}

// Compute is what so many machines cost for so long.
func Compute(hourly money.Rate, machines int, h unit.Hours) money.Amount {
	return hourly.Mul(float64(machines)).For(float64(h))
}
