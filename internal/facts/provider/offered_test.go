package provider_test

import (
	"testing"

	"github.com/rackrate/rackrate/internal/facts/provider"
)

// A provider and a region that came with prices can be named, and nothing else is known of them.
func TestWithOffered(t *testing.T) {
	table := provider.Embedded()
	if table.WithOffered(map[string][]string{"aws": {"us-east-1", ""}}) != table {
		t.Error("copied for nothing")
	}
	more := table.WithOffered(map[string][]string{"acme": {"moon-1", "Texas, US, NA"}, "aws": {"us-new-9"}})
	p, err := more.Find("ACME")
	if err != nil || p.ID != "acme" || p.Country != "" || p.SLA.Known() {
		t.Errorf("%+v %v", p, err)
	}
	for _, name := range []string{"moon-1", "us-new-9", "us-east-1"} {
		if ok, _ := more.ValidPlace(name); !ok {
			t.Errorf("%s is no place", name)
		}
	}
	if r := more.Region("acme", "moon-1"); r.Country != "" {
		t.Errorf("%+v", r)
	}
	if r := more.Region("acme", "Texas, US, NA"); r.Country != "US" {
		t.Errorf("%+v", r)
	}
	if ok, _ := table.ValidPlace("moon-1"); ok {
		t.Error("the table itself was changed")
	}
	if _, err := table.Find("acme"); err == nil {
		t.Error("the table itself was changed")
	}
}
