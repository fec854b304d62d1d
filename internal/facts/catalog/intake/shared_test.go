package intake_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/catalog/intake"
	"github.com/rackrate/rackrate/internal/facts/provider"
	"github.com/rackrate/rackrate/internal/sharedtest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func readOptions(known *catalog.Catalog) intake.ReadOptions {
	return intake.ReadOptions{Providers: provider.Embedded(), Chips: accelerator.Embedded(), Known: known}
}

// tally reads a file and says what became of its rows, on a line.
func tally(t *testing.T, name string, text []byte) string {
	t.Helper()
	known, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	in := options(known)
	err = intake.Read(name, bytes.NewReader(text), in, readOptions(known))
	var p *problem.Error
	switch {
	case errors.As(err, &p):
		return "refused: " + p.Code
	case err != nil:
		t.Fatal(err)
	}
	r := in.Result()
	checkTally(t, r, 0)
	by := map[intake.Kind]int{}
	for _, x := range r.Rejections {
		by[x.Kind]++
	}
	line := fmt.Sprintf("read %d kept %d merged %d rejected %d", r.Tally.Read, r.Tally.Kept, r.Tally.Merged, r.Tally.Rejected)
	for _, k := range slices.Sorted(maps.Keys(by)) {
		line += fmt.Sprintf(" %s=%d", k, by[k])
	}
	if len(r.Faults) > 0 {
		line += fmt.Sprintf(" · told %d", len(r.Faults))
	}
	return line
}

// What becomes of every row of every public file, to the row.
func TestPublicFiles(t *testing.T) {
	root := filepath.Join(sharedtest.Dir(t), "catalog")
	var got strings.Builder
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Base(path) == "apis.md" || filepath.Base(path) == "facts.md" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		fmt.Fprintf(&got, "%s: %s\n", filepath.ToSlash(name), tally(t, path, text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "public_files.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Error(diff)
	}
}
