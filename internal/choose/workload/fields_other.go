package workload

import (
	"slices"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

func otherFields() []Field {
	return slices.Concat(renderFields(), simulateFields(), hashFields(), customFields())
}

// measuredOn is the key for the device of a measurement.
func measuredOn(k Kind, required bool, place func(*draft) *Reference) Field {
	return Field{Path: "on", Kinds: []Kind{k}, Required: required, Min: 1, Max: 1024, Example: "RTX-4090",
		Examples: map[Kind]string{Simulate: "A100-SXM-80GB", Custom: "L4"},
		Doc:      Text{"The device the measurement was made on, as in RTX-4090 or RTX-4090:2.", "测量所用的设备，如 RTX-4090 或 RTX-4090:2。"},
		bind:     at(referenceCodec, place)}
}

var boundDoc = Text{"What bounds the measured time: compute, memory, link or host, or shares that sum to 1: compute=0.7,memory=0.3.",
	"限制该测量值的资源：compute、memory、link 或 host，或合计为 1 的比例：compute=0.7,memory=0.3。"}

func renderFields() []Field {
	return []Field{
		{Path: "frames", Kinds: []Kind{Render}, Required: true, Min: 1, Max: 1e12, Example: "2400",
			Doc:  Text{"Frames in all.", "总帧数。"},
			bind: at(countCodec, func(d *draft) *float64 { return &d.frames.Frames })},
		{Path: "seconds_per_frame", Kinds: []Kind{Render}, Required: true, Min: 1e-6, Max: 1e7, Example: "95",
			Doc:  Text{"Measured seconds a frame on that device.", "在该设备上实测的每帧秒数。"},
			bind: at(secondsCodec, func(d *draft) *float64 { return &d.frames.SecondsPerFrame })},
		measuredOn(Render, true, func(d *draft) *Reference { return &d.frames.On }),
		{Path: "scene_memory", Kinds: []Kind{Render}, Min: 1, Max: 1e15, Example: "14GiB", shown: []Kind{Render},
			Doc:  Text{"Accelerator memory the scene takes. Left out: not known.", "场景占用的显存。省略：未知。"},
			bind: at(bytesCodec, func(d *draft) *unit.Bytes { return &d.frames.SceneMemory })},
		{Path: "ray_tracing", Kinds: []Kind{Render}, Example: "true", Default: "false", zero: true,
			Doc:  Text{"Only chips with ray-tracing cores.", "仅使用带光线追踪核心的芯片。"},
			bind: at(boolCodec, func(d *draft) *bool { return &d.frames.RayTracing })},
		{Path: "blender_results", Kinds: []Kind{Render}, Example: "opendata.jsonl",
			Doc: Text{"Results of the Blender benchmark, from which devices are scaled: an export of opendata.blender.org (JSON lines, unzipped), what benchmark-launcher-cli prints with --json, or CSV with device_name and samples_per_minute and, where known, scene and blender_version.",
				"用于在设备间换算的 Blender 基准测试结果：opendata.blender.org 的导出文件（解压后的 JSON 行）、benchmark-launcher-cli --json 的输出，或含 device_name、samples_per_minute（以及已知时的 scene、blender_version）列的 CSV。"},
			bind: at(scoresCodec, func(d *draft) **Scores { return &d.frames.Scores })},
	}
}

func simulateFields() []Field {
	return []Field{
		{Path: "steps", Kinds: []Kind{Simulate}, Required: true, Min: 1, Max: 1e18, Example: "500k",
			Doc:  Text{"Time steps in all.", "时间步总数。"},
			bind: at(countCodec, func(d *draft) *float64 { return &d.sim.Steps })},
		{Path: "precision", Kinds: []Kind{Simulate}, Enum: precisionNames, Example: "fp64", Default: "fp64", shown: []Kind{Simulate}, zero: true,
			Doc:  Text{"What the arithmetic runs in.", "计算所用精度。"},
			bind: at(precisionCodec, func(d *draft) *accelerator.Precision { return &d.sim.Precision })},
		{Path: "flops_per_step", Kinds: []Kind{Simulate}, Min: 1, Max: 1e24, Example: "3T", shown: []Kind{Simulate},
			Doc:  Text{"Arithmetic of one step; with bytes_per_step.", "每步的浮点运算量；与 bytes_per_step 同用。"},
			bind: at(flopCodec, func(d *draft) *unit.FLOP { return &d.sim.FLOPStep })},
		{Path: "bytes_per_step", Kinds: []Kind{Simulate}, Min: 1, Max: 1e18, Example: "6TB", shown: []Kind{Simulate},
			Doc:  Text{"Memory traffic of one step.", "每步的内存读写量。"},
			bind: at(bytesCodec, func(d *draft) *unit.Bytes { return &d.sim.ByteStep })},
		{Path: "seconds_per_step", Kinds: []Kind{Simulate}, Min: 1e-9, Max: 1e7, Example: "0.8",
			Doc:  Text{"Or a measured time a step; with on and bound.", "或实测的每步秒数；与 on 和 bound 同用。"},
			bind: at(secondsCodec, func(d *draft) *float64 { return &d.sim.SecondsPerStep })},
		measuredOn(Simulate, false, func(d *draft) *Reference { return &d.sim.On }),
		{Path: "bound", Kinds: []Kind{Simulate}, Example: "memory", Doc: boundDoc,
			bind: at(mixCodec, func(d *draft) *Mix { return &d.sim.Bound })},
		{Path: "memory", Kinds: []Kind{Simulate}, Required: true, Min: 1, Max: 1e17, Example: "300GB",
			Doc:  Text{"Memory of the whole domain.", "整个计算域所需的内存。"},
			bind: at(bytesCodec, func(d *draft) *unit.Bytes { return &d.sim.Memory })},
		{Path: "halo", Kinds: []Kind{Simulate}, Min: 0, Max: 1e15, Example: "200MB", shown: []Kind{Simulate},
			Doc:  Text{"Exchanged per step when the domain is cut in two. Left out: not known.", "计算域一分为二时每步的交换量。省略：未知。"},
			bind: at(bytesCodec, func(d *draft) *unit.Bytes { return &d.sim.HaloBytes })},
	}
}

func hashFields() []Field {
	return []Field{
		{Path: "algorithm", Kinds: []Kind{Hash}, Required: true, Example: "bcrypt",
			Doc:  Text{"The hash: md5, sha1, ntlm, wpa, bcrypt …", "哈希算法：md5、sha1、ntlm、wpa、bcrypt 等。"},
			bind: at(textCodec, func(d *draft) *string { return &d.hash.Algorithm })},
		{Path: "keyspace", Kinds: []Kind{Hash}, Required: true, Min: 1, Max: 1e40, Example: "26^6",
			Doc:  Text{"Candidates to try: a number, or a power such as 95^8.", "待试候选数：数字，或如 95^8 的幂。"},
			bind: at(keyspaceCodec, func(d *draft) *float64 { return &d.hash.Keyspace })},
	}
}

func customFields() []Field {
	return []Field{
		{Path: "units", Kinds: []Kind{Custom}, Required: true, Min: 1e-9, Max: 1e24, Example: "10M",
			Doc:  Text{"Work in all.", "总工作量。"},
			bind: at(countCodec, func(d *draft) *float64 { return &d.custom.Units })},
		{Path: "unit", Kinds: []Kind{Custom}, Example: "samples", Default: "units", shown: []Kind{Custom},
			Doc:  Text{"What a unit is: images, samples, jobs.", "单位名称：images、samples、jobs。"},
			bind: at(textCodec, func(d *draft) *string { return &d.custom.Unit })},
		{Path: "rate", Kinds: []Kind{Custom}, Required: true, Min: 1e-12, Max: 1e18, Example: "85",
			Doc:  Text{"Units a second measured on that device.", "在该设备上实测的每秒单位数。"},
			bind: at(countCodec, func(d *draft) *float64 { return &d.custom.Rate })},
		measuredOn(Custom, true, func(d *draft) *Reference { return &d.custom.On }),
		{Path: "bound", Kinds: []Kind{Custom}, Required: true, Example: "compute=0.7,memory=0.3", Doc: boundDoc,
			bind: at(mixCodec, func(d *draft) *Mix { return &d.custom.Bound })},
		{Path: "precision", Kinds: []Kind{Custom}, Enum: precisionNames, Example: "fp16", Default: "bf16", zero: true,
			Doc:  Text{"What the arithmetic runs in.", "计算所用精度。"},
			bind: at(precisionCodec, func(d *draft) *accelerator.Precision { return &d.custom.Precision })},
		{Path: "memory", Kinds: []Kind{Custom}, Min: 1, Max: 1e15, Example: "10GiB", shown: []Kind{Custom},
			Doc:  Text{"Memory used on each accelerator. Left out: not known.", "每个加速器占用的显存。省略：未知。"},
			bind: at(bytesCodec, func(d *draft) *unit.Bytes { return &d.custom.Memory })},
		{Path: "scaling", Kinds: []Kind{Custom}, Min: 0, Max: 1, Example: "0.9", Default: "0", zero: true, shown: []Kind{Custom},
			Doc:  Text{"Share of ideal speed kept when the accelerators double; 0: the work cannot be divided.", "加速器数量翻倍时保留的理想速度比例；0：作业不可拆分。"},
			bind: at(shareCodec, func(d *draft) *float64 { return &d.custom.Scaling })},
	}
}
