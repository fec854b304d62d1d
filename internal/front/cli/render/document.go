// Package render shows one result object in each of the formats of -o: a table for people, a wider one, JSON and
// CSV for programs, Markdown for documents.
//
// Invariants: every format shows the same result; nothing here decides anything; text fits the width it is given
// and is aligned by display width, so Chinese and Latin line up; colour is never the only sign. Imported by
// front/cli only.
package render

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/rackrate/rackrate/internal/front/say"
)

// Format is a way to show a result.
type Format string

// The formats.
const (
	Table    Format = "table"
	Wide     Format = "wide"
	JSON     Format = "json"
	CSV      Format = "csv"
	Markdown Format = "md"
)

// Formats lists every format.
func Formats() []Format { return []Format{Table, Wide, JSON, CSV, Markdown} }

// ParseFormat finds a format by its name.
func ParseFormat(s string) (Format, bool) {
	f := Format(strings.ToLower(s))
	return f, slices.Contains(Formats(), f)
}

// Names lists the formats by name.
func Names() []string {
	var names []string
	for _, f := range Formats() {
		names = append(names, string(f))
	}
	return names
}

// Document is a result that can be shown in every format.
type Document interface {
	// Text writes it for people; wide asks for every column.
	Text(p *Printer, wide bool)
	// Markdown writes it as a piece of a document.
	Markdown(p *Printer)
	// Wire gives the value whose JSON is the documented contract.
	Wire(s *say.Speaker) any
	// Rows gives the flat form, the heads first.
	Rows() [][]string
}

// Options say how to show a document.
type Options struct {
	Format Format
	Width  int // columns of the terminal; 0 is DefaultWidth
	Color  bool
	Say    *say.Speaker
}

// Write shows a document.
func Write(w io.Writer, d Document, o Options) error {
	switch o.Format {
	case JSON:
		return writeJSON(w, d.Wire(o.Say))
	case CSV:
		out := csv.NewWriter(w)
		if err := out.WriteAll(d.Rows()); err != nil {
			return err
		}
		return out.Error()
	case Markdown:
		p := NewPrinter(o)
		d.Markdown(p)
		return p.Flush(w)
	default:
		p := NewPrinter(o)
		d.Text(p, o.Format == Wide)
		return p.Flush(w)
	}
}

// writeJSON writes indented JSON that a diff can read; the fields keep the order of their struct, so that the
// same result is the same bytes.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
