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
		seen := b.machineOf("alibaba", r)
		if seen == nil {
			continue
		}
		seen.Source, seen.AsOf = "alibaba-priceserver", "2024-10-09"
		if s := alibabaSlice.FindStringSubmatch(seen.InstanceType); s != nil {
			part, _ := strconv.ParseFloat(s[1], 64)
			seen.Count = part / seen.Accelerator.NominalGB.Or(part)
			seen.Flags = catalog.WithFlags(seen.Flags, catalog.SliceFromName)
		}
		m := b.machine(*seen)
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
		m := b.machineOf("tencent", r)
		if m == nil {
			continue
		}
		m.Source, m.AsOf, m.Flags = "tencent-hpc", "2026-01-01", catalog.WithFlags(m.Flags, catalog.DateUnknown)
		if strings.Contains(r.get("note"), "invite-only") {
			m.Flags = catalog.WithFlags(m.Flags, catalog.InviteOnly)
		}
		if m = b.machine(*m); m != nil {
			b.list(m, "", "")
		}
	}
	return nil
}
