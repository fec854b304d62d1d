package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The README shows what make demo and accuracy print, to the letter, as of the tests' day; -update writes it anew.
func TestReadmeShowsTheDemo(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	for _, c := range []struct {
		name, begin, end string
		args             []string
	}{
		{"the demo", "make demo` prints:\n\n```\n", "```\n", []string{"plan", "-f", filepath.Join(root, "examples", "finetune-llama-3.1-70b.yaml")}},
		{"the errors", "`rackrate accuracy` prints them:\n\n", "\n", []string{"accuracy", "-o", "md"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, stdout, stderr := rackrate(t, c.args...)
			if code != 0 {
				t.Fatal(stderr)
			}
			readmeShows(t, filepath.Join(root, "README.md"), c.begin, c.end, stdout)
		})
	}
}

// readmeShows holds what stands between two texts of a file to an output.
func readmeShows(t *testing.T, path, begin, end, output string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), begin)
	if !ok {
		t.Fatalf("README.md has no %q", begin)
	}
	shown := rest[:min(len(rest), len(output))]
	if shown == output && strings.HasPrefix(rest[len(output):], end) {
		return
	}
	if !*update {
		t.Fatalf("README.md is stale: go test ./internal/front/cli -update\n%s", output)
	}
	stop := strings.Index(rest, end)
	if end == "\n" { // a table ends with an empty line
		stop = strings.Index(rest, "\n\n") + 1
	}
	if stop < 0 {
		t.Fatalf("README.md has no end of what follows %q", begin)
	}
	if err := os.WriteFile(path, []byte(head+begin+output+rest[stop:]), 0o644); err != nil {
		t.Fatal(err)
	}
}
