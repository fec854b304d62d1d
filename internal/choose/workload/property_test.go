package workload

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/problem"
)

// oddValues are what a slip of the hand leaves behind; any key may get one.
var oddValues = []any{
	"", " ", "x", "-1", 0, -1, 1e300, 3.5, true, false, nil, []any{}, []any{"a", "a"}, []any{[]any{"a"}}, map[string]any{}, map[string]any{"a": 1},
	"5", "5 USD", "72h", "1e3", "10GB", "0GB", "99.9%", "1.5", "H100:8", "true", "all", "8x8", "2^3", ",", "a,b", "1mo", "5kg", "USD",
}

// document draws a workload that is mostly right: the example of a kind with optional keys put in, and at times a
// key taken out, spoilt, or brought in from another kind.
func document(t *rapid.T) map[string]any {
	k := rapid.SampledFrom(kinds).Draw(t, "kind")
	doc := map[string]any{}
	own := FieldsOf(k)
	for _, f := range own {
		if f.standsIn(k) {
			putValue(doc, f.Path, f.example(k))
		}
	}
	for _, f := range rapid.SliceOfN(rapid.SampledFrom(own), 0, 6).Draw(t, "more") {
		putValue(doc, f.Path, f.example(k))
	}
	for range rapid.SampledFrom([]int{0, 0, 0, 1, 1, 2, 4}).Draw(t, "slips") {
		switch rapid.SampledFrom([]string{"drop", "spoil", "stray"}).Draw(t, "slip") {
		case "drop":
			f := rapid.SampledFrom(own).Draw(t, "dropped")
			dropValue(doc, f.Path)
		case "spoil":
			f := rapid.SampledFrom(own).Draw(t, "spoilt")
			putValue(doc, f.Path, rapid.SampledFrom(oddValues).Draw(t, "odd"))
		case "stray":
			f := rapid.SampledFrom(Fields()).Draw(t, "strayed")
			putValue(doc, f.Path, f.Example)
		}
	}
	return doc
}

func putValue(doc map[string]any, path string, value any) {
	if g := parent(path); g != "" {
		inner, ok := doc[g].(map[string]any)
		if !ok {
			inner = map[string]any{}
			doc[g] = inner
		}
		inner[path[len(g)+1:]] = value
		return
	}
	doc[path] = value
}

func dropValue(doc map[string]any, path string) {
	delete(doc, path)
	if inner, ok := doc[parent(path)].(map[string]any); ok {
		delete(inner, path[len(parentPrefix(path)):])
	}
}

func TestDocuments(t *testing.T) {
	s := compileSchema(t)
	good := 0
	rapid.Check(t, func(t *rapid.T) {
		data, err := yaml.Dump(document(t))
		if err != nil {
			t.Fatal(err)
		}
		w, parseErr := Parse("w.yaml", data, oneFile, fakeFacts())
		v, ok := asJSON(data)
		if !ok {
			t.Fatalf("not JSON: %s", data)
		}
		checkAgreement(t, s, v, parseErr)
		if parseErr == nil {
			good++
			checkRoundTrip(t, "w.yaml", w)
			checkJSON(t, s, w)
			return
		}
		checkFaults(t, parseErr)
	})
	if good == 0 {
		t.Error("no document was good: the property was not tried")
	}
}

// checkJSON holds the canonical form against the schema too: it uses the very keys of the file.
func checkJSON(t *rapid.T, s *jsonschema.Schema, w *Workload) {
	raw, err := json.Marshal(canonical(w, true))
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(v); err != nil {
		t.Fatalf("the canonical form is not a workload: %v\n%s", err, raw)
	}
}

// checkFaults: in line order, each with a code and a place.
func checkFaults(t interface {
	Helper()
	Fatalf(string, ...any)
}, err error) {
	t.Helper()
	line := 0
	for _, e := range problem.All(err) {
		if e.Kind != problem.Input || e.Code == "" || e.File == "" || e.Line < line {
			t.Fatalf("fault %v at %q:%d after line %d", e, e.File, e.Line, line)
		}
		line = e.Line
	}
}

// TestOrderOfKeysDoesNotMatter but for the order in which faults are told.
func TestOrderOfKeysDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.SampledFrom(kinds).Draw(t, "kind")
		var doc yaml.Node
		if err := yaml.Load(Example(k, "en"), &doc); err != nil {
			t.Fatal(err)
		}
		root := doc.Content[0]
		var entries [][]*yaml.Node
		for pair := range slices.Chunk(root.Content, 2) {
			entries = append(entries, pair)
		}
		root.Content = slices.Concat(rapid.Permutation(entries).Draw(t, "order")...)
		data, err := yaml.Dump(&doc)
		if err != nil {
			t.Fatal(err)
		}
		want, err1 := Parse("w.yaml", Example(k, "en"), oneFile, fakeFacts())
		got, err2 := Parse("w.yaml", data, oneFile, fakeFacts())
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if diff := cmp.Diff(want, got, same); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestOneFaultMoreNeverHidesAnother: a key nobody knows adds exactly its own fault.
func TestOneFaultMoreNeverHidesAnother(t *testing.T) {
	for path, data := range fixtures(t, "*.bad.yaml") {
		if !strings.Contains(string(data), "\nmodel:") && !strings.HasPrefix(string(data), "kind:") || strings.Contains(path, "syntax") || strings.Contains(path, "documents") {
			continue
		}
		_, before := Parse(path, data, oneFile, fakeFacts())
		_, after := Parse(path, append([]byte("qqqqqqqq: 1\n"), data...), oneFile, fakeFacts())
		if n, m := len(problem.All(before)), len(problem.All(after)); m != n+1 {
			t.Errorf("%s: %d faults became %d", path, n, m)
		}
	}
}
