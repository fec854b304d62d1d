package kernelfit

import (
	"io"
	"math/bits"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

type message struct {
	ranks int
	bytes float64
	x     estimate.Collective // without its curve
}

func collectives(source string) kind[estimate.CollectiveCurve, message] {
	return kind[estimate.CollectiveCurve, message]{
		start: estimate.CollectiveCurve{Share: 0.7, Share4: 0.7, Share2: 0.7, BaseUS: 8, StepUS: 2, RampUS: 10, RampMB: 5},
		knobs: func(c *estimate.CollectiveCurve) []knob {
			return []knob{upTo(1.1, &c.Share), upTo(1.1, &c.Share4), upTo(1.1, &c.Share2), positive(&c.BaseUS), positive(&c.StepUS), positive(&c.RampUS), positive(&c.RampMB)}
		},
		time: func(c *estimate.CollectiveCurve, s *sample[message]) float64 {
			x := s.row.x
			x.Curve = *c
			return x.Seconds(s.row.ranks, s.row.bytes)
		},
		fitted: func(c *estimate.CollectiveCurve) *estimate.Fitted { return &c.Fitted },
		pool:   1 << 20,
		source: source,
	}
}

// linked is how the measured machines join their accelerators. That of the L40S had no peer-to-peer copies, which says
// nothing of other machines; it is left out, as is the Arc Pro B60, of which there are only reductions launched from Python.
var linked = map[string]catalog.Topology{
	"Ampere": catalog.NVSwitch, "Hopper": catalog.NVSwitch, "Blackwell 10.0": catalog.NVSwitch, "Blackwell Ultra": catalog.NVSwitch,
	"Blackwell 12.0": catalog.PCIeOnly,
}

// engineLimit is the largest message that inference engines reduce with kernels of their own.
const engineLimit = 8 << 20

// operations are the collectives by the name that the measurements give them, with the passes of estimate.Collective.
var operations = map[string]struct {
	name   string
	passes float64
}{
	"all_reduce": {"all_reduce", 2}, "all_gather": {"all_gather", 1}, "reduce_scatter": {"all_gather", 1}, "alltoall": {"all_to_all", 1},
	"vLLM_custom_graph": {"engine_all_reduce", 2},
}

// elementBytes is an element of the messages taken. Those of int8 repeat the others, except that switches do not reduce it, and
// nobody reduces int8.
const elementBytes = 2

// readCollectives adds the measured collectives by topology and name. The messages are counted in elements.
func readCollectives(r io.Reader, chips *accelerator.Table, out map[catalog.Topology]map[string][]sample[message]) error {
	return each(r, chips, func(l *line) {
		topology, ok := linked[l.chip.Arch+" "+l.chip.Compute]
		if !ok {
			topology, ok = linked[l.chip.Arch]
		}
		name := l.cells[1]
		if kernel := l.cells[2]; kernel != "NCCL" {
			name = kernel
		}
		op, taken := operations[name]
		if !ok || !taken || l.cells[3] == "int8" {
			return
		}
		row := message{ranks: int(l.num(4)), bytes: l.num(5) * elementBytes}
		if op.name == "engine_all_reduce" && row.bytes > engineLimit {
			return
		}
		x, known := estimate.Nominal(l.chip, topology)
		if !known {
			return
		}
		row.x = estimate.Collective{Rate: x, Passes: op.passes}
		if out[topology] == nil {
			out[topology] = map[string][]sample[message]{}
		}
		out[topology][op.name] = append(out[topology][op.name], sample[message]{chip: l.chip, shape: bits.Len(uint(row.bytes)), seconds: l.num(6) * 1e-3, row: row})
	}, "system", "op", "kernel", "dtype", "num_gpus", "message_size", "latency_ms")
}

func fitCollectives(samples map[string][]sample[message]) estimate.CollectiveTable {
	out := estimate.CollectiveTable{}
	for _, name := range sortedKeys(samples) {
		source := "aiconfigurator NCCL"
		if name == "engine_all_reduce" {
			source = "aiconfigurator custom all-reduce of vLLM, captured in graphs"
		}
		k := collectives(source)
		out[name] = k.all(samples[name])
	}
	return out
}

// readMesh adds xGMI, of which only long all-reduces over two and over eight chips were published: they give the share and how
// it grows with the links that more ranks bring into use. Its latencies are those of NVSwitch.
func readMesh(r io.Reader, chips *accelerator.Table, out map[string]estimate.CollectiveTable) error {
	share := map[int]float64{}
	err := each(r, chips, func(l *line) {
		if l.cells[1] != "xGMI" {
			return
		}
		if nominal, ok := estimate.Nominal(l.chip, catalog.XGMI); ok {
			share[int(l.num(2))] = l.num(3) * 1e9 / nominal
		}
	}, "accelerator", "fabric", "gpus", "busbw_gbs")
	if err != nil || share[2] == 0 || share[8] == 0 {
		return err
	}
	table := estimate.CollectiveTable{}
	for _, name := range [...]string{"all_reduce", "all_gather", "all_to_all", "engine_all_reduce"} {
		curve := out[string(catalog.NVSwitch)][name]["default"]
		curve.Share, curve.Share4, curve.Share2 = share[8], (share[2]+2*share[8])/3, share[2]
		curve.Fitted = estimate.Fitted{N: 2, Like: estimate.LikeFamily, Source: "stas00/ml-engineering all-reduce on 2 and 8 MI300X for the share; latencies as NVSwitch"}
		table[name] = map[string]estimate.CollectiveCurve{"default": curve}
	}
	out[string(catalog.XGMI)] = table
	return nil
}
