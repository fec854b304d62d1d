package main

import (
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
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

// noTPUPrice is what the catalog writes for a slice of any size whose price it does not know.
var noTPUPrice = money.PerHour(700e9, money.USD)

// tpus reads the TPU slices out of the other catalog: there the accelerator row is the whole price, because a TPU
// virtual machine's host is not charged apart.
func (b *builder) tpus() error {
	f, err := b.src.Open("anycloud/gcp/vms.csv")
	if err != nil {
		return err
	}
	defer f.Close()
	rows, faults, err := catalog.ReadSkyPilot(f, money.USD)
	for range faults {
		b.report.left("gcp", "unreadable row of the other catalog")
	}
	for _, r := range rows {
		if !strings.HasPrefix(r.Accelerator, "tpu-") {
			continue
		}
		b.report.in["gcp"]++
		chip, count := b.tpu(r.Accelerator)
		if chip == nil || count > maxSlice {
			continue
		}
		m := b.machine(catalog.Machine{
			Provider: "gcp", InstanceType: r.Accelerator, Accelerator: chip, Count: count, Network: catalog.ICINet,
			Source: "anycloud", AsOf: "2026-05-20",
		})
		if m == nil {
			continue
		}
		price := catalog.Price{AsOf: "2026-05-20", Source: "anycloud", Confidence: catalog.Secondary}
		for mode, p := range map[catalog.BillingMode]unit.Maybe[money.Rate]{catalog.OnDemand: r.Price, catalog.Spot: r.Spot} {
			var ok bool
			if price.Hourly, ok = p.Get(); ok {
				if price.Hourly == noTPUPrice {
					b.report.left("gcp", "700 an hour for any size, which is no price: "+string(mode)+" "+r.Accelerator)
					continue
				}
				price.Mode = mode
				b.price(m, r.Region, r.Zone, price)
			}
		}
	}
	return err
}

// tpu reads tpu-v5p-8: up to v4, and for v5p, the number counts cores, two a chip; for v5e and later it counts chips.
func (b *builder) tpu(name string) (*accelerator.Accelerator, float64) {
	generation, size, _ := strings.Cut(strings.TrimPrefix(name, "tpu-"), "-")
	n, err := strconv.ParseFloat(size, 64)
	found := b.chips.Resolve("tpu-" + strings.Replace(generation, "v5litepod", "v5e", 1))
	if err != nil || len(found) != 1 {
		b.report.left("gcp", "unknown accelerator: "+name)
		return nil, 0
	}
	switch generation {
	case "v2", "v3", "v4", "v5p":
		n /= 2
	}
	return found[0], n
}
