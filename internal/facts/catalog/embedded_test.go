package catalog_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

func TestEmbeddedSize(t *testing.T) {
	c := embedded(t)
	priced := map[string]int{}
	total := 0
	for _, o := range c.Offers {
		if len(o.Prices) > 0 {
			priced[o.Provider]++
			total++
		}
	}
	if total < 5000 {
		t.Errorf("%d priced offers, want at least 5000", total)
	}
	for provider, least := range map[string]int{
		"aws": 1000, "azure": 900, "gcp": 300, "alibaba": 300, "oci": 800, "lambda": 300, "runpod": 400, "nebius": 20,
		"vast": 80, "verda": 20, "hyperstack": 20, "ovhcloud": 40, "scaleway": 4, "cudo": 100, "primeintellect": 80,
		"spheron": 100, "lium": 30, "jarvislabs": 10, "mithril": 2, "yotta": 5, "daytona": 50, "seeweb": 20,
		"simplepod": 40, "fluidstack": 20, "paperspace": 10, "digitalocean": 2, "ibm": 8, "hyperbolic": 3,
	} {
		if priced[provider] < least {
			t.Errorf("%s: %d priced offers, want at least %d", provider, priced[provider], least)
		}
	}
}

func TestKnownPrices(t *testing.T) {
	c := embedded(t)
	for _, w := range []struct {
		provider, instanceType, region string
		mode                           catalog.BillingMode
		price                          string
	}{
		{"aws", "p5.48xlarge", "us-east-1", catalog.OnDemand, "55.04 USD/h"},
		{"aws", "g4dn.xlarge", "us-east-1", catalog.OnDemand, "0.526 USD/h"},
		{"aws", "inf1.2xlarge", "cn-north-1", catalog.OnDemand, "3.63 CNY/h"},
		{"aws", "p6-b200.48xlarge", "us-east-1", catalog.CapacityBlock, "98.84 USD/h"},
		{"azure", "Standard_ND96isr_H100_v5", "eastus", catalog.OnDemand, "98.32 USD/h"},
		{"gcp", "a4-highgpu-8g", "us-central1", catalog.CapacityBlock, "90.216 USD/h"},
		{"gcp", "tpu-v5litepod-8", "us-central1", catalog.OnDemand, "9.60 USD/h"},
		{"alibaba", "ecs.gn7i-c8g1.2xlarge", "cn-beijing", catalog.OnDemand, "9.5326 CNY/h"},
		{"oci", "BM.GPU.H100.8", "us-ashburn-1", catalog.OnDemand, "80.00 USD/h"},
		{"cudo", "ice-lake-a40-compute_1x2v4gb", "ca-montreal-3", catalog.OnDemand, "0.3698 USD/h"},
		{"runpod", "1x_H100-SXM_SECURE", "", catalog.OnDemand, "3.99 USD/h"},
		{"nebius", "gpu-h100-sxm_8gpu-128vcpu-1600gb", "", catalog.OnDemand, "30.80 USD/h"},
		{"mithril", "h100-80gb.sxm.8x", "us-central2-a", catalog.Spot, "8.00 USD/h"},
		{"seeweb", "ECS1GPU11", "it-fr2", catalog.OnDemand, "0.29 EUR/h"},
	} {
		p, ok := offer(t, c, w.provider, w.instanceType, w.region).Mode(w.mode)
		if !ok || p.Hourly.String() != w.price {
			t.Errorf("%s %s %s %s: %v, want %s", w.provider, w.instanceType, w.region, w.mode, p.Hourly, w.price)
		}
	}
}

// A4 is sold by calendar reservation, Mithril by auction: neither has a price on demand.
func TestNoOnDemandWhereNoneIsSold(t *testing.T) {
	c := embedded(t)
	for _, o := range append(c.Find("gcp/a4-highgpu-8g"), c.Find("mithril/h100-80gb.sxm.8x")...) {
		if _, ok := o.Mode(catalog.OnDemand); ok {
			t.Errorf("%s in %s has a price on demand", o.InstanceType, o.Region)
		}
	}
}

// Reserved prices older than a cut of the list price would look dearer or falsely cheap beside it.
func TestReservedOnlyBesideItsOwnListPrice(t *testing.T) {
	c := embedded(t)
	p5 := offer(t, c, "aws", "p5.48xlarge", "us-east-1")
	for _, p := range p5.Prices {
		if p.Mode.Term() > 24 {
			t.Errorf("p5.48xlarge keeps %s at %v of %s, from before the cut of June 2025", p.Mode, p.Hourly, p.AsOf)
		}
	}
	// Azure's list price did not change, so 62.92 and 43.16 still hold.
	nd := offer(t, c, "azure", "Standard_ND96isr_H100_v5", "eastus")
	if p, ok := nd.Mode(catalog.Reserved1Y); !ok || p.Hourly.Decimal() != "62.92477" {
		t.Errorf("reserved 1y of ND96isr_H100_v5 in eastus: %v", p.Hourly)
	}
	for _, o := range c.Offers {
		onDemand, ok := o.Mode(catalog.OnDemand)
		for _, p := range o.Prices {
			if ok && p.Mode.Term() > 24 && p.Hourly.Float() >= onDemand.Hourly.Float() {
				t.Errorf("%s %s %s: %s not below on demand", o.Provider, o.InstanceType, o.Region, p.Mode)
			}
		}
	}
}

func TestTencentHasNoPrice(t *testing.T) {
	n := 0
	for _, o := range embedded(t).Offers {
		if o.Provider != "tencent" {
			continue
		}
		n++
		if len(o.Prices) > 0 || o.Region != "" {
			t.Errorf("%s in %q: %v; the source has neither price nor region", o.InstanceType, o.Region, o.Prices)
		}
	}
	if n < 25 {
		t.Errorf("%d Tencent types", n)
	}
}

func TestFractions(t *testing.T) {
	c := embedded(t)
	for _, w := range []struct {
		provider, instanceType string
		count                  float64
	}{
		{"azure", "Standard_NV6ads_A10_v5", 1.0 / 6}, {"azure", "Standard_NV12ads_A10_v5", 1.0 / 3}, {"azure", "Standard_NV18ads_A10_v5", 0.5},
		{"azure", "Standard_NV4as_v4", 1.0 / 8}, {"gcp", "g4-standard-6", 1.0 / 8}, {"aws", "g6f.2xlarge", 0.25},
		{"alibaba", "ecs.vgn7i-vws-m8.2xlarge", 1.0 / 3}, {"aws", "p2.16xlarge", 16},
	} {
		found := c.Find(w.provider + "/" + w.instanceType)
		if len(found) == 0 || found[0].Count != w.count {
			t.Errorf("%s: %d offers, want a count of %g", w.instanceType, len(found), w.count)
		}
	}
}

// The chip of a machine is told from the machine's own name where the source's name is loose.
func TestFormFactors(t *testing.T) {
	c := embedded(t)
	for instance, want := range map[string]string{
		"azure/Standard_NC40ads_H100_v5": "H100-NVL-94GB", "azure/Standard_ND96isr_H100_v5": "H100-SXM-80GB",
		"azure/Standard_ND96isr_MI300X_v5": "MI300X", "azure/Standard_NC6s_v3": "V100-PCIe-16GB",
		"aws/p4d.24xlarge": "A100-SXM-40GB", "aws/p4de.24xlarge": "A100-SXM-80GB", "gcp/a3-ultragpu-8g": "H200-SXM-141GB",
		"hyperstack/n3-H100x8-NVLink": "H100-PCIe-80GB", "hyperstack/n3-H100-SXM5x8": "H100-SXM-80GB",
		"lambda/gpu_1x_h100_pcie": "H100-PCIe-80GB", "lambda/gpu_8x_a100_80gb_sxm4": "A100-SXM-80GB",
		"vast/1x-H100_NVL-32-65536": "H100-NVL-94GB", "vast/1x-H100_SXM-32-65536": "H100-SXM-80GB",
		"verda/1H100.80S.32V": "H100-SXM-80GB", "scaleway/H100-1-80G": "H100-PCIe-80GB", "hyperbolic/1x-H100-75-722": "H100-SXM-80GB",
		"runpod/1x_H100_SECURE": "H100-PCIe-80GB", "runpod/1x_H100-NVL_SECURE": "H100-NVL-94GB",
	} {
		found := c.Find(instance)
		if len(found) == 0 || found[0].Accelerator.Name != want {
			t.Errorf("%s: %d offers, want %s", instance, len(found), want)
			if len(found) > 0 {
				t.Log(found[0].Accelerator.Name)
			}
			continue
		}
		if slices.Contains(found[0].Flags, catalog.FormFactorAssumed) {
			t.Errorf("%s: form factor is stated, yet marked as assumed", instance)
		}
	}
	for instance, want := range map[string]string{
		"digitalocean/gpu-h100x8-640gb": "H100-SXM-80GB", "fluidstack/H100_NVLINK_80GB::8": "H100-PCIe-80GB",
		"primeintellect/oblivus__8xA100_80GB__252__1920__NVLINK": "A100-PCIe-80GB",
		"primeintellect/datacrunch__8xA100_80GB__176__960":       "A100-SXM-80GB",
	} {
		m := c.Find(instance)[0]
		if m.Accelerator.Name != want || !slices.Contains(m.Flags, catalog.FormFactorAssumed) {
			t.Errorf("%s: %s %v; no source states the form factor", instance, m.Accelerator.Name, m.Flags)
		}
	}
}

// Cards with bridges are neither on the bus alone nor on a switch, whoever sells them.
func TestBridgedCards(t *testing.T) {
	c := embedded(t)
	for _, instance := range []string{
		"hyperstack/n3-H100x8-NVLink", "spheron/n3-H100x8-NVLink__CANADA-1", "fluidstack/H100_NVLINK_80GB::8",
		"primeintellect/hyperstack__8xA100_80GB__252__1920__NVLINK", "azure/Standard_NC48ads_A100_v4", "azure/Standard_NC80adis_H100_v5",
	} {
		if m := c.Find(instance)[0]; m.Topology != catalog.NVLinkPairs {
			t.Errorf("%s: %s", instance, m.Topology)
		}
	}
}

// Eight chips on one board share switches at every seller.
func TestEightSXMShareSwitches(t *testing.T) {
	for _, m := range embedded(t).Machines {
		hgx := m.Accelerator.FormFactor == "SXM" && (m.Accelerator.Arch == "Hopper" || m.Accelerator.Arch == "Ampere" || m.Accelerator.Arch == "Blackwell")
		if hgx && m.Count == 8 && m.Topology != catalog.NVSwitch {
			t.Errorf("%s %s: %s", m.Provider, m.InstanceType, m.Topology)
		}
	}
}

// Disks that a source gives in GiB are larger in the GB of the data file.
func TestDiskUnits(t *testing.T) {
	nvme, _ := embedded(t).Find("azure/Standard_ND96isr_H100_v5")[0].NVMe.Get()
	if nvme != 28000*unit.GiB {
		t.Errorf("ND96isr_H100_v5 has %v, want 28000 GiB", nvme)
	}
}

// Two feeds multiply the memory by the count, which makes two 16 GB chips look like one name's 32 GB part.
func TestMemoryOfTheNodeIsNotThatOfAChip(t *testing.T) {
	c := embedded(t)
	for instance, gb := range map[string]float64{
		"primeintellect/datacrunch__2xV100_16GB__10__45": 16, "vast/2x-A100_SXM4_40GB-32-65536": 40, "vast/2x-Tesla_V100-32-65536": 16,
	} {
		if found := c.Find(instance); len(found) == 0 || found[0].Accelerator.NominalGB.Or(0) != gb {
			t.Errorf("%s: %d offers, want chips of %g GB", instance, len(found), gb)
		}
	}
}

// Case 1: an offer is host and accelerator together.
func TestHostPartIsNeverAnOffer(t *testing.T) {
	c := embedded(t)
	p, _ := offer(t, c, "gcp", "a2-highgpu-1g", "asia-northeast1").Mode(catalog.OnDemand)
	if v := p.Hourly.Float(); v < 4 || v > 4.1 {
		t.Errorf("a2-highgpu-1g costs %v, want about 4.05: the host alone is 0.94", p.Hourly)
	}
	a3, _ := offer(t, c, "gcp", "a3-highgpu-8g", "us-central1").Mode(catalog.OnDemand)
	if v := a3.Hourly.Float(); v < 88 {
		t.Errorf("a3-highgpu-8g costs %v: its mandatory SSD is left out", a3.Hourly)
	}
	for _, o := range c.Offers {
		if o.Accelerator == nil || o.Count <= 0 || o.InstanceType == "" {
			t.Errorf("%s %q in %s: a part alone", o.Provider, o.InstanceType, o.Region)
		}
	}
}

// Case 2: every price has a day, and an age limit keeps no older one.
func TestEveryPriceHasItsAge(t *testing.T) {
	c := embedded(t)
	rows, removed := c.Search(catalog.Filter{Since: "2026-01-01"})
	if len(rows) == 0 || removed["price_age"] == 0 {
		t.Fatalf("%d rows, removed %v", len(rows), removed)
	}
	for _, o := range rows {
		if !slices.ContainsFunc(o.Prices, func(p catalog.Price) bool { return p.AsOf >= "2026-01-01" }) {
			t.Errorf("%s in %s has no price of 2026", o.InstanceType, o.Region)
		}
	}
	for _, f := range catalog.Verify(c, "2040-01-01") {
		if f.Kind == catalog.Stale {
			return
		}
	}
	t.Error("no price is stale in 2040")
}

// Case 6: H100 matches its three forms and H100-SXM never another.
func TestFormsAreNotMerged(t *testing.T) {
	c := embedded(t)
	forms := func(text string) []string {
		rows, _ := c.Search(catalog.Filter{Selectors: []accelerator.Selector{{Text: text, Chips: accelerator.Embedded().Resolve(text)}}})
		var names []string
		for _, o := range rows {
			if !slices.Contains(names, o.Accelerator.Name) {
				names = append(names, o.Accelerator.Name)
			}
		}
		slices.Sort(names)
		return names
	}
	if got := strings.Join(forms("H100"), " "); got != "H100-NVL-94GB H100-PCIe-80GB H100-SXM-80GB" {
		t.Errorf("H100 finds %s", got)
	}
	if got := strings.Join(forms("H100-SXM"), " "); got != "H100-SXM-80GB" {
		t.Errorf("H100-SXM finds %s", got)
	}
}

func TestNoErrorsInEmbedded(t *testing.T) {
	c := embedded(t)
	for _, f := range catalog.Verify(c, today) {
		if f.Severity == catalog.IsError {
			t.Errorf("%s %s %s %s: %s %v", f.Provider, f.InstanceType, f.Region, f.Mode, f.Kind, f.Args)
		}
		lasting := f.Kind == catalog.FallingPrice || f.Kind == catalog.SamePrice || f.Kind == catalog.SpotTenth
		if lasting {
			p, _ := offer(t, c, f.Provider, f.InstanceType, f.Region).Mode(f.Mode)
			if !slices.Contains(p.Flags, catalog.Flag(f.Kind)) {
				t.Errorf("%s %s %s %s: %s, but the price does not say so", f.Provider, f.InstanceType, f.Region, f.Mode, f.Kind)
			}
		}
	}
}

// A flag that the list lacks has no message.
func TestEveryFlagIsListed(t *testing.T) {
	known := catalog.Flags()
	check := func(flags []catalog.Flag) {
		for _, f := range flags {
			if !slices.Contains(known, f) {
				t.Errorf("flag %q is not listed", f)
			}
		}
	}
	for _, o := range embedded(t).Offers {
		check(o.Flags)
		for _, p := range o.Prices {
			check(p.Flags)
		}
	}
}

func TestTopologyIsMarkedUnlessStated(t *testing.T) {
	loose := []catalog.Flag{catalog.TopologyInferred, catalog.TopologyRecalled}
	for _, m := range embedded(t).Machines {
		marked := slices.ContainsFunc(m.Flags, func(f catalog.Flag) bool { return slices.Contains(loose, f) })
		if m.TopologyKnown == marked && m.Topology != catalog.UnknownTopo || marked && m.Topology == catalog.UnknownTopo {
			t.Errorf("%s %s: topology known %v, flags %v", m.Provider, m.InstanceType, m.TopologyKnown, m.Flags)
		}
	}
	p5 := embedded(t).Find("aws/p5.48xlarge")[0]
	if p5.Topology != catalog.NVSwitch || !p5.TopologyKnown || p5.Network != catalog.EFA || p5.NetworkGbps.Or(0) != 3200 {
		t.Errorf("p5.48xlarge: %s %v %s %v", p5.Topology, p5.TopologyKnown, p5.Network, p5.NetworkGbps)
	}
}

func TestSimilar(t *testing.T) {
	c := embedded(t)
	p5 := offer(t, c, "aws", "p5.48xlarge", "us-east-1")
	near := c.Similar(p5, 5)
	if len(near) != 5 {
		t.Fatalf("%d similar offers", len(near))
	}
	for i, o := range near {
		if o.Machine == p5.Machine || o.Count != 8 || o.Accelerator.NominalGB.Or(0) < 80 {
			t.Errorf("%d: %s %g x %s", i, o.InstanceType, o.Count, o.Accelerator.Name)
		}
	}
	if again := c.Similar(p5, 5); !slices.Equal(near, again) {
		t.Error("the order changes from call to call")
	}
	if n := len(c.Similar(p5, 0)); n != 0 {
		t.Errorf("%d offers for n = 0", n)
	}
}
