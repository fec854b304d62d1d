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

// chipOf finds an accelerator by a table's spelling. Where it means several, the module with the fastest memory stands for them
// and it is not sure.
func chipOf(text string) (chip *accelerator.Accelerator, sure bool) {
	plain, _, _ := strings.Cut(text, "(")
	found := accelerator.Embedded().Resolve(plain)
	for _, a := range found {
		if chip == nil || rank(a) > rank(chip) {
			chip = a
		}
	}
	return chip, len(found) == 1
}

func rank(a *accelerator.Accelerator) float64 {
	n := float64(a.Bandwidth.Or(0))
	if a.FormFactor == "SXM" || a.FormFactor == "OAM" {
		n *= 10
	}
	return n
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
