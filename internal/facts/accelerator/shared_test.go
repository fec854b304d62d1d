package accelerator

import (
	"encoding/csv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/sharedtest"
)

// tidied maps the names of the reference table that are remarks as much as names to ours.
var tidied = map[string]string{
	"A16 (per GPU, 4 per board)": "A16", "Rubin (announced)": "Rubin", "MI455X (announced)": "MI455X",
	"Gaudi3-PCIe (HL-338)": "Gaudi3-PCIe", "Data Center GPU Flex 170": "Flex-170",
	"Data Center GPU Max 1550": "Max-1550", "Data Center GPU Max 1100": "Max-1100", "Arc Pro B60": "Arc-Pro-B60",
	"TPU-v7x (Ironwood)": "TPU-v7x", "Ascend-950PR (Atlas 350)": "Ascend-950PR",
	"MTT S4000": "MTT-S4000", "MTT S5000": "MTT-S5000", "R200/R300": "R300",
	"PPU (810E)": "PPU-810E", "Zhenwu M890": "Zhenwu-M890",
}

// leftOut are the rows of the reference table that we do not carry.
var leftOut = map[string]string{
	"DCU-Z100": "nothing but an architecture is known",
	"T21":      "nothing but an architecture is known",
}

// beyond are the rows with figures that the reference table leaves out, and why we state them.
var beyond = map[string]string{
	"H100-SXM-96GB-HBM2e-500W": "its notes say that torchtitan divides by 989 TFLOPS, those of the die",
	"TPU-v4":                   "Google prints 2,400 Gbit/s a chip between chips",
}

// TestAgainstReferenceTable holds every main figure against the reference table: where that one says nothing, neither do we.
func TestAgainstReferenceTable(t *testing.T) {
	rows := readTable(t, filepath.Join(sharedtest.Dir(t), "truth", "accelerators.csv"))
	if len(rows) < 100 {
		t.Fatalf("only %d reference rows", len(rows))
	}
	for _, want := range rows {
		name := want["model"]
		if leftOut[name] != "" {
			continue
		}
		if tidied[name] != "" {
			name = tidied[name]
		}
		a, ok := Embedded().Get(name)
		if !ok {
			t.Errorf("no row for %s", want["model"])
			continue
		}
		if a.Vendor != want["vendor"] || a.Compute != want["compute_capability_or_gfx"] || a.MemoryType != want["memory_type"] || string(a.Confidence) != want["confidence"] {
			t.Errorf("%s: %s %q %q %s", name, a.Vendor, a.Compute, a.MemoryType, a.Confidence)
		}
		for column, got := range figures(a) {
			v, known := got.Get()
			ref, err := strconv.ParseFloat(want[column], 64)
			if known && err != nil && beyond[name] != "" {
				continue
			}
			if known != (err == nil) || known && !near(v, ref) {
				t.Errorf("%s: %s is %v (known %v), reference %q", name, column, v, known, want[column])
			}
		}
	}
}

// figures gives the main figures by the reference table's columns and in its units.
func figures(a *Accelerator) map[string]unit.Maybe[float64] {
	f := map[string]unit.Maybe[float64]{
		"release_year": count(a.Year), "memory_gb": a.NominalGB, "mem_bw_gbs": scaled(a.Bandwidth, 1e9),
		"interconnect_gbs_bidir": scaled(a.LinkBidir, 1e9), "tdp_w": scaled(a.TDP, 1),
		"pcie_gen": count(a.PCIeGen), "pcie_lanes": count(a.PCIeLanes),
		"mig_max_instances": count(a.MIGMax), "rt_cores": count(a.RTCores), "nvenc": count(a.NVENC),
	}
	columns := [NumPrecisions]string{"fp64", "fp64_tensor", "fp32", "tf32", "bf16", "fp16_tensor", "fp8", "fp4", "int8_tops", "int4_tops"}
	for p, column := range columns {
		f[column] = scaled(a.Peak[p], 1e12)
	}
	return f
}

func scaled[T ~float64](m unit.Maybe[T], by float64) unit.Maybe[float64] {
	if v, ok := m.Get(); ok {
		return unit.Some(float64(v) / by)
	}
	return unit.None[float64]()
}

func count(m unit.Maybe[int]) unit.Maybe[float64] {
	if v, ok := m.Get(); ok {
		return unit.Some(float64(v))
	}
	return unit.None[float64]()
}

// unresolved are the texts in accelerator columns of the reference catalogs that name no chip of ours, with the reason.
var unresolved = map[string]string{
	"Alveo U250 (FPGA)": "an FPGA, not a chip that runs models",
	"Xilinx U30":        "a video transcoder",
	"AMD MA35D":         "a video transcoder",
	"Qualcomm AI100":    "no rates published that we could stand behind",
	"1x H100 SXM":       "carries a count, which a chip's name must not swallow",

	"a2-highgpu-8g": "an instance type", "a2-ultragpu-1g": "an instance type", "a3-highgpu-8g": "an instance type",
	"a3-megagpu-8g": "an instance type", "a3-ultragpu-8g": "an instance type", "a4-highgpu-8g": "an instance type",
	"g4-standard-48": "an instance type", "ecs.gn8v-8x.48xlarge": "an instance type", "p5e.48xlarge": "an instance type",
	"p5en.48xlarge": "an instance type", "p5en.48xlarge (US)": "an instance type", "p5en.48xlarge (non-US)": "an instance type",
	"p6-b200.48xlarge": "an instance type", "p6-b300.48xlarge": "an instance type", "u-p6e-gb200x72": "an instance type",
}

// TestCatalogSpellings resolves what every catalog we have seen calls its accelerators.
func TestCatalogSpellings(t *testing.T) {
	seen := map[string]string{}
	root := filepath.Join(sharedtest.Dir(t), "catalog")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".csv" {
			return err
		}
		for _, row := range readTable(t, path) {
			for _, column := range []string{"AcceleratorName", "accelerator", "sku_or_gpu", "GPU"} {
				seen[strings.TrimSpace(row[column])] = path
			}
			seen[infoName(row["GpuInfo"])] = path
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	delete(seen, "")
	if len(seen) < 150 {
		t.Errorf("only %d spellings found", len(seen))
	}
	for text, path := range seen {
		chips := Embedded().Resolve(text)
		if reason := unresolved[text]; (chips == nil) != (reason != "") {
			t.Errorf("%s: %q finds %q, reason against %q", path, text, namesOf(chips), reason)
		}
	}
}

// infoName cuts the name out of a GpuInfo cell: a bare name, JSON or a Python literal.
func infoName(info string) string {
	if !strings.HasPrefix(info, "{") {
		return info
	}
	_, rest, _ := strings.Cut(strings.ReplaceAll(info, "'", `"`), `"Name":`)
	parts := strings.SplitN(rest, `"`, 3)
	if len(parts) < 3 {
		return ""
	}
	return parts[1]
}

func readTable(t *testing.T, path string) []map[string]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = -1 // some are ragged
	header, err := r.Read()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var rows []map[string]string
	for {
		cells, err := r.Read()
		if err == io.EOF {
			return rows
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		row := map[string]string{}
		for i, c := range cells {
			if i < len(header) {
				row[header[i]] = c
			}
		}
		rows = append(rows, row)
	}
}
