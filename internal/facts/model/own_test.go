package model_test

import (
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// tiny is a decoder of 7,504 parameters: 8 x 16 in and out, one layer of 4 x 16 x 16 + 3 x 16 x 128 + 2 x 16 and a norm of 16.
const tiny = `{
  "model_type": "llama", "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 128,
  "vocab_size": 8, "max_position_embeddings": 512, "torch_dtype": "bfloat16", "unheard_of": [1, 2]
}`

const tinyParams = 2*8*16 + 4*16*16 + 3*16*128 + 3*16

func draft(name string) model.Draft {
	return model.Draft{
		Name: name, HF: "Acme/Tiny", License: "mit", Source: "huggingface.co/Acme/Tiny config.json", AsOf: "2026-11-30",
		Confidence: accelerator.SingleSource, Config: []byte(tiny), File: "Acme/Tiny/config.json",
	}
}

func own(t testing.TB, d model.Draft) *model.Row {
	t.Helper()
	r, _, err := d.Row()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestDraft(t *testing.T) {
	r, text, err := draft("tiny").Row()
	if err != nil {
		t.Fatal(err)
	}
	m := r.Model
	if m.Name != "tiny" || m.HF != "Acme/Tiny" || m.License != "mit" || m.AsOf != "2026-11-30" || m.Params.Total != tinyParams {
		t.Errorf("%+v", m)
	}
	if n := strings.Count(string(text), "\n"); n != 1 || !strings.Contains(string(text), `"unheard_of":[1,2]`) {
		t.Errorf("not one line with the whole configuration: %s", text)
	}
	again, err := model.ReadRow("tiny.json", text)
	if err != nil || again.Model.Params != m.Params || again.Model.Source != m.Source {
		t.Errorf("read again: %+v %v", again, err)
	}
}

// The checkpoint's own count decides what a row is worth.
func TestDraftIsCheckedAgainstTheCheckpoint(t *testing.T) {
	for n, want := range map[int64]accelerator.Confidence{
		0: accelerator.SingleSource, tinyParams: accelerator.Verified, tinyParams + 70: accelerator.Verified, tinyParams + 80: accelerator.Unverified,
		tinyParams / 2: accelerator.Unverified,
	} {
		d := draft("tiny")
		if n > 0 {
			d.Checkpoint = unit.Some(n)
		}
		m := own(t, d).Model
		if m.Confidence != string(want) {
			t.Errorf("checkpoint of %d: %s, want %s", n, m.Confidence, want)
		}
	}
	m := &model.Model{Params: model.Params{Total: 90}, MTP: 12, Published: unit.Some[int64](100)}
	if gap, known := m.CheckpointGap(); gap != 0.02 || !known {
		t.Errorf("with the layers that predict further tokens: %v", gap)
	}
}

func TestDraftFaults(t *testing.T) {
	d := draft("tiny")
	d.Config = []byte("{\n\"model_type\": \"llama\",\n\"hidden_size\": -1}")
	_, _, err := d.Row()
	var codes []string
	for _, p := range problem.All(err) {
		codes = append(codes, p.Code)
		if p.File != "Acme/Tiny/config.json" {
			t.Errorf("%s is at %s", p.Code, p.File)
		}
	}
	if all := strings.Join(codes, " "); !strings.Contains(all, "config.out_of_range") || !strings.Contains(all, "config.missing") {
		t.Error(all)
	}
	d.Config = []byte(`{"model_type": "something_new", "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 128, "vocab_size": 8}`)
	if m := own(t, d).Model; m.Notes != "architecture.assumed" {
		t.Errorf("notes %q of an architecture that nobody knows", m.Notes)
	}
}

// A user's own comes before a built-in one of the same name or hub name, and leaves every other as it was.
func TestTableWithOwn(t *testing.T) {
	table := model.Embedded()
	mine := draft("my-tiny")
	over := draft("qwen3-32b")
	over.HF, over.Aliases = "Acme/Llama-3.1-8B", []string{"Studio/Other-Name"}
	with := table.With(own(t, mine), own(t, over))
	for name, want := range map[string]string{
		"my-tiny": "my-tiny", "My_Tiny": "my-tiny", "Acme/Tiny": "my-tiny", "hf:Acme/Tiny@v2": "my-tiny", "tiny": "my-tiny",
		"qwen3-32b": "qwen3-32b", "Acme/Llama-3.1-8B": "qwen3-32b", "ms:Studio/Other-Name": "qwen3-32b",
		"llama-3.1-8b": "llama-3.1-8b", "hf:meta-llama/Llama-3.1-8B-Instruct": "llama-3.1-8b", "meta-llama/Llama-3.1-8B": "llama-3.1-8b",
	} {
		m, err := with.Get(name)
		if err != nil || m.Name != want {
			t.Errorf("%s: %v %v, want %s", name, m, err, want)
		}
	}
	if m := with.Named("qwen3-32b"); !with.Own(m) || m.Params.Total != tinyParams {
		t.Errorf("qwen3-32b is %+v", m)
	}
	if len(with.All()) != len(table.All())+1 || !with.Own(with.All()[0]) || with.Own(with.Named("llama-3.1-8b")) {
		t.Errorf("%d models, %d built in", len(with.All()), len(table.All()))
	}
	for _, m := range table.All() {
		if got, err := with.Get(m.Name); m.Name != "qwen3-32b" && (err != nil || got != m) {
			t.Errorf("%s became %v %v", m.Name, got, err)
		}
	}
	if _, err := table.Get("my-tiny"); err == nil || table.Own(table.All()[0]) {
		t.Error("the table that ships with the program was changed")
	}
}

func TestUnknownOfAHubSaysHowToGetIt(t *testing.T) {
	for name, want := range map[string]string{
		"hf:Acme/Unheard": "model.not_here", "ms:Acme/Unheard@v1": "model.not_here", "Acme/Unheard": "model.unknown", "unheard": "model.unknown",
		"hf:../../etc": "model.bad_ref",
	} {
		_, err := model.Embedded().Get(name)
		p := problem.All(err)[0]
		if p.Code != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
		if ref := p.Args["Ref"]; want == "model.not_here" && ref != name || name == "Acme/Unheard" && ref != "hf:Acme/Unheard" || name == "unheard" && ref != "" {
			t.Errorf("%s: told to bring in %v", name, ref)
		}
	}
}

func TestParseRef(t *testing.T) {
	for text, want := range map[string]model.Ref{
		"hf:Qwen/Qwen3-32B": {Hub: "hf", Name: "Qwen/Qwen3-32B"}, "ms:a/b@v1.0": {Hub: "ms", Name: "a/b", Revision: "v1.0"},
		"hf:gpt2": {Hub: "hf", Name: "gpt2"}, "hf:a/b@refs/pr/1": {Hub: "hf", Name: "a/b", Revision: "refs/pr/1"},
	} {
		if got, err := model.ParseRef(text); err != nil || got != want {
			t.Errorf("%s: %+v %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "hf:", "ms:gpt2", "hf:a/b/c", "hf:a/", "hf:/b", "hf:../b", "hf:a/..", "hf:a/b..c", "hf:a/b@", "hf:a/b@../x", "hf:a/b@x//y", "hf:a/b?x=1",
		"hf:a/b#c", "hf:a b/c", "hub:a/b", "HF:a/b", "hf:a/b@x y", "hf:a/b%2f", "hf:" + strings.Repeat("a", 200) + "/b",
	} {
		if got, err := model.ParseRef(text); err == nil {
			t.Errorf("%q is %+v", text, got)
		}
	}
	r := model.Ref{Hub: "hf", Name: "Qwen/Qwen3-32B"}
	if at, err := r.At("v1"); err != nil || at.String() != "hf:Qwen/Qwen3-32B@v1" || r.DefaultName() != "qwen3-32b" {
		t.Errorf("%v %v", at, err)
	}
	if _, err := r.At("../x"); err == nil {
		t.Error("a revision that leaves its folder")
	}
}

func TestCheckName(t *testing.T) {
	for name, ok := range map[string]bool{
		"tiny": true, "qwen3-32b.v2_x": true, "0": true, "": false, "Tiny": false, "a/b": false, "..": false, ".a": false, "a.json": false, "a b": false,
		"模型": false, strings.Repeat("a", 101): false,
	} {
		if err := model.CheckName(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// Every reference reads as it is written, and its name is one that a model may have.
func TestRefsReadAsTheyAreWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`(hf|ms):[A-Za-z0-9._-]{1,8}/[A-Za-z0-9._-]{1,8}(@[A-Za-z0-9._/-]{1,8})?`).Draw(t, "text")
		r, err := model.ParseRef(text)
		if err != nil {
			return
		}
		if r.String() != text {
			t.Errorf("%s reads as %s", text, r)
		}
	})
}

func FuzzParseRef(f *testing.F) {
	for _, s := range []string{"hf:a/b", "ms:a/b@v1", "hf:gpt2", "hf:a/b@refs/pr/1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := model.ParseRef(text)
		if err == nil && (r.String() != text || strings.Contains(text, "..") || strings.ContainsAny(text, "?#%\\ \n")) {
			t.Errorf("%q is let through as %+v", text, r)
		}
	})
}

// Whatever a row's file holds, it is read or faulted, and what was read is written and read the same.
func FuzzReadRow(f *testing.F) {
	_, text, err := draft("tiny").Row()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	if rows, err := os.ReadFile("../../../data/models/models.jsonl"); err == nil {
		for line := range strings.Lines(string(rows)) {
			f.Add([]byte(line))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := model.ReadRow("x.json", data)
		if err != nil {
			if p := problem.All(err)[0]; p.Kind != problem.Input || p.File != "x.json" {
				t.Errorf("%v", err)
			}
			return
		}
		if r.Model.Name == "" || r.Model.Source == "" || r.Model.Params.Total < 0 {
			t.Errorf("%+v", r.Model)
		}
	})
}
