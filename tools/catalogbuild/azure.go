package main

import (
	"regexp"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

var azureDiscounts = []struct {
	column string
	mode   catalog.BillingMode
}{
	{"ri1y_usd_hour_20250528", catalog.Reserved1Y}, {"ri3y_usd_hour_20250528", catalog.Reserved3Y},
	{"sp1y_usd_hour_20250528", catalog.SavingsPlan1Y}, {"sp3y_usd_hour_20250528", catalog.SavingsPlan3Y},
}

// azure reads list, spot and committed prices. The committed ones are of May 2025 and taken only where the list
// price of that day is still today's.
func (b *builder) azure() error {
	rows, err := b.records("azure_gpu.csv")
	if err != nil {
		return err
	}
	hosts, err := b.azureHosts()
	if err != nil {
		return err
	}
	for _, r := range rows {
		b.report.in["azure"]++
		if m := b.azureMachine(r, hosts); m != nil {
			b.azurePrices(r, m)
		}
	}
	return nil
}

func (b *builder) azurePrices(r record, m *catalog.Machine) {
	region := r.get("region")
	b.list(m, region, "")
	now, hasNow := rate(r.get("on_demand_usd_hour"), money.USD)
	if hasNow {
		b.price(m, region, "", catalog.Price{Mode: catalog.OnDemand, Hourly: now, AsOf: r.get("price_date"), Source: "azure-karpenter", Confidence: catalog.Listed})
	}
	if p, ok := rate(r.get("spot_usd_hour"), money.USD); ok {
		b.price(m, region, "", catalog.Price{Mode: catalog.Spot, Hourly: p, AsOf: r.get("spot_date"), Source: "anycloud", Confidence: catalog.Secondary})
	}
	then, _ := rate(r.get("on_demand_usd_hour_20250528"), money.USD)
	for _, c := range azureDiscounts {
		p, ok := rate(r.get(c.column), money.USD)
		switch {
		case ok && hasNow && now == then:
			b.price(m, region, "", catalog.Price{Mode: c.mode, Hourly: p, AsOf: "2025-05-28", Source: "azure-vantage", Confidence: catalog.Secondary})
		case ok:
			b.report.left("azure", "committed price of another list price")
		}
	}
}

var azureShare = regexp.MustCompile(`^(\d+/\d+)`)

func (b *builder) azureMachine(r record, hosts map[string]record) *catalog.Machine {
	instance, name := r.get("instance_type"), r.get("accelerator")
	count, ok := parseShare(r.get("count"))
	// The label has the exact share where the count says 1 or 0.333.
	if m := azureShare.FindString(r.get("gpu_label_vantage")); m != "" {
		count, ok = parseShare(m)
	}
	if !ok {
		b.report.left("azure", "count of accelerators missing: "+instance+" ("+name+")")
		return nil
	}
	if strings.HasPrefix(name, "RTX PRO 6000") {
		name = "RTX PRO 6000 Blackwell Server" // BSE in the type's name: Blackwell Server Edition
	}
	chip, flags := b.identify("azure", instance, catalog.Evidence{Name: name, Count: count})
	if chip == nil {
		return nil
	}
	m := catalog.Machine{
		Provider: "azure", InstanceType: instance, Accelerator: chip, Count: count, Flags: flags,
		VCPU: r.number("vcpu"), RAM: r.mib("mem_mib"), Source: "azure-karpenter", AsOf: "2026-06-18",
	}
	if h, ok := hosts[instance]; ok {
		if !m.VCPU.Known() {
			m.VCPU = h.number("vCPUs")
		}
		if !m.RAM.Known() {
			m.RAM = catalog.RAM(h.number("MemoryGiB"))
		}
	}
	if r.get("confidential") == "True" {
		m.Confidential = unit.Some(true)
	}
	return b.machine(m)
}

// azureHosts gives CPUs and memory of machine types, which the price source lacks for newer ones.
func (b *builder) azureHosts() (map[string]record, error) {
	rows, err := b.records("anycloud/azure/vms.csv")
	hosts := make(map[string]record, len(rows))
	for _, r := range rows {
		hosts[r.get("InstanceType")] = r
	}
	return hosts, err
}
