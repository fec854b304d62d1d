package catalog

import "slices"

// The words a data file may use, in the order they are sorted and shown.
var (
	topologies = []Topology{UnknownTopo, Single, NVSwitch, NVLinkMesh, NVLinkPairs, XGMI, ICI, NeuronLink, VendorMesh, PCIeOnly}
	networks   = []NetworkKind{UnknownNet, EFA, InfiniBand, RoCE, ERDMA, TCPX, ICINet, Ethernet}
	modes      = []BillingMode{
		OnDemand, Spot, SavingsPlan1Y, SavingsPlan3Y, Reserved1M, Reserved3M, Reserved6M,
		Reserved1Y, Reserved1YPartial, Reserved1YAll, Reserved3Y, Reserved3YPartial, Reserved3YAll,
		CapacityBlock, ServerlessPerHour, PrepaidMonthHourly, PrepaidYearHourly,
	}
)

// Modes lists the ways of paying in the order they are shown.
func Modes() []BillingMode { return slices.Clone(modes) }

// Known says whether a way of paying is one of ours.
func (m BillingMode) Known() bool { return modeRank(m) >= 0 }

// modeRank is the place of a mode in that order, -1 for one that is not known.
func modeRank(m BillingMode) int { return slices.Index(modes, m) }
