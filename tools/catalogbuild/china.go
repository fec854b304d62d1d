package main

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// alibabaSlice reads the gigabytes of a vGPU type's name: vgn7i-vws-m8 is 8 GB of an A10. In names with a small s
// the host's CPUs are shared.
var alibabaSlice = regexp.MustCompile(`^ecs\.[sv]gn\w+(?:-vws)?-m(\d+)s?(?:-vws)?\.`)

// alibaba reads the price page of aliyun.com. It is in CNY for every region.
func (b *builder) alibaba() error {
	rows, err := b.records("alibaba_gpu.csv")
	if err != nil {
		return err
	}
	for _, r := range rows {
		b.report.in["alibaba"]++
		instance := r.get("instance_type")
		count, ok := parseShare(r.get("count"))
		if !ok {
			b.report.left("alibaba", "count of accelerators missing: "+instance)
			continue
		}
		mib := r.number("gpu_mem_mib").Or(0)
		chip, flags := b.identify("alibaba", instance, catalog.Evidence{Name: r.get("accelerator"), MiB: mib, Count: count})
		if chip == nil {
			continue
		}
		if s := alibabaSlice.FindStringSubmatch(instance); s != nil {
			part, _ := strconv.ParseFloat(s[1], 64)
			count, flags = part/chip.NominalGB.Or(part), withFlags(flags, catalog.SliceFromName)
		}
		m := b.machine(catalog.Machine{
			Provider: "alibaba", InstanceType: instance, Accelerator: chip, Count: count, Flags: flags,
			VCPU: r.number("vcpu"), RAM: r.mib("mem_mib"), Source: "alibaba-priceserver", AsOf: "2024-10-09",
		})
		if m == nil {
			continue
		}
		b.list(m, r.get("region"), "")
		if p, ok := rate(r.get("on_demand_cny_hour"), money.Currency(r.get("currency"))); ok {
			b.price(m, r.get("region"), "", catalog.Price{
				Mode: catalog.OnDemand, Hourly: p, AsOf: r.get("price_date"), Source: "alibaba-priceserver", Confidence: catalog.Secondary,
			})
		}
	}
	return nil
}

// tencent reads a list of types without prices or regions: each is listed in the empty region, which means that the
// source does not say where.
func (b *builder) tencent() error {
	rows, err := b.records("tencent_gpu_types.csv")
	if err != nil {
		return err
	}
	for _, r := range rows {
		b.report.in["tencent"]++
		instance := r.get("instance_type")
		count, ok := parseShare(r.get("count"))
		if !ok {
			b.report.left("tencent", "count of accelerators missing: "+instance)
			continue
		}
		mib := r.number("gpu_mem_mib").Or(0)
		chip, flags := b.identify("tencent", instance, catalog.Evidence{Name: r.get("accelerator"), MiB: mib, Count: count})
		if chip == nil {
			continue
		}
		if strings.Contains(r.get("note"), "invite-only") {
			flags = withFlags(flags, catalog.InviteOnly)
		}
		m := b.machine(catalog.Machine{
			Provider: "tencent", InstanceType: instance, Accelerator: chip, Count: count, Flags: withFlags(flags, catalog.DateUnknown),
			VCPU: r.number("vcpu"), RAM: r.mib("mem_mib"), Source: "tencent-hpc", AsOf: "2026-01-01",
		})
		b.list(m, "", "")
	}
	return nil
}
