package estimate

import (
	"io/fs"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

// Target is a quantity that predictions are held against measurements for.
type Target string

// The targets.
const (
	Training   Target = "training"     // tokens or samples per second
	PeakMemory Target = "memory"       // bytes on the fullest accelerator while training
	Offline    Target = "offline"      // output tokens per second at the most the engine does
	TTFT       Target = "serving_ttft" // seconds, mean, at a concurrency
	TPOT       Target = "serving_tpot" // seconds, mean, at a concurrency
	Vision     Target = "vision"       // samples per second of vision, speech and other fixed-size networks
	Diffusion  Target = "diffusion"    // images or videos per second
	Hashing    Target = "hash"         // hashes per second
	Simulation Target = "simulation"   // the benchmark's own rate
)

// SampleTraining is a calibration beside those of the targets: training of networks with a fixed cost a sample, in samples
// per second. Reports count its measurements as Training.
const SampleTraining Target = "sample_training"

// Fittable is everything that a calibration can be fitted for.
var Fittable = append(slices.Clone(Targets), SampleTraining)

// Targets is all of them, in the order reports list them.
var Targets = []Target{Training, PeakMemory, Offline, TTFT, TPOT, Vision, Diffusion, Hashing, Simulation}

// Tags is what a prediction may share with measurements. An empty one is not stated.
type Tags struct {
	Chip, Arch, Vendor string // of the accelerator
	Model, Family      string // of the network
	Structure          string // what the network is made of: dense, moe …
	Framework          string // training framework or inference engine, without its version
	Precision          string // of the arithmetic
	Mode               string // what else splits measurements of a target into kinds, by its own convention
}

// ChipTags is the tags of an accelerator.
func ChipTags(a *accelerator.Accelerator) Tags {
	return Tags{Chip: a.Name, Arch: a.Arch, Vendor: a.Vendor}
}

// Value is the level of an attribute: chip, arch, vendor, model, family, structure, framework, precision, mode, or several joined
// by "+". It is empty where one of them is not stated.
func (t Tags) Value(attribute string) string {
	if a, rest, ok := strings.Cut(attribute, "+"); ok {
		x, y := t.Value(a), t.Value(rest)
		if x == "" || y == "" {
			return ""
		}
		return x + "+" + y
	}
	switch attribute {
	case "chip":
		return t.Chip
	case "arch":
		return t.Arch
	case "vendor":
		return t.Vendor
	case "model":
		return t.Model
	case "family":
		return t.Family
	case "structure":
		return t.Structure
	case "framework":
		return t.Framework
	case "precision":
		return t.Precision
	case "mode":
		return t.Mode
	}
	return ""
}

// Calibration is what measurements said of the predictions of a target: constants fitted to them, and what was left over by
// accelerator, framework and so on, shrunk towards nothing where few groups of measurements speak. It is data, written by
// `rackrate accuracy fit` to data/efficiency/fit.
type Calibration struct {
	Target Target `yaml:"target"`
	AsOf   string `yaml:"as_of"`
	// N measurements in so many groups (model x accelerator x source) were fitted to.
	N      int `yaml:"n"`
	Groups int `yaml:"groups"`
	// HeldOut is the error on groups left out of the fit in turn, Unseen on accelerators left out whole; Shares breaks HeldOut down
	// and Worst is its largest errors.
	HeldOut Error   `yaml:"held_out"`
	Unseen  Error   `yaml:"unseen_accelerator"`
	Shares  []Share `yaml:"shares"`
	Worst   []Worst `yaml:"worst"`
	// Skipped counts the rows that could not be predicted, by reason.
	Skipped map[string]int `yaml:"skipped,omitempty"`
	// Params are constants of Curves by their names in Params.
	Params map[string]float64 `yaml:"params,omitempty"`
	// Networks is what networks with a fixed cost a sample reach, by model, and Kinds the middle of them by kind.
	Networks map[string]Reached `yaml:"networks,omitempty"`
	Kinds    map[string]Reached `yaml:"kinds,omitempty"`
	// Base and Terms are natural logarithms of measured over predicted: of all, and by attribute (as Tags.Value has it) and level.
	Base  float64                    `yaml:"base"`
	Terms map[string]map[string]Term `yaml:"terms,omitempty"`
	// Intervals are the 10th and 90th percentile of measured over predicted on groups left out: "all", "unseen" accelerators,
	// OtherNetworks where Networks are fitted, and an "attribute=level" that has enough of its own.
	Intervals map[string]Interval `yaml:"intervals"`
	// Seen counts the measurements by "chip=", "arch=" and "vendor=" of the accelerator.
	Seen    map[string]int `yaml:"seen"`
	Sources []string       `yaml:"sources"`
	// Marks are hashes of the groups, so that a later run can tell measurements the fit has seen from new ones.
	Marks []string `yaml:"marks,flow"`
}

// Term is what is left over at one level of an attribute.
type Term struct {
	Log    float64 `yaml:"log"`
	N      int     `yaml:"n"`
	Groups int     `yaml:"groups"`
}

// OtherNetworks is the key of the interval of networks that nothing was measured of.
const OtherNetworks = "other networks"

// Reached is what a network with a fixed cost a sample reaches; what no measurement tells is 0.
type Reached struct {
	Level   float64 `yaml:"level"`             // of the speed that arithmetic, memory and power allow
	Kernels float64 `yaml:"kernels,omitempty"` // that run one after the other
	Alone   float64 `yaml:"alone,omitempty"`   // samples that fill the chip
	N       int     `yaml:"n"`
	Groups  int     `yaml:"groups"`
	Source  string  `yaml:"source"`
}

// Error is how far predictions were off, as fractions of the measurement.
type Error struct {
	N            int     `yaml:"n"`
	MdAPE        float64 `yaml:"mdape"`    // median absolute percentage error
	P90          float64 `yaml:"p90"`      // its 90th percentile
	Bias         float64 `yaml:"bias"`     // median of predicted over measured, less one
	Coverage     float64 `yaml:"coverage"` // share of measurements inside the stated interval
	BaselineAPE  float64 `yaml:"baseline_mdape"`
	BaselineHave int     `yaml:"baseline_n"` // rows the naive baseline could be worked out for
}

// Share is the error of the measurements that have something in common.
type Share struct {
	By    string `yaml:"by"` // accelerator, family, framework or source
	Value string `yaml:"value"`
	Error `yaml:",inline"`
}

// Worst is one of the largest errors.
type Worst struct {
	Label     string  `yaml:"label"`
	Source    string  `yaml:"source"`
	Measured  float64 `yaml:"measured"`
	Predicted float64 `yaml:"predicted"`
}

// Correction is what a calibration makes of one prediction: multiply by Factor; the truth lies between Low and High times that
// in eight of ten.
type Correction struct {
	Target            Target
	Factor, Low, High float64
	Like              Likeness
	N                 int // measurements behind the likeness
}

// Speed is a corrected speed with its interval and what it rests on.
func (k Correction) Speed(v float64, of, source string) Speed {
	return Speed{Value: v, Low: v * k.Low, High: v * k.High, Unit: of, Basis: Predicted, Source: source, Like: k.Like, Target: k.Target, Measurements: k.N}
}

// Correct is the correction of a prediction with these tags. Without a calibration of the target nothing is corrected and
// nothing like it was measured.
func (c *Curves) Correct(target Target, t Tags) Correction {
	k := c.Calibrations[target]
	if k == nil || k.N == 0 {
		return Correction{Target: target, Factor: 1, Low: 0.5, High: 2, Like: LikeNone}
	}
	out := Correction{Target: target, Factor: k.Factor(t)}
	out.Like, out.N = k.likeness(t)
	iv := k.interval(t, out.Like)
	w := c.Widen[out.Like]
	if out.Like == LikeFamily || w == 0 { // the interval of unseen accelerators already is that of a family
		w = 1
	}
	out.Low, out.High = math.Pow(iv.Low, w), math.Pow(iv.High, w)
	return out
}

// Factor is what a raw prediction with these tags is multiplied by.
func (k *Calibration) Factor(t Tags) float64 {
	sum := k.Base
	for _, attribute := range slices.Sorted(maps.Keys(k.Terms)) { // in order: sums of floats depend on it
		if term, ok := k.Terms[attribute][t.Value(attribute)]; ok {
			sum += term.Log
		}
	}
	return math.Exp(sum)
}

// likeness is how near the measurements behind a prediction are, and how many they are.
func (k *Calibration) likeness(t Tags) (Likeness, int) {
	if n := k.Seen["chip="+t.Chip]; n > 0 {
		return LikeChip, n
	}
	if n := k.Seen["arch="+t.Arch]; n > 0 {
		return LikeFamily, n
	}
	if n := k.Seen["vendor="+t.Vendor]; n > 0 {
		return LikeKind, n
	}
	return LikeNone, 0
}

// interval is the narrowest interval that speaks for a prediction.
func (k *Calibration) interval(t Tags, like Likeness) Interval {
	keys := []string{"unseen"}
	if like == LikeChip {
		keys = []string{"structure+arch=" + t.Value("structure+arch"), "chip=" + t.Chip, "arch=" + t.Arch}
	}
	for _, key := range append(keys, "all") {
		if iv, ok := k.Intervals[key]; ok {
			return iv
		}
	}
	return Interval{Low: 0.5, High: 2}
}

// loadCalibrations reads every file of data/efficiency/fit and sets the constants they fitted.
func (c *Curves) loadCalibrations(fsys fs.FS) error {
	names, err := fs.Glob(fsys, "efficiency/fit/*.yaml")
	if err != nil {
		return err
	}
	c.Calibrations, c.stated = map[Target]*Calibration{}, map[Target]map[string]float64{}
	for _, name := range names {
		k, err := Decode[Calibration](fsys, name)
		if err != nil {
			return err
		}
		if !slices.Contains(Fittable, k.Target) || path.Base(name) != string(k.Target)+".yaml" {
			return problem.New(problem.Internal, "data.bad_row", problem.Args{"What": "target"}).At(name, 0)
		}
		before := map[string]float64{}
		for param := range k.Params {
			p, ok := Params[param]
			if !ok {
				return problem.New(problem.Internal, "data.bad_row", problem.Args{"What": "params." + param}).At(name, 0)
			}
			before[param] = *p.Of(c)
		}
		c.stated[k.Target] = before
		c.Calibrations[k.Target] = k
		c.set(k.Params)
	}
	return nil
}
