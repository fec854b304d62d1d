package wire

import (
	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// Chip is what is known of an accelerator, with its source.
type Chip struct {
	Name       string              `json:"name"`
	Vendor     string              `json:"vendor"`
	Kind       string              `json:"kind"`
	MemoryGB   *float64            `json:"memory_gb"`
	Bandwidth  *float64            `json:"memory_bandwidth_bytes_per_s"`
	Peak       map[string]*float64 `json:"peak_flops"`
	Link       *string             `json:"link"`
	LinkBidir  *float64            `json:"link_bytes_per_s_both_ways"`
	TDP        *float64            `json:"tdp_w"`
	Compute    *string             `json:"compute_capability"`
	Source     string              `json:"source"`
	AsOf       string              `json:"as_of"`
	Confidence string              `json:"confidence"`
}

// ChipOf gives the facts of an accelerator; only known rates are listed.
func ChipOf(a *accelerator.Accelerator) Chip {
	peak := map[string]*float64{}
	for i := range a.Peak {
		if v := known(a.Peak[i]); v != nil {
			peak[accelerator.Precision(i).String()] = v
		}
	}
	return Chip{
		Name: a.Name, Vendor: a.Vendor, Kind: string(a.Kind), MemoryGB: known(a.NominalGB), Bandwidth: known(a.Bandwidth),
		Peak: peak, Link: text(a.LinkKind), LinkBidir: known(a.LinkBidir), TDP: known(a.TDP), Compute: text(a.Compute),
		Source: a.Source, AsOf: a.AsOf, Confidence: string(a.Confidence),
	}
}

// Machine is what is known of an instance type, with its source.
type Machine struct {
	VCPU         *float64 `json:"vcpu"`
	RAM          *float64 `json:"ram_bytes"`
	NVMe         *float64 `json:"nvme_bytes"`
	Topology     *string  `json:"topology"`
	Inferred     bool     `json:"topology_inferred"`
	Network      *string  `json:"network"`
	NetworkGbps  *float64 `json:"network_gbps"`
	BareMetal    *bool    `json:"bare_metal"`
	MIG          *bool    `json:"mig"`
	Confidential *bool    `json:"confidential"`
	GPUDirect    *bool    `json:"gpudirect_storage"`
	Reservation  bool     `json:"reservation_only"`
	Flags        []string `json:"flags"`
	Source       string   `json:"source"`
	AsOf         string   `json:"as_of"`
}

// MachineOf gives the facts of an instance type.
func MachineOf(m *catalog.Machine) Machine {
	return Machine{
		VCPU: known(m.VCPU), RAM: known(m.RAM), NVMe: known(m.NVMe), Topology: text(string(m.Topology)),
		Inferred: m.Topology != "" && !m.TopologyKnown, Network: text(string(m.Network)), NetworkGbps: known(m.NetworkGbps),
		BareMetal: yesNo(m.BareMetal), MIG: yesNo(m.MIG), Confidential: yesNo(m.Confidential), GPUDirect: yesNo(m.GPUDirect),
		Reservation: m.Reservation, Flags: flagsOf(m.Flags), Source: m.Source, AsOf: m.AsOf,
	}
}

func yesNo(m unit.Maybe[bool]) *bool {
	v, ok := m.Get()
	if !ok {
		return nil
	}
	return &v
}

func flagsOf(flags []catalog.Flag) []string {
	out := []string{}
	for _, f := range flags {
		out = append(out, string(f))
	}
	return out
}

// PriceOf gives the JSON of a price: as quoted, and in another currency where it could be converted.
func PriceOf(p catalog.Price, converted money.Rate, convertible bool) *Price {
	if p.Mode == "" {
		return nil
	}
	out := &Price{
		Hourly: rateOf(p.Hourly), AsOf: p.AsOf, Source: p.Source, Confidence: string(p.Confidence), Flags: flagsOf(p.Flags),
	}
	if convertible {
		c := rateOf(converted)
		out.Converted = &c
	}
	return out
}

// RateOf gives the JSON of a price an hour.
func RateOf(r money.Rate) *Money {
	m := rateOf(r)
	return &m
}

// Text is a string, or null where it is empty.
func Text(s string) *string { return text(s) }
