package price

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
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
