package serve

import (
	"math"

	"github.com/rackrate/rackrate/internal/choose/estimate"
)

// fabric is the links that the ranks of an engine talk over.
type fabric struct {
	inside  estimate.Inside
	perNode int
	between estimate.Link // of a machine
	chain   estimate.Link // between the stages of a pipeline
	far     bool          // stages lie in different machines
}

// newFabric resolves the links of an engine spread over a group; it refuses links of unknown speed.
func newFabric(c *estimate.Curves, k *estimate.Kernels, g estimate.Group, x Spread) (f fabric, bad *estimate.Refusal) {
	f.perNode = g.PerNode
	unknown := &estimate.Refusal{Reason: estimate.NoNetworkFact}
	var ok bool
	if x.Stage() > 1 {
		if f.inside, ok = k.Inside(x.Stage()); !ok {
			return f, unknown
		}
	}
	if x.Accelerators() > g.PerNode {
		if f.between, ok = c.Between(g); !ok {
			return f, unknown
		}
	}
	if x.PP > 1 {
		f.chain, f.far = f.between, x.Accelerators() > g.PerNode
		if !f.far {
			if f.chain, ok = c.Inside(g, x.Accelerators()); !ok {
				return f, unknown
			}
		}
	}
	return f, nil
}

// nodes is how many machines so many ranks lie on.
func (f *fabric) nodes(ranks int) float64 { return float64((ranks + f.perNode - 1) / f.perNode) }

// reduce is an all-reduce of so many bytes: inside each machine, then between them.
func (f *fabric) reduce(ranks int, bytes float64) (link, network float64) {
	if ranks <= 1 {
		return 0, 0
	}
	link = f.inside.EngineAllReduce(min(ranks, f.perNode), bytes)
	if n := f.nodes(ranks); n > 1 {
		network = 2*(n-1)/n*bytes/f.between.BytesPerSec + 2*f.between.HopSeconds
	}
	return link, network
}

// exchange is what brings values (elements) of all ranks to their experts and back, 8 bits there and 16 back: by gathering
// everything everywhere and reducing it, or by an all-to-all, whichever is faster. The latter sends a token once to each rank that
// has one or more of its k experts: R·(1 − (1 − 1/R)^k) of R ranks.
func (f *fabric) exchange(ranks int, values, k float64) (link, network float64) {
	if ranks <= 1 {
		return 0, 0
	}
	n, inside := f.nodes(ranks), min(ranks, f.perNode)
	own := values * (1 - math.Pow(1-1/float64(ranks), k))
	link = min(f.inside.Gather(inside, values)+f.inside.Gather(inside, 2*values), f.inside.Exchange(inside, own)+f.inside.Exchange(inside, 2*own))
	if n > 1 {
		network = 3*own*float64(f.perNode)*(n-1)/n/f.between.BytesPerSec + 2*f.between.HopSeconds
	}
	return link, network
}

// hand is the time to pass so many bytes to the next stage.
func (f *fabric) hand(bytes float64) (link, network float64) {
	s := bytes/f.chain.BytesPerSec + f.chain.HopSeconds
	if f.far {
		return 0, s
	}
	return s, 0
}
