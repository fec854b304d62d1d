package plan

import (
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// SizeInput asks what a workload needs, and what it does on one group of accelerators when Chip is set. The workload's layout
// pins are kept.
type SizeInput struct {
	Workload *workload.Workload
	Curves   *estimate.Curves
	Chip     *accelerator.Accelerator // nil for the needs alone
	Count    int                      // accelerators in all, up to eight a machine
}

// Sizing is the answer: the needs, and for a chip either the estimate or why it does not fit.
type Sizing struct {
	Needs    Needs
	Group    estimate.Group
	Estimate *estimate.Estimate
	Refusal  *estimate.Refusal
}

// SizeOf works out needs and, for a named chip, memory by parts and speed. Machines are taken to be linked as the chip's makers
// build them, with a fast network between them, since no offer is named.
func SizeOf(in SizeInput) (*Sizing, error) {
	job, err := NewJob(in.Workload, in.Curves)
	if err != nil {
		return nil, err
	}
	s := &Sizing{Needs: needs(in.Workload, job)}
	if in.Chip == nil {
		return s, nil
	}
	count := max(1, in.Count)
	per := min(count, 8)
	if count%per != 0 {
		per = count
	}
	s.Group = estimate.Group{Chip: in.Chip, Share: 1, PerNode: per, Nodes: count / per, Topology: catalog.InferTopology(in.Chip, float64(per)),
		NetworkGbps: unit.Some(usualGbps), Network: catalog.InfiniBand}
	e, refusal, _ := job.Best(s.Group)
	if s.Refusal = refusal; refusal == nil {
		s.Estimate = &e
	}
	return s, nil
}
