package plan

import (
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/custom"
	"github.com/rackrate/rackrate/internal/choose/estimate/diffuse"
	"github.com/rackrate/rackrate/internal/choose/estimate/hash"
	"github.com/rackrate/rackrate/internal/choose/estimate/persample"
	"github.com/rackrate/rackrate/internal/choose/estimate/render"
	"github.com/rackrate/rackrate/internal/choose/estimate/serve"
	"github.com/rackrate/rackrate/internal/choose/estimate/simulate"
	"github.com/rackrate/rackrate/internal/choose/estimate/train"
	"github.com/rackrate/rackrate/internal/choose/workload"
)

var kinds = map[workload.Kind]func(*workload.Workload, *estimate.Curves) (estimate.Job, error){
	workload.Train: train.New, workload.Finetune: train.New,
	workload.Serve: serve.New, workload.BatchInfer: serve.New,
	workload.Diffuse: diffuse.New, workload.Render: render.New, workload.Simulate: simulate.New,
	workload.Hash: hash.New, workload.Custom: custom.New,
}

// NewJob prepares a workload for estimating.
func NewJob(w *workload.Workload, c *estimate.Curves) (estimate.Job, error) {
	if persample.Does(w) {
		return persample.New(w, c)
	}
	return kinds[w.Kind](w, c)
}
