package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/choose/price/tco"
	"github.com/rackrate/rackrate/internal/facts/assumption"
	"github.com/rackrate/rackrate/internal/front/say"
)

// remarks says what the marks mean, and which lines are not known and what would make them so.
func (d *TCO) remarks(p *Printer) {
	for _, text := range d.marks(p.Say) {
		p.Para(p.Dim(text), 3)
	}
	for _, text := range d.missing(p.Say) {
		p.Para(p.Alert(text), 3)
	}
}

func (d *TCO) marks(s *say.Speaker) []string {
	var assumed, open bool
	for i := range d.Options {
		for _, l := range d.Options[i].Lines {
			assumed = assumed || l.State == tco.Assumed
			open = open || l.State == tco.Unknown
		}
	}
	var out []string
	if assumed {
		out = append(out, "~  "+s.Text("tco.mark.assumed"))
	}
	if open {
		out = append(out, "+  "+s.Text("tco.mark.open"))
	}
	return out
}

// missing lists the lines that are not known, together where the same would make them known.
func (d *TCO) missing(s *say.Speaker) []string {
	var out []string
	for i := range d.Options {
		o := &d.Options[i]
		var wants []string
		items := map[string][]string{}
		for _, l := range o.Missing() {
			if items[l.Wants] == nil {
				wants = append(wants, l.Wants)
			}
			items[l.Wants] = append(items[l.Wants], s.Value(l.Item))
		}
		for _, want := range wants {
			out = append(out, "?  "+s.Say("tco.missing", say.Args{"ID": o.ID, "Items": items[want], "Give": give(want)}))
		}
	}
	return out
}

// give is how to make a line known; empty where nothing does.
func give(want string) string {
	if f := assumption.FamilyOf(want); f != nil {
		return "--assume '" + want + "=" + f.Example + "'"
	}
	if strings.HasPrefix(want, assumption.SupportPlan+".") {
		return "--assume '" + want + "=3%'"
	}
	if want == "country" {
		return "country (--buy)"
	}
	return ""
}

// findings are the sentences that follow from the table.
func (d *TCO) findings(s *say.Speaker) []string {
	var out []string
	for i := range d.Options {
		if o := &d.Options[i]; o.ID == d.Cheapest && len(d.Options) > 1 {
			out = append(out, s.Say("tco.cheapest", say.Args{"Months": d.Months, "ID": o.ID, "Total": o.Total}))
		}
		if o := &d.Options[i]; !o.Beyond.IsZero() {
			out = append(out, s.Say("tco.beyond", say.Args{"ID": o.ID, "Amount": o.Beyond}))
		}
	}
	if d.Cheapest == "" {
		out = append(out, s.Text("tco.none_whole"))
	}
	for _, b := range d.BreakEvens {
		if b.Unknown {
			out = append(out, s.Say("tco.breakeven.unknown", say.Args{"ID": b.Option}))
			continue
		}
		text := s.Say("tco.breakeven.never", say.Args{"ID": b.Option, "Months": d.Months})
		if m, ok := b.Month.Get(); ok {
			text = s.Say("tco.breakeven.month", say.Args{"ID": b.Option, "Month": m})
		}
		used, ok := b.Used.Get()
		switch {
		case b.Always:
			text += s.Say("tco.breakeven.always", nil)
		case ok && b.Below:
			text += s.Say("tco.breakeven.used_below", say.Args{"Used": s.Percent(used), "Months": d.Months})
		case ok:
			text += s.Say("tco.breakeven.used", say.Args{"Used": s.Percent(used), "Months": d.Months})
		default:
			text += s.Say("tco.breakeven.unused", say.Args{"Months": d.Months})
		}
		if b.Open {
			text += s.Say("tco.breakeven.open", nil)
		}
		out = append(out, text)
	}
	return out
}

// assumptionColumn is where the source of an assumption begins.
const assumptionColumn = 44

func (d *TCO) assumption(p *Printer, a *assumption.Assumption) {
	form := "  " + a.Key() + " = " + p.Say.Value(a.Text)
	if a.Family.Per != "" {
		form += " " + p.Say.Text("tco.per."+a.Family.Per)
	}
	if width(form) > assumptionColumn-2 || p.Width < 2*assumptionColumn {
		p.Line(form)
		form = ""
	}
	column := assumptionColumn
	if p.Width < 2*assumptionColumn {
		column = 6
	}
	p.Hang(form, backing(a, p.Say), column)
}

// exchange says of which day the exchange rates are; empty where no price or assumption is in another currency.
func (d *TCO) exchange(s *say.Speaker) string {
	var used []money.Currency
	for i := range d.Options {
		if q := d.Options[i].Plan; q != nil {
			used = append(used, q.Price.Hourly.Currency())
		}
	}
	for i := range d.Assumptions {
		for _, a := range d.Assumptions[i].Value.Amounts() {
			used = append(used, a.Currency())
		}
	}
	if !slices.ContainsFunc(used, func(c money.Currency) bool { return c != d.Currency }) {
		return ""
	}
	return s.Say("tco.exchange", say.Args{"AsOf": d.Search.FXAsOf, "Source": d.Search.FXSource})
}

// unused says what the user gave for nothing; empty where all was used.
func (d *TCO) unused(s *say.Speaker) string {
	if len(d.Unused) == 0 {
		return ""
	}
	var keys []string
	for i := range d.Unused {
		keys = append(keys, d.Unused[i].Key())
	}
	return s.Say("tco.unused", say.Args{"Keys": keys})
}

// backing says where a value comes from.
func backing(a *assumption.Assumption, s *say.Speaker) string {
	switch {
	case a.File != "":
		return s.Say("tco.given.file", say.Args{"File": a.File, "Line": strconv.Itoa(a.Line)})
	case a.Given():
		return s.Text("tco.given.flag")
	}
	return a.AsOf + " · " + s.Value(a.Confidence) + " · " + a.Source
}
