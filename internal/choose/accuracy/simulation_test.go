package accuracy

import (
	"math"
	"testing"

	"github.com/rackrate/rackrate/internal/choose/estimate"
)

const simulationHead = "device,count,application,case,metric,value,unit,precision,source,notes\n"

// A device that nobody lists is predicted from what the row says of it: twice the bandwidth, twice the updates.
func TestDescribedDevice(t *testing.T) {
	s := read(t, simulationHead+
		`GeForce RTX 3070M,1,FluidX3D,D3Q19,lattice updates,2000,MLUPs/s,FP32/FP32 (compute/storage),a/b README.md,"spec fp32 16.60 TFLOP/s, 8 GB, 400 GB/s"`+"\n"+
		`GeForce RTX 3071M,1,FluidX3D,D3Q19,lattice updates,2000,MLUPs/s,FP32/FP32 (compute/storage),a/b README.md,"spec fp32 16.60 TFLOP/s, 8 GB, 800 GB/s"`+"\n")
	if len(s.Cases) != 2 {
		t.Fatalf("%+v", s.Skipped)
	}
	c := estimate.EmbeddedCurves().Without(estimate.Simulation)
	one, _ := s.Cases[0].Predict(c)
	two, _ := s.Cases[1].Predict(c)
	if math.Abs(two.Value/one.Value-2) > 1e-6 {
		t.Errorf("%v and %v", one.Value, two.Value)
	}
	// 400 GB/s over 153 bytes are 2614 million updates; devices of its kind reach four to nine tenths of that.
	if one.Value < 0.7*2614 || one.Value > 0.95*2614 {
		t.Errorf("%v million updates a second", one.Value)
	}
	if s.Cases[0].Tags.Structure != "8.6" || s.Cases[0].Tags.Precision != "FP32/FP32" || s.Cases[0].Source != "a/b" {
		t.Errorf("%+v", s.Cases[0])
	}
}

// More devices never do less of a lattice, and less than so many times as much.
func TestCutLattice(t *testing.T) {
	row := func(n string) string {
		return "A100 SXM4 40GB," + n + ",FluidX3D,D3Q19,lattice updates,2000,MLUPs/s,FP32/FP16S (compute/storage),a/b,\n"
	}
	s := read(t, simulationHead+row("1")+row("2")+row("4")+row("8"))
	c := estimate.EmbeddedCurves()
	last := 0.0
	for i, k := range s.Cases {
		v, why := k.Predict(c)
		if why != "" {
			t.Fatal(why)
		}
		if i > 0 && (v.Value <= last || v.Value >= 2*last) {
			t.Errorf("%s: %v after %v", k.Label, v.Value, last)
		}
		last = v.Value
	}
}

// Wall time is predicted as a rate, from the published runs of other devices.
func TestPublishedRuns(t *testing.T) {
	s := read(t, simulationHead+"V100,1,cloverleaf,2955 steps [cuda],wall time,90,s,,a/b x.out,\n")
	if len(s.Cases) != 1 || math.Abs(s.Cases[0].Measured-1./90) > 1e-12 {
		t.Fatalf("%+v %+v", s.Cases, s.Skipped)
	}
	v, why := s.Cases[0].Predict(estimate.EmbeddedCurves())
	if why != "" || 1/v.Value < 70 || 1/v.Value > 130 || s.Cases[0].Baseline <= 0 {
		t.Errorf("%v s %s", 1/v.Value, why)
	}
}

func TestSimulationSkips(t *testing.T) {
	leavesOut(t, simulationHead, estimate.Simulation, map[string]Skip{
		"A30,1,FluidX3D,D3Q19,x,,MLUPs/s,FP32/FP32 (c/s),a/b,":           NoFigure,
		"A30,1,FluidX3D,D3Q19,x,1,MLUPs/s,FP64/FP64 (c/s),a/b,":          NoFormat,
		"Abacus,1,FluidX3D,D3Q19,x,1,MLUPs/s,FP32/FP32 (c/s),a/b,":       NoChip,
		"1x A30 + 1x A40,2,FluidX3D,D3Q19,x,1,MLUPs/s,FP32/FP32,a/b,":    NoSize,
		"A30,,FluidX3D,D3Q19,x,1,MLUPs/s,FP32/FP32 (c/s),a/b,":           NoSize,
		"A30,4,MLPerf HPC v3.0,deepcam,x,900,s,,a/b,":                    NotModelled,
		"Instinct MI210 GigaIO,8,FluidX3D,D3Q19,x,1,MLUPs/s,FP32/FP32,,": NotModelled,
		"A30,1,GROMACS,water,x,1,ns/day,,a/b,":                           NoReference,
	})
}

func TestSimulationTable(t *testing.T) {
	s := wholeTable(t, "truth2", "hpc.csv", estimate.Simulation)
	asFitted(t, s, estimate.Simulation, 0.12)
	var bound []Result
	for _, r := range Measure(s, estimate.EmbeddedCurves()).Results {
		if m := r.Tags.Mode; m == "FluidX3D" || m == "BabelStream" {
			bound = append(bound, r)
		}
	}
	if e := ErrorOf(bound); e.MdAPE > 0.10 || e.Coverage < 0.75 || e.Coverage > 0.90 {
		t.Errorf("bound by bandwidth: median error %.3f, coverage %.2f", e.MdAPE, e.Coverage)
	}
}
