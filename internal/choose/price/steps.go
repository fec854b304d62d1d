package price

import "github.com/rackrate/rackrate/internal/base/unit"

// Step is where a price an hour falls: from so many hours of one machine's life on, an hour costs Share of the first one.
type Step struct {
	From  unit.Hours
	Share float64
}

// Steps are the steps of a price in the order of their hours; none is one price throughout. Tencent Cloud sells CVM on demand in
// three: up to 96 hours, up to 360, and beyond (its API, ItemPrice), at 100, 50 and 34 per cent.
type Steps []Step

// Full is the hours at the first price that cost as much as h hours in steps.
func (s Steps) Full(h unit.Hours) unit.Hours {
	full, share, from := unit.Hours(0), 1.0, unit.Hours(0)
	for _, step := range s {
		if h <= step.From {
			break
		}
		full += (step.From - from) * unit.Hours(share)
		share, from = step.Share, step.From
	}
	return full + (h-from)*unit.Hours(share)
}
