package catalog

import "github.com/rackrate/rackrate/internal/base/unit"

// JoinHost takes what another row of one list says of a machine's host: it fills what is unknown, and of two figures keeps the
// lesser, which is to be had everywhere. CPUs or memory that differ are flagged.
func (m *Machine) JoinHost(vcpu unit.Maybe[float64], ram, nvme unit.Maybe[unit.Bytes], networkGbps unit.Maybe[float64]) {
	differs := least(&m.VCPU, vcpu)
	differs = least(&m.RAM, ram) || differs
	least(&m.NVMe, nvme)
	least(&m.NetworkGbps, networkGbps)
	if differs {
		m.Flags = WithFlags(m.Flags, HostVaries)
	}
}

// least fills an unknown figure, else keeps the lesser of two, and says whether they differ.
func least[T float64 | unit.Bytes](have *unit.Maybe[T], next unit.Maybe[T]) bool {
	n, ok := next.Get()
	if !ok {
		return false
	}
	h, ok := have.Get()
	if !ok || n < h {
		*have = next
	}
	return ok && n != h
}
