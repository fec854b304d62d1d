package contract

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/provider"
	"github.com/rackrate/rackrate/internal/facts/strict"
)

// Of the file and of each term; the note and the document's name are for people.
var (
	fileKeys = []string{"provider", "document", "date", "from", "until", "note", "terms"}
	termKeys = []string{"provider", "gpu", "type", "region", "modes", "off", "price", "per_gpu", "from", "until", "note"}
)

// maxMachineMicros bounds a price, in millionths an hour: what a rate in billionths still holds.
const maxMachineMicros = 9e15

// reader is a file being read.
type reader struct {
	file  *strict.File
	chips *accelerator.Table
	// base is what the file says of every term.
	base catalog.Term
	// named says that the file names a provider for all, known or not.
	named bool
	seen  map[string]int // the line of each term, by all that it selects
}

// Parse reads the terms of a file. A term with several chips becomes one for each; all faults come at once.
func Parse(file string, data []byte, chips *accelerator.Table) ([]catalog.Term, error) {
	f, root := strict.Load(file, data)
	if root == nil {
		return nil, f.Err()
	}
	r := &reader{file: f, chips: chips, seen: map[string]int{}}
	top := f.Map(root, "", fileKeys...)
	if len(top.Keys) == 0 {
		return nil, f.Err()
	}
	r.base.Provider, r.named = provided(top), top.Has("provider")
	r.base.AsOf, r.base.From, r.base.Until = day(top, "date"), day(top, "from"), day(top, "until")
	if !top.Has("date") {
		top.Missing("date", "2026-04-01")
	}
	if !r.order(top, &r.base) {
		r.base.From, r.base.Until = "", "" // told once, not again with every term
	}
	top.Text("document")
	top.Text("note")
	items := top.List("terms")
	if len(items) == 0 {
		top.Missing("terms", "[{gpu: H100, off: 12%}]")
	}
	var terms []catalog.Term
	for i, n := range items {
		terms = append(terms, r.term(n, fmt.Sprintf("terms[%d]", i+1))...)
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	return terms, nil
}

// provided is the provider of a mapping by its id; empty where it names none.
func provided(m *strict.Map) string {
	text := m.Text("provider")
	if text == "" {
		return ""
	}
	p, err := provider.Embedded().Find(text)
	if err != nil {
		for _, bad := range problem.All(err) {
			m.File.Add(bad, m.LineOf("provider"))
		}
		return ""
	}
	return p.ID
}

// day is a date of a mapping; empty where it has none.
func day(m *strict.Map, key string) string {
	text := m.Text(key)
	if _, err := time.Parse(time.DateOnly, text); text != "" && err != nil {
		m.Bad(key, text, "2026-04-01")
		return ""
	}
	return text
}

// order says whether days are in order, and notes where they are not.
func (r *reader) order(m *strict.Map, t *catalog.Term) bool {
	if t.From == "" || t.Until == "" || t.Until >= t.From {
		return true
	}
	r.file.Add(problem.New(problem.Input, "contract.days", problem.Args{"From": t.From, "Until": t.Until}), m.LineOf("until"))
	return false
}

func (r *reader) term(n *yaml.Node, where string) []catalog.Term {
	before := r.file.Count()
	m := r.file.Map(n, where, termKeys...)
	if n.Kind != yaml.MappingNode {
		return nil
	}
	t := r.base
	if p := provided(m); p != "" {
		t.Provider = p
	}
	if !r.named && !m.Has("provider") {
		m.Missing("provider", "aws")
	}
	t.InstanceType, t.Region, t.Modes = pattern(m, "type"), pattern(m, "region"), modes(m)
	for _, d := range []struct {
		key string
		to  *string
	}{{"from", &t.From}, {"until", &t.Until}} {
		if m.Has(d.key) {
			*d.to = day(m, d.key)
		}
	}
	r.order(m, &t)
	m.Text("note")
	chips := r.gpus(m)
	r.amount(m, &t)
	if r.file.Count() > before {
		return nil
	}
	var terms []catalog.Term
	for _, chip := range chips {
		t.Accelerator = chip
		r.once(m, &t)
		terms = append(terms, t)
	}
	return terms
}

// once finds a term that an earlier one of the same selection makes useless.
func (r *reader) once(m *strict.Map, t *catalog.Term) {
	same := *t
	same.Off, same.Hourly, same.PerGPU = unit.Maybe[float64]{}, money.Rate{}, false
	key := fmt.Sprintf("%+v", same)
	if line := r.seen[key]; line > 0 {
		r.file.Add(problem.New(problem.Input, "contract.twice", problem.Args{"First": line}), m.Line)
	}
	r.seen[key] = m.Line
}

// pattern is a pattern as of a shell, p5.*; empty where there is none.
func pattern(m *strict.Map, key string) string {
	text := m.Text(key)
	if _, err := path.Match(text, ""); err != nil {
		m.Bad(key, text, map[string]string{"type": "p5.*", "region": "us-*"}[key])
	}
	return text
}

// modes are the ways of paying that a term is about; all stands for every one, none for on demand.
func modes(m *strict.Map) (found []catalog.BillingMode) {
	known := make([]string, 0, len(catalog.Modes()))
	for _, mode := range catalog.Modes() {
		known = append(known, string(mode))
	}
	for _, text := range m.Texts("modes") {
		mode := catalog.BillingMode(text)
		switch {
		case text == "all":
			return catalog.Modes()
		case !slices.Contains(known, text):
			m.Bad("modes", text, "[on-demand, reserved-1y]").With(problem.Nearest(text, known, 3)...)
		case !slices.Contains(found, mode):
			found = append(found, mode)
		}
	}
	return found
}

// gpus are the canonical names of the chips that a term is about; one empty name for any.
func (r *reader) gpus(m *strict.Map) (names []string) {
	for _, text := range m.Texts("gpu") {
		chips := r.chips.Resolve(text)
		if len(chips) == 0 {
			_, err := r.chips.One(text)
			for _, bad := range problem.All(err) {
				r.file.Add(bad, m.LineOf("gpu"))
			}
		}
		for _, c := range chips {
			if !slices.Contains(names, c.Name) {
				names = append(names, c.Name)
			}
		}
	}
	if !m.Has("gpu") {
		return []string{""}
	}
	return names
}

// amount reads the one of off, price and per_gpu that a term has.
func (r *reader) amount(m *strict.Map, t *catalog.Term) {
	var said []string
	for _, key := range []string{"off", "price", "per_gpu"} {
		if m.Has(key) {
			said = append(said, key)
		}
	}
	if len(said) != 1 {
		r.file.Add(problem.New(problem.Input, "contract.one_amount", problem.Args{"Got": len(said)}), m.Line)
		return
	}
	text := m.Text(said[0])
	if text == "" {
		return
	}
	switch said[0] {
	case "off":
		share, ok := percent(text)
		if !ok {
			m.Bad("off", text, "12%")
			return
		}
		t.Off = unit.Some(share)
	case "price":
		// A price of a machine says nothing of others that a pattern or a chip may name: they have other numbers of chips.
		if t.InstanceType == "" || strings.ContainsAny(t.InstanceType, `*?[\`) {
			r.file.Add(problem.New(problem.Input, "contract.price_of_many", nil), m.LineOf("price"))
		}
		t.Hourly = hourly(m, "price", text)
	case "per_gpu":
		if t.InstanceType == "" && !m.Has("gpu") {
			r.file.Add(problem.New(problem.Input, "contract.per_any_gpu", nil), m.LineOf("per_gpu"))
		}
		t.Hourly, t.PerGPU = hourly(m, "per_gpu", text), true
	}
}

// percent reads "12%" or "12.5 %" as a share between 0 and 1, both excluded.
func percent(text string) (float64, bool) {
	number, ok := strings.CutSuffix(text, "%")
	v, err := feed.Decimal(strings.TrimSpace(number))
	if !ok || err != nil {
		return 0, false
	}
	f, _ := v.Float64()
	return f / 100, f > 0 && f < 100
}

// hourly reads "21.50 USD/h" or "21.50 USD".
func hourly(m *strict.Map, key, text string) money.Rate {
	amount, err := money.ParseAmount(strings.TrimSuffix(text, "/h"))
	if err != nil || amount.IsZero() || amount.Micros() > maxMachineMicros {
		m.Bad(key, text, "21.50 USD/h")
		return money.Rate{}
	}
	return money.PerHour(amount.Micros()*1000, amount.Currency())
}
