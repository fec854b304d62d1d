package wire

import (
	"github.com/rackrate/rackrate/internal/choose/accuracy"
	"github.com/rackrate/rackrate/internal/choose/estimate"
)

// AccuracySchema names the contract of accuracy.
const AccuracySchema = "rackrate.accuracy/v1"

// Accuracy is the answer of accuracy. Errors are fractions of the measurement.
type Accuracy struct {
	Schema string `json:"schema"`
	// HeldOut says that the figures are of groups left out of the fit, not of tables that were given.
	HeldOut bool                       `json:"held_out"`
	AsOf    *string                    `json:"as_of"` // the newest fit
	Overall map[string]AccuracyOverall `json:"overall"`
	Groups  []AccuracyGroup            `json:"groups"`
	Worst   []AccuracyWorst            `json:"worst"`
	Skipped []AccuracySkipped          `json:"skipped"`
	Rows    []AccuracyRow              `json:"rows"`
}

// Errors is how far off predictions were; null where nothing was compared.
type Errors struct {
	N        int      `json:"n"`
	MdAPE    *float64 `json:"mdape"`
	P90      *float64 `json:"p90"`
	Bias     *float64 `json:"bias"`
	Coverage *float64 `json:"coverage"`
	Baseline *float64 `json:"baseline_mdape"`
}

// AccuracyOverall is the errors of a kind of prediction.
type AccuracyOverall struct {
	Errors
	// New is the errors on groups the fit has not seen, Unseen those on accelerators left out of the fit whole.
	New     *Errors        `json:"new_groups"`
	Unseen  *Errors        `json:"unseen_accelerator"`
	Skipped map[string]int `json:"skipped"`
}

// AccuracyGroup is the errors of the predictions that have something in common.
type AccuracyGroup struct {
	Kind  string `json:"kind"`
	By    string `json:"by"`
	Value string `json:"value"`
	Errors
}

// AccuracyWorst is one of the largest errors.
type AccuracyWorst struct {
	Kind      string  `json:"kind"`
	Label     string  `json:"label"`
	Source    string  `json:"source"`
	Measured  float64 `json:"measured"`
	Predicted float64 `json:"predicted"`
}

// AccuracyRow is a row with its prediction. Naive is null where the naive rule says nothing.
type AccuracyRow struct {
	Kind        string   `json:"kind"`
	File        string   `json:"file"`
	Line        int      `json:"line"`
	Model       string   `json:"model"`
	Accelerator string   `json:"accelerator"`
	Framework   string   `json:"framework"`
	Precision   string   `json:"precision"`
	Label       string   `json:"label"`
	Source      string   `json:"source"`
	Measured    *float64 `json:"measured"`
	Predicted   *float64 `json:"predicted"`
	Low         *float64 `json:"low"`
	High        *float64 `json:"high"`
	Naive       *float64 `json:"naive"`
	Like        string   `json:"like"`
	Assumed     []string `json:"assumed"`
}

// AccuracySkipped is a row that could not be predicted.
type AccuracySkipped struct {
	Kind   string `json:"kind"`
	Reason string `json:"reason"`
	File   string `json:"file"`
	Line   int    `json:"line"`
	What   string `json:"what"`
}

func errorsOf(e estimate.Error) Errors {
	out := Errors{N: e.N}
	if e.N > 0 {
		out.MdAPE, out.P90, out.Bias, out.Coverage = number(e.MdAPE, 4), number(e.P90, 4), number(e.Bias, 4), number(e.Coverage, 4)
	}
	if e.BaselineHave > 0 {
		out.Baseline = number(e.BaselineAPE, 4)
	}
	return out
}

func someErrors(e estimate.Error) *Errors {
	if e.N == 0 {
		return nil
	}
	out := errorsOf(e)
	return &out
}

// AccuracyOf is summaries as JSON; skipped is the rows left out where tables were given, and
// results every row with its prediction where they were asked for.
func AccuracyOf(summaries []accuracy.Summary, skipped []accuracy.Skipped, results []accuracy.Result, heldOut bool, asOf string) Accuracy {
	out := Accuracy{Schema: AccuracySchema, HeldOut: heldOut, AsOf: text(asOf), Overall: map[string]AccuracyOverall{},
		Groups: []AccuracyGroup{}, Worst: []AccuracyWorst{}, Skipped: []AccuracySkipped{}, Rows: []AccuracyRow{}}
	for _, s := range summaries {
		kind := string(s.Target)
		o := AccuracyOverall{Errors: errorsOf(s.Error), New: someErrors(s.New), Unseen: someErrors(s.Unseen), Skipped: map[string]int{}}
		for why, n := range s.Skipped {
			o.Skipped[string(why)] = n
		}
		out.Overall[kind] = o
		for _, g := range s.Shares {
			out.Groups = append(out.Groups, AccuracyGroup{kind, g.By, g.Value, errorsOf(g.Error)})
		}
		for _, w := range s.Worst {
			out.Worst = append(out.Worst, AccuracyWorst{kind, w.Label, w.Source, w.Measured, w.Predicted})
		}
	}
	for _, r := range results {
		out.Rows = append(out.Rows, AccuracyRow{string(r.Target), r.File, r.Line, r.Model, r.Tags.Chip, r.Tags.Framework, r.Tags.Precision, r.Label, r.Source,
			number(r.Measured, 6), number(r.Value, 6), number(r.Low, 6), number(r.High, 6), positive(r.Baseline), string(r.Like), list(r.Assumed)})
	}
	for _, s := range skipped {
		out.Skipped = append(out.Skipped, AccuracySkipped{string(s.Target), string(s.Reason), s.File, s.Line, s.What})
	}
	return out
}
