// Package accelerator holds what is known of each chip that can be rented: memory, bandwidth, dense
// arithmetic rates by precision, links, power, partitioning and software stack; and finds a chip by the name
// people write.
//
// Invariants: form factors are never merged (an H100 SXM is not an H100 PCIe); rates are dense, never sparse;
// a cell nobody could confirm is unknown, not zero; every row has a source, a date and a confidence. Pure: the
// rows come from the embedded data. Imported by facts/catalog and everything above.
package accelerator

import "github.com/rackrate/rackrate/internal/base/unit"

// Precision is a number format with a rate of its own.
type Precision uint8

// The precisions. FP64 and FP32 are the vector units, FP64Tensor and TF32 the matrix units at that width.
const (
	FP64 Precision = iota
	FP64Tensor
	FP32
	TF32
	BF16
	FP16
	FP8
	FP4
	INT8
	INT4
	NumPrecisions
)

var precisionNames = [NumPrecisions]string{"fp64", "fp64-tensor", "fp32", "tf32", "bf16", "fp16", "fp8", "fp4", "int8", "int4"}

func (p Precision) String() string { return precisionNames[p] }

// MarshalText writes the name, for JSON.
func (p Precision) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// Kind says what family of device a chip is; only GPUs are called GPUs.
type Kind string

// The kinds of device.
const (
	GPU Kind = "gpu"
	TPU Kind = "tpu"
	NPU Kind = "npu"
)

// Confidence says how well a row is backed.
type Confidence string

// The confidences, best first.
const (
	Verified     Confidence = "verified"
	SingleSource Confidence = "single-source"
	Unverified   Confidence = "unverified"
)

// Accelerator is one chip in one form factor and memory size, as a program addresses it.
type Accelerator struct {
	Name       string // canonical, e.g. H100-SXM-80GB
	Vendor     string
	Arch       string
	Kind       Kind
	FormFactor string // SXM, PCIe, NVL, OAM …; empty where the maker names none
	Year       unit.Maybe[int]
	// NominalGB is the memory as its maker counts and people say it (80 for an H100). Makers mean GiB.
	NominalGB  unit.Maybe[float64]
	MemoryType string
	Bandwidth  unit.Maybe[unit.BytesPerSec] // memory, both directions together as makers count
	Peak       [NumPrecisions]unit.Maybe[unit.FLOPS]
	Sparsity   unit.Maybe[bool] // 2:4 structured
	LinkKind   string           // NVLink4, xGMI, ICI …; "none" where there is none; empty where unknown
	// LinkBidir is the chip's total link rate, both directions together, as makers quote it.
	LinkBidir    unit.Maybe[unit.BytesPerSec]
	PCIeGen      unit.Maybe[int]
	PCIeLanes    unit.Maybe[int]
	TDP          unit.Maybe[unit.Watts]
	MIG          unit.Maybe[bool]
	MIGMax       unit.Maybe[int]
	VGPU         unit.Maybe[bool] // SR-IOV or vendor vGPU
	Confidential unit.Maybe[bool]
	ECC          unit.Maybe[bool]
	RTCores      unit.Maybe[int]
	NVENC        unit.Maybe[int]
	Compute      string // compute capability (9.0) or gfx target (gfx942); empty where unknown
	MinToolkit   string // least CUDA or ROCm that drives it; empty where unknown
	Stack        string // CUDA, ROCm, Neuron, JAX/XLA, CANN …
	// InferenceOnly chips have no software that trains on them (Inferentia, Ascend 310).
	InferenceOnly bool
	Announced     bool // not yet to be rented
	Confidence    Confidence
	Source        string
	AsOf          string // ISO date
	Notes         string
}

// Memory is the memory a program can see, to within about a per cent.
func (a *Accelerator) Memory() (unit.Bytes, bool) {
	gb, ok := a.NominalGB.Get()
	return unit.Bytes(gb * float64(unit.GiB)), ok
}

// PCIe is the host link's rate in one direction, after encoding; false where the generation or width is unknown.
func (a *Accelerator) PCIe() (unit.BytesPerSec, bool) {
	gen, ok1 := a.PCIeGen.Get()
	lanes, ok2 := a.PCIeLanes.Get()
	if !ok1 || !ok2 {
		return 0, false
	}
	// GB/s a lane and direction by generation (PCI-SIG base specifications 1.0 to 6.0).
	perLane := [...]float64{0, 0.25, 0.5, 0.985, 1.969, 3.938, 7.563}
	if gen < 1 || gen >= len(perLane) {
		return 0, false
	}
	return unit.BytesPerSec(perLane[gen] * float64(lanes) * 1e9), true
}
