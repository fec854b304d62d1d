package accuracy

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/problem"
)

// layout is one kind of table, known by columns that no other has together.
type layout struct {
	name    string
	columns []string
	read    func(*Set, Row) // adds what the row measures to the set
}

// layouts is in order of preference: the first whose columns are all there reads the table.
var layouts = []layout{
	{"training", trainingColumns, trainingRow},
	{"hash", hashColumns, hashRow},
	{"other training", otherTrainingColumns, otherTrainingRow},
	{"simulation", simulationColumns, simulationRow},
	{"diffusion", diffusionColumns, diffusionRow},
	{"serving", servingColumns, servingRow},
	{"inference", visionColumns, inferenceRow},
}

// Row is a line of a table by the names in its header.
type Row struct {
	file   string
	line   int
	cells  map[string]string
	faults *problem.List
}

// Text is a cell without the space around it; empty where the table has no such column.
func (r Row) Text(column string) string { return r.cells[column] }

// Num is a cell as a number; 0 where it is empty. What is no number is a fault of the file.
func (r Row) Num(column string) float64 {
	text := r.cells[column]
	if text == "" {
		return 0
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		*r.faults = append(*r.faults, problem.New(problem.Input, "accuracy.not_a_number", problem.Args{"Column": column, "Value": text}).At(r.file, r.line))
	}
	return v
}

// Int is a cell as a whole number; 0 where it is empty.
func (r Row) Int(column string) int { return int(r.Num(column)) }

// Read adds a table to the set. Faults of its cells come all at once.
func (s *Set) Read(name string, text []byte) error {
	in := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	in.ReuseRecord = true
	head, err := in.Read()
	if errors.Is(err, io.EOF) {
		return problem.New(problem.Input, "accuracy.empty", nil).At(name, 1)
	}
	if err != nil {
		return notCSV(name, err)
	}
	head = slices.Clone(head)
	kind := recognise(head)
	if kind == nil {
		return problem.New(problem.Input, "accuracy.unknown_table", problem.Args{"Columns": strings.Join(head, ", "), "Known": strings.Join(Layouts(), "; ")}).At(name, 1)
	}
	var faults problem.List
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return faults.OrNil()
		}
		if err != nil {
			return append(faults, notCSV(name, err))
		}
		line, _ := in.FieldPos(0)
		row := Row{file: name, line: line, cells: make(map[string]string, len(head)), faults: &faults}
		for i, column := range head {
			if text := strings.TrimSpace(record[i]); text != "" {
				row.cells[column] = text
			}
		}
		kind.read(s, row)
	}
}

func recognise(head []string) *layout {
	for i := range layouts {
		if !slices.ContainsFunc(layouts[i].columns, func(c string) bool { return !slices.Contains(head, c) }) {
			return &layouts[i]
		}
	}
	return nil
}

// Layouts is the tables that are known, each with the columns it is known by.
func Layouts() []string {
	parts := make([]string, len(layouts))
	for i, l := range layouts {
		parts[i] = l.name + " (" + strings.Join(l.columns, ", ") + ")"
	}
	return parts
}

func notCSV(name string, err error) *problem.Error {
	line := 1
	if bad := (*csv.ParseError)(nil); errors.As(err, &bad) {
		line = bad.Line
	}
	return problem.New(problem.Input, "accuracy.not_csv", problem.Args{"Error": err.Error()}).At(name, line)
}
