package model_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/model"
)

var update = flag.Bool("update", false, "write the expected faults of testdata/bad anew")

func parseFile(t testing.TB, path string) (*model.Model, error) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return model.ParseConfig(filepath.Base(path), text)
}

// A published config.json gives the same network as the embedded row of that name, which the reference table confirms.
func TestConfigsCountAsTheirRows(t *testing.T) {
	files, _ := filepath.Glob("testdata/good/*.json")
	if len(files) < 12 {
		t.Fatalf("only %d configurations", len(files))
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		t.Run(name, func(t *testing.T) {
			got, err := parseFile(t, path)
			if err != nil {
				t.Fatal(err)
			}
			want, err := model.Embedded().Get(name)
			if err != nil {
				t.Fatal(err)
			}
			type shape struct {
				Params    model.Params
				Attention []model.Attention
				Stack     []model.Layer
				MoE       *model.MoE
				Context   int
				MTP       int64
			}
			of := func(m *model.Model) shape {
				return shape{m.Params, m.Attention, m.Stack, m.MoE, m.MaxContext, m.MTP}
			}
			if diff := cmp.Diff(of(want), of(got)); diff != "" {
				t.Errorf("config and row differ (-row +config):\n%s", diff)
			}
		})
	}
}

func TestConfigFormats(t *testing.T) {
	const llama = `{"model_type":"llama","hidden_size":64,"num_hidden_layers":1,"num_attention_heads":2,"intermediate_size":64,"vocab_size":8,`
	for text, want := range map[string]model.Format{
		`"torch_dtype":"bfloat16"}`: "bf16",
		`"dtype":"float16"}`:        "fp16",
		`"quantization_config":{"quant_method":"fp8","weight_block_size":[128,128]}}`:                                                                   "fp8",
		`"quantization_config":{"quant_method":"awq","bits":4,"group_size":128}}`:                                                                       "awq",
		`"quantization_config":{"quant_method":"gptq","bits":4}}`:                                                                                       "gptq",
		`"quantization_config":{"quant_method":"gptq","bits":8}}`:                                                                                       "int8-weight-only",
		`"quantization_config":{"quant_method":"mxfp4"}}`:                                                                                               "mxfp4",
		`"quantization_config":{"quant_method":"bitsandbytes","load_in_4bit":true}}`:                                                                    "nf4",
		`"quantization_config":{"quant_method":"bitsandbytes","load_in_8bit":true}}`:                                                                    "int8",
		`"quantization_config":{"quant_method":"compressed-tensors","format":"nvfp4-pack-quantized"}}`:                                                  "nvfp4",
		`"quantization_config":{"quant_method":"compressed-tensors","format":"float-quantized"}}`:                                                       "fp8",
		`"quantization_config":{"quant_method":"compressed-tensors","format":"int-quantized"}}`:                                                         "int8",
		`"quantization_config":{"quant_method":"compressed-tensors","format":"pack-quantized","config_groups":{"group_0":{"weights":{"num_bits":4}}}}}`: "int4",
		`"quantization_config":{"quant_method":"compressed-tensors","format":"pack-quantized","config_groups":{"group_0":{"weights":{"num_bits":8}}}}}`: "int8-weight-only",
		`"quantization_config":{"quant_method":"modelopt","quant_algo":"NVFP4"}}`:                                                                       "nvfp4",
		`"quantization_config":{"quant_method":"hqq"}}`:                                                                                                 "",
		`"rope_theta":10000}`: "",
	} {
		m, err := model.ParseConfig("config.json", []byte(llama+text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if m.NativeFormat != want {
			t.Errorf("%s: %q, want %q", text, m.NativeFormat, want)
		}
		if m.NativeFormat != "" {
			if _, err := model.LookupFormat(string(m.NativeFormat)); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}

func TestWindows(t *testing.T) {
	head := `{"hidden_size":64,"num_hidden_layers":6,"num_attention_heads":2,"intermediate_size":64,"vocab_size":8,`
	for text, want := range map[string][2]int{ // full layers, windowed layers
		`"model_type":"llama"}`:                                                                             {6, 0},
		`"model_type":"mistral","sliding_window":4096}`:                                                     {0, 6},
		`"model_type":"mistral","sliding_window":null}`:                                                     {6, 0},
		`"model_type":"qwen2","sliding_window":4096,"use_sliding_window":false}`:                            {6, 0},
		`"model_type":"qwen2","sliding_window":4096,"use_sliding_window":true,"max_window_layers":4}`:       {4, 2},
		`"model_type":"gemma2"}`:                                                                            {3, 3},
		`"model_type":"gemma3_text","sliding_window":512}`:                                                  {1, 5},
		`"model_type":"gemma3_text","sliding_window":512,"sliding_window_pattern":3}`:                       {2, 4},
		`"model_type":"cohere2","sliding_window_pattern":4}`:                                                {1, 5},
		`"model_type":"gpt_oss","num_key_value_heads":2,"num_local_experts":4,"num_experts_per_tok":1}`:     {3, 3},
		`"model_type":"llama4_text","num_key_value_heads":2,"num_local_experts":4,"num_experts_per_tok":1}`: {1, 5},
		`"model_type":"llama4_text","num_key_value_heads":2,"no_rope_layers":[1,0,1,0,1,0]}`:                {3, 3},
		`"model_type":"qwen3","sliding_window":128,"use_sliding_window":true,"layer_types":["full_attention","sliding_attention","full_attention","full_attention","full_attention","full_attention"]}`: {5, 1},
	} {
		if strings.Contains(text, "mistral") {
			text = strings.Replace(text, `"mistral"`, `"mistral","num_key_value_heads":2`, 1)
		}
		m, err := model.ParseConfig("config.json", []byte(head+strings.Replace(text, `"gemma3_text"`, `"gemma3_text","num_key_value_heads":2`, 1)))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var got [2]int
		for _, a := range m.Attention {
			if a.Window > 0 {
				got[1] += a.Layers
			} else {
				got[0] += a.Layers
			}
		}
		if got != want {
			t.Errorf("%s: %v full and windowed layers, want %v", text, got, want)
		}
	}
}

func TestUnknownDecoderIsAssumed(t *testing.T) {
	text := `{"model_type":"newcomer","hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":14336,"vocab_size":128256}`
	m, err := model.ParseConfig("config.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if m.Params.Total != 8030261248 || m.Notes != "architecture.assumed" {
		t.Errorf("%d parameters, notes %q", m.Params.Total, m.Notes)
	}
}

// Every fault of a bad file comes at once, with its line; the expected text lies beside the file.
func TestBadConfigs(t *testing.T) {
	files, _ := filepath.Glob("testdata/bad/*.json")
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			m, err := parseFile(t, path)
			if err == nil {
				t.Fatalf("accepted: %+v", m)
			}
			golden := strings.TrimSuffix(path, ".json") + ".want"
			if *update {
				if err := os.WriteFile(golden, []byte(err.Error()+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, _ := os.ReadFile(golden)
			if diff := cmp.Diff(string(want), err.Error()+"\n"); diff != "" {
				t.Errorf("faults differ (-want +got):\n%s", diff)
			}
			for _, e := range problem.All(err) {
				if e.Kind != problem.Input || e.Line == 0 || e.File == "" {
					t.Errorf("%v: kind %v at %q line %d", e, e.Kind, e.File, e.Line)
				}
			}
		})
	}
}

func TestHostileBytes(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 10_000) + "1" + strings.Repeat("}", 10_000)
	for name, c := range map[string]struct {
		text []byte
		code string
	}{
		"nested objects": {[]byte(deep), "config.too_deep"},
		"nested arrays":  {bytes.Repeat([]byte("["), 1<<20), "config.too_deep"},
		"utf-16 le":      {[]byte("\xff\xfe{\x00}\x00"), "config.encoding"},
		"utf-16 be":      {[]byte("\xfe\xff\x00{\x00}"), "config.encoding"},
		"utf-16 bare":    {[]byte("{\x00}\x00"), "config.encoding"},
		"bom":            {[]byte("\xef\xbb\xbf{}"), "config.missing"},
		"latin-1":        {[]byte("{\"a\":\"\xe9\"}"), "config.encoding"},
		"17 MiB":         {bytes.Repeat([]byte(" "), 17<<20), "config.too_large"},
		"many values":    {[]byte("[" + strings.Repeat("0,", 1<<20) + "0]"), "config.too_many_values"},
		"unclosed":       {[]byte(`{"model_type": "lla`), "config.not_json"},
		"bad escape":     {[]byte(`{"a": "\x"}`), "config.not_json"},
		"leading zero":   {[]byte(`{"a": 01}`), "config.not_json"},
		"NaN":            {[]byte(`{"a": NaN}`), "config.not_json"},
		"two values":     {[]byte(`{} {}`), "config.not_json"},
		"null":           {[]byte("null"), "config.root_not_object"},
		"spaces":         {[]byte(" \n "), "config.empty"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := model.ParseConfig("config.json", c.text)
			var e *problem.Error
			if !errors.As(err, &e) || e.Code != c.code {
				t.Errorf("got %v, want %s", err, c.code)
			}
		})
	}
}

// The largest numbers that pass the bounds must still sum without wrapping around.
func TestLargestNetworkDoesNotOverflow(t *testing.T) {
	text := `{"model_type":"mixtral","hidden_size":131072,"num_hidden_layers":1024,"num_attention_heads":16384,"num_key_value_heads":16384,
		"head_dim":4096,"intermediate_size":1048576,"vocab_size":16777216,"num_local_experts":4096,"num_experts_per_tok":4096}`
	m, err := model.ParseConfig("config.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if m.Params.Total <= 0 || m.Params.Total != m.Params.Sum() || m.Params.Active != m.Params.Total {
		t.Errorf("%+v", m.Params)
	}
}

func FuzzParseConfig(f *testing.F) {
	for _, pattern := range []string{"testdata/good/*.json", "testdata/bad/*.json"} {
		files, _ := filepath.Glob(pattern)
		for _, path := range files {
			text, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := model.ParseConfig("config.json", text)
		if (m == nil) == (err == nil) {
			t.Fatalf("model %v, error %v", m, err)
		}
		if err != nil {
			if len(problem.All(err)) == 0 || problem.All(err)[0].Kind != problem.Input {
				t.Fatalf("not an input fault: %v", err)
			}
			return
		}
		if m.Params.Sum() != m.Params.Total || m.Params.Active > m.Params.Total || m.Params.Active <= 0 {
			t.Fatalf("parts of %+v do not sum", m.Params)
		}
		m.KVBytes(1000, 16)
		m.SequenceFLOPs(1000)
	})
}
