package catalog

import (
	"strings"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

// RAM turns GiB as feeds give them into bytes; an implausible figure past a petabyte is unknown.
func RAM(gib unit.Maybe[float64]) unit.Maybe[unit.Bytes] {
	v, ok := gib.Get()
	if !ok || v > 1<<20 {
		return unit.None[unit.Bytes]()
	}
	return unit.Some(unit.Bytes(v * float64(unit.GiB)))
}

// InferTopology guesses how so many chips of a kind are linked from the form factor: eight on a carrier board share
// switches (Volta's have none), cards have the bus, or bridges where a name that the seller gives the machine says
// NVLink. What no rule covers stays unknown.
func InferTopology(chip *accelerator.Accelerator, count float64, names ...string) Topology {
	form := strings.ToUpper(chip.FormFactor)
	switch {
	case count <= 1:
		return Single
	case chip.Kind == accelerator.TPU:
		return ICI
	case strings.HasPrefix(form, "SXM") && (chip.Arch == "Volta" || chip.Arch == "Pascal"):
		return NVLinkMesh
	case strings.HasPrefix(form, "SXM"), strings.HasPrefix(chip.Name, "GB"):
		return NVSwitch
	case strings.HasPrefix(form, "OAM") && chip.Vendor == "AMD":
		return XGMI
	case strings.HasPrefix(form, "PCIE"), form == "NVL":
		if strings.Contains(strings.ToUpper(strings.Join(names, " ")), "NVLINK") {
			return NVLinkPairs
		}
		return PCIeOnly
	case strings.HasPrefix(chip.Name, "Trainium"), strings.HasPrefix(chip.Name, "Inferentia"):
		return NeuronLink
	}
	return UnknownTopo
}
