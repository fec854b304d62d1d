package serve

import (
	"math"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/serve/sim"
)

// candidate is a replica that could serve, with what it does by the closed form.
type candidate struct {
	replica
	saturated float64           // requests a second where latency does not matter
	bound     estimate.Estimate // the fleet as the closed form has it, by which candidates are put in order
}

// screen finds the rate up to which latencies hold by the closed form, or refuses a replica on which those of a client alone
// do not, or whose caches cannot hold the longest request of a trace.
func (j *job) screen(g estimate.Group, r *replica) (c candidate, bad *estimate.Refusal) {
	if t := j.w.Traffic.Trace; t != nil {
		longest := r.holding
		longest.sequence *= float64(t.Longest()) / float64(j.full())
		if bad := longest.short(); bad != nil {
			return c, bad
		}
	}
	limit := r.most()
	if over, broken := j.worst(j.at(r, 1)); over > 1 {
		return c, &broken
	}
	full := j.at(r, limit)
	// Latency rises with n, the mean number in flight, so the most that holds is found by halving.
	lo, hi := 1.0, limit
	if j.holds(r.late(full)) {
		lo = limit
	}
	for hi-lo > 1e-3*lo {
		mid := (lo + hi) / 2
		if j.holds(r.late(j.at(r, mid))) {
			lo = mid
		} else {
			hi = mid
		}
	}
	l := j.at(r, lo)
	c = candidate{replica: *r, saturated: full.rate}
	c.bound, bad = j.fleet(r, promise{rate: min(l.rate, full.rate*j.c.Serve.TargetLoad), saturated: full.rate, load: l}, g)
	return c, bad
}

// settle simulates candidates, which come the best by the closed form first, where one could take fewer machines than the best so
// far. The closed form itself rules none out: it knows tails too poorly, above all of long prompts in pipelines.
func (j *job) settle(g estimate.Group, found []candidate) (best estimate.Estimate, refusal *estimate.Refusal) {
	j.fleets.Lock()
	defer j.fleets.Unlock()
	held := false
	for i := range found {
		c := &found[i]
		if held && !j.saves(c, Machines(best.Serving, g.PerNode), g) {
			continue
		}
		e, bad := j.planned(c, g)
		if bad == nil && (!held || j.better(e, best, g)) {
			o := j.promise(c)
			if j.confirm(c, o); o.confirmed {
				e, bad = j.planned(c, g)
			}
			if bad == nil && (!held || j.better(e, best, g)) {
				best, held = e, true
			}
		}
		if bad != nil && (refusal == nil || bad.Short() < refusal.Short()) {
			refusal = bad
		}
	}
	if held {
		return best, nil
	}
	return best, refusal
}

// planned is the fleet of a candidate by what is known of its promise.
func (j *job) planned(c *candidate, g estimate.Group) (estimate.Estimate, *estimate.Refusal) {
	o := j.promise(c)
	if o.bad != nil {
		return estimate.Estimate{}, o.bad
	}
	return j.fleet(&c.replica, o.promise, g)
}

// saves tells whether a candidate could do with fewer machines than so many, by a short simulation at the rate that each of its
// replicas would then get.
func (j *job) saves(c *candidate, machines int, g estimate.Group) bool {
	replicas := 0 // that fewer machines have room for
	if each := c.Spread.Accelerators(); each < g.PerNode {
		replicas = (machines - 1) * (g.PerNode / each)
	} else {
		replicas = (machines - 1) / max(1, c.span)
	}
	if pin := j.w.Layout.DP; pin != 0 {
		replicas = pin
	}
	return replicas > 0 && j.manages(c, j.w.Traffic.RequestsPerSecond/float64(replicas))
}

// Notes on an estimate.
const (
	noteSequences = "serve.sequences" // Count: the engine is set to work on fewer at once than it has room for
	noteAlike     = "serve.alike"     // requests that all have the stated lengths were simulated
	noteTrace     = "serve.trace"     // and here those of the trace
)

// maxReplicas is the most replicas a fleet is sized to: past a million the traffic is a slip of the pen, and counts of
// machines stay far from overflow.
const maxReplicas = 1 << 20

// fleet sizes the fleet for the traffic's peak. Capacity and speed are those of the replicas needed; the planner fills
// the machines they stand in. A pinned number of replicas is kept or refused.
func (j *job) fleet(r *replica, p promise, g estimate.Group) (estimate.Estimate, *estimate.Refusal) {
	t, pin := j.w.Traffic, j.w.Layout.DP
	want := math.Max(1, math.Ceil(t.RequestsPerSecond/p.rate-1e-9))
	most := float64(maxReplicas)
	if pin != 0 {
		most = float64(pin)
	}
	if want > most {
		return estimate.Estimate{}, &estimate.Refusal{Reason: estimate.NotDivisible, Have: most, Want: want}
	}
	need := int(want)
	if pin != 0 {
		need = pin
	}
	l := p.load
	if p.curve != nil {
		l = j.shared(r, p, t.RequestsPerSecond/float64(need))
	}
	e := j.report(r, l, l.rate/p.saturated)
	each := e.Serving.AcceleratorsPerReplica
	e.Serving.ReplicasNeeded, e.Serving.Replicas = need, need
	if each < g.PerNode && pin == 0 {
		e.Serving.Replicas = Machines(e.Serving, g.PerNode) * (g.PerNode / each)
	}
	e.Layout.Replicas = e.Serving.Replicas
	for h, share := range t.Profile {
		e.Serving.ByHour[h] = max(1, int(math.Ceil(t.RequestsPerSecond*share/p.rate-1e-9)))
	}
	e.Notes = j.notes(p)
	e.Serving.RequestsPerSecond = p.rate * float64(e.Serving.Replicas)
	e.Speed = j.speed(r, e.Serving.RequestsPerSecond*j.out, "tokens/s")
	e.Hours, e.LowHours, e.HighHours = j.w.Duration, j.w.Duration, j.w.Duration
	e.Work = MeanLoad(t) * t.RequestsPerSecond * j.out * j.w.Duration.Seconds()
	return e, nil
}

// notes says what the engines of a fleet are to be set to, and what requests its promises were simulated with.
func (j *job) notes(p promise) (notes []estimate.Note) {
	if p.sequences > 0 {
		notes = append(notes, estimate.Note{Code: noteSequences, Args: map[string]any{"Count": p.sequences}})
	}
	if j.w.Traffic.Trace != nil {
		return append(notes, estimate.Note{Code: noteTrace})
	}
	return append(notes, estimate.Note{Code: noteAlike})
}

// shared is a replica at the rate that it gets of the peak: the 99th percentiles of its curve, and the steps of the number
// of sequences that it then has in their answers.
func (j *job) shared(r *replica, p promise, rate float64) load {
	t := p.curve.At(rate)
	l := promised(t)
	l.rate, l.n = rate, max(1, min(r.most(), math.Ceil(t.Most)))
	l.cycle = j.at(r, max(1, min(r.most(), t.Mean))).cycle
	return l
}

// promised is the latencies of a tail as a load.
func promised(t sim.Tail) load { return load{ttft: t.TTFT, tpot: t.TPOT, e2e: t.E2E} }
