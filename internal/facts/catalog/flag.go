package catalog

import "slices"

// The reasons to doubt a machine's row.
const (
	TopologyInferred    Flag = "topology_inferred"    // follows from the chip's form factor and the count only
	TopologyRecalled    Flag = "topology_recalled"    // from vendor documentation, not read again
	NetworkRecalled     Flag = "network_recalled"     // from vendor documentation, not read again
	MIGRecalled         Flag = "mig_recalled"         // from vendor documentation, not read again
	FormFactorAssumed   Flag = "form_factor_assumed"  // the source does not say SXM, PCIe or NVL
	AcceleratorInferred Flag = "accelerator_inferred" // the source gives the family and the memory, not the chip
	SliceFromName       Flag = "slice_from_name"      // the share of a chip is read from the instance type's name
	HostVaries          Flag = "host_varies"          // vCPU and RAM differ by place; the least is stated
	HostDoubtful        Flag = "host_doubtful"        // RAM or vCPU is the seller's search bound, not the machine's
	HostChosen          Flag = "host_chosen"          // RAM and vCPU are sold apart; those stated are priced in
	AvailabilityUnknown Flag = "availability_unknown" // the source lists every type everywhere
	Aggregated          Flag = "aggregated"           // sold through a broker, who does not own it
	Marketplace         Flag = "marketplace"          // single machines of private owners, gone within minutes
	InviteOnly          Flag = "invite_only"
)

// The reasons to doubt a price.
const (
	DateUnknown       Flag = "date_unknown"       // AsOf is the oldest day the evidence allows
	SpotComputed      Flag = "spot_computed"      // list price less an average saving, not an observed price
	ZoneMaximum       Flag = "zone_maximum"       // the dearest zone of the region
	AuctionFloor      Flag = "auction_floor"      // the least bid, not the clearing price
	CurrencyAssumed   Flag = "currency_assumed"   // the source names no currency
	PerGPUQuote       Flag = "per_gpu_quote"      // quoted for one chip of a larger machine
	RegionUnconfirmed Flag = "region_unconfirmed" // the source names a group of regions, or none
	CheapestSeller    Flag = "cheapest_seller"    // the least of a price comparison
	SteppedPrice      Flag = "stepped_price"      // the first step's: it falls with the hours a machine has run, as the provider's steps say
	InStock           Flag = "in_stock"           // the seller said so when it was asked
	SoldOut           Flag = "sold_out"           // listed, and not to be had when the seller was asked
)

// Flags lists every flag of a machine or price, for those who must have a message for each. A price may also carry
// the kinds of fault that last: falling_price, same_price, spot_tenth.
func Flags() []Flag {
	return []Flag{
		TopologyInferred, TopologyRecalled, NetworkRecalled, MIGRecalled, FormFactorAssumed, AcceleratorInferred,
		SliceFromName, HostVaries, HostDoubtful, HostChosen, AvailabilityUnknown, Aggregated, Marketplace, InviteOnly,
		DateUnknown, SpotComputed, ZoneMaximum, AuctionFloor, CurrencyAssumed, PerGPUQuote, RegionUnconfirmed,
		CheapestSeller, SteppedPrice, InStock, SoldOut, Flag(FallingPrice), Flag(SamePrice), Flag(SpotTenth),
	}
}

// WithFlags adds flags that are not there yet, without touching the slice it was given.
func WithFlags(have []Flag, add ...Flag) []Flag {
	cloned := false
	for _, f := range add {
		if f == "" || slices.Contains(have, f) {
			continue
		}
		if !cloned {
			have, cloned = slices.Clone(have), true
		}
		have = append(have, f)
	}
	return have
}
