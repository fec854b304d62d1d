package workload

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
)

// errUnit marks a number without the unit it needs.
var errUnit = errors.New("no unit")

// shape is how a figure looks, for the schema; the decoder has the last word on the unit.
type shape struct {
	name, pattern string
	bare          string // the JSON type of a bare number; empty where the unit must be written
}

// quantity is a figure with a unit, written as text.
func quantity[T ~float64 | ~int64 | ~int](s shape, parse func(string) (T, error), print func(T) any) codec[T] {
	return codec[T]{
		name: s.name,
		read: func(r *reader, f *Field, n *yaml.Node) (T, bool) {
			text, ok := r.text(f, n)
			if !ok {
				return 0, false
			}
			v, err := parse(text)
			switch {
			case errors.Is(err, unit.ErrRange) || err == nil && !f.within(float64(v)):
				r.fault(n, codeOutOfBounds, problem.Args{"Key": f.Path, "Value": clip(text), "Min": print(T(f.Min)), "Max": print(T(f.Max))})
			case err != nil:
				r.badValue(f, n, text)
			default:
				return v, true
			}
			return 0, false
		},
		write:  func(v T) (any, bool) { return print(v), v != 0 },
		schema: s.schema,
	}
}

func (s shape) schema(f *Field) Object {
	text := Object{{"type", "string"}, {"pattern", s.pattern}}
	if s.bare == "" {
		return text
	}
	return Object{{"anyOf", []any{Object{{"type", s.bare}, {"minimum", f.Min}, {"maximum", f.Max}}, text}}}
}

func (f *Field) within(v float64) bool { return v >= f.Min && v <= f.Max }

const number = `^\s*\+?[0-9.][0-9.,]*([eE][+-]?[0-9]+)?\s*`

var (
	bytesShape   = shape{name: "bytes", pattern: number + `[kKmMgGtTpP]?[iI]?[bB]\s*$`}
	rateShape    = shape{name: "rate", pattern: number + `([kKmMgGtTpP]?[iI]?[bB]/[sS]|[kKmMgGtT]?[bB]([pP][sS]|[iI][tT]/[sS]))\s*$`}
	countShape   = shape{name: "count", pattern: number + `[kKmMbBgGtTpPeE]?\s*$`, bare: "number"}
	flopShape    = shape{name: "flop", pattern: number + `[kKmMgGtTpPeE]?([fF][lL][oO][pP][sS]?)?\s*$`, bare: "number"}
	hoursShape   = shape{name: "hours", pattern: `^\s*\+?[0-9.][0-9.,eE+ a-zA-Zµ-]*[a-zA-Z]\s*$`}
	daysShape    = shape{name: "days", pattern: hoursShape.pattern}
	massShape    = shape{name: "mass", pattern: number + `([kK]?[gG]|[tT])\s*$`}
	percentShape = shape{name: "percent", pattern: number + `%?\s*$`, bare: "number"}
	numberShape  = shape{name: "number", pattern: number + `$`, bare: "number"}
	wholeShape   = shape{name: "integer", pattern: `^\s*\+?[0-9]+(\.0+)?([eE]\+?[0-9]+)?\s*$`, bare: "integer"}
	secondsShape = shape{name: "seconds", pattern: `^\s*\+?[0-9.][0-9.,eE+ a-zA-Zµ-]*$`, bare: "number"}
)

// decimal reads a bare plain number: no hex, no underscores, no infinity.
func decimal(s string) (float64, bool) {
	if strings.Trim(s, "0123456789.eE+-") != "" {
		return 0, false
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil
}

// withUnit refuses a bare number, which leaves open what was meant.
func withUnit[T any](parse func(string) (T, error)) func(string) (T, error) {
	return func(s string) (T, error) {
		if _, bare := decimal(s); bare {
			var zero T
			return zero, errUnit
		}
		return parse(s)
	}
}

var bytesCodec = quantity(bytesShape, withUnit(unit.ParseBytes), printBytes)

var rateCodec = quantity(rateShape, unit.ParseRate, func(v unit.BytesPerSec) any {
	return exact(float64(v), []scale{{1e9, "GB/s"}, {1e6, "MB/s"}, {1e12, "TB/s"}, {1, "B/s"}})
})

// gbpsCodec reads a network rate as it is quoted, in bits; it is kept to a kilobit, so that text and figure agree.
var gbpsCodec = quantity(rateShape, func(s string) (float64, error) {
	v, err := unit.ParseRate(s)
	return math.Round(float64(v)*8/1e3) / 1e6, err
}, func(v float64) any { return strconv.FormatFloat(v, 'f', -1, 64) + "Gbps" })

var hoursCodec = quantity(hoursShape, unit.ParseHours, func(v unit.Hours) any { return printHours(v) })

// printHours prefers whole numbers, of the largest unit that gives one: 90m rather than 1.5h.
func printHours(v unit.Hours) string {
	scales := []scale{{1, "h"}, {1.0 / 60, "m"}, {1.0 / 3600, "s"}, {1.0 / 3.6e6, "ms"}}
	for _, s := range scales {
		n := math.Round(float64(v) / s.size)
		if n >= 1 && n < 1e6 && n*s.size == float64(v) {
			return strconv.FormatFloat(n, 'f', -1, 64) + s.name
		}
	}
	slices.Reverse(scales)
	return exact(float64(v), scales)
}

// checkpointCodec is a time, or auto for the best one, which is kept as 0.
var checkpointCodec = func() codec[unit.Hours] {
	c := hoursCodec
	c.name = "checkpoint"
	c.read = func(r *reader, f *Field, n *yaml.Node) (unit.Hours, bool) {
		if n.Kind == yaml.ScalarNode && n.Value == auto {
			return 0, true
		}
		return hoursCodec.read(r, f, n)
	}
	c.write = func(v unit.Hours) (any, bool) {
		if v == 0 {
			return auto, false
		}
		return printHours(v), true
	}
	c.schema = func(f *Field) Object {
		return Object{{"anyOf", []any{Object{{"const", auto}}, hoursCodec.schema(f)}}}
	}
	return c
}()

const auto = "auto"

// daysCodec is a time in whole days.
var daysCodec = quantity(daysShape, func(s string) (int, error) {
	h, err := unit.ParseHours(s)
	days := float64(h) / 24
	switch {
	case err != nil:
		return 0, err
	case days > math.MaxInt32:
		return 0, unit.ErrRange
	case days != math.Trunc(days):
		return 0, unit.ErrSyntax
	}
	return int(days), nil
}, func(v int) any { return strconv.Itoa(v) + "d" })

// secondsCodec reads a measured time, for which a bare number means seconds.
var secondsCodec = quantity(secondsShape, func(s string) (float64, error) {
	if v, ok := decimal(s); ok {
		return v, nil
	}
	h, err := unit.ParseHours(s)
	return h.Seconds(), err
}, plain)

var countCodec = quantity(countShape, unit.ParseCount, func(v float64) any { return Count(v) })

var flopCodec = quantity(flopShape, func(s string) (unit.FLOP, error) {
	low := strings.ToLower(s)
	low = strings.TrimSuffix(strings.TrimSuffix(low, "s"), "flop")
	v, err := unit.ParseCount(low)
	return unit.FLOP(v), err
}, func(v unit.FLOP) any { return Count(v) })

var percentCodec = quantity(percentShape, func(s string) (float64, error) {
	return unit.ParseCount(strings.TrimSpace(strings.TrimSuffix(s, "%")))
}, plain)

// shareCodec is a plain number between two bounds.
var shareCodec = quantity(numberShape, func(s string) (float64, error) {
	v, ok := decimal(s)
	if !ok {
		return 0, unit.ErrSyntax
	}
	return v, nil
}, plain)

func plain(v float64) any { return v }

// wholeCodec is a whole number. It takes no k or M: a sequence of 4k is 4096 to most who write it.
var wholeCodec = quantity(wholeShape, func(s string) (int, error) {
	v, ok := decimal(s)
	// YAML 1.1 reads 012 as ten, YAML 1.2 as twelve.
	octal := len(s) > 1 && s[0] == '0' && s[1] != '.'
	switch {
	case !ok || octal || v != math.Trunc(v):
		return 0, unit.ErrSyntax
	case math.Abs(v) > 1<<53:
		return 0, unit.ErrRange
	}
	return int(v), nil
}, func(v int) any { return v })

// zeroStageCodec is a whole number that is open at -1.
var zeroStageCodec = func() codec[int] {
	c := wholeCodec
	c.write = func(v int) (any, bool) { return v, v >= 0 }
	return c
}()

// maybe is a quantity that may be unknown.
func maybe[T any](c codec[T]) codec[unit.Maybe[T]] {
	return codec[unit.Maybe[T]]{
		name: c.name,
		read: func(r *reader, f *Field, n *yaml.Node) (unit.Maybe[T], bool) {
			v, ok := c.read(r, f, n)
			return unit.Some(v), ok
		},
		write: func(m unit.Maybe[T]) (any, bool) {
			v, known := m.Get()
			if !known {
				return nil, false
			}
			text, _ := c.write(v)
			return text, true
		},
		schema: c.schema,
	}
}

var massCodec = quantity(massShape, withUnit(unit.ParseMass), func(v unit.Kilograms) any {
	return exact(float64(v), []scale{{1, "kg"}, {1e3, "t"}})
})

// scale is a unit and how many base units it is.
type scale struct {
	size float64
	name string
}

// exact prints v in the first unit that needs few digits and reads back as the very same figure; the last
// scale is the base unit, which always does.
func exact(v float64, scales []scale) string {
	for _, s := range scales {
		digits := strconv.FormatFloat(v/s.size, 'f', -1, 64)
		if back, err := strconv.ParseFloat(digits, 64); err == nil && len(digits) <= 6 && back >= 1 && back*s.size == v {
			return digits + s.name
		}
	}
	for _, s := range scales {
		if s.size == 1 {
			return strconv.FormatFloat(v, 'g', -1, 64) + s.name
		}
	}
	return ""
}

func printBytes(v unit.Bytes) any {
	for _, s := range []scale{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1 << 40, "TiB"}, {1 << 30, "GiB"}, {1 << 20, "MiB"}, {1e3, "kB"}} {
		digits := strconv.FormatFloat(float64(v)/s.size, 'f', -1, 64)
		if back, err := unit.ParseBytes(digits + s.name); err == nil && back == v && len(digits) <= 6 && !strings.HasPrefix(digits, "0.") {
			return digits + s.name
		}
	}
	return strconv.FormatInt(int64(v), 10) + "B"
}
