package catalog

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/flate"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/provider"
)

// Layer is how near a source stands to what will really be charged.
type Layer string

// The layers, nearest first.
const (
	Contract Layer = "contract" // what a team has agreed with a provider
	Vendor   Layer = "vendor"   // the provider's own price list or interface
	Copy     Layer = "copy"     // a third party's copy of it, or a file
	BuiltIn  Layer = "built-in" // the catalog that ships with the program
)

// Layers lists the layers, nearest first.
func Layers() []Layer { return []Layer{Contract, Vendor, Copy, BuiltIn} }

// Snapshot is all that one source said at one time.
type Snapshot struct {
	Source   string // the name of the source
	Layer    Layer
	AsOf     string // ISO day that it speaks of; rows of another day say so themselves
	Machines []*Machine
	Rows     []Row
	Sources  []Source // where its rows came from, the source itself among them
	Covers   []Cover
	Bands    []provider.Band
	Terms    []Term
	Seen     []provider.Seen // no part of what the source said: what came of reading it again and again
}

// Cover is a region of a provider and a way of paying of which a source has said everything there is.
type Cover struct {
	Provider string
	Region   string // empty: all of the provider's regions
	Mode     BillingMode
	AsOf     string // ISO day of an earlier reading, where a later one lost the region; empty: the snapshot's
}

// ErrNotArchive says that a file is no snapshot.
var ErrNotArchive = errors.New("catalog: not a snapshot")

// The files of a snapshot beside those of the built-in catalog.
const (
	coversFile = "covers.csv"
	bandsFile  = "spot_interruption.csv"
	termsFile  = "terms.csv"
	seenFile   = "seen.csv"
)

// Files gives a snapshot in the form of the built-in catalog's files, by name. A date that is the snapshot's own is left
// empty, so that the same answer on another day gives the same files.
func (s *Snapshot) Files() (map[string][]byte, error) {
	own := func(day string) string {
		if day == s.AsOf {
			return ""
		}
		return day
	}
	files := map[string][]byte{}
	var failed error
	put := func(name string, write func(io.Writer) error) {
		var b bytes.Buffer
		failed = errors.Join(failed, write(&b))
		files[name] = b.Bytes()
	}
	c := New(slices.Clone(s.Machines), slices.Clone(s.Rows), slices.Clone(s.Sources))
	put("machines.csv", func(w io.Writer) error { return writeMachines(w, c.Machines, own) })
	put("sources.csv", func(w io.Writer) error { return writeSources(w, c.Sources, own) })
	for p, rows := range c.rowsByProvider() {
		put("prices/"+p+".csv", func(w io.Writer) error { return writePrices(w, rows, own) })
	}
	if len(s.Covers) > 0 {
		put(coversFile, func(w io.Writer) error { return writeCovers(w, s.Covers) })
	}
	if len(s.Bands) > 0 {
		put(bandsFile, func(w io.Writer) error { return provider.WriteBands(w, s.Bands, own) })
	}
	if len(s.Seen) > 0 {
		put(seenFile, func(w io.Writer) error { return provider.WriteSeen(w, s.Seen) })
	}
	if len(s.Terms) > 0 {
		put(termsFile, func(w io.Writer) error { return writeTerms(w, s.Terms) })
	}
	return files, failed
}

// Archive packs files into one, the same bytes for the same files, and gives a hash of what the source said: what was seen of it
// over time is packed and not hashed.
func Archive(files map[string][]byte) (packed []byte, hash string, err error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	// The fastest level packs prices to a seventh where the usual one packs them to a tenth, in a third of the time.
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestSpeed) })
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)})
		if err != nil {
			return nil, "", err
		}
		if _, err := f.Write(files[name]); err != nil {
			return nil, "", err
		}
		if name == seenFile {
			continue
		}
		// A hash never fails to take bytes; the name and the zero byte keep one file's end apart from the next one's start.
		_, _ = io.WriteString(sum, name+"\x00")
		_, _ = sum.Write(files[name])
		_, _ = sum.Write([]byte{0})
	}
	if err := z.Close(); err != nil {
		return nil, "", err
	}
	return b.Bytes(), hex.EncodeToString(sum.Sum(nil)), nil
}

// maxUnpacked bounds what an archive may unpack to: five million prices.
const maxUnpacked = 512 << 20

// ReadArchive unpacks what Archive packed, as the source said it on the day asOf. All faults are reported together.
func ReadArchive(source string, layer Layer, asOf string, packed []byte, chips *accelerator.Table) (*Snapshot, error) {
	z, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		return nil, errors.Join(ErrNotArchive, err)
	}
	texts := map[string]string{}
	left := int64(maxUnpacked)
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			return nil, err
		}
		var b strings.Builder
		b.Grow(int(min(f.UncompressedSize64, 64<<20)))
		n, err := io.Copy(&b, io.LimitReader(r, left+1))
		if err = errors.Join(err, r.Close()); err != nil {
			return nil, err
		}
		if left -= n; left < 0 {
			return nil, problem.New(problem.Input, "catalog.too_large", problem.Args{"MaxBytes": maxUnpacked})
		}
		texts[f.Name] = b.String()
	}
	return readSnapshot(source, layer, asOf, texts, chips)
}

func readSnapshot(source string, layer Layer, asOf string, texts map[string]string, chips *accelerator.Table) (*Snapshot, error) {
	var faults problem.List
	l := newLoader(chips, &faults, asOf)
	l.sources("sources.csv", texts["sources.csv"])
	l.machines("machines.csv", texts["machines.csv"])
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if p, ok := strings.CutPrefix(name, "prices/"); ok {
			l.prices(name, strings.TrimSuffix(p, ".csv"), texts[name])
		}
	}
	s := &Snapshot{Source: source, Layer: layer, AsOf: asOf, Machines: l.list, Rows: l.rows, Sources: l.from}
	if text, ok := texts[coversFile]; ok {
		s.Covers = l.covers(coversFile, text)
	}
	if text, ok := texts[termsFile]; ok {
		s.Terms = l.terms(termsFile, text)
	}
	if text, ok := texts[seenFile]; ok {
		seen, err := provider.ReadSeen(seenFile, []byte(text))
		if err != nil {
			faults = append(faults, problem.All(err)...)
		}
		s.Seen = seen
	}
	if text, ok := texts[bandsFile]; ok {
		bands, err := provider.ReadBands(bandsFile, []byte(text), asOf)
		if err != nil {
			faults = append(faults, problem.All(err)...)
		}
		s.Bands = bands
	}
	return s, faults.OrNil()
}

const coverColumns = "provider,region,mode,as_of"

func (l *loader) covers(file, text string) (out []Cover) {
	t, ok := newTable(file, text, coverColumns, l.faults)
	for ok && t.next() {
		c := Cover{t.text(0), t.row[1], t.mode(2), t.row[3]}
		if c.AsOf != "" {
			c.AsOf = t.date(3)
		}
		out = append(out, c)
	}
	return out
}

func writeCovers(w io.Writer, covers []Cover) error {
	covers = slices.Clone(covers)
	slices.SortFunc(covers, func(a, b Cover) int {
		return cmp.Or(strings.Compare(a.Provider, b.Provider), strings.Compare(a.Region, b.Region), strings.Compare(string(a.Mode), string(b.Mode)), strings.Compare(a.AsOf, b.AsOf))
	})
	covers = slices.Compact(covers)
	return writeRows(w, coverColumns, len(covers), func(i int) []string {
		return []string{covers[i].Provider, covers[i].Region, string(covers[i].Mode), covers[i].AsOf}
	})
}

// AgeDays is how many days lie between two ISO dates; false where one is not a date.
func AgeDays(asOf, today string) (int, bool) {
	then, err1 := time.Parse(time.DateOnly, asOf)
	now, err2 := time.Parse(time.DateOnly, today)
	return int(now.Sub(then).Hours() / 24), err1 == nil && err2 == nil
}
