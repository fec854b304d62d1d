package plan

import (
	"math"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/serve"
	"github.com/rackrate/rackrate/internal/choose/price"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/provider"
)

// elasticKey is what the behaviour of a serverless service depends on beside the workload.
type elasticKey struct {
	est      *estimate.Estimate
	provider *provider.Provider
}

// elastic is a serverless service over a day.
type elastic struct {
	workers   float64 // running on average
	cold      float64 // share of requests that wait for a worker to start
	least     int     // workers that never stop, in the quietest and
	most      int     // the busiest hour
	start     unit.Hours
	keepAlive unit.Hours
	promised  bool // a latency is, that a cold start would break
}

// promisedShare is the share of requests that latencies promised at the 99th percentile leave to cold starts.
const promisedShare = 0.01

// unfit refuses a way of paying that does not suit the work: serverless machines that would have to talk to one another, and a service
// that is all on spot where it says which share may be.
func (s *search) unfit(c *candidate) (miss, bool) {
	if s.job.Service() && c.mode == catalog.Spot {
		share := s.Workload.Traffic.Interruptible
		return miss{reason: BySpotShare, have: 100, want: share, quantity: "percent"}, share > 0 && share < 100
	}
	if c.mode != catalog.ServerlessPerHour {
		return miss{}, false
	}
	perNode := Group(c.offer.Machine, 1).PerNode
	together := perNode // accelerators that have to work together
	switch {
	case s.job.Service():
		together = c.est.Serving.AcceleratorsPerReplica
	case !s.job.Independent():
		together = c.machines * perNode
	}
	return miss{reason: BySpan, have: float64(perNode), want: float64(together), quantity: "count"}, together > perNode
}

// coldStart is the time from the request that starts a serverless worker until it works on it: the container, and the weights
// of what it runs.
func (s *search) coldStart(e *estimate.Estimate) unit.Hours {
	weights := unit.Bytes(0)
	for _, part := range e.Memory.Parts {
		if part.Name == "weights" {
			weights = part.Bytes * unit.Bytes(max(1, e.Serving.AcceleratorsPerReplica))
		}
	}
	return unit.FromSeconds(s.Curves.Run.ColdStartS + weights.GB()/s.Curves.Run.ColdLoadGBs)
}

// elasticOf works out a service on serverless workers, each of which has as many replicas as a machine holds. A request is taken to
// stay in its worker for the 99th percentile of its time, and a worker to hold as many as it then keeps up with.
func (s *search) elasticOf(c *candidate) elastic {
	key := elasticKey{c.est, c.place.provider}
	if e, seen := s.elastic[key]; seen {
		return e
	}
	v, t := c.est.Serving, s.Workload.Traffic
	replicas := max(1, Group(c.offer.Machine, 1).PerNode/max(1, v.AcceleratorsPerReplica))
	rate := v.RequestsPerSecond / float64(max(1, v.Replicas)) * float64(replicas) // of a worker
	e := elastic{start: s.coldStart(c.est), least: math.MaxInt}
	e.keepAlive = c.place.provider.KeepAlive.Or(unit.FromSeconds(s.Curves.Run.KeepAliveS))
	slo := s.Workload.SLO
	e.promised = slo.TTFTp99 > 0 && v.TTFT+e.start > slo.TTFTp99 || slo.E2Ep99 > 0 && v.E2E+e.start > slo.E2Ep99
	share := 1.0
	if e.promised {
		share = promisedShare
	}
	profile := t.Profile
	if len(profile) == 0 {
		profile = []float64{serve.MeanLoad(t)}
	}
	requests := 0.0
	for _, of := range profile {
		p := price.Elastic{PerSecond: t.RequestsPerSecond * of, Service: v.E2E, KeepAlive: e.keepAlive, ColdStart: e.start,
			Slots: int(rate*v.E2E.Seconds() + 1e-9)}
		if p.PerSecond > 0 {
			l := p.Load(share)
			step := c.place.provider.BillingGranularity.Or(0).Seconds()
			e.workers += (l.Workers + l.Starts*step/2) / float64(len(profile)) // each stay is rounded up to the next step
			e.cold += l.Cold * of
			requests += of
			e.least, e.most = min(e.least, l.Warm), max(e.most, l.Warm)
		} else {
			e.least = 0
		}
	}
	e.cold /= requests
	s.elastic[key] = e
	return e
}
