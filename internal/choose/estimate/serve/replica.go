package serve

import (
	"slices"

	"github.com/rackrate/rackrate/internal/choose/estimate"
)

// replica is one engine on accelerators of a group.
type replica struct {
	Setup
	holding
	step *Step
	span int     // machines
	peak float64 // FLOPS of one accelerator, dense
	// What measurements make of the predictions.
	tpot, ttft, offline estimate.Correction
}

// Best sizes the replica that serves the most per accelerator (for a service: needs the fewest machines, as simulated). A
// replica stays inside a machine or spans several of the group's as a pipeline.
func (j *job) Best(g estimate.Group) (best estimate.Estimate, refusal *estimate.Refusal, looked int) {
	found, refusal, looked := j.candidates(g)
	switch {
	case len(found) == 0:
		return estimate.Estimate{}, refusal, looked
	case j.service:
		best, refusal = j.settle(g, found)
		return best, refusal, looked
	}
	return found[0].bound, nil, looked
}

// Rough is the best by the closed form alone, whose latencies are means: for questions of memory, which latency hardly touches.
func (j *job) Rough(g estimate.Group) (estimate.Estimate, *estimate.Refusal) {
	found, refusal, _ := j.candidates(g)
	if len(found) == 0 {
		return estimate.Estimate{}, refusal
	}
	return found[0].bound, nil
}

// candidates lists the replicas that the group has room for, the best by the closed form first, or says why there are none.
func (j *job) candidates(g estimate.Group) (found []candidate, refusal *estimate.Refusal, looked int) {
	base, refusal := j.base(g)
	if refusal != nil {
		return nil, refusal, 0
	}
	refusal = &estimate.Refusal{Reason: estimate.NoLayout}
	for span := 1; span <= min(g.Nodes, maxSpan); span++ {
		more, bad, n := j.widest(base, span)
		found = append(found, more...)
		looked += n
		// What keeps a replica inside one machine says more than what keeps it from spanning several.
		if bad != nil && (refusal.Reason == estimate.NoLayout || bad.Reason == estimate.NoMemory && refusal.Reason == estimate.NoMemory) {
			refusal = bad
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int {
		switch {
		case j.better(a.bound, b.bound, g):
			return -1
		case j.better(b.bound, a.bound, g):
			return 1
		}
		return 0
	})
	return found, refusal, looked
}

// maxSpan is the most machines one replica spans: more are slower than any service wants.
const maxSpan = 8

// base is what every replica on a group has in common.
type base struct {
	replica
	group   estimate.Group
	kernels *estimate.Kernels
}

func (j *job) base(g estimate.Group) (*base, *estimate.Refusal) {
	p, peak, ok := g.Chip.Best(j.setup.Format.Compute...)
	if !ok {
		return nil, &estimate.Refusal{Reason: estimate.NoPrecision}
	}
	reach, bad := j.c.Reach(g, p, peak)
	if bad != nil {
		return nil, bad
	}
	b := &base{group: g, replica: replica{Setup: j.setup, peak: reach.Peak}}
	if b.kernels, bad = estimate.EmbeddedKernels().For(j.c, g); bad != nil {
		return nil, bad
	}
	if b.Engine == "" && g.Chip.Vendor == "AWS" {
		b.Engine = "neuron" // the only family that runs there
	}
	b.tpot = j.c.Correct(estimate.TPOT, b.Tags(j.c, g, Mode(j.in, j.out)))
	b.ttft = j.c.Correct(estimate.TTFT, b.Tags(j.c, g, Mode(j.in, j.out)))
	b.offline = j.c.Correct(estimate.Offline, b.Tags(j.c, g, Saturated))
	return b, nil
}

// The modes of tags: how measurements of serving split. Where prompts or answers are four times the other or more, engines spend
// their time on those.
const (
	Aggregated    = "aggregated" // prompts and answers on the same accelerators
	LongPrompts   = "long-prompts"
	LongAnswers   = "long-answers"
	Disaggregated = "disaggregated" // prompts on others
	Saturated     = "saturated"     // offline, as many at once as the engine takes
)

// Mode is the mode of serving prompts and answers of such lengths on the same accelerators.
func Mode(in, out float64) string {
	switch {
	case in >= 4*out:
		return LongPrompts
	case out >= 4*in:
		return LongAnswers
	}
	return Aggregated
}

// stages is how many pipeline stages a replica of so many accelerators a stage has over so many machines; 0 where they cannot
// be laid. Unasked a replica is a pipeline of machines; a pin may cut one machine, too.
func (j *job) stages(g estimate.Group, stage, span int) int {
	p := span
	if pin := j.w.Layout.PP; pin != 0 {
		p = pin
	}
	whole := stage*p == span*g.PerNode
	inside := span == 1 && stage*p <= g.PerNode && g.PerNode%(stage*p) == 0
	if p > j.m.Layers || !whole && !inside {
		return 0
	}
	return p
}

// spreads lists the ways to lay a stage of the job over a machine: tensor parallel of every width, and for experts those of
// attention data parallelism over the rest of the machine and of whole experts on ranks.
func (j *job) spreads(g estimate.Group, span int) []Spread {
	pin := j.w.Layout
	var out []Spread
	for t := 1; t <= g.PerNode; t++ {
		if g.PerNode%t != 0 || pin.TP != 0 && pin.TP != t {
			continue
		}
		for _, d := range j.apart(g.PerNode / t) {
			for _, ep := range [...]int{1, t * d} {
				s := Spread{TP: t, DP: d, EP: ep, PP: j.stages(g, t*d, span)}
				again := ep == 1 && t*d == 1 && len(out) > 0 && out[len(out)-1] == s
				if s.PP == 0 || again || pin.EP > 1 && pin.EP != ep || !s.Valid(j.m) {
					continue
				}
				out = append(out, s)
				if t*d == 1 {
					break
				}
			}
		}
	}
	return out
}

// apart is the widths of attention data parallelism worth a look: none, and as wide as the machine allows where each rank
// would else keep a copy of what others keep, as with latent attention.
func (j *job) apart(most int) []int {
	if most == 1 || j.m.MoE == nil || Structure(j.m) != "mla-moe" {
		return []int{1}
	}
	return []int{1, most}
}

// widest tries each spread of a replica over so many machines. The refusal is of spreads that none is left of.
func (j *job) widest(b *base, span int) (found []candidate, refusal *estimate.Refusal, looked int) {
	for _, s := range j.spreads(b.group, span) {
		looked++
		r := b.replica
		r.Spread, r.span = s, span
		c, bad := j.size(b, &r)
		switch {
		case bad == nil:
			found = append(found, c)
		case refusal == nil || bad.Reason == estimate.NoLatency || bad.Reason == refusal.Reason && bad.Short() < refusal.Short():
			refusal = bad
		}
	}
	switch {
	case len(found) > 0:
		return found, nil, looked
	case refusal == nil:
		refusal = &estimate.Refusal{Reason: estimate.NoLayout}
	}
	return nil, refusal, looked
}

// better prefers fewer machines for a service and a shorter run for a batch, then more capacity an accelerator.
func (j *job) better(a, b estimate.Estimate, g estimate.Group) bool {
	if j.service {
		if x, y := Machines(a.Serving, g.PerNode), Machines(b.Serving, g.PerNode); x != y {
			return x < y
		}
	} else if a.Hours != b.Hours {
		return a.Hours < b.Hours
	}
	return a.Speed.Value > b.Speed.Value
}

// Machines is how many machines of so many accelerators the needed replicas take: whole machines a replica that fills
// one or more, and else as many replicas a machine as it has room for.
func Machines(s estimate.Serving, perNode int) int {
	if s.AcceleratorsPerReplica >= perNode {
		return s.ReplicasNeeded * ((s.AcceleratorsPerReplica + perNode - 1) / perNode)
	}
	each := perNode / s.AcceleratorsPerReplica
	return (s.ReplicasNeeded + each - 1) / each
}

// MachinesByHour is how many machines take the replicas that each hour of the day needs; false where the traffic has no profile.
func MachinesByHour(s estimate.Serving, perNode int) (by [24]int, ok bool) {
	for h, replicas := range s.ByHour {
		by[h] = Machines(estimate.Serving{ReplicasNeeded: replicas, AcceleratorsPerReplica: s.AcceleratorsPerReplica}, perNode)
	}
	return by, s.ByHour != [24]int{}
}

// room is how many replicas the whole group has room for.
func room(g estimate.Group, r *replica) int {
	if each := r.Spread.Accelerators(); each < g.PerNode {
		return g.Nodes * (g.PerNode / each)
	}
	return g.Nodes / max(1, r.span)
}

// fit works out the memory of a replica and prepares its steps; the refusal says what a rank lacks to hold one sequence.
func (j *job) fit(b *base, r *replica) (bad *estimate.Refusal) {
	if r.holding, bad = r.Setup.holding(j.c, b.group, j.in, j.out); bad != nil {
		return bad
	}
	if bad = r.short(); bad != nil {
		return bad
	}
	r.step, bad = newStep(j.c, b.kernels, &r.Setup, b.group)
	return bad
}
