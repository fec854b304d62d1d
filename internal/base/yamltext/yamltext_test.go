package yamltext

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

func TestLoad(t *testing.T) {
	for _, c := range []struct {
		name, text string
		kind       Kind
		line       int
		goesOn     bool
	}{
		{"too large", strings.Repeat("a", 101), TooLarge, 1, false},
		{"nothing", "", Empty, 1, false},
		{"a remark", "# nothing yet\n", Empty, 1, false},
		{"UTF-16", "a\x00:\x00 \x001\x00", Encoding, 1, false},
		{"Latin-1", "a: 1\nb: \xe9\n", Encoding, 2, false},
		{"control", "a: 1\nb: \x07\n", Control, 2, false},
		{"not YAML", "a: 1\nb: [1,\n", Syntax, 3, false},
		{"deep", strings.Repeat("[", 20), TooDeep, 1, false},
		{"two documents", "a: 1\n---\nb: 2\n", Documents, 2, true},
	} {
		n, faults := Load([]byte(c.text), 100, 4)
		if len(faults) != 1 || faults[0].Kind != c.kind || faults[0].Line != c.line || (n != nil) != c.goesOn {
			t.Errorf("%s: %+v", c.name, faults)
		}
	}
	n, faults := Load([]byte("\ufeffa: [1]\n"), 100, 4)
	if faults != nil || n.Kind != yaml.MappingNode || Shape(n) != "mapping" || Shape(n.Content[0]) != "text" || Shape(n.Content[1]) != "list" {
		t.Errorf("%+v, %+v", n, faults)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte("a: 1\n---\nb: [2, {c: 3}]\n"))
	f.Add([]byte("\xff\xfea\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		n, faults := Load(data, 1<<12, 8)
		if n == nil && len(faults) == 0 {
			t.Fatal("neither a document nor a fault")
		}
		for _, bad := range faults {
			if bad.Line < 1 {
				t.Fatalf("%+v", bad)
			}
		}
	})
}
