package estimate_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

func kernels(t testing.TB, name string, topo catalog.Topology) *estimate.Kernels {
	t.Helper()
	chip, ok := accelerator.Embedded().Get(name)
	if !ok {
		t.Fatalf("no chip %s", name)
	}
	k, refused := estimate.EmbeddedKernels().For(estimate.EmbeddedCurves(), estimate.Group{Chip: chip, PerNode: 8, Nodes: 1, Topology: topo})
	if refused != nil {
		t.Fatal(refused)
	}
	return k
}

// within says whether a time in microseconds is as expected up to a factor.
func within(got, us, factor float64) bool { return math.Abs(math.Log(got*1e6/us)) < math.Log(factor) }

// Single measurements, a few of thousands: the sizes that serving and training spend their time in.
func TestKernelsNearMeasurements(t *testing.T) {
	h := kernels(t, "H100-SXM-80GB", catalog.NVSwitch)
	bf16, _ := h.Multiply(estimate.Arithmetic{Precision: accelerator.BF16, WeightBits: 16})
	attend, _ := h.Attention(accelerator.BF16, 16)
	links, ok := h.Inside(8)
	if !ok {
		t.Fatal("no links")
	}
	for _, c := range []struct {
		name    string
		got, us float64
	}{
		{"1 x 8192 x 8192", bf16.Seconds(1, 8192, 8192), 51.6},
		{"4096 x 8192 x 8192", bf16.Seconds(4096, 8192, 8192), 697.8},
		{"decode, 8 of 4096 tokens", attend.DecodeSeconds(8, 4096, 64, 8, 128), 65.3},
		{"prefill of 4096", attend.PrefillSeconds(1, 4096, 0, 64, 8, 128), 486},
		{"all-reduce of 512 MiB", links.AllReduce(8, 1<<29), 2040},
		{"engine all-reduce of 64 KiB", links.EngineAllReduce(8, 1<<16), 6.5},
	} {
		if !within(c.got, c.us, 1.25) {
			t.Errorf("%s: %.1f us, measured %.1f", c.name, c.got*1e6, c.us)
		}
	}
}

func TestKernelLikeness(t *testing.T) {
	for name, want := range map[string]estimate.Likeness{
		"H100-SXM-80GB": estimate.LikeChip, "H20-96GB": estimate.LikeFamily, "RTX-5090": estimate.LikeFamily, "L4": estimate.LikeFamily, "T4": estimate.LikeKind,
		"MI300X": estimate.LikeFamily, "MI210": estimate.LikeKind,
	} {
		if got := kernels(t, name, catalog.Single).Like; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestKernelsRefuse(t *testing.T) {
	_, refused := estimate.EmbeddedKernels().For(estimate.EmbeddedCurves(), estimate.Group{Chip: &accelerator.Accelerator{Name: "bare"}})
	if refused == nil || refused.Reason != estimate.NoRate {
		t.Errorf("a chip without a bandwidth: %v", refused)
	}
	k := kernels(t, "A100-SXM-80GB", catalog.UnknownTopo)
	if _, ok := k.Multiply(estimate.Arithmetic{Precision: accelerator.FP8, WeightBits: 8}); ok {
		t.Error("an A100 has no fp8")
	}
	if _, ok := k.GEMM(accelerator.FP8, 1, 1, 1); ok {
		t.Error("an A100 has no fp8")
	}
	if _, ok := k.Inside(8); ok {
		t.Error("a link that nobody named has no speed")
	}
}

// A bridge joins two; four talk over PCIe.
func TestBridgesJoinTwo(t *testing.T) {
	k := kernels(t, "A100-PCIe-80GB", catalog.NVLinkPairs)
	two, _ := k.Inside(2)
	four, _ := k.Inside(4)
	if a, b := two.AllReduce(2, 1<<28), four.AllReduce(2, 1<<28); 2*a > b {
		t.Errorf("over the bridge %g s, over PCIe %g s", a, b)
	}
}

// chipsWithRates are those whose kernels can be told.
func chipsWithRates() []*accelerator.Accelerator {
	var out []*accelerator.Accelerator
	for _, a := range accelerator.Embedded().All() {
		if _, ok := a.Bandwidth.Get(); ok {
			out = append(out, a)
		}
	}
	return out
}

// larger draws a number and one that is no smaller.
func larger(r *rapid.T, name string, low, high float64) (a, b float64) {
	a = math.Exp(rapid.Float64Range(math.Log(low), math.Log(high)).Draw(r, name))
	return a, a * rapid.SampledFrom([]float64{1, 1.01, 2, 100}).Draw(r, name+" grows")
}

// More work never takes less time, and a faster chip or link never more.
func TestKernelsMonotonic(t *testing.T) {
	chips := chipsWithRates()
	rapid.Check(t, func(r *rapid.T) {
		chip := *chips[rapid.IntRange(0, len(chips)-1).Draw(r, "chip")]
		topo := pick(r, "topology", catalog.NVSwitch, catalog.NVLinkPairs, catalog.XGMI, catalog.PCIeOnly, catalog.ICI)
		fast := chip
		faster := rapid.SampledFrom([]float64{1, 1.5, 10}).Draw(r, "faster")
		for p, v := range chip.Peak {
			if rate, ok := v.Get(); ok {
				fast.Peak[p] = unit.Some(rate * unit.FLOPS(faster))
			}
		}
		bw, _ := chip.Bandwidth.Get()
		fast.Bandwidth = unit.Some(bw * unit.BytesPerSec(faster))
		if link, ok := chip.LinkBidir.Get(); ok {
			fast.LinkBidir = unit.Some(link * unit.BytesPerSec(faster))
		}
		slowOne, _ := estimate.EmbeddedKernels().For(estimate.EmbeddedCurves(), estimate.Group{Chip: &chip, PerNode: 8, Topology: topo})
		fastOne, _ := estimate.EmbeddedKernels().For(estimate.EmbeddedCurves(), estimate.Group{Chip: &fast, PerNode: 8, Topology: topo})
		rises := func(what string, less, more float64) {
			if less < 0 || math.IsNaN(less) || less > more*(1+1e-12) {
				r.Fatalf("%s: %g s, then %g s", what, less, more)
			}
		}

		p := pick(r, "precision", accelerator.BF16, accelerator.FP16, accelerator.FP8, accelerator.FP4, accelerator.INT8, accelerator.FP32)
		as := estimate.Arithmetic{Precision: p, WeightBits: pick(r, "bits", 4.5, 8, 16), Block: rapid.Bool().Draw(r, "block"), Sustain: pick(r, "sustain", 0, 0.5, 1)}
		m, m2 := larger(r, "m", 1, 1e5)
		n, n2 := larger(r, "n", 1, 1e5)
		k, k2 := larger(r, "k", 1, 1e5)
		experts, experts2 := larger(r, "experts", 1, 256)
		if slow, ok := slowOne.Multiply(as); ok {
			quick, _ := fastOne.Multiply(as)
			rises("multiply", slow.Grouped(experts, m, n, k), slow.Grouped(experts2, m2, n2, k2))
			rises("faster chip", quick.Grouped(experts, m, n, k), slow.Grouped(experts, m, n, k))
			as.Sustain = 0
			burst, _ := slowOne.Multiply(as)
			rises("burst", burst.Seconds(m, n, k), slow.Seconds(m, n, k))
		}
		if slow, ok := slowOne.Attention(p, pick(r, "cache bits", 8.0, 16)); ok {
			quick, _ := fastOne.Attention(p, slow.KVBytes*8)
			past, past2 := larger(r, "past", 1, 1e5)
			heads := math.Floor(math.Sqrt(experts))
			rises("decode", slow.DecodeSeconds(m, past, heads, heads, 128), slow.DecodeSeconds(m2, past2, heads, heads, 128))
			rises("latent", slow.LatentSeconds(m, past, heads, 576, 512), slow.LatentSeconds(m2, past2, heads, 576, 512))
			rises("prefill", slow.PrefillSeconds(experts, k, past, heads, heads, 128), slow.PrefillSeconds(experts2, k2, past2, heads, heads, 128))
			rises("decode, faster chip", quick.DecodeSeconds(m, past, heads, heads, 128), slow.DecodeSeconds(m, past, heads, heads, 128))
			rises("prefill, faster chip", quick.PrefillSeconds(1, k, past, heads, heads, 128), slow.PrefillSeconds(1, k, past, heads, heads, 128))
		}
		ranks := pick(r, "ranks", 1, 2, 3, 4, 8, 72)
		if slow, ok := slowOne.Inside(ranks); ok {
			quick, _ := fastOne.Inside(ranks)
			bytes, bytes2 := larger(r, "bytes", 1, 1e10)
			rises("all-reduce", slow.AllReduce(ranks, bytes), slow.AllReduce(ranks, bytes2))
			rises("engine all-reduce", slow.EngineAllReduce(ranks, bytes), slow.EngineAllReduce(ranks, bytes2))
			rises("gather", slow.Gather(ranks, bytes), slow.Gather(ranks, bytes2))
			rises("exchange", slow.Exchange(ranks, bytes), slow.Exchange(ranks, bytes2))
			rises("faster link", quick.EngineAllReduce(ranks, bytes), slow.EngineAllReduce(ranks, bytes))
			rises("faster link, gather", quick.Gather(ranks, bytes), slow.Gather(ranks, bytes))
			rises("own kernel", slow.EngineAllReduce(ranks, bytes), slow.AllReduce(ranks, bytes))
		}
		network := pick(r, "network", catalog.EFA, catalog.InfiniBand, catalog.Ethernet)
		over := func(gbps float64) *estimate.Kernels {
			g := estimate.Group{Chip: &chip, PerNode: 8, Topology: topo, Network: network, NetworkGbps: unit.Some(gbps)}
			k, _ := estimate.EmbeddedKernels().For(estimate.EmbeddedCurves(), g)
			return k
		}
		gbps := pick(r, "gbps", 10.0, 400, 3200)
		machines, machines2 := pick(r, "machines", 1, 2, 4), pick(r, "more machines", 4, 16, 360)
		if slow, ok := over(gbps).Between(ranks); ok {
			quick, _ := over(gbps * faster).Between(ranks)
			bytes, bytes2 := larger(r, "bytes", 1, 1e10)
			rises("all-reduce over machines", slow.AllReduce(machines, ranks, bytes), slow.AllReduce(machines2, ranks, bytes2))
			rises("gather over machines", slow.Gather(machines, ranks, bytes), slow.Gather(machines2, ranks, bytes2))
			rises("exchange over machines", slow.Exchange(machines, ranks, bytes), slow.Exchange(machines, ranks, bytes2))
			rises("faster network", quick.AllReduce(machines, ranks, bytes), slow.AllReduce(machines, ranks, bytes))
			rises("faster network, exchange", quick.Exchange(machines, ranks, bytes), slow.Exchange(machines, ranks, bytes))
		}
	})
}

// Published all-reduces of long messages between machines.
func TestBetweenMachinesNearMeasurements(t *testing.T) {
	h100, _ := accelerator.Embedded().Get("H100-SXM-80GB")
	for _, c := range []struct {
		network     catalog.NetworkKind
		machines    int
		bytes, want float64
	}{{catalog.EFA, 2, 1 << 30, 4607}, {catalog.InfiniBand, 12, 1 << 30, 5808}} {
		g := estimate.Group{Chip: h100, PerNode: 8, Nodes: c.machines, Topology: catalog.NVSwitch, Network: c.network, NetworkGbps: unit.Some(3200.0)}
		k, _ := estimate.EmbeddedKernels().For(estimate.EmbeddedCurves(), g)
		x, ok := k.Between(8)
		if got := x.AllReduce(c.machines, 8, c.bytes); !ok || !within(got, c.want, 1.15) {
			t.Errorf("%s over %d machines: %.0f us, measured %.0f", c.network, c.machines, got*1e6, c.want)
		}
	}
	if _, ok := kernels(t, "H100-SXM-80GB", catalog.NVSwitch).Between(8); ok {
		t.Error("a network of unknown speed")
	}
}

func TestKernelsDoNotAllocate(t *testing.T) {
	k := kernels(t, "H100-SXM-80GB", catalog.NVSwitch)
	sum := 0.0
	if n := testing.AllocsPerRun(100, func() {
		x, _ := k.Multiply(estimate.Arithmetic{Precision: accelerator.FP8, WeightBits: 8})
		a, _ := k.Attention(accelerator.BF16, 16)
		l, _ := k.Inside(8)
		sum += x.Grouped(8, 16, 4096, 4096) + a.DecodeSeconds(8, 1000, 32, 8, 128) + a.PrefillSeconds(1, 512, 0, 32, 8, 128) + l.EngineAllReduce(8, 1e6) + l.Gather(8, 1e6) + l.Exchange(8, 1e6)
	}); n != 0 || sum <= 0 {
		t.Errorf("%v allocations", n)
	}
}
