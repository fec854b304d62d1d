// Package catalog holds what can be rented, where, at what price and how fresh that price is; loads the
// embedded catalog, checks it row by row and searches it.
//
// Invariants: an Offer is everything that must be bought together, never a part; its prices stay in the
// currency and of the day they were quoted; an unknown price or size is unknown, not zero; "listed" is not "in
// stock". Pure: no I/O and no clock (the caller gives the day). Imported by choose and above.
package catalog

import (
	"slices"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

// Topology is how the accelerators of one machine reach each other.
type Topology string

// The topologies.
const (
	Single      Topology = "single"
	NVSwitch    Topology = "nvswitch"
	NVLinkMesh  Topology = "nvlink-mesh"  // direct NVLink between all or most, no switch (V100, older A100 4-way)
	NVLinkPairs Topology = "nvlink-pairs" // bridges between two
	XGMI        Topology = "xgmi"
	ICI         Topology = "ici"
	NeuronLink  Topology = "neuronlink"
	VendorMesh  Topology = "vendor-mesh" // HCCS, MTLink, MetaXLink, Gaudi on-board RoCE …
	PCIeOnly    Topology = "pcie"
	UnknownTopo Topology = ""
)

// NetworkKind is the kind of network between machines.
type NetworkKind string

// The kinds of network.
const (
	EFA        NetworkKind = "efa"
	InfiniBand NetworkKind = "infiniband"
	RoCE       NetworkKind = "roce"
	ERDMA      NetworkKind = "erdma"
	TCPX       NetworkKind = "gpudirect-tcpx"
	ICINet     NetworkKind = "ici"
	Ethernet   NetworkKind = "ethernet"
	UnknownNet NetworkKind = ""
)

// RDMA says whether the network moves accelerator memory without the host's CPU.
func (k NetworkKind) RDMA() bool {
	return k == EFA || k == InfiniBand || k == RoCE || k == ERDMA || k == TCPX || k == ICINet
}

// BillingMode is a way of paying.
type BillingMode string

// The ways of paying. Reserved and savings plan prices are hourly equivalents: hourly + upfront / term.
const (
	OnDemand           BillingMode = "on-demand"
	Spot               BillingMode = "spot"
	Reserved1Y         BillingMode = "reserved-1y" // no upfront
	Reserved1YPartial  BillingMode = "reserved-1y-partial-upfront"
	Reserved1YAll      BillingMode = "reserved-1y-all-upfront"
	Reserved3Y         BillingMode = "reserved-3y"
	Reserved3YPartial  BillingMode = "reserved-3y-partial-upfront"
	Reserved3YAll      BillingMode = "reserved-3y-all-upfront"
	Reserved1M         BillingMode = "reserved-1m"
	Reserved3M         BillingMode = "reserved-3m"
	Reserved6M         BillingMode = "reserved-6m"
	SavingsPlan1Y      BillingMode = "savings-plan-1y"
	SavingsPlan3Y      BillingMode = "savings-plan-3y"
	CapacityBlock      BillingMode = "capacity-block"
	ServerlessPerHour  BillingMode = "serverless"
	PrepaidMonthHourly BillingMode = "prepaid-month"
	PrepaidYearHourly  BillingMode = "prepaid-year"
	// Mix is several ways at once: how a fleet can be paid for, and no price's mode.
	Mix BillingMode = "mix"
)

// Term is the shortest time a mode must be paid for, in hours; 0 for pay as you go.
func (m BillingMode) Term() unit.Hours {
	switch m {
	case Reserved1Y, Reserved1YPartial, Reserved1YAll, SavingsPlan1Y, PrepaidYearHourly:
		return unit.HoursPerYear
	case Reserved3Y, Reserved3YPartial, Reserved3YAll, SavingsPlan3Y:
		return 3 * unit.HoursPerYear
	case Reserved1M, PrepaidMonthHourly:
		return unit.HoursPerMonth
	case Reserved3M:
		return 3 * unit.HoursPerMonth
	case Reserved6M:
		return 6 * unit.HoursPerMonth
	case CapacityBlock:
		return 24
	}
	return 0
}

// Upfront is the share of a term's price that is paid at its start; the rest is paid by the month. A partial upfront is half,
// as AWS sells it; months, quarters, prepaid years and capacity blocks are prepaid; what a savings plan or a plain reservation costs is
// billed as it runs.
func (m BillingMode) Upfront() float64 {
	switch m {
	case Reserved1YPartial, Reserved3YPartial:
		return 0.5
	case Reserved1YAll, Reserved3YAll, Reserved1M, Reserved3M, Reserved6M, PrepaidMonthHourly, PrepaidYearHourly, CapacityBlock:
		return 1
	}
	return 0
}

// Confidence says how a price is backed.
type Confidence string

// The confidences of a price.
const (
	Listed    Confidence = "listed"    // the vendor's own price list or interface
	Secondary Confidence = "secondary" // a third party's copy of it
	Quoted    Confidence = "quoted"    // a press or blog quote
	Agreed    Confidence = "agreed"    // a contract with the vendor
)

// Price is one way of paying for one offer.
type Price struct {
	Mode       BillingMode
	Hourly     money.Rate // the whole machine; never zero
	AsOf       string     // ISO date of the quote
	Source     string     // id in data/sources.csv
	Confidence Confidence
	Flags      []Flag // what is doubtful about this price
}

// Doubtful says that a price is flagged as no observation of the market: a spot price that is a fixed tenth of the list, or the
// floor of an auction. Ranking one would let a guess win.
func (p *Price) Doubtful() bool {
	return slices.Contains(p.Flags, Flag(SpotTenth)) || slices.Contains(p.Flags, AuctionFloor)
}

// Flag is a reason to doubt a row; each is a message code in front.
type Flag string

// Machine is a kind of machine a provider rents: what is the same in every region.
type Machine struct {
	Provider     string
	InstanceType string
	Accelerator  *accelerator.Accelerator
	// Count is the number of accelerators as a program sees them; below 1 it is a share of one.
	Count         float64
	VCPU          unit.Maybe[float64]
	RAM           unit.Maybe[unit.Bytes]
	NVMe          unit.Maybe[unit.Bytes]
	Topology      Topology
	NetworkGbps   unit.Maybe[float64]
	Network       NetworkKind
	BareMetal     unit.Maybe[bool]
	MIG           unit.Maybe[bool]
	Confidential  unit.Maybe[bool]
	GPUDirect     unit.Maybe[bool] // GPUDirect Storage
	Reservation   bool             // can only be had by reservation or capacity block
	Source        string
	AsOf          string
	TopologyKnown bool // stated by a source, not inferred from the chip and count
	Flags         []Flag
}

// Offer is a machine in one place with its prices; an offer without prices has an unknown price.
type Offer struct {
	*Machine
	Region string
	Zone   string // empty: anywhere in the region
	Prices []Price
}
