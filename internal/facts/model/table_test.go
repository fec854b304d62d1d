package model_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rackrate/rackrate/data"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/model"
	"pgregory.net/rapid"
)

func get(t testing.TB, name string) *model.Model {
	t.Helper()
	m, err := model.Embedded().Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestEmbeddedRows(t *testing.T) {
	table, err := model.Load(data.FS)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(table.All()); n < 150 {
		t.Errorf("only %d models", n)
	}
	for _, m := range table.All() {
		if m.Params.Sum() != m.Params.Total || m.Params.Total <= 0 || m.Params.Active > m.Params.Total {
			t.Errorf("%s: parts of %+v do not sum", m.Name, m.Params)
		}
		if want, ok := m.Published.Get(); ok && want != m.Params.Total {
			t.Errorf("%s: counted %d, published %d", m.Name, m.Params.Total, want)
		}
		layers := 0
		for _, a := range m.Attention {
			layers += a.Layers
		}
		if m.Class != model.Generator && m.Family != "resnet" && len(m.Stack) > 0 && layers != m.Layers {
			t.Errorf("%s: %d of %d layers attend", m.Name, layers, m.Layers)
		}
		if m.Name != strings.ToLower(m.Name) || get(t, m.Name).Name != m.Name {
			t.Errorf("%s: not its own name", m.Name)
		}
		if m.HF != "" && get(t, m.HF).Name != m.Name {
			t.Errorf("%s: hub name %s finds another", m.Name, m.HF)
		}
		if m.NativeFormat != "" {
			if _, err := model.LookupFormat(string(m.NativeFormat)); err != nil {
				t.Errorf("%s: %v", m.Name, err)
			}
		}
	}
}

func TestNamesPeopleWrite(t *testing.T) {
	for name, want := range map[string]string{
		"Llama-3.1-70B": "llama-3.1-70b", "llama 3.1 70b": "llama-3.1-70b", "LLAMA3.1_70B": "llama-3.1-70b", "llama-3-1-70b": "llama-3.1-70b",
		"meta-llama/Llama-3.1-70B-Instruct": "llama-3.1-70b", "Meta-Llama-3.1-8B-Instruct": "llama-3.1-8b", "meta-llama/Llama-2-7b-chat-hf": "llama-2-7b",
		"LLAMA3_8B": "llama-3-8b", "GPT OSS 120B": "gpt-oss-120b", "openai/gpt-oss-20b": "gpt-oss-20b", "DeepSeekV3": "deepseek-v3",
		"deepseek-ai/DeepSeek-R1-0528": "deepseek-v3", "DeepSeek-R1": "deepseek-v3", "Qwen3_235B_a22B": "qwen3-235b-a22b", "Qwen3-235B-A22B-Instruct-2507": "qwen3-235b-a22b",
		"mistralai/Mixtral-8x7B-Instruct-v0.1": "mixtral-8x7b", "Mistral-7B-Instruct-v0.3": "mistral-7b-v0.3", "mistral 7b": "mistral-7b-v0.1",
		"google/gemma-3-27b-it": "gemma-3-27b", "SDXL": "sdxl-base-1.0", "black-forest-labs/FLUX.1-dev": "flux.1-dev", "flux1-dev": "flux.1-dev",
		"ResNet50": "resnet-50", "BERT-Large": "bert-large", "bert-large-uncased": "bert-large", "ViT-B/16": "vit-b-16", "opt-1.3b": "opt-1.3b", "OPT-13B": "opt-13b",
		"Whisper large v3": "whisper-large-v3", "gpt-2": "gpt2", "qwen25-7b": "qwen2.5-7b", "Kimi_K2": "kimi-k2", "MiniMax-M2.5": "minimax-m2",
	} {
		m, err := model.Embedded().Get(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if m.Name != want {
			t.Errorf("%s is %s, want %s", name, m.Name, want)
		}
	}
}

func TestQuantizedNameSetsFormat(t *testing.T) {
	m := get(t, "Qwen/Qwen3-235B-A22B-FP8")
	if m.NativeFormat != "fp8" || get(t, "qwen3-235b-a22b").NativeFormat != "bf16" {
		t.Errorf("formats %s and %s", m.NativeFormat, get(t, "qwen3-235b-a22b").NativeFormat)
	}
	if m := get(t, "DeepSeek-V3.1-NVFP4"); m.NativeFormat != "nvfp4" {
		t.Errorf("format %s", m.NativeFormat)
	}
}

func TestUnknownNameSuggests(t *testing.T) {
	for name, want := range map[string]string{"lama-3.1-70b": "llama-3.1-70b", "qwen3-30b-a3": "qwen3-30b-a3b", "mixtral-8x8b-instruct": "mixtral-8x7b"} {
		_, err := model.Embedded().Get(name)
		var e *problem.Error
		if !errors.As(err, &e) || e.Code != "model.unknown" || e.Kind != problem.Input || e.Args["Name"] != name || !slices.Contains(e.Suggest, want) {
			t.Errorf("%s: %v, suggests %v, want %s", name, err, e.Suggest, want)
		}
	}
	for _, name := range []string{"", "/", "-", "instruct", strings.Repeat("x", 1<<20)} {
		if m, err := model.Embedded().Get(name); err == nil {
			t.Errorf("%.10q is %s", name, m.Name)
		}
	}
}

// Every fault of every row comes back, with its line.
func TestLoadReportsAllFaults(t *testing.T) {
	const good = `"source":"s","as_of":"2026-11-30","confidence":"verified"`
	const llama = `"config":{"model_type":"llama","num_hidden_layers":1,"hidden_size":64,"num_attention_heads":2,"intermediate_size":64,"vocab_size":8}`
	rows := strings.Join([]string{
		`{"name":"a",` + good + `,` + llama + `}`,
		`{"name":"a",` + good + `,` + llama + `}`,
		`{"name":"b",` + good + `,"extra":1,` + llama + `}`,
		`{"name":"c",` + good + `,"config":{"model_type":"llama","hiden_size":64}}`,
		`{"name":"d","as_of":"yesterday","confidence":"sure",` + llama + `}`,
		`{"name":"e",` + good + `}`,
		`{"name":"f",` + good + `,"stated":{"class":"poem","params":-1}}`,
		`not json`,
	}, "\n")
	_, err := model.Load(fstest.MapFS{"models/models.jsonl": {Data: []byte(rows)}})
	perLine := map[int]int{}
	for _, e := range problem.All(err) {
		if e.Code != "data.bad_row" {
			t.Errorf("code %s", e.Code)
		}
		perLine[e.Line]++
	}
	if diff := cmp.Diff(map[int]int{2: 1, 3: 1, 4: 6, 5: 2, 6: 1, 7: 2, 8: 1}, perLine); diff != "" {
		t.Errorf("faults by line (-want +got):\n%s\n%v", diff, err)
	}
	if _, err := model.Load(fstest.MapFS{}); err == nil {
		t.Error("a missing file passed")
	}
}

func TestGetNeverPanics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, err := model.Embedded().Get(rapid.String().Draw(t, "name"))
		if (m == nil) == (err == nil) {
			t.Fatalf("model %v, error %v", m, err)
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := model.Load(data.FS); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGet(b *testing.B) {
	table := model.Embedded()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := table.Get("meta-llama/Llama-3.1-70B-Instruct"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseConfig(b *testing.B) {
	text := []byte(`{"model_type":"llama","num_hidden_layers":126,"hidden_size":16384,"num_attention_heads":128,"num_key_value_heads":8,"intermediate_size":53248,"vocab_size":128256}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := model.ParseConfig("config.json", text); err != nil {
			b.Fatal(err)
		}
	}
}
