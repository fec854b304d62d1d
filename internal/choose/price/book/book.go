// Package book reads a price book: what one unit costs an hour on each way of paying, per group where groups differ.
//
// Invariants: all faults of a file come together, each with its line; a price is positive and keeps the currency it was written in.
// Pure. Imported by front.
package book

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/strict"
)

// Entry is one price.
type Entry struct {
	Group  string // empty: of every group that has no price of its own
	Mode   catalog.BillingMode
	Hourly money.Rate // of a term: its whole price by the hour, upfront and all
	Line   int
}

// keys are the columns of a table and the keys of a list; a group is not needed.
var keys = []string{"mode", "hourly", "currency", "group"}

// row is the text of one entry by key, and the line of each.
type row struct {
	line  int
	text  [4]string
	lines [4]int
}

// Parse reads a table (CSV) or a list of mappings (YAML), told apart by how the first line begins. file is what faults call it.
func Parse(file string, data []byte) ([]Entry, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	read := readTable
	if listed(data) {
		read = readList
	}
	rows, faults := read(file, data)
	if len(faults) > 0 && rows == nil {
		return nil, faults
	}
	var entries []Entry
	for _, r := range rows {
		e, bad := r.entry(file)
		faults = append(faults, bad...)
		if len(bad) > 0 {
			continue
		}
		if i := slices.IndexFunc(entries, func(o Entry) bool { return o.Group == e.Group && o.Mode == e.Mode }); i >= 0 {
			faults = append(faults, problem.New(problem.Input, "book.twice", problem.Args{"Mode": string(e.Mode), "Line": entries[i].Line}).At(file, e.Line))
		}
		entries = append(entries, e)
	}
	if len(entries) == 0 && len(faults) == 0 {
		faults = append(faults, problem.New(problem.Input, "book.empty", nil).At(file, 1))
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return entries, nil
}

// listed says whether a file is YAML: its first line that says something is an item of a list, or the start of one in brackets.
func listed(data []byte) bool {
	for line := range strings.Lines(string(data)) {
		switch line = strings.TrimSpace(line); {
		case line == "" || line[0] == '#' || line == "---":
		default:
			return line[0] == '-' || line[0] == '[' || line[0] == '{'
		}
	}
	return false
}

func readTable(file string, data []byte) ([]row, problem.List) {
	fail := func(line int, code string, args problem.Args) problem.List {
		return problem.List{problem.New(problem.Input, code, args).At(file, line)}
	}
	table := csv.NewReader(bytes.NewReader(data))
	table.FieldsPerRecord, table.TrimLeadingSpace, table.Comment = -1, true, '#'
	head, err := table.Read()
	if err != nil {
		return nil, fail(1, "book.empty", nil)
	}
	var at [4]int
	for i, name := range keys {
		at[i] = slices.IndexFunc(head, func(c string) bool { return strings.EqualFold(strings.TrimSpace(c), name) })
		if at[i] < 0 && name != "group" {
			first, _ := table.FieldPos(0)
			return nil, fail(first, "book.columns", problem.Args{"Names": head})
		}
	}
	var rows []row
	var faults problem.List
	for {
		cells, err := table.Read()
		if errors.Is(err, io.EOF) {
			return rows, faults
		}
		if err != nil {
			line := 0
			if pe, ok := errors.AsType[*csv.ParseError](err); ok {
				line = pe.Line
			}
			return rows, append(faults, fail(line, "book.csv", problem.Args{"Detail": err.Error()})...)
		}
		r := row{}
		r.line, _ = table.FieldPos(0)
		if len(cells) != len(head) {
			faults = append(faults, fail(r.line, "book.cells", problem.Args{"Got": len(cells), "Want": len(head)})...)
			continue
		}
		for i := range keys {
			if at[i] >= 0 {
				r.text[i], r.lines[i] = strings.TrimSpace(cells[at[i]]), r.line
			}
		}
		rows = append(rows, r)
	}
}

func readList(file string, data []byte) ([]row, problem.List) {
	f, root := strict.Load(file, data)
	if root == nil {
		return nil, problem.All(f.Err())
	}
	noList := func(n *yaml.Node) { f.Add(problem.New(problem.Input, "book.no_list", nil), n.Line) }
	if root.Kind != yaml.SequenceNode {
		noList(root)
	}
	var rows []row
	for _, n := range root.Content {
		switch {
		case root.Kind != yaml.SequenceNode:
		case n.Kind != yaml.MappingNode:
			noList(n)
		default:
			m := f.Map(n, "", keys...)
			r := row{line: n.Line}
			for i, key := range keys {
				r.text[i], r.lines[i] = m.Text(key), m.LineOf(key)
			}
			rows = append(rows, r)
		}
	}
	return rows, problem.All(f.Err())
}

// entry reads the text of a row.
func (r row) entry(file string) (Entry, problem.List) {
	var faults problem.List
	fault := func(key int, code string, args problem.Args) *problem.Error {
		line := r.line
		if r.lines[key] > 0 {
			line = r.lines[key]
		}
		faults = append(faults, problem.New(problem.Input, code, args).At(file, line))
		return faults[len(faults)-1]
	}
	e := Entry{Group: r.text[3], Mode: catalog.BillingMode(strings.ToLower(r.text[0])), Line: r.line}
	if !slices.Contains(catalog.Modes(), e.Mode) {
		var names []string
		for _, m := range catalog.Modes() {
			names = append(names, string(m))
		}
		fault(0, "book.mode", problem.Args{"Value": r.text[0], "Names": names}).With(problem.Nearest(r.text[0], names, 2)...)
	}
	c := money.Currency(strings.ToUpper(r.text[2]))
	if len(c) != 3 {
		fault(2, "book.currency", problem.Args{"Value": r.text[2]})
	}
	rate, err := money.ParseRate(r.text[1], c)
	if err != nil || rate.Nanos() <= 0 || rate.Nanos() > maxHourly {
		fault(1, "book.hourly", problem.Args{"Value": r.text[1]})
	}
	e.Hourly = rate
	return e, faults
}

// maxHourly bounds a price, in billionths: a million an hour, so that sums over years stay within what money holds.
const maxHourly = 1e15
