package plan

import (
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// probeSizes is the nominal memory sizes that chips are sold in, in GB.
var probeSizes = [...]float64{16, 24, 40, 48, 80, 96, 141, 180, 192, 288}

// needs is what the workload asks of any machine, found by trying it on machines that lack nothing but memory.
func needs(w *workload.Workload, job estimate.Job) Needs {
	n := Needs{Precision: string(w.Format), Storage: w.Data.Size, FLOP: flopOf(job)}
	if w.Model == nil {
		return n
	}
	n.ParametersTotal, n.ParametersActive = w.Model.Params.Total, w.Model.Params.Active
	for _, gb := range probeSizes {
		est, count, ok := smallest(job, probe(gb))
		if !ok {
			continue
		}
		n.Fits = append(n.Fits, Fit{gb, count})
		used := est.Memory.Used * unit.Bytes(count)
		if n.Memory == 0 || used < n.Memory {
			n.Memory, n.Parts, n.Checkpoint = used, est.Memory.Parts, est.Checkpoint
		}
	}
	n.Fits = distinct(n.Fits)
	n.HostRAM = 2 * n.Memory
	n.Storage += 2 * n.Checkpoint
	return n
}

// probe is a chip of a memory size that knows every precision at a round rate, so that only memory can be refused.
func probe(gb float64) *accelerator.Accelerator {
	a := &accelerator.Accelerator{Name: "probe", NominalGB: unit.Some(gb), Bandwidth: unit.Some(unit.BytesPerSec(3e12)), LinkBidir: unit.Some(unit.BytesPerSec(9e11))}
	for p := range a.Peak {
		a.Peak[p] = unit.Some(unit.FLOPS(1e15))
	}
	return a
}

// usualGbps is the network of a usual eight-accelerator training machine: eight times 400 Gbit/s.
const usualGbps = 3200.0

// smallest is the fewest accelerators of a kind that hold the job, in powers of two over switched machines of eight.
func smallest(job estimate.Job, a *accelerator.Accelerator) (estimate.Estimate, int, bool) {
	for n := 1; n <= 4096; n *= 2 {
		g := estimate.Group{Chip: a, Share: 1, PerNode: min(n, 8), Nodes: max(1, n/8), Topology: catalog.NVSwitch,
			NetworkGbps: unit.Some(usualGbps), Network: catalog.InfiniBand}
		est, refusal := roughly(job, g)
		if refusal == nil {
			if each := est.Serving.AcceleratorsPerReplica; each > 0 {
				n = each
			}
			return est, n, true
		}
		if refusal.Reason != estimate.NoMemory && refusal.Reason != estimate.NoLayout {
			return est, 0, false
		}
	}
	return estimate.Estimate{}, 0, false
}

// roughly is the best on a group without simulating it, where a job can tell.
func roughly(job estimate.Job, g estimate.Group) (estimate.Estimate, *estimate.Refusal) {
	if r, ok := job.(interface {
		Rough(estimate.Group) (estimate.Estimate, *estimate.Refusal)
	}); ok {
		return r.Rough(g)
	}
	est, refusal, _ := job.Best(g)
	return est, refusal
}

// distinct keeps, of sizes that need as many accelerators, the smallest.
func distinct(fits []Fit) []Fit {
	var out []Fit
	for _, f := range fits {
		if len(out) == 0 || out[len(out)-1].Count != f.Count {
			out = append(out, f)
		}
	}
	return out
}
