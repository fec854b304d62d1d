package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The README shows what make demo prints, to the letter, as of the tests' day; -update writes it anew.
func TestReadmeShowsTheDemo(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	code, stdout, stderr := rackrate(t, "plan", "-f", filepath.Join(root, "examples", "finetune-llama-3.1-70b.yaml"))
	if code != 0 {
		t.Fatal(stderr)
	}
	path := filepath.Join(root, "README.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const fence = "prints:\n\n```\n"
	head, rest, ok := strings.Cut(string(text), fence)
	shown, tail, closed := strings.Cut(rest, "```\n")
	if !ok || !closed {
		t.Fatal("README.md has no demo output")
	}
	if shown == stdout {
		return
	}
	if !*update {
		t.Fatalf("README.md is stale: go test ./internal/front/cli -update\n%s", stdout)
	}
	if err := os.WriteFile(path, []byte(head+fence+stdout+"```\n"+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}
