package catalog

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/unit"
)

// The writers write rows in the form Load reads, in the order given, and each date as date gives it.

func writeMachines(w io.Writer, machines []*Machine, date func(string) string) error {
	return writeRows(w, machineColumns, len(machines), func(i int) []string {
		m := machines[i]
		return []string{
			m.Provider, m.InstanceType, m.Accelerator.Name, FormatCount(m.Count),
			figure(m.VCPU), size(m.RAM, unit.GiB), size(m.NVMe, unit.GB), string(m.Topology), yes(m.TopologyKnown),
			figure(m.NetworkGbps), string(m.Network), answer(m.BareMetal), answer(m.MIG), answer(m.Confidential),
			answer(m.GPUDirect), yes(m.Reservation), m.Source, date(m.AsOf), joinFlags(m.Flags),
		}
	})
}

func writePrices(w io.Writer, rows []Row, date func(string) string) error {
	var cells [10]string // of one row, reused: a list has a hundred thousand
	return writeRows(w, PriceColumns, len(rows), func(i int) []string {
		r, p := &rows[i], &rows[i].Price
		cells = [10]string{r.Region, r.Zone, r.InstanceType}
		if p.Mode != "" {
			cells[3], cells[4], cells[5] = string(p.Mode), p.Hourly.Decimal(), string(p.Hourly.Currency())
			cells[6], cells[7], cells[8], cells[9] = date(p.AsOf), p.Source, string(p.Confidence), joinFlags(p.Flags)
		}
		return cells[:]
	})
}

func writeSources(w io.Writer, sources []Source, date func(string) string) error {
	return writeRows(w, sourceColumns, len(sources), func(i int) []string {
		s := sources[i]
		return []string{s.ID, s.Title, s.Reference, date(s.Date), s.Licence}
	})
}

func writeRows(w io.Writer, columns string, n int, row func(int) []string) error {
	b := append(make([]byte, 0, len(columns)+64*n), columns...)
	for i := range n {
		for j, f := range row(i) {
			b = append(b, "\n,"[min(j, 1)])
			switch {
			case !strings.ContainsAny(f, ",\"\r\n"):
				b = append(b, f...)
			case strings.ContainsAny(f, "\r\n"):
				return fmt.Errorf("catalog: a cell holds a line break: %q", f)
			default:
				b = append(append(append(b, '"'), strings.ReplaceAll(f, `"`, `""`)...), '"')
			}
		}
	}
	_, err := w.Write(append(b, '\n'))
	return err
}

// FormatCount prints a number of chips as the data files hold it: whole, or as an exact fraction.
func FormatCount(c float64) string {
	if c >= 1 || c <= 0 {
		return strconv.FormatFloat(c, 'f', -1, 64)
	}
	for den := 2.0; den <= 64; den++ {
		if num := math.Round(c * den); math.Abs(num/den-c) < 1e-9 {
			return fmt.Sprintf("%.0f/%.0f", num, den)
		}
	}
	return strconv.FormatFloat(c, 'f', -1, 64)
}

func figure(m unit.Maybe[float64]) string {
	if v, ok := m.Get(); ok {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}

func size(m unit.Maybe[unit.Bytes], of unit.Bytes) string {
	if v, ok := m.Get(); ok {
		return strconv.FormatFloat(float64(v)/float64(of), 'f', -1, 64)
	}
	return ""
}

func answer(m unit.Maybe[bool]) string {
	if v, ok := m.Get(); ok {
		return map[bool]string{true: "yes", false: "no"}[v]
	}
	return ""
}

// yes leaves the common answer empty, which keeps the files readable.
func yes(v bool) string {
	if v {
		return "yes"
	}
	return ""
}

func joinFlags(flags []Flag) string {
	var b strings.Builder
	for i, f := range flags {
		if i > 0 {
			b.WriteByte(';')
		}
		b.WriteString(string(f))
	}
	return b.String()
}

// rowsByProvider gives the rows that New folded into offers again, by provider.
func (c *Catalog) rowsByProvider() map[string][]Row {
	by := map[string][]Row{}
	for _, o := range c.Offers {
		by[o.Provider] = append(by[o.Provider], o.rows()...)
	}
	return by
}

// Rows gives every price as a row, and offers without one as a row without.
func (c *Catalog) Rows() []Row {
	rows := make([]Row, 0, 2*len(c.Offers))
	for _, o := range c.Offers {
		rows = append(rows, o.rows()...)
	}
	return rows
}

// Prices counts the prices.
func (c *Catalog) Prices() (n int) {
	for _, o := range c.Offers {
		n += len(o.Prices)
	}
	return n
}

// rows are an offer's prices as rows, one without a price where it has none.
func (o *Offer) rows() []Row {
	row := Row{Machine: o.Machine, Region: o.Region, Zone: o.Zone}
	if len(o.Prices) == 0 {
		return []Row{row}
	}
	rows := make([]Row, len(o.Prices))
	for i, p := range o.Prices {
		row.Price = p
		rows[i] = row
	}
	return rows
}
