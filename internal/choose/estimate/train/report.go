package train

import (
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
)

// report turns the chosen layout into an estimate.
func (j *job) report(mc *machine, ch *choice) estimate.Estimate {
	sh := &j.shape
	tokens := float64(sh.batch) * float64(sh.seq)
	k := j.c.Correct(estimate.Training, j.tags(mc.g))
	rate := tokens / ch.step.total() * k.Factor
	e := estimate.Estimate{
		Layout:    estimate.Layout{TP: ch.k.t, PP: ch.k.p, DP: ch.k.d, CP: ch.k.c, EP: ch.k.e, MicroBatch: ch.o.b, Virtual: ch.o.virtual, ZeRO: ch.o.zero, Recompute: ch.o.recompute},
		Memory:    ch.parts.times(mc.memory).collect(mc.Usable),
		Speed:     k.Speed(rate, "tokens/s", j.c.Train.Source),
		Work:      j.w.Tokens,
		Precision: mc.Precision,
	}
	seconds := j.w.Tokens / rate
	e.Hours, e.LowHours, e.HighHours = unit.FromSeconds(seconds), unit.FromSeconds(seconds/k.High), unit.FromSeconds(seconds/k.Low)
	st := ch.step
	e.Bottleneck = estimate.Shares{Compute: st.compute, Memory: st.memory, Link: st.link, Network: st.network, Bubble: st.bubble, Overhead: st.overhead}.Fractions()
	e.MFU = j.modelFLOP() * rate / (mc.Peak * float64(mc.g.Accelerators()))
	e.Load = e.Bottleneck.Power()
	e.Checkpoint = j.checkpoint()
	return e
}

// modelFLOP is the arithmetic of a trained token without recomputation: three forward passes, two where the
// weights are frozen (PaLM's definition of MFU, appendix B, with causal attention).
func (j *job) modelFLOP() float64 {
	mm, core := j.passes("none", true)
	s := &j.shape
	return float64(s.layers)*(mm*s.matmul+core*s.core) + j.headPasses()*s.headFLOP
}

// checkpoint is what a restart needs: trainable weights and optimizer states.
func (j *job) checkpoint() unit.Bytes {
	n := float64(j.m.Params.Total)
	if !j.states.full {
		n = j.shape.adapters
	}
	return unit.Bytes(n * (j.states.wide + j.states.opt))
}

// FLOP is the arithmetic of the whole job.
func (j *job) FLOP() unit.FLOP { return unit.FLOP(j.modelFLOP() * j.w.Tokens) }
