package diffuse

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/model"
	"github.com/rackrate/rackrate/internal/sharedtest"
)

// truthModels and truthChips map the names of the published measurements to ours; what is not listed is not compared.
var (
	truthModels = map[string]string{
		"SD1.5": "stable-diffusion-1.5", "SDXL-1.0": "sdxl-base-1.0", "FLUX.1-dev": "flux.1-dev", "PixArt": "pixart-sigma",
		"SD2.x": "stable-diffusion-2.1", "Kolors": "sdxl-base-1.0", // Kolors has the denoiser of SDXL
	}
	truthChips = map[string]string{
		"A100-SXM-80GB": "A100-SXM-80GB", "H100-80GB": "H100-SXM-80GB", "RTX 3090": "RTX-3090", "RTX 4090": "RTX-4090",
		"L20": "L20", "H800-NVL-80GB": "H800-SXM-80GB",
	}
	// Engines that change neither the network nor its output.
	truthEngines = []string{"diffusers", "diffusers PyTorch", "torch.compile", "diffusers torch.compile", "onediff nexfort", "onediff oneflow", "sd-webui torch", "sd-webui onediff", "sd-webui TensorRT 9.0.1"}
)

// TestPublishedLatency holds predictions against published single-accelerator latencies in 16 bit.
func TestPublishedLatency(t *testing.T) {
	ratios := map[string][]float64{}
	for _, row := range sharedtest.Rows(t, "truth2", "diffusion.csv") {
		cell := func(name string) string { return row[name] }
		p := cell("precision")
		if cell("count") != "1" || cell("output") != "image" || p != "" && p != "bf16" && p != "fp16" || !slices.Contains(truthEngines, cell("engine")) {
			continue
		}
		seconds, err := strconv.ParseFloat(cell("s_per_image"), 64)
		ratio, ok := compare(t, cell("model"), cell("device"), cell("resolution"), cell("steps"), cell("batch"), seconds)
		if err != nil || !ok {
			continue
		}
		shape := "unet"
		if strings.HasPrefix(cell("model"), "FLUX") || cell("model") == "PixArt" {
			shape = "transformer"
		}
		ratios[shape] = append(ratios[shape], ratio)
		ratios["all"] = append(ratios["all"], ratio)
		t.Logf("%-10s %-14s %-24s b%-2s measured/predicted %.2f", cell("model"), cell("device"), cell("engine"), cell("batch"), ratio)
	}
	for name, r := range ratios {
		slices.Sort(r)
		median := r[len(r)/2]
		t.Logf("%s: n=%d median measured/predicted %.2f, 10th %.2f, 90th %.2f", name, len(r), median, r[len(r)/10], r[len(r)*9/10])
		if math.Abs(median-1) > 0.15 {
			t.Errorf("%s: the median of measured over predicted is %.2f", name, median)
		}
	}
}

// compare gives measured over predicted images a second.
func compare(t *testing.T, name, device, resolution, steps, batch string, seconds float64) (float64, bool) {
	t.Helper()
	w, h, ok := strings.Cut(resolution, "x")
	chip, known := accelerator.Embedded().Get(truthChips[device])
	n, err := strconv.Atoi(steps)
	if !ok || !known || err != nil || truthModels[name] == "" {
		return 0, false
	}
	m, err := model.Embedded().Get(truthModels[name])
	if err != nil {
		t.Fatal(err)
	}
	width, _ := strconv.Atoi(w)
	height, _ := strconv.Atoi(h)
	b, _ := strconv.Atoi(batch)
	made, err := New(&workload.Workload{Kind: workload.Diffuse, Model: m, Format: "fp16", Diffuse: &workload.Generation{
		Images: 1, Width: width, Height: height, Steps: n, Guidance: m.Diffusion.Guidance}}, estimate.EmbeddedCurves())
	if err != nil {
		t.Fatal(err)
	}
	j := made.(*job)
	r, refusal := j.rates(estimate.Group{Chip: chip, PerNode: 1, Nodes: 1})
	if refusal != nil {
		return 0, false
	}
	return j.seconds(r, b).total() / float64(b) / seconds, true
}
