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
	prices  []quoted // one of a way of paying
	rows    []Place  // of all of them; the first keeps the offer
}

// quoted is a price with its row.
type quoted struct {
	catalog.Price
	at Place
}

// mode finds the price of a way of paying, -1 where there is none.
func (o *offer) mode(m catalog.BillingMode) int {
	return slices.IndexFunc(o.prices, func(p quoted) bool { return p.Mode == m })
}

// Intake takes rows in. It is not safe for use by several goroutines.
type Intake struct {
	o          Options
	knownBy    map[machineKey]*catalog.Machine
	machines   map[machineKey]*stated
	offers     map[offerKey]*offer
	sources    map[string]catalog.Source
	rejections [][]Rejection // in blocks, so that hundreds of thousands are not copied as they grow
	spellings  map[[2]string]*Spelling
	faults     []catalog.Fault
	scratch    []catalog.Price
	read       int
	passed     int
}

// New makes an intake.
func New(o Options) *Intake {
	return &Intake{
		o: o, machines: map[machineKey]*stated{}, offers: map[offerKey]*offer{},
		sources: map[string]catalog.Source{o.Source.ID: o.Source}, spellings: map[[2]string]*Spelling{},
	}
}

// Cite makes a source known that rows may name.
func (in *Intake) Cite(s catalog.Source) { in.sources[s.ID] = s }

// Reject takes a row that its reader cannot make a listing of.
func (in *Intake) Reject(r Rejection) {
	in.read++
	const block = 1024
	last := len(in.rejections) - 1
	if last < 0 || len(in.rejections[last]) == block {
		in.rejections = append(in.rejections, make([]Rejection, 0, block))
		last++
	}
	in.rejections[last] = append(in.rejections[last], r)
}

// Pass counts rows that are no offers of accelerators, where their places help nobody.
func (in *Intake) Pass(n int) {
	in.read += n
	in.passed += n
}

// Add takes a row.
func (in *Intake) Add(l Listing) {
	reject := func(k Kind, args problem.Args) {
		in.Reject(Rejection{Kind: k, Provider: l.Provider, InstanceType: l.InstanceType, Region: l.Region, At: l.At, Args: args})
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
	in.read++
	key := offerKey{machineKey{l.Provider, l.InstanceType}, l.Region, l.Zone}
	o := in.offers[key]
	if o == nil {
		o = &offer{machine: m}
		in.offers[key] = o
	}
	o.rows = append(o.rows, l.At)
	for _, p := range prices {
		if i := o.mode(p.Mode); i < 0 {
			o.prices = append(o.prices, quoted{p, l.At})
		} else if better(p, o.prices[i].Price) {
			o.prices[i] = quoted{p, l.At}
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
// and either can be had), of equal ones that with fewer doubts. Of two currencies neither is the cheaper: the first of the alphabet
// stands.
func better(p, have catalog.Price) bool {
	cheaper := cmp.Compare(have.Hourly.Nanos(), p.Hourly.Nanos())
	if a, b := have.Hourly.Currency(), p.Hourly.Currency(); a != b {
		cheaper = strings.Compare(string(b), string(a))
	}
	return cmp.Or(strings.Compare(p.AsOf, have.AsOf), cheaper, len(have.Flags)-len(p.Flags)) > 0
}

// prices completes the prices of a listing, until the next one. One that is none is told as a fault; where all are, the row is refused.
func (in *Intake) prices(l *Listing) ([]catalog.Price, *refusal) {
	out := in.scratch[:0]
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
		kind := catalog.FaultKind("")
		var args problem.Args
		switch {
		case p.Hourly.Nanos() <= 0:
			kind = catalog.ZeroPrice
		case !p.Mode.Known():
			kind, args = catalog.BadRow, problem.Args{"Column": "mode", "Value": string(p.Mode), "Want": "mode"}
		case !in.cited(p.Source):
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
	in.scratch = out
	return out, nil
}

// cited says whether a source is known: one that a row may name, or that of a machine that is known already.
func (in *Intake) cited(id string) bool {
	if _, ok := in.sources[id]; ok {
		return true
	}
	if in.o.Known != nil {
		for _, s := range in.o.Known.Sources {
			if s.ID == id {
				in.sources[id] = s
				return true
			}
		}
	}
	return false
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
	r := Result{Rejections: slices.Concat(in.rejections...), Faults: slices.Clone(in.faults)}
	f := &folding{in: in, offers: maps.Clone(in.offers), result: &r}
	f.check()
	f.foldZones()
	f.finish()
	return r
}
