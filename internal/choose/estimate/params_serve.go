package estimate

import "maps"

// servingParams is the constants of the engines that offline measurements of their own speak to.
func servingParams() map[string]Param {
	out := map[string]Param{}
	for engine, of := range map[string]func(*Curves) *EngineCurve{
		"llamacpp": func(c *Curves) *EngineCurve { return &c.Serve.Engines.LlamaCPP },
		"neuron":   func(c *Curves) *EngineCurve { return &c.Serve.Engines.Neuron },
	} {
		maps.Copy(out, map[string]Param{
			"serve." + engine + ".layer_us":     {func(c *Curves) *float64 { return &of(c).LayerUS }, 0, 160},
			"serve." + engine + ".kernel_share": {func(c *Curves) *float64 { return &of(c).KernelShare }, 0.4, 1.1},
			"serve." + engine + ".busy_share":   {func(c *Curves) *float64 { return &of(c).BusyShare }, 0.2, 1.1},
		})
	}
	return out
}

func init() { maps.Copy(Params, servingParams()) }
