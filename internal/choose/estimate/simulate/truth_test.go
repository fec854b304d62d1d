package simulate

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/sharedtest"
)

// truthChips maps the device names of the published runs to ours.
var truthChips = map[string]string{
	"Instinct MI355X": "MI355X", "Instinct MI300X": "MI300X", "Instinct MI210": "MI210", "Instinct MI100": "MI100",
	"H200 NVL": "H200-NVL-141GB", "H100 PCIe 80GB HBM2e": "H100-PCIe-80GB", "GH200 94GB GPU": "GH200-96GB", "A100 SXM4 40GB": "A100-SXM-40GB",
	"A100 PCIe 40GB": "A100-PCIe-40GB", "A30": "A30", "A40": "A40", "A2": "A2", "L4": "L4", "L40": "L40", "Tesla V100 SXM2 32GB": "V100-SXM2-32GB",
	"Tesla T4": "T4", "RTX A6000": "RTX-A6000", "RTX A5000": "RTX-A5000", "RTX A4000": "RTX-A4000", "GeForce RTX 3090": "RTX-3090",
	"GeForce RTX 4090": "RTX-4090", "GeForce RTX 5090": "RTX-5090", "GeForce RTX 5080": "RTX-5080", "RTX 4000 Ada": "RTX-4000-Ada",
	"RTX PRO 6000 Blackwell": "RTX-PRO-6000-Blackwell-Workstation", "Quadro RTX 6000": "Quadro-RTX-6000", "Quadro RTX 8000 Passive": "Quadro-RTX-8000",
	// BabelStream's shorter names.
	"V100": "V100-SXM2-16GB", "P100": "P100-PCIe-16GB", "A100-SXM-40GB": "A100-SXM-40GB",
}

// TestPublishedRuns holds the roofline against FluidX3D, whose bytes a cell are known, and against BabelStream's triad,
// whose unit is bytes. The shares are fitted to FluidX3D; BabelStream took no part.
func TestPublishedRuns(t *testing.T) {
	ratios := map[string][]float64{}
	for _, row := range sharedtest.Rows(t, "truth2", "hpc.csv") {
		cell := func(name string) string { return row[name] }
		value, err := strconv.ParseFloat(cell("value"), 64)
		chip, known := accelerator.Embedded().Get(truthChips[cell("device")])
		if err != nil || !known || cell("count") != "1" {
			continue
		}
		app, bytesPerSec := cell("application"), 0.0
		switch {
		case app == "FluidX3D" && strings.HasPrefix(cell("precision"), "FP32/FP32"):
			bytesPerSec = value * 1e6 * 153
		case app == "FluidX3D" && strings.HasPrefix(cell("precision"), "FP32/FP16S"):
			bytesPerSec = value * 1e6 * 77
		case app == "BabelStream" && strings.HasPrefix(cell("case"), "CUDA Triad"):
			bytesPerSec = value * 1e9
		default:
			continue
		}
		j, err := New(&workload.Workload{Sim: &workload.Simulation{Steps: 1, Precision: accelerator.FP32, ByteStep: unit.GB, Memory: unit.GiB}}, estimate.EmbeddedCurves())
		if err != nil {
			t.Fatal(err)
		}
		e, refusal, _ := j.Best(estimate.Group{Chip: chip, PerNode: 1, Nodes: 1})
		if refusal != nil {
			t.Errorf("%s is refused: %+v", chip.Name, refusal)
			continue
		}
		ratios[app] = append(ratios[app], bytesPerSec/(e.Speed.Value*float64(unit.GB)))
	}
	for app, r := range ratios {
		off := make([]float64, len(r))
		for i, v := range r {
			off[i] = math.Abs(v - 1)
		}
		slices.Sort(r)
		slices.Sort(off)
		t.Logf("%s: n=%d measured/predicted 10th %.2f, median %.2f, 90th %.2f; median error %.1f%%",
			app, len(r), r[len(r)/10], r[len(r)/2], r[len(r)*9/10], 100*off[len(off)/2])
		if off[len(off)/2] > 0.15 {
			t.Errorf("%s: the median error is %.1f%%", app, 100*off[len(off)/2])
		}
	}
}
