// Command catalogbuild is a maintainers' tool: it rebuilds data/machines.csv, data/prices/ and data/sources.csv from
// the research folder that RACKRATE_SHARED names. Nothing in the product needs it or that folder.
//
// Each source has a file here that knows that source's traps; builder merges what they add. The output depends on
// the input only, so a second run changes nothing; the test of this package holds the committed files to that.
package main

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	out := flag.String("out", "data", "folder to write to")
	flag.Parse()
	if err := run(os.Getenv("RACKRATE_SHARED"), *out, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "catalogbuild:", err)
		os.Exit(1)
	}
}

func run(shared, out string, report io.Writer) error {
	if shared == "" {
		return fmt.Errorf("RACKRATE_SHARED is not set")
	}
	files, rep, err := build(os.DirFS(filepath.Join(shared, "catalog")))
	if err != nil {
		return err
	}
	rep.print(report)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, files[name], 0o644); err != nil {
			return err
		}
	}
	return nil
}
