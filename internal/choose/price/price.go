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

// Compute is what so many machines cost for so long.
func Compute(hourly money.Rate, machines int, h unit.Hours) money.Amount {
	return hourly.Mul(float64(machines)).For(float64(h))
}
