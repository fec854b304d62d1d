package main

import (
	"strings"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// facts adds links, network, disks and partitioning from the table of instance facts, then infers the links that no
// source states. In that table V marks what was read in the named source and R what was recalled from vendor
// documentation; recalled facts are taken but marked.
func (b *builder) facts() error {
	rows, err := b.records("instance_facts.csv")
	if err != nil {
		return err
	}
	for _, r := range rows {
		if m := b.machines[machineKey{r.get("provider"), r.get("instance_type")}]; m != nil {
			addFacts(m, r)
		}
	}
	for _, m := range b.machines {
		switch {
		case m.Count <= 1:
			m.Topology, m.TopologyKnown = catalog.Single, true // one chip has no peers: nothing to infer
		case m.Topology == catalog.UnknownTopo:
			if m.Topology = catalog.InferTopology(m.Accelerator, m.Count, m.InstanceType); m.Topology != catalog.UnknownTopo {
				m.Flags = catalog.WithFlags(m.Flags, catalog.TopologyInferred)
			}
		}
	}
	return nil
}

func addFacts(m *catalog.Machine, r record) {
	source := r.get("source")
	recalled := func(marks ...string) bool {
		if !strings.HasPrefix(source, "V") {
			return true
		}
		for _, mark := range marks {
			if strings.Contains(source, mark) {
				return true
			}
		}
		return false
	}
	links := r.get("topology")
	if t := topology(links); t != catalog.UnknownTopo && (t != catalog.Single || m.Count <= 1) {
		m.Topology, m.TopologyKnown = t, !recalled("link R", "bridge R", "topology/mig R") && !strings.Contains(links, " R)")
		if !m.TopologyKnown && m.Count > 1 {
			m.Flags = catalog.WithFlags(m.Flags, catalog.TopologyRecalled)
		}
	}
	addNetwork(m, r, recalled("IB+link R", "gbps R") && !strings.Contains(source, "net V"))
	if v, ok := r.number("local_nvme_gb").Get(); ok && !m.NVMe.Known() {
		m.NVMe = unit.Some(unit.Bytes(v * float64(unit.GB)))
		if strings.Contains(source, "GiB") {
			m.NVMe = unit.Some(unit.Bytes(v * float64(unit.GiB)))
		}
	}
	if v := r.get("bare_metal"); v != "" {
		m.BareMetal = unit.Some(v == "yes")
	}
	if v := r.get("mig"); v != "" {
		m.MIG = unit.Some(v == "yes")
		if recalled("mig R") {
			m.Flags = catalog.WithFlags(m.Flags, catalog.MIGRecalled)
		}
	}
	if strings.HasPrefix(r.get("confidential"), "yes") && !recalled("confidential R") {
		m.Confidential = unit.Some(true)
	}
}

func addNetwork(m *catalog.Machine, r record, recalled bool) {
	gbps, kind := r.number("inter_node_gbps"), network(r.get("inter_node_kind"))
	if gbps.Known() {
		m.NetworkGbps = gbps
	}
	if kind != catalog.UnknownNet {
		m.Network = kind
	}
	if recalled && (gbps.Known() || kind != catalog.UnknownNet) {
		m.Flags = catalog.WithFlags(m.Flags, catalog.NetworkRecalled)
	}
}

// topology reads the table's words; the first that fits counts. A bridge counts wherever it is named: its cards are
// described as "PCIe" first.
func topology(s string) catalog.Topology {
	if strings.Contains(s, "NVLink bridge") {
		return catalog.NVLinkPairs
	}
	for _, w := range []struct {
		word string
		t    catalog.Topology
	}{
		{"single", catalog.Single}, {"NVSwitch", catalog.NVSwitch}, {"PCIe", catalog.PCIeOnly},
		{"NVLink", catalog.NVLinkMesh}, {"Infinity Fabric", catalog.XGMI}, {"NeuronLink", catalog.NeuronLink},
	} {
		if strings.HasPrefix(s, w.word) {
			return w.t
		}
	}
	return catalog.UnknownTopo
}

func network(s string) catalog.NetworkKind {
	for _, w := range []struct {
		word string
		k    catalog.NetworkKind
	}{
		{"no InfiniBand", catalog.UnknownNet}, {"EFA", catalog.EFA}, {"InfiniBand", catalog.InfiniBand}, {"RoCE", catalog.RoCE},
		{"GPUDirect-TCPX", catalog.TCPX}, {"ENA", catalog.Ethernet}, {"Ethernet", catalog.Ethernet},
	} {
		if strings.HasPrefix(s, w.word) {
			return w.k
		}
	}
	return catalog.UnknownNet
}
