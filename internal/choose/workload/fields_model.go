package workload

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// The bounds are generous: they catch a slipped unit or digit, not an ambitious plan.

func generalFields() []Field {
	return []Field{
		{Path: "kind", Required: true, Enum: kindNames(), Example: "train",
			Doc:      Text{"What sort of work it is.", "作业类型。"},
			Examples: kindExamples(), bind: at(enum[Kind](), func(d *draft) *Kind { return &d.Kind })},
		{Path: "name", Example: "my-work", fill: defaultName,
			Doc:  Text{"A name for the plan and the report. Default: the file's name.", "方案和报告中的名称。默认：文件名。"},
			bind: at(textCodec, func(d *draft) *string { return &d.Name })},
		{Path: "model", Kinds: networks, Required: true, Example: "llama-3.1-70b",
			Examples: map[Kind]string{Train: "llama-3.1-8b", Serve: "qwen3-32b", BatchInfer: "llama-3.1-8b", Diffuse: "flux.1-dev"},
			Doc:      Text{"A known model, a hub name, or the path of a config.json.", "已知模型名、Hub 上的名称，或 config.json 的路径。"},
			bind: bound[modelRef]{modelCodec,
				func(d *draft) modelRef { return modelRef{d.ModelRef, d.Model} },
				func(d *draft, v modelRef) { d.ModelRef, d.Model = v.ref, v.model }}},
		{Path: "precision", Kinds: []Kind{Train, Finetune, Diffuse}, Example: "bf16", Default: "bf16",
			Doc:  Text{"What the arithmetic runs in: bf16, fp16, fp8, fp32.", "计算所用精度：bf16、fp16、fp8、fp32。"},
			bind: at(formatCodec, func(d *draft) *model.Format { return &d.Format })},
		{Path: "precision", Kinds: inference, Example: "fp8", fill: nativeFormat,
			Doc:  Text{"How the weights are held: bf16, fp8, awq-int4 … Default: as the checkpoint ships, and fp16 for networks that write no text and ship in fp32.", "权重的存储格式：bf16、fp8、awq-int4 等。默认：与检查点一致；不生成文本且以 fp32 发布的网络为 fp16。"},
			bind: at(formatCodec, func(d *draft) *model.Format { return &d.Format })},
		{Path: "kv_precision", Kinds: inference, For: writesText, Example: "fp8", Default: "bf16",
			Doc:  Text{"How keys and values are held.", "KV 缓存的存储格式。"},
			bind: at(formatCodec, func(d *draft) *model.Format { return &d.KVFormat })},
	}
}

func kindNames() []string {
	var names []string
	for _, k := range kinds {
		names = append(names, string(k))
	}
	return names
}

func kindExamples() map[Kind]string {
	m := map[Kind]string{}
	for _, k := range kinds {
		m[k] = string(k)
	}
	return m
}

// defaultName is the file's name without its ending, or what the work is where there is no file.
func defaultName(d *draft) string {
	if d.file != "" {
		base := filepath.Base(filepath.ToSlash(d.file))
		if name := strings.TrimSuffix(base, filepath.Ext(base)); strings.Trim(name, ". \t\r\n") != "" && len(name) <= maxText && !strings.ContainsAny(name, "\r\n") {
			return name
		}
	}
	if d.Model != nil {
		return string(d.Kind) + " " + d.Model.Name
	}
	return string(d.Kind)
}

func inferenceFields() []Field { return slices.Concat(serveFields(), batchFields(), diffuseFields()) }

func serveFields() []Field {
	return []Field{
		{Path: "traffic.requests_per_second", Kinds: []Kind{Serve}, Required: true, Unless: "traffic.trace", Min: 1e-6, Max: 1e7, Example: "5",
			Doc:  Text{"Requests a second at the peak.", "高峰时每秒请求数。"},
			fill: tracePeak,
			bind: at(countCodec, func(d *draft) *float64 { return &d.traffic.RequestsPerSecond })},
		{Path: "traffic.input_tokens", Kinds: []Kind{Serve}, For: readsText, Required: true, Unless: "traffic.trace", Min: 1, Max: 1e8, Example: "1000",
			Doc:  Text{"Tokens of a prompt, or of a text that a network like BERT reads.", "每个提示的词元数，或 BERT 类网络所读文本的词元数。"},
			fill: traceIn,
			bind: at(wholeCodec, func(d *draft) *int { return &d.traffic.InputTokens })},
		{Path: "traffic.output_tokens", Kinds: []Kind{Serve}, For: writesText, Required: true, Unless: "traffic.trace", Min: 1, Max: 1e8, Example: "300",
			Doc:  Text{"Tokens of an answer; only for networks that write text.", "每个回答的词元数；仅用于生成文本的网络。"},
			fill: traceOut,
			bind: at(wholeCodec, func(d *draft) *int { return &d.traffic.OutputTokens })},
		{Path: "traffic.profile", Kinds: []Kind{Serve}, Min: 0, Max: 1e9, Example: "diurnal", Default: "flat", zero: true, shown: []Kind{Serve},
			Doc:  Text{"The day's traffic: flat, diurnal, or 24 shares of the peak.", "一天的流量曲线：flat、diurnal，或 24 个相对高峰的比例。"},
			bind: at(profileCodec, func(d *draft) *[]float64 { return &d.traffic.Profile })},
		{Path: "traffic.trace", Kinds: []Kind{Serve}, For: writesText, Example: "requests.csv.gz",
			Doc:  Text{"Recorded requests, CSV or gzip of it, with the columns TIMESTAMP, ContextTokens and GeneratedTokens. Stands for the rate (its busiest five minutes) and the lengths; what of them is stated scales it.", "录制的请求：CSV 或其 gzip，含 TIMESTAMP、ContextTokens、GeneratedTokens 三列；可代替速率（取最忙的五分钟）和长度；若另外写明，则据此缩放。"},
			bind: at(traceCodec, func(d *draft) **Trace { return &d.traffic.Trace })},
		{Path: "traffic.interruptible", Kinds: []Kind{Serve}, Min: 1, Max: 100, Example: "20%",
			Doc:  Text{"Share of the machines that may be lost at short notice, and so may be spot beside committed and on-demand ones. Left out: none is, but a plan all on spot is listed with a warning if billing allows it.", "可在短时间通知后失去的机器比例；这部分可用抢占式实例，与预留和按需机器混用。省略：不混用；若 billing 允许，仍会列出全部使用抢占式的方案并给出警告。"},
			bind: at(percentCodec, func(d *draft) *float64 { return &d.traffic.Interruptible })},
		{Path: "slo.ttft_p99", Kinds: []Kind{Serve}, For: writesText, Min: 1.0 / 3.6e6, Max: 24, Example: "1s", shown: []Kind{Serve},
			Doc:  Text{"Time to the first token.", "首词元延迟。"},
			bind: at(hoursCodec, func(d *draft) *unit.Hours { return &d.SLO.TTFTp99 })},
		{Path: "slo.tpot_p99", Kinds: []Kind{Serve}, For: writesText, Min: 1e-9, Max: 24, Example: "50ms", shown: []Kind{Serve},
			Doc:  Text{"Time per further token.", "后续每个词元的延迟。"},
			bind: at(hoursCodec, func(d *draft) *unit.Hours { return &d.SLO.TPOTp99 })},
		{Path: "slo.e2e_p99", Kinds: []Kind{Serve}, Min: 1.0 / 3.6e6, Max: 24, Example: "30s",
			Doc:  Text{"Time to the last token, or to the answer of a network that writes no text.", "到最后一个词元（或不生成文本的网络给出结果）的端到端延迟。"},
			bind: at(hoursCodec, func(d *draft) *unit.Hours { return &d.SLO.E2Ep99 })},
		{Path: "duration", Kinds: []Kind{Serve}, Min: 1, Max: 10 * 8760, Example: "1mo", Default: "730h",
			Doc: Text{"How long the service is to run; a month is 730 hours.", "服务运行时长；一个月按 730 小时计。"},
			bind: bound[unit.Hours]{hoursCodec, func(d *draft) unit.Hours {
				if d.Horizon > 0 { // which says it already
					return 0
				}
				return d.Duration
			}, func(d *draft, v unit.Hours) { d.Duration = v }}},
	}
}

func batchFields() []Field {
	return []Field{
		{Path: "requests", Kinds: []Kind{BatchInfer}, Required: true, Min: 1, Max: 1e15, Example: "1M",
			Doc:  Text{"Requests in all: prompts, texts, images or, of a network like Whisper, windows of up to 30 s of speech.", "请求总数：提示、文本、图像，或 Whisper 类网络的语音窗口（每个至多 30 秒）。"},
			bind: at(countCodec, func(d *draft) *float64 { return &d.batch.Requests })},
		{Path: "input_tokens", Kinds: []Kind{BatchInfer}, For: readsText, Required: true, Min: 1, Max: 1e8, Example: "1000",
			Doc:  Text{"Tokens of a prompt, or of a text that a network like BERT reads.", "每个提示的词元数，或 BERT 类网络所读文本的词元数。"},
			bind: at(wholeCodec, func(d *draft) *int { return &d.batch.InputTokens })},
		{Path: "output_tokens", Kinds: []Kind{BatchInfer}, For: writesText, Required: true, Min: 1, Max: 1e8, Example: "300",
			Doc:  Text{"Tokens of an answer; only for networks that write text.", "每个回答的词元数；仅用于生成文本的网络。"},
			bind: at(wholeCodec, func(d *draft) *int { return &d.batch.OutputTokens })},
	}
}

func diffuseFields() []Field {
	return []Field{
		{Path: "images", Kinds: []Kind{Diffuse}, Required: true, Min: 1, Max: 1e15, Example: "100k",
			Doc:  Text{"Images in all.", "图像总数。"},
			bind: at(countCodec, func(d *draft) *float64 { return &d.images.Images })},
		{Path: "size", Kinds: []Kind{Diffuse}, Min: 16, Max: 65536, Example: "1024x1024", shown: []Kind{Diffuse},
			Doc: Text{"Width x height in pixels. Default: what the model is trained for.", "图像宽 x 高（像素）。默认：模型的训练尺寸。"},
			fill: generator(func(g *model.Diffusion) string {
				if g.RefWidth == 0 {
					return ""
				}
				return strconv.Itoa(g.RefWidth) + "x" + strconv.Itoa(g.RefHeight)
			}, "1024x1024"),
			bind: bound[resolution]{resolutionCodec,
				func(d *draft) resolution { return resolution{d.images.Width, d.images.Height} },
				func(d *draft, v resolution) { d.images.Width, d.images.Height = v.width, v.height }}},
		{Path: "steps", Kinds: []Kind{Diffuse}, Min: 1, Max: 10000, Example: "28", shown: []Kind{Diffuse},
			Doc:  Text{"Denoising steps. Default: what is usual for the model.", "去噪步数。默认：该模型的常用值。"},
			fill: generator(func(g *model.Diffusion) string { return positive(g.Steps) }, "30"),
			bind: at(wholeCodec, func(d *draft) *int { return &d.images.Steps })},
		{Path: "guidance", Kinds: []Kind{Diffuse}, Min: 1, Max: 8, Example: "1",
			Doc:  Text{"Denoiser passes a step: 2 with classifier-free guidance, 1 without. Default: what is usual for the model.", "每步去噪器的前向次数：无分类器引导为 2，否则为 1。默认：该模型的常用值。"},
			fill: generator(func(g *model.Diffusion) string { return positive(g.Guidance) }, "2"),
			bind: at(wholeCodec, func(d *draft) *int { return &d.images.Guidance })},
	}
}

func positive(n int) string {
	if n < 1 {
		return ""
	}
	return strconv.Itoa(n)
}
