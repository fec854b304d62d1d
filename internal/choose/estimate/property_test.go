package estimate_test

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/serve"
	"github.com/rackrate/rackrate/internal/choose/estimate/train"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// jobFor prepares a workload; nil where its kind refuses the model.
func jobFor(w *workload.Workload) estimate.Job {
	make := train.New
	if w.Kind == workload.Serve || w.Kind == workload.BatchInfer {
		make = serve.New
	}
	j, err := make(w, estimate.EmbeddedCurves())
	if err != nil {
		return nil
	}
	return j
}

func pick[T any](r *rapid.T, name string, of ...T) T { return rapid.SampledFrom(of).Draw(r, name) }

var classes = map[model.Class]bool{model.Decoder: true, model.Encoder: true, model.EncoderDecoder: true}

// drawModel is one of the table or a small one with odd numbers.
func drawModel(r *rapid.T) *model.Model {
	if rapid.IntRange(0, 4).Draw(r, "drawn up") == 0 {
		heads := rapid.IntRange(1, 13).Draw(r, "heads")
		m, err := model.ParseConfig("odd", fmt.Appendf(nil, `{"model_type":"llama","num_hidden_layers":%d,"hidden_size":%d,"num_attention_heads":%d,"intermediate_size":%d,"vocab_size":%d}`,
			rapid.IntRange(1, 100).Draw(r, "layers"), heads*pick(r, "width", 1, 64, 128), heads, rapid.IntRange(1, 1<<15).Draw(r, "ffn"), pick(r, "vocab", 1, 32000, 256000)))
		if err != nil {
			r.Fatal(err)
		}
		return m
	}
	var of []*model.Model
	for _, m := range model.Embedded().All() {
		if classes[m.Class] {
			of = append(of, m)
		}
	}
	return of[rapid.IntRange(0, len(of)-1).Draw(r, "model")]
}

func drawWorkload(r *rapid.T) *workload.Workload {
	w := &workload.Workload{Model: drawModel(r), Kind: pick(r, "kind", workload.Train, workload.Finetune, workload.Serve, workload.BatchInfer)}
	w.Layout.ZeRO = -1
	pin := func(to *int, name string) {
		if rapid.IntRange(0, 7).Draw(r, name+" pinned") == 0 {
			*to = pick(r, name, 1, 2, 3, 4, 8, 64, 1<<17)
		}
	}
	pin(&w.Layout.TP, "tp")
	pin(&w.Layout.PP, "pp")
	pin(&w.Layout.DP, "dp")
	pin(&w.Layout.EP, "ep")
	in, out := pick(r, "in", 1, 7, 1000, 100_000, 100_000_000), pick(r, "out", 1, 2, 500, 100_000_000)
	switch w.Kind {
	case workload.Serve:
		w.Format, w.KVFormat = pick[model.Format](r, "format", "bf16", "fp8", "awq", "nvfp4", "mxfp4", "int8"), pick[model.Format](r, "kv", "", "fp8")
		w.Traffic = &workload.Traffic{RequestsPerSecond: pick(r, "rps", 1e-6, 2, 1e6, 1e7), InputTokens: in, OutputTokens: out}
		w.Duration = unit.HoursPerMonth
		if rapid.Bool().Draw(r, "promised") {
			w.SLO = workload.SLO{TTFTp99: unit.FromSeconds(2), TPOTp99: unit.FromSeconds(0.05), E2Ep99: unit.FromSeconds(60)}
		}
	case workload.BatchInfer:
		w.Format = pick[model.Format](r, "format", "bf16", "fp8", "gptq")
		w.Batch = &workload.Batch{Requests: pick(r, "requests", 1, 1.5, 17, 1e6, 1e15), InputTokens: in, OutputTokens: out}
	default:
		w.Format = pick[model.Format](r, "format", "bf16", "fp16", "fp8", "fp32")
		w.Method, w.LoRARank = workload.Full, 0
		if w.Kind == workload.Finetune {
			w.Method, w.LoRARank = pick(r, "method", workload.Full, workload.LoRA, workload.QLoRA), 16
		}
		w.Optimizer = pick(r, "optimizer", workload.AdamW, workload.AdamW8bit, workload.AdamWBF16, workload.Adafactor, workload.SGD, workload.Muon)
		w.Sequence, w.GlobalBatch = pick(r, "sequence", 1, 7, 512, 4096, 65536, 1<<24), pick(r, "batch", 1, 3, 64, 4096, 1<<24)
		w.Tokens = pick(r, "tokens", 1, 1e9, 1e18)
		pin(&w.Layout.CP, "cp")
		pin(&w.Layout.MicroBatch, "micro-batch")
		pin(&w.Layout.Virtual, "virtual")
		w.Layout.ZeRO = rapid.IntRange(-1, 3).Draw(r, "zero")
		w.Layout.Recompute = pick(r, "recompute", "", "", "none", "selective", "full")
	}
	return w
}

func drawGroup(r *rapid.T) estimate.Group {
	all := accelerator.Embedded().All()
	g := estimate.Group{Chip: all[rapid.IntRange(0, len(all)-1).Draw(r, "chip")], Share: 1, PerNode: pick(r, "per", 1, 2, 3, 4, 6, 8, 12, 16, 256), Nodes: pick(r, "nodes", 1, 2, 3, 8, 128)}
	if g.PerNode == 1 {
		g.Share = pick(r, "share", 1, 0.5, 1/6.0)
	}
	g.Topology = pick(r, "topology", catalog.NVSwitch, catalog.PCIeOnly, catalog.NVLinkPairs, catalog.ICI, catalog.UnknownTopo)
	if rapid.IntRange(0, 3).Draw(r, "network known") > 0 {
		g.NetworkGbps, g.Network = unit.Some(pick(r, "gbps", 1.0, 100, 3200)), pick(r, "network", catalog.InfiniBand, catalog.EFA, catalog.UnknownNet)
	}
	return g
}

func finite(vs ...float64) bool {
	for _, v := range vs {
		if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
			return false
		}
	}
	return true
}

// checkEstimate holds an estimate to what every estimate promises.
func checkEstimate(t interface{ Errorf(string, ...any) }, w *workload.Workload, g estimate.Group, e *estimate.Estimate) {
	var sum unit.Bytes
	for _, p := range e.Memory.Parts {
		if p.Bytes <= 0 {
			t.Errorf("part %s is %d", p.Name, p.Bytes)
		}
		sum += p.Bytes
	}
	if sum != e.Memory.Used || e.Memory.Used > e.Memory.Capacity || sum == 0 {
		t.Errorf("memory: parts %d, used %d of %d", sum, e.Memory.Used, e.Memory.Capacity)
	}
	b := e.Bottleneck
	if s := b.Compute + b.Memory + b.Link + b.Network + b.Bubble + b.Input + b.Overhead; math.Abs(s-1) > 1e-9 || !finite(b.Compute, b.Memory, b.Link, b.Network, b.Bubble, b.Overhead) {
		t.Errorf("shares sum to %g: %+v", s, b)
	}
	s := e.Speed
	if !(0 < s.Low && s.Low <= s.Value && s.Value <= s.High) || !finite(s.High) || s.Unit == "" || s.Source == "" || s.Like == "" {
		t.Errorf("speed %+v", s)
	}
	if !(e.LowHours <= e.Hours && e.Hours <= e.HighHours) || !finite(float64(e.LowHours), float64(e.HighHours), e.Work, float64(e.Checkpoint)) || e.Hours <= 0 {
		t.Errorf("hours %v to %v, %v", e.LowHours, e.HighHours, e.Hours)
	}
	if !(e.MFU >= 0 && e.MFU < 1) || !(e.Load > 0 && e.Load <= 1) {
		t.Errorf("MFU %g, load %g", e.MFU, e.Load)
	}
	l := e.Layout
	if w.Kind == workload.Train || w.Kind == workload.Finetune {
		if l.TP*l.PP*l.CP*l.DP != g.Accelerators() || l.MicroBatch*l.DP > w.GlobalBatch || l.PP == 1 && l.Virtual > 1 {
			t.Errorf("%+v on %d accelerators", l, g.Accelerators())
		}
		return
	}
	v := e.Serving
	if v.Concurrency < 1 || v.Replicas < 1 || l.TP*l.PP*l.DP != v.AcceleratorsPerReplica || !finite(float64(v.TTFT), float64(v.TPOT), float64(v.E2E), v.RequestsPerSecond) || v.E2E < v.TTFT || v.TTFT <= 0 {
		t.Errorf("%+v", v)
	}
	if w.Kind == workload.BatchInfer && v.Replicas*v.AcceleratorsPerReplica > g.Accelerators() {
		t.Errorf("%d replicas of %d on %d accelerators", v.Replicas, v.AcceleratorsPerReplica, g.Accelerators())
	}
	if w.Kind == workload.Serve && (v.RequestsPerSecond < w.Traffic.RequestsPerSecond*(1-1e-9) || v.Replicas < v.ReplicasNeeded || serve.Machines(v, g.PerNode) < 1) {
		t.Errorf("the fleet does not carry the traffic: %+v", v)
	}
}

// pinsKept says whether a layout is the one asked for.
func pinsKept(w *workload.Workload, l estimate.Layout) bool {
	kept := func(pin, v int) bool { return pin == 0 || pin == v }
	p := w.Layout
	if !kept(p.TP, l.TP) || !kept(p.PP, l.PP) {
		return false
	}
	if w.Kind == workload.Serve || w.Kind == workload.BatchInfer {
		return kept(p.DP, l.Replicas)
	}
	return kept(p.DP, l.DP) && kept(p.CP, l.CP) && kept(p.EP, l.EP) && kept(p.MicroBatch, l.MicroBatch) && kept(p.Virtual, l.Virtual) &&
		(p.ZeRO < 0 || p.ZeRO == l.ZeRO) && (p.Recompute == "" || p.Recompute == l.Recompute)
}

// Any model on any chip in any group gives a sound estimate or a typed reason, never a panic or a figure that is none.
func TestEveryEstimateIsSound(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w, g := drawWorkload(r), drawGroup(r)
		j := jobFor(w)
		if j == nil {
			return
		}
		e, refusal, looked := j.Best(g)
		if refusal != nil {
			if refusal.Reason == "" || !finite(refusal.Have, refusal.Want) || !finite(refusal.Short()) || refusal.Reason == estimate.NoMemory && refusal.Want <= refusal.Have {
				r.Errorf("refusal %+v", refusal)
			}
			return
		}
		if looked < 1 {
			r.Errorf("a layout out of none")
		}
		checkEstimate(r, w, g, &e)
		if !pinsKept(w, e.Layout) {
			r.Errorf("pinned %+v, got %+v", w.Layout, e.Layout)
		}
	})
}

// faster is the group with one resource scaled up.
func faster(r *rapid.T, g estimate.Group) estimate.Group {
	chip := *g.Chip
	k := rapid.Float64Range(1, 8).Draw(r, "times")
	switch pick(r, "resource", "bandwidth", "compute", "link", "network", "memory") {
	case "bandwidth":
		chip.Bandwidth = scaled(chip.Bandwidth, k)
	case "compute":
		for p := range chip.Peak {
			chip.Peak[p] = scaled(chip.Peak[p], k)
		}
	case "link":
		chip.LinkBidir = scaled(chip.LinkBidir, k)
	case "network":
		g.NetworkGbps = scaled(g.NetworkGbps, k)
	default:
		chip.NominalGB = scaled(chip.NominalGB, k)
	}
	g.Chip = &chip
	return g
}

func scaled[T ~float64 | ~int64](m unit.Maybe[T], k float64) unit.Maybe[T] {
	if v, ok := m.Get(); ok {
		return unit.Some(T(float64(v) * k))
	}
	return m
}

// More of anything never makes a job slower, nor turns one that can be done into one that cannot.
func TestMoreIsNeverSlower(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w, g := drawWorkload(r), drawGroup(r)
		j := jobFor(w)
		if j == nil {
			return
		}
		a, refusal, _ := j.Best(g)
		if refusal != nil {
			return
		}
		h := faster(r, g)
		b, refusal, _ := j.Best(h)
		if refusal != nil {
			r.Fatalf("refused with more: %+v", refusal)
		}
		const slack = 1 + 1e-3 // a service's load is found by halving, to 1e-4
		switch w.Kind {
		case workload.Serve:
			if x, y := serve.Machines(a.Serving, g.PerNode), serve.Machines(b.Serving, g.PerNode); float64(y) > float64(x)*slack {
				r.Errorf("%d machines became %d: %+v %+v", x, y, a.Layout, b.Layout)
			}
		default:
			if float64(b.Hours) > float64(a.Hours)*slack {
				r.Errorf("%v h became %v h: %+v %+v", a.Hours, b.Hours, a.Layout, b.Layout)
			}
		}
	})
}

// A deeper or wider model never takes less memory in the same layout.
func TestABiggerModelTakesMore(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		layers, heads, ffn := 4*rapid.IntRange(1, 24).Draw(r, "layers"), 8*rapid.IntRange(1, 8).Draw(r, "heads"), 128*rapid.IntRange(1, 128).Draw(r, "ffn")
		made := func(layers, heads, ffn int) *model.Model {
			m, err := model.ParseConfig("m", fmt.Appendf(nil, `{"model_type":"llama","num_hidden_layers":%d,"hidden_size":%d,"num_attention_heads":%d,"intermediate_size":%d,"vocab_size":32000}`, layers, 128*heads, heads, ffn))
			if err != nil {
				r.Fatal(err)
			}
			return m
		}
		chip := *must(r, "H100-SXM-80GB")
		chip.NominalGB = unit.Some(1e6) // room for all
		g := estimate.Group{Chip: &chip, PerNode: 8, Nodes: 1, Topology: catalog.NVSwitch}
		w := &workload.Workload{Kind: workload.Train, Method: workload.Full, Format: "bf16", Optimizer: workload.AdamW, Sequence: 2048, GlobalBatch: 32, Tokens: 1e9}
		w.Layout = workload.LayoutPin{TP: pick(r, "tp", 1, 2, 8), PP: pick(r, "pp", 1, 2, 4), MicroBatch: 1, Virtual: 1, ZeRO: rapid.IntRange(0, 3).Draw(r, "zero"), Recompute: pick(r, "recompute", "none", "full")}
		if w.Layout.TP == 8 {
			w.Layout.PP = 1
		}
		used := func(m *model.Model) unit.Bytes {
			w.Model = m
			e, refusal, _ := jobFor(w).Best(g)
			if refusal != nil {
				r.Fatalf("%+v %+v", w.Layout, refusal)
			}
			return e.Memory.Used
		}
		small := used(made(layers, heads, ffn))
		for _, big := range []*model.Model{made(layers+4, heads, ffn), made(layers, heads+8, ffn), made(layers, heads, ffn+128)} {
			if used(big) <= small {
				r.Errorf("%d parameters take no more than %d", big.Params.Total, w.Model.Params.Total)
			}
		}
	})
}

func must(t rapid.TB, name string) *accelerator.Accelerator {
	a, ok := accelerator.Embedded().Get(name)
	if !ok {
		t.Fatal(name)
	}
	return a
}

// No token comes out faster than the weights it is multiplied with are read over all the accelerators that share them.
func TestDecodingNeverBeatsTheWeights(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w, g := drawWorkload(r), drawGroup(r)
		if w.Kind != workload.Serve && w.Kind != workload.BatchInfer {
			return
		}
		j := jobFor(w)
		if j == nil {
			return
		}
		e, refusal, _ := j.Best(g)
		if refusal != nil || e.Serving.TPOT == 0 {
			return
		}
		f, err := model.LookupFormat(string(w.Format))
		if err != nil {
			r.Fatal(err)
		}
		bw, _ := g.Chip.Bandwidth.Get()
		least := float64(w.Model.WeightBytesTouched(f, 1)) / (float64(bw) * g.Share * float64(e.Layout.TP*e.Layout.DP))
		if mean := e.Serving.TPOT.Seconds(); mean < least {
			r.Errorf("%g s a token, reading its weights takes %g", mean, least)
		}
	})
}

// The largest groups a plan looks at have a bounded number of layouts; a layout takes a quarter of a microsecond.
func TestLayoutsAreBounded(t *testing.T) {
	for _, tt := range []struct {
		model    string
		seq      int
		per, all int
	}{{"llama-3.1-405b", 8192, 8, 16384}, {"deepseek-v3", 131072, 8, 16384}, {"llama-3.1-405b", 1 << 20, 256, 16384}, {"gpt2", 1024, 12, 16380}} {
		m, err := model.Embedded().Get(tt.model)
		if err != nil {
			t.Fatal(err)
		}
		w := &workload.Workload{Kind: workload.Train, Model: m, Method: workload.Full, Format: "bf16", Optimizer: workload.AdamW, Sequence: tt.seq, GlobalBatch: 1 << 20, Tokens: 1e13}
		w.Layout.ZeRO = -1
		j := jobFor(w)
		g := estimate.Group{Chip: must(t, "B300"), PerNode: tt.per, Nodes: tt.all / tt.per, Topology: catalog.NVSwitch, NetworkGbps: unit.Some(3200.0), Network: catalog.InfiniBand}
		if _, _, layouts := j.Best(g); layouts == 0 || layouts > 20000 {
			t.Errorf("%s, sequence %d, %d a machine: %d layouts", tt.model, tt.seq, tt.per, layouts)
		}
	}
}
