package accuracy

import (
	"math"
	"testing"

	"github.com/rackrate/rackrate/internal/choose/estimate"
)

const otherTrainingHead = "workload,model,accelerator,accelerator_count,nodes,precision,global_batch,samples_per_s,time_to_train_s,system,source,notes\n"

// A rate that would not have seen half the data in the time that the run took is one process's; submitters of a round are one group.
func TestOtherTrainingRow(t *testing.T) {
	s := read(t, otherTrainingHead+
		"train,RetinaNet,H200-SXM-141GB,8,1,,256,308.848,2010.5,a,mlcommons/training_results_v5.1 A/x,\n"+
		"train,RetinaNet,H200-SXM-141GB,8,1,,256,2466.5,2038.8,b,mlcommons/training_results_v5.1 B/y,\n"+
		"train,R-GAT,GB200,72,18,,73728,1.99e6,100,c,mlcommons/training_results_v5.1 C/z,\n")
	if len(s.Cases) != 3 || len(s.Skipped) != 0 {
		t.Fatalf("%+v", s.Skipped)
	}
	one, all := s.Cases[0], s.Cases[1]
	if math.Abs(one.Measured-8*308.848) > 1e-6 || all.Measured != 2466.5 || one.Group() != all.Group() || len(one.Assumed) == 0 {
		t.Errorf("%v and %v, %s and %s", one.Measured, all.Measured, one.Group(), all.Group())
	}
	for _, k := range s.Cases {
		p, why := k.Predict(estimate.EmbeddedCurves())
		if why != "" || math.Abs(p.Value/k.Measured-1) > 0.25 || k.Target != estimate.Training {
			t.Errorf("%s: %v, measured %v", k.Label, p.Value, k.Measured)
		}
	}
	if s.Cases[2].Tags.Mode != "one machine" {
		t.Errorf("72 of a GB200 are one domain: %+v", s.Cases[2].Tags)
	}
}

func TestOtherTrainingSkips(t *testing.T) {
	leavesOut(t, otherTrainingHead, estimate.Training, map[string]Skip{
		"train,NeverNet,B200,8,1,,256,300,,a,mlcommons/training_results_v5.1 A/x,":       NotModelled,
		"train,RetinaNet,RTX 9999,8,1,,256,300,,a,mlcommons/training_results_v5.1 A/x,":  NoChip,
		"train,RetinaNet,B200,8,1,,,300,,a,mlcommons/training_results_v5.1 A/x,":         NoSize,
		"train,RetinaNet,B200,8,1,,256,,,a,mlcommons/training_results_v5.1 A/x,":         NoFigure,
		"train,RetinaNet,B200,8,1,,256,3,,a,mlcommons/training_results_v5.1 A/x,SUSPECT": Suspect,
	})
}

// Every row ends as a case or a skip, and groups and accelerators left out are predicted within 10 per cent in the median.
func TestOtherTrainingAsFitted(t *testing.T) {
	s := wholeTable(t, "truth", "training_other.csv", estimate.Training)
	for _, k := range s.Cases {
		if k.By != estimate.SampleTraining {
			t.Fatalf("%s by %q", k.Label, k.By)
		}
	}
	asFitted(t, s, estimate.SampleTraining, 0.10)
}
