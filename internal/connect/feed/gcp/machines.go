package gcp

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"math/big"
	"strings"
	"sync"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// The machine types that are put together from the catalog's parts. host names the series as its core and memory SKUs do, and
// is empty where the accelerator's SKU is of a whole slice; the memory of the local SSDs is that which cannot be declined;
// modes are the ways they are sold in, where not in all of on demand, spot, and commitments of one and three years: the
// catalog also has an on-demand price for machines that only Spot, flex-start or a reservation gives.
//
// N1 machines take up to so many cores for a number of GPUs; the one given is a usual choice.
// Sources: https://cloud.google.com/compute/docs/accelerator-optimized-machines, …/compute/docs/gpus,
// …/compute/docs/disks/local-ssd, https://cloud.google.com/tpu/docs/system-architecture (2026-08).
//
//go:embed machines.csv
var machinesFile string

// machine is a row of the file, in vCPUs, GiB and accelerators.
type machine struct {
	name, host, gpu     string
	cores, ram, n, disk *big.Rat
	modes               []catalog.BillingMode
}

var usualModes = []catalog.BillingMode{catalog.OnDemand, catalog.Spot, catalog.Reserved1Y, catalog.Reserved3Y}

var machines = sync.OnceValue(func() []machine {
	rows, err := csv.NewReader(strings.NewReader(machinesFile)).ReadAll()
	if err != nil {
		panic(err)
	}
	list := make([]machine, 0, len(rows))
	for i, r := range rows[1:] {
		m := machine{name: r[0], host: strings.ToLower(r[1]), gpu: r[2], modes: usualModes}
		for column, to := range map[int]**big.Rat{3: &m.cores, 4: &m.ram, 5: &m.n, 6: &m.disk} {
			text := r[column]
			if text == "" {
				text = "0"
			}
			n, ok := new(big.Rat).SetString(text)
			if !ok {
				panic(fmt.Sprintf("machines.csv:%d: %q", i+2, text))
			}
			*to = n
		}
		if r[7] != "" {
			m.modes = nil
			for mode := range strings.SplitSeq(r[7], ";") {
				m.modes = append(m.modes, catalog.BillingMode(mode))
			}
		}
		list = append(list, m)
	}
	return list
})

// chip is an accelerator as Compute Engine names its type, with its memory and, where there are several, its form.
type chip struct {
	name   string
	memory unit.Bytes
	form   string
}

// chips are the accelerators by what their SKUs call them, in small letters. Of a TPU a SKU prices one chip for an hour.
var chips = map[string]chip{
	"nvidia tesla t4 gpu":          {"nvidia-tesla-t4", 16 * unit.GiB, ""},
	"nvidia tesla p4 gpu":          {"nvidia-tesla-p4", 8 * unit.GiB, ""},
	"nvidia tesla p100 gpu":        {"nvidia-tesla-p100", 16 * unit.GiB, "PCIe"},
	"nvidia tesla v100 gpu":        {"nvidia-tesla-v100", 16 * unit.GiB, "SXM2"},
	"nvidia tesla a100 gpu":        {"nvidia-tesla-a100", 40 * unit.GiB, "SXM4"},
	"nvidia tesla a100 80gb gpu":   {"nvidia-a100-80gb", 80 * unit.GiB, "SXM4"},
	"nvidia l4 gpu":                {"nvidia-l4", 24 * unit.GiB, ""},
	"nvidia h100 80gb gpu":         {"nvidia-h100-80gb", 80 * unit.GiB, "SXM5"},
	"nvidia h100 80gb plus gpu":    {"nvidia-h100-mega-80gb", 80 * unit.GiB, "SXM5"},
	"nvidia h100 80gb mega gpu":    {"nvidia-h100-mega-80gb", 80 * unit.GiB, "SXM5"},
	"nvidia h100 mega 80gb gpu":    {"nvidia-h100-mega-80gb", 80 * unit.GiB, "SXM5"},
	"h200 141gb gpu":               {"nvidia-h200-141gb", 141 * unit.GiB, "SXM5"},
	"nvidia h200 141gb gpu":        {"nvidia-h200-141gb", 141 * unit.GiB, "SXM5"},
	"a4 nvidia b200 (1 gpu slice)": {"nvidia-b200", 180 * unit.GiB, ""},
	"rtx 6000 96gb":                {"nvidia-rtx-pro-6000", 96 * unit.GiB, ""},
	"tpuv5e":                       {"tpu-v5e", 16 * unit.GiB, ""},
	"tpuv5p":                       {"tpu-v5p", 95 * unit.GiB, ""},
	"tpuv6e":                       {"tpu-v6e", 32 * unit.GiB, ""},
}

// chipOf finds an accelerator by its type.
func chipOf(gpu string) (chip, bool) {
	for _, c := range chips {
		if c.name == gpu {
			return c, true
		}
	}
	return chip{}, false
}
