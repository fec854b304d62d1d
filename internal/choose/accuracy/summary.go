package accuracy

import (
	"slices"

	"github.com/rackrate/rackrate/internal/choose/estimate"
)

// Summary is how far off the predictions of one target are.
type Summary struct {
	Target estimate.Target
	Error  estimate.Error
	// Unseen is the error on accelerators left out of the fit whole; it is empty where tables were given.
	Unseen estimate.Error
	// New is the error on the groups that the fit has not seen; it is empty without tables.
	New     estimate.Error
	Skipped map[Skip]int
	Shares  []estimate.Share
	Worst   []estimate.Worst
}

// Embedded is what the calibrations say of themselves: errors on groups left out of each fit.
func Embedded(c *estimate.Curves) []Summary {
	var out []Summary
	for _, target := range estimate.Fittable {
		k := c.Calibrations[target]
		if k == nil {
			continue
		}
		s := Summary{Target: target, Error: k.HeldOut, Unseen: k.Unseen, Shares: k.Shares, Worst: k.Worst, Skipped: map[Skip]int{}}
		for why, n := range k.Skipped {
			s.Skipped[Skip(why)] = n
		}
		out = append(out, s)
	}
	return out
}

// Summaries sums a report up by target, in the order of estimate.Targets; n of the largest errors are kept of each.
func (r *Report) Summaries(c *estimate.Curves, n int) []Summary {
	parts := by(r.Results, func(c *Case) string { return string(c.Target) })
	var out []Summary
	for _, target := range estimate.Targets {
		mine := parts[string(target)]
		s := Summary{Target: target, Error: ErrorOf(mine), Shares: shares(mine), Worst: worst(mine, n), Skipped: map[Skip]int{}}
		for _, x := range r.Skipped {
			if x.Target == target {
				s.Skipped[x.Reason]++
			}
		}
		if len(mine) == 0 && len(s.Skipped) == 0 {
			continue
		}
		s.New = ErrorOf(slices.DeleteFunc(slices.Clone(mine), func(x Result) bool {
			k := c.Calibrations[x.calibration()]
			if k == nil {
				return true
			}
			_, seen := slices.BinarySearch(k.Marks, mark(x.Group()))
			return seen
		}))
		out = append(out, s)
	}
	return out
}
