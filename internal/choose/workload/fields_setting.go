package workload

import (
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

func softwareFields() []Field {
	fs := []Field{
		{Path: "software.framework", Example: "pytorch>=2.6",
			Doc:      Text{"Framework or engine, with a version where it matters.", "框架或推理引擎，必要时带版本要求。"},
			Examples: map[Kind]string{Serve: "vllm", BatchInfer: "vllm"},
			bind: bound[framework]{frameworkCodec,
				func(d *draft) framework { return framework{d.Software.Framework, d.Software.Version} },
				func(d *draft, v framework) { d.Software.Framework, d.Software.Version = v.name, v.version }}},
		{Path: "software.driver", Example: "550.54",
			Doc:  Text{"Least driver the image needs.", "镜像所需的最低驱动版本。"},
			bind: at(versionCodec, func(d *draft) *string { return &d.Software.Driver })},
		{Path: "software.stack", Example: "CUDA",
			Doc:  Text{"Accelerator stack the code is tied to.", "代码所绑定的加速器软件栈。"},
			bind: at(lookup("stack", func(f Facts) Lookup { return f.Stack }), func(d *draft) *string { return &d.Software.Stack })},
		{Path: "software.needs", Example: "flash-attention",
			Doc:  Text{"Features the code needs.", "代码所需的特性。"},
			bind: at(listOf(lookup("need", func(f Facts) Lookup { return f.Need })), func(d *draft) *[]string { return &d.Software.Needs })},
	}
	return append(fs, dataFields()...)
}

func dataFields() []Field {
	checkpointed := []Kind{Train, Finetune, Simulate, Custom}
	size := func(name, example, en, zh string, place func(*Data) *unit.Bytes) Field {
		return Field{Path: "data." + name, Min: 0, Max: 1e18, Example: example, Doc: Text{en, zh},
			bind: at(bytesCodec, func(d *draft) *unit.Bytes { return place(&d.Data) })}
	}
	return []Field{
		size("size", "50GB", "Data the work reads.", "作业读取的数据量。", func(d *Data) *unit.Bytes { return &d.Size }),
		{Path: "data.read", Min: 1, Max: 1e15, Example: "2GB/s",
			Doc:  Text{"Sustained reading rate in all. Left out: not known.", "总的持续读取速率。省略：未知。"},
			bind: at(rateCodec, func(d *draft) *unit.BytesPerSec { return &d.Data.Read })},
		size("egress", "200GB", "Data that leaves the cloud.", "流出云的数据量。", func(d *Data) *unit.Bytes { return &d.Egress }),
		size("disk", "1TB", "Block storage a machine. Left out: sized from the model and data.", "每台机器的块存储。省略：按模型和数据估算。", func(d *Data) *unit.Bytes { return &d.Disk }),
		{Path: "data.checkpoint_every", Kinds: checkpointed, Min: 1.0 / 3600, Max: 8760, Example: "30m", Default: auto, zero: true,
			Doc:  Text{"Time between checkpoints, or auto for the best one.", "检查点间隔，auto 表示自动选取最佳值。"},
			bind: at(checkpointCodec, func(d *draft) *unit.Hours { return &d.Data.CheckpointEvery })},
		{Path: "data.keep", Min: 0, Max: 10 * 8760, Example: "30d",
			Doc:  Text{"How long the data stays stored. Left out: as long as the work runs.", "数据保存时长。省略：与作业时长相同。"},
			bind: at(hoursCodec, func(d *draft) *unit.Hours { return &d.Data.Keep })},
	}
}

func moneyFields() []Field {
	return []Field{
		{Path: "runs_per_month", Kinds: finite, Min: 1, Max: 1e5, Example: "20",
			Doc:  Text{"How often a month the work is done again, one run after another. Left out: once.", "每月重复执行的次数，依次进行。省略：仅一次。"},
			bind: at(wholeCodec, func(d *draft) *int { return &d.RunsPerMonth })},
		{Path: "horizon", Min: 30 * 24, Max: 10 * unit.HoursPerYear, Example: "1y", fill: usualHorizon,
			Doc:  Text{"How far ahead the money is counted, with commitments in whole terms that cover it; a month is 730 hours, and work that recurs is counted over whole ones. Default: a year with runs_per_month, else one run; a service is priced over its duration as if it went on.", "费用计算的时间跨度，承诺期按覆盖该跨度的整期支付；一个月按 730 小时计，重复执行的作业按整月计。默认：有 runs_per_month 时为一年，否则为一次运行；服务按其时长计价，视为之后继续运行。"},
			bind: at(hoursCodec, func(d *draft) *unit.Hours { return &d.Horizon })},
		{Path: "billing", Enum: billingEnum, Example: "on-demand, spot", Default: "on-demand, spot", shown: finite,
			Examples: map[Kind]string{Serve: "on-demand, reserved, savings-plan"},
			Doc:      Text{"Ways of paying allowed; reserved, savings-plan and all are shorthands.", "允许的计费方式；reserved、savings-plan、all 为简写。"},
			bind: bound[[]catalog.BillingMode]{joined(billingCodec),
				func(d *draft) []catalog.BillingMode { return d.Billing },
				func(d *draft, v []catalog.BillingMode) { d.Billing = unique(v) }}},
		{Path: "prefer", Example: "cost", Default: "cost",
			Enum: []string{string(PreferCost), string(PreferTime), string(PreferCarbon), string(PreferBalanced)},
			Doc:  Text{"What ranks the plans.", "方案的排序依据。"},
			bind: at(enum[Preference](), func(d *draft) *Preference { return &d.Prefer })},
		{Path: "people.hourly", Min: 0, Max: 1e7, Example: "60 USD",
			Doc:  Text{"Cost of an hour of staff time.", "人员每小时成本。"},
			bind: at(maybe(moneyCodec), func(d *draft) *maybeMoney { return &d.People.Hourly })},
		{Path: "people.hours_per_week", Min: 0, Max: 1e5, Example: "2",
			Doc:  Text{"Hours a week spent on running it.", "每周投入的运维小时数。"},
			zero: true,
			bind: at(shareCodec, func(d *draft) *float64 { return &d.People.HoursPerWeek })},
		{Path: "delay_cost", Kinds: finite, Min: 0, Max: 1e12, Example: "300 USD/day",
			Doc:  Text{"What waiting costs the business.", "延迟给业务造成的成本。"},
			bind: at(maybe(delayCodec), func(d *draft) *maybeMoney { return &d.DelayCost })},
	}
}

// usualHorizon is a year for work that recurs: the shortest term of most commitments.
func usualHorizon(d *draft) string {
	if d.RunsPerMonth == 0 {
		return ""
	}
	return "1y"
}
