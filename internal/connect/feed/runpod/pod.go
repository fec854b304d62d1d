package runpod

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/connect/feed"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/catalog/intake"
)

// pod is a number of one GPU in the secure cloud or the community's.
type pod struct {
	gpu    *gpu
	count  int
	secure bool
	name   string
	prices []catalog.Price
	found  bool // left somewhere
}

// pods lists what can be rented: of each GPU one, two, four, eight and so on, and the most that go together.
func (s *source) pods(gpus []gpu, to feed.Sink) []*pod {
	var all []*pod
	taken := map[string]bool{}
	for i := range gpus {
		g := &gpus[i]
		before := len(all)
		for _, secure := range []bool{true, false} {
			most := g.most(secure)
			for _, n := range sizes(int(g.Min.Float()), most) {
				p := &pod{gpu: g, count: n, secure: secure}
				if p.price(); len(p.prices) == 0 {
					break
				}
				p.name = s.nameOf(p, taken)
				taken[p.name] = true
				all = append(all, p)
			}
		}
		if len(all) == before { // in neither cloud, or not for sale
			to.Pass(1)
		}
	}
	return all
}

// most is how many of a GPU one pod may have in a cloud; 0 where it has none of it.
func (g *gpu) most(secure bool) int {
	in, most := g.Secure, g.MaxSecure
	if !secure {
		in, most = g.Community, g.MaxCommunity
	}
	if most == "" {
		most = g.Max
	}
	if !in || g.Name == "" || g.ID == "" {
		return 0
	}
	return min(int(most.Float()), mostGPUs)
}

// sizes are powers of two from least to most, and most.
func sizes(least, most int) (all []int) {
	for n := 1; n <= most; n *= 2 {
		if n >= least {
			all = append(all, n)
		}
	}
	if most >= max(1, least) && !slices.Contains(all, most) {
		all = append(all, most)
	}
	return all
}

// counts are the numbers of GPUs that some pod in a cloud has.
func counts(pods []*pod, secure bool) (all []int) {
	for _, p := range pods {
		if p.secure == secure {
			all = append(all, p.count)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// nameOf is what a pod is listed as, since RunPod has no names for them: that of a machine which is known already, with the same
// chips in the same cloud, else 8x_H100-SXM_SECURE.
func (s *source) nameOf(p *pod, taken map[string]bool) string {
	cloud := "_SECURE"
	if !p.secure {
		cloud = "_COMMUNITY"
	}
	ev := catalog.Evidence{Name: p.gpu.Name, Texts: []string{p.gpu.ID}, MiB: p.gpu.GB.Float() * 1024, Count: float64(p.count)}
	if id, ok := catalog.Identify(s.world.Chips, ev); ok && !id.Mismatch {
		for _, m := range s.world.Known.Machines {
			if m.Provider == vendor && m.Accelerator == id.Chip && m.Count == float64(p.count) && strings.HasSuffix(m.InstanceType, cloud) && !taken[m.InstanceType] {
				return m.InstanceType
			}
		}
	}
	return fmt.Sprintf("%dx_%s%s", p.count, strings.ReplaceAll(p.gpu.Name, " ", "-"), cloud)
}

// price works out what a pod costs everywhere: so many times one GPU.
func (p *pod) price() {
	g := p.gpu
	type quote struct {
		mode  catalog.BillingMode
		price feed.Number
	}
	quotes := []quote{
		{catalog.OnDemand, g.SecurePrice}, {catalog.Spot, g.SecureSpot},
		{catalog.Reserved1M, g.OneMonth}, {catalog.Reserved3M, g.ThreeMonths}, {catalog.Reserved6M, g.SixMonths},
	}
	if !p.secure { // months are sold in the secure cloud only
		quotes = []quote{{catalog.OnDemand, g.CommunityPrice}, {catalog.Spot, g.CommunitySpot}}
	}
	for _, q := range quotes {
		if rate := p.times(q.price); !rate.IsZero() {
			p.prices = append(p.prices, catalog.Price{Mode: q.mode, Hourly: rate, Confidence: catalog.Listed})
		}
	}
}

// times is the price of a pod by that of one GPU; zero where there is none.
func (p *pod) times(one feed.Number) money.Rate {
	price, err := feed.Decimal(string(one))
	if err != nil {
		return money.Rate{}
	}
	rate, err := feed.PerHour(price.Mul(price, new(big.Rat).SetInt64(int64(p.count))), money.USD)
	if err != nil {
		return money.Rate{}
	}
	return rate
}

// emit lists a pod in a place where some are left; without a stock it is sold out, wherever it is.
func (p *pod) emit(at spot, left *stock, to feed.Sink) {
	l := intake.Listing{
		Provider: vendor, InstanceType: p.name, Region: at.region, Accelerator: p.gpu.Name, Hints: []string{p.gpu.ID},
		MiB: p.gpu.GB.Float() * 1024, Count: float64(p.count), At: intake.Place{File: "gpuTypes " + p.gpu.ID + " " + at.id},
	}
	if at.secure && at.id != at.region {
		l.Zone = at.id
	}
	if !p.secure {
		l.Flags = append(l.Flags, catalog.Marketplace)
	}
	flag, prices := catalog.SoldOut, p.prices
	if left != nil {
		p.found = true
		flag = catalog.InStock
		l.VCPU, l.RAM = left.VCPU.Size(), left.RAM.Bytes(1<<30)
		l.Flags = append(l.Flags, catalog.HostVaries)
		if bid := p.times(left.Bid); !bid.IsZero() && !slices.ContainsFunc(prices, func(q catalog.Price) bool { return q.Mode == catalog.Spot }) {
			prices = append(slices.Clone(prices), catalog.Price{
				Mode: catalog.Spot, Hourly: bid, Confidence: catalog.Listed, Flags: []catalog.Flag{catalog.AuctionFloor},
			})
		}
	}
	for _, q := range prices {
		q.Flags = append(slices.Clone(q.Flags), flag)
		if at.region == "" {
			q.Flags = append(q.Flags, catalog.RegionUnconfirmed)
		}
		l.Prices = append(l.Prices, q)
	}
	to.Add(l)
}
