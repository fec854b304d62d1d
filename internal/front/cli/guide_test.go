package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/sharedtest"
)

// A guide shows what its commands print and figures that are worked out here, in both languages; -update writes them anew.
func TestGuideOfPaying(t *testing.T) {
	traces := filepath.Join(sharedtest.Dir(t), "traces", "spot")
	t.Chdir(filepath.Join("..", "..", ".."))
	for name, lang := range map[string]string{"paying.md": "en", "paying.zh.md": "zh"} {
		path := filepath.Join("docs", "guides", name)
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := transcripts(t, string(raw), lang, traces)
		text = table(t, text, "savings", savings(t))
		text = table(t, text, "spot shares", spotShares(t))
		switch {
		case text == string(raw):
		case *update:
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("%s is stale: go test ./internal/front/cli -run Guide -update", path)
		}
	}
}

var transcript = regexp.MustCompile("(?s)```console\n\\$ rackrate ([^\n]*)\n(.*?)```")

// transcripts runs the commands of a guide, and puts what they print in its place. Where a guide leaves lines out, which … stands for, what
// it shows must be printed in that order.
func transcripts(t *testing.T, text, lang, traces string) string {
	t.Helper()
	return transcript.ReplaceAllStringFunc(text, func(block string) string {
		m := transcript.FindStringSubmatch(block)
		args := append(strings.Fields(strings.ReplaceAll(m[1], "$TRACES", traces)), "--lang", lang)
		code, stdout, stderr := rackrate(t, args...)
		if code != 0 {
			t.Fatalf("%s: %s", m[1], stderr)
		}
		if !strings.Contains("\n"+m[2], "\n…\n") {
			return "```console\n$ rackrate " + m[1] + "\n" + stdout + "```"
		}
		rest := "\n" + stdout
		for _, part := range strings.Split("\n"+m[2], "\n…\n") {
			_, after, ok := strings.Cut(rest, strings.TrimSuffix(part, "\n"))
			if !ok {
				t.Errorf("%s does not print, where it should:\n%s\nbut:\n%s", m[1], part, stdout)
				break
			}
			rest = after
		}
		return block
	})
}

// table puts rows below the head of the table that follows a mark.
func table(t *testing.T, text, mark, rows string) string {
	t.Helper()
	found := regexp.MustCompile(`(?s)(<!-- ` + mark + ` -->\n[^\n]*\n\|[ -:|]*\|\n)((?:\|[^\n]*\n)*)`).FindStringSubmatchIndex(text)
	if found == nil {
		t.Fatalf("no table follows %q", mark)
	}
	return text[:found[3]] + rows + text[found[5]:]
}

// savings is what the fleet of the guide saves by the share of its load that may be interrupted.
func savings(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	for _, share := range []string{"0%", "25%", "50%"} {
		_, stdout, stderr := rackrate(t, "commit", "examples/serve-fleet.yaml", "--interruptible", share, "-o", "json")
		if stderr != "" && stdout == "" {
			t.Fatal(stderr)
		}
		fmt.Fprintf(&out, "| `--interruptible %s` |", share)
		for _, h := range decode(t, stdout)["totals"].([]any) {
			fmt.Fprintf(&out, " %.0f %% |", 100*h.(map[string]any)["saving"].(float64))
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// spotShares is the price of spot over that of on-demand in the catalog, of the providers with a hundred such pairs.
func spotShares(t *testing.T) string {
	t.Helper()
	c, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	by := map[string][]float64{}
	for _, o := range c.Offers {
		spot, ok := o.Mode(catalog.Spot)
		onDemand, both := o.Mode(catalog.OnDemand)
		if ok && both && !spot.Doubtful() && spot.Hourly.Currency() == onDemand.Hourly.Currency() {
			by[o.Provider] = append(by[o.Provider], spot.Hourly.Float()/onDemand.Hourly.Float())
		}
	}
	var providers []string
	for p, shares := range by {
		if len(shares) >= 100 {
			providers = append(providers, p)
			slices.Sort(shares)
		}
	}
	slices.Sort(providers)
	var out strings.Builder
	for _, p := range providers {
		shares := by[p]
		at := func(q float64) float64 { return 100 * shares[int(q*float64(len(shares)-1))] }
		low, _ := slices.BinarySearch(shares, 0.136)
		fmt.Fprintf(&out, "| %s | %d | %.0f %% | %.0f %% | %.0f %% | %.0f %% |\n", p, len(shares), at(0.1), at(0.5), at(0.9), 100*float64(low)/float64(len(shares)))
	}
	return out.String()
}
