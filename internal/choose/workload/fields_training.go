package workload

import "strconv"

func trainingFields() []Field {
	fs := []Field{
		{Path: "method", Kinds: []Kind{Finetune}, For: onTokens, Enum: []string{string(LoRA), string(QLoRA), string(Full)}, Example: "lora", Default: "lora", shown: []Kind{Finetune},
			Doc:  Text{"How the model is changed.", "微调方法。"},
			bind: at(enum[Method](), func(d *draft) *Method { return &d.Method })},
		{Path: "lora_rank", Kinds: []Kind{Finetune}, For: onTokens, Min: 1, Max: 4096, Example: "16", shown: []Kind{Finetune},
			Doc: Text{"Rank of the adapters. Default: 16 with lora and qlora.", "适配器的秩。默认：lora 与 qlora 为 16。"},
			fill: func(d *draft) string {
				if d.Method == Full {
					return ""
				}
				return "16"
			},
			bind: at(wholeCodec, func(d *draft) *int { return &d.LoRARank })},
		{Path: "optimizer", Kinds: training, Example: "adamw", Default: "adamw",
			Enum: []string{string(AdamW), string(AdamW8bit), string(AdamWBF16), string(Adafactor), string(SGD), string(Muon)},
			Doc:  Text{"How weights are updated.", "优化器。"},
			bind: at(enum[Optimizer](), func(d *draft) *Optimizer { return &d.Optimizer })},
		{Path: "sequence", Kinds: training, For: onTokens, Min: 1, Max: 1 << 24, Example: "4096", shown: training, fill: defaultSequence,
			Doc:  Text{"Tokens a sequence. Default: 4096, or the model's context where that is less.", "序列长度（词元）。默认：4096，模型上下文更短时取其上下文。"},
			bind: at(wholeCodec, func(d *draft) *int { return &d.Sequence })},
		{Path: "global_batch", Kinds: []Kind{Train}, Min: 1, Max: 1 << 24, Example: "512", Default: "512", shown: training,
			Doc:  Text{"Sequences, or other samples, per optimizer step.", "每个优化步的序列数或其他样本数。"},
			bind: at(wholeCodec, func(d *draft) *int { return &d.GlobalBatch })},
		{Path: "global_batch", Kinds: []Kind{Finetune}, Min: 1, Max: 1 << 24, Example: "64", Default: "64", shown: training,
			Doc:  Text{"Sequences, or other samples, per optimizer step.", "每个优化步的序列数或其他样本数。"},
			bind: at(wholeCodec, func(d *draft) *int { return &d.GlobalBatch })},
		{Path: "global_batch_tokens", Kinds: training, For: onTokens, Min: 1, Max: 1e12, Example: "2M",
			Doc:  Text{"Or the batch in tokens.", "或以词元计的批大小。"},
			bind: at(countCodec, func(d *draft) *float64 { return &d.batchTokens })},
		{Path: "tokens", Kinds: training, For: onTokens, Min: 1, Max: 1e17, Example: "200M", Examples: map[Kind]string{Train: "20B"}, shown: training,
			Doc:  Text{"Total work in tokens; or samples, or steps, or epochs with dataset_tokens.", "总词元数；或给出 samples、steps，或 epochs 与 dataset_tokens。"},
			bind: at(countCodec, func(d *draft) *float64 { return &d.Tokens })},
		{Path: "samples", Kinds: training, Min: 1, Max: 1e17, Example: "10M",
			Doc:  Text{"Or the work in samples: images, utterances, or sequences of the length above.", "或以样本计的工作量：图像、语音，或上述长度的序列。"},
			bind: at(countCodec, func(d *draft) *float64 { return &d.Samples })},
		{Path: "steps", Kinds: training, Min: 1, Max: 1e12, Example: "1000",
			Doc:  Text{"Or the number of optimizer steps.", "或优化步数。"},
			bind: at(countCodec, func(d *draft) *float64 { return &d.steps })},
		{Path: "epochs", Kinds: training, For: onTokens, Min: 1e-6, Max: 1e6, Example: "3",
			Doc:  Text{"Or passes over the data, with dataset_tokens.", "或数据轮数，与 dataset_tokens 同用。"},
			bind: at(countCodec, func(d *draft) *float64 { return &d.epochs })},
		{Path: "dataset_tokens", Kinds: training, For: onTokens, Min: 1, Max: 1e17, Example: "70M",
			Doc:  Text{"Tokens of the data.", "数据集的词元数。"},
			bind: at(countCodec, func(d *draft) *float64 { return &d.datasetTokens })},
	}
	return append(fs, layoutFields()...)
}

// defaultSequence is the length most training recipes use, cut to what the model can see.
func defaultSequence(d *draft) string {
	const usual = 4096
	if d.Model != nil && d.Model.MaxContext > 0 && d.Model.MaxContext < usual {
		return strconv.Itoa(d.Model.MaxContext)
	}
	return strconv.Itoa(usual)
}

func layoutFields() []Field {
	part := func(name string, ks []Kind, en, zh string, place func(*LayoutPin) *int) Field {
		return Field{Path: "layout." + name, Kinds: ks, For: onTokens, Min: 1, Max: 1 << 17, Example: "1", Doc: Text{en, zh},
			bind: at(wholeCodec, func(d *draft) *int { return place(&d.Layout) })}
	}
	zero := part("zero", training, "ZeRO stage, 0 to 3.", "ZeRO 阶段，0 到 3。", func(l *LayoutPin) *int { return &l.ZeRO })
	zero.Min, zero.Max, zero.Example = 0, 3, "3"
	zero.bind = at(zeroStageCodec, func(d *draft) *int { return &d.Layout.ZeRO })
	tp := part("tp", tokens, "Tensor parallel.", "张量并行。", func(l *LayoutPin) *int { return &l.TP })
	tp.Example = "8"
	return []Field{
		tp,
		part("pp", tokens, "Pipeline stages.", "流水线级数。", func(l *LayoutPin) *int { return &l.PP }),
		part("dp", tokens, "Data parallel; replicas of a service.", "数据并行；服务的副本数。", func(l *LayoutPin) *int { return &l.DP }),
		part("cp", training, "Context parallel.", "上下文并行。", func(l *LayoutPin) *int { return &l.CP }),
		part("ep", tokens, "Expert parallel.", "专家并行。", func(l *LayoutPin) *int { return &l.EP }),
		part("micro_batch", training, "Sequences a micro-batch.", "每个微批的序列数。", func(l *LayoutPin) *int { return &l.MicroBatch }),
		part("virtual", training, "Virtual stages of a pipeline stage.", "每个流水线级的虚拟级数。", func(l *LayoutPin) *int { return &l.Virtual }),
		zero,
		{Path: "layout.recompute", Kinds: training, For: onTokens, Enum: []string{"none", "selective", "full"}, Example: "selective",
			Doc:  Text{"What the backward pass computes again.", "反向传播时重新计算的部分。"},
			bind: at(enum[string](), func(d *draft) *string { return &d.Layout.Recompute })},
	}
}
