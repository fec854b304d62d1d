package persample

import (
	"math"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/scale"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// training is data-parallel training: every accelerator holds the network, a recommender's tables apart, which are spread.
type training struct{ job }

func (j *training) Service() bool     { return false }
func (j *training) Independent() bool { return false }

// samples is the work, for text what its tokens make of sequences.
func (j *training) samples() float64 {
	if j.w.Samples > 0 {
		return j.w.Samples
	}
	return j.w.Tokens / float64(max(1, j.w.Sequence))
}

// FLOP is the arithmetic of the whole job: backward is twice forward.
func (j *training) FLOP() unit.FLOP { return unit.FLOP(3 * j.net.FLOP * j.samples()) }

// Best finds the number of the group's machines at which the run is fastest: past a point more of them only talk more, and the
// rest idle.
func (j *training) Best(g estimate.Group) (estimate.Estimate, *estimate.Refusal, int) {
	if g.Chip.InferenceOnly {
		return estimate.Estimate{}, &estimate.Refusal{Reason: estimate.NoTraining}, 1
	}
	p, _, ok := g.Chip.Best(j.format.Compute[:1]...) // training does not fall back to another range or width silently
	if !ok {
		return estimate.Estimate{}, &estimate.Refusal{Reason: estimate.NoPrecision}, 1
	}
	run := Run{Precision: p, Batch: float64(j.w.GlobalBatch)}
	var best estimate.Estimate
	var refusal *estimate.Refusal
	found, looked := false, 0
	for machines := g.Nodes; machines >= 1; machines-- {
		part := g
		part.Nodes = machines
		looked++
		e, bad := j.at(part, g, run)
		switch {
		case bad != nil:
			// Fewer machines hold more of the batch each, so what does not fit now never will.
			if refusal == nil {
				refusal = bad
			}
			if bad.Reason == estimate.NoMemory {
				machines = 1
			}
		case !found || e.Speed.Value > best.Speed.Value:
			best, found = e, true
		}
	}
	if found {
		return best, nil, looked
	}
	return estimate.Estimate{}, refusal, looked
}

// at is the estimate with some of a group's machines at work.
func (j *training) at(g, whole estimate.Group, run Run) (estimate.Estimate, *estimate.Refusal) {
	s, refusal := j.net.StepOn(j.c, g, run)
	if refusal != nil {
		return estimate.Estimate{}, refusal
	}
	local, steps := j.cut(g, run, s.Local)
	if local == 0 {
		m, refusal := j.memory(g, run.Precision, 1)
		return estimate.Estimate{Memory: m}, refusal
	}
	memory, _ := j.memory(g, run.Precision, local)
	e := estimate.Estimate{
		Layout:    estimate.Layout{TP: 1, PP: 1, DP: g.Accelerators(), MicroBatch: int(math.Ceil(local)), Batch: int(run.Batch)},
		Memory:    memory,
		Precision: run.Precision, Bottleneck: s.Fractions(),
		Speed:      j.speed(s.PerSecond, s.Correction, s.From),
		MFU:        s.PerSecond / float64(whole.Accelerators()) * 3 * j.net.FLOP / s.Peak,
		Checkpoint: unit.Bytes(float64(j.net.Params.Total) * (2 + j.w.Optimizer.Bytes())),
	}
	if steps > 1 {
		// Micro-batches repeat the launches, but neither the collectives nor the optimizer.
		e.Speed = j.speed(s.PerSecond*s.Seconds/(s.Seconds+(steps-1)*s.Overhead), s.Correction, s.From)
	}
	e.Load = e.Bottleneck.Power() * float64(g.Accelerators()) / float64(whole.Accelerators())
	scale.Finish(&e, estimate.Interval{Low: s.Low, High: s.High}, j.samples(), 1)
	return e, nil
}

// cut is the samples of a micro-batch, halved until it fits, and how many a step takes; 0 where not even one sample fits.
func (j *training) cut(g estimate.Group, run Run, local float64) (micro, steps float64) {
	steps = 1
	for {
		if _, bad := j.memory(g, run.Precision, local); bad == nil {
			return local, steps
		}
		if local <= 1 {
			return 0, 0
		}
		local, steps = math.Max(1, local/2), steps*2
	}
}

// memory is one accelerator's with so many samples under way: weights and gradients at 16 bit, the optimizer's states, and the
// activations kept for the backward pass. Embedding tables are held at 32 bit once over all accelerators, and updated in place.
func (j *training) memory(g estimate.Group, p accelerator.Precision, local float64) (estimate.Memory, *estimate.Refusal) {
	dense := j.net.dense()
	tables := 0.0
	if j.net.Class == model.Recommender {
		tables = 4 * (float64(j.net.Params.Total) - dense) / float64(g.Accelerators())
	}
	activations := local * j.traffic(accelerator.BF16) * j.live
	runtime := scale.Runtime(j.c)
	if g.Accelerators() > 1 {
		runtime.Bytes += unit.Bytes(j.c.Memory.CommGiB * float64(unit.GiB))
	}
	return scale.Fit(g, j.c,
		j.part("weights", 2*dense+tables), j.part("gradients", 2*dense), j.part("optimizer", j.w.Optimizer.Bytes()*dense),
		j.part("activations", activations), scale.Slack(j.c, unit.Bytes(activations)), runtime)
}
