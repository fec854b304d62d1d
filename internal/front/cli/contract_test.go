package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rackrate/rackrate/internal/choose/accuracy"
	"github.com/rackrate/rackrate/internal/front/cli"
)

// rackrate runs one command line in this process.
func rackrate(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Setenv("RACKRATE_TODAY", "2026-12-01")
	t.Setenv("LANG", "C")
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("RACKRATE_DATA", t.TempDir())
	var out, errs bytes.Buffer
	code = cli.Main(context.Background(), args, cli.Stdio{In: strings.NewReader(""), Out: &out, Err: &errs})
	return code, out.String(), errs.String()
}

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("not JSON: %v\n%s", err, text)
	}
	return v
}

var finetune = []string{"--kind", "finetune", "--model", "llama-3.1-8b", "--method", "lora", "--tokens", "20M"}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
	}{
		{"version", 0}, {"plan --top 1 " + strings.Join(finetune, " "), 0}, {"config show", 0}, {"offers list --gpu H100 --top 1", 0},
		{"pln", 2}, {"plan", 2}, {"plan --kind nothing", 2}, {"plan missing.yaml", 2}, {"offers list --gpu nothing", 2}, {"--nope", 2},
		{"plan --deadline 5m --budget 1USD --kind train --model llama-3.1-70b --tokens 1T", 3}, {"offers list --gpu H200 --max-price 0.001", 3},
		{"offers show nothing", 3},
		{"model list qwen", 0}, {"model show qwen3-32b", 0}, {"model add hf:Qwen/Qwen3-32B", 0}, {"model list nothing-like-it", 3}, {"model show nothing", 2},
		{"model add", 2}, {"model add hf:a/b/c", 2}, {"model remove nothing", 3}, {"model remove qwen3-32b", 2}, {"plan --kind train --model hf:Acme/None --tokens 1M", 2},
		{"tco --top 1 " + strings.Join(finetune, " "), 0}, {"tco --template", 0}, {"tco", 2}, {"tco --months 0 " + strings.Join(finetune, " "), 2},
		{"tco --plans nobody:nothing " + strings.Join(finetune, " "), 3}, {"tco --deadline 1m " + strings.Join(finetune, " "), 3},
	} {
		if code, _, stderr := rackrate(t, strings.Fields(c.args)...); code != c.code {
			t.Errorf("rackrate %s: exit code %d, want %d\n%s", c.args, code, c.code, stderr)
		}
	}
}

// planFields are the fields that the contract of rackrate.plan/v1 promises, by path.
var planFields = []string{
	"schema", "as_of", "workload", "needs", "plans", "rejected", "pareto",
	"plans.0.cost.cash_flow", "plans.0.cost.effective_hourly", "plans.0.cost.runs", "plans.0.cost.per_run", "plans.0.mix", "plans.0.serverless",
	"plans.0.rank", "plans.0.provider", "plans.0.region", "plans.0.instance_type", "plans.0.accelerator",
	"plans.0.accelerators_per_instance", "plans.0.instances", "plans.0.accelerators",
	"plans.0.layout.tp", "plans.0.layout.pp", "plans.0.layout.dp", "plans.0.billing",
	"plans.0.memory.per_accelerator_bytes", "plans.0.memory.used_bytes", "plans.0.memory.parts",
	"plans.0.speed.value", "plans.0.speed.low", "plans.0.speed.high", "plans.0.speed.unit", "plans.0.speed.basis",
	"plans.0.time.hours", "plans.0.time.p95_hours", "plans.0.cost.total.amount", "plans.0.cost.total.currency",
	"plans.0.cost.per_unit", "plans.0.cost.lines.0.item", "plans.0.cost.lines.0.amount", "plans.0.carbon_kg", "plans.0.bottleneck",
	"plans.0.warnings", "plans.0.price.as_of", "plans.0.price.source", "plans.0.price.confidence",
	"rejected.0.reason", "rejected.0.count", "rejected.0.nearest.instance_type", "rejected.0.nearest.short_by",
}

func TestPlanContract(t *testing.T) {
	args := append([]string{"plan", "-o", "json", "--top", "20"}, finetune...)
	_, stdout, _ := rackrate(t, args...)
	doc := decode(t, stdout)
	for _, path := range planFields {
		if _, ok := at(doc, path); !ok {
			t.Errorf("no field %s", path)
		}
	}
	if doc["schema"] != "rackrate.plan/v1" {
		t.Errorf("schema %v", doc["schema"])
	}
	plans := doc["plans"].([]any)
	if len(plans) != 20 {
		t.Errorf("%d plans, asked for 20", len(plans))
	}
	for _, p := range plans {
		sumsHold(t, p.(map[string]any))
	}
	if _, again, _ := rackrate(t, args...); again != stdout {
		t.Error("the same question gave other bytes")
	}
}

// sumsHold checks that cost lines sum to the total to the millionth, memory parts to what is used, shares to one.
func sumsHold(t *testing.T, p map[string]any) {
	t.Helper()
	sum := new(big.Rat)
	cost := p["cost"].(map[string]any)
	for _, l := range cost["lines"].([]any) {
		amount, ok := new(big.Rat).SetString(l.(map[string]any)["amount"].(string))
		if !ok {
			t.Fatalf("not a decimal: %v", l)
		}
		sum.Add(sum, amount)
	}
	total, _ := new(big.Rat).SetString(cost["total"].(map[string]any)["amount"].(string))
	if sum.Cmp(total) != 0 {
		t.Errorf("plan %v: lines sum to %s, total %s", p["rank"], sum.FloatString(6), total.FloatString(6))
	}
	memory, used := p["memory"].(map[string]any), 0.0
	for _, b := range memory["parts"].(map[string]any) {
		used += b.(float64)
	}
	if used != memory["used_bytes"].(float64) {
		t.Errorf("plan %v: parts sum to %v, used %v", p["rank"], used, memory["used_bytes"])
	}
	shares := 0.0
	for _, s := range p["bottleneck"].(map[string]any) {
		shares += s.(float64)
	}
	if shares < 0.999 || shares > 1.001 {
		t.Errorf("plan %v: shares sum to %v", p["rank"], shares)
	}
}

// at finds a value by a dotted path; a number is a place in a list.
func at(v any, path string) (any, bool) {
	for key := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			next, ok := x[key]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i := int(key[0] - '0')
			if i >= len(x) {
				return nil, false
			}
			v = x[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// A warning's words follow the language; everything a program reads does not.
func TestJSONSpeaksOneLanguage(t *testing.T) {
	args := append([]string{"plan", "-o", "json", "--top", "3"}, finetune...)
	_, en, _ := rackrate(t, args...)
	_, zh, _ := rackrate(t, append(args, "--lang", "zh")...)
	strip := func(text string) string {
		var kept []string
		for line := range strings.Lines(text) {
			if !strings.Contains(line, `"message":`) {
				kept = append(kept, line)
			}
		}
		return strings.Join(kept, "")
	}
	if strip(en) != strip(zh) {
		t.Error("the language changes more than the messages")
	}
}

func TestNothingFitsStillAnswers(t *testing.T) {
	code, stdout, stderr := rackrate(t, append([]string{"plan", "-o", "json", "--budget", "0.01 USD"}, finetune...)...)
	doc := decode(t, stdout)
	if code != 3 || len(doc["plans"].([]any)) != 0 || len(doc["rejected"].([]any)) == 0 || stderr == "" {
		t.Errorf("exit code %d, stderr %q, %.200s", code, stderr, stdout)
	}
}

func TestSizeContract(t *testing.T) {
	_, stdout, _ := rackrate(t, "size", "--model", "deepseek-v3", "-o", "json")
	doc := decode(t, stdout)
	for _, path := range []string{"schema", "model.name", "parameters.total", "parameters.active", "weights.0.bytes", "kv_bytes_per_token", "needs", "on"} {
		if _, ok := at(doc, path); !ok {
			t.Errorf("no field %s", path)
		}
	}
	_, stdout, _ = rackrate(t, "size", "--kind", "train", "--model", "llama-3.1-8b", "--tokens", "1B", "--gpu", "H100-SXM:8", "-o", "json")
	doc = decode(t, stdout)
	for _, path := range []string{"needs.memory_bytes", "on.fits", "on.memory.parts.weights", "on.memory.used_bytes", "on.layout.tp"} {
		if _, ok := at(doc, path); !ok {
			t.Errorf("no field %s", path)
		}
	}
}

func TestModelContract(t *testing.T) {
	_, stdout, _ := rackrate(t, "model", "show", "deepseek-v3", "-o", "json")
	doc := decode(t, stdout)
	for _, path := range []string{
		"schema", "change", "model.name", "model.own", "model.hf", "model.parameters", "model.active_parameters", "shape.layers", "parameters.routed",
		"multi_token_prediction_parameters", "check", "kv_bytes_per_token", "kv_bytes_per_token_8bit", "weights.0.bytes", "source", "license", "file",
	} {
		if _, ok := at(doc, path); !ok {
			t.Errorf("no field %s", path)
		}
	}
	_, stdout, _ = rackrate(t, "model", "list", "-o", "json")
	doc = decode(t, stdout)
	if n := float64(len(doc["models"].([]any))); n != doc["total"] || n != doc["matched"] || n < 150 || doc["own"] != 0.0 {
		t.Errorf("%v models of %v, %v found, %v own", n, doc["total"], doc["matched"], doc["own"])
	}
}

// The lines of every option sum to its total and so do its months, as printed.
func TestTCOContract(t *testing.T) {
	_, stdout, _ := rackrate(t, append([]string{"tco", "-o", "json", "--months", "13", "--assume", "buy.life=1y"}, finetune...)...)
	doc := decode(t, stdout)
	for _, path := range []string{"schema", "as_of", "currency", "workload.kind", "months", "runs_per_month", "used", "options.0.id", "options.0.plan", "options.0.lines.0.state",
		"options.0.committed_beyond.amount", "cheapest", "modes", "break_evens", "sensitivity.rows.5.totals.0.amount", "assumptions.0.key", "assumptions.0.source"} {
		if _, ok := at(doc, path); !ok {
			t.Errorf("no field %s", path)
		}
	}
	number := func(v any) *big.Rat {
		r, ok := new(big.Rat).SetString(v.(string))
		if !ok {
			t.Fatalf("not a decimal: %v", v)
		}
		return r
	}
	for _, o := range doc["options"].([]any) {
		lines, months := new(big.Rat), new(big.Rat)
		for i := range o.(map[string]any)["lines"].([]any) {
			if total, _ := at(o, "lines."+string(rune('0'+i))+".total.amount"); total != nil {
				lines.Add(lines, number(total))
			}
		}
		for _, m := range o.(map[string]any)["months"].([]any) {
			m := m.(map[string]any)
			months.Add(months, number(m["upfront"])).Add(months, number(m["running"]))
		}
		total, _ := at(o, "total.amount")
		if want := number(total); lines.Cmp(want) != 0 || months.Cmp(want) != 0 {
			t.Errorf("lines sum to %s, months to %s, the total is %s", lines.FloatString(6), months.FloatString(6), want.FloatString(6))
		}
	}
}

// The generated reference says what the commands say; rackrate gen-docs docs writes it anew.
func TestReferenceIsFresh(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "formats"), 0o755); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := rackrate(t, "gen-docs", dir); code != 0 {
		t.Fatal(stderr)
	}
	for _, name := range []string{"cli.md", "cli.zh.md", "accuracy.md", "accuracy.zh.md", "formats/workload.md", "formats/workload.zh.md"} {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("docs/%s is stale: rackrate gen-docs docs", name)
		}
	}
}

// The page of formats names every table that accuracy reads, by the columns it is known by.
func TestTablesAreDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "formats", "accuracy.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range accuracy.Layouts() {
		name, columns, _ := strings.Cut(strings.TrimSuffix(table, ")"), " (")
		row := "| " + name + " | `" + strings.ReplaceAll(columns, ", ", "`, `") + "` |"
		if !strings.Contains(string(page), row) {
			t.Errorf("docs/formats/accuracy.md has no row %s", row)
		}
	}
}
