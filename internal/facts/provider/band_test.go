package provider_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/provider"
)

func TestBandsRoundTrip(t *testing.T) {
	bands := []provider.Band{
		{Provider: "aws", Region: "eu-west-1", InstanceType: "p5.48xlarge", Range: "15-20", AsOf: "2026-05-01", Source: "advisor, May"},
		{Provider: "aws", Region: "eu-west-1", InstanceType: "g5.xlarge", Range: "<5", Savings: unit.Some(-3.0), AsOf: "2026-05-01", Source: "advisor, May"},
	}
	var b bytes.Buffer
	if err := provider.WriteBands(&b, bands, func(string) string { return "" }); err != nil {
		t.Fatal(err)
	}
	got, err := provider.ReadBands("b.csv", b.Bytes(), "2026-05-01")
	slices.Reverse(got) // written sorted
	if err != nil || !slices.Equal(got, bands) {
		t.Errorf("%+v %v", got, err)
	}
	_, err = provider.ReadBands("b.csv", []byte(strings.Replace(b.String(), "15-20", "15-21", 1)), "2026-05-01")
	if err == nil || !strings.Contains(err.Error(), "b.csv:3") {
		t.Errorf("%v, want a fault on line 3", err)
	}
}

// Newer bands of a region are all there is of it; other regions keep theirs, and the worst of all regions follows.
func TestWithBands(t *testing.T) {
	table := provider.Embedded()
	old, basis, _, _ := table.Interruption("aws", "us-east-1", "p4d.24xlarge")
	if basis != provider.BasisPublished {
		t.Fatal("the built-in table no longer has p4d.24xlarge in us-east-1")
	}
	newer := table.WithBands([]provider.Band{{Provider: "aws", Region: "us-east-1", InstanceType: "p5.48xlarge", Range: ">20", AsOf: "2026-06-01", Source: "new"}})
	if rate, basis, source, _ := newer.Interruption("aws", "us-east-1", "p5.48xlarge"); basis != provider.BasisPublished || !strings.Contains(source, "2026-06-01") || rate <= 0 {
		t.Errorf("%v %v %v", rate, basis, source)
	}
	if _, basis, _, _ := newer.Interruption("aws", "us-east-1", "p4d.24xlarge"); basis == provider.BasisPublished {
		t.Error("a type that the newer list of the region lacks kept its band")
	}
	if rate, basis, _, _ := table.Interruption("aws", "us-east-1", "p4d.24xlarge"); rate != old || basis != provider.BasisPublished {
		t.Error("the table itself was changed")
	}
	if rate, basis, _, _ := newer.Interruption("aws", "eu-west-1", "g5.xlarge"); rate <= 0 || basis != provider.BasisPublished {
		t.Error("another region lost its bands")
	}
}
