package say

import (
	"fmt"
	"maps"
	"strings"
	"unicode"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/plan"
	"github.com/rackrate/rackrate/internal/choose/price/tco"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/assumption"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/software"
)

// Value prints a figure of a message by its type, so that lower floors can hand over what they have and every
// message prints it alike.
func (s *Speaker) Value(v any) string {
	switch v := v.(type) {
	case nil:
		return Unknown
	case string:
		return printable(v)
	case int:
		return s.Int(int64(v))
	case int64:
		return s.Int(v)
	case float64:
		return s.Number(v)
	case []string:
		return s.List(v)
	case error:
		return v.Error()
	}
	if text, ok := s.quantity(v); ok {
		return text
	}
	if text, ok := s.word(v); ok {
		return text
	}
	return fmt.Sprint(v)
}

// printable replaces the characters that steer a terminal: a name in a file from elsewhere must not.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

func (s *Speaker) quantity(v any) (string, bool) {
	switch v := v.(type) {
	case money.Amount:
		return s.Money(v), true
	case money.Rate:
		return s.Rate(v), true
	case unit.Bytes:
		return v.String(), true
	case unit.Hours:
		return s.Hours(v), true
	case unit.Kilograms:
		return s.Kilograms(v), true
	case unit.KilowattHours:
		return s.Number(float64(v)), true
	case unit.GramsPerKWh:
		return s.Number(float64(v)), true
	case unit.Watts:
		return s.Number(float64(v)), true
	case unit.FLOP:
		return s.FLOP(v), true
	case unit.FLOPS:
		return v.String(), true
	case unit.BytesPerSec:
		return v.String(), true
	}
	return "", false
}

// word prints a value that names something, by the message for it.
func (s *Speaker) word(v any) (string, bool) {
	switch v := v.(type) {
	case workload.Kind:
		return s.Term("kind", string(v)), true
	case workload.Method:
		return s.Term("method", string(v)), true
	case workload.Preference:
		return s.Term("prefer", string(v)), true
	case catalog.BillingMode:
		return s.Term("billing", string(v)), true
	case catalog.Topology:
		return s.Term("topology", string(v)), true
	case catalog.NetworkKind:
		return s.Term("network", string(v)), true
	case catalog.Confidence:
		return s.Term("confidence", string(v)), true
	case catalog.Flag:
		return s.doubt(string(v)), true
	case assumption.Confidence:
		return s.Term("confidence", string(v)), true
	case accelerator.Confidence:
		return s.Term("confidence", string(v)), true
	case accelerator.Precision:
		return strings.ToUpper(v.String()), true
	case estimate.Basis:
		return s.Term("basis", string(v)), true
	case estimate.Likeness:
		return s.Term("like", string(v)), true
	case estimate.Reason:
		return s.Term("reason", string(v)), true
	case plan.Reason:
		return s.Term("reason", string(v)), true
	case plan.Item:
		return s.Term("item", string(v)), true
	case tco.Item:
		return s.Term("tco_item", string(v)), true
	}
	return "", false
}

// Term is the word for one value of a set; a value without a word of its own stands for itself, and an empty one
// is unknown.
func (s *Speaker) Term(set, value string) string {
	if value == "" {
		return Unknown
	}
	if id := set + "." + value; s.Has(id) {
		return s.Text(id)
	}
	return value
}

// List joins names as the language does.
func (s *Speaker) List(names []string) string {
	if s.lang == Chinese {
		return strings.Join(names, "、")
	}
	return strings.Join(names, ", ")
}

// Clauses puts sentences without an end one after another.
func (s *Speaker) Clauses(parts []string) string {
	if s.lang == Chinese {
		return strings.Join(parts, "；")
	}
	return strings.Join(parts, "; ")
}

// FLOP prints an amount of arithmetic: 1.6e+21 as "1.6e21 FLOP".
func (s *Speaker) FLOP(f unit.FLOP) string {
	if f == 0 {
		return Unknown
	}
	return strings.Replace(fmt.Sprintf("%.2g", float64(f)), "e+", "e", 1) + " FLOP"
}

// Maybe prints a figure that may be unknown.
func Maybe[T any](s *Speaker, m unit.Maybe[T]) string {
	if v, ok := m.Get(); ok {
		return s.Value(v)
	}
	return Unknown
}

// Warning says a warning of a plan. Doubts about a row come as price_ or machine_ with the row's flag.
func (s *Speaker) Warning(w plan.Warning) string {
	if id := "warning." + w.Code; s.Has(id) {
		args := maps.Clone(w.Args)
		if w.Code == software.WrongStack && strings.EqualFold(fmt.Sprint(args["Name"]), fmt.Sprint(args["Want"])) { // the stack itself was asked for
			return s.Say("warning.software.needs_stack", args)
		}
		if item, ok := args["Item"].(string); ok {
			args["Item"] = s.Term("item", item)
		}
		return s.Say(id, args)
	}
	about, flag, _ := strings.Cut(w.Code, "_")
	return s.Say("warning."+about, Args{"Doubt": s.doubt(flag)})
}

// Note says a note of an estimate.
func (s *Speaker) Note(n estimate.Note) string { return s.Say("note."+n.Code, n.Args) }

// doubt says a flag of a row: a reason to doubt it, or the kind of fault that verify found.
func (s *Speaker) doubt(flag string) string {
	if s.Has("fault." + flag) {
		return s.Term("fault", flag)
	}
	return s.Term("doubt", flag)
}
