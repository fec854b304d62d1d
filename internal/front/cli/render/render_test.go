package render_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"

	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/front/cli/render"
	"github.com/rackrate/rackrate/internal/front/fronttest"
	"github.com/rackrate/rackrate/internal/front/say"
)

var update = flag.Bool("update", false, "write the golden files anew")

func age(string) (int, bool) { return 12, true }

func plans(t *testing.T) *render.Plans {
	r := fronttest.Result(t)
	return &render.Plans{Result: r, Canonical: workload.Canonical(r.Workload), Age: age}
}

func TestPlanGoldens(t *testing.T) {
	nothing := &render.Plans{Result: fronttest.Nothing(t), Age: age}
	explained, whyNot, top := plans(t), plans(t), plans(t)
	explained.Explain, whyNot.WhyNot, top.Top = 1, true, 1
	foreign := plans(t)
	foreign.Explain = 3
	cases := []struct {
		name   string
		doc    render.Document
		format render.Format
	}{
		{"table", plans(t), render.Table}, {"wide", plans(t), render.Wide}, {"json", plans(t), render.JSON},
		{"csv", plans(t), render.CSV}, {"md", plans(t), render.Markdown}, {"explain", explained, render.Table},
		{"explain-foreign", foreign, render.Table}, {"why-not", whyNot, render.Table}, {"top", top, render.Table},
		{"nothing", nothing, render.Table},
	}
	for _, c := range cases {
		for _, lang := range say.Langs() {
			t.Run(c.name+"/"+string(lang), func(t *testing.T) {
				got := show(t, c.doc, render.Options{Format: c.format, Say: say.For(lang)})
				golden(t, "plan-"+c.name+"."+string(lang), got)
			})
		}
	}
}

func show(t *testing.T, d render.Document, o render.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := render.Write(&b, d, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; go test -update writes it anew\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}

// A table fits the width it is given, in either language and counting Chinese characters as two columns.
func TestTableFits(t *testing.T) {
	for _, lang := range say.Langs() {
		for _, columns := range []int{80, 100, 140} {
			text := show(t, plans(t), render.Options{Format: render.Table, Say: say.For(lang), Width: columns})
			for line := range strings.Lines(text) {
				if w := displaywidth.String(strings.TrimRight(line, "\n")); w > columns {
					t.Errorf("%s, %d columns: %d in %q", lang, columns, w, line)
				}
			}
		}
	}
}

// Nothing unknown shows as a zero, and no figure as something that is not one.
func TestNoBareUnknowns(t *testing.T) {
	for _, format := range []render.Format{render.Table, render.Wide, render.Markdown} {
		text := show(t, plans(t), render.Options{Format: format, Say: say.For(say.English)})
		for _, bad := range []string{"NaN", "Inf", "<no value>", "%!", "<nil>"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s holds %q", format, bad)
			}
		}
	}
}

func TestColourOnlyWhenAsked(t *testing.T) {
	plain := show(t, plans(t), render.Options{Format: render.Table, Say: say.For(say.English)})
	coloured := show(t, plans(t), render.Options{Format: render.Table, Say: say.For(say.English), Color: true})
	if strings.Contains(plain, "\x1b") || !strings.Contains(coloured, "\x1b[") {
		t.Error("colour does not follow the option")
	}
}

func TestJSONIsTheSameBytes(t *testing.T) {
	o := render.Options{Format: render.JSON, Say: say.For(say.English)}
	first := show(t, plans(t), o)
	for range 20 {
		if again := show(t, plans(t), o); again != first {
			t.Fatal("the same result gave other bytes")
		}
	}
	if !json.Valid([]byte(first)) {
		t.Error("not JSON")
	}
}

func TestWrap(t *testing.T) {
	cases := []struct {
		text    string
		columns int
		want    []string
	}{
		{"one two three", 20, []string{"one two three"}},
		{"one two three four five", 20, []string{"one two three four", "five"}},
		{"对运行作业的所有方案排序，并给出成本。", 20, []string{"对运行作业的所有方案", "排序，并给出成本。"}},
		{"averyverylongwordthatdoesnotfit", 20, []string{"averyverylongwordthatdoesnotfit"}},
		{"", 20, []string{""}},
	}
	for _, c := range cases {
		got := render.Wrap(c.text, c.columns)
		if strings.Join(got, "|") != strings.Join(c.want, "|") {
			t.Errorf("Wrap(%q, %d) = %q, want %q", c.text, c.columns, got, c.want)
		}
	}
}
