// Package workload is what the user wants to run: read from YAML or flags, checked strictly, all faults at
// once with their lines.
//
// Invariants: a Workload that Parse returned without error is complete: every reference is resolved, every
// quantity has a unit, every default is filled in and listed in Defaulted; nothing unknown in a file is ignored.
// Pure: it reads no file but through the opener the caller hands it. Imported by choose and above.
package workload

import (
	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// Kind is what sort of work it is.
type Kind string

// The kinds of work.
const (
	Train      Kind = "train"
	Finetune   Kind = "finetune"
	Serve      Kind = "serve"
	BatchInfer Kind = "batch-infer"
	Diffuse    Kind = "diffuse"
	Render     Kind = "render"
	Simulate   Kind = "simulate"
	Hash       Kind = "hash"
	Custom     Kind = "custom"
)

// Method is how a fine-tune changes the model.
type Method string

// The methods of fine-tuning.
const (
	Full  Method = "full"
	LoRA  Method = "lora"
	QLoRA Method = "qlora"
)

// Preference is what ranks the plans.
type Preference string

// The preferences.
const (
	PreferCost     Preference = "cost"
	PreferTime     Preference = "time"
	PreferCarbon   Preference = "carbon"
	PreferBalanced Preference = "balanced"
)

// Workload is one validated piece of work.
type Workload struct {
	Name string
	Kind Kind

	Model *model.Model // train, finetune, serve, batch-infer, diffuse
	// ModelRef is the model as it is asked for again: its name, or the path of its config.json as written.
	ModelRef string
	Format   model.Format // how weights are held: serve and batch-infer; for training the compute precision
	// KVFormat is how keys and values are held; empty is 16-bit.
	KVFormat model.Format

	// Training and fine-tuning.
	Method      Method  // Full for train
	LoRARank    int     // lora, qlora
	Sequence    int     // tokens a sequence
	Tokens      float64 // total work in tokens
	Samples     float64 // total work in samples, of a network that reads no tokens; 0 otherwise
	GlobalBatch int     // sequences, or samples, per optimizer step
	Optimizer   Optimizer
	Layout      LayoutPin // what the user fixed of the parallel layout

	Traffic *Traffic    // serve
	SLO     SLO         // serve
	Batch   *Batch      // batch-infer
	Diffuse *Generation // diffuse
	Render  *RenderWork
	Sim     *Simulation
	Hash    *HashWork
	Custom  *CustomWork

	Data     Data
	Software Software
	Limits   Limits
	Billing  []catalog.BillingMode // ways of paying allowed, in the order given
	Prefer   Preference
	People   People
	// DelayCost is what a day of waiting costs the business.
	DelayCost unit.Maybe[money.Amount]
	Duration  unit.Hours // serve: how long the service is to run; others: derived
	// RunsPerMonth is how often finite work is done again over the horizon; 0 is once.
	RunsPerMonth int
	// Horizon is how far ahead money is counted, with commitments in whole terms that cover it; 0 is one run, or a service that goes on
	// after its duration and uses its terms up.
	Horizon unit.Hours

	// Defaulted lists the keys the user left open and that were filled in, in file order.
	Defaulted []string
}

// Optimizer is how weights are updated, which decides the states held per parameter.
type Optimizer string

// The optimizers.
const (
	AdamW     Optimizer = "adamw"      // fp32 master and two fp32 moments: 12 bytes
	AdamW8bit Optimizer = "adamw-8bit" // fp32 master and two 8-bit moments: 6 bytes
	AdamWBF16 Optimizer = "adamw-bf16" // no master, two bf16 moments: 4 bytes
	Adafactor Optimizer = "adafactor"  // fp32 master, factored second moment: about 4 bytes
	SGD       Optimizer = "sgd"        // fp32 master and momentum: 8 bytes
	Muon      Optimizer = "muon"       // fp32 master and one fp32 moment: 8 bytes
)

// Bytes is what an optimizer keeps for each parameter beside 16-bit weights and gradients: the fp32 master copy, which all but AdamWBF16
// have, and the moments (Rajbhandari et al. 2020 for AdamW).
func (o Optimizer) Bytes() float64 {
	switch o {
	case AdamW8bit:
		return 6
	case AdamWBF16, Adafactor:
		return 4
	case SGD, Muon:
		return 8
	}
	return 12
}

// LayoutPin holds the parts of a parallel layout the user fixed; 0 is open.
type LayoutPin struct {
	TP, PP, DP, CP, EP, MicroBatch, Virtual int
	ZeRO                                    int    // -1 is open
	Recompute                               string // none, selective, full; empty is open
}

// Traffic is what a service receives.
type Traffic struct {
	RequestsPerSecond float64 // at the peak
	InputTokens       int
	OutputTokens      int
	// Profile is the share of the peak in each of the 24 hours; empty is flat.
	Profile []float64
	// Trace is the pattern of arrivals and sizes, whose peak and means stand above; nil is requests of one size that come
	// independently of one another.
	Trace *Trace
	// Interruptible is the share of the machines, in per cent, that may be lost at short notice and so may be spot beside others.
	Interruptible float64
}

// SLO is the latency a service promises; 0 is no promise.
type SLO struct {
	TTFTp99, TPOTp99, E2Ep99 unit.Hours
}

// Batch is offline inference: so many requests, as fast or as cheap as possible.
type Batch struct {
	Requests     float64
	InputTokens  int
	OutputTokens int
}

// Generation is image or video generation.
type Generation struct {
	Images   float64
	Width    int
	Height   int
	Steps    int
	Guidance int // denoiser passes a step
}

// Reference is a measurement of the user's own that other devices are predicted from.
type Reference struct {
	Device *accelerator.Accelerator
	Count  int
}

// RenderWork is frames to render, known by one device's seconds per frame.
type RenderWork struct {
	Frames          float64
	SecondsPerFrame float64
	On              Reference
	SceneMemory     unit.Bytes
	RayTracing      bool
	Scores          *Scores // nil where there are none
}

// Simulation is time steps of a numerical model: by FLOPs and bytes a step, or a measured time a step.
type Simulation struct {
	Steps     float64
	Precision accelerator.Precision
	FLOPStep  unit.FLOP  // 0 when measured
	ByteStep  unit.Bytes // memory traffic a step; 0 when measured
	Memory    unit.Bytes // of the whole domain
	// HaloBytes is exchanged per step when the domain is cut in two; it grows with the surface for more parts.
	HaloBytes      unit.Bytes
	SecondsPerStep float64 // measured; 0 when FLOPs and bytes are given
	On             Reference
	Bound          Mix // of the measured time
	// MeasuredIsBound says that SecondsPerStep, On and Bound hold and the FLOPs and bytes do not.
	MeasuredIsBound bool
}

// HashWork is a keyspace to try with one algorithm.
type HashWork struct {
	Algorithm string // md5, sha1, ntlm, wpa, bcrypt …
	Keyspace  float64
}

// Mix is what share of a measured time each resource bounds; the shares sum to 1.
type Mix struct {
	Compute, Memory, Link, Host float64
}

// CustomWork is any work with a rate measured on one device.
type CustomWork struct {
	Units     float64 // total work
	Unit      string  // what a unit is: images, samples, jobs
	Rate      float64 // units a second on On
	On        Reference
	Bound     Mix
	Precision accelerator.Precision
	Memory    unit.Bytes // per accelerator
	// Scaling is the share of ideal speed kept when the accelerators double; 0 is not divisible.
	Scaling float64
}

// Data is what the work reads and writes.
type Data struct {
	Size   unit.Bytes
	Read   unit.BytesPerSec // sustained, in all; 0 is unknown
	Egress unit.Bytes
	Disk   unit.Bytes // block storage a machine; 0 is sized from the model and data
	// CheckpointEvery is the time between checkpoints; 0 is auto.
	CheckpointEvery unit.Hours
	Keep            unit.Hours // how long the data stays stored; 0 is the length of the job
}

// Software is what the work is built on.
type Software struct {
	Framework string // pytorch, jax, tensorrt-llm, vllm …; empty is any
	Version   string // a constraint such as >=2.6; empty is any
	Driver    string // least driver the image needs; empty is any
	Stack     string // CUDA, ROCm …; empty is any
	Needs     []string
}

// Limits are hard: no plan breaks one.
type Limits struct {
	Accelerators []accelerator.Selector // any of these; empty is all
	MaxCount     int                    // accelerators in all; 0 is open
	MinCount     int
	MaxInstances int
	Deadline     unit.Hours // 0 is open
	Budget       unit.Maybe[money.Amount]
	Providers    []string // only these; empty is all
	NotProviders []string
	Regions      []string // region ids, countries or groups (eu, cn, na …); empty is all
	Residency    []string // laws the region must be under: GDPR, CN-PIPL …
	// ProviderJurisdiction lists where the company itself may sit (countries or groups); empty is all.
	ProviderJurisdiction []string
	Certifications       []string
	Confidential         bool
	BareMetal            bool
	MIG                  bool // machines that can be partitioned
	Interconnect         []catalog.NetworkKind
	MinNetworkGbps       float64
	MinSLA               float64 // per cent
	MinHostRAM           unit.Bytes
	MaxCarbon            unit.Maybe[unit.Kilograms]
	MaxPriceAgeDays      int // 0 is open
	NoMarketplace        bool
}

// People is the staff time a plan costs.
type People struct {
	Hourly       unit.Maybe[money.Amount]
	HoursPerWeek float64
}
