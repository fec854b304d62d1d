package main

import (
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// awsDay is the day of the spot and reserved table.
const awsDay = "2025-05-28"

// aws reads the list prices, the machine types without one, and then the spot and reserved prices of May 2025.
func (b *builder) aws() error {
	rows, err := b.records("aws_gpu.csv")
	if err != nil {
		return err
	}
	types, err := b.records("aws_gpu_types.csv")
	if err != nil {
		return err
	}
	priced := map[string]bool{}
	for _, r := range rows {
		b.report.in["aws"]++
		priced[r.get("instance_type")] = true
		m := b.awsMachine(r)
		if m == nil {
			continue
		}
		price := catalog.Price{Mode: catalog.OnDemand, AsOf: r.get("price_date"), Confidence: catalog.Secondary, Source: awsSource(r.get("price_source"))}
		if price.Source == "aws-karpenter" {
			price.Confidence = catalog.Listed // AWS's own tool, from the price list
		}
		if first, _, span := strings.Cut(price.AsOf, ".."); span {
			price.AsOf, price.Flags = first, []catalog.Flag{catalog.DateUnknown}
		}
		var ok bool
		if price.Hourly, ok = rate(r.get("on_demand_usd_hour"), money.USD); !ok {
			if price.Hourly, ok = rate(r.get("on_demand_cny_hour"), money.CNY); !ok {
				b.list(m, r.get("region"), "")
				continue
			}
		}
		b.price(m, r.get("region"), "", price)
	}
	for _, r := range types {
		if priced[r.get("instance_type")] {
			continue
		}
		b.report.in["aws"]++
		if m := b.awsMachine(r); m != nil {
			b.list(m, "", "") // a type without any price: the source does not say where it is sold
		}
	}
	return b.awsDiscounts()
}

func awsSource(s string) string {
	switch {
	case strings.HasPrefix(s, "aws/karpenter"):
		return "aws-karpenter"
	case strings.HasPrefix(s, "cristim/"):
		return "aws-vantage"
	}
	return "aws-tsaol"
}

func (b *builder) awsMachine(r record) *catalog.Machine {
	name, instance := r.get("accelerator"), r.get("instance_type")
	count, ok := parseShare(r.get("count"))
	if !ok {
		b.report.left("aws", "count of accelerators missing: "+instance+" ("+name+")")
		return nil
	}
	mib := r.number("gpu_mem_mib").Or(0)
	if count < 1 {
		mib = 0 // the figure is that of the share
	}
	if name == "K80" && mib > 16384 {
		count, mib = count*2, mib/2 // counted in boards of two chips
	}
	chip, flags := b.identify("aws", instance, catalog.Evidence{Name: name, MiB: mib, Count: count})
	if chip == nil {
		return nil
	}
	m := catalog.Machine{
		Provider: "aws", InstanceType: instance, Accelerator: chip, Count: count, Flags: flags,
		VCPU: r.number("vcpu"), RAM: r.mib("mem_mib"), NetworkGbps: r.number("network_gbps"),
		NVMe: gigabytes(r.number("local_nvme_gb")), Source: "aws-vantage", AsOf: awsDay,
		Reservation: strings.Contains(instance, "p6e-"), // sold by capacity block only
	}
	if strings.HasPrefix(r.get("hw_source"), "karpenter") {
		m.Source, m.AsOf = "aws-karpenter-docs", "2026-07-11"
	}
	if r.number("efa").Known() {
		m.Network = catalog.EFA
	} else if m.NetworkGbps.Known() {
		m.Network = catalog.Ethernet
	}
	return b.machine(m)
}

func gigabytes(v unit.Maybe[float64]) unit.Maybe[unit.Bytes] {
	gb, ok := v.Get()
	if !ok {
		return unit.None[unit.Bytes]()
	}
	return unit.Some(unit.Bytes(gb * float64(unit.GB)))
}

var awsReserved = []struct {
	column string
	mode   catalog.BillingMode
}{
	{"ri_1Standard_noUpfront", catalog.Reserved1Y}, {"ri_1Standard_partialUpfront", catalog.Reserved1YPartial},
	{"ri_1Standard_allUpfront", catalog.Reserved1YAll}, {"ri_3Standard_noUpfront", catalog.Reserved3Y},
	{"ri_3Standard_partialUpfront", catalog.Reserved3YPartial}, {"ri_3Standard_allUpfront", catalog.Reserved3YAll},
}

// awsDiscounts reads the table of May 2025, which is older than the cut of P4 and P5 list prices in June 2025. A
// reserved price is taken only where the list price beside it then is still today's, so that the discount holds; an
// observed spot price stands for itself; one computed from a saving needs the same list price too.
func (b *builder) awsDiscounts() error {
	rows, err := b.records("aws_gpu_spot_reserved_2025-05-28.csv")
	if err != nil {
		return err
	}
	for _, r := range rows {
		m := b.machines[machineKey{"aws", r.get("instance_type")}]
		if m == nil {
			continue
		}
		region := r.get("region")
		then, _ := rate(r.get("on_demand_usd_hour"), money.USD)
		now := b.prices[priceKey{placeKey{machineKey{"aws", m.InstanceType}, region, ""}, catalog.OnDemand}]
		coherent := !then.IsZero() && now.Hourly == then
		price := catalog.Price{AsOf: awsDay, Source: "aws-vantage", Confidence: catalog.Secondary}
		for _, c := range awsReserved {
			p, ok := rate(r.get(c.column), money.USD)
			switch {
			case ok && coherent:
				price.Mode, price.Hourly = c.mode, p
				b.price(m, region, "", price)
			case ok:
				b.report.left("aws", "reserved price of another list price")
			}
		}
		price.Mode = catalog.Spot
		var ok bool
		if price.Hourly, ok = rate(r.get("spot_max"), money.USD); ok {
			price.Flags = []catalog.Flag{catalog.ZoneMaximum}
			b.price(m, region, "", price)
		} else if price.Hourly, ok = rate(r.get("spot_avg"), money.USD); ok && coherent {
			price.Flags = []catalog.Flag{catalog.SpotComputed}
			b.price(m, region, "", price)
		} else if ok {
			b.report.left("aws", "spot price computed from another list price")
		}
	}
	return nil
}
