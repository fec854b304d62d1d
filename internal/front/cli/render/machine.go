package render

import (
	"fmt"
	"strings"

	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/front/say"
)

// chipFacts says what an accelerator is in one line, with its rate at the precision that matters; what is unknown is
// left out.
func chipFacts(a *accelerator.Accelerator, precision accelerator.Precision, s *say.Speaker) string {
	parts := []string{a.Name}
	if gb, ok := a.NominalGB.Get(); ok {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("%g GB %s", gb, a.MemoryType)))
	}
	if b, ok := a.Bandwidth.Get(); ok {
		parts = append(parts, b.String())
	}
	if peak, ok := a.Peak[precision].Get(); ok {
		parts = append(parts, strings.ToUpper(precision.String())+" "+peak.String())
	}
	if link, ok := a.LinkBidir.Get(); ok && a.LinkKind != "none" {
		parts = append(parts, a.LinkKind+" "+link.String())
	}
	if w, ok := a.TDP.Get(); ok {
		parts = append(parts, s.Value(w)+" W")
	}
	return strings.Join(parts, " · ")
}

// machineFacts says what a machine is in one line; what is unknown is left out.
func machineFacts(m *catalog.Machine, s *say.Speaker) string {
	var parts []string
	if v, ok := m.VCPU.Get(); ok {
		parts = append(parts, fmt.Sprintf("%g vCPU", v))
	}
	if v, ok := m.RAM.Get(); ok {
		parts = append(parts, s.Say("machine.ram", say.Args{"Size": v}))
	}
	if v, ok := m.NVMe.Get(); ok && v > 0 {
		parts = append(parts, s.Say("machine.nvme", say.Args{"Size": v.Decimal()}))
	}
	if m.Topology != "" && m.Topology != catalog.Single {
		parts = append(parts, s.Value(m.Topology))
	}
	parts = append(parts, networkFacts(m, s)...)
	parts = append(parts, features(m, s)...)
	if len(parts) == 0 {
		return say.Unknown
	}
	return strings.Join(parts, " · ")
}

// networkFacts says what joins machines; nothing where that is the same fabric as inside one and its speed unknown.
func networkFacts(m *catalog.Machine, s *say.Speaker) []string {
	gbps, known := m.NetworkGbps.Get()
	switch {
	case known:
		return []string{strings.TrimSpace(fmt.Sprintf("%s Gbit/s %s", s.Number(gbps), networkName(m, s)))}
	case m.Network != "" && string(m.Network) != string(m.Topology):
		return []string{s.Value(m.Network)}
	}
	return nil
}

// features lists what is stated of a machine: a feature nobody states is not claimed.
func features(m *catalog.Machine, s *say.Speaker) []string {
	var out []string
	for _, f := range []struct {
		id  string
		set bool
	}{
		{"bare_metal", m.BareMetal.Or(false)}, {"mig", m.MIG.Or(false)}, {"confidential", m.Confidential.Or(false)},
		{"gpudirect", m.GPUDirect.Or(false)}, {"reservation", m.Reservation},
	} {
		if f.set {
			out = append(out, s.Text("machine."+f.id))
		}
	}
	return out
}

func networkName(m *catalog.Machine, s *say.Speaker) string {
	if m.Network == "" {
		return ""
	}
	return s.Value(m.Network)
}
