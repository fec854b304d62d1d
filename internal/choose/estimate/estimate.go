// Package estimate predicts what a workload needs and does on a group of accelerators: memory by parts, speed
// with its interval and its bottleneck, and the parallel layout that is fastest within memory.
//
// Invariants: an estimate never claims a layout that does not fit; memory parts sum to the used memory and
// bottleneck shares to one; a figure resting on an unknown fact is refused with a typed reason, never guessed;
// efficiency curves are data, not code. Pure and deterministic. Imported by choose/plan and above.
package estimate

import (
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// Group is a set of identical accelerators in identical machines that work on one job.
type Group struct {
	Chip *accelerator.Accelerator
	// Share is the part of one chip that a machine has, 1 for whole chips (a sixth of an A10 is 1/6).
	Share       float64
	PerNode     int // accelerators a machine
	Nodes       int
	Topology    catalog.Topology
	NetworkGbps unit.Maybe[float64] // a machine's, one direction
	Network     catalog.NetworkKind
}

// Accelerators is the size of the group.
func (g Group) Accelerators() int { return g.PerNode * g.Nodes }

// Memory is what one accelerator of the group can hold; false where the chip's memory is unknown.
func (g Group) Memory() (unit.Bytes, bool) {
	m, ok := g.Chip.Memory()
	return unit.Bytes(float64(m) * g.Fraction()), ok
}

// Fraction is the part of one chip that a machine has; a Share left out is a whole chip.
func (g Group) Fraction() float64 {
	if g.Share == 0 {
		return 1
	}
	return g.Share
}

// Layout is how the work is cut over the group. Fields that a kind of work does not use stay at their zero value.
type Layout struct {
	TP         int    `json:"tp"`
	PP         int    `json:"pp"`
	DP         int    `json:"dp"`
	CP         int    `json:"cp,omitempty"`
	EP         int    `json:"ep,omitempty"`
	MicroBatch int    `json:"micro_batch,omitempty"`
	Virtual    int    `json:"virtual,omitempty"` // interleaved pipeline stages a rank
	ZeRO       int    `json:"zero"`
	Recompute  string `json:"recompute,omitempty"` // none, selective, full
	Replicas   int    `json:"replicas,omitempty"`  // serving and other work that is simply repeated
	Batch      int    `json:"batch,omitempty"`     // sequences in flight a replica, or samples a batch
}

// Part is a named share of memory.
type Part struct {
	Name  string // weights, gradients, optimizer, activations, logits, kv_cache, gathered, adapters, workspace, runtime, slack, scene, domain …
	Bytes unit.Bytes
}

// Memory is the busiest accelerator's memory.
type Memory struct {
	Capacity unit.Bytes
	Used     unit.Bytes // the sum of Parts
	Parts    []Part     // largest first
}

// Free is what is left.
func (m Memory) Free() unit.Bytes { return m.Capacity - m.Used }

// Basis says what a speed rests on.
type Basis string

// The bases, best first.
const (
	Measured  Basis = "measured"
	Published Basis = "published"
	Predicted Basis = "predicted"
)

// Speed is a rate of work with its interval.
type Speed struct {
	Value, Low, High float64
	Unit             string // tokens/s, requests/s, images/s, frames/h, steps/s, hashes/s, or the user's own + "/s"
	Basis            Basis
	Source           string // what a published or measured speed was taken from, or what the curve was fitted to
	// Like says how near the measurements behind the interval are: chip, family, kind or none ("nothing like this was measured").
	Like Likeness
	// Target names the calibration behind a prediction, and Measurements counts those of the likeness; empty without one.
	Target       Target
	Measurements int
}

// Likeness is how near the closest measurements behind an interval are.
type Likeness string

// The likenesses, nearest first.
const (
	LikeChip   Likeness = "chip"
	LikeFamily Likeness = "family"
	LikeKind   Likeness = "kind"
	LikeNone   Likeness = "none"
)

// Shares is where the time goes; the shares sum to 1.
type Shares struct {
	Compute, Memory, Link, Network, Bubble, Input, Overhead float64
}

// Estimate is what a job does on a group with one layout.
type Estimate struct {
	Layout Layout
	Memory Memory
	Speed  Speed
	// Work is the whole job in the unit of Speed without its "/s"; for a service the work of its whole duration.
	Work float64
	// Hours is how long the job runs without interruption; for a service its duration.
	Hours, LowHours, HighHours unit.Hours
	Bottleneck                 Shares
	// MFU is the model FLOPs achieved over the dense peak; 0 where it has no meaning.
	MFU float64
	// Precision the arithmetic runs at.
	Precision accelerator.Precision
	// Load is the mean share of the chip's power range in use, for energy.
	Load float64
	// Checkpoint is what one checkpoint writes in all; 0 where the work keeps no state.
	Checkpoint unit.Bytes
	// Serving figures; zero for other work.
	Serving Serving
	Notes   []Note
}

// Serving is what a service's requests see at the planned load.
type Serving struct {
	TTFT, TPOT, E2E unit.Hours // of a service the 99th percentile at the peak, of a batch the mean
	// Lows and Highs are the ends of their intervals, in the same order; zeros where none is known.
	Lows, Highs              [3]unit.Hours
	Concurrency              int     // requests in flight a replica
	RequestsPerSecond        float64 // the fleet's capacity within the SLO
	ReplicasNeeded, Replicas int
	AcceleratorsPerReplica   int
	// ByHour is the replicas needed in each hour of a daily profile, so that ways of paying can be mixed; zeros where the
	// traffic is flat or follows a trace.
	ByHour [24]int
}

// Note is something about an estimate the reader should know: a code in front's catalogue with its figures.
type Note struct {
	Code string
	Args map[string]any
}

// Reason is why a group cannot do a job.
type Reason string

// The reasons an estimate refuses.
const (
	NoMemory      Reason = "memory"
	NoMemoryFact  Reason = "memory-unknown"
	NoPrecision   Reason = "precision"       // the chip has no such arithmetic
	NoRate        Reason = "rate-unknown"    // its rate at this precision or its bandwidth is not known
	NoLayout      Reason = "layout"          // no layout divides the model and batch over the group
	NoNetworkFact Reason = "network-unknown" // work that crosses machines over a network of unknown speed
	NoLatency     Reason = "latency"         // the SLO cannot be held at any load
	NoTraining    Reason = "inference-only"  // the chip is made and supported for inference alone
	NoRayTracing  Reason = "ray-tracing"
	NoReference   Reason = "no-reference"  // nothing published or measured to scale from
	NotDivisible  Reason = "not-divisible" // the work cannot be spread over so many accelerators
)

// Refusal is why a group cannot do a job and by how much it misses.
type Refusal struct {
	Reason Reason
	// Have and Want are in the reason's unit: bytes an accelerator for memory, seconds for latency, else 0.
	Have, Want float64
	// Promise is which latency the reason is about: ttft, tpot or e2e; empty where there is but one, or none.
	Promise string
}

// Short is by how much the group misses, relative to what is wanted; 1 where there is no measure.
func (r *Refusal) Short() float64 {
	if r.Want <= 0 {
		return 1
	}
	d := (r.Want - r.Have) / r.Want
	if d < 0 {
		d = -d
	}
	return d
}
