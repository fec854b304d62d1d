package intake

import (
	"errors"
	"io"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/provider"
)

// unsaid stands for the day of an archive's rows that name none: they speak of the day of the reading.
const unsaid = "0001-01-01"

// agreeing is what takes the rest of an archive beside its rows: contracts, how often spot machines are stopped, what is complete.
type agreeing interface {
	Term(catalog.Term)
	Band(provider.Band)
	Covers(provider, region string, modes ...catalog.BillingMode)
}

// readArchive reads what `catalog export` wrote: all it says, with the sources it cites.
func readArchive(name string, r io.Reader, to Rows, o ReadOptions) error {
	packed, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return err
	}
	if len(packed) > maxBytes {
		return problem.New(problem.Input, "intake.too_large", problem.Args{"MaxBytes": maxBytes}).At(name, 0)
	}
	s, err := catalog.ReadArchive(name, catalog.Copy, unsaid, packed, chipsOf(o))
	if errors.Is(err, catalog.ErrNotArchive) {
		return problem.New(problem.Input, "intake.encoding", problem.Args{"Encoding": "binary"}).At(name, 0)
	}
	if err != nil {
		faults := problem.All(err)
		for _, p := range faults { // of a file inside of the archive
			p.At(name+"/"+p.File, p.Line)
		}
		return faults
	}
	cites, _ := to.(citing)
	for _, src := range s.Sources {
		src.Date = said(src.Date)
		if cites != nil {
			cites.Cite(src)
		}
	}
	for _, offer := range catalog.New(s.Machines, s.Rows, s.Sources).Offers {
		to.Add(listed(name, offer, cites != nil))
	}
	if all, ok := to.(agreeing); ok {
		for _, t := range s.Terms {
			t.AsOf = said(t.AsOf)
			all.Term(t)
		}
		for _, b := range s.Bands {
			all.Band(b)
		}
		for _, c := range s.Covers {
			if c.AsOf == "" { // what was read whole earlier says nothing of the day of the archive
				all.Covers(c.Provider, c.Region, c.Mode)
			}
		}
	}
	return nil
}

func chipsOf(o ReadOptions) *accelerator.Table {
	if o.Chips == nil {
		return accelerator.Embedded()
	}
	return o.Chips
}

func said(day string) string {
	if day == unsaid {
		return ""
	}
	return day
}

// listed is an offer as a row.
func listed(file string, o *catalog.Offer, cited bool) Listing {
	m := o.Machine
	l := Listing{
		Provider: m.Provider, InstanceType: m.InstanceType, Region: o.Region, Zone: o.Zone, Accelerator: m.Accelerator.Name, Count: m.Count,
		VCPU: m.VCPU, RAM: m.RAM, NVMe: m.NVMe, NetworkGbps: m.NetworkGbps, Network: m.Network, BareMetal: m.BareMetal, MIG: m.MIG,
		Confidential: m.Confidential, GPUDirect: m.GPUDirect, Reservation: m.Reservation, Flags: m.Flags, At: Place{File: file},
	}
	if m.TopologyKnown {
		l.Topology = m.Topology
	}
	for _, p := range o.Prices {
		p.AsOf = said(p.AsOf)
		if !cited {
			p.Source = ""
		}
		l.Prices = append(l.Prices, p)
	}
	return l
}
