package plan

import (
	"math"
	"slices"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/serve"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// shape is what an estimate depends on of a machine. Thousands of offers share a few hundred shapes, so each is
// estimated once for a number of machines.
type shape struct {
	chip     *accelerator.Accelerator
	count    float64
	topology catalog.Topology
	gbps     float64 // below 0 where it is not known
	network  catalog.NetworkKind
}

// shapeEstimates is the estimates of one shape by number of machines.
type shapeEstimates struct {
	group  estimate.Group
	counts []int
	byK    map[int]estimated
	// of a service: the machines it takes, or why no number does
	fleetOf      int
	fleetRefusal *estimate.Refusal
}

type estimated struct {
	est     *estimate.Estimate
	refusal *estimate.Refusal
}

func (s *search) shape(m *catalog.Machine) *shapeEstimates {
	gbps := -1.0
	if v, ok := m.NetworkGbps.Get(); ok {
		gbps = v
	}
	key := shape{m.Accelerator, m.Count, m.Topology, gbps, m.Network}
	if e := s.shapes[key]; e != nil {
		return e
	}
	g := Group(m, 1)
	e := &shapeEstimates{group: g, byK: map[int]estimated{}}
	e.counts = s.counts(g)
	s.shapes[key] = e
	return e
}

// Group is the accelerators of so many machines.
func Group(m *catalog.Machine, machines int) estimate.Group {
	g := estimate.Group{Chip: m.Accelerator, Share: 1, PerNode: int(m.Count), Nodes: machines, Topology: m.Topology,
		NetworkGbps: m.NetworkGbps, Network: m.Network}
	if m.Count < 1 {
		g.Share, g.PerNode = m.Count, 1
	}
	if g.PerNode == 1 {
		g.Topology = catalog.Single
	}
	return g
}

// at is the estimate on k machines.
func (e *shapeEstimates) at(s *search, k int) (*estimate.Estimate, *estimate.Refusal) {
	if v, ok := e.byK[k]; ok {
		return v.est, v.refusal
	}
	g := e.group
	g.Nodes = k
	est, refusal, looked := s.job.Best(g)
	s.layouts += looked
	v := estimated{refusal: refusal}
	if refusal == nil {
		v.est = &est
	}
	e.byK[k] = v
	return v.est, v.refusal
}

// most is how many accelerators a search goes to: enough for any deadline in reach of most teams, and for the arithmetic of
// a large pretraining run as many as the largest published runs took. Limits on counts only take from it: were it raised by one,
// dropping that limit would lose plans.
func most(f unit.FLOP) int {
	switch {
	case f > 1e24:
		return 16384
	case f > 1e23:
		return 4096
	}
	return 1024
}

// flopOf is the arithmetic of a whole job, 0 for kinds that do not count it.
func flopOf(job estimate.Job) unit.FLOP {
	if counted, ok := job.(interface{ FLOP() unit.FLOP }); ok {
		return counted.FLOP()
	}
	return 0
}

// ladder is the numbers of machines looked at: powers of two and half-way between.
func ladder(most int) []int {
	ks := []int{}
	for k := 1; k <= most; k *= 2 {
		ks = append(ks, k)
		if h := k + k/2; k > 1 && h <= most {
			ks = append(ks, h)
		}
	}
	return ks
}

// counts is the numbers of machines of a shape to look at, limits apart.
func (s *search) counts(g estimate.Group) []int {
	if s.job.Service() {
		return []int{0} // sized from the traffic
	}
	if g.Share < 1 && !s.job.Independent() {
		return []int{1}
	}
	return ladder(max(1, most(flopOf(s.job))/g.PerNode))
}

// spanMost is the most machines a replica of a service may span.
const spanMost = 8

// span is the most machines a replica on a shape may span under the limits.
func (s *search) span(g estimate.Group) int {
	most, l := spanMost, s.Workload.Limits
	if l.MaxCount > 0 {
		most = min(most, l.MaxCount/g.PerNode)
	}
	if l.MaxInstances > 0 {
		most = min(most, l.MaxInstances)
	}
	span := 1
	for 2*span <= most { // replicas span powers of two
		span *= 2
	}
	return span
}

// machines calls try with every number of machines of an offer that the limits on counts allow.
func (s *search) machines(o *catalog.Offer, try func(k int), note func(miss)) {
	l := s.Workload.Limits
	e := s.shape(o.Machine)
	for _, k := range e.counts {
		if k == 0 {
			var refusal *estimate.Refusal
			if k, refusal = e.fleet(s); refusal != nil {
				note(refused(refusal, 1))
				return
			}
		}
		accelerators := k * e.group.PerNode
		switch {
		case single(o) && k > 1:
			note(miss{reason: ByCount, stage: stageLimit, have: 1, want: float64(k), quantity: "machines", machines: k})
			return
		case l.MaxCount > 0 && accelerators > l.MaxCount:
			note(miss{reason: ByCount, stage: stageLimit, have: float64(accelerators), want: float64(l.MaxCount), quantity: "count", machines: k})
			return
		case l.MinCount > 0 && float64(accelerators)*min(1, o.Count) < float64(l.MinCount): // four quarters are one
			note(miss{reason: ByCount, stage: stageLimit, have: float64(accelerators) * min(1, o.Count), want: float64(l.MinCount), quantity: "count", machines: k})
		case l.MaxInstances > 0 && k > l.MaxInstances:
			note(miss{reason: ByCount, stage: stageLimit, have: float64(k), want: float64(l.MaxInstances), quantity: "machines", machines: k})
			return
		default:
			try(k)
		}
	}
}

// single says that there is one such machine: a private owner's, gone once it is rented.
func single(o *catalog.Offer) bool {
	return slices.Contains(o.Flags, catalog.Marketplace)
}

// fleet sizes a service: the machines that its replicas need.
func (e *shapeEstimates) fleet(s *search) (int, *estimate.Refusal) {
	if e.fleetOf == 0 && e.fleetRefusal == nil {
		g := e.group
		g.Nodes = s.span(g)
		est, refusal, looked := s.job.Best(g)
		s.layouts += looked
		if refusal != nil {
			e.fleetRefusal = refusal
		} else {
			e.fleetOf = serve.Machines(est.Serving, g.PerNode)
			e.byK[e.fleetOf] = estimated{est: &est}
		}
	}
	return e.fleetOf, e.fleetRefusal
}

func refused(r *estimate.Refusal, machines int) miss {
	q := ""
	switch r.Reason {
	case estimate.NoMemory:
		q = "bytes"
	case estimate.NoLatency:
		q = "seconds"
	}
	m := miss{reason: Reason(r.Reason), stage: stageEstimate, have: r.Have, want: r.Want, quantity: q, text: r.Promise, machines: machines}
	if math.IsInf(m.want, 0) || math.IsNaN(m.want) {
		m.have, m.want = 0, 0
	}
	return m
}
