// Package intake turns what price feeds and files say, each in its vendor's own spelling, into offers.
//
// Invariants: every row that was read is kept, merged into another or rejected for a reason with its place, and the
// three add up; a part of a machine is never an offer; prices stay in the currency they were quoted in; what had to be
// assumed is flagged. Pure: rows come from the caller. Imported by connect/feed and above.
package intake

import (
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// Listing is one row of a feed or file: a machine in a place, with any number of prices.
type Listing struct {
	Provider, InstanceType string
	Region, Zone           string
	// Accelerator is the chip as the vendor spells it; empty where the vendor names none, and the instance type has to tell.
	Accelerator string
	// Hints are other texts that may state the chip or its form factor: device, family, title, the owner's own id.
	Hints []string
	MiB   float64 // accelerator memory as stated, of one chip or of all; 0 where it is not stated
	Count float64 // accelerators as a program sees them; below 1 a share of one; 0 where it is not stated

	VCPU         unit.Maybe[float64]
	RAM          unit.Maybe[unit.Bytes]
	NVMe         unit.Maybe[unit.Bytes]
	NetworkGbps  unit.Maybe[float64]
	Network      catalog.NetworkKind
	Topology     catalog.Topology // empty where it is not stated
	BareMetal    unit.Maybe[bool]
	MIG          unit.Maybe[bool]
	Confidential unit.Maybe[bool]
	GPUDirect    unit.Maybe[bool] // GPUDirect Storage
	Reservation  bool             // can only be had by reservation or capacity block

	Flags  []catalog.Flag  // of the machine
	Prices []catalog.Price // of the whole machine; an empty AsOf is the day of the reading; none: listed, price unknown
	At     Place
}

// Place is where a row stood: a file and line, or a feed's page and record.
type Place struct {
	File string
	Line int // 0 where the file has no lines
}

// Kind is why a row was rejected; each has a message in front.
type Kind string

// The reasons that are not among the catalog's kinds of fault, which serve here too.
const (
	NoAccelerator  Kind = "no_accelerator" // a machine without accelerators: no fault, but no offer of ours
	UnknownChip    Kind = "unknown_chip"   // an accelerator that the table of chips does not know
	UnknownMachine Kind = "unknown_machine"
	Malformed      Kind = Kind(catalog.BadRow)
)

// Rejection is one row that was left out.
type Rejection struct {
	Kind         Kind
	Provider     string // empty where it is not known
	InstanceType string
	Region       string
	At           Place
	Args         problem.Args
}
