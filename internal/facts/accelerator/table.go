package accelerator

import (
	"encoding/csv"
	"errors"
	"io"
	"io/fs"
	"sync"

	"github.com/rackrate/rackrate/data"
	"github.com/rackrate/rackrate/internal/base/problem"
)

// File is where the rows lie below the root given to Load.
const File = "accelerators.csv"

// Table is every known chip and the names people give them. It never changes once loaded, so it may be
// shared between goroutines.
type Table struct {
	chips     []*Accelerator
	byName    map[string]*Accelerator
	spellings []spelling
	written   []string // every name, model and alias as printed, once, for suggestions
	printed   map[string]bool
}

// Embedded is the table built into the program. It panics where the embedded file is broken, which the
// tests rule out.
var Embedded = sync.OnceValue(func() *Table {
	t, err := Load(data.FS)
	if err != nil {
		panic(err)
	}
	return t
})

// Load reads and checks the rows of File, and reports every fault with its line as a problem.List.
func Load(fsys fs.FS) (*Table, error) {
	f, err := fsys.Open(File)
	if err != nil {
		return nil, problem.List{problem.New(problem.Internal, "data.unreadable", problem.Args{"File": File}).Wrap(err)}
	}
	defer f.Close()

	r := csv.NewReader(f)
	r.FieldsPerRecord = -1 // counted per row, so that one bad row does not hide the next
	r.ReuseRecord = true
	t := &Table{byName: map[string]*Accelerator{}, printed: map[string]bool{}}
	var faults problem.List
	if fault := checkHeader(r); fault != nil {
		return nil, problem.List{fault}
	}
	lines := map[string]int{}
	for {
		cells, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			faults = append(faults, unreadable(err))
			break
		}
		line, _ := r.FieldPos(0)
		d := decoder{cells: cells, line: line}
		row := d.decode()
		faults = append(faults, d.faults...)
		if row.chip == nil {
			continue
		}
		if first := lines[row.chip.Name]; first > 0 {
			faults = append(faults, problem.New(problem.Internal, "data.duplicate",
				problem.Args{"Name": row.chip.Name, "FirstLine": first}).At(File, line))
		}
		lines[row.chip.Name] = line
		t.add(row)
	}
	if err := faults.OrNil(); err != nil {
		return nil, err
	}
	return t, nil
}

func checkHeader(r *csv.Reader) *problem.Error {
	got, err := r.Read()
	if err != nil {
		return unreadable(err)
	}
	for i := range max(len(got), int(numColumns)) {
		want, have := "", ""
		if i < int(numColumns) {
			want = columnNames[i]
		}
		if i < len(got) {
			have = got[i]
		}
		if want != have {
			return problem.New(problem.Internal, "data.bad_header",
				problem.Args{"Column": i + 1, "Want": want, "Got": have}).At(File, 1)
		}
	}
	return nil
}

// unreadable is a fault of the CSV itself, after which nothing more can be read.
func unreadable(err error) *problem.Error {
	e := problem.New(problem.Internal, "data.unreadable", problem.Args{"File": File}).Wrap(err)
	if bad, ok := errors.AsType[*csv.ParseError](err); ok {
		e.At(File, bad.Line)
	}
	return e
}

func (t *Table) add(row row) {
	t.chips = append(t.chips, row.chip)
	t.byName[row.chip.Name] = row.chip
	s := newSpelling(row)
	t.spellings = append(t.spellings, s)
	for _, name := range append([]string{row.chip.Name, s.model}, row.aliases...) {
		if !t.printed[name] {
			t.printed[name] = true
			t.written = append(t.written, name)
		}
	}
}

// All gives every chip in the order of the file. The slice is the caller's.
func (t *Table) All() []*Accelerator { return append([]*Accelerator(nil), t.chips...) }

// Get finds a chip by its canonical name, exactly; Resolve is for names as people write them.
func (t *Table) Get(name string) (*Accelerator, bool) {
	a, ok := t.byName[name]
	return a, ok
}
