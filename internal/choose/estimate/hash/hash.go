// Package hash estimates trying every key of a keyspace: the published rate of the very chip where there is one,
// else a rate scaled from chips of the same family.
//
// Invariants: a published rate is never replaced by a scaled one; rates of different algorithms, modes or iteration
// counts never meet; a vendor without any published rate is refused, not guessed. Pure: the rates are the embedded
// data, read at the first workload. Imported by the caller that picks a Job by kind of work.
package hash

import (
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/scale"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

// kind names the interval of this work in the curves.
const kind = "hash"

// workingSet is what candidates, digests and kernels take on a device. Cracking keeps little there, and scrypt,
// which would take more, sizes itself to what is free.
const workingSet = 512 * unit.MiB

// Notes on an estimate.
const (
	// noteWhole says that the hours are for the whole keyspace; a key is found after half of it on average. No args.
	noteWhole = "hash.whole_keyspace"
	// noteScaled says that no rate of this chip is published and which chips it was scaled from. Args: Chips (how
	// many), By (compute, arch or vendor: what they share with it), Algorithm.
	noteScaled = "hash.scaled"
)

type job struct {
	keyspace  float64
	curves    *estimate.Curves
	published map[string]*Rate // by chip
	families  map[string]*family
	notes     []estimate.Note // on a chip with a rate of its own
}

// New prepares a hash workload. An algorithm that no rate is known for is the user's to mend.
func New(w *workload.Workload, c *estimate.Curves) (estimate.Job, error) {
	if w.Hash == nil || w.Hash.Keyspace <= 0 {
		return nil, problem.New(problem.Internal, "estimate.not_this_kind", problem.Args{"Kind": kind})
	}
	return newJob(w.Hash, c, embedded(), accelerator.Embedded().Get)
}

// chips finds a chip by its canonical name.
type chips func(name string) (*accelerator.Accelerator, bool)

func newJob(work *workload.HashWork, c *estimate.Curves, t *table, find chips) (*job, error) {
	algorithm, ok := t.find(work.Algorithm)
	if !ok {
		return nil, problem.New(problem.Input, "hash.unknown_algorithm", problem.Args{"Algorithm": work.Algorithm}).
			With(problem.Nearest(work.Algorithm, t.algorithms, 5)...)
	}
	rates := t.rates[algorithm]
	j := &job{
		keyspace: work.Keyspace, curves: c, published: make(map[string]*Rate, len(rates)),
		families: families(algorithm, rates, find), notes: []estimate.Note{{Code: noteWhole}},
	}
	for i := range rates {
		j.published[rates[i].Accelerator] = &rates[i]
	}
	return j, nil
}

// Service says no: the keyspace is to be finished.
func (j *job) Service() bool { return false }

// Independent says yes: a piece of the keyspace needs nothing of another.
func (j *job) Independent() bool { return true }

// Best gives every accelerator a piece of the keyspace.
func (j *job) Best(g estimate.Group) (estimate.Estimate, *estimate.Refusal, int) {
	memory, refusal := scale.Fit(g, j.curves, estimate.Part{Name: "working_set", Bytes: workingSet}, scale.Runtime(j.curves))
	if refusal != nil {
		return estimate.Estimate{Memory: memory}, refusal, 1
	}
	e := estimate.Estimate{
		Layout: estimate.Layout{Replicas: g.Accelerators()}, Memory: memory,
		// Digests are integer arithmetic, which no precision names; FP32 is the rate it is scaled by.
		Precision: accelerator.FP32, Bottleneck: estimate.Shares{Compute: 1},
		Speed: estimate.Speed{Unit: "hashes/s"},
	}
	if r, ok := j.published[g.Chip.Name]; ok {
		e.Speed.Value, e.Speed.Source = r.PerSecond*g.Fraction(), r.Source
		e.Speed.Basis, e.Speed.Like, e.Notes = estimate.Published, estimate.LikeChip, j.notes
	} else if refusal := j.scale(g, &e); refusal != nil {
		return estimate.Estimate{Memory: memory}, refusal, 1
	}
	e.Speed.Value *= float64(g.Accelerators())
	e.Load = e.Bottleneck.Power()
	scale.Finish(&e, j.curves.Interval(kind, e.Speed.Like), j.keyspace, 1)
	return e, nil, 1
}

// scale sets the speed of one accelerator from the nearest family with published rates.
func (j *job) scale(g estimate.Group, e *estimate.Estimate) *estimate.Refusal {
	var near *family
	for _, key := range keys(g.Chip) {
		if near = j.families[key.name]; near != nil {
			e.Speed.Like = key.like
			break
		}
	}
	if near == nil {
		return &estimate.Refusal{Reason: estimate.NoReference}
	}
	peak, refusal := scale.Peak(g, accelerator.FP32)
	if refusal != nil {
		return refusal
	}
	e.Speed.Value, e.Speed.Source, e.Speed.Basis, e.Notes = near.perFLOP*peak, near.source, estimate.Predicted, near.notes
	return nil
}
