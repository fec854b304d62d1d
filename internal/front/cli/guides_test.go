package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	heading = regexp.MustCompile(`(?m)^#+ `)
	// written is a command as a guide writes it: at a prompt, or between the words.
	written = regexp.MustCompile("(?m)(?:^\\$ |`)(rackrate [^`\n]+)")
	fenced  = regexp.MustCompile("(?s)```.*?```")
)

// Every command that a guide names is one, with flags that there are; the languages have the same sections, blocks and commands.
func TestGuidesInStep(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "docs", "guides", "*.md"))
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	texts := map[string]string{}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(f)] = string(raw)
	}
	for name, text := range texts {
		for _, m := range written.FindAllStringSubmatch(text, -1) {
			args := slices.DeleteFunc(strings.Fields(m[1])[1:], func(a string) bool { return a == "…" })
			if code, _, stderr := rackrate(t, append(args, "--help")...); code != 0 {
				t.Errorf("%s: %s: %s", name, m[1], stderr)
			}
		}
		zh, isEnglish := texts[strings.TrimSuffix(name, ".md")+".zh.md"]
		if strings.HasSuffix(name, ".zh.md") {
			continue
		}
		if !isEnglish {
			t.Errorf("%s is not there in Chinese", name)
			continue
		}
		if a, b := len(heading.FindAllString(text, -1)), len(heading.FindAllString(zh, -1)); a != b {
			t.Errorf("%s has %d headings, in Chinese %d", name, a, b)
		}
		if a, b := len(fenced.FindAllString(text, -1)), len(fenced.FindAllString(zh, -1)); a != b {
			t.Errorf("%s has %d blocks, in Chinese %d", name, a, b)
		}
		if a, b := commands(text), commands(zh); !slices.Equal(a, b) {
			t.Errorf("%s names the commands\n%s\nin Chinese\n%s", name, strings.Join(a, "\n"), strings.Join(b, "\n"))
		}
	}
}

// commands lists the commands of a guide, each once, sorted.
func commands(text string) []string {
	var out []string
	for _, m := range written.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	slices.Sort(out)
	return slices.Compact(out)
}
