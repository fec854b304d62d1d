package intake

import (
	"bytes"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/rackrate/rackrate/internal/base/problem"
)

// Limits of a file: several times the largest known. What a row leaves behind is bounded, and so are the rows.
const (
	maxBytes  = 256 << 20
	maxRows   = 4_000_000 // that are left out
	maxPrices = 1_000_000 // of rows that are handed on; one without a price counts as one
	maxRecord = 1 << 20   // bytes of one row; the longest known has under a thousand
	maxLines  = 16        // of one row, where a cell is quoted over line breaks
)

// records cuts a CSV file into rows and cells without an allocation for each: a file of prices is mostly machines without
// accelerators. A cell may be quoted, with quotes inside doubled, over several lines. What it returns is good until the next call.
type records struct {
	r        io.Reader
	file     string
	buf      []byte
	from, to int // what of buf is not yet given out
	eof      bool
	total    int64
	line     int // that the last row began at
	lines    int // read so far
	cells    [][]byte
	scratch  []byte // of cells whose doubled quotes are undone
}

func newRecords(file string, r io.Reader) *records {
	return &records{r: r, file: file, buf: make([]byte, 0, 256<<10)}
}

// next gives the cells of the next row that is not empty; open where a quoted cell does not end. The error is io.EOF at the end.
func (s *records) next() (cells [][]byte, open bool, err error) {
	for {
		end, err := s.lineEnd(s.from)
		if err != nil {
			return nil, false, err
		}
		s.lines++
		s.line = s.lines
		text := trimEOL(s.buf[s.from:end])
		if len(bytes.TrimSpace(text)) == 0 {
			s.from = end
			continue
		}
		if bytes.IndexByte(text, '"') < 0 {
			s.from = end
			s.cells = splitPlain(s.cells[:0], text)
			return s.cells, false, s.check(text)
		}
		return s.quoted(end)
	}
}

// quoted splits a row that has quotes, with as many further lines as a quoted cell goes over. Where it never ends the first line is
// given as it is, so that one stray quote does not take the rest of the file with it.
func (s *records) quoted(end int) ([][]byte, bool, error) {
	first := end - s.from
	for n := 0; ; n++ {
		text := trimEOL(s.buf[s.from:end])
		cells, open := s.splitQuoted(text)
		if !open {
			s.from = end
			s.lines += n
			return cells, false, s.check(text)
		}
		size := end - s.from
		var err error
		if n < maxLines && size < maxRecord {
			end, err = s.lineEnd(s.from + size)
		}
		if err != nil && err != io.EOF {
			return nil, true, err
		}
		if err == io.EOF || n >= maxLines || size >= maxRecord {
			s.from += first
			return nil, true, nil
		}
	}
}

// lineEnd gives the end of the line that begins at an offset of buf, its line break included. It moves what is unread to the front of
// buf when it has to read on, so that offsets hold from s.from only: it takes and gives them so.
func (s *records) lineEnd(at int) (int, error) {
	size := at - s.from
	searched := 0
	for {
		if i := bytes.IndexByte(s.buf[s.from+size+searched:s.to], '\n'); i >= 0 {
			return s.from + size + searched + i + 1, nil
		}
		searched = s.to - s.from - size
		switch {
		case s.eof && searched == 0:
			return s.from, io.EOF
		case s.eof:
			return s.to, nil
		case searched > maxRecord:
			return 0, problem.New(problem.Input, "intake.long_row", problem.Args{"MaxBytes": maxRecord}).At(s.file, s.lines+1)
		}
		fresh, err := s.fill()
		if err != nil {
			return 0, err
		}
		if bytes.IndexByte(fresh, 0) >= 0 {
			return 0, s.encoding("binary", 0)
		}
	}
}

// fill reads on and gives what is new.
func (s *records) fill() ([]byte, error) {
	if s.from > 0 {
		s.to = copy(s.buf[:cap(s.buf)], s.buf[s.from:s.to])
		s.from = 0
	}
	s.buf = s.buf[:s.to]
	if cap(s.buf)-len(s.buf) < 64<<10 {
		s.buf = slices.Grow(s.buf, cap(s.buf))
	}
	room := s.buf[s.to:cap(s.buf)]
	n, err := s.r.Read(room)
	s.buf = s.buf[:s.to+n]
	s.to += n
	if s.total += int64(n); s.total > maxBytes {
		return nil, problem.New(problem.Input, "intake.too_large", problem.Args{"MaxBytes": maxBytes}).At(s.file, 0)
	}
	if err == io.EOF {
		s.eof = true
		err = nil
	}
	return room[:n], err
}

// check refuses text in another encoding: spreadsheet programs save some by default.
func (s *records) check(text []byte) error {
	if utf8.Valid(text) {
		return nil
	}
	return s.encoding("other", s.line)
}

func (s *records) encoding(is string, line int) error {
	return problem.New(problem.Input, "intake.encoding", problem.Args{"Encoding": is}).At(s.file, line)
}

func trimEOL(text []byte) []byte {
	text = bytes.TrimSuffix(text, []byte("\n"))
	return bytes.TrimSuffix(text, []byte("\r"))
}

func splitPlain(cells [][]byte, text []byte) [][]byte {
	for {
		i := bytes.IndexByte(text, ',')
		if i < 0 {
			return append(cells, text)
		}
		cells, text = append(cells, text[:i]), text[i+1:]
	}
}

// splitQuoted splits a row that has quotes; open where it ends inside of one. A quote inside of a cell that does not begin with one
// stands for itself, and what follows a closing quote belongs to the cell.
func (s *records) splitQuoted(text []byte) (cells [][]byte, open bool) {
	cells = s.cells[:0]
	s.scratch = slices.Grow(s.scratch[:0], len(text)) // never moves below: the cells are pieces of it
	for {
		if len(text) == 0 || text[0] != '"' {
			i := bytes.IndexByte(text, ',')
			if i < 0 {
				s.cells = append(cells, text)
				return s.cells, false
			}
			cells, text = append(cells, text[:i]), text[i+1:]
			continue
		}
		start := len(s.scratch)
		text = text[1:]
		for {
			i := bytes.IndexByte(text, '"')
			if i < 0 {
				s.cells = cells
				return nil, true
			}
			s.scratch = append(s.scratch, text[:i]...)
			text = text[i+1:]
			if len(text) == 0 || text[0] != '"' {
				break
			}
			s.scratch = append(s.scratch, '"')
			text = text[1:]
		}
		i := bytes.IndexByte(text, ',')
		rest := text
		if i >= 0 {
			rest = text[:i]
		}
		s.scratch = append(s.scratch, rest...)
		cells = append(cells, s.scratch[start:len(s.scratch):len(s.scratch)])
		if i < 0 {
			s.cells = cells
			return cells, false
		}
		text = text[i+1:]
	}
}
