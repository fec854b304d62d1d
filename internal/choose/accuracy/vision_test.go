package accuracy

import (
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/persample"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/sharedtest"
)

const inferenceHead = "model,accelerator,accelerator_count,precision,scenario,isl,concurrency_or_batch,tokens_per_s_total,output_tokens_per_s,requests_per_s,latency_ms_p50,source,notes\n"

// benchRow is one row of inference with the columns that vision reads.
func benchRow(t *testing.T, row string) *Set {
	t.Helper()
	return read(t, inferenceHead+row+"\n")
}

// What a row says of itself is used: the slice of a chip, how many slices, the power limit, the scenario.
func TestVisionRowStates(t *testing.T) {
	s := benchRow(t, strings.Join([]string{
		"ResNet-50,A100-SXM-80GB,8,int8,mlperf-v2.1-offline,,,,,3.2e5,,x DGX-A100_A100-SXM-80GBx8_TRT/resnet50/Offline,",
		"ResNet-50,A100-SXM-80GB-MIG-1g.10gb,7,int8,mlperf-v2.1-offline,,,,,145520,,x XE8545_A100-SXM-80GB-MIG_28x1g.10gb/resnet50/Offline,7 MIG instance(s)",
		"ResNet-50,A100-SXM-80GB(CTS),8,int8,mlperf-v2.1-offline,,,,,3.3e5,,x y,A100 500W",
		"ResNet-50,A100-SXM-80GB,8,int8,mlperf-v2.1-singlestream,,,,,,0.44,x y,",
		"ResNet-50,A100-SXM-80GB,8,int8,mlperf-v2.1-server,,,,,2.9e5,8.1,x y,MaxQ power-limited",
	}, "\n"))
	if len(s.Cases) != 5 {
		t.Fatalf("%d cases, skipped %+v", len(s.Cases), s.Skipped)
	}
	value := make([]float64, len(s.Cases))
	for i, k := range s.Cases {
		if k.Target != estimate.Vision || k.Tags.Chip != "A100-SXM-80GB" || k.Tags.Precision != "int8" || k.Group() != s.Cases[0].Group() {
			t.Errorf("case %d: %+v in %s", i, k.Tags, k.Group())
		}
		p, why := k.Predict(estimate.EmbeddedCurves().Without(estimate.Vision))
		if value[i] = p.Value; why != "" {
			t.Errorf("case %d: %s", i, why)
		}
	}
	// 28 slices of a tenth under a seventh each are 3.6 chips of eight; 500 W do more than 400; one stream is one accelerator.
	if r := value[1] / value[0]; math.Abs(r-28*0.9/7/8) > 1e-6 {
		t.Errorf("slices %v of the whole", r)
	}
	if value[2] <= value[0] || math.Abs(s.Cases[3].Measured-1000/0.44) > 1e-6 || value[3] > 4000 {
		t.Errorf("%v", value)
	}
	if s.Cases[4].Tags.Mode != "served limited" {
		t.Errorf("%+v", s.Cases[4].Tags)
	}
}

func TestVisionSkips(t *testing.T) {
	for row, want := range map[string]Skip{
		"ResNet-50,RTX 9999,8,int8,mlperf-v2.1-offline,,,,,3e5,,x y,":             NoChip,
		"ResNet-50,T4,8,int8,mlperf-v2.1-offline,,,,,,,x y,":                      NoFigure,
		"ResNet-50,T4,,int8,mlperf-v2.1-offline,,,,,3e5,,x y,":                    NoSize,
		"NeverNet,T4,8,int8,mlperf-v2.1-offline,,,,,3e5,,x y,":                    NotModelled,
		"NeverNet,Inferentia2,1,fp32,neuron-batch,128,8,,,300,,aws-neuron/sdk x,": NoModel,
		"bert-base,Inferentia2,1,fp32,neuron-batch,128,8,,,,,aws-neuron/sdk x,":   NoFigure,
		"ResNet-50,T4,8,int8,mlperf-v2.1-offline,,,,,3e5,,x y,SUSPECT: ten times": Suspect,
		"RetinaNet,A100-SXM-80GB-MIG-xg,1,int8,mlperf-v2.1-offline,,,,,30,,x y,":  NoChip,
	} {
		s := benchRow(t, row)
		if len(s.Cases) != 0 || len(s.Skipped) != 1 || s.Skipped[0].Reason != want || s.Skipped[0].What == "" {
			t.Errorf("%s: %+v %+v", row, s.Cases, s.Skipped)
		}
	}
}

// Every row of vision, speech, encoders, recommenders and graphs ends as a case or a skip, and what the calibration says of itself
// holds: 15 per cent on groups left out, 25 on accelerators left out.
func TestVisionAsFitted(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(sharedtest.Dir(t), "truth", "inference_other.csv"))
	if err != nil {
		t.Fatal(err)
	}
	s := &Set{}
	if err := s.Read("inference_other.csv", text); err != nil {
		t.Fatal(err)
	}
	ends := map[int]int{}
	mine := &Set{}
	for _, k := range s.Cases {
		ends[k.Line]++
		if k.Target == estimate.Vision {
			mine.Cases = append(mine.Cases, k)
		}
	}
	for _, k := range s.Skipped {
		ends[k.Line]++
	}
	if rows := sharedtest.Rows(t, "truth", "inference_other.csv"); len(ends) != len(rows) {
		t.Errorf("%d of %d rows", len(ends), len(rows))
	}
	k := estimate.EmbeddedCurves().Calibrations[estimate.Vision]
	if k.HeldOut.MdAPE > 0.10 || k.Unseen.MdAPE > 0.15 || k.N < 2500 {
		t.Errorf("held out %+v, unseen %+v", k.HeldOut, k.Unseen)
	}
	asFitted(t, mine, estimate.Vision, 0.15)
}

// The level of each network in data/efficiency/persample.yaml is the median over groups of measured over the formula at level 1, in
// bulk; this works it out again.
func TestLevelsAreTheMedians(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(sharedtest.Dir(t), "truth", "inference_other.csv"))
	if err != nil {
		t.Fatal(err)
	}
	s := &Set{}
	if err := s.Read("inference_other.csv", text); err != nil {
		t.Fatal(err)
	}
	bare := estimate.EmbeddedCurves().Without(estimate.Vision)
	groups := map[string]map[string][]float64{}
	for _, k := range s.Cases {
		if k.Target != estimate.Vision || k.Tags.Mode != string(persample.Bulk) || !strings.HasPrefix(k.Source, "MLPerf") {
			continue
		}
		p, why := k.Predict(bare)
		if why != "" {
			continue
		}
		m := k.Tags.Model
		if groups[m] == nil {
			groups[m] = map[string][]float64{}
		}
		g := k.Group() + k.Tags.Precision
		groups[m][g] = append(groups[m][g], k.Measured/p.Value)
	}
	for m, of := range groups {
		var medians []float64
		for _, ratios := range of {
			medians = append(medians, Quantile(ratios, 0.5))
		}
		if off := Quantile(medians, 0.5); off < 0.93 || off > 1.07 {
			t.Errorf("%s: the level is off by %.3f over %d groups", m, off, len(medians))
		}
	}
	if len(groups) < 11 {
		t.Errorf("%d networks", len(groups))
	}
}

func TestPart(t *testing.T) {
	for name, want := range map[string]struct {
		chip  string
		share float64
	}{
		"A100-SXM-80GB-MIG-1g.10gb": {"A100-SXM-80GB", 0.9 / 7}, "A30-MIG-1g.6gb": {"A30", 0.25}, "T4(vGPU 16Q)": {"T4", 1},
		"H100-PCIe-80GB": {"H100-PCIe-80GB", 1}, "Biren-BR104": {"BR104", 1},
	} {
		chip, share := part(name)
		if chip == nil || chip.Name != want.chip || math.Abs(share-want.share) > 1e-9 {
			t.Errorf("%s: %v %v", name, chip, share)
		}
	}
	a, _ := accelerator.Embedded().Get("T4")
	for text, watts := range map[string]float64{"T4 TDP: 50W": 50, "ECC off": 70, "rack of 9000 W": 70} {
		if got, _ := powered(a, text).TDP.Get(); float64(got) != watts {
			t.Errorf("%s: %v W", text, got)
		}
	}
}

// A fit without a third of the groups and a sixth of the accelerators predicts both, within its intervals in about eight of ten.
func TestThirdsLeftOut(t *testing.T) {
	if testing.Short() {
		t.Skip("fits twice")
	}
	for file, target := range map[string]estimate.Target{"inference_other.csv": estimate.Vision, "training_other.csv": estimate.SampleTraining} {
		text, err := os.ReadFile(filepath.Join(sharedtest.Dir(t), "truth", file))
		if err != nil {
			t.Fatal(err)
		}
		s := &Set{}
		if err := s.Read(file, text); err != nil {
			t.Fatal(err)
		}
		dealt := func(what string) uint32 {
			h := fnv.New32a()
			fmt.Fprint(h, "1", what)
			return h.Sum32()
		}
		kept, left, unseen := &Set{}, &Set{}, &Set{}
		for _, k := range s.Cases {
			to := kept
			switch {
			case k.calibration() != target:
				continue
			case dealt("chip"+k.Tags.Chip)%6 == 0:
				to = unseen
			case dealt(k.Group())%3 == 0:
				to = left
			}
			to.Cases = append(to.Cases, k)
		}
		fitted, err := Fit(kept, estimate.EmbeddedCurves(), target, "2026-11-30")
		if err != nil {
			t.Fatal(err)
		}
		c := estimate.EmbeddedCurves().Calibrated(fitted)
		for name, of := range map[string]*Set{"groups": left, "accelerators": unseen} {
			e := ErrorOf(Measure(of, c).Results)
			if e.N < 50 || e.MdAPE > 0.12 || e.Coverage < 0.70 || e.Coverage > 0.96 {
				t.Errorf("%s, %s left out: %+v", target, name, e)
			}
		}
	}
}
