package hash

import (
	"math"
	"slices"
	"strings"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

// capability is what a multiprocessor of one compute capability does in a clock.
type capability struct {
	Lanes     float64 `yaml:"lanes"`      // FP32 multiply-adds
	Logic     float64 `yaml:"logic"`      // 32-bit adds and logic
	Rotate    float64 `yaml:"rotate"`     // 32-bit funnel shifts
	SharedKiB float64 `yaml:"shared_kib"` // of shared memory at most
	Watts     float64 `yaml:"watts"`      // of board power a listed FP32 TFLOP/s below which the clock falls; 0 where unknown
}

type constants struct {
	AsOf         string                `yaml:"as_of"`
	LogicShare   float64               `yaml:"logic_share"`
	Capabilities map[string]capability `yaml:"capabilities"`
	Shared       []string              `yaml:"shared"`
	Mixed        []string              `yaml:"mixed"`
	Source       string                `yaml:"source"`
	Cards        []card                `yaml:"cards"`
}

// card is one that the chip table does not list.
type card struct {
	Name    string  `yaml:"name"`
	Arch    string  `yaml:"arch"`
	Compute string  `yaml:"compute"`
	FP32    float64 `yaml:"fp32"`
	Watts   float64 `yaml:"watts"`
}

var limits = estimate.Embedded[constants]("efficiency/hash.yaml")

// bound is what limits an algorithm on a chip.
type bound string

const (
	arithmetic bound = "arithmetic"
	shared     bound = "shared" // each candidate holds kilobytes of shared memory
	mixed      bound = "mixed"  // the geometric mean of both
)

// boundOf is an algorithm's bound; that of scrypt@1 is that of scrypt.
func boundOf(algorithm string) bound {
	name, _, _ := strings.Cut(algorithm, "@")
	switch k := limits(); {
	case slices.Contains(k.Shared, name):
		return shared
	case slices.Contains(k.Mixed, name):
		return mixed
	}
	return arithmetic
}

// throughput is what one chip does of an algorithm's bound, in a unit of the bound's own: only ratios between chips mean
// something. It is the listed FP32 rate, which counts the clock and the multiprocessors, times what a multiprocessor of that
// capability does of the bound for each FP32 operation, times what board power leaves of the clock.
func throughput(a *accelerator.Accelerator, b bound) (float64, *estimate.Refusal) {
	c, ok := limits().Capabilities[a.Compute]
	if !ok {
		return 0, &estimate.Refusal{Reason: estimate.NoReference}
	}
	peak, ok := a.Peak[accelerator.FP32].Get()
	if !ok || peak <= 0 {
		return 0, &estimate.Refusal{Reason: estimate.NoRate}
	}
	logic := limits().LogicShare
	whole := 1 / (logic*c.Lanes/c.Logic + (1-logic)*c.Lanes/c.Rotate)
	held := c.SharedKiB / c.Lanes
	rate := float64(peak) * clock(a, c, float64(peak)/1e12)
	switch b {
	case shared:
		return rate * held, nil
	case mixed:
		return rate * math.Sqrt(whole*held), nil
	}
	return rate * whole, nil
}

// clock is the share of its listed clock that a chip holds under integer work: dynamic power grows with the third power of the
// clock and a little less once voltage is at its floor, so that the clock falls with about the square root of what power is missing.
func clock(a *accelerator.Accelerator, c capability, tflops float64) float64 {
	power, ok := a.TDP.Get()
	if !ok || c.Watts == 0 {
		return 1
	}
	return min(1, math.Sqrt(float64(power)/tflops/c.Watts))
}

// brands are what benchmarks print before the names of cards.
var brands = []string{"NVIDIA ", "GeForce ", "Tesla "}

// Card finds a chip by its canonical name in the chip table, or one beyond it that benchmarks name. Case, brands, and spaces for
// hyphens, do not matter for the latter.
func Card(name string) (*accelerator.Accelerator, bool) {
	if a, ok := accelerator.Embedded().Get(name); ok {
		return a, true
	}
	for _, brand := range brands {
		name = strings.TrimPrefix(name, brand)
	}
	name = strings.ReplaceAll(name, " ", "-")
	for _, c := range limits().Cards {
		if strings.EqualFold(c.Name, name) {
			a := &accelerator.Accelerator{Name: c.Name, Vendor: "NVIDIA", Arch: c.Arch, Compute: c.Compute, TDP: unit.Some(unit.Watts(c.Watts))}
			a.Peak[accelerator.FP32] = unit.Some(unit.FLOPS(c.FP32 * 1e12))
			return a, true
		}
	}
	return nil, false
}

// yield is the rate of one published chip over its throughput.
type yield struct {
	chip string
	log  float64
}

// yields are those of an algorithm's published rates. Chips that are not known, or whose FP32 rate or capability is not,
// cannot be scaled from and take no part.
func yields(rates []Rate, b bound, find chips) []yield {
	var out []yield
	for _, r := range rates {
		a, ok := find(r.Accelerator)
		if !ok {
			continue
		}
		if t, refusal := throughput(a, b); refusal == nil {
			out = append(out, yield{r.Accelerator, math.Log(r.PerSecond / t)})
		}
	}
	return out
}

// median is that of the yields of all chips but one, and those chips' names; false where there is none.
func median(all []yield, but string) (perThroughput float64, source string, n int, ok bool) {
	var logs []float64
	var names []string
	for _, y := range all {
		if y.chip != but {
			logs, names = append(logs, y.log), append(names, y.chip)
		}
	}
	if len(logs) == 0 {
		return 0, "", 0, false
	}
	slices.Sort(logs)
	slices.Sort(names)
	half := len(logs) / 2
	middle := logs[half]
	if len(logs)%2 == 0 {
		middle = (logs[half-1] + logs[half]) / 2
	}
	return math.Exp(middle), strings.Join(names, ", "), len(logs), true
}

// Scaled is what one chip does of an algorithm by the published rates of other chips alone, as though it had none of its own.
func Scaled(c *estimate.Curves, algorithm string, a *accelerator.Accelerator) (estimate.Speed, *estimate.Refusal) {
	t := embedded()
	name, ok := t.find(algorithm)
	if !ok {
		return estimate.Speed{}, &estimate.Refusal{Reason: estimate.NoReference}
	}
	b := boundOf(name)
	per, source, _, ok := median(yields(t.rates[name], b, Card), a.Name)
	if !ok {
		return estimate.Speed{}, &estimate.Refusal{Reason: estimate.NoReference}
	}
	rate, refusal := throughput(a, b)
	if refusal != nil {
		return estimate.Speed{}, refusal
	}
	return corrected(c, a, name, per*rate, source), nil
}

// Tags is what a hash rate may share with measurements.
func Tags(algorithm string, a *accelerator.Accelerator) estimate.Tags {
	t := estimate.ChipTags(a)
	t.Model, t.Framework, t.Mode = algorithm, "hashcat", string(boundOf(algorithm))
	return t
}

func corrected(c *estimate.Curves, a *accelerator.Accelerator, algorithm string, raw float64, source string) estimate.Speed {
	k := c.Correct(estimate.Hashing, Tags(algorithm, a))
	return k.Speed(raw*k.Factor, "hashes/s", source)
}

// Setting is the algorithm whose rates are of a hashcat mode at an iteration count; false where there are none. Iterations is
// empty for an algorithm that has none.
func Setting(mode, iterations string) (string, bool) {
	for _, name := range embedded().algorithms {
		if r := embedded().rates[name][0]; r.Mode == mode && r.Iterations == iterations {
			return name, true
		}
	}
	return "", false
}

// Iterated says that rates of a mode are known, and only at stated iteration counts.
func Iterated(mode string) bool {
	known := false
	for _, name := range embedded().algorithms {
		if r := embedded().rates[name][0]; r.Mode == mode {
			if r.Iterations == "" {
				return false
			}
			known = true
		}
	}
	return known
}

// Published is every published rate of an algorithm, by the name Setting gives it.
func Published(algorithm string) []Rate { return slices.Clone(embedded().rates[algorithm]) }
