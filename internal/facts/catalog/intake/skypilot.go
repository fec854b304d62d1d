package intake

import (
	"bytes"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// skyNeed are the columns that a file in SkyPilot's format has at least.
var skyNeed = []string{"InstanceType", "AcceleratorName", "AcceleratorCount", "Price", "Region"}

// isSkyPilot says whether a header is that of SkyPilot's format, give or take a column or two.
func (f *file) isSkyPilot() bool {
	n := 0
	for _, c := range skyNeed {
		if _, ok := f.at[c]; ok {
			n++
		}
	}
	return n > len(skyNeed)/2
}

// sky reads a file in SkyPilot's format: any column order; CRLF; rows with an unquoted comma in the last column; GpuInfo as a Python
// dict, as JSON or as a bare name; 0.00 and null for what is not there. See docs/formats/import.md.
type sky struct {
	*file
	quirk  quirk
	money  money.Currency
	flags  []catalog.Flag // of every price
	column struct{ kind, name, count, info, price, spot, region, zone, cpu, ram, upstream int }
	kinds  map[string]*skyKind
}

// skyKind is what the rows of one instance type have in common.
type skyKind struct {
	name string
	bare Kind // what a row without an accelerator is; empty: a machine that is known to have some
}

func (f *file) skyPilot() (func([][]byte), error) {
	var missing []string
	for _, c := range skyNeed {
		if _, ok := f.at[c]; !ok {
			missing = append(missing, c)
		}
	}
	if len(missing) > 0 {
		return nil, problem.New(problem.Input, "catalog.missing_columns", problem.Args{"Columns": missing}).At(f.file, 1)
	}
	s := &sky{file: f, kinds: map[string]*skyKind{}}
	for name, at := range map[string]*int{
		"InstanceType": &s.column.kind, "AcceleratorName": &s.column.name, "AcceleratorCount": &s.column.count, "GpuInfo": &s.column.info,
		"Price": &s.column.price, "SpotPrice": &s.column.spot, "Region": &s.column.region, "AvailabilityZone": &s.column.zone,
		"vCPUs": &s.column.cpu, "MemoryGiB": &s.column.ram, "UpstreamCloudId": &s.column.upstream,
	} {
		i, ok := f.at[name]
		if *at = i; !ok {
			*at = -1
		}
	}
	if err := f.whose(); err != nil {
		return nil, err
	}
	s.quirk = quirks[s.owner]
	s.money, s.flags = f.currency(s.quirk)
	return s.row, nil
}

// currency is what prices without one are in, with what is doubtful about that.
func (f *file) currency(q quirk) (money.Currency, []catalog.Flag) {
	switch {
	case f.o.Currency != "":
		return f.o.Currency, q.price
	case q.currency != "":
		return q.currency, catalog.WithFlags(q.price, catalog.CurrencyAssumed)
	}
	return money.USD, q.price
}

func (s *sky) row(cells [][]byte) {
	get := func(i int) []byte {
		if i < 0 {
			return nil
		}
		return known(cells[i])
	}
	kind := s.kind(get(s.column.kind))
	name, count, info := get(s.column.name), get(s.column.count), get(s.column.info)
	bare := len(name) == 0 && len(info) == 0 && isZero(count)
	if bare && kind.bare != "" {
		var args problem.Args
		if kind.bare != NoAccelerator {
			args = hostPart
		}
		s.reject(kind.bare, kind.name, s.intern(get(s.column.region)), args)
		return
	}
	l := Listing{
		Provider: s.owner, InstanceType: kind.name, Region: s.intern(get(s.column.region)), Zone: s.intern(get(s.column.zone)),
		Accelerator: string(name), VCPU: s.number(s.column.cpu, cells), RAM: catalog.RAM(s.number(s.column.ram, cells)),
		Flags: s.quirk.machine,
	}
	l.Count = s.number(s.column.count, cells).Or(0)
	device, inner, mib := gpuInfo(info)
	l.MiB = mib
	if l.Accelerator == "" {
		l.Accelerator = device
	}
	if l.Count == 0 {
		l.Count = inner
	}
	for _, h := range []string{device, string(get(s.column.upstream))} {
		if h != "" {
			l.Hints = append(l.Hints, h)
		}
	}
	l.Prices = s.price(l.Prices, catalog.OnDemand, s.column.price, cells)
	l.Prices = s.price(l.Prices, catalog.Spot, s.column.spot, cells)
	if s.quirk.fix != nil {
		s.quirk.fix(&l)
	}
	if l.Accelerator == "" && !bare {
		s.fault = nil
		missing := "model"
		if l.MiB == 0 {
			missing += ",memory"
		}
		s.reject(Kind(catalog.BadIdentity), l.InstanceType, l.Region, problem.Args{"Missing": missing, "Count": l.Count})
		return
	}
	s.add(l)
}

// hostPart is what a rejected host says, in thousands of rows.
var hostPart = problem.Args{"Part": "host"}

// kind tells what a row of an instance type is where it names no accelerator: a host that is sold only with accelerators, a machine
// that is known to have some, or one without.
func (s *sky) kind(name []byte) *skyKind {
	if k, ok := s.kinds[string(name)]; ok {
		return k
	}
	k := &skyKind{name: string(name), bare: NoAccelerator}
	switch {
	case slices.ContainsFunc(s.quirk.hosts, func(p string) bool { ok, err := path.Match(p, k.name); return ok && err == nil }):
		k.bare = Kind(catalog.PartAlone)
	case s.carries(s.owner, k.name):
		k.bare = ""
	}
	s.kinds[k.name] = k
	return k
}

// isZero says whether a count is none: empty, or a zero in any spelling.
func isZero(b []byte) bool { return len(bytes.Trim(b, "0.")) == 0 }

// number reads a figure; empty and zero are unknown, as feeds use them.
func (f *file) number(column int, cells [][]byte) unit.Maybe[float64] {
	if column < 0 {
		return unit.None[float64]()
	}
	b := known(cells[column])
	if len(b) == 0 {
		return unit.None[float64]()
	}
	v, err := strconv.ParseFloat(string(b), 64)
	switch {
	case err != nil || v < 0 || math.IsInf(v, 0) || math.IsNaN(v):
		f.bad(f.names[column], string(b), "number")
		return unit.None[float64]()
	case v == 0:
		return unit.None[float64]()
	}
	return unit.Some(v)
}

// price adds the price in a column. A spot price of zero stands for none in several feeds; a zero on demand is told.
func (s *sky) price(prices []catalog.Price, mode catalog.BillingMode, column int, cells [][]byte) []catalog.Price {
	if column < 0 {
		return prices
	}
	b := known(cells[column])
	if len(b) == 0 {
		return prices
	}
	rate, err := money.ParseRate(string(b), s.money)
	switch {
	case err != nil:
		s.bad(s.names[column], string(b), "price")
		return prices
	case rate.IsZero() && mode == catalog.Spot:
		return prices
	}
	return append(prices, catalog.Price{Mode: mode, Hourly: rate, Flags: s.flags})
}

// gpuInfo reads device name, count and memory in MiB out of a Python dict or JSON text, which differ only in quotes, or takes the
// whole text as the name. Keys are matched in any case: one feed writes them in lower case.
func gpuInfo(b []byte) (name string, count, mib float64) {
	if bytes.IndexByte(b, '{') < 0 {
		return string(b), 0, 0
	}
	info := string(b)
	low := strings.ToLower(info)
	if len(low) != len(info) {
		return "", 0, 0 // letters whose lower case is longer: no feed's text
	}
	figure := func(key string) float64 {
		v, err := strconv.ParseFloat(infoField(info, low, key), 64)
		if err != nil || v < 0 || math.IsInf(v, 0) || math.IsNaN(v) {
			return 0
		}
		return v
	}
	return string(known([]byte(infoField(info, low, "name")))), figure("count"), figure("sizeinmib")
}

func infoField(info, low, key string) string {
	for _, q := range []string{"'", `"`} {
		i := strings.Index(low, q+key+q)
		if i < 0 {
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
