package unit

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// ErrSyntax marks text that is not a quantity of the wanted kind.
var ErrSyntax = errors.New("not a quantity")

// ErrRange marks a quantity that is negative, infinite or too large to hold.
var ErrRange = errors.New("quantity out of range")

var byteUnits = map[string]float64{
	"": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "pb": 1e15,
	"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40, "pib": 1 << 50,
}

// split cuts "1.2 TB" into 1.2 and "tb". The number is plain decimal: no hex, no "Inf", no "1_0".
func split(s string) (float64, string, error) {
	s = strings.TrimSpace(s)
	i := 0
	for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == '.' || s[i] == ',' || (i == 0 && (s[i] == '-' || s[i] == '+'))) {
		i++
	}
	// An exponent belongs to the number only when digits follow it: 1e9, but not 5 EB or 2eggs.
	if i > 0 && i+1 < len(s) && (s[i] == 'e' || s[i] == 'E') {
		j := i + 1
		if s[j] == '+' || s[j] == '-' {
			j++
		}
		k := j
		for k < len(s) && s[k] >= '0' && s[k] <= '9' {
			k++
		}
		if k > j {
			i = k
		}
	}
	digits, ok := ungroup(s[:i])
	if !ok {
		return 0, "", ErrSyntax
	}
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		if errors.Is(err, strconv.ErrRange) {
			return 0, "", ErrRange
		}
		return 0, "", ErrSyntax
	}
	if v < 0 || math.IsInf(v, 0) {
		return 0, "", ErrRange
	}
	return math.Abs(v), strings.ToLower(strings.TrimSpace(s[i:])), nil // Abs turns -0 into 0
}

// ungroup takes the commas out of "1,234,567.8". A comma anywhere else is refused: half the world writes
// one and a half as "1,5", and reading that as fifteen would be worse than asking again.
func ungroup(num string) (string, bool) {
	whole, frac, _ := strings.Cut(num, ".")
	groups := strings.Split(whole, ",")
	if len(groups) == 1 {
		return num, !strings.Contains(frac, ",")
	}
	for i, g := range groups {
		if i > 0 && len(g) != 3 || i == 0 && (len(g) == 0 || len(g) > 3) {
			return "", false
		}
	}
	return strings.ReplaceAll(whole, ",", "") + num[len(whole):], !strings.Contains(frac, ",")
}

func scaled(s string, units map[string]float64) (float64, error) {
	v, u, err := split(s)
	if err != nil {
		return 0, err
	}
	f, ok := units[u]
	if !ok {
		return 0, fmt.Errorf("%w: unit %q", ErrSyntax, u)
	}
	if math.IsInf(v*f, 0) {
		return 0, ErrRange
	}
	return v * f, nil
}

// ParseBytes reads "1.2TB", "80 GiB" or a plain number of bytes.
func ParseBytes(s string) (Bytes, error) {
	v, err := scaled(s, byteUnits)
	if err != nil {
		return 0, err
	}
	if v >= math.MaxInt64 {
		return 0, ErrRange
	}
	return Bytes(math.Round(v)), nil
}

// ParseRate reads a data rate: "2GB/s", "500 MiB/s" and "2GBps" in bytes, "100Gbps" and "100 Gbit/s" in bits.
// Case matters only before "ps", where it is all that tells a byte from a bit.
func ParseRate(s string) (BytesPerSec, error) {
	s = strings.TrimSpace(s)
	if head, ok := strings.CutSuffix(s, "Bps"); ok {
		v, err := scaled(head+"B", byteUnits)
		return BytesPerSec(v), err
	}
	low := strings.ToLower(s)
	for _, suffix := range []string{"bps", "bit/s"} {
		if head, ok := strings.CutSuffix(low, suffix); ok {
			v, err := scaled(head, map[string]float64{"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12})
			return BytesPerSec(v / 8), err
		}
	}
	head, ok := strings.CutSuffix(low, "/s")
	if !ok {
		return 0, fmt.Errorf("%w: a rate ends in /s or bps", ErrSyntax)
	}
	v, err := scaled(head, byteUnits)
	return BytesPerSec(v), err
}

var countUnits = map[string]float64{"": 1, "k": 1e3, "m": 1e6, "b": 1e9, "g": 1e9, "t": 1e12, "p": 1e15, "e": 1e18}

// ParseCount reads a number of things: "2B", "500M", "1.5k", "1e18" or a plain number.
func ParseCount(s string) (float64, error) { return scaled(s, countUnits) }

var hourUnits = map[string]float64{
	"ms": 1.0 / 3.6e6, "s": 1.0 / 3600, "sec": 1.0 / 3600, "m": 1.0 / 60, "min": 1.0 / 60,
	"h": 1, "hr": 1, "hour": 1, "hours": 1, "d": 24, "day": 24, "days": 24,
	"w": 168, "week": 168, "weeks": 168, "mo": HoursPerMonth, "month": HoursPerMonth, "months": HoursPerMonth,
	"y": HoursPerYear, "year": HoursPerYear, "years": HoursPerYear,
}

// ParseHours reads a length of time: "72h", "3d", "90m", "250ms", "2 weeks", "1y" or a compound "1h30m".
// A month is 730 hours.
func ParseHours(s string) (Hours, error) {
	if v, err := scaled(s, hourUnits); err == nil {
		return Hours(v), nil
	} else if errors.Is(err, ErrRange) {
		return 0, err
	}
	d, err := time.ParseDuration(strings.ReplaceAll(strings.TrimSpace(s), " ", ""))
	if err != nil || !strings.ContainsAny(s, "nuµmsh") { // the library takes a bare 0
		return 0, fmt.Errorf("%w: want a time such as 72h, 3d or 90m", ErrSyntax)
	}
	if d < 0 {
		return 0, ErrRange
	}
	return FromDuration(d), nil
}

// ParseMass reads "400kg", "1.2t" or "900 g".
func ParseMass(s string) (Kilograms, error) {
	v, err := scaled(s, map[string]float64{"": 1, "g": 1e-3, "kg": 1, "t": 1e3})
	return Kilograms(v), err
}

// String prints memory and data in the largest binary or decimal unit that divides it well: sizes that
// are whole multiples of a MiB in binary, all others in decimal.
func (b Bytes) String() string {
	if b != 0 && b%MiB == 0 {
		return b.Binary()
	}
	return b.Decimal()
}

// Binary prints in MiB, GiB or TiB, as memory is counted.
func (b Bytes) Binary() string {
	return pick(float64(b), []step{{1 << 50, "PiB"}, {1 << 40, "TiB"}, {1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {1, "B"}})
}

// Decimal prints in MB, GB or TB, as storage and traffic are counted.
func (b Bytes) Decimal() string {
	return pick(float64(b), []step{{1e15, "PB"}, {1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}})
}

// Count prints a number of things with k, M, B or T, as models and tokens are counted.
func Count(v float64) string {
	return strings.Replace(pick(v, []step{{1e18, "E"}, {1e15, "P"}, {1e12, "T"}, {1e9, "B"}, {1e6, "M"}, {1e3, "k"}, {1, ""}}), " ", "", 1)
}

// String prints a rate of arithmetic in TFLOPS or PFLOPS.
func (f FLOPS) String() string {
	return pick(float64(f), []step{{1e18, "EFLOPS"}, {1e15, "PFLOPS"}, {1e12, "TFLOPS"}, {1e9, "GFLOPS"}, {1, "FLOPS"}})
}

// String prints a data rate in GB/s or TB/s.
func (r BytesPerSec) String() string {
	return pick(float64(r), []step{{1e15, "PB/s"}, {1e12, "TB/s"}, {1e9, "GB/s"}, {1e6, "MB/s"}, {1e3, "kB/s"}, {1, "B/s"}})
}

type step struct {
	size float64
	name string
}

// pick prints v with three significant digits in the largest unit not above it.
func pick(v float64, steps []step) string {
	a := math.Abs(v)
	for i, s := range steps {
		if a >= s.size*0.9995 || i == len(steps)-1 {
			return strings.TrimSpace(Sig3(v/s.size) + " " + s.name)
		}
	}
	return ""
}

// Sig3 prints v with about three significant digits and no trailing zeros after the point.
func Sig3(v float64) string {
	a := math.Abs(v)
	digits := 0
	switch {
	case a == 0 || a >= 100:
	case a >= 10:
		digits = 1
	case a >= 1:
		digits = 2
	default:
		digits = 2 - int(math.Floor(math.Log10(a)))
	}
	s := strconv.FormatFloat(v, 'f', min(digits, 12), 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}
