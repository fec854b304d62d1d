package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/plan"
	"github.com/rackrate/rackrate/internal/front/say"
)

// legend gives each kind of warning a letter that the table's last column carries.
type legend struct {
	entries []entry
	byCode  map[string]string
}

type entry struct{ letter, text string }

// newLegend letters the warnings in the order the plans bring them. Plans that share a warning share its line, which then
// gives the figures of all of them; one that every plan has tells none from another and needs no letter.
func newLegend(plans []plan.Plan, s *say.Speaker) *legend {
	l := &legend{byCode: map[string]string{}}
	figures := map[string][]map[string]any{}
	var codes []string
	for i := range plans {
		for _, w := range plans[i].Warnings {
			if figures[w.Code] == nil {
				codes = append(codes, w.Code)
			}
			figures[w.Code] = append(figures[w.Code], w.Args)
		}
	}
	letters := 0
	for _, code := range codes {
		letter := s.Text("plan.legend.all")
		if len(plans) == 1 || len(figures[code]) < len(plans) {
			letter = letterOf(letters)
			l.byCode[code] = letter
			letters++
		}
		l.entries = append(l.entries, entry{letter, s.Warning(plan.Warning{Code: code, Args: merge(figures[code], s)})})
	}
	slices.SortStableFunc(l.entries, func(a, b entry) int { return rankLetter(l, a) - rankLetter(l, b) })
	return l
}

// rankLetter puts what holds of every plan first.
func rankLetter(l *legend, e entry) int {
	for _, letter := range l.byCode {
		if letter == e.letter {
			return 1
		}
	}
	return 0
}

// letterOf gives a … z, then aa …
func letterOf(i int) string {
	if i < 26 {
		return string(rune('a' + i))
	}
	return letterOf(i/26-1) + letterOf(i%26)
}

func (l *legend) letters(q *plan.Plan) string {
	var out []string
	for _, w := range q.Warnings {
		if letter := l.byCode[w.Code]; letter != "" && !slices.Contains(out, letter) {
			out = append(out, letter)
		}
	}
	slices.Sort(out)
	return strings.Join(out, "")
}

func (l *legend) write(p *Printer) {
	column := 3
	for _, e := range l.entries {
		column = max(column, width(e.letter)+2)
	}
	for _, e := range l.entries {
		p.Hang(e.letter, e.text, column)
	}
}

// merge makes one set of figures out of several: numbers become a range, names a list of at most three.
func merge(all []map[string]any, s *say.Speaker) map[string]any {
	if len(all) == 1 {
		return all[0]
	}
	out := map[string]any{}
	for key, first := range all[0] {
		if key == "Item" {
			out[key] = items(all, s)
			continue
		}
		if low, high, ok := span(all, key); ok {
			out[key] = first
			if s.Value(low) != s.Value(high) {
				out[key] = between(low, high, s)
			}
			continue
		}
		out[key] = names(all, key, s)
	}
	return out
}

// span gives the least and greatest of a figure that is a plain number in every set.
func span(all []map[string]any, key string) (low, high any, ok bool) {
	var lo, hi float64
	for i, args := range all {
		v, isNumber := plainNumber(args[key])
		if !isNumber {
			return nil, nil, false
		}
		if i == 0 || v < lo {
			lo, low = v, args[key]
		}
		if i == 0 || v > hi {
			hi, high = v, args[key]
		}
	}
	return low, high, true
}

// between prints a range, its unit once where the language allows.
func between(low, high any, s *say.Speaker) string {
	switch lo := low.(type) {
	case unit.Hours:
		return s.HoursRange(lo, high.(unit.Hours))
	case money.Amount:
		return s.MoneyRange(lo, high.(money.Amount))
	}
	lo, hi := s.Value(low), s.Value(high)
	if n, unit, found := strings.Cut(lo, " "); found && strings.HasSuffix(hi, " "+unit) {
		lo = n
	}
	return lo + "–" + hi
}

func plainNumber(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case float64:
		return v, true
	case unit.Bytes:
		return float64(v), true
	case unit.Hours:
		return float64(v), true
	case money.Amount:
		return v.Float(), true
	}
	return 0, false
}

// items lists the cost items of several warnings in the reader's words.
func items(all []map[string]any, s *say.Speaker) string {
	var out []string
	for _, args := range all {
		if text := s.Term("item", fmt.Sprint(args["Item"])); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return s.List(out)
}

func names(all []map[string]any, key string, s *say.Speaker) string {
	var out []string
	for _, args := range all {
		if text := s.Value(args[key]); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	if len(out) > 3 {
		return s.Say("list.more", say.Args{"Names": s.List(out[:3]), "More": fmt.Sprint(len(out) - 3)})
	}
	return s.List(out)
}

// warningCodes lists the codes of a plan's warnings, each once, for CSV.
func warningCodes(ws []plan.Warning) string {
	var codes []string
	for _, w := range ws {
		if !slices.Contains(codes, w.Code) {
			codes = append(codes, w.Code)
		}
	}
	return strings.Join(codes, " ")
}
