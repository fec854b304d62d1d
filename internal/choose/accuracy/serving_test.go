package accuracy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/serve"
	"github.com/rackrate/rackrate/internal/sharedtest"
)

const servingHead = "model,accelerator,accelerator_count,tp,precision,engine,isl,osl,concurrency_or_batch,source,ttft_ms,tpot_ms,attention_dp,moe_tp,moe_ep,moe_quant,serving_mode,prefill_workers,prefill_tp,prefill_attention_dp,decode_workers,decode_tp,decode_attention_dp,notes\n"

func TestServingLayouts(t *testing.T) {
	for _, tt := range []struct {
		name, row string
		want      serve.Spread
		skip      Skip
	}{
		{"as stated", "DeepSeek-R1,H200-SXM-141GB,8,8,fp8,trtllm,1024,1024,64,x,300,20,1,8,1,fp8,aggregated,,,,,,,", serve.Spread{TP: 8, DP: 1, EP: 1}, ""},
		{"experts whole", "DeepSeek-R1,H200-SXM-141GB,8,8,fp8,trtllm,1024,1024,64,x,300,20,1,1,8,fp8,aggregated,,,,,,,", serve.Spread{TP: 8, DP: 1, EP: 8}, ""},
		{"attention apart", "DeepSeek-R1,H200-SXM-141GB,8,1,fp8,trtllm,1024,1024,64,x,300,20,8,1,8,fp8,aggregated,,,,,,,", serve.Spread{TP: 1, DP: 8, EP: 8}, ""},
		{"eight ranks counted twice", "DeepSeek-R1,H200-SXM-141GB,64,64,fp8,trtllm,1024,1024,64,x,300,20,1,8,8,fp8,aggregated,,,,,,,", serve.Spread{TP: 8, DP: 1, EP: 8}, ""},
		{"and apart", "DeepSeek-R1,H200-SXM-141GB,64,1,fp8,trtllm,1024,1024,64,x,300,20,64,8,8,fp8,aggregated,,,,,,,", serve.Spread{TP: 1, DP: 8, EP: 8}, ""},
		{"four counted twice", "MiniMax-M2.5,H100-SXM-80GB,16,4,fp8,vllm 0.18.0,1024,1024,4,x,85,10,4,1,16,fp8,aggregated,,,,,,,", serve.Spread{TP: 4, DP: 1, EP: 4}, ""},
		{"a dense network", "Llama-3.1-70B,H100-SXM-80GB,4,4,fp8,vllm,1024,1024,4,x,85,10,1,4,1,fp8,aggregated,,,,,,,", serve.Spread{TP: 4, DP: 1, EP: 1}, ""},
		{"ranks that no layout explains", "Qwen3-235B-A22B-FP8,H200-SXM-141GB,1,1,fp8,vllm,1000,100,8,x,350,50,1,2,1,fp8,aggregated,,,,,,,", serve.Spread{}, NoSize},
		{"heads that do not divide", "DeepSeek-R1,GB200,72,72,fp8,sglang,1024,1024,64,x,300,20,1,72,1,fp8,aggregated,,,,,,,", serve.Spread{}, Refused},
		{"workers not stated", "DeepSeek-R1,GB200,,8,fp8,sglang,1024,1024,64,x,300,20,1,8,1,fp8,disaggregated,,4,1,,8,1,", serve.Spread{}, NoSize},
		{"workers", "DeepSeek-R1,GB200,36,8,fp4,trtllm,1024,1024,64,x,300,20,1,1,8,nvfp4,disaggregated,1,4,1,4,8,1,", serve.Spread{TP: 8, DP: 1, EP: 8}, ""},
		{"no network", "Nonesuch-9B,GB200,36,8,fp4,trtllm,1024,1024,64,x,300,20,1,1,8,nvfp4,aggregated,,,,,,,", serve.Spread{}, NoModel},
		{"no chip", "DeepSeek-R1,Z9000,36,8,fp4,trtllm,1024,1024,64,x,300,20,1,1,8,nvfp4,aggregated,,,,,,,", serve.Spread{}, NoChip},
		{"no clients", "DeepSeek-R1,B200,8,8,fp4,trtllm,1024,1024,,x,300,20,1,1,8,nvfp4,aggregated,,,,,,,", serve.Spread{}, NoSize},
		{"doubted", "DeepSeek-R1,B200,8,8,fp4,trtllm,1024,1024,4,x,300,20,1,1,8,nvfp4,aggregated,,,,,,,SUSPECT", serve.Spread{}, Suspect},
	} {
		s := read(t, servingHead+tt.row+"\n")
		if len(s.Cases)+len(s.Skipped) != 2 {
			t.Fatalf("%s: %d cases, %d skips", tt.name, len(s.Cases), len(s.Skipped))
		}
		if tt.skip != "" {
			if len(s.Skipped) != 2 || s.Skipped[0].Reason != tt.skip || s.Skipped[0].What == "" {
				t.Errorf("%s: %+v", tt.name, s.Skipped)
			}
			continue
		}
		for _, k := range s.Cases {
			want := fmt.Sprintf("tp %d dp %d ep %d,", tt.want.TP, tt.want.DP, tt.want.EP)
			if !strings.Contains(k.Label, want) {
				t.Errorf("%s: %q, not %q", tt.name, k.Label, want)
			}
			if p, why := k.Predict(estimate.EmbeddedCurves()); why != "" || !(p.Low <= p.Value && p.Value <= p.High && p.Value > 0) || k.Baseline <= 0 {
				t.Errorf("%s, %s: %+v %s, naive %g", tt.name, k.Target, p, why, k.Baseline)
			}
		}
	}
}

// A row without a rate of tokens is not of a language model's bulk work; lengths, layouts and what a scenario allows are read.
func TestInferenceRows(t *testing.T) {
	const head = "model,accelerator,accelerator_count,tp,pp,precision,engine,isl,osl,concurrency_or_batch,scenario,tokens_per_s_total,output_tokens_per_s,requests_per_s,ttft_ms_p50,tpot_ms_p50,source,ttft_ms_mean,tpot_ms_mean,latency_ms_p50,notes\n"
	for _, tt := range []struct {
		name, row string
		target    estimate.Target
		mode      string
		skip      Skip
	}{
		{"a table of the most", "Llama-3.1-8B,H100-SXM-80GB,1,1,1,fp8,TensorRT-LLM 0.17,128,128,max,offline-max-throughput,,28836.8,,,,a/b c,,,,", estimate.Offline, serve.Saturated, ""},
		{"layout open", "Qwen3-235B-A22B,B200,4,,1,fp4,TensorRT-LLM 1.x,1000,1000,max,offline-max-throughput,,50000,,,,a/b c,,,,", estimate.Offline, serve.Saturated, ""},
		{"a batch", "Llama-7B,A100-SXM-80GB,1,1,1,fp16,TensorRT-LLM 0.6.1,128,128,384,static-batch,,5586,,,,a/b c,,,,", estimate.Offline, staticBatch, ""},
		{"no batch", "Llama-7B,A100-SXM-80GB,1,1,1,fp16,TensorRT-LLM 0.6.1,128,128,,static-batch,,5586,,,,a/b c,,,,", estimate.Offline, "", NoSize},
		{"one stream", "Llama-3-8B,RTX-4090,4,,,Q4_K_M,llama.cpp (2024-05),,1024,1,llama-bench-decode,117,117,,,,a/b c,,,,", estimate.Offline, oneStream, ""},
		{"prompts", "Llama-3-8B,RTX-4090,4,,,Q4_K_M,llama.cpp (2024-05),1024,,1,llama-bench-prefill,9609,,,,,a/b c,,,,", estimate.Offline, promptOnly, ""},
		{"cores of Neuron", "Llama-3-70B,Trainium1,16,32,1,bf16 compute/bf16 weights,Transformers NeuronX,2048,2048,4,static-batch-batch,,100,,,,a/b c,,,,", estimate.Offline, staticBatch, ""},
		{"MLPerf", "Llama-2-70B,H200-SXM-141GB,8,,,fp8,TensorRT 10.11,,273,,mlperf-v5.1-offline,,34000,,,,mlcommons/x y,,,100,", estimate.Offline, submission, ""},
		{"under limits", "Llama-2-70B,H200-SXM-141GB,8,,,fp8,TensorRT 10.11,,273,,mlperf-v5.1-interactive,,24000,,,,mlcommons/x y,,,100,", estimate.Offline, interactive, ""},
		{"what MLPerf does not ask", "Llama-3.1-70B,H200-SXM-141GB,8,,,fp8,TensorRT 10.11,,273,,mlperf-v5.1-offline,,34000,,,,mlcommons/x y,,,100,", estimate.Offline, "", NotModelled},
		{"a first token", "Llama-2-70B,H100-SXM-80GB,4,4,1,fp8,TensorRT-LLM 0.5,2048,1,1,first-token-latency,,,,109,,a/b c,,,,", estimate.TTFT, alone, ""},
		{"at an offered rate", "Llama-3.1-8B,H100-SXM-80GB,1,1,1,bf16,TensorRT-LLM 0.14,467,256,,online-qps-2,1423,504,2,,,a/b c,23,8,,", estimate.TPOT, serve.Aggregated, ""},
		{"eager", "Llama-2-13B,A100-SXM-40GB,1,1,1,bf16-true,LitGPT 2023-10 eager,,,1,single-stream,,24.8,,,,a/b c,,,,", estimate.Offline, "", NotModelled},
		{"no network of ours", "Nonesuch-9B,B200,8,,,fp8,vllm,100,100,max,offline-max-throughput,,5,,,,a/b c,,,,", estimate.Offline, "", NoModel},
	} {
		s := read(t, head+tt.row+"\n")
		if tt.skip != "" {
			if len(s.Cases) != 0 || len(s.Skipped) != 1 || s.Skipped[0].Reason != tt.skip || s.Skipped[0].Target != tt.target {
				t.Errorf("%s: %d cases, %+v", tt.name, len(s.Cases), s.Skipped)
			}
			continue
		}
		found := false
		for _, k := range s.Cases {
			p, why := k.Predict(estimate.EmbeddedCurves())
			if why != "" || !(p.Value > k.Measured/10 && p.Value < 10*k.Measured) || k.Baseline <= 0 {
				t.Errorf("%s: %g for %g, %s; naive %g", tt.name, p.Value, k.Measured, why, k.Baseline)
			}
			found = found || k.Target == tt.target && k.Tags.Mode == tt.mode
		}
		if !found {
			t.Errorf("%s: %+v %+v", tt.name, s.Cases, s.Skipped)
		}
	}
}

// Each row of a table ends as a case or a skip of each of its targets, and the calibrations hold on what they have not seen.
func TestServingTables(t *testing.T) {
	for _, tt := range []struct {
		table   string
		targets map[estimate.Target]float64 // the most that the median error on groups left out may be
	}{
		{"inference_serving.csv", map[estimate.Target]float64{estimate.TPOT: 0.15, estimate.TTFT: 0.25}},
		{"inference_throughput.csv", map[estimate.Target]float64{estimate.Offline: 0.15}},
	} {
		s := sharedSet(t, "truth/"+tt.table)
		report := Measure(s, estimate.EmbeddedCurves())
		ends := map[int]bool{}
		for i := range report.Results {
			ends[report.Results[i].Line] = true
		}
		for _, x := range report.Skipped {
			ends[x.Line] = true
		}
		if rows := sharedtest.Rows(t, "truth", tt.table); len(ends) != len(rows) {
			t.Errorf("%s: %d of %d rows accounted for", tt.table, len(ends), len(rows))
		}
		for target, most := range tt.targets {
			k := estimate.EmbeddedCurves().Calibrations[target]
			if k == nil {
				t.Fatalf("no calibration of %s", target)
			}
			if e := k.HeldOut; e.MdAPE > most || e.Coverage < 0.75 || e.Coverage > 0.90 {
				t.Errorf("%s on groups left out: %+v", target, e)
			}
			if e := k.Unseen; e.MdAPE > 0.25 {
				t.Errorf("%s on accelerators left out: %+v", target, e)
			}
			mine := slices.DeleteFunc(slices.Clone(report.Results), func(x Result) bool { return x.Target != target })
			if e := ErrorOf(mine); e.MdAPE > k.HeldOut.MdAPE*1.1 || e.N < k.N*9/10 {
				t.Errorf("%s: %+v, its calibration was fitted to %d", target, e, k.N)
			}
		}
	}
}
