package workload

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/unit"
)

func TestPrintedQuantities(t *testing.T) {
	hours := func(s string) unit.Hours {
		h, err := unit.ParseHours(s)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	for _, c := range []struct{ got, want any }{
		{printHours(hours("3d")), "72h"}, {printHours(hours("1h30m")), "90m"}, {printHours(hours("0.3s")), "300ms"},
		{printHours(hours("40 ms")), "40ms"}, {printHours(hours("1s")), "1s"}, {printHours(hours("1mo")), "730h"},
		{printHours(hours("2.5ms")), "2.5ms"},
		{printBytes(1200 * unit.GB), "1.2TB"}, {printBytes(14 * unit.GiB), "14GiB"}, {printBytes(7), "7B"}, {printBytes(50 * unit.GB), "50GB"},
		{Count(2e9).String(), "2B"}, {Count(1.5e6).String(), "1.5M"}, {Count(9999).String(), "9999"}, {Count(308915776).String(), "308915776"},
		{Count(0.5).String(), "0.5"}, {Count(1e18).String(), "1e+18"},
	} {
		if c.got != c.want {
			t.Errorf("printed %v, want %v", c.got, c.want)
		}
	}
}

// TestPrintedQuantitiesReadBack to the very same figure, whatever it is.
func TestPrintedQuantitiesReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(1e-9, 1e15).Draw(t, "v")
		if h, err := unit.ParseHours(printHours(unit.Hours(v))); err != nil || float64(h) != v {
			t.Fatalf("hours %v: %s is %v, %v", v, printHours(unit.Hours(v)), float64(h), err)
		}
		if c, err := unit.ParseCount(Count(v).String()); err != nil || c != v {
			t.Fatalf("count %v: %s is %v, %v", v, Count(v), c, err)
		}
		text, _ := rateCodec.write(unit.BytesPerSec(v))
		if r, err := unit.ParseRate(text.(string)); err != nil || float64(r) != v {
			t.Fatalf("rate %v: %s is %v, %v", v, text, float64(r), err)
		}
		text, _ = massCodec.write(unit.Kilograms(v))
		if kg, err := unit.ParseMass(text.(string)); err != nil || float64(kg) != v {
			t.Fatalf("mass %v: %s is %v, %v", v, text, float64(kg), err)
		}
		n := unit.Bytes(rapid.Int64Range(1, 1<<53).Draw(t, "n"))
		if b, err := unit.ParseBytes(printBytes(n).(string)); err != nil || b != n {
			t.Fatalf("bytes %d: %v is %d, %v", n, printBytes(n), b, err)
		}
	})
}
