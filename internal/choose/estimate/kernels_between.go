package estimate

import (
	"math"

	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// BetweenCurve is the time of collectives over several machines of eight; see Between.AllReduce.
type BetweenCurve struct {
	Share   float64 `yaml:"share"`   // of a machine's nominal one-way network rate
	HopUS   float64 `yaml:"hop_us"`  // one crossing of the network
	Overlap float64 `yaml:"overlap"` // of the part inside the machines with the part between them
	LostMB  float64 `yaml:"lost_mb"` // volume, in megabytes, whose time is lost until long messages fill the network
	RampMB  float64 `yaml:"ramp_mb"` // volume at which half of it is lost
	Fitted  `yaml:",inline"`
}

// Between is the collectives over machines that are alike. Each moves its part inside the machines and its part between them
// at the same time, as far as the two overlap.
type Between struct {
	Curve  BetweenCurve
	Rate   float64 // bytes/s, nominal, one direction of one machine
	Inside Inside
}

// AllReduce is the time over so many machines with so many ranks in each:
//
//	blend(inside, volume / rate) + 2·hop·log2(machines) + lost / rate·volume / (volume + ramp), volume = 2·(machines − 1)/machines·bytes
func (x *Between) AllReduce(machines, ranks int, bytes float64) float64 {
	return x.seconds(machines, 2, x.Inside.AllReduce(ranks, bytes), bytes)
}

// Gather is the time of an all-gather or a reduce-scatter of so many bytes in all.
func (x *Between) Gather(machines, ranks int, bytes float64) float64 {
	return x.seconds(machines, 1, x.Inside.Gather(ranks, bytes), bytes)
}

// Exchange is the time of an all-to-all in which each rank sends so many bytes.
func (x *Between) Exchange(machines, ranks int, bytes float64) float64 {
	return x.seconds(machines, 1, x.Inside.Exchange(ranks, bytes/float64(max(machines, 1))), bytes*float64(ranks))
}

// seconds takes the time inside and the bytes that each machine would send if none of them stayed.
func (x *Between) seconds(machines int, passes, inside, bytes float64) float64 {
	if machines <= 1 {
		return inside
	}
	c, n := &x.Curve, float64(machines)
	volume := passes * (n - 1) / n * bytes
	t := blend(inside, volume/(x.Rate*c.Share), c.Overlap) + passes*c.HopUS*1e-6*math.Log2(n)
	if volume > 0 {
		t += c.LostMB * 1e6 / x.Rate * volume / (volume + c.RampMB*1e6)
	}
	return t
}

// Between is the collectives between the machines of the group, with so many ranks of each; false where the network's
// speed or the links inside are unknown. Networks that were not measured take their share and hop from the table of links.
func (k *Kernels) Between(ranks int) (Between, bool) {
	x := k.between
	var ok bool
	if x.Inside, ok = k.Inside(ranks); ranks > 1 && !ok {
		return Between{}, false
	}
	return x, x.Rate > 0
}

func (t *KernelTable) between(c *Curves, g Group) Between {
	gbps, ok := g.NetworkGbps.Get()
	kind := g.Network
	if kind == catalog.UnknownNet {
		kind = catalog.Ethernet
	}
	link, known := c.Links[string(kind)]
	if !ok || gbps <= 0 || !known {
		return Between{}
	}
	curve, measured := t.Between[string(kind)]
	if !measured {
		curve = BetweenCurve{Share: link.Share, HopUS: link.HopUS, Overlap: t.Between["default"].Overlap, RampMB: 1, Fitted: Fitted{Like: LikeKind, Source: link.Source}}
	}
	return Between{Curve: curve, Rate: gbps * 1e9 / 8}
}
