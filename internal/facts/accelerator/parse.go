package accelerator

import (
	"strings"

	"github.com/rackrate/rackrate/internal/base/problem"
)

// Bounds of the grammar: far above any real machine or list, low enough that no input costs time.
const (
	maxSelector  = 200
	maxSelectors = 64
	maxCount     = 1e6
	maxGB        = 1e6
)

// wideMarks are the punctuation that Chinese keyboards write.
var wideMarks = strings.NewReplacer("：", ":", "，", ",", "、", ",")

// ParseSelectors reads a list of selectors parted by commas and reports the faults of all of them together.
func (t *Table) ParseSelectors(text string) ([]Selector, error) {
	items := strings.Split(wideMarks.Replace(text), ",")
	if len(items) > maxSelectors {
		return nil, problem.List{syntax(text, "too_long")}
	}
	var list []Selector
	var faults problem.List
	for _, item := range items {
		s, err := t.ParseSelector(item)
		faults = append(faults, problem.All(err)...)
		list = append(list, s)
	}
	if err := faults.OrNil(); err != nil {
		return nil, err
	}
	return list, nil
}

// ParseSelector reads one selector: up to a name, a memory and a count in this order, parted by colons, as in
// H100:8, 80GB..:1..8, A100:80GB:4 or :8. A range is inclusive, and open where an end is left out. A size is the
// one a chip is sold with, so 80GB and 80GiB mean the same chips; a count may be a fraction (A10:0.5).
//
// Faults are selector.syntax {Text, Reason} with one of the reasons empty, too_long, too_many_parts,
// empty_part, order, count, memory, zero and reversed, and those of One for a name.
func (t *Table) ParseSelector(text string) (Selector, error) {
	text = strings.TrimSpace(wideMarks.Replace(text))
	s := Selector{Text: text}
	switch {
	case len(text) > maxSelector:
		return Selector{}, syntax(text, "too_long")
	case text == "":
		return Selector{}, syntax(text, "empty")
	}
	parts := strings.Split(text, ":")
	if len(parts) > 3 {
		return Selector{}, syntax(text, "too_many_parts")
	}
	stage := atStart
	for i, part := range parts {
		part = strings.TrimSpace(part)
		if part == "" {
			if i == 0 && len(parts) > 1 {
				continue // ":8" leaves the name out
			}
			return Selector{}, syntax(text, "empty_part")
		}
		kind := kindOf(part, i)
		if kind <= stage {
			return Selector{}, syntax(text, "order")
		}
		stage = kind
		if err := t.readPart(&s, part, kind); err != nil {
			return Selector{}, err
		}
	}
	return s, nil
}

// partKind is what a part of a selector says, in the order the parts must come in.
type partKind int

const (
	atStart partKind = iota
	isName
	isMemory
	isCount
)

// kindOf tells the parts apart by their form. A bare number in first place is a name (4090), never a count.
func kindOf(part string, place int) partKind {
	low, high, ranged := strings.Cut(part, "..")
	_, lowGB, okLow := endpoint(low)
	_, highGB, okHigh := endpoint(high)
	switch {
	case place > 0 && !lowGB && !highGB:
		return isCount
	case okLow && okHigh && (lowGB || highGB):
		return isMemory
	case ranged && okLow && okHigh:
		return isCount
	case place > 0:
		return isMemory // with a unit but ill written
	}
	return isName
}

func (t *Table) readPart(s *Selector, part string, kind partKind) (err error) {
	switch kind {
	case isName:
		s.Chips, err = t.some(part)
	case isMemory:
		s.MinGB, s.MaxGB, err = readRange(s.Text, part, "memory", maxGB)
	case isCount:
		s.MinCount, s.MaxCount, err = readRange(s.Text, part, "count", maxCount)
	}
	return err
}

// readRange reads "8", "1..8", "4.." or "..8"; an open end is 0, as in Selector.
func readRange(text, part, reason string, limit float64) (low, high float64, err error) {
	first, second, ranged := strings.Cut(part, "..")
	low, _, okLow := endpoint(first)
	high, _, okHigh := endpoint(second)
	if !ranged {
		second, high, okHigh = first, low, okLow
	}
	switch {
	case !okLow || !okHigh || first == "" && second == "" || low > limit || high > limit:
		return 0, 0, syntax(text, reason)
	case second != "" && high == 0: // nothing can match up to none
		return 0, 0, syntax(text, "zero")
	case second != "" && low > high:
		return 0, 0, syntax(text, "reversed")
	}
	return low, high, nil
}

// endpoint reads one end of a range and whether it carries a unit of memory; an empty end is open.
func endpoint(s string) (v float64, gb, ok bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	for _, u := range []string{"gib", "gb"} {
		if head, cut := strings.CutSuffix(s, u); cut {
			v, ok = plainDecimal(strings.TrimSpace(head))
			return v, true, ok
		}
	}
	if s == "" {
		return 0, false, true
	}
	v, ok = plainDecimal(s)
	return v, false, ok
}

func syntax(text, reason string) *problem.Error {
	return problem.New(problem.Input, "selector.syntax", problem.Args{"Text": shorten(text), "Reason": reason})
}
