package strict_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/strict"
)

// read takes a file of one known form through everything.
func read(data []byte) (f *strict.File, texts []string) {
	f, root := strict.Load("a.yaml", data)
	if root == nil {
		return f, nil
	}
	m := f.Map(root, "", "name", "names", "on", "inner", "items")
	texts = append(m.Texts("names"), m.Text("name"))
	m.Yes("on")
	if in := m.Sub("inner", "price"); in != nil {
		in.Text("price")
		if !in.Has("price") {
			in.Missing("price", "1 USD")
		}
	}
	for _, n := range m.List("items") {
		f.Map(n, "items")
	}
	return f, texts
}

func TestFaults(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"fine", "name: x\nnames: [a, b]\non: true\ninner: {price: 1}\nitems: [{a: 1}]\n", ""},
		{"empty", "# nothing\n", "1 file.empty"},
		{"not YAML", "name: [\n", "2 file.syntax"},
		{"not UTF-8", "name: \xff\n", "1 file.encoding"},
		{"control", "a: \x01\n", "1 file.control"},
		{"large", strings.Repeat("# x\n", 1<<19), "1 file.too_large"},
		{"deep", strings.Repeat("[", 40), "1 file.too_deep"},
		{"two", "name: a\n---\nname: b\n", "2 file.documents"},
		{"list", "- a\n", "1 file.not_mapping"},
		{"bomb", "name: &a x\nnames: [*a]\n", "1 file.trick, 2 file.trick"},
		{"tag", "name: !!binary aaaa\n", "1 file.trick"},
		{"all at once", "nmae: x\nname: [a]\nname: c\nnames: {a: b}\non: maybe\ninner:\n  prise: 2\n? [a]\n: b\nitems: x\n",
			"1 file.unknown_key, 2 file.shape, 3 file.twice, 4 file.shape, 5 file.bad_value, 7 file.unknown_key, 7 file.missing, 8 file.key_not_text, 10 file.shape"},
		{"no value", "name:\nnames: [a, '']\n", "1 file.empty_value, 2 file.empty_value"},
		{"no values", "name: x\nnames: []\n", "2 file.empty_value"},
	} {
		f, _ := read([]byte(c.text))
		var got []string
		for _, p := range problem.All(f.Err()) {
			if p.File != "a.yaml" {
				t.Errorf("%s: %v has no file", c.name, p)
			}
			got = append(got, strconv.Itoa(p.Line)+" "+p.Code)
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, text, c.want)
		}
	}
	f, _ := read([]byte("nmae: x\n"))
	if p := problem.All(f.Err())[0]; !slices.Contains(p.Suggest, "name") {
		t.Errorf("%v suggests %v", p, p.Suggest)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("name: x\nnames: [a, b]\non: true\ninner: {price: 1}\nitems: [{a: 1}]\n"))
	f.Add([]byte("a: &x [*x]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, texts := read(data)
		if file.Err() == nil && texts == nil {
			t.Error("neither a fault nor an answer")
		}
		for _, p := range problem.All(file.Err()) {
			if p.Line < 1 || p.File == "" {
				t.Errorf("%v has no place", p)
			}
		}
	})
}
