package workload

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
)

func examples(t *testing.T) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("../../../examples/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	found := map[string][]byte{}
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		found[p] = data
	}
	return found
}

// TestExampleFiles reads the repository's examples with the real facts; there is one for every kind.
func TestExampleFiles(t *testing.T) {
	s := compileSchema(t)
	facts := EmbeddedFacts()
	seen := map[Kind]bool{}
	for path, data := range examples(t) {
		w, err := Parse(path, data, os.ReadFile, facts)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		seen[w.Kind] = true
		if v, ok := asJSON(data); !ok || s.Validate(v) != nil {
			t.Errorf("%s: the schema refuses it: %v", path, s.Validate(v))
		}
		out, err := Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := Parse(path, out, os.ReadFile, facts); err != nil || !cmp.Equal(w, back, same) {
			t.Errorf("%s: not read back: %v", path, err)
		}
	}
	for _, k := range Kinds() {
		if !seen[k] {
			t.Errorf("no example of %s", k)
		}
		for _, lang := range []string{"en", "zh"} {
			if _, err := Parse("x.yaml", Example(k, lang), nil, facts); err != nil {
				t.Errorf("%s in %s: %v", k, lang, err)
			}
		}
	}
}

// TestMainExample holds the figures that the guide and the acceptance tests speak of.
func TestMainExample(t *testing.T) {
	const path = "../../../examples/finetune-llama-3.1-70b.yaml"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := Parse(path, data, nil, EmbeddedFacts())
	if err != nil {
		t.Fatal(err)
	}
	budget, _ := w.Limits.Budget.Get()
	if w.Kind != Finetune || w.Method != LoRA || w.Tokens != 200e6 || w.Sequence != 4096 || w.GlobalBatch != 64 ||
		w.Limits.Deadline != 72 || budget.String() != "5000.00 USD" || w.Data.Size != 50*unit.GB || len(w.Limits.Regions) != 0 {
		t.Errorf("got %+v", w)
	}
	if n := w.Model.Params.Total; n < 70e9 || n > 71e9 {
		t.Errorf("%d parameters", n)
	}
}

// TestEveryKeyExampleIsKnown: names in the documentation of the keys exist in the real facts.
func TestEveryKeyExampleIsKnown(t *testing.T) {
	facts := EmbeddedFacts()
	for _, k := range Kinds() {
		for _, f := range FieldsOf(k) {
			r := newReader("", oneFile, facts)
			r.kind = k
			r.draft = newDraft(k, "")
			if !f.bind.read(r, &f, r.piece(&yaml.Node{}, f.example(k))) {
				t.Errorf("%s: %s: %q: %v", k, f.Path, f.example(k), r.list())
			}
		}
	}
}

func TestEmbeddedNames(t *testing.T) {
	f := EmbeddedFacts()
	for name, c := range map[string]struct {
		look Lookup
		text string
		want string
	}{
		"law":           {f.Residency, "gdpr", "GDPR"},
		"short law":     {f.Residency, "pipl", "CN-PIPL"},
		"certification": {f.Certification, "iso 27001", "ISO27001"},
		"stack":         {f.Stack, "cuda", "CUDA"},
		"place":         {f.Place, "Germany", "DE"},
		"provider":      {f.Provider, "AWS", "aws"},
		"framework":     {f.Framework, "torch", "pytorch"},
	} {
		if got, _, ok := c.look(c.text); !ok || got != c.want {
			t.Errorf("%s: %s is %q", name, c.text, got)
		}
	}
	for name, look := range map[string]Lookup{"law": f.Residency, "stack": f.Stack, "certification": f.Certification} {
		if _, near, ok := look("???"); ok || name == "stack" && len(near) == 0 {
			t.Errorf("%s: ??? is known, or no choices are shown", name)
		}
	}
	if !f.Currency("USD") || !f.Currency("CNY") || f.Currency("XXX") {
		t.Error("currencies")
	}
}

// TestRegionOutsideTheLaw with the real regions.
func TestRegionOutsideTheLaw(t *testing.T) {
	_, err := Parse("w.yaml", []byte("kind: hash\nalgorithm: md5\nkeyspace: 100\nlimits: {regions: [us-east-1, eu], residency: [GDPR]}\n"), nil, EmbeddedFacts())
	list := problem.All(err)
	if len(list) != 1 || list[0].Code != codeOutsideLaw || list[0].Args["Value"] != "us-east-1" {
		t.Errorf("got %v", err)
	}
}
