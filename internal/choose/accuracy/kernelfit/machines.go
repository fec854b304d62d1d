package kernelfit

import (
	"io"
	"strings"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

type crossing struct {
	machines, ranks int
	bytes           float64
	x               estimate.Between // without its curve
}

// networks are the measured clusters by the start of their name: kind of network and a machine's nominal rate in Gbit/s. Racks
// joined by NVLink and hosts that were set up badly (those on EKS, at half the rate of the same machines elsewhere) are left out.
var networks = []struct {
	prefix string
	kind   catalog.NetworkKind
	gbps   float64
}{
	{"AWS 2x p5.48xlarge (EKS", "", 0},
	{"AWS 2x p4de.24xlarge", catalog.EFA, 400},
	{"AWS 2x p5.48xlarge", catalog.EFA, 3200},
	{"AWS p5en.48xlarge", catalog.EFA, 3200},
	{"CoreWeave example log", catalog.InfiniBand, 3200},
}

// framing is what packet headers leave of a network's nominal rate at best.
const framing = 0.97

func crossings(knobs func(*estimate.BetweenCurve) []knob, source string) kind[estimate.BetweenCurve, crossing] {
	return kind[estimate.BetweenCurve, crossing]{
		start: estimate.BetweenCurve{Share: 0.85, HopUS: 30, Overlap: 0.5, LostMB: 30, RampMB: 20},
		knobs: knobs,
		time: func(c *estimate.BetweenCurve, s *sample[crossing]) float64 {
			x := s.row.x
			x.Curve = *c
			return x.AllReduce(s.row.machines, s.row.ranks, s.row.bytes)
		},
		fitted: func(c *estimate.BetweenCurve) *estimate.Fitted { return &c.Fitted },
		pool:   1 << 20,
		source: source,
	}
}

// fitBetween fits the networks that collectives were measured over. Only long messages were published over InfiniBand, so
// its curve takes everything but its share from EFA, and its hop from the table of links.
func fitBetween(r io.Reader, chips *accelerator.Table, kernels *estimate.KernelTable, curves *estimate.Curves) (map[string]estimate.BetweenCurve, error) {
	samples := map[catalog.NetworkKind][]sample[crossing]{}
	err := each(r, chips, func(l *line) {
		for _, n := range networks {
			if !strings.HasPrefix(l.cells[1], n.prefix) {
				continue
			}
			if n.gbps == 0 {
				return
			}
			row := crossing{machines: int(l.num(3)), bytes: l.num(4)}
			row.ranks = int(l.num(2)) / row.machines
			g := estimate.Group{Chip: l.chip, PerNode: row.ranks, Nodes: row.machines, Topology: catalog.NVSwitch, Network: n.kind}
			g.NetworkGbps = unit.Some(n.gbps)
			k, refused := kernels.For(curves, g)
			if refused != nil {
				return
			}
			var ok bool
			if row.x, ok = k.Between(row.ranks); ok {
				samples[n.kind] = append(samples[n.kind], sample[crossing]{chip: l.chip, seconds: row.bytes / (l.num(5) * 1e9), row: row})
			}
			return
		}
	}, "accelerator", "system", "gpus", "nodes", "message_bytes", "algbw_gbs")
	if err != nil || len(samples[catalog.EFA]) == 0 || len(samples[catalog.InfiniBand]) == 0 {
		return nil, err
	}
	out := map[string]estimate.BetweenCurve{}
	efa := crossings(func(c *estimate.BetweenCurve) []knob {
		return []knob{upTo(framing, &c.Share), positive(&c.HopUS), overlap(&c.Overlap), positive(&c.LostMB), positive(&c.RampMB)}
	}, "aws-samples/awsome-distributed-training, NCCL tests on 2 x p4de, 2 x p5 and 16 x p5en")
	out["default"] = efa.all(samples[catalog.EFA])["default"]
	measured := out["default"]
	measured.Like = estimate.LikeFamily
	out[string(catalog.EFA)] = measured
	infiniband := crossings(func(c *estimate.BetweenCurve) []knob { return []knob{upTo(framing, &c.Share)} }, "coreweave/nccl-tests, 12 machines of 8 x H100 with SHARP")
	infiniband.start = out["default"]
	infiniband.start.HopUS = curves.Links[string(catalog.InfiniBand)].HopUS
	curve := infiniband.fit(infiniband.start, samples[catalog.InfiniBand])
	curve.Fitted = estimate.Fitted{N: len(samples[catalog.InfiniBand]), Like: estimate.LikeFamily, Source: infiniband.source}
	out[string(catalog.InfiniBand)] = curve
	return out, nil
}
