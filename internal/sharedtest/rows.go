package sharedtest

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"testing"
)

// Row is a line of a table of the shared folder, by the names in its header.
type Row map[string]string

// Rows reads a table of the shared folder, as Dir finds it.
func Rows(t testing.TB, path ...string) []Row {
	t.Helper()
	f, err := os.Open(filepath.Join(append([]string{Dir(t)}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) < 2 {
		t.Fatalf("%s has no rows", f.Name())
	}
	rows := make([]Row, len(lines)-1)
	for i, line := range lines[1:] {
		rows[i] = Row{}
		for j, name := range lines[0] {
			rows[i][name] = line[j]
		}
	}
	return rows
}
