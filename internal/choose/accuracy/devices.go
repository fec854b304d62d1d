package accuracy

import (
	"strconv"
	"strings"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

// device finds a single device by the name that a benchmark prints, nil where there is none. Where it means several, the module
// for servers stands for it, and else the first of the table, the earlier and more common one.
func device(text string) *accelerator.Accelerator {
	found := accelerator.Embedded().Resolve(text)
	for _, a := range found {
		if strings.HasPrefix(a.FormFactor, "SXM") || a.FormFactor == "OAM" {
			return a
		}
	}
	if len(found) > 0 {
		return found[0]
	}
	return nil
}

// ofSpeed is the prediction that so many times a speed is.
func ofSpeed(v estimate.Speed, times float64) Prediction {
	return Prediction{Value: times * v.Value, Low: times * v.Low, High: times * v.High, Like: v.Like}
}

// refusedAs is why a row is skipped where an estimator refuses it.
func refusedAs(r *estimate.Refusal) Skip {
	if r.Reason == estimate.NoReference {
		return NoReference
	}
	return Refused
}

// measuredOn is the label of a case: so many of a chip, and what ran there.
func measuredOn(count int, chip string, what ...string) string {
	return strconv.Itoa(count) + " x " + chip + ", " + strings.Join(what, ", ")
}
