package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/unit"
)

// record is one row of a source, by column name. A column that the source lacks is a bug here and panics.
type record struct {
	col  map[string]int
	cell []string
}

func (r record) get(column string) string {
	i, ok := r.col[column]
	if !ok {
		panic("catalogbuild: no column " + column)
	}
	return r.cell[i]
}

// number reads a figure; empty and zero are unknown, as the sources use them.
func (r record) number(column string) unit.Maybe[float64] {
	v, err := strconv.ParseFloat(r.get(column), 64)
	if err != nil || v <= 0 {
		return unit.None[float64]()
	}
	return unit.Some(v)
}

// mib reads a memory size in MiB. Large ones were printed with six digits (1.04858e+06) and are whole GiB.
func (r record) mib(column string) unit.Maybe[unit.Bytes] {
	v, ok := r.number(column).Get()
	if !ok {
		return unit.None[unit.Bytes]()
	}
	if strings.Contains(r.get(column), "e+") {
		v = math.Round(v/1024) * 1024
	}
	return unit.Some(unit.Bytes(v) * unit.MiB)
}

// records reads a whole source with a header row. Rows may have more cells than the header: one source leaves a list in its last column
// unquoted.
func (b *builder) records(name string) ([]record, error) {
	f, err := b.src.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	col := map[string]int{}
	for i, h := range rows[0] {
		col[h] = i
	}
	var out []record
	for _, cell := range rows[1:] {
		out = append(out, record{col, cell})
	}
	return out, nil
}

// parseShare reads a count of chips: 8, 0.125 or 1/8.
func parseShare(s string) (float64, bool) {
	var num, den float64
	if n, _ := fmt.Sscanf(s, "%g/%g", &num, &den); n == 2 && den > 0 {
		return num / den, num > 0
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil && v > 0
}
