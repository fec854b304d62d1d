package accelerator

import (
	"strings"

	"github.com/rackrate/rackrate/internal/base/problem"
)

// maxSuggestions is how many near misses an unknown name is answered with.
const maxSuggestions = 3

// Resolve gives every chip that a loosely written name means, in the order of the file: case, punctuation, and
// makers' and families' names do not count, and what is left out (form factor, memory) is left open.
// H100 means all mainstream H100s, H100 SXM never the PCIe card. Nothing is guessed: a text with a word
// that is not the chip's own means no chip.
func (t *Table) Resolve(text string) []*Accelerator {
	if len(text) > maxName {
		return nil
	}
	if chips := t.match(fold(text)); chips != nil {
		return chips
	}
	// A TPU slice is written as its generation and its size in cores or chips, as in v5p-128.
	if i := strings.LastIndexAny(text, "-_ "); i > 0 && i+1 < len(text) && strings.Trim(text[i+1:], "0123456789") == "" {
		if chips := t.match(fold(text[:i])); len(chips) == 1 && chips[0].Kind == TPU {
			return chips
		}
	}
	return nil
}

func (t *Table) match(folded string) []*Accelerator {
	if folded == "" || len(folded) > 3*maxName {
		return nil
	}
	var chips []*Accelerator
	for i := range t.spellings {
		if t.spellings[i].means(folded) {
			chips = append(chips, t.spellings[i].chip)
		}
	}
	return chips
}

// One is Resolve where exactly one chip is wanted. No chip is the problem accelerator.unknown {Name} with near
// misses as suggestions, several are accelerator.ambiguous {Name, Choices}.
func (t *Table) One(text string) (*Accelerator, error) {
	chips, err := t.some(text)
	if err != nil {
		return nil, err
	}
	if len(chips) > 1 {
		names := make([]string, len(chips))
		for i, a := range chips {
			names[i] = a.Name
		}
		return nil, problem.New(problem.Input, "accelerator.ambiguous", problem.Args{"Name": text, "Choices": names})
	}
	return chips[0], nil
}

// some is Resolve where no chip at all is a problem.
func (t *Table) some(text string) ([]*Accelerator, error) {
	chips := t.Resolve(text)
	if chips == nil {
		return nil, problem.New(problem.Input, "accelerator.unknown", problem.Args{"Name": shorten(text)}).
			With(problem.Nearest(text, t.written, maxSuggestions)...)
	}
	return chips, nil
}

// shorten keeps a quoted text printable, however long the input was.
func shorten(s string) string {
	s = strings.ToValidUTF8(s, "�")
	if r := []rune(s); len(r) > 64 {
		return string(r[:64]) + "…"
	}
	return s
}
