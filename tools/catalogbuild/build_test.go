package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rackrate/rackrate/data"
	"github.com/rackrate/rackrate/internal/sharedtest"
)

// The committed files are what the sources give, to the byte: no row was edited by hand.
func TestRebuildGivesTheCommittedFiles(t *testing.T) {
	shared := os.DirFS(filepath.Join(sharedtest.Dir(t), "catalog"))
	files, rep, err := build(shared)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := data.FS.ReadFile(name)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the sources give (%v): run go run ./tools/catalogbuild", name, err)
		}
	}
	prices, err := data.FS.ReadDir("prices")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range prices {
		if strings.HasSuffix(f.Name(), ".csv") && files["prices/"+f.Name()] == nil {
			t.Errorf("prices/%s has no source", f.Name())
		}
	}
	var out strings.Builder
	rep.print(&out)
	for _, must := range []string{"provider", "total", "left out:", "no accelerator named: PNV6.4XLARGE160", "unknown accelerator: Qualcomm AI100"} {
		if !strings.Contains(out.String(), must) {
			t.Errorf("the report lacks %q", must)
		}
	}
}

// A second build gives the same bytes: the order of maps never shows.
func TestBuildIsDeterministic(t *testing.T) {
	shared := os.DirFS(filepath.Join(sharedtest.Dir(t), "catalog"))
	first, _, err := build(shared)
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := build(shared)
	if err != nil {
		t.Fatal(err)
	}
	for name := range first {
		if !bytes.Equal(first[name], second[name]) {
			t.Errorf("%s differs from build to build", name)
		}
	}
}

func TestQuoteDay(t *testing.T) {
	for in, want := range map[string]string{
		"2026-08-19": "2026-08-19", "effective 2026-07-01": "2026-07-01", "2026-01": "2026-01-01", "2026": "2026-01-01", "2026 (undated excerpt)": "2026-01-01",
	} {
		day, flags := quoteDay(in)
		exact := strings.Contains(in, want)
		if day != want || exact == (len(flags) > 0) {
			t.Errorf("%s: %s %v", in, day, flags)
		}
	}
}
