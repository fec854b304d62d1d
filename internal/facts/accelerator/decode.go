package accelerator

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
)

// column is a place in a row of File.
type column int

// The columns in their order. Rates are dense TFLOPS or TOPS; bandwidths and links 10^9 bytes a second.
const (
	colName column = iota
	colAliases
	colVendor
	colArch
	colKind
	colFormFactor
	colYear
	colMemory
	colMemoryType
	colBandwidth
	colFP64 // the rates come in the order of the Precisions
	colFP64Tensor
	colFP32
	colTF32
	colBF16
	colFP16
	colFP8
	colFP4
	colINT8
	colINT4
	colSparsity
	colLink
	colLinkRate
	colPCIeGen
	colPCIeLanes
	colTDP
	colMIG
	colMIGMax
	colVGPU
	colConfidential
	colECC
	colRTCores
	colNVENC
	colCompute
	colMinToolkit
	colStack
	colInferenceOnly
	colAnnounced
	colNeeds
	colConfidence
	colSource
	colAsOf
	colNotes
	numColumns
)

var columnNames = [numColumns]string{
	"name", "aliases", "vendor", "arch", "kind", "form_factor", "year", "memory_gb", "memory_type", "bandwidth_gbs",
	"fp64", "fp64_tensor", "fp32", "tf32", "bf16", "fp16", "fp8", "fp4", "int8", "int4",
	"sparsity", "link", "link_gbs", "pcie_gen", "pcie_lanes", "tdp_w", "mig", "mig_max", "vgpu", "confidential", "ecc",
	"rt_cores", "nvenc", "compute", "min_toolkit", "stack", "inference_only", "announced", "needs", "confidence", "source", "as_of", "notes",
}

// row is a line of the file: a chip and how it may be written.
type row struct {
	chip    *Accelerator
	aliases []string
	// needs is what must be written beside a bare model name for this chip to be meant: "memory" for a rare size,
	// "form" for a rare form factor, or nothing.
	needs string
}

// decoder turns the cells of one row into a chip and keeps every fault it meets.
type decoder struct {
	cells  []string
	line   int
	faults problem.List
}

// decode gives the row, without a chip where the cells do not even add up to one.
func (d *decoder) decode() row {
	if len(d.cells) != int(numColumns) {
		d.faults = append(d.faults, problem.New(problem.Internal, "data.bad_row",
			problem.Args{"Want": int(numColumns), "Got": len(d.cells)}).At(File, d.line))
		return row{}
	}
	a := &Accelerator{
		Name: d.required(colName), Vendor: d.required(colVendor), Arch: d.text(colArch),
		Kind:       Kind(d.oneOf(colKind, string(GPU), string(TPU), string(NPU))),
		FormFactor: d.oneOf(colFormFactor, "", "PCIe", "SXM", "SXM2", "NVL", "OAM"),
		Year:       d.whole(colYear, 2000, 2100),
		NominalGB:  d.number(colMemory, 1), MemoryType: d.text(colMemoryType),
		Bandwidth: quantity[unit.BytesPerSec](d.number(colBandwidth, 1e9)),
		Sparsity:  d.yesNo(colSparsity),
		LinkKind:  d.text(colLink), LinkBidir: quantity[unit.BytesPerSec](d.number(colLinkRate, 1e9)),
		PCIeGen: d.whole(colPCIeGen, 1, 6), PCIeLanes: d.whole(colPCIeLanes, 1, 16),
		TDP: quantity[unit.Watts](d.number(colTDP, 1)),
		MIG: d.yesNo(colMIG), MIGMax: d.whole(colMIGMax, 1, 16),
		VGPU: d.yesNo(colVGPU), Confidential: d.yesNo(colConfidential), ECC: d.yesNo(colECC),
		RTCores: d.whole(colRTCores, 0, 1000), NVENC: d.whole(colNVENC, 0, 16),
		Compute: d.text(colCompute), MinToolkit: d.text(colMinToolkit), Stack: d.required(colStack),
		InferenceOnly: d.oneOf(colInferenceOnly, "yes", "no") == "yes",
		Announced:     d.oneOf(colAnnounced, "yes", "no") == "yes",
		Confidence:    Confidence(d.oneOf(colConfidence, string(Verified), string(SingleSource), string(Unverified))),
		Source:        d.required(colSource), AsOf: d.date(colAsOf), Notes: d.text(colNotes),
	}
	for p := range a.Peak {
		a.Peak[p] = quantity[unit.FLOPS](d.number(colFP64+column(p), 1e12))
	}
	if a.MIGMax.Known() && !a.MIG.Or(false) { // slices of a chip that cannot be sliced
		d.fault(colMIGMax, "contradiction")
	}
	if a.LinkBidir.Known() && a.LinkKind == "none" {
		d.fault(colLinkRate, "contradiction")
	}
	return row{chip: a, aliases: d.list(colAliases), needs: d.oneOf(colNeeds, "", "memory", "form")}
}

func (d *decoder) fault(c column, reason string) {
	d.faults = append(d.faults, problem.New(problem.Internal, "data.bad_cell",
		problem.Args{"Column": columnNames[c], "Value": d.cells[c], "Reason": reason}).At(File, d.line))
}

func (d *decoder) text(c column) string {
	s := d.cells[c]
	if s != strings.TrimSpace(s) {
		d.fault(c, "spaces")
	}
	return s
}

func (d *decoder) required(c column) string {
	if d.cells[c] == "" {
		d.fault(c, "required")
	}
	return d.text(c)
}

func (d *decoder) oneOf(c column, allowed ...string) string {
	if !slices.Contains(allowed, d.cells[c]) {
		d.fault(c, "unknown_value")
	}
	return d.cells[c]
}

// list reads names parted by semicolons.
func (d *decoder) list(c column) []string {
	if d.cells[c] == "" {
		return nil
	}
	items := strings.Split(d.cells[c], ";")
	for i, s := range items {
		items[i] = strings.TrimSpace(s)
		if fold(s) == "" {
			d.fault(c, "empty_item")
		}
	}
	return items
}

// number reads a positive plain decimal times a scale; an empty cell is unknown, and a zero is a fault
// because nothing measured here can be nothing.
func (d *decoder) number(c column, scale float64) unit.Maybe[float64] {
	s := d.cells[c]
	if s == "" {
		return unit.None[float64]()
	}
	v, ok := plainDecimal(s)
	if !ok || v <= 0 {
		d.fault(c, "number")
		return unit.None[float64]()
	}
	return unit.Some(v * scale)
}

func (d *decoder) whole(c column, low, high int) unit.Maybe[int] {
	s := d.cells[c]
	if s == "" {
		return unit.None[int]()
	}
	v, err := strconv.Atoi(s)
	if err != nil || v < low || v > high {
		d.fault(c, "whole")
		return unit.None[int]()
	}
	return unit.Some(v)
}

func (d *decoder) yesNo(c column) unit.Maybe[bool] {
	switch d.cells[c] {
	case "":
		return unit.None[bool]()
	case "yes", "no":
		return unit.Some(d.cells[c] == "yes")
	}
	d.fault(c, "yes_no")
	return unit.None[bool]()
}

func (d *decoder) date(c column) string {
	if _, err := time.Parse(time.DateOnly, d.cells[c]); err != nil {
		d.fault(c, "date")
	}
	return d.cells[c]
}

// quantity gives a number its unit.
func quantity[T ~float64](m unit.Maybe[float64]) unit.Maybe[T] {
	v, ok := m.Get()
	if !ok {
		return unit.None[T]()
	}
	return unit.Some(T(v))
}

// plainDecimal reads digits with at most one point between them: no sign, exponent, hexadecimal, "Inf" or "1_0",
// all of which strconv would take, and no ".5", which after a range's dots is a slip.
func plainDecimal(s string) (float64, bool) {
	if s == "" || len(s) > 16 || strings.Trim(s, "0123456789.") != "" || s[0] == '.' || s[len(s)-1] == '.' {
		return 0, false
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil
}
