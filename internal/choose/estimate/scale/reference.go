package scale

import (
	"math"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// Reference is the device that a user measured on, with what it reaches of each resource. Its machine is not
// known beyond the chip and count, so several devices are taken to be one machine joined by the chip's own link.
type Reference struct {
	Chip      *accelerator.Accelerator
	Count     int
	precision accelerator.Precision
	curves    *estimate.Curves
	compute   float64 // of one device, FLOP/s; 0 where unknown
	memory    float64 // of one device, bytes/s; 0 where unknown
	link      float64 // of one device, one way, bytes/s; 0 where unknown
}

// NewReference prepares a reference whose arithmetic runs at a precision.
func NewReference(on workload.Reference, p accelerator.Precision, c *estimate.Curves) *Reference {
	r := &Reference{Chip: on.Device, Count: max(1, on.Count), precision: p, curves: c}
	g := r.group()
	if v, refusal := r.reachedCompute(g); refusal == nil {
		r.compute = v
	}
	if v, refusal := r.reachedMemory(g); refusal == nil {
		r.memory = v
	}
	if v, refusal := r.reachedLink(g); refusal == nil {
		r.link = v
	}
	return r
}

func (r *Reference) group() estimate.Group {
	return estimate.Group{Chip: r.Chip, PerNode: r.Count, Nodes: 1, Topology: ownLink(r.Chip)}
}

// ownLink is the topology that machines of several such chips usually have.
func ownLink(a *accelerator.Accelerator) catalog.Topology {
	if rate, ok := a.LinkBidir.Get(); !ok || rate <= 0 {
		return catalog.PCIeOnly
	}
	switch a.Vendor {
	case "NVIDIA":
		return catalog.NVSwitch
	case "AMD":
		return catalog.XGMI
	case "Google":
		return catalog.ICI
	case "AWS":
		return catalog.NeuronLink
	}
	return catalog.VendorMesh
}

// Same says that a group is made of whole chips of the very kind that was measured.
func (r *Reference) Same(g estimate.Group) bool {
	return g.Fraction() == 1 && (g.Chip == r.Chip || g.Chip.Name == r.Chip.Name)
}

// Like says how near a chip is to the reference: of its architecture, of its vendor, or neither.
func (r *Reference) Like(a *accelerator.Accelerator) estimate.Likeness {
	switch {
	case a.Name == r.Chip.Name:
		return estimate.LikeChip
	case a.Arch != "" && a.Arch == r.Chip.Arch:
		return estimate.LikeFamily
	case a.Vendor == r.Chip.Vendor:
		return estimate.LikeKind
	}
	return estimate.LikeNone
}

// Compute is how many times longer one accelerator of a group takes over the same arithmetic.
func (r *Reference) Compute(g estimate.Group) (float64, *estimate.Refusal) {
	v, refusal := r.reachedCompute(g)
	return ratio(r.compute, v, refusal)
}

// Memory is how many times longer one accelerator of a group takes over the same memory traffic.
func (r *Reference) Memory(g estimate.Group) (float64, *estimate.Refusal) {
	v, refusal := r.reachedMemory(g)
	return ratio(r.memory, v, refusal)
}

// Link is how many times longer one accelerator of a group takes to send the same bytes. What a single device
// sends goes over its host's bus; what one of several sends goes over the slowest link that the group spans.
func (r *Reference) Link(g estimate.Group) (float64, *estimate.Refusal) {
	v, refusal := r.reachedLink(g)
	return ratio(r.link, v, refusal)
}

func ratio(reference, reached float64, refusal *estimate.Refusal) (float64, *estimate.Refusal) {
	switch {
	case refusal != nil:
		return 0, refusal
	case reference <= 0:
		return 0, &estimate.Refusal{Reason: estimate.NoReference}
	}
	return reference / reached, nil
}

func (r *Reference) reachedCompute(g estimate.Group) (float64, *estimate.Refusal) {
	peak, refusal := Peak(g, r.precision)
	return peak * r.curves.Chip(g.Chip).Share(r.precision), refusal
}

func (r *Reference) reachedMemory(g estimate.Group) (float64, *estimate.Refusal) {
	bw, refusal := Bandwidth(g)
	return bw * r.curves.Chip(g.Chip).Bandwidth, refusal
}

func (r *Reference) reachedLink(g estimate.Group) (float64, *estimate.Refusal) {
	if r.Count == 1 {
		bus, ok := g.Chip.PCIe()
		if !ok {
			return 0, &estimate.Refusal{Reason: estimate.NoRate}
		}
		return float64(bus), nil
	}
	inside, ok := r.curves.Inside(g, g.PerNode)
	if !ok {
		return 0, &estimate.Refusal{Reason: estimate.NoRate}
	}
	if g.Nodes <= 1 {
		return inside.BytesPerSec, nil
	}
	between, ok := r.curves.Between(g)
	if !ok {
		return 0, &estimate.Refusal{Reason: estimate.NoNetworkFact}
	}
	return math.Min(inside.BytesPerSec, between.BytesPerSec/float64(g.PerNode)), nil
}
