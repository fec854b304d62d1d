package aws

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/unit"
)

var (
	errTooMany = errors.New("more machines than any region has")
	errUnread  = errors.New("more rows that cannot be read than any region has machines")
)

// number reads a count up to a million, which the list may write with commas; unknown where it is none.
func number(text string) unit.Maybe[float64] {
	n, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	if err != nil || n <= 0 || n > 1e6 || math.IsNaN(n) {
		return unit.None[float64]()
	}
	return unit.Some(n)
}

// memory reads "2,048 GiB" and, of accelerators, "640 GB HBM3", where GB stands for GiB too: a chip of 80 GB has 80 GiB.
func memory(text string) unit.Maybe[unit.Bytes] {
	size, rest, _ := strings.Cut(text, " ")
	n, known := number(size).Get()
	if !known || !strings.HasPrefix(rest, "GiB") && !strings.HasPrefix(rest, "GB") {
		return unit.None[unit.Bytes]()
	}
	return unit.Some(unit.Bytes(n * float64(unit.GiB)))
}

var diskPattern = regexp.MustCompile(`^(?:([0-9]{1,2}) x )?([0-9,]+)(?: GB)?(?: NVMe)? SSD$`)

// disks reads the local SSDs of a machine, "8 x 3840 NVMe SSD" or "1 x 450 GB NVMe SSD", in decimal gigabytes; unknown where the
// list says anything else, "EBS only" among it.
func disks(text string) unit.Maybe[unit.Bytes] {
	m := diskPattern.FindStringSubmatch(text)
	if m == nil {
		return unit.None[unit.Bytes]()
	}
	size, known := number(m[2]).Get()
	if !known {
		return unit.None[unit.Bytes]()
	}
	return unit.Some(unit.Bytes(number(m[1]).Or(1) * size * float64(unit.GB))) // one, where the list says no number
}

var networkPattern = regexp.MustCompile(`^(?:([0-9]{1,2}) ?x ?)?([0-9.]+) (Gigabit|Megabit)$`)

// network reads what a machine sends and receives all the time, "4x 100 Gigabit", in Gbit/s. "Up to 25 Gigabit" says for how
// long it may be less, not how much, and is unknown.
func network(text string) unit.Maybe[float64] {
	m := networkPattern.FindStringSubmatch(text)
	if m == nil {
		return unit.None[float64]()
	}
	each, known := number(m[2]).Get()
	if !known {
		return unit.None[float64]()
	}
	if m[3] == "Megabit" {
		each /= 1000
	}
	return unit.Some(number(m[1]).Or(1) * each) // one, where the list says no number
}
