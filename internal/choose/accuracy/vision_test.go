package accuracy

import (
	"math"
	"strings"
	"testing"

	"github.com/rackrate/rackrate/internal/choose/estimate"
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
	s := sharedSet(t, "truth/inference_other.csv")
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
	if k.HeldOut.MdAPE > 0.10 || k.Unseen.MdAPE > 0.12 || k.N < 2500 {
		t.Errorf("held out %+v, unseen %+v", k.HeldOut, k.Unseen)
	}
	asFitted(t, mine, estimate.Vision, 0.15)
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
