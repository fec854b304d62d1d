package estimate

import "maps"

// servingParams is the constants of engines that a fit may set: those that all share, and each family's own.
func servingParams() map[string]Param {
	out := map[string]Param{
		"serve.alike":        {func(c *Curves) *float64 { return &c.Serve.Alike }, 0, 0.5},
		"serve.captured":     {func(c *Curves) *float64 { return &c.Serve.Captured }, 0.1, 1},
		"serve.passes":       {func(c *Curves) *float64 { return &c.Serve.Passes }, 0, 60},
		"serve.widened":      {func(c *Curves) *float64 { return &c.Serve.Widened }, 0.2, 1},
		"serve.linear_share": {func(c *Curves) *float64 { return &c.Serve.LinearShare }, 0.02, 1},
	}
	for engine, of := range map[string]func(*Curves) *EngineCurve{
		"trtllm":   func(c *Curves) *EngineCurve { return &c.Serve.Engines.TensorRTLLM },
		"vllm":     func(c *Curves) *EngineCurve { return &c.Serve.Engines.VLLM },
		"sglang":   func(c *Curves) *EngineCurve { return &c.Serve.Engines.SGLang },
		"llamacpp": func(c *Curves) *EngineCurve { return &c.Serve.Engines.LlamaCPP },
		"neuron":   func(c *Curves) *EngineCurve { return &c.Serve.Engines.Neuron },
	} {
		maps.Copy(out, map[string]Param{
			"serve." + engine + ".step_us":        {func(c *Curves) *float64 { return &of(c).StepUS }, 200, 4000},
			"serve." + engine + ".sequence_us":    {func(c *Curves) *float64 { return &of(c).SequenceUS }, 0, 50},
			"serve." + engine + ".layer_us":       {func(c *Curves) *float64 { return &of(c).LayerUS }, 0, 160},
			"serve." + engine + ".eager_us":       {func(c *Curves) *float64 { return &of(c).EagerUS }, 0, 1000},
			"serve." + engine + ".kernel_share":   {func(c *Curves) *float64 { return &of(c).KernelShare }, 0.4, 1.1},
			"serve." + engine + ".busy_share":     {func(c *Curves) *float64 { return &of(c).BusyShare }, 0.4, 1.1},
			"serve." + engine + ".wait_steps":     {func(c *Curves) *float64 { return &of(c).WaitSteps }, 0, 40},
			"serve." + engine + ".apart_steps":    {func(c *Curves) *float64 { return &of(c).ApartSteps }, 0, 120},
			"serve." + engine + ".front_ms":       {func(c *Curves) *float64 { return &of(c).FrontMS }, 0, 200},
			"serve." + engine + ".hand_ms":        {func(c *Curves) *float64 { return &of(c).HandMS }, 0, 500},
			"serve." + engine + ".front_token_us": {func(c *Curves) *float64 { return &of(c).TokenUS }, 0, 40},
		})
	}
	return out
}

func init() { maps.Copy(Params, servingParams()) }
