package cli_test

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rackrate/rackrate/internal/connect/store/pgtest"
)

// list is a price list of so many machines at one price.
func list(t *testing.T, dir, name string, machines int, hourly float64) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region\n")
	for i := range machines {
		fmt.Fprintf(&b, "x%d,H100-SXM,8,128,2048,,%g,,region-%d\n", i/6, hourly, i%6)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A process that is killed while it brings prices in leaves the last snapshot whole: all prices are of one list or of the other.
func TestKilledImportLeavesOneWholeList(t *testing.T) {
	kills := map[string]int{"sqlite": 40, "postgres": 20}
	for name, address := range map[string]func(t *testing.T, dir string) string{
		"sqlite":   func(_ *testing.T, dir string) string { return "sqlite:" + filepath.Join(dir, "store.db") },
		"postgres": func(t *testing.T, _ string) string { return pgtest.Start(t) },
	} {
		t.Run(name, func(t *testing.T) {
			n := kills[name]
			if testing.Short() {
				n /= 4
			}
			dir := t.TempDir()
			k := killing{t, append(os.Environ(), "RACKRATE_DB="+address(t, dir), "RACKRATE_DATA="+dir, "HOME="+dir), 3000}
			files := []string{list(t, dir, "a.csv", k.machines, 20), list(t, dir, "b.csv", k.machines, 30)}
			var whole time.Duration // the second, which changes every price, takes longer
			for _, f := range files {
				start := time.Now()
				k.run(0, "catalog", "import", f, "--name", "list", "--provider", "acme")
				whole = max(whole, time.Since(start))
			}
			rng := rand.New(rand.NewPCG(1, 2))
			seen := map[string]int{}
			for i := range n {
				// Later and later, from at once to twice the time that one takes, so that some come in every part of it.
				after := 2 * float64(whole) * (float64(i) + rng.Float64()) / float64(n)
				k.run(time.Duration(after), "catalog", "import", files[i%2], "--name", "list", "--provider", "acme")
				seen[k.price()]++
			}
			if len(seen) != 2 {
				t.Errorf("killed %d times, the store had %v: no kill came early enough, or none late enough", n, seen)
			}
		})
	}
}

type killing struct {
	*testing.T
	env      []string
	machines int
}

// run runs the command, and kills it after a while; 0 is never.
func (k killing) run(after time.Duration, args ...string) []byte {
	k.Helper()
	c := exec.Command("rackrate", args...)
	c.Env = k.env
	var out strings.Builder
	c.Stdout = &out
	if err := c.Start(); err != nil {
		k.Fatal(err)
	}
	if after > 0 {
		kill := time.AfterFunc(after, func() { _ = c.Process.Kill() }) // it may have ended already
		defer kill.Stop()
	}
	if err := c.Wait(); err != nil && after == 0 {
		k.Fatalf("%v: %v", args, err)
	}
	return []byte(out.String())
}

// price is the one price that all machines in the store have.
func (k killing) price() string {
	k.Helper()
	rows, err := csv.NewReader(strings.NewReader(string(k.run(0, "offers", "list", "--source", "list", "--flat", "-o", "csv")))).ReadAll()
	if err != nil || len(rows) != k.machines+1 {
		k.Fatalf("%d rows of %d: %v", len(rows)-1, k.machines, err)
	}
	column := -1
	for i, h := range rows[0] {
		if h == "hourly" {
			column = i
		}
	}
	for _, r := range rows[1:] {
		if r[column] != rows[1][column] {
			k.Fatalf("prices of two lists: %s and %s", r[column], rows[1][column])
		}
	}
	return rows[1][column]
}
