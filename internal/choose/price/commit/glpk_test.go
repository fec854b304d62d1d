package commit

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
)

// The same problems, stated hour by hour as a mixed-integer programme that knows nothing of networks, solved by GLPK. The linear
// relaxation is compared too where demand is whole.
func TestAgreesWithGLPK(t *testing.T) {
	solver, err := exec.LookPath("glpsol")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("glpsol is missing: apt-get install glpk-utils")
		}
		t.Skip("glpsol is missing; apt-get install glpk-utils to run this test")
	}
	rng := rand.New(rand.NewPCG(7, 11))
	for i := range 12 {
		fractional := i%3 == 2
		months, top := []int{3, 12, 14, 36}[i%4], 3+rng.IntN(20)
		p := Problem{OnDemand: cents(60 + rng.IntN(60)), Every: i % 3, Options: book()}
		if i%2 == 0 {
			p.Spot = unit.Some(cents(20 + rng.IntN(50)))
		}
		for s := range 1 + i%3 {
			sc := Scenario{Weight: 3 + s%2, Months: make([][]Step, months)}
			for m := range sc.Months {
				for range 5 {
					d := rng.Float64() * float64(top) * (0.5 + float64(m)/float64(months))
					if !fractional {
						d = math.Round(d)
					}
					firm := d * []float64{1, 0.6}[i%2]
					if !fractional {
						firm = math.Round(firm)
					}
					sc.Months[m] = append(sc.Months[m], Step{d, firm, 146})
				}
			}
			p.Scenarios = append(p.Scenarios, sc)
		}
		mix := solved(t, p)
		file := filepath.Join(t.TempDir(), fmt.Sprintf("%d.lp", i))
		if err := os.WriteFile(file, []byte(programme(p)), 0o600); err != nil {
			t.Fatal(err)
		}
		check := func(relaxed bool) {
			want := glpk(t, solver, file, relaxed)
			if got := mix.Cost.Float(); math.Abs(got-want) > 1e-6*math.Max(1, want) {
				t.Errorf("case %d, relaxed %v: cost %.6f, GLPK finds %.6f", i, relaxed, got, want)
			}
		}
		check(false)
		if !fractional {
			check(true)
		}
	}
}

// glpk solves a file and gives the least cost.
func glpk(t *testing.T, solver, file string, relaxed bool) float64 {
	t.Helper()
	args := []string{"--lp", file, "--write", file + ".out"}
	if relaxed {
		args = append(args, "--nomip")
	}
	if out, err := exec.Command(solver, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := os.Open(file + ".out")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if cells := strings.Fields(lines.Text()); cells[0] == "s" {
			if optimal := map[string]bool{"mip o": true, "bas f": true}[cells[1]+" "+cells[4]]; !optimal {
				t.Fatalf("no optimum: %s", lines.Text())
			}
			v, err := strconv.ParseFloat(cells[len(cells)-1], 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	t.Fatal("no solution in the file")
	return 0
}

// programme writes a problem in the CPLEX LP format: x units bought, and for every step o units on demand and s on spot.
func programme(p Problem) string {
	var goal, rows, bounds, whole strings.Builder
	perUnit := func(r money.Rate) float64 { return r.Float() / float64(p.weight()) }
	for m := 0; m < p.months(); m += max(1, p.Every) {
		for k, o := range p.Options {
			fmt.Fprintf(&goal, " + %.6f x%d_%d\n", o.Price().Float(), k, m)
			fmt.Fprintf(&whole, " x%d_%d\n", k, m)
		}
	}
	spot, hasSpot := p.Spot.Get()
	for s, sc := range p.Scenarios {
		for m, steps := range sc.Months {
			for i, st := range steps {
				name, time := fmt.Sprintf("%d_%d_%d", s, m, i), float64(sc.Weight)*float64(st.Hours)
				fmt.Fprintf(&goal, " + %.9f o%s\n", time*perUnit(p.OnDemand), name)
				fmt.Fprintf(&rows, " r%s: o%s", name, name)
				if hasSpot {
					fmt.Fprintf(&goal, " + %.9f s%s\n", time*perUnit(spot), name)
					fmt.Fprintf(&rows, " + s%s", name)
					fmt.Fprintf(&bounds, " s%s <= %.9f\n", name, st.Units-st.Firm)
				}
				for b := 0; b <= m; b += max(1, p.Every) {
					for k, o := range p.Options {
						if m < b+o.Months() {
							fmt.Fprintf(&rows, "\n + x%d_%d", k, b)
						}
					}
				}
				fmt.Fprintf(&rows, " >= %.9f\n", st.Units)
			}
		}
	}
	return "Minimize\n cost:\n" + goal.String() + "Subject To\n" + rows.String() + "Bounds\n" + bounds.String() + "General\n" + whole.String() + "End\n"
}

// What a user would otherwise do: state a year hour by hour, as a history does, and hand it to a solver of mixed-integer programmes.
func BenchmarkAgainstGLPK(b *testing.B) {
	solver, err := exec.LookPath("glpsol")
	if err != nil {
		b.Skip("glpsol is missing; apt-get install glpk-utils to run this benchmark")
	}
	rng := rand.New(rand.NewPCG(3, 5))
	months := make([][]Step, 12)
	for m := range months {
		for h := range unit.HoursPerMonth {
			d := math.Round(20 + 15*math.Sin(2*math.Pi*float64(h)/24) + 5*rng.Float64())
			months[m] = append(months[m], Step{d, math.Round(0.7 * d), 1})
		}
	}
	p := Problem{OnDemand: cents(100), Spot: unit.Some(cents(35)), Options: book(), Scenarios: []Scenario{{1, months}}}
	file := filepath.Join(b.TempDir(), "year.lp")
	if err := os.WriteFile(file, []byte(programme(p)), 0o600); err != nil {
		b.Fatal(err)
	}
	hours := func(b *testing.B) {
		b.ReportMetric(float64(b.N*12*unit.HoursPerMonth)/b.Elapsed().Seconds(), "hours/s")
	}
	b.Run("ours", func(b *testing.B) {
		for b.Loop() {
			if _, err := Solve(p); err != nil {
				b.Fatal(err)
			}
		}
		hours(b)
	})
	b.Run("glpsol", func(b *testing.B) {
		for b.Loop() {
			if out, err := exec.Command(solver, "--lp", file).CombinedOutput(); err != nil {
				b.Fatalf("%v\n%s", err, out)
			}
		}
		hours(b)
	})
}
