package intake

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/provider"
)

// Rows takes what a reader reads: an Intake, or the sink of a feed.
type Rows interface {
	Add(Listing)
	Reject(Rejection)
}

// citing is what takes sources too, so that prices keep where they came from; with others they get the source of the whole reading.
type citing interface{ Cite(catalog.Source) }

// ReadOptions say how a file of prices is to be taken.
type ReadOptions struct {
	// Provider is that of rows that name none; empty: the name of the file or of its folder tells.
	Provider  string
	Providers *provider.Table // of names and aliases; nil: a provider is what it is called
	Currency  money.Currency  // of prices that name none; empty: US dollars, or what is known of the provider's file
	// Dated says that whoever reads the file knows of which day it is: a day in its name does not count.
	Dated bool
	Chips *accelerator.Table
	// Known are machines that are known already: they tell which of those without a named accelerator have some all the same.
	Known *catalog.Catalog
}

// CodeNotPrices is the code of the problem that a file holds no prices, by its columns.
const CodeNotPrices = "intake.not_prices"

// Read reads a file of prices and hands on its rows as they come. The header tells the form: that of SkyPilot's catalogs, that of our
// own price files, a flat table with columns of known names, or an archive that `catalog export` wrote. name is the file's, with its
// folder. After an error nothing that was handed on counts. Rows that cannot be read are rejected, each with its line.
func Read(name string, r io.Reader, to Rows, o ReadOptions) error {
	s := newRecords(name, r)
	for s.to < len("PK\x03\x04") && !s.eof {
		if _, err := s.fill(); err != nil {
			return err
		}
	}
	switch start := s.buf[s.from:s.to]; {
	case bytes.HasPrefix(start, []byte("PK\x03\x04")):
		return readArchive(name, io.MultiReader(bytes.NewReader(start), r), to, o)
	case bytes.HasPrefix(start, []byte{0xff, 0xfe}), bytes.HasPrefix(start, []byte{0xfe, 0xff}):
		return s.encoding("UTF-16", 0)
	case bytes.IndexByte(start, 0) >= 0:
		return s.encoding("binary", 0)
	case bytes.HasPrefix(start, []byte("\ufeff")):
		s.from += len("\ufeff")
	}
	head, open, err := s.next()
	if err == io.EOF {
		return problem.New(problem.Input, "intake.empty", nil).At(name, 0)
	}
	if err != nil {
		return err
	}
	f := &file{records: s, to: to, o: o, table: newTable(head)}
	var row func([][]byte)
	switch {
	case open:
		err = f.notPrices(head)
	case f.isSkyPilot():
		row, err = f.skyPilot()
	case f.isOwn():
		row, err = f.own()
	default:
		row, err = f.flat(head)
	}
	if err != nil {
		return err
	}
	return f.each(row)
}

// table is the columns of a file.
type table struct {
	names []string // as they are written, trimmed
	at    map[string]int
}

func newTable(head [][]byte) table {
	t := table{at: make(map[string]int, len(head))}
	for i, h := range head {
		name := string(bytes.TrimSpace(h))
		t.names = append(t.names, name)
		if _, twice := t.at[name]; !twice {
			t.at[name] = i
		}
	}
	return t
}

// file is one file while it is read.
type file struct {
	*records
	table
	to        Rows
	o         ReadOptions
	owner     string // of rows that name no provider
	providers naming
	interned  map[string]string
	machines  map[machineKey]*catalog.Machine
	fault     *Rejection // the first fault of the row
	left      int        // rows left out
	added     int        // prices handed on
}

// each reads every row.
func (f *file) each(row func([][]byte)) error {
	f.interned = map[string]string{}
	width, last := len(f.names), len(f.names)-1
	for {
		cells, open, err := f.next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case open:
			f.reject(Malformed, "", "", problem.Args{"Column": f.names[min(len(f.cells), last)], "Value": `"`, "Want": "quote"})
		case len(cells) < width:
			f.reject(Malformed, f.intern(cells[0]), "", problem.Args{"Value": strconv.Itoa(len(cells)), "Want": strconv.Itoa(width) + " columns"})
		default:
			if len(cells) > width { // an unquoted list in the last column: "V1,V2" under Generation
				cells[last] = bytes.Join(cells[last:], []byte(","))
				cells = cells[:width]
			}
			row(cells)
		}
		if f.left > maxRows || f.added > maxPrices {
			return problem.New(problem.Input, "intake.too_many_rows", problem.Args{"Prices": maxPrices, "Others": maxRows}).At(f.file, f.line)
		}
	}
}

func (f *file) place() Place { return Place{File: f.file, Line: f.line} }

func (f *file) reject(k Kind, instanceType, region string, args problem.Args) {
	f.left++
	f.to.Reject(Rejection{Kind: k, Provider: f.owner, InstanceType: instanceType, Region: region, At: f.place(), Args: args})
}

// add hands on a row, or rejects it where one of its cells could not be read.
func (f *file) add(l Listing) {
	if f.fault != nil {
		f.reject(f.fault.Kind, l.InstanceType, l.Region, f.fault.Args)
		f.fault = nil
		return
	}
	f.added += max(1, len(l.Prices))
	l.At = f.place()
	f.to.Add(l)
}

// bad notes that a cell cannot be read.
func (f *file) bad(column, value, want string) {
	if f.fault == nil {
		if len(value) > maxName {
			value = strings.ToValidUTF8(value[:maxName], "")
		}
		f.fault = &Rejection{Kind: Malformed, Args: problem.Args{"Column": column, "Value": value, "Want": want}}
	}
}

// intern keeps one copy of each name: a file says the same few thousand over and over.
func (f *file) intern(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if s, ok := f.interned[string(b)]; ok {
		return s
	}
	s := string(b)
	f.interned[s] = s
	return s
}

// carries says whether a machine is known to have accelerators.
func (f *file) carries(provider, instanceType string) bool {
	if f.machines == nil {
		f.machines = machinesOf(f.o.Known)
	}
	return f.machines[machineKey{provider, instanceType}] != nil
}

// notPrices refuses a file that holds no prices as far as its header tells.
func (f *file) notPrices(head [][]byte) error {
	names := make([]string, 0, len(head))
	for _, h := range head {
		names = append(names, clean(string(h)))
	}
	if len(names) > 8 {
		names = append(names[:8:8], "…")
	}
	return problem.New(problem.Input, CodeNotPrices, problem.Args{"Columns": names}).At(f.file, 1)
}

// clean is the start of a text without what a terminal might obey.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s)
	if r := []rune(s); len(r) > 40 {
		s = string(r[:40]) + "…"
	}
	return s
}

// known trims a cell and empties the words that programs print for nothing.
func known(b []byte) []byte {
	b = bytes.TrimSpace(b)
	if len(b) <= len("none") && len(b) > 1 && slices.ContainsFunc(nothing, func(w []byte) bool { return bytes.EqualFold(b, w) }) {
		return nil
	}
	return b
}

var nothing = [][]byte{[]byte("none"), []byte("null"), []byte("nan"), []byte("n/a"), []byte("na")}
