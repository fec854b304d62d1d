// Package accuracy holds predictions against published measurements: it reads tables of them, predicts each row as it states
// itself, and says how far off the predictions were; and it fits the calibrations of data/efficiency/fit, leaving whole groups
// of measurements out to say how far off they would be on what was never seen.
//
// Invariants: a row's stated layout is used as given, and what it leaves open is inferred and said so; a row that cannot be
// predicted is counted under its reason, never dropped; groups (model x accelerator x source) are never split between a
// fit and its test. Pure: tables come as bytes. Imported by front.
package accuracy

import (
	"cmp"
	"slices"

	"github.com/rackrate/rackrate/internal/choose/estimate"
)

// Case is one figure of one row.
type Case struct {
	Target estimate.Target
	// By is the calibration that corrects the prediction, where it is not that of the target.
	By       estimate.Target
	Tags     estimate.Tags
	Model    string // as the row spells it
	Source   string // the publication: the row's source up to its own detail
	Label    string // what was measured, for a reader: "8 x H100-SXM-80GB, tp 8, batch 64"
	File     string
	Line     int
	Measured float64 // in the unit of the target
	Baseline float64 // the naive prediction; 0 where it cannot be worked out
	Assumed  []string
	// Predict predicts the figure. It is safe for concurrent use and does not depend on Measured.
	Predict func(*estimate.Curves) (Prediction, Skip)
}

// Group is what a fit never splits: the model, the accelerator and the source.
func (c *Case) Group() string { return c.Model + "|" + c.Tags.Chip + "|" + c.Source }

// calibration is what corrects the prediction.
func (c *Case) calibration() estimate.Target { return cmp.Or(c.By, c.Target) }

// Prediction is a predicted figure with its interval.
type Prediction struct {
	Value, Low, High float64
	Like             estimate.Likeness
}

// Corrected is a raw prediction with what the calibration of its target makes of it.
func Corrected(c *estimate.Curves, target estimate.Target, tags estimate.Tags, raw float64) Prediction {
	k := c.Correct(target, tags)
	v := raw * k.Factor
	return Prediction{Value: v, Low: v * k.Low, High: v * k.High, Like: k.Like}
}

// Skip is why a row could not be predicted; empty where it could. It is a code of front's catalogue under "accuracy.skip.".
type Skip string

// The reasons a row is left out.
const (
	NoModel     Skip = "model"       // a network we do not know and the row does not describe
	NoChip      Skip = "accelerator" // an accelerator we do not know
	NoFormat    Skip = "precision"   // a number format we do not know
	NoFigure    Skip = "figure"      // nothing measured that we predict
	NoSize      Skip = "size"        // a batch, length or count that the prediction needs is not stated
	Suspect     Skip = "suspect"     // the collector of the table marked the figure as wrong
	Refused     Skip = "refused"     // the estimator says that it cannot be run so
	NotModelled Skip = "not-modelled"
	NoReference Skip = "no-reference" // nothing published to scale from
)

// Skipped is a row without a prediction.
type Skipped struct {
	Target estimate.Target
	Reason Skip
	File   string
	Line   int
	What   string // the model, chip, format or refusal in question
}

// Set is the figures of one or more tables.
type Set struct {
	Cases   []*Case
	Skipped []Skipped
}

func (s *Set) skip(r Row, t estimate.Target, why Skip, what string) {
	s.Skipped = append(s.Skipped, Skipped{Target: t, Reason: why, File: r.file, Line: r.line, What: what})
}

// Has says that the set measures a target.
func (s *Set) Has(t estimate.Target) bool {
	return slices.ContainsFunc(s.Cases, func(c *Case) bool { return c.calibration() == t })
}
