package model_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/model"
)

func TestFormatSpellings(t *testing.T) {
	for text, want := range map[string]model.Format{
		"BF16": "bf16", "bfloat16": "bf16", "half": "fp16", "float32": "fp32", "e4m3": "fp8", "FP8-E4M3": "fp8", "w8a8": "int8", "w4a16": "int4",
		"AWQ": "awq", "gptq-int4": "gptq", "Q4_K_M": "q4_k_m", "q4km": "q4_k_m", "gguf": "q4_k_m", "Q8_0": "q8_0", "NVFP4": "nvfp4", "fp4": "nvfp4",
		"MXFP4": "mxfp4", "qlora": "nf4", "4-bit": "int4", "int8 weight only": "int8-weight-only",
	} {
		f, err := model.LookupFormat(text)
		if err != nil || f.Name != want {
			t.Errorf("%s is %s (%v), want %s", text, f.Name, err, want)
		}
	}
	_, err := model.LookupFormat("bf61")
	var e *problem.Error
	if !errors.As(err, &e) || e.Code != "format.unknown" || !slices.Contains(e.Suggest, "bf16") {
		t.Errorf("%v", err)
	}
}

// Bits hold the scales, by each layout's own arithmetic.
func TestFormatBits(t *testing.T) {
	for name, want := range map[string]float64{
		"awq": 4 + 16./128 + 4./128, "gptq": 4 + 16./128 + 4./128, "int4": 4 + 16./128, "nvfp4": 4 + 8./16, "mxfp4": 4 + 8./32,
		"q8_0": 8 + 16./32, "q4_0": 4 + 16./32, "q6_k": 210 * 8 / 256., "bf16": 16, "fp32": 32, "fp8": 8,
	} {
		if f, err := model.LookupFormat(name); err != nil || f.Bits != want {
			t.Errorf("%s takes %v bits (%v), want %v", name, f.Bits, err, want)
		}
	}
}

func TestFormatFaults(t *testing.T) {
	head := "name,bits,compute,weight_only,experts_only,keeps_head,aliases,source,as_of,notes\n"
	for name, rows := range map[string]string{
		"bits":      "x,many,bf16,no,no,no,,s,2026-11-30,\n",
		"precision": "x,16,bf61,no,no,no,,s,2026-11-30,\n",
		"yes or no": "x,16,bf16,maybe,no,no,,s,2026-11-30,\n",
		"source":    "x,16,bf16,no,no,no,,,2026-11-30,\n",
		"date":      "x,16,bf16,no,no,no,,s,today,\n",
		"columns":   "x,16\n",
		"taken":     "x,16,bf16,no,no,no,,s,2026-11-30,\ny,16,bf16,no,no,no,X,s,2026-11-30,\n",
	} {
		_, err := model.LoadFormats(fstest.MapFS{"formats.csv": {Data: []byte(head + rows)}})
		if err == nil || !strings.Contains(err.Error(), "data.bad_row") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
