package catalog

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/rackrate/rackrate/data"
	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

// Catalog is a set of offers. It is read-only once made and may be shared.
type Catalog struct {
	// Offers are sorted by provider, instance type, region and zone; each has its prices sorted by mode.
	Offers   []*Offer
	Machines []*Machine // sorted by provider and instance type
	Sources  []Source   // sorted by ID
	AsOf     string     // day of the newest price; empty where none is known
}

// Source is where rows came from.
type Source struct {
	ID        string
	Title     string
	Reference string // public address, package or commit
	Date      string // as the source states it: a day, a span, or "undated"
	Licence   string // "not stated" where the source states none: figures only are taken from it
}

// Embedded is the catalog that ships with the program, decoded on first use.
var Embedded = sync.OnceValues(func() (*Catalog, error) {
	return Load(data.FS, accelerator.Embedded())
})

// Load reads machines.csv, sources.csv and prices/*.csv. All faults are reported together as a problem.List.
func Load(fsys fs.FS, chips *accelerator.Table) (*Catalog, error) {
	var faults problem.List
	read := func(name string) string {
		b, err := fs.ReadFile(fsys, name)
		if err != nil {
			faults = append(faults, problem.New(problem.Input, "data.unreadable", problem.Args{"File": name}).Wrap(err).At(name, 0))
		}
		return string(b)
	}
	l := newLoader(chips, &faults, "")
	l.sources("sources.csv", read("sources.csv"))
	l.machines("machines.csv", read("machines.csv"))
	names, err := fs.Glob(fsys, "prices/*.csv")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		l.prices(name, strings.TrimSuffix(path.Base(name), ".csv"), read(name))
	}
	if err := faults.OrNil(); err != nil {
		return nil, err
	}
	return New(l.list, l.rows, l.from), nil
}

type loader struct {
	chips  *accelerator.Table
	faults *problem.List
	asOf   string            // the day of rows that name none; empty: every row has to
	flags  map[string][]Flag // by the text of the cell: most rows share a few sets
	byType map[machineID]*Machine
	list   []*Machine
	from   []Source
	known  map[string]bool // source ids
	cited  string          // the last of them that a row cited
	rows   []Row
}

func newLoader(chips *accelerator.Table, faults *problem.List, asOf string) *loader {
	return &loader{
		chips: chips, faults: faults, asOf: asOf,
		flags: map[string][]Flag{"": nil}, known: map[string]bool{}, byType: map[machineID]*Machine{},
	}
}

// date is the day in a column, or the loader's own where the cell is empty.
func (l *loader) date(t *table, col int) string {
	if t.row[col] == "" && l.asOf != "" {
		return l.asOf
	}
	return t.date(col)
}

type machineID struct{ provider, instanceType string }

const sourceColumns = "id,title,reference,date,licence"

func (l *loader) sources(file, text string) {
	t, ok := newTable(file, text, sourceColumns, l.faults)
	for ok && t.next() {
		s := Source{ID: t.text(0), Title: t.text(1), Reference: t.text(2), Date: t.row[3], Licence: t.text(4)}
		if s.Date == "" && l.asOf != "" {
			s.Date = l.asOf
		} else {
			t.text(3)
		}
		if l.known[s.ID] {
			t.bad("id", s.ID, "unique")
		}
		l.known[s.ID] = true
		l.from = append(l.from, s)
	}
}

const machineColumns = "provider,instance_type,accelerator,count,vcpu,ram_gib,nvme_gb,topology,topology_known," +
	"network_gbps,network,bare_metal,mig,confidential,gpudirect,reservation,source,as_of,flags"

func (l *loader) machines(file, text string) {
	n := strings.Count(text, "\n")
	l.byType, l.list = make(map[machineID]*Machine, n), make([]*Machine, 0, n)
	all := make([]Machine, 0, n)
	t, ok := newTable(file, text, machineColumns, l.faults)
	for ok && t.next() {
		all = append(all, l.machine(t))
		m := &all[len(all)-1]
		id := machineID{m.Provider, m.InstanceType}
		if l.byType[id] != nil {
			t.bad("instance_type", m.InstanceType, "unique")
		}
		l.byType[id] = m
		l.list = append(l.list, m)
	}
}

func (l *loader) machine(t *table) Machine {
	chip, ok := l.chips.Get(t.row[2])
	if !ok {
		t.bad("accelerator", t.row[2], "accelerator")
	}
	topo := Topology(t.row[7])
	if !slices.Contains(topologies, topo) {
		t.bad("topology", t.row[7], "topology")
	}
	net := NetworkKind(t.row[10])
	if !slices.Contains(networks, net) {
		t.bad("network", t.row[10], "network")
	}
	known, _ := t.yesNo(8).Get()
	reserved, _ := t.yesNo(15).Get()
	return Machine{
		Provider: t.text(0), InstanceType: t.text(1), Accelerator: chip, Count: t.count(3),
		VCPU: t.number(4), RAM: t.size(5, unit.GiB), NVMe: t.size(6, unit.GB),
		Topology: topo, TopologyKnown: known, NetworkGbps: t.number(9), Network: net,
		BareMetal: t.yesNo(11), MIG: t.yesNo(12), Confidential: t.yesNo(13), GPUDirect: t.yesNo(14),
		Reservation: reserved, Source: l.source(t, 16), AsOf: l.date(t, 17), Flags: l.flagSet(t.row[18]),
	}
}

// PriceColumns is the header of files of prices in our own form.
const PriceColumns = "region,zone,instance_type,mode,hourly,currency,as_of,source,confidence,flags"

// prices reads the prices of one provider. A row without mode and price says that the machine is listed there.
func (l *loader) prices(file, provider, text string) {
	l.rows = slices.Grow(l.rows, strings.Count(text, "\n"))
	t, ok := newTable(file, text, PriceColumns, l.faults)
	var m *Machine // rows of one machine follow each other
	for ok && t.next() {
		if m == nil || m.InstanceType != t.row[2] {
			m = l.byType[machineID{provider, t.row[2]}]
		}
		if m == nil {
			t.bad("instance_type", t.row[2], "known")
			continue
		}
		r := Row{Machine: m, Region: t.row[0], Zone: t.row[1]}
		if r.Zone != "" && r.Region == "" {
			t.bad("region", "", "text")
		}
		if t.row[3] != "" || t.row[4] != "" {
			r.Price = l.price(t)
		}
		l.rows = append(l.rows, r)
	}
}

func (l *loader) price(t *table) Price {
	mode := t.mode(3)
	if !isCurrency(t.row[5]) {
		t.bad("currency", t.row[5], "currency")
	}
	rate, err := money.ParseRate(t.row[4], money.Currency(t.row[5]))
	if err != nil || rate.IsZero() {
		t.bad("hourly", t.row[4], "price")
	}
	conf := Confidence(t.row[8])
	if conf != Listed && conf != Secondary && conf != Quoted && conf != Agreed {
		t.bad("confidence", t.row[8], "confidence")
	}
	return Price{Mode: mode, Hourly: rate, AsOf: l.date(t, 6), Source: l.source(t, 7), Confidence: conf, Flags: l.flagSet(t.row[9])}
}

func (l *loader) source(t *table, col int) string {
	if id := t.row[col]; id != l.cited { // most rows cite what the one before did
		if !l.known[id] {
			t.bad(t.want[col], id, "source")
			return id
		}
		l.cited = id
	}
	return l.cited
}

func (l *loader) flagSet(s string) []Flag {
	set, ok := l.flags[s]
	if !ok {
		for f := range strings.SplitSeq(s, ";") {
			set = append(set, Flag(f))
		}
		l.flags[s] = slices.Clip(set)
	}
	return set
}

func isCurrency(s string) bool {
	return len(s) == 3 && capital(s[0]) && capital(s[1]) && capital(s[2])
}

func capital(b byte) bool { return b >= 'A' && b <= 'Z' }

// Row is one way of paying for one machine in one place, or, with an empty price mode, the bare statement
// that the machine is listed there.
type Row struct {
	*Machine
	Region, Zone string
	Price        Price
}

func compareMachines(a, b *Machine) int {
	return cmp.Or(strings.Compare(a.Provider, b.Provider), strings.Compare(a.InstanceType, b.InstanceType))
}

func compareRows(a, b Row) int { return compareAt(&a, &b) }

func compareAt(a, b *Row) int {
	if a.Machine != b.Machine {
		if c := compareMachines(a.Machine, b.Machine); c != 0 {
			return c
		}
	}
	if c := strings.Compare(a.Region, b.Region); c != 0 {
		return c
	}
	if c := strings.Compare(a.Zone, b.Zone); c != 0 {
		return c
	}
	return cmp.Compare(modeRank(a.Price.Mode), modeRank(b.Price.Mode))
}

// inOrder says whether rows are sorted, without copying them for each comparison.
func inOrder(rows []Row) bool {
	for i := 1; i < len(rows); i++ {
		if compareAt(&rows[i-1], &rows[i]) > 0 {
			return false
		}
	}
	return true
}

// New folds rows into offers. It sorts rows in place and keeps no reference to the slice.
func New(machines []*Machine, rows []Row, sources []Source) *Catalog {
	if !inOrder(rows) {
		slices.SortStableFunc(rows, compareRows)
	}
	slices.SortStableFunc(machines, compareMachines)
	slices.SortFunc(sources, func(a, b Source) int { return strings.Compare(a.ID, b.ID) })
	offers, prices := make([]Offer, 0, len(rows)), make([]Price, 0, len(rows))
	c := &Catalog{Machines: machines, Sources: sources}
	for i := range rows {
		r := &rows[i]
		if i == 0 || r.Machine != rows[i-1].Machine || r.Region != rows[i-1].Region || r.Zone != rows[i-1].Zone {
			offers = append(offers, Offer{Machine: r.Machine, Region: r.Region, Zone: r.Zone})
		}
		if r.Price.Mode == "" {
			continue
		}
		// The prices of an offer are one run of the shared slice, clipped so that a caller's append copies.
		prices = append(prices, r.Price)
		o := &offers[len(offers)-1]
		start := len(prices) - 1 - len(o.Prices)
		o.Prices = prices[start:len(prices):len(prices)]
		c.AsOf = max(c.AsOf, r.Price.AsOf)
	}
	c.Offers = make([]*Offer, len(offers))
	for i := range offers {
		c.Offers[i] = &offers[i]
	}
	return c
}
