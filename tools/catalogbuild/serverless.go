package main

import (
	"strconv"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// worker is a kind of serverless worker on a public price page, by the billionth of a US dollar a second.
type worker struct {
	name, chip string
	perSecond  int64
	most       int // accelerators of one worker
	flag       catalog.Flag
}

// Modal sells CPU and memory apart; a worker is given so much of them for each accelerator.
const (
	modalCore, modalCores = 13_100, 4 // billionths a second; physical, of two vCPU each
	modalGiB, modalGiBs   = 2_220, 32
)

var modalWorkers = []worker{
	{"B200", "B200", 1_736_000, 8, ""}, {"H200", "H200-SXM-141GB", 1_261_000, 8, ""},
	{"H100", "H100-SXM-80GB", 1_097_000, 8, catalog.FormFactorAssumed}, {"RTX-PRO-6000", "RTX-PRO-6000-Blackwell-Server", 842_000, 8, ""},
	{"A100-80GB", "A100-SXM-80GB", 694_000, 8, catalog.FormFactorAssumed}, {"A100-40GB", "A100-SXM-40GB", 583_000, 8, catalog.FormFactorAssumed},
	{"L40S", "L40S", 542_000, 8, ""}, {"A10", "A10", 306_000, 4, ""}, {"L4", "L4", 222_000, 8, ""}, {"T4", "T4", 164_000, 8, ""},
}

// A RunPod worker may run on any chip of its group; the slowest stands for it.
var runPodWorkers = []worker{
	{"H200", "H200-SXM-141GB", 1_550_000, 1, ""}, {"A100", "A100-PCIe-80GB", 760_000, 1, catalog.FormFactorAssumed},
	{"H100", "H100-PCIe-80GB", 1_160_000, 1, catalog.FormFactorAssumed}, {"48GB", "A40", 340_000, 1, catalog.AcceleratorInferred},
	{"48GB-PRO", "L40", 530_000, 1, catalog.AcceleratorInferred}, {"24GB", "L4", 190_000, 1, catalog.AcceleratorInferred},
	{"24GB-PRO", "RTX-4090", 310_000, 1, ""}, {"16GB", "RTX-A4000", 160_000, 1, catalog.AcceleratorInferred}, {"B200", "B200", 2_400_000, 1, ""},
}

// serverless adds the workers of price pages that state what a second costs.
func (b *builder) serverless() error {
	for _, w := range modalWorkers {
		for n := 1; n <= w.most; n *= 2 {
			m := b.workerOf("modal", w.name+":"+strconv.Itoa(n), w, n)
			m.VCPU, m.RAM, m.BareMetal = unit.Some(float64(2*modalCores*n)), unit.Some(unit.Bytes(modalGiBs*n)*unit.GiB), unit.Some(false)
			m.Source, m.AsOf, m.Flags = "modal-evangelist", "2026-07-01", catalog.WithFlags(m.Flags, catalog.HostChosen)
			perSecond := int64(n) * (w.perSecond + modalCores*modalCore + modalGiBs*modalGiB)
			b.workerPrice(m, perSecond, catalog.Secondary, catalog.RegionUnconfirmed)
		}
	}
	for _, w := range runPodWorkers {
		m := b.workerOf("runpod", "serverless_"+w.name, w, 1)
		m.Source, m.AsOf = "runpod-docs", "2025-03-01"
		b.workerPrice(m, w.perSecond, catalog.Listed, catalog.DateUnknown, catalog.RegionUnconfirmed)
	}
	return nil
}

func (b *builder) workerOf(provider, name string, w worker, n int) catalog.Machine {
	chip, _ := b.chips.Get(w.chip)
	m := catalog.Machine{Provider: provider, InstanceType: name, Accelerator: chip, Count: float64(n), Topology: catalog.Single, TopologyKnown: true}
	m.Flags = catalog.WithFlags(nil, w.flag)
	if n > 1 {
		m.Topology, m.TopologyKnown, m.Flags = catalog.InferTopology(chip, float64(n)), false, catalog.WithFlags(m.Flags, catalog.TopologyInferred)
	}
	return m
}

func (b *builder) workerPrice(m catalog.Machine, perSecond int64, c catalog.Confidence, flags ...catalog.Flag) {
	b.report.in[m.Provider]++
	b.price(b.machine(m), "", "", catalog.Price{
		Mode: catalog.ServerlessPerHour, Hourly: money.PerHour(perSecond*3600, money.USD), AsOf: m.AsOf, Source: m.Source, Confidence: c, Flags: flags,
	})
}
