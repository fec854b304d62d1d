package accuracy

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/train"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// trained is a number format as a table of training spells it.
type trained struct {
	format model.Format
	base   model.Format // of frozen weights, where they are quantized
	tag    string       // what tells recipes of a format apart
	pure   bool         // weights and optimizer states at 16 bit, without a 32-bit copy
	plain  bool         // the scales of frozen weights are not quantized themselves
}

// trainingFormat reads a precision. Recipes of 8-bit scaling (a tensor, a row, a block, microscaling) differ in
// speed; those that a submission leaves open among 8 and 4 bit are a kind of their own.
func trainingFormat(text string) (trained, bool) {
	t := strings.ToLower(text)
	switch {
	case strings.Contains(t, "nf4"):
		return trained{format: "bf16", base: "nf4", tag: "bf16", pure: true, plain: !strings.HasSuffix(t, "-dq")}, true
	case strings.HasPrefix(t, "bf16/int8"), t == "int8":
		return trained{format: "int8", tag: "int8"}, true
	case strings.HasPrefix(t, "fp8/fp4"):
		return trained{format: "nvfp4", tag: "fp8/fp4"}, true
	case strings.Contains(t, "fp4"):
		return trained{format: "nvfp4", tag: "nvfp4"}, true
	case strings.Contains(t, "mx"):
		return trained{format: "fp8", tag: "mxfp8"}, true
	case strings.Contains(t, "rowwise"), strings.Contains(t, "block"):
		return trained{format: "fp8", tag: "fp8-fine"}, true
	case strings.HasPrefix(t, "fp8"):
		return trained{format: "fp8", tag: "fp8"}, true
	}
	word, _, pure := strings.Cut(t, "-true")
	if f, err := model.LookupFormat(word); err == nil && !f.WeightOnly {
		return trained{format: f.Name, tag: string(f.Name), pure: pure}, true
	}
	return trained{}, false
}

// sizeSuffix is a size written after a name that needs none.
var sizeSuffix = regexp.MustCompile(` [0-9.]+ B$`)

// networkOf is the network of a row: by its name, else as its columns describe it.
func networkOf(r Row) *model.Model {
	name := r.Text("model")
	for _, n := range []string{name, strings.NewReplacer("_", "-", " ", "-", "LLAMA", "llama-", "DeepSeekV", "deepseek-v").Replace(name), sizeSuffix.ReplaceAllString(name, "")} {
		if m, err := model.Embedded().Get(n); err == nil {
			return m
		}
	}
	if r.Int("layers") == 0 || r.Int("hidden") == 0 || r.Int("heads") == 0 || r.Int("vocab") == 0 {
		return nil
	}
	m, err := model.ParseConfig(name, []byte(configOf(r)))
	if err != nil || !near(float64(m.Params.Total), r.Num("params_b")*1e9) {
		return nil
	}
	return m
}

// near says whether a count of parameters is the one that a row states, if it does, but for embeddings: what is far from it has experts
// or another part that the columns do not tell.
func near(counted, stated float64) bool {
	return stated == 0 || counted > 0.75*stated && counted < 1.33*stated
}

// configOf writes a row's columns as a config.json: gated networks are those with grouped heads or a width that is not four times the
// hidden one; the rest are GPT.
func configOf(r Row) string {
	h, ffn := r.Int("hidden"), r.Int("ffn")
	if strings.HasPrefix(r.Text("model"), "MPT") {
		return fmt.Sprintf(`{"model_type":"mpt","n_layers":%d,"d_model":%d,"n_heads":%d,"expansion_ratio":4,"vocab_size":%d,"max_seq_len":%d}`,
			r.Int("layers"), h, r.Int("heads"), r.Int("vocab"), max(2048, r.Int("seq_len")))
	}
	if ffn == 4*h && (r.Int("kv_heads") == 0 || r.Int("kv_heads") == r.Int("heads")) {
		return fmt.Sprintf(`{"model_type":"gpt2","n_layer":%d,"n_embd":%d,"n_head":%d,"vocab_size":%d,"n_positions":%d}`,
			r.Int("layers"), h, r.Int("heads"), r.Int("vocab"), max(2048, r.Int("seq_len")))
	}
	return fmt.Sprintf(`{"model_type":"llama","num_hidden_layers":%d,"hidden_size":%d,"num_attention_heads":%d,"num_key_value_heads":%d,"intermediate_size":%d,"vocab_size":%d}`,
		r.Int("layers"), h, r.Int("heads"), max(1, r.Int("kv_heads")), max(ffn, h), r.Int("vocab"))
}

// trainingFramework is what trained, without its version: submitters to MLPerf name their containers, all of which hold the reference of
// NVIDIA (NeMo), AMD or Google.
func trainingFramework(r Row) string {
	t := strings.ToLower(r.Text("framework"))
	for _, name := range []string{"llm-foundry", "megatron-bridge", "internevo", "torchtitan", "maxtext", "litgpt", "torchtune"} {
		if strings.HasPrefix(t, name) {
			if name == "megatron-bridge" && numberAfter(t, "nemo ") >= 26.05 {
				// The release with which DeepSeek V3 and Qwen3 ran 17 to 55 per cent faster on GB200 and GB300 at the same layouts; dense
				// networks are within 3 per cent.
				return name + "-26.06"
			}
			return name
		}
	}
	vendor := strings.ToLower(r.Text("accelerator"))
	switch {
	case strings.Contains(t, "neuron"):
		return "neuron"
	case strings.HasPrefix(t, "megatron"):
		return "megatron-lm"
	case strings.HasPrefix(r.Text("source"), "mlcommons/"):
		if strings.HasPrefix(vendor, "mi") {
			return "mlperf-rocm"
		}
		return "mlperf-nemo"
	case strings.Contains(t, "nemo"):
		return "nemo"
	}
	word, _, _ := strings.Cut(t, " ")
	return word
}

// countedIn is how a framework counts its peak: the largest sum of PyTorch's allocations in MLPerf's logs and torchtune, what its allocator
// holds in torchtitan and LitGPT, and what a paper of Megatron-LM adds up; else all that is gone from the device.
func countedIn(framework string) train.Counted {
	switch framework {
	case "torchtitan", "litgpt":
		return train.Reserved
	case "mlperf-nemo", "mlperf-rocm", "megatron-lm", "torchtune":
		return train.Allocated
	}
	return ""
}

// modeOf tells pretraining from fine-tunes by their methods.
func modeOf(x *run) string {
	if x.w.Kind == workload.Train {
		return "pretrain"
	}
	return string(x.w.Method)
}

// compiledLoss is the dates in the names of torchtitan's pages from when it compiles its loss.
var compiledLoss = regexp.MustCompile(`_20(2[5-9]|[3-9]\d)`)

// customs is how a framework, or its release of that day, holds what it trains.
func customs(x *run, r Row, f trained, chip *accelerator.Accelerator) {
	d := &x.details
	if f.pure {
		x.w.Optimizer = workload.AdamWBF16
	}
	switch x.w.Software.Framework {
	case "mlperf-nemo":
		// The submissions hold weights at 8 bit, with a transposed copy on Hopper, and gradients at 16.
		d.GradientBytes = 2
		if chip.Arch != "Hopper" && f.tag != "bf16" {
			d.WeightBytes = 1
		}
	case "megatron-lm":
		d.Unfused = strings.HasPrefix(r.Text("framework"), "Megatron-LM 202") // papers of 2021 and 2022
		d.WholeNorms = d.Unfused && !strings.Contains(r.Text("activation_recompute"), "sequence-parallel")
	case "torchtitan":
		if !compiledLoss.MatchString(r.Text("source")) {
			d.LogitBytes = train.EagerLogit
		}
	case "torchtune":
		// 16-bit weights throughout; full fine-tuning on one device pairs them with 8-bit Adam that frees gradients as it goes.
		if f.tag == "bf16" {
			x.w.Optimizer = workload.AdamWBF16
		}
		if f.tag == "bf16" && x.count == 1 {
			d.OptimizerBytes, d.GradientBytes = 2, 0.1
		}
	case "litgpt":
		d.WideNorms = true
		d.KeptInputs = f.base == "nf4" && strings.HasSuffix(r.Text("framework"), "2023-10")
		if f.plain {
			d.WeightBytes = 0.5 + 4.0/64 // a 32-bit scale for each block of 64 (Dettmers et al. 2023)
		}
	}
}

// fineTune reads the method of a fine-tune.
func fineTune(x *run, r Row, f trained) {
	text := strings.ToLower(r.Text("workload"))
	if !strings.Contains(text, "finetune") {
		return
	}
	x.w.Kind = workload.Finetune
	switch {
	case f.base == "nf4", strings.Contains(text, "qlora"):
		x.w.Method, x.w.LoRARank = workload.QLoRA, 16
	case strings.Contains(text, "lora"), strings.Contains(text, "adapter"):
		x.w.Method, x.w.LoRARank = workload.LoRA, 16
	}
}

// sizes reads sequence and batch; false where they are not to be had.
func sizes(x *run, r Row) bool {
	w := x.w
	w.Sequence, w.GlobalBatch = r.Int("seq_len"), r.Int("global_batch")
	step := numberAfter(r.Text("notes"), "tokens per step in log=")
	if w.Sequence == 0 && step > 0 {
		w.Sequence = 8192
		x.assume("seq_len")
	}
	if longest := numberAfter(r.Text("notes"), "longest sample "); w.Sequence == 0 && longest > 0 {
		w.Sequence = int(longest) // by tokenizer: Llama's makes the most of the text, codes with larger vocabularies the least
		if w.Model.Family == "llama" {
			w.Sequence = int(numberAfter(r.Text("notes"), fmt.Sprintf("longest sample %d-", w.Sequence)))
		}
	}
	if w.Sequence == 0 && strings.HasPrefix(r.Text("model"), "GPT") {
		w.Sequence = 2048 // as GPT-3
		x.assume("seq_len")
	}
	if w.GlobalBatch == 0 && step > 0 {
		w.GlobalBatch = int(step) / w.Sequence
	}
	if w.GlobalBatch == 0 && r.Int("micro_batch") > 0 {
		w.GlobalBatch = r.Int("micro_batch") * max(1, r.Int("dp"), x.count/max(1, r.Int("tp")*r.Int("pp")))
		x.assume("global_batch")
	}
	return w.Sequence > 0 && w.GlobalBatch > 0
}

// fabric is what the usual machine of a chip has: accelerators a machine, their links, and the network's Gbit/s an accelerator.
type fabric struct {
	per      int
	topology catalog.Topology
	network  catalog.NetworkKind
	gbps     float64
}

// fabricOf is the usual machine by what the chip is: eight on a board with a 400 Gbit/s port each, 200 on A100, 800 on B300; racks of 72;
// pods of TPUs on one torus; 16 Trainium on 800 Gbit/s. Sources: the makers' reference systems.
func fabricOf(a *accelerator.Accelerator) fabric {
	f := fabric{per: 8, topology: catalog.NVSwitch, network: catalog.InfiniBand, gbps: 400}
	switch {
	case strings.HasPrefix(a.Name, "GB"):
		f.per = 72
		if strings.HasPrefix(a.Name, "GB3") {
			f.gbps = 800
		}
	case a.Name == "B300":
		f.gbps = 800
	case a.Arch == "Ampere" && a.FormFactor == "SXM":
		f.gbps = 200
	case a.Vendor == "AMD":
		f.topology, f.network = catalog.XGMI, catalog.RoCE
	case a.Kind == accelerator.TPU:
		f = fabric{per: 8192, topology: catalog.ICI, network: catalog.Ethernet, gbps: 100}
		if strings.Contains(a.LinkKind, "2D") {
			f.per = 256
		}
	case a.Vendor == "AWS":
		f = fabric{per: 16, topology: catalog.NeuronLink, network: catalog.EFA, gbps: 50}
		if a.Name != "Trainium1" {
			f.gbps = 200
		}
	case a.Vendor == "Intel":
		f.topology, f.network, f.gbps = catalog.VendorMesh, catalog.RoCE, 300
	case a.FormFactor == "PCIe":
		f.topology, f.network, f.gbps = catalog.PCIeOnly, catalog.Ethernet, 50
	}
	return f
}

// groupOf cuts so many accelerators into equal machines, as large as the fabric allows. What the notes say of the network holds.
func groupOf(a *accelerator.Accelerator, count int, notes string) estimate.Group {
	f := fabricOf(a)
	per := min(f.per, count)
	for count%per != 0 {
		per--
	}
	g := estimate.Group{Chip: a, Share: 1, PerNode: per, Nodes: count / per, Topology: f.topology, Network: f.network}
	gbps := f.gbps * float64(per)
	if m := portsPattern.FindStringSubmatch(notes); m != nil {
		gbps = numberAfter(" "+m[1], " ") * numberAfter(" "+m[2], " ")
		if strings.Contains(notes, "RoCE") {
			g.Network = catalog.RoCE
		}
	}
	g.NetworkGbps = unit.Some(gbps)
	return g
}
