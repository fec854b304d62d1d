package persample

import (
	"math"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/serve"
)

// mostAccelerators is the most a fleet is sized to: past a million the traffic is a slip of the pen.
const mostAccelerators = 1 << 20

// fleet finds the fewest accelerators that keep up with the traffic's peak. Each is a replica; all draw from one queue, so that
// more of them waste less on waiting. Without a latency promised they are planned to the share of their rate at which queues
// stay short.
func (j *inference) fleet(g estimate.Group, s Setting) (estimate.Estimate, *estimate.Refusal, int) {
	peak, target := j.w.Traffic.RequestsPerSecond, 1.0
	if s.Bound == 0 {
		target = j.c.Serve.TargetLoad
	}
	memory, refusal := j.memory(g, s.Precision, 1)
	if refusal != nil {
		return estimate.Estimate{Memory: memory}, refusal, 1
	}
	looked := 0
	of := func(n int) (Rate, *estimate.Refusal) {
		looked++
		fleet := g
		fleet.PerNode, fleet.Nodes = n, 1
		r, refusal := j.net.Rate(j.c, fleet, s)
		r.PerSecond *= target
		return r, refusal
	}
	one, refusal := of(1)
	if refusal != nil {
		return estimate.Estimate{}, refusal, looked
	}
	// One accelerator alone does the least per accelerator, so no more are needed than at its rate; halving finds the fewest.
	fewest := func(rate float64) int {
		low, need := 1, int(math.Max(1, math.Ceil(rate/one.PerSecond-1e-9)))
		for low < need {
			mid := (low + need) / 2
			if r, _ := of(mid); r.PerSecond >= rate*(1-1e-9) {
				need = mid
			} else {
				low = mid + 1
			}
		}
		return need
	}
	if most := peak / one.PerSecond; most > mostAccelerators {
		return estimate.Estimate{}, &estimate.Refusal{Reason: estimate.NotDivisible, Have: mostAccelerators, Want: math.Ceil(most)}, looked
	}
	need := fewest(peak)
	machines := (need + g.PerNode - 1) / g.PerNode
	r, _ := of(machines * g.PerNode)
	e := j.service(g, s, r, need, machines)
	for hour, share := range j.w.Traffic.Profile {
		e.Serving.ByHour[hour] = fewest(peak * share)
	}
	return e, nil, looked
}

// service is the estimate of so many machines, of whose accelerators the peak needs some.
func (j *inference) service(g estimate.Group, s Setting, r Rate, need, machines int) estimate.Estimate {
	g.Nodes = machines
	batch := r.Batch
	memory, refusal := j.memory(g, s.Precision, batch)
	for refusal != nil && batch > 1 {
		batch = math.Floor(batch / 2)
		memory, refusal = j.memory(g, s.Precision, batch)
	}
	e := j.report(g, r, s, batch, r.PerSecond)
	e.Memory = memory
	e.Layout.Replicas = g.Accelerators()
	e.Serving = estimate.Serving{
		E2E: unit.FromSeconds(r.Latency), Concurrency: int(math.Ceil(2 * batch)), RequestsPerSecond: r.PerSecond,
		ReplicasNeeded: need, Replicas: g.Accelerators(), AcceleratorsPerReplica: 1,
	}
	t := j.w.Traffic
	e.Load *= math.Min(1, t.RequestsPerSecond/r.PerSecond)
	e.Hours, e.LowHours, e.HighHours = j.w.Duration, j.w.Duration, j.w.Duration
	e.Work = t.RequestsPerSecond * serve.MeanLoad(t) * j.w.Duration.Seconds()
	return e
}
