package accuracy

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/persample"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// sampled is a case of a network with a fixed cost a sample, measured as if it reached something, by a factor off.
func sampled(t *testing.T, c *estimate.Curves, name, chip string, mode persample.Mode, round int, off float64) *Case {
	t.Helper()
	m, err := model.Embedded().Get(name)
	if err != nil {
		t.Fatal(err)
	}
	net, ok := persample.Of(m, 128)
	a, known := accelerator.Embedded().Get(chip)
	if !ok || !known {
		t.Fatal(name, chip)
	}
	x := &benched{net: net, items: 1, g: estimate.Group{Chip: a, Share: 1, PerNode: 1, Nodes: 1}}
	x.set = persample.Setting{Mode: mode, Precision: accelerator.INT8}
	p, why := x.predict(c)
	if why != "" {
		t.Fatal(why)
	}
	return &Case{
		Target: estimate.Vision, Tags: net.Tags(x.g, x.set), Model: name, Source: fmt.Sprint("MLPerf Inference v", round),
		Label: string(mode), Measured: p.Value * off, Predict: x.predict,
	}
}

// What networks were planted to reach is found again, though one row of each is fifty times off; and it is the middle of them that
// others of their kind are taken to reach.
func TestNetworksRecovered(t *testing.T) {
	want := map[string]estimate.Reached{
		"resnet-50": {Level: 1.2, Kernels: 120, Alone: 1}, "retinanet": {Level: 0.8, Kernels: 300, Alone: 1}, "rnn-t": {Level: 1.1, Kernels: 2000, Alone: 30},
	}
	raw := estimate.EmbeddedCurves().Without(estimate.Vision)
	planted := reach{networks: want}.on(raw, estimate.Vision)
	var cases []*Case
	for name := range want {
		for i, chip := range []string{"T4", "A2", "L4", "A100-SXM-80GB", "H100-SXM-80GB", "H200-SXM-141GB"} {
			for round, off := range []float64{0.97, 1, 1.03} {
				if i == 0 && round == 0 {
					off = 50
				}
				cases = append(cases, sampled(t, planted, name, chip, persample.Bulk, round, off), sampled(t, planted, name, chip, persample.Single, round, off))
			}
		}
	}
	got := (&netFit{target: estimate.Vision, raw: raw}).fit(cases)
	for name, w := range want {
		g := got.networks[name]
		if math.Abs(g.Level/w.Level-1) > 0.03 || math.Abs(g.Kernels/w.Kernels-1) > 0.15 || math.Abs(g.Alone/w.Alone-1) > 0.15 || g.N != 36 || g.Groups != 18 {
			t.Errorf("%s: %+v, planted %+v", name, g, w)
		}
	}
	if c := got.kinds["convolution"]; math.Abs(c.Level/math.Sqrt(1.2*0.8)-1) > 0.03 || c.Source != "networks like it: resnet-50, retinanet" {
		t.Errorf("%+v", c)
	}
}

// A network without single samples keeps what was assumed of its kernels.
func TestWhatIsNotToldIsAssumed(t *testing.T) {
	raw := estimate.EmbeddedCurves().Without(estimate.Vision)
	k := sampled(t, raw, "dlrm", "T4", persample.Bulk, 1, 1.5)
	got := (&netFit{target: estimate.Vision, raw: raw}).fit([]*Case{k})
	if r := got.networks["dlrm"]; math.Abs(r.Level-1.5) > 0.02 || r.Kernels != 0 || r.Alone != 0 {
		t.Errorf("%+v", r)
	}
}

// sampleTables are the tables that tell what networks with a fixed cost a sample do, by what is fitted to them.
var sampleTables = map[estimate.Target]string{estimate.Vision: "truth/inference_other.csv", estimate.SampleTraining: "truth/training_other.csv"}

func only(s *Set, target estimate.Target) *Set {
	return &Set{
		Cases:   slices.DeleteFunc(slices.Clone(s.Cases), func(k *Case) bool { return k.calibration() != target }),
		Skipped: s.Skipped,
	}
}
