package main

import (
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// gcp reads the prices of whole machines. The columns with totals of another catalog add a host to its accelerators and
// are wrong for A2 Ultra and A3, so they are never used as prices; but what they hold for a4-highgpu-8g, 64.44 and
// 90.216, is the price of a calendar reservation, which that machine is sold by.
func (b *builder) gcp() error {
	rows, err := b.records("gcp_gpu.csv")
	if err != nil {
		return err
	}
	for _, r := range rows {
		b.report.in["gcp"]++
		region := r.get("region")
		seen := b.machineOf("gcp", r)
		if seen == nil {
			continue
		}
		seen.Source, seen.AsOf = "gcp-karpenter", "2026-08-03"
		seen.Reservation = strings.HasPrefix(seen.InstanceType, "a4")
		m := b.machine(*seen)
		if m == nil {
			continue
		}
		b.list(m, region, "")
		price := catalog.Price{AsOf: r.get("price_date"), Source: "gcp-karpenter", Confidence: catalog.Secondary}
		var ok bool
		if price.Hourly, ok = rate(r.get("on_demand_usd_hour"), money.USD); ok {
			price.Mode = catalog.OnDemand
			b.price(m, region, "", price)
		}
		if price.Hourly, ok = rate(r.get("spot_usd_hour"), money.USD); ok {
			price.Mode = catalog.Spot
			b.price(m, region, "", price)
		}
		if m.InstanceType == "a4-highgpu-8g" {
			if p, ok := rate(r.get("anycloud_total_od_2026-05-20"), money.USD); ok {
				b.price(m, region, "", catalog.Price{Mode: catalog.CapacityBlock, Hourly: p, AsOf: "2026-05-20", Source: "anycloud", Confidence: catalog.Secondary})
			}
		}
	}
	return b.tpus()
}

// maxSlice bounds the TPU slices that are taken as one machine, in chips.
const maxSlice = 256

// tpus reads the TPU slices out of the other catalog: there the accelerator row is the whole price, because a TPU
// virtual machine's host is not charged apart.
func (b *builder) tpus() error {
	rows, err := b.skyPilotRows("gcp", "anycloud/gcp/vms.csv")
	for _, l := range rows {
		if !strings.HasPrefix(l.InstanceType, "tpu-") {
			continue
		}
		b.report.in["gcp"]++
		chip, _ := b.identify("gcp", l.InstanceType, catalog.Evidence{Name: l.Accelerator, Count: l.Count})
		if chip == nil || l.Count > maxSlice {
			continue
		}
		m := b.machine(catalog.Machine{
			Provider: "gcp", InstanceType: l.InstanceType, Accelerator: chip, Count: l.Count, Network: l.Network, Source: "anycloud", AsOf: "2026-05-20",
		})
		for _, p := range l.Prices {
			if m != nil {
				p.AsOf, p.Source, p.Confidence = "2026-05-20", "anycloud", catalog.Secondary
				b.price(m, l.Region, l.Zone, p)
			}
		}
	}
	return err
}
