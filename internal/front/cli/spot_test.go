package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSpotExitCodes(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
	}{
		{"spot interval --save 40s --mtbi 3h", 0}, {"spot interval --save 40s", 2}, {"spot interval --save 40s --trace missing.json", 2},
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
		"currency", "work_hours", "instances", "save_hours", "restart_hours", "notice_hours", "mtbi_hours", "basis", "source", "chosen", "on_demand.hours", "on_demand.cost.amount",
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
