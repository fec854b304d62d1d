package accuracy

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/simulate"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

var simulationColumns = []string{"device", "count", "application", "case", "metric", "value", "unit", "precision"}

// simulationRecipe corrects what an application does beyond the traffic it counts, and how formats of storage fare on a
// microarchitecture, which is the structure of these rows.
var simulationRecipe = recipe{attributes: []string{"mode", "precision+structure"}}

// simulationRow reads a line of a benchmark of numerical codes. Nothing measured on the row's own device takes part in its prediction.
func simulationRow(s *Set, r Row) {
	skip := func(why Skip, what string) { s.skip(r, estimate.Simulation, why, what) }
	application, measured := r.Text("application"), r.Num("value")
	if !(measured > 0) {
		skip(NoFigure, application)
		return
	}
	if strings.HasPrefix(application, "MLPerf HPC") { // the time until a network is accurate enough
		skip(NotModelled, application)
		return
	}
	parts := dies(r)
	if parts < 1 {
		skip(NoSize, "count of "+r.Text("device"))
		return
	}
	chip := simulationDevice(r, parts)
	if chip == nil {
		skip(NoChip, r.Text("device"))
		return
	}
	if r.Text("unit") == "s" { // what is predicted is a rate: runs a second
		measured = 1 / measured
	}
	k := &Case{
		Target: estimate.Simulation, Tags: estimate.ChipTags(chip), Model: application, Measured: measured, File: r.file, Line: r.line,
		Label: measuredOn(parts, chip.Name, application, r.Text("case"), r.Text("precision")),
	}
	k.Tags.Mode, k.Tags.Structure = application, simulate.Family(chip)
	// A repository's files are one run each: what it publishes of an application is one publication.
	k.Source, _, _ = strings.Cut(r.Text("source"), " ")
	var why Skip
	switch application {
	case "FluidX3D":
		why = lattice(k, r, chip, parts)
	case "BabelStream":
		why = stream(k, r, chip)
	default:
		why = published(k, r, chip, parts)
	}
	if why != "" {
		skip(why, k.Label)
		return
	}
	s.Cases = append(s.Cases, k)
}

var dieCount = regexp.MustCompile(`\((\d+) (?:GPUs|GCD)\)`)

// dies is the number of devices that a program sees: a board of several says so in its name, a mixture of boards has none.
func dies(r Row) int {
	name := r.Text("device")
	if m := dieCount.FindStringSubmatch(name); m != nil {
		n, _ := strconv.Atoi(m[1])
		return n
	}
	if strings.Contains(name, " + ") {
		return 0
	}
	return r.Int("count")
}

var specification = regexp.MustCompile(`spec fp32 ([\d.]+) TFLOP/s, ([\d.]+) GB, ([\d.]+) GB/s`)

// simulationDevice is the row's device from the chip table, or as the row describes it.
func simulationDevice(r Row, parts int) *accelerator.Accelerator {
	name := simulate.Renamed(r.Text("device"))
	if a := device(name); a != nil {
		return a
	}
	var memory unit.Bytes
	var bandwidth unit.BytesPerSec
	var fp32 unit.FLOPS
	if m := specification.FindStringSubmatch(r.Text("notes")); m != nil {
		figure := func(i int) float64 { v, _ := strconv.ParseFloat(m[i], 64); return v / float64(parts) }
		memory, bandwidth, fp32 = unit.Bytes(figure(2)*float64(unit.GiB)), unit.BytesPerSec(figure(3)*1e9), unit.FLOPS(figure(1)*1e12)
	}
	return simulate.Described(name, memory, bandwidth, fp32)
}

// simulated predicts a simulation on n devices of one machine whose link is their bus.
func simulated(c *estimate.Curves, w *workload.Simulation, tags estimate.Tags, chip *accelerator.Accelerator, n int) (estimate.Speed, Skip) {
	job, err := simulate.Unseen(w, c, chip.Name, tags)
	if err != nil {
		return estimate.Speed{}, Refused
	}
	e, refusal, _ := job.Best(estimate.Group{Chip: chip, PerNode: n, Nodes: 1, Topology: catalog.PCIeOnly})
	if refusal != nil {
		return estimate.Speed{}, refusedAs(refusal)
	}
	return e.Speed, ""
}

// naiveReach is the share of its bandwidth that the naive prediction gives every device: that of an A100.
const naiveReach = 0.84

func naiveBandwidth(chip *accelerator.Accelerator) float64 {
	return naiveReach * float64(chip.Bandwidth.Or(0))
}

// lattice predicts FluidX3D: traffic and arithmetic of a cube of cells on each device, and the exchange between the cubes
// through the host's memory.
func lattice(k *Case, r Row, chip *accelerator.Accelerator, parts int) Skip {
	format, _, _ := strings.Cut(r.Text("precision"), " ")
	l := simulate.D3Q19()
	storage, ok := l.Storage[format]
	if !ok {
		return NoFormat
	}
	if parts > 1 && strings.Contains(r.Text("device"), "GigaIO") { // devices of several machines over a fabric that is not described
		return NotModelled
	}
	cells := math.Pow(float64(l.Cells), 3) * float64(parts)
	w := &workload.Simulation{
		Steps: 1, Precision: accelerator.FP32,
		FLOPStep: unit.FLOP(cells * (storage.FLOPs + storage.Conversion*simulate.IntegerCost(chip))),
		ByteStep: unit.Bytes(cells * storage.Traffic), Memory: unit.Bytes(cells * storage.Held),
		HaloBytes: unit.Bytes(2 * l.Hops * math.Pow(cells, 2./3) * l.Populations * storage.Bytes),
	}
	k.Model, k.Tags.Precision = k.Model+" "+format, format
	k.Baseline = naiveBandwidth(chip) * float64(parts) / storage.Traffic / 1e6
	k.Predict = func(c *estimate.Curves) (Prediction, Skip) {
		v, why := simulated(c, w, k.Tags, chip, parts)
		return ofSpeed(v, cells/1e6), why
	}
	return ""
}

// stream predicts BabelStream, whose unit is the traffic itself, in GB/s.
func stream(k *Case, r Row, chip *accelerator.Accelerator) Skip {
	what, _, _ := strings.Cut(r.Text("case"), ",")
	k.Tags.Framework, _, _ = strings.Cut(what, " ")
	k.Model += " " + what
	k.Baseline = naiveBandwidth(chip) / 1e9
	w := &workload.Simulation{Steps: 1, Precision: accelerator.FP64, ByteStep: unit.GB, Memory: unit.GiB}
	k.Predict = func(c *estimate.Curves) (Prediction, Skip) {
		v, why := simulated(c, w, k.Tags, chip, 1)
		return ofSpeed(v, 1), why
	}
	return ""
}

// published predicts a case of an application from its published run on the other device that is nearest in bandwidth: of the same
// class and time more often than not, and carried over the least way.
func published(k *Case, r Row, chip *accelerator.Accelerator, parts int) Skip {
	a := applicationOf(r)
	if a == nil {
		return NoReference
	}
	other, seconds := nearestRun(a, chip)
	if other == nil {
		return NoReference
	}
	precision := accelerator.FP32
	if a.Precision == "fp64" {
		precision = accelerator.FP64
	}
	k.Model, k.Tags.Framework = cmp.Or(a.Case, a.Name), a.Interface
	k.Baseline = carriedNaively(a, seconds, other, chip, precision) * float64(parts)
	w := &workload.Simulation{
		Steps: 1, Precision: precision, MeasuredIsBound: true, SecondsPerStep: seconds,
		On: workload.Reference{Device: other, Count: 1}, Bound: a.Mix(), Memory: unit.GiB,
	}
	k.Predict = func(c *estimate.Curves) (Prediction, Skip) {
		v, why := simulated(c, w, k.Tags, chip, parts)
		return ofSpeed(v, 1), why
	}
	return ""
}

// nearestRun is the device with a published run, other than the chip itself, whose bandwidth is nearest to the chip's, and the time
// of that run; nil where there is none.
func nearestRun(a *simulate.Application, chip *accelerator.Accelerator) (nearest *accelerator.Accelerator, seconds float64) {
	least := math.Inf(1)
	for _, name := range slices.Sorted(maps.Keys(a.Runs)) {
		other := device(name)
		if other == nil {
			other = simulate.Described(name, 0, 0, 0)
		}
		if other == nil || other.Name == chip.Name {
			continue
		}
		if way := math.Abs(math.Log(float64(other.Bandwidth.Or(0) / chip.Bandwidth.Or(0)))); way < least {
			nearest, least, seconds = other, way, a.Runs[name]
		}
	}
	if a.Rate {
		seconds = 1 / seconds
	}
	return nearest, seconds
}

var interfaces = []struct{ in, name string }{
	{"kokkos", "Kokkos"}, {"omp-target", "OpenMP"}, {"omptarget", "OpenMP"}, {"sycl", "SYCL"}, {"opencl", "OpenCL"}, {"ocl", "OpenCL"},
	{"cuda", "CUDA"}, {"acc", "OpenACC"}, {"omp", "OpenMP"},
}

// applicationOf finds the published runs of a row's case. Mini-apps have one case and name what they are programmed in, in
// brackets.
func applicationOf(r Row) *simulate.Application {
	_, build, built := strings.Cut(r.Text("case"), "[")
	programmed := ""
	for _, i := range interfaces {
		if built && programmed == "" && strings.Contains(strings.ToLower(build), i.in) {
			programmed = i.name
		}
	}
	for _, a := range simulate.Applications() {
		if a.Name == r.Text("application") && a.Interface == programmed && (a.Case == "" || a.Case == r.Text("case")) {
			return &a
		}
	}
	return nil
}

// carriedNaively is a run on another device, by the ratio of their FP32 rates where arithmetic is most of it, and else of their
// bandwidths.
func carriedNaively(a *simulate.Application, seconds float64, from, to *accelerator.Accelerator, p accelerator.Precision) float64 {
	ratio := float64(to.Bandwidth.Or(0)) / float64(from.Bandwidth.Or(1))
	if a.Bound.Compute > a.Bound.Memory {
		ratio = float64(to.Peak[p].Or(0)) / float64(from.Peak[p].Or(1))
	}
	return ratio / seconds
}
