package cli_test

import (
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// commitFiles writes a quarter and a week of hourly demand of two groups, and a price book.
func commitFiles(t *testing.T) (usage, book string) {
	t.Helper()
	dir := t.TempDir()
	usage, book = filepath.Join(dir, "usage.csv"), filepath.Join(dir, "book.csv")
	var b strings.Builder
	b.WriteString("time,units,group\n")
	start := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	for h := range 14 * 168 {
		at := start.Add(time.Duration(h) * time.Hour).Format(time.RFC3339)
		fmt.Fprintf(&b, "%s,%d,web\n%s,%g,batch\n", at, 5+(h%24)/3+h/168%5, at, float64(h%7)/3)
	}
	for path, text := range map[string]string{
		usage: b.String(),
		book:  "mode,hourly,currency\non-demand,9.99,USD\nspot,3.333333,USD\nreserved-1y,6.61,USD\nreserved-3y-partial-upfront,4.27,USD\nreserved-1m,44,CNY\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return usage, book
}

// sum adds exact decimals.
func sum(t *testing.T, texts ...any) *big.Rat {
	t.Helper()
	total := new(big.Rat)
	for _, text := range texts {
		v, ok := new(big.Rat).SetString(fmt.Sprint(text))
		if !ok {
			t.Fatalf("not a decimal: %v", text)
		}
		total.Add(total, v)
	}
	return total
}

// Every figure that is a sum is that sum to the millionth: of parts, of months, of purchases, of groups; and the bound is the cost.
func TestCommitContract(t *testing.T) {
	usage, book := commitFiles(t)
	code, stdout, stderr := rackrate(t, "commit", usage, "--prices", book, "--interruptible", "40%", "--growth", "25%/y", "-o", "json")
	if code != 0 {
		t.Fatal(stderr)
	}
	doc := decode(t, stdout)
	for _, path := range []string{
		"schema", "as_of", "currency", "provider", "instance_type", "region", "growth_per_year", "interruptible", "spot_overhead", "buy_every_months",
		"groups.0.group", "groups.0.history.from", "groups.0.history.mean_units", "groups.0.scenario_basis", "groups.0.spread.four_week_deviation",
		"groups.0.prices.0.billing", "groups.0.prices.0.hourly", "groups.0.prices.0.quoted.amount", "groups.0.prices.0.break_even", "groups.0.prices.0.used",
		"groups.1.horizons.1.purchases.0.billing", "groups.1.horizons.1.purchases.0.bought", "groups.1.horizons.1.purchases.0.utilisation",
		"totals.1.months", "totals.1.saving", "totals.1.unit_hours.idle", "totals.1.utilisation", "totals.1.cash_flow.0.upfront",
		"totals.1.scenarios.2.regret", "totals.1.scenarios.2.first_level", "totals.1.if_demand_falls.0.saving", "totals.1.worth_it_until_fall",
	} {
		if _, ok := at(doc, path); !ok {
			t.Errorf("no field %s", path)
		}
	}
	if basis, _ := at(doc, "groups.0.scenario_basis"); basis != "history" {
		t.Errorf("scenarios are %v", basis)
	}
	for horizon := range 2 {
		var groups, alls []any
		for g := range 2 {
			h, _ := at(doc, fmt.Sprintf("groups.%d.horizons.%d", g, horizon))
			adds(t, h.(map[string]any))
			m := h.(map[string]any)
			if m["bound"] != m["cost"] {
				t.Errorf("bound %v, cost %v", m["bound"], m["cost"])
			}
			groups, alls = append(groups, m["cost"]), append(alls, m["all_on_demand"])
		}
		total, _ := at(doc, fmt.Sprintf("totals.%d", horizon))
		m := total.(map[string]any)
		adds(t, m)
		if sum(t, groups...).Cmp(sum(t, m["cost"])) != 0 || sum(t, alls...).Cmp(sum(t, m["all_on_demand"])) != 0 {
			t.Errorf("groups cost %v, the total is %v", groups, m["cost"])
		}
	}
}

// adds checks the sums of one horizon.
func adds(t *testing.T, h map[string]any) {
	t.Helper()
	cost := sum(t, h["cost"])
	if parts := sum(t, h["cost_committed"], h["cost_on_demand"], h["cost_spot"]); parts.Cmp(cost) != 0 {
		t.Errorf("parts sum to %s, cost %s", parts.FloatString(6), cost.FloatString(6))
	}
	paid := new(big.Rat)
	for _, m := range h["cash_flow"].([]any) {
		due := m.(map[string]any)
		month := sum(t, due["upfront"], due["running"])
		if month.Cmp(sum(t, due["total"])) != 0 {
			t.Errorf("month %v: %v and %v are not %v", due["month"], due["upfront"], due["running"], due["total"])
		}
		paid.Add(paid, month)
	}
	if paid.Cmp(cost) != 0 {
		t.Errorf("months sum to %s, cost %s", paid.FloatString(6), cost.FloatString(6))
	}
	if buys, ok := h["purchases"].([]any); ok {
		var prices []any
		for _, b := range buys {
			prices = append(prices, b.(map[string]any)["cost"])
		}
		if bought := sum(t, prices...); bought.Cmp(sum(t, h["cost_committed"])) != 0 {
			t.Errorf("purchases sum to %s, commitments cost %v", bought.FloatString(6), h["cost_committed"])
		}
	}
}

// What flags mean is seen in the request that comes back.
func TestCommitFlags(t *testing.T) {
	usage, book := commitFiles(t)
	for _, c := range []struct {
		flags, path string
		want        any
	}{
		{"--growth 0", "growth_per_year", 0.0}, {"--growth 20%", "growth_per_year", 0.2}, {"--growth -50%/year", "growth_per_year", -0.5},
		{"--interruptible 30%", "interruptible", 0.3}, {"--interruptible 100%", "interruptible", 1.0}, {"--spot-overhead 5%", "spot_overhead", 0.05},
		{"--every 12", "buy_every_months", 12.0}, {"--scenarios 1,1,2", "groups.0.scenario_basis", "given"}, {"--scenarios 0.5,1,2", "groups.0.horizons.0.scenarios.2.last_level", 2.0},
		{"--currency CNY", "currency", "CNY"},
	} {
		args := append([]string{"commit", usage, "--prices", book, "-o", "json"}, strings.Fields(c.flags)...)
		code, stdout, stderr := rackrate(t, args...)
		if code != 0 {
			t.Errorf("%s: %s", c.flags, stderr)
			continue
		}
		if got, _ := at(decode(t, stdout), c.path); got != c.want {
			t.Errorf("%s: %s is %v, want %v", c.flags, c.path, got, c.want)
		}
	}
	for _, flags := range []string{
		"--interruptible 101%", "--interruptible -1%", "--interruptible 0.3", "--growth -100%", "--growth 1%/week", "--growth NaN%", "--scenarios 1,2",
		"--scenarios -1,1,2", "--scenarios 1,1,NaN", "--every 37", "--instance p5.48xlarge", "--in-gpus", "extra.csv", "--prices none.csv",
	} {
		args := append([]string{"commit", usage, "--prices", book}, strings.Fields(flags)...)
		if code, _, stderr := rackrate(t, args...); code != 2 || stderr == "" {
			t.Errorf("%s: exit code %d, %q", flags, code, stderr)
		}
	}
}
