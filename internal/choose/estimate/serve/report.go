package serve

import (
	"math"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/workload"
)

// report turns a load into an estimate of one replica, which is at work so much of its time.
func (j *job) report(r *replica, l load, busy float64) estimate.Estimate {
	x := r.Spread.whole()
	each := x.Accelerators()
	e := estimate.Estimate{
		Layout:    estimate.Layout{TP: x.TP, PP: x.PP, DP: x.DP, Batch: int(l.n)},
		Precision: r.step.Precision,
		Memory:    r.parts(math.Ceil(math.Floor(l.n) / float64(x.DP))),
		Serving: estimate.Serving{
			TTFT: unit.FromSeconds(l.ttft), TPOT: unit.FromSeconds(l.tpot), E2E: unit.FromSeconds(l.e2e),
			Concurrency: int(l.n), AcceleratorsPerReplica: each,
		},
	}
	e.Serving.Lows, e.Serving.Highs = r.between(l, r.ttft.Low, r.tpot.Low), r.between(l, r.ttft.High, r.tpot.High)
	if x.EP > 1 {
		e.Layout.EP = x.EP
	}
	t := l.cycle
	e.Bottleneck = estimate.Shares{Compute: t.compute, Memory: t.memory, Link: t.link, Network: t.network, Overhead: t.launch}.Fractions()
	e.Load = e.Bottleneck.Power() * min(1, busy)
	e.MFU = j.request() * l.rate / (r.peak * float64(each))
	return e
}

// between is one end of the intervals of first token, each further token and whole answer.
func (r *replica) between(l load, first, further float64) [3]unit.Hours {
	ttft, tpot := l.ttft*first, l.tpot*further
	return [3]unit.Hours{unit.FromSeconds(ttft), unit.FromSeconds(tpot), unit.FromSeconds(ttft + (l.e2e-l.ttft)*further)}
}

// speed is a rate with its interval: the inverse of a latency's for a service, whose rate follows from that.
func (j *job) speed(r *replica, v float64, of string) estimate.Speed {
	k := r.offline
	if j.service {
		k = r.tpot
		k.Low, k.High = 1/k.High, 1/k.Low
	}
	return k.Speed(v, of, j.c.Serve.Source)
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

// MeanLoad is the mean of a traffic's trace or daily profile over its peak; 1 when it is flat.
func MeanLoad(t *workload.Traffic) float64 {
	if t.Trace != nil {
		return min(1, t.Trace.Mean()/t.Trace.Peak())
	}
	if len(t.Profile) == 0 {
		return 1
	}
	sum := 0.0
	for _, v := range t.Profile {
		sum += v
	}
	return sum / float64(len(t.Profile))
}
