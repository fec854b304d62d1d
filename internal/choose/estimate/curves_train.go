package estimate

// TrainCurve is what training reaches.
type TrainCurve struct {
	// KernelShare is the rate of multiplies inside a step over that of single kernels at their sustained ceiling.
	KernelShare float64 `yaml:"kernel_share"`
	// AttentionShare is fused attention's share of the matrix rate, forward and backward together.
	AttentionShare float64 `yaml:"attention_share"`
	// PlainAttention is the rate of flash attention as written for A100 on later chips, over that of kernels written for them.
	PlainAttention float64 `yaml:"plain_attention"`
	// Elementwise is the bytes that everything but multiplies moves, over one pass over what backward needs.
	Elementwise float64 `yaml:"elementwise"`
	// Grouped is the rate of grouped multiplies of experts over that of single ones.
	Grouped float64 `yaml:"grouped"`
	// HostUS is the microseconds a host takes to launch one pass of a layer, StepUS what it does once a step.
	HostUS float64 `yaml:"host_us"`
	// HostExpertUS is what a layer with experts adds: routing, sorting and sending tokens.
	HostExpertUS float64 `yaml:"host_expert_us"`
	StepUS       float64 `yaml:"step_us"`
	Overlap      struct {
		Tensor   float64 `yaml:"tensor"`
		Data     float64 `yaml:"data"`
		Pipeline float64 `yaml:"pipeline"`
		Expert   float64 `yaml:"expert"`
		// ExpertFar is that of expert parallelism between machines, which frameworks run beside the compute of another micro-batch.
		ExpertFar float64 `yaml:"expert_far"`
		Context   float64 `yaml:"context"`
	} `yaml:"overlap"`
	// Widening is the share of what long streams reach of memory bandwidth at which quantized weights are widened to 16 bit.
	Widening float64 `yaml:"widening"`
	Source   string  `yaml:"source"`
}

// MemoryCurve is what a process takes beside its tensors.
type MemoryCurve struct {
	RuntimeGiB float64 `yaml:"runtime_gib"`
	CommGiB    float64 `yaml:"comm_gib"`
	Slack      float64 `yaml:"slack"`
	Reserved   float64 `yaml:"reserved"`
	// Margin is by how much a corrected count leans above what measurements say: to run out is worse than to leave some free.
	Margin float64 `yaml:"margin"`
	Source string  `yaml:"source"`
}

// MemoryMargin is what a count of training memory is multiplied by beside its correction; 1 where there is none.
func (c *Curves) MemoryMargin() float64 {
	if c.Calibrations[PeakMemory] == nil {
		return 1
	}
	return 1 + c.Memory.Margin
}
