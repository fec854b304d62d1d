package estimate

import (
	"io/fs"
	"math"
	"sync"

	"github.com/rackrate/rackrate/data"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// Curves is what share of each peak is reached in practice. It is data (data/efficiency), fitted or assumed, with
// its sources; the estimates hold no such constant of their own.
type Curves struct {
	AsOf      string               `yaml:"as_of"`
	Chips     map[string]ChipCurve `yaml:"chips"`
	Links     map[string]LinkCurve `yaml:"links"`
	Train     TrainCurve           `yaml:"train"`
	Serve     ServeCurve           `yaml:"serve"`
	Memory    MemoryCurve          `yaml:"memory"`
	Run       RunCurve             `yaml:"run"`
	Intervals map[string]Interval  `yaml:"intervals"`
	// Widen says how much a likeness widens an interval: its ends are raised to this power.
	Widen map[Likeness]float64 `yaml:"widen"`
	// Calibrations is what published measurements say of the predictions, by target; from files of their own.
	Calibrations map[Target]*Calibration `yaml:"-"`
	// stated is the constants as they were before the fit of a target set them.
	stated map[Target]map[string]float64
}

// ChipCurve is what a chip reaches of its peaks.
type ChipCurve struct {
	GEMM      map[string]float64 `yaml:"gemm"`
	Bandwidth float64            `yaml:"bandwidth"`
	OpUS      float64            `yaml:"op_us"`
	Like      Likeness           `yaml:"like"`
	Source    string             `yaml:"source"`
}

// LinkCurve is what a kind of link reaches of its nominal one-way rate.
type LinkCurve struct {
	Share  float64 `yaml:"share"`
	HopUS  float64 `yaml:"hop_us"`
	Source string  `yaml:"source"`
}

// ServeCurve is what an inference engine reaches.
type ServeCurve struct {
	Engines Engines `yaml:"engines"`
	// TargetLoad is the most of a saturated engine's rate that a fleet is planned to.
	TargetLoad float64 `yaml:"target_load"`
	// Alike is how alike neighbouring tokens route: n tokens touch as many experts as n to the power 1 - Alike that choose at random.
	Alike float64 `yaml:"alike"`
	// Sustain is how far chips are from a cool burst under load, as Arithmetic.Sustain.
	Sustain float64 `yaml:"sustain"`
	// Captured is the part of a kernel's fixed time that is left in a captured graph, where launches overlap.
	Captured float64 `yaml:"captured"`
	// Widened is the rate of multiplies with weights that are widened as they are read, over that of others.
	Widened float64 `yaml:"widened"`
	// Passes is how often the activations of a layer are read or written between its multiplies and attention, in sizes of the hidden
	// state; those of experts again for each of a token's.
	Passes float64 `yaml:"passes"`
	// LinearShare is what the small multiplies of linear layers reach of the rate of attention.
	LinearShare float64 `yaml:"linear_share"`
	Source      string  `yaml:"source"`
}

// Engines is the families of inference engines.
type Engines struct {
	TensorRTLLM EngineCurve `yaml:"tensorrt-llm"`
	VLLM        EngineCurve `yaml:"vllm"`
	SGLang      EngineCurve `yaml:"sglang"`
	LlamaCPP    EngineCurve `yaml:"llama.cpp"`
	Neuron      EngineCurve `yaml:"neuron"`
}

// Of is the family of a framework's canonical name; what is not one of them behaves as vLLM, the most common.
func (e *Engines) Of(framework string) (string, *EngineCurve) {
	switch framework {
	case "tensorrt-llm", "triton-inference-server":
		return "tensorrt-llm", &e.TensorRTLLM
	case "sglang":
		return framework, &e.SGLang
	case "llama.cpp":
		return framework, &e.LlamaCPP
	case "neuron":
		return framework, &e.Neuron
	}
	return "vllm", &e.VLLM
}

// EngineCurve is what a family of inference engines adds to its kernels, and how it goes about its work.
type EngineCurve struct {
	StepUS     float64 `yaml:"step_us"`     // of a step: scheduling, preparing inputs, sampling, what of it does not hide behind the chip
	SequenceUS float64 `yaml:"sequence_us"` // of a step, for each sequence that gets a token
	LayerUS    float64 `yaml:"layer_us"`    // of a layer's small kernels: norms, rotary, quantising, routing
	// EagerUS is what the host takes to launch a layer of a step with prompts, which no captured graph does; the chip is at the steps
	// before meanwhile, so that it delays the first token alone.
	EagerUS float64 `yaml:"eager_us"`
	// HandMS is the time to hand the cache of a prompt from the engine that worked on it to the one that decodes.
	HandMS float64 `yaml:"hand_ms"`
	// KernelShare is the time of the kernels as measured alone over their time in the engine.
	KernelShare float64 `yaml:"kernel_share"`
	// BusyShare is the rate of arithmetic in multiplies and in the attention of prompts over that of kernels alone.
	BusyShare float64 `yaml:"busy_share"`
	// Older is the share of a chip's listed 16-bit rate that matrix instructions of A100's generation reach on it, by accelerator as
	// in KernelKeys, for engines that use no newer ones; none where the engine uses a chip's own.
	Older map[string]float64 `yaml:"older"`
	// Sum16 engines sum products in 16 bit, at which consumer boards, listed at 32, run twice as fast.
	Sum16 bool `yaml:"sum_16"`
	// WaitSteps is how many steps a request waits before the engine looks at it.
	WaitSteps float64 `yaml:"wait_steps"`
	// ApartSteps is how many more where ranks attend apart: engines hold prompts back to give the ranks alike work.
	ApartSteps float64 `yaml:"apart_steps"`
	FrontMS    float64 `yaml:"front_ms"`       // from a client's sending to the engine's queue and back
	TokenUS    float64 `yaml:"front_token_us"` // more of it for each token of a prompt
	// ChunkTokens is the most new tokens of a step, and MaxSequences the most sequences; 0 is no limit.
	ChunkTokens  int `yaml:"chunk_tokens"`
	MaxSequences int `yaml:"max_sequences"`
	// PromptsFirst engines let decoding stand still while they work on prompts.
	PromptsFirst bool    `yaml:"prompts_first"`
	Reserve      float64 `yaml:"reserve"` // share of the answers to come that must find room before a request is taken in
	// MemoryFraction is the part of the chip's memory that the engine fills, runtime included; OfFree says that it is the part of what
	// weights and runtime leave that the caches fill.
	MemoryFraction float64 `yaml:"memory_fraction"`
	OfFree         bool    `yaml:"of_free"`
	Source         string  `yaml:"source"`
}

// sum16 is the rate of matrix units that sum in 16 bit over the FP32 rate of the vectors, on Ampere and Ada alike (NVIDIA's white papers).
// Boards for consumers are listed at half of it, with sums in 32 bit.
const sum16 = 4

// Instructions is the share of a chip's listed 16-bit matrix rate that the instructions an engine uses reach.
func (e *EngineCurve) Instructions(a *accelerator.Accelerator) float64 {
	share := 1.0
	if v := Nearest(e.Older, a); v > 0 {
		share = v
	}
	half, single := a.Peak[accelerator.FP16].Or(0), a.Peak[accelerator.FP32].Or(0)
	if e.Sum16 && half > 0 {
		share *= max(1, min(2, sum16*float64(single)/float64(half)))
	}
	return share
}

// RunCurve is what a run takes beside its steps: saving, restarting, power.
type RunCurve struct {
	CheckpointGBs float64 `yaml:"checkpoint_gbs"` // a machine
	SaveSeconds   float64 `yaml:"save_s"`
	StartMin      float64 `yaml:"start_min"`
	RestartMin    float64 `yaml:"restart_min"`
	ColdStartS    float64 `yaml:"cold_start_s"` // of a serverless worker, its weights apart
	ColdLoadGBs   float64 `yaml:"cold_load_gbs"`
	KeepAliveS    float64 `yaml:"keep_alive_s"`
	IdleShare     float64 `yaml:"idle_share"`
	HostShare     float64 `yaml:"host_share"`
	PUE           float64 `yaml:"pue"`
	Source        string  `yaml:"source"`
}

// Interval is the 10th and 90th percentile of measured over predicted.
type Interval struct {
	Low    float64 `yaml:"low"`
	High   float64 `yaml:"high"`
	N      int     `yaml:"n"`
	Source string  `yaml:"source"`
}

// LoadCurves decodes and checks data/efficiency.
func LoadCurves(fsys fs.FS) (*Curves, error) {
	const name = "efficiency/curves.yaml"
	c, err := Decode[Curves](fsys, name)
	if err != nil {
		return nil, err
	}
	if err := c.loadCalibrations(fsys); err != nil {
		return nil, err
	}
	return c, c.check(name)
}

// EmbeddedCurves is the curves of the binary; a test rules out that they are broken.
var EmbeddedCurves = sync.OnceValue(func() *Curves {
	c, err := LoadCurves(data.FS)
	if err != nil {
		panic(err)
	}
	return c
})

func (c *Curves) check(file string) error {
	var faults problem.List
	bad := func(what string) {
		faults = append(faults, problem.New(problem.Internal, "data.bad_row", problem.Args{"What": what}).At(file, 0))
	}
	share := func(v float64) bool { return v > 0 && v <= 1 }
	for name, chip := range c.Chips {
		if chip.GEMM["*"] == 0 || !share(chip.Bandwidth) || chip.OpUS <= 0 || chip.Source == "" || c.Widen[chip.Like] == 0 {
			bad("chips." + name)
		}
		for _, v := range chip.GEMM {
			if !share(v) {
				bad("chips." + name + ".gemm")
			}
		}
	}
	for name, l := range c.Links {
		if !share(l.Share) || l.HopUS <= 0 || l.Source == "" {
			bad("links." + name)
		}
	}
	for name, i := range c.Intervals {
		if i.Low <= 0 || i.Low > 1 || i.High < 1 || i.Source == "" {
			bad("intervals." + name)
		}
	}
	if _, ok := c.Chips["default"]; !ok {
		bad("chips.default")
	}
	return faults.OrNil()
}

// Chip is the curve of a chip: its own, else its architecture's, its vendor's, or the cautious default.
func (c *Curves) Chip(a *accelerator.Accelerator) ChipCurve {
	for _, key := range [...]string{a.Name, a.Arch, a.Vendor} {
		if v, ok := c.Chips[key]; ok {
			return v
		}
	}
	return c.Chips["default"]
}

// Share is what a large matrix multiply reaches of the dense peak at a precision.
func (c ChipCurve) Share(p accelerator.Precision) float64 {
	if v, ok := c.GEMM[p.String()]; ok {
		return v
	}
	return c.GEMM["*"]
}

// OpSeconds is the fixed time of one operation.
func (c ChipCurve) OpSeconds() float64 { return c.OpUS * 1e-6 }

// Link is one direction of a link between accelerators as a collective sees it.
type Link struct {
	BytesPerSec float64 // per accelerator inside a machine, per machine between machines
	HopSeconds  float64
}

// Inside is the link between the accelerators of one machine when n of them talk; false where it is unknown.
// NVLink pairs carry two; more than two fall to PCIe, whose root complex the accelerators share.
func (c *Curves) Inside(g Group, n int) (Link, bool) {
	topo := g.Topology
	if n <= 1 {
		return Link{BytesPerSec: math.Inf(1)}, true
	}
	if topo == catalog.NVLinkPairs && n > 2 {
		topo = catalog.PCIeOnly
	}
	curve, ok := c.Links[string(topo)]
	if !ok {
		return Link{}, false
	}
	nominal, ok := g.Chip.PCIe()
	if topo != catalog.PCIeOnly {
		bidir, known := g.Chip.LinkBidir.Get()
		nominal, ok = bidir/2, known
	}
	if !ok || nominal <= 0 {
		return Link{}, false
	}
	return Link{BytesPerSec: float64(nominal) * curve.Share, HopSeconds: curve.HopUS * 1e-6}, true
}

// Between is the link between machines, per machine; false where its speed is unknown.
func (c *Curves) Between(g Group) (Link, bool) {
	gbps, ok := g.NetworkGbps.Get()
	if !ok || gbps <= 0 {
		return Link{}, false
	}
	kind := g.Network
	if kind == catalog.UnknownNet {
		kind = catalog.Ethernet
	}
	curve, ok := c.Links[string(kind)]
	if !ok {
		return Link{}, false
	}
	return Link{BytesPerSec: gbps * 1e9 / 8 * curve.Share, HopSeconds: curve.HopUS * 1e-6}, true
}

// Interval is the interval of a kind of work on a chip, widened by how far the chip is from what was measured.
func (c *Curves) Interval(kind string, like Likeness) Interval {
	i, ok := c.Intervals[kind]
	if !ok {
		i = Interval{Low: 0.5, High: 2, Source: "assumed"}
	}
	w := c.Widen[like]
	if w == 0 {
		w = 1
	}
	i.Low, i.High = math.Pow(i.Low, w), math.Pow(i.High, w)
	return i
}

// Usable is what a process may allocate of an accelerator; false where its memory is unknown.
func (c *Curves) Usable(g Group) (unit.Bytes, bool) {
	m, ok := g.Memory()
	return unit.Bytes(float64(m) * (1 - c.Memory.Reserved)), ok
}
