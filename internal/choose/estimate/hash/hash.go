// Package hash estimates trying every key of a keyspace: the published rate of the very chip where there is one,
// else one scaled from other chips by what a multiprocessor does of what bounds the algorithm: integer operations a
// clock, or the candidates its shared memory holds.
//
// Invariants: a published rate is never replaced by a scaled one; rates of different algorithms, modes or iteration
// counts never meet; a chip whose integer rate is not known is refused, not guessed. Pure: the rates are the embedded
// data, read at the first workload. Imported by the caller that picks a Job by kind of work, and by choose/accuracy.
package hash

import (
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/scale"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

// kind is how a fault names this work.
const kind = "hash"

// workingSet is what candidates, digests and kernels take on a device. Cracking keeps little there, and scrypt,
// which would take more, sizes itself to what is free.
const workingSet = 512 * unit.MiB

// Notes on an estimate.
const (
	// noteWhole says that the hours are for the whole keyspace; a key is found after half of it on average. No args.
	noteWhole = "hash.whole_keyspace"
	// noteScaled says that no rate of this chip is published and from how many it was scaled. Args: Chips, Algorithm.
	noteScaled = "hash.scaled"
)

type job struct {
	keyspace  float64
	curves    *estimate.Curves
	published map[string]*Rate // by chip
	algorithm string
	bound     bound
	per       float64 // the median rate over throughput of the published chips; 0 where there is none to scale from
	source    string
	notes     [2][]estimate.Note // on a chip with a rate of its own, elsewhere
}

// New prepares a hash workload. An algorithm that no rate is known for is the user's to mend.
func New(w *workload.Workload, c *estimate.Curves) (estimate.Job, error) {
	if w.Hash == nil || w.Hash.Keyspace <= 0 {
		return nil, problem.New(problem.Internal, "estimate.not_this_kind", problem.Args{"Kind": kind})
	}
	return newJob(w.Hash, c, embedded(), Card)
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
		algorithm: algorithm, bound: boundOf(algorithm),
	}
	for i := range rates {
		j.published[rates[i].Accelerator] = &rates[i]
	}
	n := 0
	j.per, j.source, n, _ = median(yields(rates, j.bound, find), "")
	whole := estimate.Note{Code: noteWhole}
	scaled := estimate.Note{Code: noteScaled, Args: map[string]any{"Chips": n, "Algorithm": algorithm}}
	j.notes = [2][]estimate.Note{{whole}, {scaled, whole}}
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
	}
	if r, ok := j.published[g.Chip.Name]; ok {
		repeat := scale.Repeat()
		e.Speed = estimate.Speed{
			Value: r.PerSecond, Low: r.PerSecond * repeat.Low, High: r.PerSecond * repeat.High,
			Unit: "hashes/s", Basis: estimate.Published, Source: r.Source, Like: estimate.LikeChip,
		}
		e.Notes = j.notes[0]
	} else {
		rate, refusal := throughput(g.Chip, j.bound)
		if refusal == nil && j.per == 0 {
			refusal = &estimate.Refusal{Reason: estimate.NoReference}
		}
		if refusal != nil {
			return estimate.Estimate{Memory: memory}, refusal, 1
		}
		e.Speed, e.Notes = corrected(j.curves, g.Chip, j.algorithm, j.per*rate, j.source), j.notes[1]
	}
	n := float64(g.Accelerators()) * g.Fraction()
	e.Load = e.Bottleneck.Power()
	interval := estimate.Interval{Low: e.Speed.Low / e.Speed.Value, High: e.Speed.High / e.Speed.Value}
	e.Speed.Value *= n
	scale.Finish(&e, interval, j.keyspace, 1)
	return e, nil, 1
}
