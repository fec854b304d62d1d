package intake

import (
	"math"
	"slices"
	"strings"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// identity is the chips of a machine, with what had to be assumed.
type identity struct {
	chip  *accelerator.Accelerator
	count float64
	flags []catalog.Flag
	// wholeNode says that the stated memory is that of all chips.
	wholeNode bool
}

// stated is a machine and what the listing before said of its chips: the same in all of its rows, as a rule.
type stated struct {
	*catalog.Machine
	told told
	id   identity
}

// told is what a listing says of the chips of a machine.
type told struct {
	accelerator, hints string
	mib, count         float64
}

// refusal is why a machine cannot be told.
type refusal struct {
	kind Kind
	args problem.Args
}

// identify tells the chips of a listing: by the provider's family, by what the list says, and by the machine that is known under
// that name, which settles what the list leaves open.
func (in *Intake) identify(l *Listing) (id identity, no *refusal) {
	known := in.known(l.Provider, l.InstanceType)
	if known == nil && l.Accelerator == "" && l.Count == 0 && in.hinted(l) == nil {
		return id, &refusal{UnknownMachine, problem.Args{"Missing": "model"}} // a family's chip, but how many?
	}
	ev := catalog.Evidence{Name: l.Accelerator, Texts: append(slices.Clone(l.Hints), l.InstanceType), MiB: l.MiB, Count: l.Count}
	if l.Count > 0 && l.Count < 1 {
		ev.MiB = 0 // the figure may be that of the share
	}
	id.count = l.Count
	switch chip, flags, ok := Family(l.Provider, l.InstanceType, ev); {
	case ok:
		id.chip, id.flags = chip, flags
	case l.Accelerator != "":
		found, ok := catalog.Identify(in.o.Chips, ev)
		switch {
		case !ok:
			return id, &refusal{UnknownChip, withCount(problem.Args{"Unknown": l.Accelerator}, l.Count)}
		case found.Mismatch:
			return id, &refusal{Kind(catalog.BadMemory), problem.Args{"Accelerator": found.Chip.Name, "MiB": l.MiB}}
		}
		id.chip, id.flags, id.wholeNode = found.Chip, found.Flags, found.WholeNode
	case known == nil && in.hinted(l) != nil:
		id.chip = in.hinted(l)
		id.flags = []catalog.Flag{catalog.AcceleratorInferred}
	case known == nil:
		return id, &refusal{UnknownMachine, withCount(problem.Args{"Missing": "model"}, l.Count)}
	}
	if known != nil {
		id = settled(id, known)
	}
	var counted bool
	id.count, counted = exactCount(id.count)
	switch {
	case !counted:
		return id, &refusal{Kind(catalog.CountMissing), problem.Args{"Accelerator": id.chip.Name}}
	case !id.chip.NominalGB.Known():
		return id, &refusal{Kind(catalog.BadIdentity), problem.Args{"Missing": "memory", "Accelerator": id.chip.Name, "Count": id.count}}
	}
	return id, nil
}

// withCount adds a count where there is one.
func withCount(args problem.Args, count float64) problem.Args {
	if count > 0 {
		args["Count"] = count
	}
	return args
}

// exactCount is a count of chips as the catalog holds it: whole, or a share with a small denominator, which lists round (0.333).
func exactCount(c float64) (float64, bool) {
	if c >= 1 {
		return c, c == math.Trunc(c) && c < 1<<16
	}
	for den := 2.0; den <= 64 && c > 0; den++ {
		if num := math.Round(c * den); num >= 1 && num < den && math.Abs(num/den-c) < 0.004 {
			return num / den, true
		}
	}
	return 0, false
}

// settled lays the known machine of a type over what its listing leaves open: the chip where the list names none or not in full,
// the count where it states none or rounds a share. What the list states against it stands.
func settled(id identity, known *catalog.Machine) identity {
	open := id.chip == nil || len(id.flags) > 0 && sameModel(id.chip, known.Accelerator)
	if open {
		id.chip, id.flags = known.Accelerator, nil
		for _, f := range known.Flags {
			if f == catalog.FormFactorAssumed || f == catalog.AcceleratorInferred {
				id.flags = append(id.flags, f)
			}
		}
	}
	share := known.Count < 1 && (id.count == 1 || id.count > 0 && id.count < 1 && math.Abs(id.count-known.Count) < 0.01) // 0.333 is 1/3
	if id.count == 0 || share && id.chip == known.Accelerator {
		id.count = known.Count
	}
	return id
}

// sameModel says whether two chips differ in form factor or memory only.
func sameModel(a, b *accelerator.Accelerator) bool {
	first := func(c *accelerator.Accelerator) string { name, _, _ := strings.Cut(c.Name, "-"); return name }
	return first(a) == first(b)
}

// hinted is the one chip that a hint names, where the list names none; nil where no hint does, or several.
func (in *Intake) hinted(l *Listing) *accelerator.Accelerator {
	for _, h := range l.Hints {
		if id, ok := catalog.Identify(in.o.Chips, catalog.Evidence{Name: h, MiB: l.MiB, Count: l.Count}); ok && !id.Mismatch {
			return id.Chip
		}
	}
	return nil
}

// known is the machine of that name in the catalog that the intake was given; nil where there is none.
func (in *Intake) known(provider, instanceType string) *catalog.Machine {
	if in.knownBy == nil {
		in.knownBy = machinesOf(in.o.Known)
	}
	return in.knownBy[machineKey{provider, instanceType}]
}

// machinesOf gives the machines of a catalog by name; none where there is no catalog.
func machinesOf(c *catalog.Catalog) map[machineKey]*catalog.Machine {
	if c == nil {
		return map[machineKey]*catalog.Machine{}
	}
	by := make(map[machineKey]*catalog.Machine, len(c.Machines))
	for _, m := range c.Machines {
		by[machineKey{m.Provider, m.InstanceType}] = m
	}
	return by
}

// machine is the machine of a listing, joined with what other rows say of it; nil with the reason where it cannot be told or they
// name other chips.
func (in *Intake) machine(l *Listing) (*catalog.Machine, *refusal) {
	key := machineKey{l.Provider, l.InstanceType}
	says := told{l.Accelerator, strings.Join(l.Hints, "\x00"), l.MiB, l.Count}
	m := in.machines[key]
	if m == nil || m.told != says {
		id, no := in.identify(l)
		switch {
		case no != nil:
			return nil, no
		case m == nil:
			m = &stated{Machine: in.newMachine(l, id)}
			in.machines[key] = m
		case m.Accelerator != id.chip || m.Count != id.count:
			return nil, &refusal{Kind(catalog.BadIdentity), problem.Args{"Conflict": m.Accelerator.Name, "Accelerator": id.chip.Name, "Count": id.count}}
		}
		m.told, m.id = says, id
	}
	if m.id.wholeNode {
		in.fault(l, catalog.NodeMemory, "", problem.Args{"Accelerator": m.id.chip.Name, "MiB": l.MiB, "Count": m.id.count})
	}
	m.JoinHost(l.VCPU, l.RAM, l.NVMe, l.NetworkGbps)
	m.Flags = catalog.WithFlags(m.Flags, l.Flags...)
	m.Reservation = m.Reservation && l.Reservation
	return m.Machine, nil
}

// newMachine is the machine that its first listing describes.
func (in *Intake) newMachine(l *Listing, id identity) *catalog.Machine {
	if m := in.asKnown(l); m != nil {
		return m
	}
	m := &catalog.Machine{
		Provider: l.Provider, InstanceType: l.InstanceType, Accelerator: id.chip, Count: id.count, VCPU: l.VCPU, RAM: l.RAM,
		NVMe: l.NVMe, NetworkGbps: l.NetworkGbps, Network: l.Network, BareMetal: l.BareMetal, MIG: l.MIG,
		Confidential: l.Confidential, GPUDirect: l.GPUDirect, Reservation: l.Reservation, Source: in.o.Source.ID, AsOf: in.o.AsOf,
		Flags: catalog.WithFlags(id.flags, l.Flags...),
	}
	in.topology(m, l)
	return m
}

// asKnown is the machine that is known under its name, where a listing says nothing of the machine but that; nil else.
func (in *Intake) asKnown(l *Listing) *catalog.Machine {
	known := in.known(l.Provider, l.InstanceType)
	if known == nil || l.Accelerator != "" || l.Count != 0 || l.VCPU.Known() || l.RAM.Known() || !in.cited(known.Source) {
		return nil
	}
	m := *known
	m.Flags = catalog.WithFlags(m.Flags, l.Flags...)
	return &m
}

// topology sets how the chips of a machine are linked: as stated, else as is known of the machine, else as their form factor has it.
func (in *Intake) topology(m *catalog.Machine, l *Listing) {
	known := in.known(m.Provider, m.InstanceType)
	switch {
	case m.Count <= 1:
		m.Topology, m.TopologyKnown = catalog.Single, true // one chip has no peers: nothing to infer
	case l.Topology != catalog.UnknownTopo:
		m.Topology, m.TopologyKnown = l.Topology, true
	case known != nil && known.TopologyKnown && known.Accelerator == m.Accelerator && known.Count == m.Count:
		m.Topology, m.TopologyKnown = known.Topology, true
	default:
		m.Topology = catalog.InferTopology(m.Accelerator, m.Count, append(slices.Clone(l.Hints), l.InstanceType, l.Accelerator)...)
		if m.Topology != catalog.UnknownTopo {
			m.Flags = catalog.WithFlags(m.Flags, catalog.TopologyInferred)
		}
	}
}
