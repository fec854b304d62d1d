package main

import (
	"fmt"

	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/catalog/intake"
)

// identify finds the chip of a machine: by the provider's family first, else by what the source says.
func (b *builder) identify(provider, instanceType string, ev catalog.Evidence) (*accelerator.Accelerator, []catalog.Flag) {
	if chip, flags, ok := intake.Family(provider, instanceType, ev); ok {
		return chip, flags
	}
	id, ok := catalog.Identify(b.chips, ev)
	switch {
	case ev.Name == "":
		b.report.left(provider, "no accelerator named: "+instanceType)
	case !ok:
		b.report.left(provider, "unknown accelerator: "+ev.Name)
	case id.Mismatch:
		b.report.left(provider, fmt.Sprintf("memory does not fit: %s with %g MiB for %g", ev.Name, ev.MiB, ev.Count))
	default:
		return id.Chip, id.Flags
	}
	return nil, nil
}

// machineOf starts a machine from the columns that three of the tables share; nil, with an entry in the report, where
// the chip or the count is not known.
func (b *builder) machineOf(provider string, r record) *catalog.Machine {
	instance := r.get("instance_type")
	count, ok := parseShare(r.get("count"))
	if !ok {
		b.report.left(provider, "count of accelerators missing: "+instance)
		return nil
	}
	ev := catalog.Evidence{Name: r.get("accelerator"), MiB: r.number("gpu_mem_mib").Or(0), Count: count}
	chip, flags := b.identify(provider, instance, ev)
	if chip == nil {
		return nil
	}
	return &catalog.Machine{
		Provider: provider, InstanceType: instance, Accelerator: chip, Count: count,
		VCPU: r.number("vcpu"), RAM: r.mib("mem_mib"), Flags: flags,
	}
}
