package kernelfit

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

// systems are the names that the measurements give to what we call a chip.
var systems = map[string]string{
	"a100_sxm": "A100-SXM-80GB", "h100_sxm": "H100-SXM-80GB", "h200_sxm": "H200-SXM-141GB", "b200_sxm": "B200", "gb200": "GB200",
	"b300_sxm": "B300", "gb300": "GB300", "l40s": "L40S", "rtx_pro_6000_server": "RTX-PRO-6000-Blackwell-Server", "b60": "Arc-Pro-B60",
}

// line is one row of a table, by the columns asked for.
type line struct {
	chip  *accelerator.Accelerator
	cells []string
	bad   error
}

func (l *line) num(i int) float64 {
	v, err := strconv.ParseFloat(l.cells[i], 64)
	if err != nil && l.bad == nil {
		l.bad = err
	}
	return v
}

// each reads a table and hands its rows over with the cells of the named columns; the first names the system.
func each(r io.Reader, chips *accelerator.Table, do func(*line), columns ...string) error {
	c := csv.NewReader(r)
	c.ReuseRecord = true
	header, err := c.Read()
	if err != nil {
		return err
	}
	at := make([]int, len(columns))
	for i, name := range columns {
		if at[i] = slices.Index(header, name); at[i] < 0 {
			return fmt.Errorf("no column %q", name)
		}
	}
	l := line{cells: make([]string, len(columns))}
	for {
		row, err := c.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		for i, j := range at {
			l.cells[i] = row[j]
		}
		name, ok := systems[l.cells[0]]
		if !ok {
			name = l.cells[0]
		}
		if l.chip, ok = chips.Get(name); !ok {
			continue
		}
		do(&l)
		if l.bad != nil {
			return l.bad
		}
	}
}
