// Package simulate estimates time steps of a numerical model on a domain cut over the accelerators of a group.
//
// Two forms: from FLOPs and bytes a step, by a roofline on what each chip reaches of its vector rate and its
// bandwidth; or from a time a step measured on some device, each share of it scaled by its own resource. To either
// the halo exchange of the cut is added; neither form hides it behind compute.
//
// Invariants: the part of the domain with its halo fits the memory; FP64 runs on the FP64 vector units only, since
// few solvers are written for the FP64 matrix units; a rate that is not known is refused; a domain with a halo never
// spans machines over a network of unknown speed; the very device and count that were measured reproduce their step
// time exactly. Pure. Imported by the caller that picks a Job by kind of work, and by choose/accuracy.
package simulate

import (
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/scale"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

// kind is how a fault names this work.
const kind = "simulate"

// Notes on an estimate.
const (
	// noteScaled says that the step time was carried over from another device or count. Args: Device, Count.
	noteScaled = "simulate.scaled"
	// noteNoHalo says that the domain is cut but no halo was stated, so that the exchange costs nothing. No args.
	noteNoHalo = "simulate.no_halo"
	// noteVector says that the FP64 matrix units of the chip were not counted on. No args.
	noteVector = "simulate.fp64_vector"
)

type job struct {
	work   *workload.Simulation
	curves *estimate.Curves
	on     *scale.Reference // nil where FLOPs and bytes are given
	// precision of the arithmetic: FP64 stands for FP64Tensor too.
	precision accelerator.Precision
	measured  cut
	// What the measured device reaches; 0 where unknown.
	onPeak, onBandwidth float64
	reach               reach
	tags                estimate.Tags // without the chip's own
	// notes by noted*: made once, shared by every estimate.
	notes [8][]estimate.Note
}

// What is to be noted, as an index of notes.
const (
	notedScaled = 1 << iota
	notedNoHalo
	notedVector
)

// New prepares a simulation.
func New(w *workload.Workload, c *estimate.Curves) (estimate.Job, error) {
	return newJob(w.Sim, c, all(), estimate.Tags{})
}

// Unseen prepares a simulation as though nothing had been measured on one device. The tags say what the work may share with
// measurements, beside its chip.
func Unseen(s *workload.Simulation, c *estimate.Curves, device string, tags estimate.Tags) (estimate.Job, error) {
	return newJob(s, c, reachWithout(device), tags)
}

func newJob(s *workload.Simulation, c *estimate.Curves, r reach, tags estimate.Tags) (*job, error) {
	counted := s != nil && s.FLOPStep+unit.FLOP(s.ByteStep) > 0
	timed := s != nil && s.SecondsPerStep > 0 && s.On.Device != nil
	if s == nil || s.Steps <= 0 || !counted && !timed {
		return nil, problem.New(problem.Internal, "estimate.not_this_kind", problem.Args{"Kind": kind})
	}
	j := &job{work: s, curves: c, precision: s.Precision, reach: r, tags: tags}
	if j.precision == accelerator.FP64Tensor {
		j.precision = accelerator.FP64
	}
	notes := []estimate.Note{{}, {Code: noteNoHalo}, {Code: noteVector}}
	if s.MeasuredIsBound || !counted {
		j.on = scale.NewReference(s.On, j.precision, c)
		j.measured = divide(j.on.Count)
		one := estimate.Group{Chip: s.On.Device}
		if peak, refusal := scale.Peak(one, j.precision); refusal == nil {
			j.onPeak = peak
		}
		if bw, refusal := scale.Bandwidth(one); refusal == nil {
			j.onBandwidth = bw * r.of(s.On.Device)
		}
		notes[0] = estimate.Note{Code: noteScaled, Args: map[string]any{"Device": s.On.Device.Name, "Count": j.on.Count}}
	}
	for i := range j.notes {
		for bit, n := range notes {
			if i&(1<<bit) != 0 {
				j.notes[i] = append(j.notes[i], n)
			}
		}
	}
	return j, nil
}

// Service says no: the steps are to be finished.
func (j *job) Service() bool { return false }

// Independent says no: every part waits for its neighbours each step.
func (j *job) Independent() bool { return false }

// Best cuts the domain over every accelerator of the group.
func (j *job) Best(g estimate.Group) (estimate.Estimate, *estimate.Refusal, int) {
	c := divide(g.Accelerators())
	memory, refusal := j.memory(g, c)
	if refusal != nil {
		return estimate.Estimate{Memory: memory}, refusal, 1
	}
	halo, refusal := j.halo(g, c)
	if refusal != nil {
		return estimate.Estimate{Memory: memory}, refusal, 1
	}
	e := estimate.Estimate{
		Layout: estimate.Layout{DP: c.parts}, Memory: memory, Precision: j.precision,
		Checkpoint: j.work.Memory, Speed: estimate.Speed{Unit: "steps/s", Basis: estimate.Predicted},
	}
	noted := 0
	if c.parts > 1 && j.work.HaloBytes == 0 {
		noted |= notedNoHalo
	}
	var step stepTime
	same := j.on != nil && j.on.Same(g) && g.Nodes == 1 && c.parts == j.on.Count
	switch {
	case j.on == nil:
		step, refusal = j.roofline(g, c)
		e.Speed.Source = embedded().Bandwidth.Source
		if j.precision == accelerator.FP64 && g.Chip.Peak[accelerator.FP64Tensor].Or(0) > g.Chip.Peak[accelerator.FP64].Or(0) {
			noted |= notedVector // unknown matrix units are none to warn of
		}
	case same:
		b := j.work.Bound
		step.shares = estimate.Shares{Compute: b.Compute, Memory: b.Memory, Link: b.Link, Input: b.Host}
		step.seconds, halo = j.work.SecondsPerStep, estimate.Shares{}
		e.Speed.Source, e.Speed.Basis, e.Speed.Like = j.on.Chip.Name, estimate.Measured, estimate.LikeChip
	default:
		step, refusal = j.carried(g, c)
		e.Speed.Source = j.on.Chip.Name
		noted |= notedScaled
	}
	if refusal != nil {
		return estimate.Estimate{Memory: memory}, refusal, 1
	}
	step.shares.Link += halo.Link
	step.shares.Network += halo.Network
	step.seconds += halo.Link + halo.Network
	e.Bottleneck = step.shares.Fractions()
	interval, factor := scale.Repeat(), 1.0
	if !same {
		interval, factor = j.correct(g, &e)
	}
	e.Speed.Value = factor / step.seconds
	e.Load = e.Bottleneck.Power()
	e.MFU = min(1, step.flops*e.Speed.Value)
	e.Notes = j.notes[noted]
	scale.Finish(&e, interval, j.work.Steps, 1)
	return e, nil, 1
}

// correct is what measurements make of a prediction. A chip whose own bandwidth nobody measured is no nearer to them than its
// architecture, and several machines, which no measurement was of, no nearer than their vendor.
func (j *job) correct(g estimate.Group, e *estimate.Estimate) (estimate.Interval, float64) {
	t := j.tags
	t.Vendor = g.Chip.Vendor
	if g.Nodes <= 1 {
		t.Arch = g.Chip.Arch
		if _, measured := j.reach.own[g.Chip.Name]; measured {
			t.Chip = g.Chip.Name
		}
	}
	k := j.curves.Correct(estimate.Simulation, t)
	e.Speed.Like, e.Speed.Target, e.Speed.Measurements = k.Like, k.Target, k.N
	return estimate.Interval{Low: k.Low, High: k.High}, k.Factor
}

// memory is the busiest part's: its piece of the domain, what it receives and sends, and the process.
func (j *job) memory(g estimate.Group, c cut) (estimate.Memory, *estimate.Refusal) {
	return scale.Fit(g, j.curves,
		estimate.Part{Name: "domain", Bytes: ceilDiv(j.work.Memory, c.parts)},
		estimate.Part{Name: "halo", Bytes: unit.Bytes(float64(j.work.HaloBytes) * c.area)},
		scale.Runtime(j.curves))
}

func ceilDiv(b unit.Bytes, n int) unit.Bytes { return (b + unit.Bytes(n) - 1) / unit.Bytes(n) }

// halo is the seconds of the exchange: inside each machine over its link, and between machines the surface of
// each machine's piece over its network, one after the other. HaloBytes is both ways, and links carry both at once,
// so that a part sends half of it across a whole cut.
func (j *job) halo(g estimate.Group, c cut) (estimate.Shares, *estimate.Refusal) {
	var t estimate.Shares
	if c.parts == 1 || j.work.HaloBytes == 0 {
		return t, nil
	}
	send := float64(j.work.HaloBytes) / 2
	if g.PerNode > 1 {
		link, ok := j.curves.Inside(g, g.PerNode)
		if !ok {
			return t, &estimate.Refusal{Reason: estimate.NoRate}
		}
		t.Link = send*c.area/link.BytesPerSec + float64(c.faces)*link.HopSeconds
	}
	if g.Nodes > 1 {
		net, ok := j.curves.Between(g)
		if !ok {
			return t, &estimate.Refusal{Reason: estimate.NoNetworkFact}
		}
		machines := divide(g.Nodes)
		t.Network = send*machines.area/net.BytesPerSec + float64(machines.faces)*net.HopSeconds
	}
	return t, nil
}
