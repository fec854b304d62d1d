package serve

import (
	"math"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/workload"
)

// report turns a load into an estimate of one replica, which is planned to the target share of it.
func (j *job) report(r *replica, l load, target float64) estimate.Estimate {
	x := r.Spread.whole()
	each := x.Accelerators()
	ttft, tpot, e2e := j.tails(l)
	e := estimate.Estimate{
		Layout:    estimate.Layout{TP: x.TP, PP: x.PP, DP: x.DP, Batch: int(l.n)},
		Precision: r.step.Precision,
		Memory:    r.parts(math.Ceil(math.Floor(l.n) / float64(x.DP))),
		Serving: estimate.Serving{
			TTFT: unit.FromSeconds(ttft), TPOT: unit.FromSeconds(tpot), E2E: unit.FromSeconds(e2e),
			Concurrency: int(l.n), AcceleratorsPerReplica: each,
		},
	}
	if x.EP > 1 {
		e.Layout.EP = x.EP
	}
	t := l.cycle
	e.Bottleneck = estimate.Shares{Compute: t.compute, Memory: t.memory, Link: t.link, Network: t.network, Overhead: t.launch}.Fractions()
	e.Load = e.Bottleneck.Power() * target
	e.MFU = j.request() * l.rate / (r.peak * float64(each))
	return e
}

// speed is a rate with its interval: the inverse of a latency's for a service, whose rate follows from that.
func (j *job) speed(r *replica, v float64, of string) estimate.Speed {
	low, high, like := r.offline.Low, r.offline.High, r.offline.Like
	if j.service {
		low, high, like = 1/r.tpot.High, 1/r.tpot.Low, r.tpot.Like
	}
	return estimate.Speed{Value: v, Low: v * low, High: v * high, Unit: of, Basis: estimate.Predicted, Source: j.c.Serve.Source, Like: like}
}

// maxReplicas is the most replicas a fleet is sized to: past a million the traffic is a slip of the pen, and counts of
// machines stay far from overflow.
const maxReplicas = 1 << 20

// fleet sizes the fleet for the traffic's peak. Capacity and speed are those of the replicas needed; the planner fills
// the machines they stand in. A pinned number of replicas is kept or refused.
func (j *job) fleet(r *replica, l load, g estimate.Group) (estimate.Estimate, *estimate.Refusal) {
	t, target := j.w.Traffic, j.c.Serve.TargetLoad
	e := j.report(r, l, target)
	perReplica := l.rate * target
	want := math.Max(1, math.Ceil(t.RequestsPerSecond/perReplica-1e-9))
	most := float64(maxReplicas)
	if pin := j.w.Layout.DP; pin != 0 {
		most = float64(pin)
	}
	if want > most {
		return estimate.Estimate{}, &estimate.Refusal{Reason: estimate.NotDivisible, Have: most, Want: want}
	}
	need := int(want)
	each := e.Serving.AcceleratorsPerReplica
	if pin := j.w.Layout.DP; pin != 0 {
		need = pin
	}
	e.Serving.ReplicasNeeded, e.Serving.Replicas = need, need
	if each < g.PerNode && j.w.Layout.DP == 0 {
		e.Serving.Replicas = Machines(e.Serving, g.PerNode) * (g.PerNode / each)
	}
	e.Layout.Replicas = e.Serving.Replicas
	e.Serving.RequestsPerSecond = perReplica * float64(e.Serving.Replicas)
	e.Speed = j.speed(r, e.Serving.RequestsPerSecond*j.out, "tokens/s")
	e.Hours, e.LowHours, e.HighHours = j.w.Duration, j.w.Duration, j.w.Duration
	e.Work = MeanLoad(t) * t.RequestsPerSecond * j.out * j.w.Duration.Seconds()
	return e, nil
}

// batch spreads the requests over the replicas the group has room for; each runs its share of them and never more than limit
// at once.
func (j *job) batch(g estimate.Group, r *replica, limit float64) (estimate.Estimate, *estimate.Refusal) {
	replicas := room(g, r)
	if pin := j.w.Layout.DP; pin != 0 {
		if pin > replicas {
			return estimate.Estimate{}, &estimate.Refusal{Reason: estimate.NoLayout}
		}
		replicas = pin
	}
	requests := j.w.Batch.Requests
	// Fewer requests than replicas leave replicas idle.
	working := math.Min(float64(replicas), math.Max(1, math.Ceil(requests)))
	most := math.Ceil(math.Max(1, requests/working)) // of the busiest
	l := j.at(r, math.Min(limit, most))
	e := j.report(r, l, 1)
	e.Serving.Replicas, e.Layout.Replicas = replicas, replicas
	v := l.rate * working
	e.Serving.RequestsPerSecond = v
	e.Speed = j.speed(r, v, "requests/s")
	e.Work = requests
	// The busiest replica ends last, and no sooner than one request alone.
	seconds := max(most/l.rate, j.at(r, 1).e2e)
	e.Hours, e.LowHours, e.HighHours = unit.FromSeconds(seconds), unit.FromSeconds(seconds/r.offline.High), unit.FromSeconds(seconds/r.offline.Low)
	return e, nil
}

// MeanLoad is the mean of a traffic's daily profile over its peak; 1 when it is flat.
func MeanLoad(t *workload.Traffic) float64 {
	if len(t.Profile) == 0 {
		return 1
	}
	sum := 0.0
	for _, v := range t.Profile {
		sum += v
	}
	return sum / float64(len(t.Profile))
}
