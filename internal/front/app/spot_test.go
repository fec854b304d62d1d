package app_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/front/app"
)

const hourly = `{"metadata": {"gap_seconds": 3600}, "data": [2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]}`

func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Folders are searched, files that are named twice are read once, and names leave out what is common to all.
func TestTraceNames(t *testing.T) {
	dir := folder(t, map[string]string{"x/one/a.json": hourly, "x/one/b.json": hourly, "x/two/a.json": hourly, "x/readme.md": "no trace"})
	for _, c := range []struct {
		paths, want []string
	}{
		{[]string{"x"}, []string{"one/a", "one/b", "two/a"}},
		{[]string{"x/one", "x/one/a.json"}, []string{"a", "b"}},
		{[]string{"x/two/a.json", "x/one/a.json"}, []string{"two/a", "one/a"}},
		{[]string{"x/two/a.json"}, []string{"a"}},
	} {
		var paths, names []string
		for _, p := range c.paths {
			paths = append(paths, filepath.Join(dir, filepath.FromSlash(p)))
		}
		traces, err := newApp(t).Traces(paths)
		for _, s := range traces {
			names = append(names, s.Name)
		}
		if err != nil || !slices.Equal(names, c.want) {
			t.Errorf("%v: %v, %v; want %v", c.paths, names, err, c.want)
		}
	}
}

func simulate(t *testing.T, q app.SpotSimulateRequest) (*app.SpotSimulation, error) {
	t.Helper()
	q.Work, q.Deadline, q.Starts = 4, 8, 1
	q.Nodes = max(1, q.Nodes)
	return newApp(t).SpotSimulate(t.Context(), q)
}

// Known answers: what is always there costs its price, times the nodes, by the hour it is bought in.
func TestSpotSimulate(t *testing.T) {
	dir := folder(t, map[string]string{
		"a.json": hourly, "prices.csv": "time,price\n0,1\n7200,2\n14400,4\n21600,1\n28800,1\n36000,1\n", "short.csv": "time,price\n0,1\n3600,1\n",
	})
	usd := func(n int64) money.Rate { return money.PerHour(n*1e9, money.USD) }
	number := func(n int64) []app.SpotPrice { return []app.SpotPrice{{Rate: usd(n)}} }
	file := func(name string) []app.SpotPrice { return []app.SpotPrice{{File: filepath.Join(dir, name)}} }
	traces := []string{filepath.Join(dir, "a.json")}
	for _, c := range []struct {
		name   string
		policy string
		spot   []app.SpotPrice
		nodes  int
		want   float64
	}{
		{"a fixed price", "greedy", number(1), 1, 4},
		{"two nodes", "greedy", number(1), 2, 8},
		{"on demand", "on-demand", number(1), 2, 24},
		{"as it changes every two hours", "greedy", file("prices.csv"), 1, 6},
		{"the cheapest hours in time", "optimal", file("prices.csv"), 1, 4},
	} {
		s, err := simulate(t, app.SpotSimulateRequest{Traces: traces, OnDemand: usd(3), Spot: c.spot, Nodes: c.nodes, Policies: []string{c.policy}})
		if err != nil || s.Overall[0].Cost.Float() != c.want || s.Missed() != 0 {
			t.Errorf("%s: %+v, %v; want %v", c.name, s, err, c.want)
		}
	}
	// A market is known no further than its prices are.
	_, err := simulate(t, app.SpotSimulateRequest{Traces: traces, OnDemand: usd(3), Spot: file("short.csv")})
	if problem.ExitCode(err) != 3 {
		t.Errorf("prices of two hours for a deadline of eight: %v", err)
	}
	// Prices are brought into one currency, which changes no ratio.
	s, err := simulate(t, app.SpotSimulateRequest{Traces: traces, OnDemand: money.PerHour(21e9, money.CNY), Spot: number(1), Policies: []string{"on-demand"}})
	x, _ := newApp(t).Exchange()
	want, _ := x.Rate(money.PerHour(21e9, money.CNY), money.USD)
	if rate, ok := s.SpotHourly.Get(); !ok || rate != usd(1) {
		t.Errorf("spot at %v", rate)
	}
	if err != nil || s.Hourly != want || math.Abs(s.Overall[0].Cost.Float()-4*want.Float()) > 1e-5 {
		t.Errorf("%+v, %v; want %v an hour", s, err, want)
	}
}

// What the catalog knows stands in for what is not given, and gives way to what is.
func TestSpotIntervalFromTheCatalog(t *testing.T) {
	q := app.SpotIntervalRequest{Work: 48, Save: unit.FromSeconds(40), Restart: 0.1, Instances: 2, Instance: "p5.48xlarge", Region: "us-east-1"}
	a := newApp(t)
	s, err := a.SpotInterval(q)
	if err != nil {
		t.Fatal(err)
	}
	perHour, basis, _, _ := a.Providers().Interruption("aws", "us-east-1", "p5.48xlarge")
	if math.Abs(s.Process.MTBI-0.5/perHour) > 1e-6 || s.Basis != basis || s.Process.Notice != 120.0/3600 || !s.Best().Cost.Known() || !s.OnDemand.Known() {
		t.Errorf("%+v", s)
	}
	q.PerHour, q.Notice, q.Spot = unit.Some(0.1), unit.Some(unit.Hours(0)), unit.Some(money.PerHour(1e9, money.USD))
	s, err = a.SpotInterval(q)
	cost, _ := s.Best().Cost.Get()
	if err != nil || math.Abs(s.Process.MTBI-5) > 1e-9 || s.Basis != app.RateGiven || s.Process.Notice != 0 || math.Abs(cost.Float()-2*s.Best().Mean) > 1e-5 {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := a.SpotInterval(app.SpotIntervalRequest{Work: 1, Instances: 1, Instance: "nothing"}); problem.ExitCode(err) != 3 {
		t.Errorf("an unknown instance: %v", err)
	}
}
