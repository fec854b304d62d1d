package intake

import (
	"cmp"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	providers "github.com/rackrate/rackrate/internal/facts/provider"
)

// flat reads a table that names its columns in ways that are known. Columns it does not know it passes over.
type flat struct {
	*file
	col    [roles]int // -1 where there is none
	prices []priceColumn
	day    string // that the file's name states
	cells  [][]byte
}

// flat recognises a table by its columns: a machine or a chip, and prices or at least what a machine has.
func (f *file) flat(head [][]byte) (func([][]byte), error) {
	t := &flat{file: f}
	byName := map[string]role{}
	for r, names := range columnNames {
		t.col[r] = -1
		for _, n := range names {
			byName[n] = role(r)
		}
	}
	for i, n := range f.names {
		n = columnName(n)
		if c, ok := priceOf(n); ok {
			c.at = i
			t.prices = append(t.prices, c)
		} else if r, ok := byName[n]; ok && t.col[r] < 0 {
			t.col[r] = i
		}
	}
	slices.SortStableFunc(t.prices, func(a, b priceColumn) int { return cmp.Compare(rank(a.lesser), rank(b.lesser)) })
	machine := t.has(ofMachine) || t.has(ofMachineOrChip)
	if priced := len(t.prices) > 0 || t.has(ofPrice); !machine && !(t.has(ofChip) && priced) || !priced && !(t.has(ofChip) && t.has(ofCount)) {
		return nil, f.notPrices(head)
	}
	if err := f.whose(); err != nil && !t.has(ofProvider) {
		return nil, err
	}
	if day := anyDay.FindString(path.Base(f.file)); isDay(day) && !f.o.Dated {
		t.day = day
	}
	return t.row, nil
}

// rank puts columns that only stand in behind the others.
func rank(lesser bool) int {
	if lesser {
		return 1
	}
	return 0
}

func (t *flat) has(r role) bool { return t.col[r] >= 0 }

// get is the cell of a role, empty where there is none.
func (t *flat) get(r role) string {
	if !t.has(r) {
		return ""
	}
	return string(known(t.cells[t.col[r]]))
}

func (t *flat) name(r role) string { return t.names[t.col[r]] }

func (t *flat) figure(r role) unit.Maybe[float64] { return t.number(t.col[r], t.cells) }

func (t *flat) row(cells [][]byte) {
	t.cells = cells
	l := Listing{
		Provider: t.owner, InstanceType: t.get(ofMachine), Region: t.intern([]byte(t.get(ofRegion))), Zone: t.intern([]byte(t.get(ofZone))),
		Accelerator: t.get(ofChip), VCPU: t.figure(ofCPU), NetworkGbps: t.figure(ofGbps), RAM: t.ram(),
		BareMetal: t.yesNo(ofBareMetal), Confidential: t.yesNo(ofConfidential), Count: t.count(),
		MiB: t.figure(ofChipMiB).Or(t.figure(ofChipGiB).Or(0) * 1024),
	}
	vague := t.has(ofProvider) && t.sellerOf(&l)
	if gb, ok := t.figure(ofDisk).Get(); ok {
		l.NVMe = unit.Some(unit.Bytes(gb * float64(unit.GB)))
	}
	if t.has(ofEFA) && l.NetworkGbps.Known() {
		l.Network = catalog.Ethernet
	}
	if t.figure(ofEFA).Known() {
		l.Network = catalog.EFA
	}
	if strings.Contains(t.get(ofNote), "invite-only") {
		l.Flags = []catalog.Flag{catalog.InviteOnly}
	}
	t.addPrices(&l)
	for i := range l.Prices {
		if vague {
			l.Prices[i].Flags = catalog.WithFlags(l.Prices[i].Flags, catalog.RegionUnconfirmed)
		}
	}
	t.offer(l)
}

// sellerOf reads the provider of a row, and a region that stands beside its name; vague where the row has no region, or one beside the
// provider that is not known: collections of quotes name groups of regions.
func (t *flat) sellerOf(l *Listing) (vague bool) {
	cell := t.get(ofProvider)
	if cell == "" {
		return false
	}
	var region string
	if l.Provider, region = t.providers.id(cell); l.Provider == "" {
		t.bad(t.name(ofProvider), cell, "provider")
	}
	if l.Region != "" {
		return false
	}
	l.Region = region
	return !slices.ContainsFunc(t.providers.regions(l.Provider), func(r providers.Region) bool { return r.ID == region })
}

// k80MiB is the memory of one chip of a K80, which has two.
const k80MiB = 12 << 10

// offer hands on a row, or says what it lacks.
func (t *flat) offer(l Listing) {
	if l.InstanceType == "" && l.Provider == "gcp" {
		fixTPU(&l)
	}
	if l.Accelerator == "K80" && l.MiB > k80MiB*5/4 { // counted in boards of two chips
		l.Count, l.MiB = l.Count*2, l.MiB/2
	}
	switch {
	case l.InstanceType == "" && l.Accelerator != "":
		t.fault = nil
		t.to.Reject(Rejection{
			Kind: Kind(catalog.PartAlone), Provider: l.Provider, Region: l.Region, At: t.place(),
			Args: problem.Args{"Part": "accelerator", "Accelerator": l.Accelerator},
		})
	case t.has(ofChip) && l.Accelerator == "" && l.Count == 0 && !t.carries(l.Provider, l.InstanceType):
		t.fault = nil
		t.reject(NoAccelerator, l.InstanceType, l.Region, nil)
	default:
		t.add(l)
	}
}

var share = regexp.MustCompile(`^\d+/\d+`)

// count reads 8, 0.125 or 1/8; a label that begins with a share has it exactly where the count is rounded or says 1.
func (t *flat) count() float64 {
	text := t.get(ofCount)
	if s := share.FindString(t.get(ofLabel)); s != "" {
		text = s
	}
	num, den, fraction := strings.Cut(text, "/")
	n, err := strconv.ParseFloat(strings.TrimSpace(num), 64)
	d := 1.0
	if fraction && err == nil {
		d, err = strconv.ParseFloat(strings.TrimSpace(den), 64)
	}
	if text == "" {
		return 0
	}
	if err != nil || !(n >= 0) || !(d > 0) || math.IsInf(n/d, 0) {
		t.bad(t.name(ofCount), text, "count")
		return 0
	}
	return n / d
}

// ram reads a memory size. Large ones that were printed with six digits (1.04858e+06 MiB) are whole GiB.
func (t *flat) ram() unit.Maybe[unit.Bytes] {
	gib := t.figure(ofGiB)
	if mib, ok := t.figure(ofMiB).Get(); ok {
		if strings.Contains(t.get(ofMiB), "e+") {
			mib = math.Round(mib/1024) * 1024
		}
		gib = unit.Some(mib / 1024)
	}
	return catalog.RAM(gib)
}

func (t *flat) yesNo(r role) unit.Maybe[bool] {
	switch strings.ToLower(t.get(r)) {
	case "":
		return unit.None[bool]()
	case "yes", "true", "1":
		return unit.Some(true)
	case "no", "false", "0":
		return unit.Some(false)
	}
	t.bad(t.name(r), t.get(r), "yes|no")
	return unit.None[bool]()
}

// addPrices adds the prices of every column that has some.
func (t *flat) addPrices(l *Listing) {
	currency, assumed := t.currency(quirks[l.Provider])
	if code := t.get(ofCurrency); code != "" {
		if currency, assumed = money.Currency(strings.ToUpper(code)), nil; !isCurrency(currency) {
			t.bad(t.name(ofCurrency), code, "currency")
		}
	}
	for _, c := range t.prices {
		if c.lesser && hasMode(l.Prices, c.mode) {
			continue
		}
		p := catalog.Price{Mode: c.mode, Flags: assumed}
		if c.currency != "" {
			p.Flags = nil
		} else {
			c.currency = currency
		}
		p.Flags = catalog.WithFlags(p.Flags, c.flag)
		if c.day != "" {
			p.AsOf = c.day
		} else {
			t.date(&p)
		}
		if t.rate(&p, c.at, c.currency) {
			l.Prices = append(l.Prices, p)
		}
	}
	if t.has(ofPrice) {
		t.onePrice(l, currency, assumed)
	}
}

func hasMode(prices []catalog.Price, mode catalog.BillingMode) bool {
	for _, p := range prices {
		if p.Mode == mode {
			return true
		}
	}
	return false
}

func isCurrency(c money.Currency) bool {
	return len(c) == 3 && strings.Trim(string(c), "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// rate reads a price; false where there is none. Several tables write zero for none.
func (t *flat) rate(p *catalog.Price, column int, c money.Currency) bool {
	text := string(known(t.cells[column]))
	if text == "" {
		return false
	}
	var err error
	if p.Hourly, err = money.ParseRate(text, c); err != nil {
		t.bad(t.names[column], text, "price")
	}
	return err == nil && !p.Hourly.IsZero()
}

// date sets the day of a price: of its column, else of the row, else of the file.
func (t *flat) date(p *catalog.Price) {
	r := ofDate
	if p.Mode == catalog.Spot && t.get(ofSpotDate) != "" {
		r = ofSpotDate
	}
	text := t.get(r)
	if p.AsOf = t.day; text == "" {
		return
	}
	day, whole := dayOf(text)
	if day == "" {
		t.bad(t.name(r), text, "date")
	}
	if p.AsOf = day; !whole {
		p.Flags = catalog.WithFlags(p.Flags, catalog.DateUnknown)
	}
}

var anyDay = regexp.MustCompile(`\d{4}(-\d{2}){0,2}`)

// dayOf reads a day, a month or a year, of which the first day counts, and of a span the first; whole where it is one day. Empty where
// the text has none.
func dayOf(text string) (day string, whole bool) {
	found := anyDay.FindString(text)
	const form = "2026-01-01"
	if found == "" {
		return "", false
	}
	if day = found + "-01-01"[:len(form)-len(found)]; !isDay(day) {
		return "", false
	}
	return day, len(found) == len(form) && !strings.Contains(text, "..")
}

func isDay(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil && s >= "2000"
}

// onePrice reads a price that its row describes: of a machine or of one accelerator, in which way of paying.
func (t *flat) onePrice(l *Listing, c money.Currency, assumed []catalog.Flag) {
	p := catalog.Price{Mode: catalog.OnDemand, Flags: assumed}
	if words := t.get(ofMode); words != "" {
		mode, ok := modeOf(words)
		if p.Mode = mode; !ok {
			t.bad(t.name(ofMode), words, "mode")
		}
	}
	t.date(&p)
	each := 1.0
	switch words := strings.ReplaceAll(strings.ToLower(t.get(ofUnit)), " ", "-"); words {
	case "", "hour", "instance-hour", "machine-hour", "per-hour":
		if t.has(ofMachineOrChip) {
			l.InstanceType = t.get(ofMachineOrChip)
		}
	case "gpu-hour", "accelerator-hour":
		each = t.perGPU(l)
		p.Flags = catalog.WithFlags(p.Flags, catalog.PerGPUQuote)
	default:
		t.bad(t.name(ofUnit), words, "unit")
	}
	if t.rate(&p, t.col[ofPrice], c) && each > 0 {
		p.Hourly = p.Hourly.Mul(each)
		l.Prices = append(l.Prices, p)
	}
}

// perGPU is how many accelerators a machine has whose price is that of one. A row that names a chip and no machine stays a part alone:
// nobody says in what machine it is sold.
func (t *flat) perGPU(l *Listing) float64 {
	if t.has(ofMachineOrChip) {
		if name := t.get(ofMachineOrChip); t.carries(l.Provider, name) {
			l.InstanceType = name
		} else {
			l.Accelerator = name
		}
	}
	if m := t.machines[machineKey{l.Provider, l.InstanceType}]; m != nil && l.Count == 0 {
		return m.Count
	}
	return l.Count
}
