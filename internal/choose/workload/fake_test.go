package workload

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// A small world for the tests, so that they do not move when a fact is mended.
var (
	fakeModels = map[string]*model.Model{
		"llama-3.1-70b": {Name: "llama-3.1-70b", Class: model.Decoder, MaxContext: 131072, NativeFormat: "bf16"},
		"llama-3.1-8b":  {Name: "llama-3.1-8b", Class: model.Decoder, MaxContext: 131072, NativeFormat: "bf16"},
		"qwen3-32b":     {Name: "qwen3-32b", Class: model.Decoder, MaxContext: 40960, NativeFormat: "bf16"},
		"deepseek-v3":   {Name: "deepseek-v3", Class: model.Decoder, MaxContext: 163840, NativeFormat: "fp8"},
		"gpt-2":         {Name: "gpt-2", Class: model.Decoder, MaxContext: 1024},
		"flux.1-dev": {Name: "flux.1-dev", Class: model.Generator, NativeFormat: "bf16",
			Diffusion: &model.Diffusion{Steps: 28, Guidance: 1, RefWidth: 1024, RefHeight: 1024}},
		"resnet-50":        {Name: "resnet-50", Class: model.Vision},
		"whisper-large-v3": {Name: "whisper-large-v3", Class: model.EncoderDecoder, MaxContext: 448, NativeFormat: "fp16", PerSample: unit.Some[unit.FLOP](2e12)},
	}
	fakeFormats = map[string]model.FormatInfo{
		"bf16": {Name: "bf16", Bits: 16}, "fp16": {Name: "fp16", Bits: 16}, "fp8": {Name: "fp8", Bits: 8},
		"fp32": {Name: "fp32", Bits: 32}, "awq-int4": {Name: "awq-int4", Bits: 4.25, WeightOnly: true},
	}
	fakeChips = map[string]*accelerator.Accelerator{
		"rtx-4090": {Name: "RTX-4090", NominalGB: unit.Some(24.0)}, "a100-sxm-80gb": {Name: "A100-SXM-80GB"},
		"l4": {Name: "L4"}, "h100-sxm-80gb": {Name: "H100-SXM-80GB"},
	}
)

func fakeFacts() Facts {
	return Facts{
		Model: func(name string) (*model.Model, error) {
			short := name[strings.LastIndex(name, "/")+1:]
			if m := fakeModels[strings.ToLower(short)]; m != nil {
				return m, nil
			}
			return nil, problem.New(problem.Input, "model.unknown", problem.Args{"Model": name}).With(problem.Nearest(name, keysOf(fakeModels), 3)...)
		},
		ModelConfig: func(name string, data []byte) (*model.Model, error) {
			if !strings.Contains(string(data), "hidden_size") {
				return nil, errors.New("no hidden_size")
			}
			return &model.Model{Name: name, Class: model.Decoder, NativeFormat: "bf16"}, nil
		},
		Format: func(text string) (model.FormatInfo, error) {
			if f, ok := fakeFormats[strings.ToLower(text)]; ok {
				return f, nil
			}
			return model.FormatInfo{}, problem.New(problem.Input, "format.unknown", problem.Args{"Format": text})
		},
		Chip: func(text string) (*accelerator.Accelerator, error) {
			if a := fakeChips[strings.ToLower(text)]; a != nil {
				return a, nil
			}
			return nil, problem.New(problem.Input, "accelerator.unknown", problem.Args{"Name": text})
		},
		Selectors:     fakeSelectors,
		Provider:      among("aws", "gcp", "azure", "lambda"),
		Place:         among("eu", "us", "cn", "na", "de", "eu-west-1", "us-east-1"),
		Residency:     among("GDPR", "CN-PIPL"),
		Certification: among("SOC2", "ISO27001", "HIPAA"),
		Framework:     among("pytorch", "jax", "vllm"),
		Stack:         among("CUDA", "ROCm"),
		Need:          among("flash-attention", "fp8", "nccl"),
		Laws: func(place string) ([]string, bool) {
			return map[string][]string{"eu": {"GDPR"}, "de": {"GDPR"}, "eu-west-1": {"GDPR"}, "cn": {"CN-PIPL"}}[place], place != "na"
		},
		Currency: func(c money.Currency) bool { return c == money.USD || c == money.CNY || c == money.EUR },
	}
}

// fakeSelectors knows NAME:COUNT only.
func fakeSelectors(text string) ([]accelerator.Selector, error) {
	name, count, _ := strings.Cut(text, ":")
	if strings.Contains(name, "BAD") {
		return nil, problem.New(problem.Input, "accelerator.selector", problem.Args{"Text": text})
	}
	s := accelerator.Selector{Text: text}
	if len(count) == 1 {
		s.MinCount, s.MaxCount = float64(count[0]-'0'), float64(count[0]-'0')
	}
	return []accelerator.Selector{s}, nil
}

func among(known ...string) Lookup {
	return func(text string) (string, []string, bool) {
		for _, k := range known {
			if strings.EqualFold(k, text) {
				return k, nil, true
			}
		}
		return "", problem.Nearest(text, known, 3), false
	}
}

func keysOf[V any](m map[string]V) []string {
	var ks []string
	for k := range m {
		ks = append(ks, k)
	}
	return ks
}

// oneFile is an opener that finds the one config.json of the tests, their one trace and their one benchmark.
func oneFile(path string) ([]byte, error) {
	if strings.HasSuffix(path, "requests.csv.gz") {
		return evenTrace(200), nil
	}
	if strings.HasSuffix(path, "opendata.jsonl") {
		return []byte(submission("RTX-4090", "OPTIX", "monster", 6000)), nil
	}
	if strings.HasSuffix(path, "my-model/config.json") {
		return []byte(`{"hidden_size": 4096}`), nil
	}
	return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
}

// evenTrace is so many requests, two a second, with prompts of 100 and 300 tokens in turn and answers of 50, in gzip.
func evenTrace(n int) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	fmt.Fprintln(z, "TIMESTAMP,ContextTokens,GeneratedTokens")
	for i := range n {
		fmt.Fprintf(z, "2023-11-16 18:%02d:%02d.%d00000,%d,50\r\n", i/120, i/2%60, i%2*5, 100+i%2*200)
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}
