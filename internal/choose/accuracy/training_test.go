package accuracy

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/train"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/model"
	"github.com/rackrate/rackrate/internal/sharedtest"
)

// trainingHead is the columns of the training table.
const trainingHead = "model,params_b,layers,hidden,heads,kv_heads,ffn,vocab,accelerator,accelerator_count,nodes,precision,seq_len,micro_batch," +
	"global_batch,tp,pp,dp,fsdp_or_zero,activation_recompute,tokens_per_s_total,tokens_per_s_per_gpu,tflops_per_gpu,mfu,step_time_s,peak_mem_gb," +
	"source,cp,vp,ep,workload,framework,hfu,samples_per_s,notes"

// rowOf writes a row from "column=value" fields.
func rowOf(t *testing.T, fields ...string) Row {
	t.Helper()
	r := Row{file: "t.csv", line: 2, cells: map[string]string{}}
	for _, f := range fields {
		column, value, ok := strings.Cut(f, "=")
		if !ok || !strings.Contains(","+trainingHead+",", ","+column+",") {
			t.Fatalf("field %q", f)
		}
		r.cells[column] = value
	}
	return r
}

// Rows in the words of each source, with what they must be read as.
func TestTrainingRowsAsStated(t *testing.T) {
	for _, tt := range []struct {
		name      string
		row       []string
		layout    workload.LayoutPin
		details   train.Details
		format    model.Format
		method    workload.Method
		framework string
		per       int
		gbps      float64
		rate      float64
		sequence  int
		batch     int
	}{
		{"llm-foundry, fully sharded", []string{"model=MPT-70b", "layers=80", "hidden=8192", "heads=64", "kv_heads=64", "ffn=32768", "vocab=50368", "accelerator=H100-SXM-80GB", "accelerator_count=512", "precision=bf16", "seq_len=2048", "micro_batch=8", "global_batch=4096", "tp=1", "pp=1", "dp=512", "fsdp_or_zero=FSDP-FULL_SHARD(zero3)", "activation_recompute=full", "tokens_per_s_total=515636", "framework=llm-foundry(MPT)", "workload=pretrain"},
			workload.LayoutPin{TP: 1, PP: 1, DP: 512, CP: 1, MicroBatch: 8, Virtual: 1, ZeRO: 3, Recompute: "full"}, train.Details{Precision: "bf16", Mode: "pretrain"}, "bf16", workload.Full, "llm-foundry", 8, 3200, 515636, 2048, 4096},
		{"Megatron-Bridge, experts over a rack", []string{"model=DeepSeekV3", "accelerator=GB200", "accelerator_count=256", "precision=mxfp8", "seq_len=4096", "micro_batch=1", "global_batch=4096", "tp=1", "pp=4", "dp=64", "cp=1", "vp=4", "ep=64", "tokens_per_s_per_gpu=4912", "tflops_per_gpu=1276", "framework=Megatron-Bridge NeMo 26.08", "workload=pretrain"},
			workload.LayoutPin{TP: 1, PP: 4, DP: 64, CP: 1, EP: 64, MicroBatch: 1, Virtual: 4, ZeRO: 1}, train.Details{Precision: "mxfp8", Mode: "pretrain"}, "fp8", workload.Full, "megatron-bridge-26.06", 64, 25600, 4912 * 256, 4096, 4096},
		{"Megatron-Bridge, frozen weights by its own FLOPS", []string{"model=LLAMA3_70B", "accelerator=H100-SXM-80GB", "accelerator_count=8", "precision=fp8", "seq_len=4096", "micro_batch=1", "global_batch=32", "tp=2", "pp=4", "dp=1", "cp=1", "vp=20", "tokens_per_s_per_gpu=2643", "tflops_per_gpu=735", "framework=Megatron-Bridge NeMo 26.06", "workload=pretrain"},
			workload.LayoutPin{TP: 2, PP: 4, DP: 1, CP: 1, MicroBatch: 1, Virtual: 20}, train.Details{Precision: "fp8", Mode: "lora"}, "fp8", workload.LoRA, "megatron-bridge-26.06", 8, 3200, 2643 * 8, 4096, 32},
		{"InternEvo, states shared by eight", []string{"model=InternLM-7B", "layers=32", "hidden=4096", "heads=32", "kv_heads=32", "ffn=11008", "vocab=103168", "accelerator=A100-SXM-80GB", "accelerator_count=1024", "precision=bf16", "seq_len=2048", "micro_batch=2", "global_batch=8192", "tp=1", "pp=1", "dp=1024", "fsdp_or_zero=zero1-8", "activation_recompute=none", "tokens_per_s_per_gpu=3625", "framework=InternEvo", "workload=pretrain", "notes=4 micro-batches; 4x100Gb RoCE per node"},
			workload.LayoutPin{TP: 1, PP: 1, DP: 1024, CP: 1, MicroBatch: 2, Virtual: 1, ZeRO: 1, Recompute: "none"}, train.Details{Shard: 8, Precision: "bf16", Mode: "pretrain"}, "bf16", workload.Full, "internevo", 8, 400, 3625 * 1024, 2048, 8192},
		{"torchtitan, operators recomputed", []string{"model=Llama-3.1-8B", "accelerator=H100-SXM-96GB-HBM2e-500W", "accelerator_count=8", "precision=fp8-rowwise", "seq_len=8192", "micro_batch=2", "global_batch=16", "tp=1", "pp=1", "dp=8", "cp=1", "fsdp_or_zero=FSDP2(zero3)", "activation_recompute=selective(op)", "step_time_s=2", "framework=torchtitan", "workload=pretrain"},
			workload.LayoutPin{TP: 1, PP: 1, DP: 8, CP: 1, MicroBatch: 2, Virtual: 1, ZeRO: 3, Recompute: "none"}, train.Details{Again: 0.5, Kept: 0.45, LogitBytes: train.EagerLogit, Precision: "fp8-fine", Mode: "pretrain"}, "fp8", workload.Full, "torchtitan", 8, 3200, 16 * 8192 / 2, 8192, 16},
		{"torchtitan, a local batch in as many pieces as stages", []string{"model=Llama-3.1-405B", "accelerator=H100-SXM-96GB-HBM2e-500W", "accelerator_count=512", "precision=fp8", "seq_len=8192", "micro_batch=32", "global_batch=256", "tp=8", "pp=8", "dp=8", "cp=1", "fsdp_or_zero=FSDP2(zero3)", "activation_recompute=full", "tokens_per_s_per_gpu=128", "framework=torchtitan", "workload=pretrain", "source=pytorch/torchtitan benchmarks/llama3_h100_202506.md", "notes=Interleaved 1F1B; compile"},
			workload.LayoutPin{TP: 8, PP: 8, DP: 8, CP: 1, MicroBatch: 4, Virtual: 2, ZeRO: 3, Recompute: "full"}, train.Details{Precision: "fp8", Mode: "pretrain"}, "fp8", workload.Full, "torchtitan", 8, 3200, 128 * 512, 8192, 256},
		{"paper of 2022, without sequence parallelism", []string{"model=GPT-22B", "layers=48", "hidden=6144", "heads=64", "kv_heads=64", "ffn=24576", "vocab=51200", "accelerator=A100-SXM-80GB", "accelerator_count=8", "precision=fp16", "seq_len=2048", "micro_batch=4", "global_batch=4", "tp=8", "pp=1", "dp=1", "vp=1", "fsdp_or_zero=none", "activation_recompute=full", "step_time_s=1.42", "framework=Megatron-LM 2022", "workload=pretrain"},
			workload.LayoutPin{TP: 8, PP: 1, DP: 1, CP: 1, MicroBatch: 4, Virtual: 1, Recompute: "full"}, train.Details{Unfused: true, WholeNorms: true, Precision: "fp16", Mode: "pretrain"}, "fp16", workload.Full, "megatron-lm", 8, 1600, 4 * 2048 / 1.42, 2048, 4},
		{"MLPerf, layout left open", []string{"model=Llama-2-70B", "accelerator=GB200", "accelerator_count=72", "precision=fp8/fp4 (see submission)", "seq_len=8192", "global_batch=9", "samples_per_s=50", "framework=NVIDIA NeMo Framework Release 25.09", "workload=finetune-LoRA", "source=mlcommons/training_results_v5.1 X/results/y", "notes=grad_accum=1; fixed packed sequence 8192"},
			workload.LayoutPin{TP: 1, PP: 1, DP: 9, CP: 8, MicroBatch: 1, Virtual: 1, ZeRO: 1}, train.Details{WeightBytes: 1, GradientBytes: 2, Precision: "fp8/fp4", Mode: "lora"}, "nvfp4", workload.LoRA, "mlperf-nemo", 72, 28800, 50 * 8192, 8192, 9},
		{"MaxText on a torus", []string{"model=llama3.1-70b", "accelerator=TPU-v7x(Ironwood)", "accelerator_count=64", "precision=fp8_full", "seq_len=8192", "global_batch=256", "tokens_per_s_total=264164", "framework=MaxText", "workload=pretrain"},
			workload.LayoutPin{PP: 1, Virtual: 1, ZeRO: 3}, train.Details{Precision: "fp8", Mode: "pretrain"}, "fp8", workload.Full, "maxtext", 64, 6400, 264164, 8192, 256},
		{"MaxText, sizes from its log", []string{"model=llama3.1-405b", "accelerator=TPU-v5p", "accelerator_count=512", "precision=bf16", "tokens_per_s_total=63804", "framework=MaxText", "workload=pretrain", "notes=non-pad tokens per step in log=8388608"},
			workload.LayoutPin{PP: 1, Virtual: 1, ZeRO: 3}, train.Details{Precision: "bf16", Mode: "pretrain"}, "bf16", workload.Full, "maxtext", 512, 51200, 63804, 8192, 1024},
		{"Neuron, two cores a chip", []string{"model=Llama-3.1-70B", "accelerator=Trainium1", "accelerator_count=512", "precision=bf16", "seq_len=8192", "micro_batch=1", "global_batch=1024", "tp=32", "pp=8", "dp=4", "fsdp_or_zero=zero1", "samples_per_s=7.94", "framework=NeuronX Distributed 2.24.0", "workload=pretrain"},
			workload.LayoutPin{TP: 16, PP: 8, DP: 4, CP: 1, MicroBatch: 1, Virtual: 1, ZeRO: 1}, train.Details{Precision: "bf16", Mode: "pretrain"}, "bf16", workload.Full, "neuron", 16, 800, 7.94 * 8192, 8192, 1024},
		{"LitGPT, quantized base", []string{"model=phi-1.5 1.3 B", "accelerator=A100-SXM-40GB", "accelerator_count=1", "precision=bf16-true+bnb.nf4", "micro_batch=1", "global_batch=128", "dp=1", "fsdp_or_zero=none", "activation_recompute=none", "peak_mem_gb=3.78", "framework=LitGPT 2023-10", "workload=finetune-LoRA", "notes=longest sample 1034-1304 tokens"},
			workload.LayoutPin{DP: 1, MicroBatch: 1, Recompute: "none"}, train.Details{WeightBytes: 0.5625, KeptInputs: true, WideNorms: true, Precision: "bf16", Mode: "qlora"}, "bf16", workload.QLoRA, "litgpt", 1, 200, 0, 1034, 128},
		{"torchtune, states of 8 bit", []string{"model=Llama-3.1-8B", "accelerator=RTX-A6000", "accelerator_count=1", "precision=bf16", "seq_len=2048", "micro_batch=2", "fsdp_or_zero=none", "tokens_per_s_total=2579", "framework=torchtune", "workload=finetune-full"},
			workload.LayoutPin{MicroBatch: 2, Recompute: "full"}, train.Details{GradientBytes: 0.1, OptimizerBytes: 2, Precision: "bf16", Mode: "full"}, "bf16", workload.Full, "torchtune", 1, 50, 2579, 2048, 2},
	} {
		r := rowOf(t, tt.row...)
		x, why, what := trainingRun(r)
		if why != "" {
			t.Errorf("%s: skipped, %s %s", tt.name, why, what)
			continue
		}
		if x.w.Layout != tt.layout {
			t.Errorf("%s: layout %+v, want %+v", tt.name, x.w.Layout, tt.layout)
		}
		if x.details != tt.details {
			t.Errorf("%s: details %+v, want %+v", tt.name, x.details, tt.details)
		}
		if x.w.Format != tt.format || x.w.Method != tt.method || x.w.Software.Framework != tt.framework || x.w.Sequence != tt.sequence || x.w.GlobalBatch != tt.batch {
			t.Errorf("%s: %s %s %s, %d x %d", tt.name, x.w.Format, x.w.Method, x.w.Software.Framework, x.w.GlobalBatch, x.w.Sequence)
		}
		if gbps, _ := x.g.NetworkGbps.Get(); x.g.PerNode != tt.per || gbps != tt.gbps {
			t.Errorf("%s: %d a machine with %v Gbit/s", tt.name, x.g.PerNode, gbps)
		}
		if got := throughput(r, x); got < tt.rate*(1-1e-9) || got > tt.rate*(1+1e-9) {
			t.Errorf("%s: %g tokens/s, want %g", tt.name, got, tt.rate)
		}
	}
}

func TestTrainingRowsLeftOut(t *testing.T) {
	base := []string{"model=Llama-3.1-8B", "accelerator=B200", "accelerator_count=8", "precision=bf16", "seq_len=8192", "global_batch=64", "tokens_per_s_total=1", "workload=pretrain"}
	for why, change := range map[Skip]string{
		NoModel: "model=Unheard-of-7B", NoChip: "accelerator=Z9000", NoFormat: "precision=ternary", NoSize: "global_batch=", Suspect: "notes=SUSPECT: int8", NoFigure: "tokens_per_s_total=",
	} {
		s := &Set{}
		trainingRow(s, rowOf(t, append(slices.Clone(base), change)...))
		if len(s.Cases) != 0 || len(s.Skipped) != 1 || s.Skipped[0].Reason != why {
			t.Errorf("%s: %d cases, skipped %+v", why, len(s.Cases), s.Skipped)
		}
	}
}

// Columns describe a network only if they make up the parameters that the row states.
func TestNetworksByTheirColumns(t *testing.T) {
	row := []string{"model=Unheard-of", "layers=32", "hidden=4096", "heads=32", "kv_heads=8", "ffn=14336", "vocab=128256"} // 8.03e9
	for stated, want := range map[string]bool{"params_b=": true, "params_b=8.03": true, "params_b=7": true, "params_b=47": false, "params_b=1": false} {
		if got := networkOf(rowOf(t, append(slices.Clone(row), stated)...)) != nil; got != want {
			t.Errorf("%s: described %v, want %v", stated, got, want)
		}
	}
}

// A figure in FLOPS alone becomes tokens by the arithmetic that its source counts: NeMo's formula masks nothing of attention.
func TestThroughputFromFLOPS(t *testing.T) {
	row := []string{"model=LLAMA3-8B", "accelerator=B200", "accelerator_count=128", "precision=fp8", "seq_len=131072", "global_batch=32", "tp=2", "pp=1", "cp=4", "tflops_per_gpu=1588", "workload=pretrain", "framework=NeMo"}
	at := func(source string) float64 {
		r := rowOf(t, append(row, "source="+source)...)
		x, why, _ := trainingRun(r)
		if why != "" {
			t.Fatal(why)
		}
		return throughput(r, x)
	}
	// 8.03e9 parameters without the look-up at 6 FLOPs, attention 12 x 32 x 4096 x 131072 FLOPs, of which a mask leaves half.
	weights, pairs := 6*7.504e9, 12*32*4096*131072.0
	for source, flop := range map[string]float64{"NVIDIA/NeMo docs": weights + pairs, "elsewhere": weights + pairs/2} {
		if got, want := at(source), 1588e12*128/flop; got < want*0.99 || got > want*1.01 {
			t.Errorf("%s: %g tokens/s, want %g", source, got, want)
		}
	}
}

// readTraining reads the whole table.
func readTraining(t *testing.T) (*Set, int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(sharedtest.Dir(t), "truth", "training_throughput.csv"))
	if err != nil {
		t.Fatal(err)
	}
	s := &Set{}
	if err := s.Read("training_throughput.csv", text); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return s, len(records) - 1
}

// No row is lost: each is a case, or two, or left out once under a reason.
func TestEveryTrainingRowIsAccountedFor(t *testing.T) {
	s, rows := readTraining(t)
	lines, skipped := map[int]bool{}, map[int]bool{}
	for _, c := range s.Cases {
		lines[c.Line] = true
		if c.Measured <= 0 || c.Tags.Chip == "" || c.Tags.Framework == "" || c.Source == "" {
			t.Errorf("line %d: %+v", c.Line, c)
		}
	}
	for _, k := range s.Skipped {
		if lines[k.Line] || skipped[k.Line] {
			t.Errorf("line %d is left out and not", k.Line)
		}
		skipped[k.Line] = true
	}
	if len(lines)+len(skipped) != rows || len(skipped) > rows/10 {
		t.Errorf("%d rows: %d read, %d left out", rows, len(lines), len(skipped))
	}
}

// What the embedded fits promise on groups and accelerators left out.
func TestTrainingFitsHoldOnWhatTheyHaveNotSeen(t *testing.T) {
	c := estimate.EmbeddedCurves()
	speed, memory := c.Calibrations[estimate.Training], c.Calibrations[estimate.PeakMemory]
	if e := speed.HeldOut; e.N < 600 || e.MdAPE > 0.1 || e.Coverage < 0.75 || e.Coverage > 0.9 || e.MdAPE > e.BaselineAPE/2 {
		t.Errorf("speed on groups left out: %+v", e)
	}
	if e := speed.Unseen; e.MdAPE > 0.2 || e.Coverage < 0.75 {
		t.Errorf("speed on accelerators left out: %+v", e)
	}
	if e := memory.HeldOut; e.N < 90 || e.MdAPE > 0.08 || e.P90 > 0.25 {
		t.Errorf("memory on groups left out: %+v", e)
	}
}

// A peak of memory is never foretold too low by more than 15 per cent.
func TestMemoryIsNotUnderestimated(t *testing.T) {
	s, _ := readTraining(t)
	for _, x := range Measure(s, estimate.EmbeddedCurves()).Results {
		if x.Target == estimate.PeakMemory && x.Value < 0.85*x.Measured {
			t.Errorf("line %d, %s: %.3g predicted, %.3g measured", x.Line, x.Label, x.Value, x.Measured)
		}
	}
}
