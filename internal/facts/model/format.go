package model

import (
	"encoding/csv"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/rackrate/rackrate/data"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

const formatsFile = "formats.csv"

var formatColumns = []string{"name", "bits", "compute", "weight_only", "experts_only", "keeps_head", "aliases", "source", "as_of", "notes"}

// Formats is the known storage formats.
type Formats struct {
	rows []FormatInfo
	// byName finds a row by its folded name or alias.
	byName map[string]int
}

// LoadFormats reads formats.csv, strictly: every fault comes back, as data.bad_row with its line.
func LoadFormats(fsys fs.FS) (*Formats, error) {
	text, err := fs.ReadFile(fsys, formatsFile)
	if err != nil {
		return nil, fmt.Errorf("reading formats: %w", err)
	}
	r := csv.NewReader(strings.NewReader(string(text)))
	r.FieldsPerRecord = len(formatColumns)
	rows, err := r.ReadAll()
	if err != nil {
		return nil, badRow(formatsFile, 1, "", err)
	}
	if len(rows) == 0 || !slices.Equal(rows[0], formatColumns) {
		return nil, badRow(formatsFile, 1, "", fmt.Errorf("want columns %v", formatColumns))
	}
	f := &Formats{byName: map[string]int{}}
	var faults problem.List
	for i, row := range rows[1:] {
		info, err := formatRow(row)
		for _, name := range append(strings.Fields(row[6]), row[0]) {
			if row, taken := f.byName[foldName(name)]; taken && row != len(f.rows) {
				err = fmt.Errorf("name %s is taken", name)
			}
			f.byName[foldName(name)] = len(f.rows)
		}
		if err != nil {
			faults = append(faults, badRow(formatsFile, i+2, row[0], err))
		}
		f.rows = append(f.rows, info)
	}
	return f, faults.OrNil()
}

func badRow(file string, line int, name string, err error) *problem.Error {
	return problem.New(problem.Internal, "data.bad_row", problem.Args{"Row": name, "Error": err.Error()}).At(file, line).Wrap(err)
}

func formatRow(row []string) (FormatInfo, error) {
	f := FormatInfo{Name: Format(row[0]), Source: row[7], AsOf: row[8], Notes: row[9]}
	bits, err := strconv.ParseFloat(row[1], 64)
	if err != nil || !(bits >= 1 && bits <= 64) {
		return f, fmt.Errorf("bits %q", row[1])
	}
	f.Bits = bits
	for _, name := range strings.Fields(row[2]) {
		p, ok := precision(name)
		if !ok {
			return f, fmt.Errorf("precision %q", name)
		}
		f.Compute = append(f.Compute, p)
	}
	for i, to := range map[int]*bool{3: &f.WeightOnly, 4: &f.ExpertsOnly, 5: &f.KeepsHead} {
		if row[i] != "yes" && row[i] != "no" {
			return f, fmt.Errorf("%s is %q, not yes or no", formatColumns[i], row[i])
		}
		*to = row[i] == "yes"
	}
	if f.Name == "" || len(f.Compute) == 0 || f.Source == "" || !isDate(f.AsOf) {
		return f, fmt.Errorf("a name, a precision, a source and a date are needed")
	}
	return f, nil
}

func precision(name string) (accelerator.Precision, bool) {
	for p := range accelerator.NumPrecisions {
		if p.String() == name {
			return p, true
		}
	}
	return 0, false
}

// EmbeddedFormats is the table in the program. A fault in it is a fault of the build, found by its tests.
var EmbeddedFormats = sync.OnceValue(func() *Formats {
	f, err := LoadFormats(data.FS)
	if err != nil {
		panic(err)
	}
	return f
})

// All lists the formats in the order of the file; the caller must not change it.
func (f *Formats) All() []FormatInfo { return f.rows }

// Lookup finds a format by any usual spelling: bfloat16, BF16, w4a16, Q4_K_M, e4m3.
func (f *Formats) Lookup(text string) (FormatInfo, error) {
	if i, ok := f.byName[foldName(text)]; ok {
		return f.rows[i], nil
	}
	names := make([]string, len(f.rows))
	for i, row := range f.rows {
		names[i] = string(row.Name)
	}
	return FormatInfo{}, problem.New(problem.Input, "format.unknown", problem.Args{"Name": text}).With(problem.Nearest(text, names, 3)...)
}

// LookupFormat is Lookup in the embedded table.
func LookupFormat(text string) (FormatInfo, error) { return EmbeddedFormats().Lookup(text) }
