package catalog

import (
	"io"
	"slices"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

// FileSource is the source id of rows that a caller's own file brings.
const FileSource = "file"

// ParseSkyPilot reads a file in SkyPilot's format, with prices in US dollars as the format has it, into rows that
// New takes, dated asOf. Rows without an accelerator are passed over, except the host part of a machine that has
// some; rows that must not rank are left out and reported. name is the file's, for errors.
func ParseSkyPilot(name string, r io.Reader, chips *accelerator.Table, provider, asOf string) ([]Row, []Fault, error) {
	raw, faults, err := ReadSkyPilot(r, money.USD)
	if err != nil {
		for _, e := range problem.All(err) {
			e.At(name, 1)
		}
		return nil, nil, err
	}
	p := skyPilotParser{chips: chips, provider: provider, asOf: asOf, byType: map[string]*Machine{}}
	for _, row := range raw {
		p.add(row)
	}
	faults = append(faults, p.faults...)
	for i := range faults {
		faults[i].Provider = provider
	}
	slices.SortStableFunc(faults, func(a, b Fault) int { return a.Line - b.Line })
	return p.rows, faults, nil
}

// VerifySkyPilot checks a whole file in SkyPilot's format: what each row says, and the rows against each other.
func VerifySkyPilot(name string, r io.Reader, chips *accelerator.Table, provider, today string) ([]Fault, error) {
	rows, faults, err := ParseSkyPilot(name, r, chips, provider, today)
	if err != nil {
		return nil, err
	}
	var machines []*Machine
	seen := map[*Machine]bool{}
	for _, row := range rows {
		if !seen[row.Machine] {
			seen[row.Machine] = true
			machines = append(machines, row.Machine)
		}
	}
	c := New(machines, rows, []Source{{ID: FileSource}})
	return append(faults, Verify(c, today)...), nil
}

type skyPilotParser struct {
	chips          *accelerator.Table
	provider, asOf string
	byType         map[string]*Machine
	rows           []Row
	faults         []Fault
}

func (p *skyPilotParser) fault(row SkyPilotRow, k FaultKind, args problem.Args) {
	p.faults = append(p.faults, Fault{
		Kind: k, Severity: k.Severity(), InstanceType: row.InstanceType, Region: row.Region, Zone: row.Zone, Line: row.Line, Args: args,
	})
}

// partHosts are names of machines that are sold only together with accelerators.
var partHosts = []string{"highgpu", "megagpu", "ultragpu", "edgegpu", "maxgpu"}

func (p *skyPilotParser) add(row SkyPilotRow) {
	if row.host {
		if slices.ContainsFunc(partHosts, func(s string) bool { return strings.Contains(row.InstanceType, s) }) {
			p.fault(row, PartAlone, problem.Args{"Part": "host"})
		}
		return
	}
	if row.InstanceType == "" {
		p.fault(row, PartAlone, problem.Args{"Part": "accelerator", "Accelerator": row.Accelerator})
		return
	}
	count, counted := row.Count.Get()
	if !counted {
		p.fault(row, CountMissing, problem.Args{"Accelerator": row.Accelerator})
		return
	}
	chip := p.identify(row, count)
	if chip == nil {
		return
	}
	m := p.byType[row.InstanceType]
	if m == nil {
		m = &Machine{
			Provider: p.provider, InstanceType: row.InstanceType, Accelerator: chip, Count: count, VCPU: row.VCPU,
			RAM: RAM(row.RAMGiB), Topology: InferTopology(chip, count, row.InstanceType, row.Accelerator, row.Upstream), TopologyKnown: count <= 1, Source: FileSource, AsOf: p.asOf,
		}
		p.byType[row.InstanceType] = m
	}
	if m.Accelerator != chip || m.Count != count {
		p.fault(row, BadIdentity, problem.Args{"Conflict": m.Accelerator.Name, "Accelerator": chip.Name, "Count": count})
		return
	}
	p.price(row, m)
}

func (p *skyPilotParser) identify(row SkyPilotRow, count float64) *accelerator.Accelerator {
	var missing []string
	if row.Accelerator == "" {
		missing = append(missing, "model")
	}
	id, ok := Identify(p.chips, Evidence{
		Name: row.Accelerator, Texts: []string{row.Device, row.InstanceType, row.Upstream}, MiB: row.MiB, Count: count,
	})
	if row.MiB == 0 && !ok {
		missing = append(missing, "memory")
	}
	switch {
	case len(missing) > 0 && row.Accelerator == "":
		p.fault(row, BadIdentity, problem.Args{"Missing": strings.Join(missing, ","), "Count": count})
		return nil
	case !ok:
		p.fault(row, BadIdentity, problem.Args{"Unknown": row.Accelerator, "Count": count})
		return nil
	case id.Mismatch:
		p.fault(row, BadMemory, problem.Args{"Accelerator": id.Chip.Name, "MiB": row.MiB})
		return nil
	case id.WholeNode:
		p.fault(row, NodeMemory, problem.Args{"Accelerator": id.Chip.Name, "MiB": row.MiB, "Count": count})
	}
	return id.Chip
}

func (p *skyPilotParser) price(row SkyPilotRow, m *Machine) {
	at := Row{Machine: m, Region: row.Region, Zone: row.Zone}
	add := func(mode BillingMode, rate unit.Maybe[money.Rate]) bool {
		r, ok := rate.Get()
		if ok {
			at.Price = Price{Mode: mode, Hourly: r, AsOf: p.asOf, Source: FileSource, Confidence: Secondary}
			p.rows = append(p.rows, at)
		}
		return ok
	}
	onDemand, spot := add(OnDemand, row.Price), add(Spot, row.Spot)
	if !onDemand && !spot {
		p.rows = append(p.rows, at)
	}
}

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
