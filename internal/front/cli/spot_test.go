package cli_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rackrate/rackrate/internal/sharedtest"
)

func TestSpotExitCodes(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
	}{
		{"spot interval --save 40s --mtbi 3h", 0}, {"spot interval --save 40s", 2}, {"spot interval --save 40s --trace missing.json", 2},
		{"spot simulate", 2}, {"spot simulate missing.json --od-price 3 --spot-price 1", 2},
		{"spot interval --save 40s --instance p5.48xlarge --region nowhere", 3}, {"spot interval --save 40s --instance nothing", 3},
	} {
		if code, _, stderr := rackrate(t, strings.Fields(c.args)...); code != c.code {
			t.Errorf("rackrate %s: exit code %d, want %d\n%s", c.args, code, c.code, stderr)
		}
	}
}

func TestSpotIntervalContract(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "a.json")
	if err := os.WriteFile(trace, []byte(`{"metadata": {"gap_seconds": 1800}, "data": [1, 1, 1, 0, 1, 1, 0, 0, 1]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	_, stdout, _ := rackrate(t, "spot", "interval", "--save", "40s", "--trace", trace, "--spot-price", "1", "--od-price", "3", "-o", "json")
	doc := decode(t, stdout)
	for _, path := range []string{
		"currency", "work_hours", "instances", "save_hours", "restart_hours", "notice_hours", "mtbi_hours", "basis", "source", "endless_interval_hours", "chosen", "on_demand.hours", "on_demand.cost.amount",
		"methods.0.method", "methods.1.interval_hours", "methods.2.checkpoints", "methods.2.mean_hours", "methods.2.p95_hours", "methods.2.overhead",
		"methods.2.interruptions", "methods.2.mean_cost.amount", "methods.2.p95_cost.currency", "methods.2.saving", "trace.losses", "trace.up_hours",
		"trace.available_share", "trace.spread", "trace.replay.mean_hours", "trace.replay.p95_hours", "trace.replay.mean_paid_hours", "trace.replay.mean_cost.amount",
	} {
		if v, ok := at(doc, path); !ok || v == nil && path != "notice_hours" && path != "source" {
			t.Errorf("no field %s", path)
		}
	}
	if doc["schema"] != "rackrate.spot-interval/v1" || doc["mtbi_hours"] != 1.5 {
		t.Errorf("schema %v, %v h between interruptions", doc["schema"], doc["mtbi_hours"])
	}
}

// The published availability of one node in 17 zones: no deadline is missed, nothing is cheaper than the optimum, and adaptive beats
// Uniform Progress; the fields are those that the contract promises.
func TestSpotSimulateContract(t *testing.T) {
	traces := filepath.Join(sharedtest.Dir(t), "traces", "spot")
	for slack, most := range map[string]float64{"0.1": 1.12, "1": 1.08} {
		code, stdout, stderr := rackrate(t, "spot", "simulate", filepath.Join(traces, "1-node"), "--work", "48h", "--slack", slack, "--overhead", "0.2h", "--od-price", "3",
			"--spot-price", "1", "-o", "json")
		if code != 0 {
			t.Fatal(stderr)
		}
		doc := decode(t, stdout)
		figure := func(path string) float64 {
			v, ok := at(doc, path)
			if f, is := v.(float64); ok && is {
				return f
			}
			t.Errorf("no number %s", path)
			return 0
		}
		for _, policy := range []string{"on-demand", "greedy", "uniform-progress", "ross", "adaptive", "optimal"} {
			of := "overall." + policy + "."
			for _, field := range []string{"cost", "saving", "preemptions", "spot_share", "hours"} {
				figure(of + field)
			}
			if figure(of+"missed") != 0 || figure(of+"runs") != 102 || figure(of+"ratio_to_optimal") < 1 {
				t.Errorf("slack %s, %s: %v", slack, policy, doc["overall"].(map[string]any)[policy])
			}
			figure("traces.0.policies." + policy + ".cost")
		}
		for _, field := range []string{"work_hours", "deadline_hours", "overhead_hours", "nodes", "starts", "traces.0.gap_seconds", "traces.0.available_share", "traces.0.overhead_ticks"} {
			figure(field)
		}
		if got := figure("overall.adaptive.ratio_to_optimal"); got > most || got >= figure("overall.uniform-progress.ratio_to_optimal") {
			t.Errorf("slack %s: adaptive costs %.4f of the optimum", slack, got)
		}
		if len(doc["traces"].([]any)) != 17 || doc["schema"] != "rackrate.spot-simulate/v1" || doc["zones"] != "apart" || doc["currency"] != "USD" {
			t.Errorf("%v, %v, %v", doc["schema"], doc["zones"], doc["currency"])
		}
		// 48 h in ticks of 195 s.
		if figure("traces.0.work_ticks") != 886 {
			t.Errorf("%v ticks of work", figure("traces.0.work_ticks"))
		}
	}
	// A trace that ends before the deadline is left out by name.
	_, stdout, _ := rackrate(t, "spot", "simulate", traces, "--work", "300h", "--slack", "0.1", "--od-price", "3", "--spot-price", "1", "--starts", "1", "--policy", "greedy", "-o", "json")
	if left := decode(t, stdout)["left_out"].([]any); len(left) != 1 || left[0] != "16-node/aws-08-27-2023/us-east-2b_v100_1" {
		t.Errorf("left out %v", left)
	}
}

// A share that is lost within a time becomes a rate −ln(1 − p); a number is one; a plain number of hours is hours.
func TestSpotRates(t *testing.T) {
	for flag, want := range map[string]float64{
		"--rate=5%/month": -730 / math.Log(0.95), "--rate=50%/d": 24 / math.Ln2, "--rate=0.5/h": 2, "--rate= 3 / week": 56, "--mtbi=2.65": 2.65, "--mtbi=90m": 1.5,
	} {
		_, stdout, stderr := rackrate(t, "spot", "interval", "--save", "40s", flag, "-o", "json")
		if stderr != "" {
			t.Errorf("%s: %s", flag, stderr)
		} else if got := decode(t, stdout)["mtbi_hours"].(float64); math.Abs(got/want-1) > 1e-8 {
			t.Errorf("%s: %v h, want %v", flag, got, want)
		}
	}
	_, stdout, _ := rackrate(t, "spot", "interval", "--save", "40s", "--rate", "0/h", "-o", "json")
	if doc := decode(t, stdout); doc["mtbi_hours"] != nil {
		t.Errorf("never interrupted, yet every %v h", doc["mtbi_hours"])
	}
	for _, bad := range []string{"5%", "100%/month", "-1/h", "NaN/h", "1e9/h", "5%/year/2", "x/h"} {
		if code, _, _ := rackrate(t, "spot", "interval", "--save", "40s", "--rate", bad); code != 2 {
			t.Errorf("--rate %s: exit code %d", bad, code)
		}
	}
}
