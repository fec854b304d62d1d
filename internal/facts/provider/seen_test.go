package provider_test

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/rackrate/rackrate/internal/facts/provider"
)

func TestSeenRoundTrip(t *testing.T) {
	seen := []provider.Seen{
		{Provider: "vast", Region: "DE", InstanceType: "4x-H100", Hours: 200.5, Losses: 3, Since: "2026-05-01", Source: "Vast.ai"},
		{Provider: "vast", Region: "", InstanceType: "2x-H100", Hours: 1, Since: "2026-05-02", Source: "Vast.ai"},
	}
	var b bytes.Buffer
	if err := provider.WriteSeen(&b, seen); err != nil {
		t.Fatal(err)
	}
	got, err := provider.ReadSeen("seen.csv", b.Bytes())
	slices.Reverse(got) // written sorted
	if err != nil || !slices.Equal(got, seen) {
		t.Errorf("%+v %v", got, err)
	}
	if _, err = provider.ReadSeen("seen.csv", []byte(strings.Replace(b.String(), "200.5", "-1", 1))); err == nil || !strings.Contains(err.Error(), "seen.csv:3") {
		t.Errorf("%v, want a fault on line 3", err)
	}
}

// What the store saw counts after a week in stock; before that, and against the provider's own figure, it does not.
func TestInterruptionSeen(t *testing.T) {
	table := provider.Embedded().WithSeen([]provider.Seen{
		{Provider: "vast", Region: "DE", InstanceType: "long", Hours: 200, Losses: 3, Since: "2026-05-01", Source: "Vast.ai"},
		{Provider: "vast", Region: "DE", InstanceType: "never", Hours: 500, Since: "2026-05-01", Source: "Vast.ai"},
		{Provider: "vast", Region: "DE", InstanceType: "short", Hours: 100, Losses: 1, Since: "2026-05-01", Source: "Vast.ai"},
		{Provider: "aws", Region: "us-east-1", InstanceType: "p4d.24xlarge", Hours: 2000, Since: "2026-05-01", Source: "x"},
	})
	for _, c := range []struct {
		provider, region, instance string
		basis                      provider.Basis
		perHour                    float64
	}{
		{"vast", "DE", "long", provider.BasisHistory, 3.5 / 200}, {"vast", "DE", "never", provider.BasisHistory, 0.5 / 500},
		{"vast", "DE", "short", provider.BasisTraces, -1}, {"vast", "FR", "long", provider.BasisTraces, -1}, {"aws", "us-east-1", "p4d.24xlarge", provider.BasisPublished, -1},
	} {
		rate, basis, source, ok := table.Interruption(c.provider, c.region, c.instance)
		if !ok || basis != c.basis || c.perHour > 0 && math.Abs(rate-c.perHour) > 1e-12 {
			t.Errorf("%s %s: %v %v %q", c.region, c.instance, rate, basis, source)
		}
	}
}
