package workload

import (
	"slices"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

type (
	maybeMoney = unit.Maybe[money.Amount]
	maybeMass  = unit.Maybe[unit.Kilograms]
)

func limitFields() []Field {
	return slices.Concat(machineLimits(), totalLimits(), placeLimits(), featureLimits())
}

func machineLimits() []Field {
	count := func(name, example, en, zh string, place func(*Limits) *int) Field {
		return Field{Path: "limits." + name, Min: 1, Max: 1 << 20, Example: example, Doc: Text{en, zh},
			bind: at(wholeCodec, func(d *draft) *int { return place(&d.Limits) })}
	}
	return []Field{
		{Path: "limits.gpu", Example: "H100:8, 80GB..:1..8",
			Doc:  Text{"Accelerators allowed: a name, a memory size or range, and a count.", "允许的加速器：名称、显存大小或范围，以及数量。"},
			bind: at(joined(selectorCodec), func(d *draft) *[]accelerator.Selector { return &d.Limits.Accelerators })},
		count("max_gpus", "64", "Most accelerators in all.", "加速器总数上限。", func(l *Limits) *int { return &l.MaxCount }),
		count("min_gpus", "8", "Least accelerators in all.", "加速器总数下限。", func(l *Limits) *int { return &l.MinCount }),
		count("max_instances", "8", "Most machines.", "机器数上限。", func(l *Limits) *int { return &l.MaxInstances }),
	}
}

func totalLimits() []Field {
	return []Field{
		{Path: "limits.deadline", Kinds: finite, Min: 1.0 / 60, Max: 10 * 8760, Example: "72h", shown: finite,
			Doc:  Text{"The work must be done in this time.", "必须在此时间内完成。"},
			bind: at(hoursCodec, func(d *draft) *unit.Hours { return &d.Limits.Deadline })},
		{Path: "limits.budget", Min: 0.01, Max: 9e12, Example: "5000 USD", shown: kinds,
			Examples: map[Kind]string{Serve: "8000 USD"},
			Doc:      Text{"The most it may cost in all.", "总费用上限。"},
			bind:     at(maybe(moneyCodec), func(d *draft) *maybeMoney { return &d.Limits.Budget })},
		{Path: "limits.max_carbon", Min: 1e-6, Max: 1e9, Example: "400kg",
			Doc:  Text{"The most CO2 equivalent it may emit.", "二氧化碳当量排放上限。"},
			bind: at(maybe(massCodec), func(d *draft) *maybeMass { return &d.Limits.MaxCarbon })},
		{Path: "limits.max_price_age", Min: 1, Max: 3650, Example: "30d",
			Doc:  Text{"Only prices quoted within so many days.", "仅使用不超过该天数的报价。"},
			bind: at(daysCodec, func(d *draft) *int { return &d.Limits.MaxPriceAgeDays })},
	}
}

func placeLimits() []Field {
	names := func(name, example, en, zh string, c codec[string], place func(*Limits) *[]string) Field {
		return Field{Path: "limits." + name, Example: example, Doc: Text{en, zh},
			bind: at(listOf(c), func(d *draft) *[]string { return place(&d.Limits) })}
	}
	provider := lookup("provider", func(f Facts) Lookup { return f.Provider })
	place := lookup("place", func(f Facts) Lookup { return f.Place })
	law := lookup("law", func(f Facts) Lookup { return f.Residency })
	certification := lookup("certification", func(f Facts) Lookup { return f.Certification })
	return []Field{
		names("providers", "aws, gcp", "Only these providers.", "仅限这些云厂商。", provider, func(l *Limits) *[]string { return &l.Providers }),
		names("not_providers", "azure", "Not these providers.", "排除这些云厂商。", provider, func(l *Limits) *[]string { return &l.NotProviders }),
		names("regions", "eu", "Only these regions, countries or groups (eu, cn, na …).", "仅限这些区域、国家或地区组（eu、cn、na 等）。", place, func(l *Limits) *[]string { return &l.Regions }),
		names("residency", "GDPR", "Laws the region must be under.", "区域必须适用的法律。", law, func(l *Limits) *[]string { return &l.Residency }),
		names("provider_jurisdiction", "eu", "Where the provider itself may sit.", "云厂商自身可所在的国家或地区。", place, func(l *Limits) *[]string { return &l.ProviderJurisdiction }),
		names("certifications", "SOC2", "Certifications the provider must hold.", "云厂商必须具备的认证。", certification, func(l *Limits) *[]string { return &l.Certifications }),
	}
}

func featureLimits() []Field {
	only := func(name, en, zh string, place func(*Limits) *bool) Field {
		return Field{Path: "limits." + name, Example: "true", Doc: Text{en, zh},
			bind: at(boolCodec, func(d *draft) *bool { return place(&d.Limits) })}
	}
	networks := []catalog.NetworkKind{catalog.EFA, catalog.InfiniBand, catalog.RoCE, catalog.ERDMA, catalog.TCPX, catalog.ICINet, catalog.Ethernet}
	var networkNames []string
	for _, n := range networks {
		networkNames = append(networkNames, string(n))
	}
	return []Field{
		only("confidential", "Only confidential computing.", "仅限机密计算。", func(l *Limits) *bool { return &l.Confidential }),
		only("bare_metal", "Only bare metal.", "仅限裸金属。", func(l *Limits) *bool { return &l.BareMetal }),
		only("mig", "Only machines whose accelerators can be partitioned.", "仅限可切分加速器的机器。", func(l *Limits) *bool { return &l.MIG }),
		only("no_marketplace", "No resellers of other owners' machines.", "排除转售他人机器的平台。", func(l *Limits) *bool { return &l.NoMarketplace }),
		{Path: "limits.interconnect", Enum: networkNames, Example: "infiniband, roce",
			Doc:  Text{"Networks allowed between machines.", "允许的机器间网络。"},
			bind: at(listOf(enum[catalog.NetworkKind]()), func(d *draft) *[]catalog.NetworkKind { return &d.Limits.Interconnect })},
		{Path: "limits.min_network", Min: 1e-3, Max: 1e6, Example: "100Gbps",
			Doc:  Text{"Least network rate of a machine.", "每台机器的最低网络速率。"},
			bind: at(gbpsCodec, func(d *draft) *float64 { return &d.Limits.MinNetworkGbps })},
		{Path: "limits.min_sla", Min: 1, Max: 100, Example: "99.9%",
			Doc:  Text{"Least availability promised for one machine, in per cent.", "单机可用性承诺下限（百分比）。"},
			bind: at(percentCodec, func(d *draft) *float64 { return &d.Limits.MinSLA })},
		{Path: "limits.min_host_ram", Min: 1, Max: 1e15, Example: "1TB",
			Doc:  Text{"Least memory of a machine's host.", "每台机器的最低主机内存。"},
			bind: at(bytesCodec, func(d *draft) *unit.Bytes { return &d.Limits.MinHostRAM })},
	}
}
