package price

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

func TestBilled(t *testing.T) {
	second, minute, hour := unit.Hours(1.0/3600), unit.Hours(1.0/60), unit.Hours(1)
	tests := []struct {
		name    string
		billing Billing
		h, want unit.Hours
	}{
		{"exact", Billing{}, 1.234, 1.234},
		{"to the hour", Billing{Step: hour}, 1.2, 2},
		{"a whole hour stays", Billing{Step: hour}, 3, 3},
		{"a minute at least", Billing{Step: second, Minimum: minute}, 10 * second, minute},
		{"a whole number of seconds despite binary fractions", Billing{Step: second}, 0.1, 360 * second},
		{"bare metal for an hour at least", Billing{Step: second, Minimum: hour}, 0.5, 1},
	}
	for _, tt := range tests {
		if got := tt.billing.Billed(tt.h); got < tt.want-1e-12 || got > tt.want+1e-12 {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// Terms are paid whole by a job that ends, by their share by work that goes on (730 h a month is applied nowhere here:
// prices are hourly already).
func TestCommitment(t *testing.T) {
	b := Billing{Step: 1}
	for _, tt := range []struct {
		c       Commitment
		h, want unit.Hours
	}{
		{Commitment{Mode: catalog.OnDemand}, 20.5, 21},
		{Commitment{Mode: catalog.Reserved1Y}, 20.5, 8760},
		{Commitment{Mode: catalog.Reserved1Y}, 8760, 8760},
		{Commitment{Mode: catalog.Reserved1Y}, 8761, 2 * 8760},
		{Commitment{Mode: catalog.SavingsPlan3Y}, 1, 3 * 8760},
		{Commitment{Mode: catalog.CapacityBlock}, 30, 48},
		{Commitment{Mode: catalog.Reserved1Y, Ongoing: true}, 730, 730},
	} {
		if got := tt.c.Hours(b, tt.h); got != tt.want {
			t.Errorf("%+v for %v h: %v, want %v", tt.c, tt.h, got, tt.want)
		}
	}
}

func TestComputeIsExact(t *testing.T) {
	rate, _ := money.ParseRate("55.04", money.USD)
	if got := Compute(rate, 3, 24).Decimal(); got != "3962.88" {
		t.Errorf("3 x 55.04 x 24 is %s", got)
	}
	rapid.Check(t, func(r *rapid.T) {
		rate := money.PerHour(rapid.Int64Range(1, 1e12).Draw(r, "rate"), money.USD)
		a, b := rapid.Float64Range(0, 1e4).Draw(r, "a"), rapid.Float64Range(0, 1e4).Draw(r, "b")
		if a > b {
			a, b = b, a
		}
		if Compute(rate, 1, unit.Hours(a)).Cmp(Compute(rate, 1, unit.Hours(b))) > 0 {
			r.Fatalf("%v h costs more than %v h", a, b)
		}
	})
}
