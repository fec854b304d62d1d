package estimate

import (
	"io/fs"
	"sync"

	"github.com/rackrate/rackrate/data"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// KernelsFile is where the kernel curves lie below data.
const KernelsFile = "efficiency/kernels.yaml"

// KernelTable is the curves of single kernels and collectives, fitted to measured ones by choose/accuracy/kernelfit. Each map
// of curves is looked up by the accelerator's name, its architecture and compute capability ("Blackwell 12.0"), its
// architecture, its vendor, then "default".
type KernelTable struct {
	AsOf      string                              `yaml:"as_of"`
	Multiply  map[string]map[string]MultiplyCurve `yaml:"multiply"` // by kind of multiply
	Decode    map[string]map[string]DecodeCurve   `yaml:"decode"`   // by the cache's format: bf16, fp8
	Prefill   map[string]map[string]PrefillCurve  `yaml:"prefill"`
	Inside    map[string]CollectiveTable          `yaml:"inside"`    // by topology
	Between   map[string]BetweenCurve             `yaml:"between"`   // by kind of network
	Sustained map[string]map[string]Sustained     `yaml:"sustained"` // by kind of multiply
}

// CollectiveTable is the curves over one kind of link: all_reduce, all_gather (also reduce-scatter), all_to_all, and
// engine_all_reduce, the small-message all-reduce of inference engines.
type CollectiveTable map[string]map[string]CollectiveCurve

// Sustained is the best multiply rate that a chip keeps up for long, over the best of a short burst at boost clock.
type Sustained struct {
	Share  float64 `yaml:"share"`
	N      int     `yaml:"n"`
	Source string  `yaml:"source"`
}

// The kinds of multiply that were measured. Wider formats take the curve of 16 bits with their own peak, 8-bit
// integers that of fp8, and 4-bit integers that of nvfp4.
const (
	MultiplyBF16     = "bf16"
	MultiplyFP8      = "fp8"       // scales for a tensor or a row
	MultiplyFP8Block = "fp8_block" // scales for blocks of 128 x 128, as DeepSeek V3's weights
	MultiplyNVFP4    = "nvfp4"
)

// LoadKernels decodes and checks the kernel curves.
func LoadKernels(fsys fs.FS) (*KernelTable, error) {
	t, err := Decode[KernelTable](fsys, KernelsFile)
	if err != nil {
		return nil, err
	}
	return t, t.check()
}

// EmbeddedKernels is the kernel curves of the binary; a test rules out that they are broken.
var EmbeddedKernels = sync.OnceValue(func() *KernelTable {
	t, err := LoadKernels(data.FS)
	if err != nil {
		panic(err)
	}
	return t
})

func (t *KernelTable) check() error {
	var faults problem.List
	need := func(ok bool, what string) {
		if !ok {
			faults = append(faults, problem.New(problem.Internal, "data.bad_row", problem.Args{"What": what}).At(KernelsFile, 0))
		}
	}
	blends := func(v float64) bool { return v >= -1 && v <= 1 }
	for _, kind := range [...]string{MultiplyBF16, MultiplyFP8, MultiplyFP8Block, MultiplyNVFP4} {
		need(t.Multiply[kind]["default"].N > 0, "multiply."+kind+".default")
		need(t.Sustained[kind]["default"].Share > 0, "sustained."+kind+".default")
	}
	for kind, curves := range t.Multiply {
		for key, c := range curves {
			need(min(c.Compute, c.Bandwidth) > 0 && min(c.FixedUS, c.SerialNS, c.Depth, c.RowNS, c.CellPS) >= 0 && blends(c.Overlap) &&
				c.Like != "" && c.Source != "", "multiply."+kind+"."+key)
		}
	}
	for _, kind := range [...]string{"bf16", "fp8"} {
		need(t.Decode[kind]["default"].N > 0 && t.Prefill[kind]["default"].N > 0, "attention."+kind+".default")
		for key, c := range t.Decode[kind] {
			need(min(c.Compute, c.Bandwidth) > 0 && min(c.FixedUS, c.Pad, c.SerialNS) >= 0 && blends(c.Overlap) && c.Like != "" && c.Source != "", "decode."+kind+"."+key)
		}
		for key, c := range t.Prefill[kind] {
			need(min(c.Compute, c.Bandwidth) > 0 && min(c.FixedUS, c.QueryPad, c.KeyPad, c.KeyReads, c.SerialNS) >= 0 && blends(c.Overlap) && c.Like != "" && c.Source != "", "prefill."+kind+"."+key)
		}
	}
	for topology, kinds := range t.Inside {
		for kind, curves := range kinds {
			for key, c := range curves {
				need(min(c.Share, c.RampMB) > 0 && (c.Share4 > 0) == (c.Share2 > 0) && min(c.BaseUS, c.StepUS, c.RampUS) >= 0 && c.Source != "", "inside."+topology+"."+kind+"."+key)
			}
		}
	}
	need(t.Between["default"].Source != "", "between.default")
	for kind, c := range t.Between {
		need(min(c.Share, c.RampMB) > 0 && min(c.HopUS, c.LostMB) >= 0 && blends(c.Overlap) && c.Source != "", "between."+kind)
	}
	return faults.OrNil()
}

// KernelKeys is what a chip's curve is looked up by, nearest first. Devices that are no GPUs share nothing with the GPUs of
// their vendor.
func KernelKeys(a *accelerator.Accelerator) [4]string {
	vendor := a.Vendor
	if a.Kind != accelerator.GPU {
		vendor += " " + string(a.Kind)
	}
	return [...]string{a.Name, a.Arch + " " + a.Compute, a.Arch, vendor}
}

// Nearest is the entry of a chip: its own, else its family's, its vendor's, or the default.
func Nearest[T any](curves map[string]T, a *accelerator.Accelerator) T {
	for _, key := range KernelKeys(a) {
		if v, ok := curves[key]; ok {
			return v
		}
	}
	return curves["default"]
}

// Kernels is the kernel times of one accelerator of a group and of its links, with every look-up done.
type Kernels struct {
	// Like says how near the chip's multiplies are to measured ones.
	Like      Likeness
	Bandwidth float64 // bytes/s, nominal

	peak      [accelerator.NumPrecisions]unit.Maybe[unit.FLOPS]
	part      float64
	multiply  [4]MultiplyCurve // in the order of multiplyKinds
	sustained [4]float64
	decode    [2]DecodeCurve // 16-bit, then 8-bit caches
	prefill   [2]PrefillCurve
	pair      Inside // two ranks
	inside    Inside // any number
	between   Between
}

var multiplyKinds = [...]string{MultiplyBF16, MultiplyFP8, MultiplyFP8Block, MultiplyNVFP4}

// For resolves the curves of a group's chip and of the links between its accelerators in one machine. It refuses a chip whose
// bandwidth is unknown. Links that no kernel was measured over follow the shares of c.
func (t *KernelTable) For(c *Curves, g Group) (*Kernels, *Refusal) {
	bw, ok := g.Chip.Bandwidth.Get()
	if !ok {
		return nil, &Refusal{Reason: NoRate}
	}
	k := &Kernels{Bandwidth: float64(bw) * g.Fraction(), part: g.Fraction(), peak: g.Chip.Peak, pair: t.inside(c, g, 2), inside: t.inside(c, g, 3), between: t.between(c, g)}
	for i, kind := range multiplyKinds {
		k.multiply[i] = Nearest(t.Multiply[kind], g.Chip)
		k.sustained[i] = Nearest(t.Sustained[kind], g.Chip).Share
	}
	for i, kind := range [...]string{"bf16", "fp8"} {
		k.decode[i], k.prefill[i] = Nearest(t.Decode[kind], g.Chip), Nearest(t.Prefill[kind], g.Chip)
	}
	k.Like = k.multiply[0].Like
	return k, nil
}

// Arithmetic is how a matrix multiply is carried out.
type Arithmetic struct {
	Precision  accelerator.Precision
	WeightBits float64 // of one element as stored, scales included: 4.5 for nvfp4; weights narrower than Precision are widened as they are read
	Block      bool    // fp8 with scales for blocks of weights
	Fused      bool    // activations come quantised from the kernel before, as TensorRT-LLM and compiled vLLM do
	// Sustain is how far the chip is from a cool burst: 0 is a burst at boost clock, as kernels are measured; 1 the level held for hours.
	Sustain float64
}

// Multiply prepares matrix multiplies; false where the chip's peak at the precision is unknown.
func (k *Kernels) Multiply(a Arithmetic) (Multiply, bool) {
	peak, ok := k.peak[a.Precision].Get()
	if !ok {
		return Multiply{}, false
	}
	kind, input := 0, 2.0
	switch a.Precision {
	case accelerator.FP64, accelerator.FP64Tensor:
		input = 8
	case accelerator.FP32, accelerator.TF32:
		input = 4
	case accelerator.FP8, accelerator.INT8:
		kind, input = 1, 1
		if a.Block {
			kind = 2
		}
	case accelerator.FP4, accelerator.INT4:
		kind, input = 3, 0.5
	}
	return Multiply{
		Curve: k.multiply[kind], Peak: float64(peak) * k.part * (1 - a.Sustain*(1-k.sustained[kind])), Bandwidth: k.Bandwidth,
		WeightBytes: a.WeightBits / 8, InputBytes: input, Fused: a.Fused,
	}, true
}

// GEMM is the time of a burst of multiplies of m x k by k x n at a precision, with weights as wide; false where the
// chip's peak is unknown. Multiply prepares the same once for many calls.
func (k *Kernels) GEMM(p accelerator.Precision, m, n, depth float64) (float64, bool) {
	x, ok := k.Multiply(Arithmetic{Precision: p})
	x.WeightBytes = x.InputBytes
	return x.Seconds(m, n, depth), ok
}

// Attention prepares attention at a precision with a cache of so many bits an element; false where the peak is
// unknown. Attention at 8 bits and below still multiplies at 16 in the engines measured; pass that precision.
func (k *Kernels) Attention(p accelerator.Precision, kvBits float64) (Attention, bool) {
	peak, ok := k.peak[p].Get()
	i := 0
	if kvBits <= 8 {
		i = 1
	}
	return Attention{Decode: k.decode[i], Prefill: k.prefill[i], Peak: float64(peak) * k.part, Bandwidth: k.Bandwidth, KVBytes: kvBits / 8}, ok
}

// Inside is the collectives among so many accelerators of one machine; false where the link's speed is unknown.
func (k *Kernels) Inside(ranks int) (Inside, bool) {
	if ranks <= 2 {
		return k.pair, k.pair.known
	}
	return k.inside, k.inside.known
}

// Inside is the collectives among the accelerators of one machine. Bytes are those of Collective.Seconds.
type Inside struct {
	reduce, gather, exchange, engine Collective
	known                            bool
}

// AllReduce is the time as a training library takes it.
func (x *Inside) AllReduce(ranks int, bytes float64) float64 { return x.reduce.Seconds(ranks, bytes) }

// EngineAllReduce is the time inside an inference engine, which takes its own kernel where that is faster.
func (x *Inside) EngineAllReduce(ranks int, bytes float64) float64 {
	return min(x.engine.Seconds(ranks, bytes), x.reduce.Seconds(ranks, bytes))
}

// Gather is the time of an all-gather or a reduce-scatter.
func (x *Inside) Gather(ranks int, bytes float64) float64 { return x.gather.Seconds(ranks, bytes) }

// Exchange is the time of an all-to-all.
func (x *Inside) Exchange(ranks int, bytes float64) float64 { return x.exchange.Seconds(ranks, bytes) }

// Nominal is the rate of a chip's link of a topology in one direction, in bytes a second; false where it is unknown.
func Nominal(a *accelerator.Accelerator, t catalog.Topology) (float64, bool) {
	rate, ok := a.PCIe()
	if t != catalog.PCIeOnly {
		bidir, known := a.LinkBidir.Get()
		rate, ok = bidir/2, known
	}
	return float64(rate), ok && rate > 0
}

// inside takes NVLink bridges to join two; more ranks than that talk over PCIe.
func (t *KernelTable) inside(c *Curves, g Group, ranks int) Inside {
	topo := g.Topology
	if topo == catalog.NVLinkPairs && ranks > 2 {
		topo = catalog.PCIeOnly
	}
	nominal, ok := Nominal(g.Chip, topo)
	curve, known := c.Links[string(topo)]
	if !ok || !known {
		return Inside{}
	}
	kinds := t.Inside[string(topo)]
	pick := func(kind string, passes float64) Collective {
		fitted := Nearest(kinds[kind], g.Chip)
		if fitted.N == 0 {
			fitted = CollectiveCurve{Share: curve.Share, BaseUS: curve.HopUS, StepUS: curve.HopUS, RampMB: 1}
		}
		return Collective{Curve: fitted, Rate: nominal, Passes: passes}
	}
	return Inside{known: true, reduce: pick("all_reduce", 2), gather: pick("all_gather", 1), exchange: pick("all_to_all", 1), engine: pick("engine_all_reduce", 2)}
}
