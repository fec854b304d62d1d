package estimate

import "maps"

// Param is a constant of Curves that a fit may set, and the range it may lie in.
type Param struct {
	Of       func(*Curves) *float64
	Low, Top float64
}

// Params is the constants that a fit may set, by the name a calibration gives them.
var Params = map[string]Param{
	"train.kernel_share":       {func(c *Curves) *float64 { return &c.Train.KernelShare }, 0.5, 1},
	"train.attention_share":    {func(c *Curves) *float64 { return &c.Train.AttentionShare }, 0.2, 1},
	"train.elementwise":        {func(c *Curves) *float64 { return &c.Train.Elementwise }, 0.1, 3},
	"train.grouped":            {func(c *Curves) *float64 { return &c.Train.Grouped }, 0.2, 1},
	"train.host_us":            {func(c *Curves) *float64 { return &c.Train.HostUS }, 0, 2000},
	"train.step_us":            {func(c *Curves) *float64 { return &c.Train.StepUS }, 0, 100000},
	"train.overlap_tensor":     {func(c *Curves) *float64 { return &c.Train.Overlap.Tensor }, 0, 1},
	"train.overlap_data":       {func(c *Curves) *float64 { return &c.Train.Overlap.Data }, 0, 1},
	"train.overlap_pipeline":   {func(c *Curves) *float64 { return &c.Train.Overlap.Pipeline }, 0, 1},
	"train.overlap_expert":     {func(c *Curves) *float64 { return &c.Train.Overlap.Expert }, 0, 1},
	"train.overlap_context":    {func(c *Curves) *float64 { return &c.Train.Overlap.Context }, 0, 1},
	"train.overlap_expert_far": {func(c *Curves) *float64 { return &c.Train.Overlap.ExpertFar }, 0, 1},
	"train.host_expert_us":     {func(c *Curves) *float64 { return &c.Train.HostExpertUS }, 0, 2000},
	"train.plain_attention":    {func(c *Curves) *float64 { return &c.Train.PlainAttention }, 0.2, 1},
}

// With is a copy of the curves with other constants.
func (c *Curves) With(params map[string]float64) *Curves {
	out := *c
	out.set(params)
	return &out
}

// Without is a copy of the curves whose predictions of a target are not corrected, with the constants that its fit set as
// curves.yaml states them: a fit made again begins where the first began.
func (c *Curves) Without(target Target) *Curves {
	out := *c
	out.Calibrations = maps.Clone(c.Calibrations)
	delete(out.Calibrations, target)
	out.set(c.stated[target])
	return &out
}

// Calibrated is a copy of the curves with another calibration of one target, its constants set.
func (c *Curves) Calibrated(k *Calibration) *Curves {
	out := c.Without(k.Target)
	out.Calibrations[k.Target] = k
	out.set(k.Params)
	return out
}

func (c *Curves) set(params map[string]float64) {
	for name, v := range params {
		*Params[name].Of(c) = v
	}
}
