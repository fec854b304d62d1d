package accuracy

import (
	"regexp"
	"strings"

	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

// portsPattern is a machine's network ports, as in "8x200Gb HDR IB".
var portsPattern = regexp.MustCompile(`(\d+)x(\d+)Gb`)

// coresCounted is how many of the cores that AWS's layouts count a chip shows: two of Trainium1, four pairs of Trainium2.
var coresCounted = map[string]int{"Trainium1": 2, "Trainium2": 4}

// layoutOf pins what a row states of its layout, and what its framework fixes.
func layoutOf(x *run, r Row) {
	l := &x.w.Layout
	*l = workload.LayoutPin{TP: r.Int("tp"), PP: r.Int("pp"), CP: r.Int("cp"), EP: r.Int("ep"), DP: r.Int("dp"), MicroBatch: r.Int("micro_batch"), Virtual: r.Int("vp"), ZeRO: -1}
	x.stated = l.TP > 0 && l.PP > 0
	if cores := coresCounted[x.g.Chip.Name]; cores > 0 && l.TP > 1 {
		l.TP = max(1, l.TP/cores)
	}
	if x.stated {
		l.CP, l.Virtual = max(1, l.CP), max(1, l.Virtual)
	}
	if l.TP*l.PP*l.CP > 0 && l.TP*l.PP*l.CP*l.DP != x.count {
		l.DP = 0 // follows from the others
	}
	if ranks := l.TP * l.PP * l.CP; ranks > 0 && x.count/ranks > x.w.GlobalBatch { // more replicas than sequences
		l.CP = 0
		x.assume("cp")
	}
	if ranks := l.TP * x.count / max(1, l.TP*l.PP); l.EP > 0 && x.stated && ranks%l.EP != 0 { // more experts' ranks than a stage has
		l.EP = 0
		x.assume("ep")
	}
	if l.MicroBatch == 0 && x.w.Method == workload.LoRA && x.w.Software.Framework == "mlperf-nemo" {
		l.MicroBatch = 1 // sequences are packed full, and accumulated one by one
	}
	if l.PP == 1 {
		l.Virtual = min(l.Virtual, 1)
	}
	if l.MicroBatch > 0 && l.PP > 1 && x.w.Software.Framework == "torchtitan" {
		l.MicroBatch = max(1, l.MicroBatch/l.PP) // its local batch is cut into as many micro-batches as there are stages
		if strings.HasPrefix(r.Text("notes"), "Interleaved") {
			l.Virtual = 2
		}
	}
	shardingOf(x, r)
	recomputeOf(x, r)
	if !x.stated {
		openLayout(x, r)
	}
}

// shardingOf reads how states are shared: a ZeRO stage, FSDP, or Megatron's distributed optimizer (stage 1).
func shardingOf(x *run, r Row) {
	l, text := &x.w.Layout, strings.ToLower(r.Text("fsdp_or_zero"))
	switch {
	case strings.Contains(text, "shard_grad_op"):
		l.ZeRO = 2
	case strings.Contains(text, "zero3"), strings.HasPrefix(text, "fsdp"):
		l.ZeRO = 3
	case strings.Contains(text, "zero1"):
		l.ZeRO = 1
		if n := numberAfter(text, "zero1-"); n > 0 {
			x.details.Shard = int(n)
		}
	case strings.Contains(text, "distributed-optimizer"):
		l.ZeRO = 1
	case text == "none", text == "no_shard":
		l.ZeRO = 0
	case x.g.Chip.Kind == accelerator.TPU:
		l.ZeRO = 3
	case strings.HasPrefix(x.w.Software.Framework, "megatron"), strings.HasPrefix(x.w.Software.Framework, "mlperf"), x.w.Software.Framework == "nemo":
		l.ZeRO = 1
	}
	if l.ZeRO > 0 && l.DP == 1 && l.CP <= 1 || x.count == 1 {
		l.ZeRO = 0
	}
}

// recomputeOf reads what the backward pass computes again.
func recomputeOf(x *run, r Row) {
	text := r.Text("activation_recompute")
	switch {
	case text == "selective(op)":
		// torchtitan repeats every second multiply, not the attention. Of Llama's 69,632 values a token and layer it keeps 31,744: the
		// input, query, value, the attention's output, gate and down.
		x.w.Layout.Recompute, x.details.Again, x.details.Kept = "none", 0.5, 0.45
	case strings.HasPrefix(text, "selective"):
		x.w.Layout.Recompute = "selective"
	case text == "none", text == "full":
		x.w.Layout.Recompute = text
	case x.w.Software.Framework == "litgpt": // FSDP with a checkpoint at every block, whose whole weights are gathered to be saved
		x.w.Layout.Recompute, x.details.WholeCopy = "full", true
	case x.w.Software.Framework == "torchtune" && x.w.Method != workload.LoRA:
		x.w.Layout.Recompute = "full" // its recipes' default
		x.assume("activation_recompute")
	default:
		x.assume("activation_recompute")
	}
}

// openLayout pins what a row without a layout still says: TPU programs shard all states and have no pipeline; batch and accumulation
// give how many sequences are worked on at once.
func openLayout(x *run, r Row) {
	x.assume("layout")
	l := &x.w.Layout
	if x.g.Chip.Kind == accelerator.TPU {
		l.PP, l.Virtual = 1, 1
		return
	}
	steps := numberAfter(r.Text("notes"), "grad_accum=")
	if steps < 1 || l.DP > 0 {
		return
	}
	at := float64(x.w.GlobalBatch) / steps
	if x.w.Kind == workload.Finetune || at <= float64(x.count) && x.w.Sequence >= 8192 {
		l.MicroBatch = 1
		for int(at)%max(1, l.DP) != 0 || x.count%max(1, int(at)) != 0 {
			return
		}
		l.DP = min(int(at), x.count)
		if x.w.Method == workload.LoRA && x.w.Software.Framework == "mlperf-nemo" && x.g.Chip.NominalGB.Or(0) > 150 {
			l.TP, l.PP, l.CP, l.Virtual = 1, 1, x.count/l.DP, 1 // as the submissions that state it
		}
		return
	}
	if at >= float64(x.count) {
		l.DP, l.MicroBatch = x.count, int(at)/x.count
	}
}
