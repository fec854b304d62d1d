// Package unit holds the physical quantities that the rest of Rackrate speaks: bytes, floating-point
// work and rates, power, time and emissions, and Maybe for a figure that may be unknown.
//
// Invariants: GB is 10^9 and GiB is 2^30, never mixed; an unknown figure is a Maybe without a value
// and never a zero. Anything may import this package; it imports nothing of ours.
package unit

import (
	"encoding/json"
	"time"
)

// Bytes is an amount of data or memory.
type Bytes int64

// The multiples of Bytes: decimal for storage and networks, binary for memory.
const (
	KB  Bytes = 1e3
	MB  Bytes = 1e6
	GB  Bytes = 1e9
	TB  Bytes = 1e12
	PB  Bytes = 1e15
	KiB Bytes = 1 << 10
	MiB Bytes = 1 << 20
	GiB Bytes = 1 << 30
	TiB Bytes = 1 << 40
	PiB Bytes = 1 << 50
)

// GB is the amount in decimal gigabytes, as storage and traffic are priced.
func (b Bytes) GB() float64 { return float64(b) / float64(GB) }

// BytesPerSec is a data rate. A link's rate is per direction unless its name says otherwise.
type BytesPerSec float64

// FLOP is an amount of arithmetic (integer operations count alike).
type FLOP float64

// FLOPS is a rate of arithmetic; dense, not sparse.
type FLOPS float64

// Watts is electrical power.
type Watts float64

// KilowattHours is electrical energy.
type KilowattHours float64

// Kilograms is a mass, here always of CO2 equivalent.
type Kilograms float64

// GramsPerKWh is the carbon intensity of a grid.
type GramsPerKWh float64

// Hours is a length of time in hours, the unit prices are quoted in.
type Hours float64

// HoursPerMonth turns a monthly price into an hourly one. It is applied once, where a price is read.
const HoursPerMonth = 730

// HoursPerYear is the length of a year's commitment.
const HoursPerYear = 8760

// Seconds gives h in seconds.
func (h Hours) Seconds() float64 { return float64(h) * 3600 }

// FromSeconds gives a length of time in hours.
func FromSeconds(s float64) Hours { return Hours(s / 3600) }

// FromDuration gives a length of time in hours.
func FromDuration(d time.Duration) Hours { return Hours(d.Hours()) }

// Maybe is a figure that may be unknown; its zero value is unknown.
type Maybe[T any] struct {
	value T
	known bool
}

// Some is a known figure.
func Some[T any](v T) Maybe[T] { return Maybe[T]{value: v, known: true} }

// None is an unknown figure.
func None[T any]() Maybe[T] { return Maybe[T]{} }

// Get gives the figure and whether it is known.
func (m Maybe[T]) Get() (T, bool) { return m.value, m.known }

// Known says whether there is a figure.
func (m Maybe[T]) Known() bool { return m.known }

// Or gives the figure, or v where it is unknown. Name at the call why v is a fair stand-in.
func (m Maybe[T]) Or(v T) T {
	if m.known {
		return m.value
	}
	return v
}

// MarshalJSON writes the figure, or null.
func (m Maybe[T]) MarshalJSON() ([]byte, error) {
	if !m.known {
		return []byte("null"), nil
	}
	return json.Marshal(m.value)
}

// UnmarshalJSON reads a figure, or null as unknown.
func (m *Maybe[T]) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*m = Maybe[T]{}
		return nil
	}
	if err := json.Unmarshal(b, &m.value); err != nil {
		return err
	}
	m.known = true
	return nil
}
