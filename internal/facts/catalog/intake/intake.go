package intake

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// Options say what rows are taken as.
type Options struct {
	Source     catalog.Source // of rows that name none
	AsOf       string         // ISO day of prices that name none
	Confidence catalog.Confidence
	Chips      *accelerator.Table
	// Known are machines that are known already, which settle what a list leaves open; nil where there are none.
	Known *catalog.Catalog
}

// Tally accounts for the rows that were read: Read is Kept and Merged and Rejected.
type Tally struct{ Read, Kept, Merged, Rejected int }

// Spelling is a name of an accelerator that is in no table, as a vendor writes it.
type Spelling struct {
	Text, Provider string
	Count          int // rows
	First          Place
}

// Result is what was taken in.
type Result struct {
	Machines     []*catalog.Machine // those that some row is of, sorted by provider and type
	Rows         []catalog.Row
	Sources      []catalog.Source // that machines and prices cite
	Tally        Tally
	Rejections   []Rejection // in the order of the rows; those that Pass counted have none
	Unrecognised []Spelling  // the commonest first
	Faults       []catalog.Fault
}

type machineKey struct{ provider, instanceType string }

type offerKey struct {
	machineKey
	region, zone string
}

// offer is what rows say of one machine in one place.
type offer struct {
	machine *catalog.Machine
	prices  map[catalog.BillingMode]catalog.Price
	rows    []Place // of all of them; the first keeps the offer
}

// Intake takes rows in. It is not safe for use by several goroutines.
type Intake struct {
	o          Options
	knownBy    map[machineKey]*catalog.Machine
	machines   map[machineKey]*catalog.Machine
	offers     map[offerKey]*offer
	sources    map[string]catalog.Source
	rejections []Rejection
	spellings  map[[2]string]*Spelling
	faults     []catalog.Fault
	read       int
	passed     int
}

// New makes an intake.
func New(o Options) *Intake {
	return &Intake{
		o: o, machines: map[machineKey]*catalog.Machine{}, offers: map[offerKey]*offer{},
		sources: map[string]catalog.Source{o.Source.ID: o.Source}, spellings: map[[2]string]*Spelling{},
	}
}

// Cite makes a source known that rows may name.
func (in *Intake) Cite(s catalog.Source) { in.sources[s.ID] = s }

// Reject takes a row that its reader cannot make a listing of.
func (in *Intake) Reject(r Rejection) {
	in.read++
	in.rejections = append(in.rejections, r)
}

// Pass counts rows that are no offers of accelerators, where their places help nobody.
func (in *Intake) Pass(n int) {
	in.read += n
	in.passed += n
}

// Add takes a row.
func (in *Intake) Add(l Listing) {
	in.read++
	reject := func(k Kind, args problem.Args) {
		in.rejections = append(in.rejections, Rejection{Kind: k, InstanceType: l.InstanceType, Region: l.Region, At: l.At, Args: args})
	}
	if column, value := l.unprintable(); column != "" {
		reject(Malformed, problem.Args{"Column": column, "Value": value, "Want": "text"})
		return
	}
	if l.InstanceType == "" {
		reject(Kind(catalog.PartAlone), problem.Args{"Part": "accelerator", "Accelerator": l.Accelerator})
		return
	}
	m, no := in.machine(&l)
	if no != nil {
		if no.kind == UnknownChip || no.kind == UnknownMachine {
			in.unrecognised(&l)
		}
		reject(no.kind, no.args)
		return
	}
	prices, bad := in.prices(&l)
	if bad != nil {
		reject(bad.kind, bad.args)
		return
	}
	key := offerKey{machineKey{l.Provider, l.InstanceType}, l.Region, l.Zone}
	o := in.offers[key]
	if o == nil {
		o = &offer{machine: m, prices: make(map[catalog.BillingMode]catalog.Price, len(prices))}
		in.offers[key] = o
	}
	o.rows = append(o.rows, l.At)
	for _, p := range prices {
		if have, ok := o.prices[p.Mode]; !ok || better(p, have) {
			o.prices[p.Mode] = p
		}
	}
}

// unprintable finds a name that no list of ours can hold: a provider that is none of letters, digits, dots and dashes, or a name with
// control characters.
func (l *Listing) unprintable() (column, value string) {
	if l.Provider == "" || strings.Trim(l.Provider, "abcdefghijklmnopqrstuvwxyz0123456789.-_") != "" || l.Provider[0] == '.' {
		return "provider", l.Provider
	}
	for _, f := range [...]struct{ column, value string }{{"instance_type", l.InstanceType}, {"region", l.Region}, {"zone", l.Zone}} {
		if strings.ContainsFunc(f.value, unicode.IsControl) || !utf8.ValidString(f.value) || len(f.value) > maxName {
			return f.column, strings.ToValidUTF8(f.value[:min(len(f.value), maxName)], "")
		}
	}
	if l.Zone != "" && l.Region == "" {
		return "region", ""
	}
	return "", ""
}

// maxName bounds a name; the longest known has under 100 bytes.
const maxName = 256

// better says which of two prices of one offer stands: the newer, of one day the cheaper (on a marketplace these are two machines,
// and either can be had), of equal ones that with fewer doubts.
func better(p, have catalog.Price) bool {
	return cmp.Or(strings.Compare(p.AsOf, have.AsOf), cmp.Compare(have.Hourly.Nanos(), p.Hourly.Nanos()), len(have.Flags)-len(p.Flags)) > 0
}

// prices completes the prices of a listing. One that is none is told as a fault; where all are, the row is refused.
func (in *Intake) prices(l *Listing) ([]catalog.Price, *refusal) {
	var out []catalog.Price
	var last *refusal
	for _, p := range l.Prices {
		if p.AsOf == "" {
			p.AsOf = in.o.AsOf
		}
		if p.Source == "" {
			p.Source = in.o.Source.ID
		}
		if p.Confidence == "" {
			p.Confidence = in.o.Confidence
		}
		_, cited := in.sources[p.Source]
		kind := catalog.FaultKind("")
		var args problem.Args
		switch {
		case p.Hourly.Nanos() <= 0:
			kind = catalog.ZeroPrice
		case !slices.Contains(catalog.Modes(), p.Mode):
			kind, args = catalog.BadRow, problem.Args{"Column": "mode", "Value": string(p.Mode), "Want": "mode"}
		case !cited:
			kind, args = catalog.BadSource, problem.Args{"Source": p.Source}
		default:
			out = append(out, p)
			continue
		}
		last = &refusal{Kind(kind), args}
		in.fault(l, kind, p.Mode, args)
	}
	if len(out) == 0 && last != nil {
		in.faults = in.faults[:len(in.faults)-len(l.Prices)] // told as the row's
		return nil, last
	}
	return out, nil
}

func (in *Intake) fault(l *Listing, k catalog.FaultKind, mode catalog.BillingMode, args problem.Args) {
	in.faults = append(in.faults, catalog.Fault{
		Kind: k, Severity: k.Severity(), Provider: l.Provider, InstanceType: l.InstanceType, Region: l.Region, Zone: l.Zone, Mode: mode,
		Line: l.At.Line, Args: args,
	})
}

func (in *Intake) unrecognised(l *Listing) {
	text := l.Accelerator
	if text == "" {
		text = l.InstanceType
	}
	key := [2]string{text, l.Provider}
	s := in.spellings[key]
	if s == nil {
		s = &Spelling{Text: text, Provider: l.Provider, First: l.At}
		in.spellings[key] = s
	}
	s.Count++
}

// Result gives what was taken in so far: offers checked against each other, zones folded where they do not differ.
func (in *Intake) Result() Result {
	r := Result{Rejections: slices.Clone(in.rejections), Faults: slices.Clone(in.faults)}
	f := &folding{in: in, offers: maps.Clone(in.offers), result: &r}
	for k, o := range f.offers { // of the offers themselves, only their prices change below
		f.offers[k] = &offer{o.machine, maps.Clone(o.prices), slices.Clone(o.rows)}
	}
	f.check()
	f.foldZones()
	f.finish()
	return r
}
