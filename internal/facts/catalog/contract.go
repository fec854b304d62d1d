package catalog

import (
	"fmt"
	"io"
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
)

// Term is one line of a contract with a provider: a price, or a share off the list price, for the offers that it names.
// Of several terms that fit a price the last counts.
type Term struct {
	Provider     string
	InstanceType string        // a pattern as of a shell, p5.*; empty is any
	Accelerator  string        // the canonical name of a chip; empty is any
	Region       string        // a pattern; empty is any
	Modes        []BillingMode // that it changes the price of; none: on demand
	// Off is the share of the list price that is not charged, between 0 and 1; unknown where Hourly says the price.
	Off    unit.Maybe[float64]
	Hourly money.Rate // of the whole machine, or of one accelerator
	PerGPU bool       // Hourly is of one accelerator
	From   string     // first ISO day; empty: always
	Until  string     // last ISO day; empty: open
	AsOf   string     // the day of the contract
	Source string
}

// fits says whether a term is in force on a day for a machine and place, prices apart.
func (t *Term) fits(m *Machine, region, today string) bool {
	switch {
	case t.Provider != m.Provider, t.From != "" && today < t.From, t.Until != "" && today > t.Until:
		return false
	case t.Accelerator != "" && t.Accelerator != m.Accelerator.Name:
		return false
	}
	return glob(t.InstanceType, m.InstanceType) && glob(t.Region, region)
}

func glob(pattern, name string) bool {
	if pattern == "" {
		return true
	}
	ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(name))
	return ok && err == nil
}

// reprice gives what a contract makes of a machine's price.
func (t *Term) reprice(m *Machine, p Price) Price {
	if off, ok := t.Off.Get(); ok {
		p.Hourly = p.Hourly.Mul(1 - off) // the list price's day and doubts stay: it is as old as the list
	} else {
		p.Hourly, p.AsOf, p.Flags = t.Hourly, t.AsOf, nil
		if t.PerGPU {
			p.Hourly = p.Hourly.Mul(m.Count)
		}
	}
	p.Source, p.Confidence = t.Source, Agreed
	return p
}

// modesOf are the ways of paying that a term sets a price for.
func (t *Term) modesOf() []BillingMode {
	if len(t.Modes) == 0 {
		return []BillingMode{OnDemand}
	}
	return t.Modes
}

// butForChip tells terms apart by all but the chip.
func (t Term) butForChip() string {
	t.Accelerator = ""
	return fmt.Sprintf("%+v", t)
}

const termColumns = "provider,instance_type,accelerator,region,modes,off,hourly,per,currency,from,until,as_of,source"

// perGPU marks a price of one accelerator.
const perGPU = "gpu"

func (l *loader) terms(file, text string) (out []Term) {
	t, ok := newTable(file, text, termColumns, l.faults)
	for ok && t.next() {
		term := Term{
			Provider: t.text(0), InstanceType: t.row[1], Accelerator: t.row[2], Region: t.row[3], Off: t.number(5),
			PerGPU: t.row[7] == perGPU, From: t.row[9], Until: t.row[10], AsOf: t.date(11), Source: l.source(t, 12),
		}
		if t.row[4] != "" {
			for m := range strings.SplitSeq(t.row[4], ";") {
				term.Modes = append(term.Modes, BillingMode(m))
			}
		}
		if !term.Off.Known() {
			rate, err := money.ParseRate(t.row[6], money.Currency(t.row[8]))
			if err != nil || rate.IsZero() || !isCurrency(t.row[8]) {
				t.bad("hourly", t.row[6], "price")
			}
			if t.row[7] != "" && t.row[7] != perGPU {
				t.bad("per", t.row[7], perGPU)
			}
			term.Hourly = rate
		} else if off := term.Off.Or(0); off <= 0 || off >= 1 || math.IsNaN(off) {
			t.bad("off", t.row[5], "0..1")
		}
		out = append(out, term)
	}
	return out
}

// writeTerms keeps their order: of two that fit, the later counts.
func writeTerms(w io.Writer, terms []Term) error {
	return writeRows(w, termColumns, len(terms), func(i int) []string {
		t := terms[i]
		modes := make([]string, len(t.Modes))
		for j, m := range t.Modes {
			modes[j] = string(m)
		}
		row := []string{t.Provider, t.InstanceType, t.Accelerator, t.Region, strings.Join(modes, ";"), "", "", "", "", t.From, t.Until, t.AsOf, t.Source}
		if off, ok := t.Off.Get(); ok {
			row[5] = strconv.FormatFloat(off, 'f', -1, 64)
		} else {
			row[6], row[8] = t.Hourly.Decimal(), string(t.Hourly.Currency())
			if t.PerGPU {
				row[7] = perGPU
			}
		}
		return row
	})
}
