package workload

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
)

var update = flag.Bool("update", false, "write the goldens anew")

// same compares workloads; exact quantities keep their figures to themselves.
var same = cmp.Exporter(func(reflect.Type) bool { return true })

func fixtures(t testing.TB, pattern string) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("testdata/" + pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no fixtures %s: %v", pattern, err)
	}
	found := map[string][]byte{}
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		found[filepath.ToSlash(p)] = data
	}
	return found
}

func TestGoodFixtures(t *testing.T) {
	for path, data := range fixtures(t, "*.good.yaml") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			w, err := Parse(path, data, oneFile, fakeFacts())
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.MarshalIndent(Canonical(w), "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, '\n')
			golden := strings.TrimSuffix(path, ".yaml") + ".json"
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("canonical form (-want +got):\n%s", diff)
			}
		})
	}
}

// TestBadFixtures holds every fault against the "# want LINE CODE KEY ? SUGGESTION" comments of its file.
func TestBadFixtures(t *testing.T) {
	for path, data := range fixtures(t, "*.bad.yaml") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			var want []string
			for line := range strings.SplitSeq(string(data), "\n") {
				if w, ok := strings.CutPrefix(line, "# want "); ok {
					want = append(want, w)
				}
			}
			w, err := Parse(path, data, oneFile, fakeFacts())
			if w != nil || err == nil {
				t.Fatal("parsed without a fault")
			}
			if diff := cmp.Diff(want, faultLines(t, path, err)); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}

func faultLines(t *testing.T, path string, err error) []string {
	t.Helper()
	var list problem.List
	if !errors.As(err, &list) {
		t.Fatalf("not a list: %v", err)
	}
	var got []string
	for _, e := range list {
		if e.File != path || e.Kind != problem.Input {
			t.Errorf("%v: file %q kind %d", e, e.File, e.Kind)
		}
		line := fmt.Sprintf("%d %s", e.Line, e.Code)
		for _, arg := range []string{"Key", "Name"} {
			if v, ok := e.Args[arg].(string); ok && v != "" {
				line += " " + v
				break
			}
		}
		if len(e.Suggest) > 0 {
			line += " ? " + e.Suggest[0]
		}
		got = append(got, line)
	}
	return got
}

func TestHostileFiles(t *testing.T) {
	for name, c := range map[string]struct {
		data string
		want string
	}{
		"nothing":       {"", "1 workload.empty"},
		"mapping":       {"{}", "1 workload.empty"},
		"null":          {"~", "1 workload.empty"},
		"zero byte":     {"kind: hash\nname: a\x00b\n", "2 workload.control"},
		"escape":        {"kind: hash\n\n\x1b[31m", "3 workload.control"},
		"utf-16 mark":   {"\xff\xfek\x00i\x00", "1 workload.encoding"},
		"utf-16":        {"k\x00i\x00n\x00d\x00", "1 workload.encoding"},
		"utf-16be":      {"\x00k\x00i\x00n\x00d", "1 workload.encoding"},
		"utf-32":        {"\xff\xfe\x00\x00k\x00\x00\x00", "1 workload.encoding"},
		"latin-1":       {"kind: hash\nname: caf\xe9\n", "2 workload.encoding"},
		"too large":     {"#" + strings.Repeat("x", maxFile), "1 workload.too_large"},
		"flow depth":    {"kind: " + strings.Repeat("[", 100000), "1 workload.too_deep"},
		"block depth":   {strings.Repeat("- ", 100000), "1 workload.too_deep"},
		"tab":           {"kind: hash\n\tname: x\n", "2 workload.syntax"},
		"laughs":        {"a: &a [x]\nb: &b [*a, *a]\n", "1 workload.anchor"},
		"unknown alias": {"kind: *nope\n", "1 workload.syntax"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("w.yaml", []byte(c.data), nil, fakeFacts())
			list := problem.All(err)
			if len(list) == 0 {
				t.Fatal("no fault")
			}
			if got := fmt.Sprintf("%d %s", list[0].Line, list[0].Code); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			for _, e := range list {
				if len(fmt.Sprint(e)) > 2000 {
					t.Errorf("a fault of %d bytes", len(fmt.Sprint(e)))
				}
			}
		})
	}
}

func TestByteOrderMarkIsLetThrough(t *testing.T) {
	if _, err := Parse("w.yaml", []byte("\xef\xbb\xbfkind: hash\r\nalgorithm: md5\r\nkeyspace: 100\r\n"), nil, fakeFacts()); err != nil {
		t.Fatal(err)
	}
}

func TestManyFaultsAreCounted(t *testing.T) {
	var b strings.Builder
	b.WriteString("kind: hash\nalgorithm: md5\nkeyspace: 10\n")
	for i := range 50000 {
		fmt.Fprintf(&b, "nonsense%d: 1\n", i)
	}
	_, err := Parse("w.yaml", []byte(b.String()), nil, fakeFacts())
	list := problem.All(err)
	last := list[len(list)-1]
	if len(list) != maxFaults+1 || last.Code != codeTooManyFault || last.Args["Count"] != 50000-maxFaults {
		t.Errorf("%d faults, the last %v", len(list), last)
	}
}

// TestModelPath hands a path to the opener as it is written: the opener knows the folder.
func TestModelPath(t *testing.T) {
	var asked []string
	open := func(path string) ([]byte, error) { asked = append(asked, filepath.ToSlash(path)); return oneFile(path) }
	w, err := Parse("jobs/x.yaml", []byte("kind: train\nmodel: ../my-model/config.json\ntokens: 1M\n"), open, fakeFacts())
	if err != nil {
		t.Fatal(err)
	}
	if w.Model.Name != "my-model" || w.ModelRef != "../my-model/config.json" || asked[0] != "../my-model/config.json" {
		t.Errorf("model %q from %q, asked %q", w.Model.Name, w.ModelRef, asked)
	}
	for _, ref := range []string{"my-model/config.json", "x/config.json"} {
		if _, err := Parse("w.yaml", []byte("kind: train\ntokens: 1M\nmodel: "+ref+"\n"), nil, fakeFacts()); err == nil {
			t.Errorf("%s was read without an opener", ref)
		}
	}
}

// TestModelFileFaults: what is wrong with a config.json is told at the model's line, in the facts' own code.
func TestModelFileFaults(t *testing.T) {
	for name, c := range map[string]struct {
		data string
		want string
	}{
		"not a config": {"{}", codeUnknownName},
		"no config":    {"", codeUnknownName},
	} {
		open := func(string) ([]byte, error) { return []byte(c.data), nil }
		_, err := Parse("w.yaml", []byte("kind: train\ntokens: 1M\nmodel: ./config.json\n"), open, fakeFacts())
		list := problem.All(err)
		if len(list) != 1 || list[0].Code != c.want || list[0].Line != 3 || list[0].Args["Key"] != "model" {
			t.Errorf("%s: %v", name, err)
		}
	}
	open := func(string) ([]byte, error) { return []byte("{}"), nil }
	_, err := Parse("w.yaml", []byte("kind: train\ntokens: 1M\nmodel: ./config.json\n"), open, EmbeddedFacts())
	if list := problem.All(err); len(list) == 0 || list[0].File != "w.yaml" || list[0].Line != 3 {
		t.Errorf("real facts: %v", err)
	}
}

// TestModelNamesThatSayMore: a quantization in a name is kept, so that the file reads back alike.
func TestModelNamesThatSayMore(t *testing.T) {
	file := []byte("kind: serve\nmodel: llama-3.1-70b-awq\ntraffic: {requests_per_second: 1, input_tokens: 1, output_tokens: 1}\n")
	w, err := Parse("w.yaml", file, nil, EmbeddedFacts())
	if err != nil {
		t.Fatal(err)
	}
	if w.Format != w.Model.NativeFormat || w.ModelRef != "llama-3.1-70b-awq" {
		t.Errorf("format %s, native %s, asked for as %s", w.Format, w.Model.NativeFormat, w.ModelRef)
	}
}

// TestDefaults holds the figures that are filled in.
func TestDefaults(t *testing.T) {
	parse := func(text string) *Workload {
		w, err := Parse("d.yaml", []byte(text), nil, fakeFacts())
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	w := parse("kind: finetune\nmodel: gpt-2\nsteps: 10\n")
	if w.Sequence != 1024 || w.GlobalBatch != 64 || w.Tokens != 10*64*1024 || w.LoRARank != 16 || w.Method != LoRA || w.Name != "d" || w.Layout.ZeRO != -1 {
		t.Errorf("finetune: %+v", w)
	}
	w = parse("kind: train\nmodel: llama-3.1-8b\nsteps: 10\nglobal_batch_tokens: 1M\n")
	if w.GlobalBatch != 244 || w.Method != Full || w.LoRARank != 0 {
		t.Errorf("train: batch %d, method %s", w.GlobalBatch, w.Method)
	}
	w = parse("kind: diffuse\nmodel: flux.1-dev\nimages: 1\n")
	if d := *w.Diffuse; d.Width != 1024 || d.Steps != 28 || d.Guidance != 1 {
		t.Errorf("diffuse: %+v", d)
	}
	w = parse("kind: serve\nmodel: deepseek-v3\ntraffic: {requests_per_second: 1, input_tokens: 1, output_tokens: 1}\n")
	if w.Format != "fp8" || w.KVFormat != "bf16" || w.Duration != unit.HoursPerMonth {
		t.Errorf("serve: %+v", w)
	}
	want := []string{"name", "precision", "kv_precision", "traffic.profile", "duration", "billing", "prefer"}
	if diff := cmp.Diff(want, w.Defaulted); diff != "" {
		t.Errorf("defaulted (-want +got):\n%s", diff)
	}
}
