package accuracy

import (
	"strings"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/hash"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

// hashRow reads a line of `hashcat -b` on one card or a rig. Its rate is predicted from the published rates of other chips, never
// from those of its own, so that a chip is predicted as one that nobody has measured.
func hashRow(s *Set, r Row) {
	mode := r.Text("hash_mode")
	skip := func(why Skip, what string) { s.skip(r, estimate.Hashing, why, what) }
	count, measured := r.Int("count"), r.Num("speed")
	switch {
	case !(measured > 0):
		skip(NoFigure, mode)
		return
	case count < 1:
		skip(NoSize, "count")
		return
	}
	chip, exact := hash.Card(r.Text("device"))
	if !exact {
		chip = device(r.Text("device"))
	}
	if chip == nil {
		skip(NoChip, r.Text("device"))
		return
	}
	algorithm, ok := hash.Setting(mode, r.Text("iterations"))
	switch {
	case !ok && r.Text("iterations") == "" && hash.Iterated(mode):
		skip(NoSize, "iterations of "+mode)
		return
	case !ok:
		skip(NoReference, mode+" "+r.Text("iterations"))
		return
	}
	source, _, _ := strings.Cut(r.Text("source"), " ") // the repository: its files are one log a machine
	k := &Case{
		Target: estimate.Hashing, Tags: hash.Tags(algorithm, chip), Model: algorithm, Source: source,
		Label: measuredOn(count, chip.Name, r.Text("hash_name"), r.Text("hashcat_version")), File: r.file, Line: r.line,
		Measured: measured, Baseline: float64(count) * byFP32(algorithm, chip),
	}
	k.Predict = func(c *estimate.Curves) (Prediction, Skip) {
		v, refusal := hash.Scaled(c, algorithm, chip)
		if refusal != nil {
			return Prediction{}, refusedAs(refusal)
		}
		return ofSpeed(v, float64(count)), ""
	}
	s.Cases = append(s.Cases, k)
}

// byFP32 is the naive rate: that of the first other chip with a published one, by the ratio of their FP32 rates.
func byFP32(algorithm string, chip *accelerator.Accelerator) float64 {
	mine, ok := chip.Peak[accelerator.FP32].Get()
	for _, rate := range hash.Published(algorithm) {
		other, known := hash.Card(rate.Accelerator)
		if !known || other.Name == chip.Name {
			continue
		}
		if peak, has := other.Peak[accelerator.FP32].Get(); has && ok && peak > 0 {
			return rate.PerSecond * float64(mine) / float64(peak)
		}
	}
	return 0
}

var hashColumns = []string{"device", "count", "hash_mode", "speed", "iterations", "source"}

// hashRecipe corrects an architecture as a whole: what of its integer rate the instruction tables do not say.
var hashRecipe = recipe{attributes: []string{"arch"}}
