package catalog

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
)

// SkyPilotRow is one row of a catalog in SkyPilot's CSV format, with the format's quirks undone but its
// figures as they stand.
type SkyPilotRow struct {
	Line         int
	InstanceType string
	Accelerator  string // AcceleratorName, else the name in GpuInfo; empty where neither has one
	Device       string // name in GpuInfo
	Count        unit.Maybe[float64]
	MiB          float64 // memory figure in GpuInfo; 0 where there is none
	VCPU, RAMGiB unit.Maybe[float64]
	Price, Spot  unit.Maybe[money.Rate] // in the currency given to the reader; a zero is unknown
	Region, Zone string
	Upstream     string // UpstreamCloudId: the owner's own name of the machine
	Provider     string // the owner, in a broker's file
	host         bool   // no accelerator is named
}

// maxFeedBytes bounds what is read from a feed file; the largest known catalog is a tenth of it.
const maxFeedBytes = 64 << 20

// ReadSkyPilot reads a file in SkyPilot's format: any column order; CRLF; rows with an unquoted comma in the last
// column; GpuInfo as a Python dict, as JSON or as a bare name. Rows that cannot be read become faults.
func ReadSkyPilot(r io.Reader, currency money.Currency) ([]SkyPilotRow, []Fault, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxFeedBytes+1))
	if err != nil {
		return nil, nil, err
	}
	if err := checkText(text); err != nil {
		return nil, nil, err
	}
	cr := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	cr.FieldsPerRecord, cr.ReuseRecord = -1, true
	head, err := cr.Read()
	if err != nil {
		return nil, nil, problem.New(problem.Input, "catalog.no_header", nil).Wrap(err)
	}
	f := skyPilotFile{currency: currency, width: len(head), col: map[string]int{}}
	for i, h := range head {
		f.col[strings.TrimSpace(h)] = i
	}
	var missing []string
	for _, need := range []string{"InstanceType", "AcceleratorName", "AcceleratorCount", "Price", "Region"} {
		if _, ok := f.col[need]; !ok {
			missing = append(missing, need)
		}
	}
	if len(missing) > 0 {
		return nil, nil, problem.New(problem.Input, "catalog.missing_columns", problem.Args{"Columns": missing})
	}
	f.read(cr)
	return f.rows, f.faults, nil
}

// checkText refuses what spreadsheet programs save by default but no reader of CSV expects.
func checkText(text []byte) error {
	bad := func(enc string) error {
		return problem.New(problem.Input, "catalog.encoding", problem.Args{"Encoding": enc})
	}
	switch {
	case len(text) > maxFeedBytes:
		return problem.New(problem.Input, "catalog.too_large", problem.Args{"MaxBytes": maxFeedBytes})
	case bytes.HasPrefix(text, []byte{0xff, 0xfe}), bytes.HasPrefix(text, []byte{0xfe, 0xff}), bytes.IndexByte(text, 0) >= 0:
		return bad("UTF-16")
	case !utf8.Valid(text):
		return bad("unknown")
	}
	return nil
}

type skyPilotFile struct {
	currency money.Currency
	width    int
	col      map[string]int
	rows     []SkyPilotRow
	faults   []Fault
}

func (f *skyPilotFile) read(cr *csv.Reader) {
	for {
		rec, err := cr.Read()
		if err == io.EOF {
			return
		}
		var syntax *csv.ParseError
		if errors.As(err, &syntax) {
			f.fault(BadRow, "", syntax.Line, problem.Args{"Column": syntax.Column, "Want": "csv"})
			continue
		}
		if err != nil {
			return // a reader over memory has no other error
		}
		line, _ := cr.FieldPos(0)
		if len(rec) > f.width { // an unquoted list in the last column: "V1,V2" under Generation
			rec = append(rec[:f.width-1:f.width-1], strings.Join(rec[f.width-1:], ","))
		}
		if len(rec) < f.width {
			f.fault(BadRow, rec[0], line, problem.Args{"Value": strconv.Itoa(len(rec)), "Want": strconv.Itoa(f.width) + " columns"})
			continue
		}
		f.add(rec, line)
	}
}

func (f *skyPilotFile) add(rec []string, line int) {
	get := func(name string) string {
		if i, ok := f.col[name]; ok {
			return known(rec[i])
		}
		return ""
	}
	info := get("GpuInfo")
	device, inner, mib := gpuInfo(info)
	row := SkyPilotRow{
		Line: line, InstanceType: get("InstanceType"), Accelerator: get("AcceleratorName"), Device: device, MiB: mib,
		Region: get("Region"), Zone: get("AvailabilityZone"), Upstream: get("UpstreamCloudId"), Provider: get("Provider"),
	}
	number := func(column string) unit.Maybe[float64] {
		s := get(column)
		v, err := strconv.ParseFloat(s, 64)
		if s == "" || err == nil && v == 0 {
			return unit.None[float64]()
		}
		if err != nil || v < 0 || math.IsInf(v, 0) || math.IsNaN(v) {
			f.fault(BadRow, row.InstanceType, line, problem.Args{"Column": column, "Value": s, "Want": "number"})
			return unit.None[float64]()
		}
		return unit.Some(v)
	}
	price := func(column string) unit.Maybe[money.Rate] {
		s := get(column)
		if s == "" {
			return unit.None[money.Rate]()
		}
		r, err := money.ParseRate(s, f.currency)
		if err != nil {
			f.fault(BadRow, row.InstanceType, line, problem.Args{"Column": column, "Value": s, "Want": "price"})
		}
		if err == nil && r.IsZero() && column == "Price" {
			f.fault(ZeroPrice, row.InstanceType, line, nil)
		}
		if err != nil || r.IsZero() { // 0.00 stands for none in several feeds, of spot prices without a word
			return unit.None[money.Rate]()
		}
		return unit.Some(r)
	}
	row.Count = number("AcceleratorCount")
	row.host = row.Accelerator == "" && info == "" && !row.Count.Known()
	if row.Accelerator == "" {
		row.Accelerator = device
	}
	if n, ok := inner.Get(); ok && !row.Count.Known() {
		row.Count = unit.Some(n)
	}
	row.VCPU, row.RAMGiB = number("vCPUs"), number("MemoryGiB")
	row.Price, row.Spot = price("Price"), price("SpotPrice")
	f.rows = append(f.rows, row)
}

func (f *skyPilotFile) fault(k FaultKind, instanceType string, line int, args problem.Args) {
	f.faults = append(f.faults, Fault{Kind: k, Severity: k.Severity(), InstanceType: instanceType, Line: line, Args: args})
}

// known trims a cell and empties the words that programs print for nothing.
func known(s string) string {
	s = strings.TrimSpace(s)
	if slices.Contains([]string{"none", "null", "nan", "n/a", "na"}, strings.ToLower(s)) {
		return ""
	}
	return s
}

// gpuInfo reads device name, count and memory out of a Python dict or JSON text, which differ only in quotes,
// or takes the whole text as the name. Keys are matched in any case: one feed writes them in lower case.
func gpuInfo(info string) (name string, count unit.Maybe[float64], mib float64) {
	if !strings.Contains(info, "{") {
		return info, unit.None[float64](), 0
	}
	if n, err := strconv.ParseFloat(infoField(info, "count"), 64); err == nil && n > 0 && !math.IsInf(n, 0) {
		count = unit.Some(n)
	}
	if m, err := strconv.ParseFloat(infoField(info, "sizeinmib"), 64); err == nil && m > 0 && !math.IsInf(m, 0) {
		mib = m
	}
	return known(infoField(info, "name")), count, mib
}

func infoField(info, key string) string {
	low := strings.ToLower(info)
	for _, q := range []string{"'", `"`} {
		i := strings.Index(low, q+key+q)
		if i < 0 || i+len(key)+2 > len(info) || len(low) != len(info) {
			continue
		}
		rest := strings.TrimLeft(info[i+len(key)+2:], " :")
		if q := rest[:min(1, len(rest))]; q == "'" || q == `"` {
			v, _, _ := strings.Cut(rest[1:], q)
			return v
		}
		if end := strings.IndexAny(rest, ",}] "); end >= 0 {
			rest = rest[:end]
		}
		return rest
	}
	return ""
}
