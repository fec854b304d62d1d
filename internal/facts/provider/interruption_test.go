package provider_test

import (
	"math"
	"strings"
	"testing"

	"github.com/rackrate/rackrate/internal/facts/provider"
)

func TestInterruption(t *testing.T) {
	table := provider.Embedded()
	for _, c := range []struct {
		provider, region, instanceType string
		monthly                        float64 // the band's midpoint; 0 where it is not from a band
		basis                          provider.Basis
	}{
		{"aws", "me-central-1", "g5.2xlarge", 0.25, provider.BasisPublished},   // >20 %
		{"aws", "me-central-1", "g5.12xlarge", 0.025, provider.BasisPublished}, // <5 %
		{"aws", "xx-nowhere-1", "g5.2xlarge", 0.25, provider.BasisElsewhere},
		{"aws", "", "g5.2xlarge", 0.25, provider.BasisElsewhere},
		{"aws", "us-east-1", "p99.metal", 0, provider.BasisTraces},
		{"gcp", "us-central1", "a2-highgpu-1g", 0, provider.BasisTraces},
		{"vast", "Texas, US, NA", "any", 0, provider.BasisTraces},
	} {
		perHour, basis, source, ok := table.Interruption(c.provider, c.region, c.instanceType)
		if !ok || basis != c.basis || source == "" {
			t.Errorf("%s %s %s: %v %s %s", c.provider, c.region, c.instanceType, ok, basis, source)
		}
		if c.monthly == 0 {
			if mean := 1 / perHour; math.Abs(mean-2.652) > 0.001 {
				t.Errorf("mean time to a loss %v h", mean)
			}
			continue
		}
		// Surviving a month of 730 hours at the hourly rate is as likely as the band says.
		if survives := math.Exp(-perHour * 730); math.Abs(survives-(1-c.monthly)) > 1e-12 {
			t.Errorf("%s %s: survives a month with %v", c.region, c.instanceType, survives)
		}
		if c.basis == provider.BasisPublished && !strings.Contains(source, "2025-06-28") {
			t.Errorf("source without its date: %s", source)
		}
	}
}

func TestNoSpotNoInterruption(t *testing.T) {
	for _, id := range []string{"lambda", "nobody"} {
		if _, _, _, ok := provider.Embedded().Interruption(id, "us-east-1", "x"); ok {
			t.Errorf("%s rents no spot machines", id)
		}
	}
}
