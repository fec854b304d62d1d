package aws

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

const (
	// window is how much of a file is held at once.
	window = 256 << 10
	// maxRow bounds one row; those of the list have 1.5 KB.
	maxRow = 1 << 20
	// preamble is how many rows stand before the column names at most; five do.
	preamble = 20
)

// table reads a price list in CSV row by row: some rows of disclaimers, the names of the columns, then the data.
type table struct {
	in     *bufio.Reader
	long   []byte // a row that does not fit the window, or goes over several lines
	fields [][]byte
	width  int
	lines  int // read so far
}

var (
	errNoHeader = errors.New("no row of column names that begins with SKU")
	errLongRow  = fmt.Errorf("a row of more than %d bytes", maxRow)
	errQuote    = errors.New("a quotation mark that nothing closes")
)

// openTable reads up to the column names and gives the position of each that was asked for, -1 where there is none; those
// in need must be there.
func openTable(in io.Reader, need, may []string) (*table, map[string]int, error) {
	t := &table{in: bufio.NewReaderSize(in, window)}
	for range preamble {
		row, err := t.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		if names := t.split(row); string(names[0]) == "SKU" {
			t.width = len(names)
			at := map[string]int{}
			for _, name := range slices.Concat(need, may) {
				at[name] = slices.IndexFunc(names, func(n []byte) bool { return string(n) == name })
			}
			for _, name := range need {
				if at[name] < 0 {
					return nil, nil, fmt.Errorf("no column %q", name)
				}
			}
			return t, at, nil
		}
	}
	return nil, nil, errNoHeader
}

// next gives a row as it stands, valid until the next one; io.EOF after the last.
func (t *table) next() ([]byte, error) {
	t.long = t.long[:0]
	open := false // within quotation marks
	for {
		part, err := t.in.ReadSlice('\n')
		if bytes.Count(part, quote)%2 == 1 {
			open = !open
		}
		if err == nil {
			t.lines++
		}
		whole := err == nil && !open
		if whole && len(t.long) == 0 {
			return bytes.TrimRight(part, "\r\n"), nil
		}
		if t.long = append(t.long, part...); len(t.long) > maxRow {
			return nil, errLongRow
		}
		switch {
		case whole:
			return bytes.TrimRight(t.long, "\r\n"), nil
		case err == nil || err == bufio.ErrBufferFull:
			continue
		case err != io.EOF:
			return nil, err
		case len(t.long) == 0:
			return nil, io.EOF
		case open:
			return nil, errQuote
		}
		t.lines++
		return bytes.TrimRight(t.long, "\r\n"), nil
	}
}

var quote = []byte{'"'}

// split cuts a row into its cells, valid until the next row is read.
func (t *table) split(row []byte) [][]byte {
	t.fields = t.fields[:0]
	for {
		if len(row) == 0 || row[0] != '"' {
			end := bytes.IndexByte(row, ',')
			if end < 0 {
				t.fields = append(t.fields, row)
				return t.fields
			}
			t.fields, row = append(t.fields, row[:end]), row[end+1:]
			continue
		}
		cell, rest, more := quoted(row[1:])
		if t.fields = append(t.fields, cell); !more {
			return t.fields
		}
		row = rest
	}
}

// quoted reads a cell up to its closing mark; a doubled mark within it stands for one.
func quoted(row []byte) (cell, rest []byte, more bool) {
	from := 0
	for {
		end := bytes.IndexByte(row[from:], '"')
		if end < 0 {
			cell = row
			break
		}
		if end += from; end+1 < len(row) && row[end+1] == '"' {
			from = end + 2
			continue
		}
		cell, rest = row[:end], row[end+1:]
		break
	}
	if from > 0 {
		cell = []byte(strings.ReplaceAll(string(cell), `""`, `"`))
	}
	if i := bytes.IndexByte(rest, ','); i >= 0 { // what stands between the mark and the comma is no part of any cell
		return cell, rest[i+1:], true
	}
	return cell, nil, false
}
