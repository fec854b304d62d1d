package estimate

import "math"

// Fitted says what a kernel curve rests on.
type Fitted struct {
	N int `yaml:"n"` // measurements
	// Error is the median absolute error, as a fraction, on measurements left out of a fit made the same way: whole
	// (n, k) or head shapes for a chip, whole chips for anything wider; 0 where nothing could be left out. P90 is the 90th
	// percentile.
	Error  float64  `yaml:"error"`
	P90    float64  `yaml:"p90"`
	Like   Likeness `yaml:"like"`
	Source string   `yaml:"source"`
}

// MultiplyCurve is the time of a matrix multiply of m x k activations by k x n weights, as its departure from a
// roofline; see Multiply.Seconds.
type MultiplyCurve struct {
	Compute   float64 `yaml:"compute"`   // share of the dense peak
	Bandwidth float64 `yaml:"bandwidth"` // share of the memory bandwidth
	FixedUS   float64 `yaml:"fixed_us"`  // launch, ramp-up and tail, in microseconds
	SerialNS  float64 `yaml:"serial_ns"` // of one step of k in the loop over a tile, however few tiles there are, in nanoseconds
	Depth     float64 `yaml:"depth"`     // steps of k that filling and draining a tile cost
	Overlap   float64 `yaml:"overlap"`   // of arithmetic with reading, as blend takes it
	RowNS     float64 `yaml:"row_ns"`    // quantising a row of the activations to the kernel's precision, in nanoseconds,
	CellPS    float64 `yaml:"cell_ps"`   // and each element of it, in picoseconds
	Fitted    `yaml:",inline"`
}

// DecodeCurve is the time of one layer's attention of new tokens, one a sequence, over their cached contexts.
type DecodeCurve struct {
	Compute   float64 `yaml:"compute"`
	Bandwidth float64 `yaml:"bandwidth"`
	FixedUS   float64 `yaml:"fixed_us"`
	Pad       float64 `yaml:"pad"`       // tokens that a sequence costs beyond its context
	SerialNS  float64 `yaml:"serial_ns"` // of one token of one context, in the part that is not spread over the chip, in nanoseconds
	Overlap   float64 `yaml:"overlap"`
	Fitted    `yaml:",inline"`
}

// PrefillCurve is the time of one layer's causal attention of prompts.
type PrefillCurve struct {
	Compute   float64 `yaml:"compute"`
	Bandwidth float64 `yaml:"bandwidth"`
	FixedUS   float64 `yaml:"fixed_us"`
	QueryPad  float64 `yaml:"query_pad"` // query tokens that a sequence costs beyond its own
	KeyPad    float64 `yaml:"key_pad"`   // key tokens that a query costs beyond those it sees
	KeyReads  float64 `yaml:"key_reads"` // how often a new key or value costs memory traffic: written, read by several rounds of queries
	SerialNS  float64 `yaml:"serial_ns"` // of one key in the loop over a tile of queries, however few tiles there are, in nanoseconds
	Overlap   float64 `yaml:"overlap"`
	Fitted    `yaml:",inline"`
}

// CollectiveCurve is the time of one collective among the accelerators of one machine; see Collective.Seconds.
type CollectiveCurve struct {
	Share  float64 `yaml:"share"`   // of the nominal one-way rate among eight and more, large messages
	Share4 float64 `yaml:"share4"`  // the same among four, and
	Share2 float64 `yaml:"share2"`  // among two; 0 where only Share is known
	BaseUS float64 `yaml:"base_us"` // of an empty message
	StepUS float64 `yaml:"step_us"` // more of it for each further rank
	RampUS float64 `yaml:"ramp_us"` // lost where a message is too large for the low-latency protocols and too small to fill the link
	RampMB float64 `yaml:"ramp_mb"` // volume at which half of that is lost, in megabytes
	Fitted `yaml:",inline"`
}

// blend is the time of two pieces of work that overlap in part: the larger where overlap is 1, their sum where it is −1,
// and in between (a + b + √(a² + b² − 2·overlap·a·b)) / 2. It grows with both.
func blend(a, b, overlap float64) float64 {
	return (a + b + math.Sqrt(max(0, a*a+b*b-2*overlap*a*b))) / 2
}

// Multiply is a matrix multiply on one accelerator with weights of one format.
type Multiply struct {
	Curve       MultiplyCurve
	Peak        float64 // FLOPS, dense
	Bandwidth   float64 // bytes/s, nominal
	WeightBytes float64 // an element of the weights, scales included
	InputBytes  float64 // an element of the activations as the kernel reads them
	Fused       bool    // activations come quantised from the kernel before
}

// outputBytes is an element of the result: 16 bits.
const outputBytes = 2

// Seconds is the time of m x k activations by k x n weights:
//
//	fixed + blend(2·m·n·(k + depth) / compute + serial·k, (weights + activations + result) / bandwidth) + quantising
//
// It never falls as m, n or k grows, nor rises with peak or bandwidth.
func (x *Multiply) Seconds(m, n, k float64) float64 { return x.Grouped(1, m, n, k) }

// Grouped is the time of one launch that multiplies m rows by the weights of each of several experts.
func (x *Multiply) Grouped(experts, m, n, k float64) float64 {
	c := &x.Curve
	rows := experts * m
	compute := 2*rows*n*(k+c.Depth)/(x.Peak*c.Compute) + k*c.SerialNS*1e-9
	bytes := experts*n*k*x.WeightBytes + rows*(k*x.InputBytes+n*outputBytes)
	t := c.FixedUS*1e-6 + blend(compute, bytes/(x.Bandwidth*c.Bandwidth), c.Overlap)
	if !x.Fused {
		t += rows * (c.RowNS*1e-9 + c.CellPS*1e-12*k)
	}
	return t
}

// Attention is the attention of one layer on one accelerator with a cache of one format.
type Attention struct {
	Decode    DecodeCurve
	Prefill   PrefillCurve
	Peak      float64 // FLOPS, dense, of the precision attention runs at
	Bandwidth float64 // bytes/s, nominal
	KVBytes   float64 // an element of the cache
}

// DecodeSeconds is the time of one new token for each of so many sequences with a mean context, with separate keys and
// values. Heads are those of this accelerator:
//
//	fixed + blend(blend(cache read, arithmetic), serial·context)
func (x *Attention) DecodeSeconds(sequences, context, queryHeads, kvHeads, headDim float64) float64 {
	return x.decode(sequences, context, 2*kvHeads*headDim, 4*queryHeads*headDim/x.Decode.Compute)
}

// LatentSeconds is DecodeSeconds for multi-head latent attention: all heads share one cached vector of so many elements, of
// which the values are a part. So many queries a vector fill the matrix units as prefill does: FlashMLA states 660 of an
// H800's 989 TFLOPS where arithmetic bounds it.
func (x *Attention) LatentSeconds(sequences, context, queryHeads, cached, values float64) float64 {
	return x.decode(sequences, context, cached, 2*queryHeads*(cached+values)/x.Prefill.Compute)
}

// decode takes the cached elements of one token of context, and its FLOPs at peak.
func (x *Attention) decode(sequences, context, elements, flops float64) float64 {
	c := &x.Decode
	tokens := sequences * (context + c.Pad)
	read := tokens * elements * x.KVBytes / (x.Bandwidth * c.Bandwidth)
	return c.FixedUS*1e-6 + blend(blend(read, tokens*flops/x.Peak, c.Overlap), context*c.SerialNS*1e-9, c.Overlap)
}

// PrefillSeconds is the time of so many sequences' new tokens, each of which sees the tokens before it: those
// already cached and, on average, half of the new. Heads are those of this accelerator:
//
//	fixed + blend((4·headDim·rows / compute + serial)·(past + new/2 + pad), (queries + result + reads·new keys and values + cached ones) / bandwidth)
func (x *Attention) PrefillSeconds(sequences, newTokens, pastTokens, queryHeads, kvHeads, headDim float64) float64 {
	c := &x.Prefill
	rows := sequences * queryHeads * (newTokens + c.QueryPad)
	compute := (4*headDim*rows/(x.Peak*c.Compute) + c.SerialNS*1e-9) * (pastTokens + newTokens/2 + c.KeyPad)
	bytes := sequences * headDim * (2*outputBytes*queryHeads*newTokens + 2*x.KVBytes*kvHeads*(c.KeyReads*newTokens+pastTokens))
	return c.FixedUS*1e-6 + blend(compute, bytes/(x.Bandwidth*c.Bandwidth), c.Overlap)
}

// Collective is one kind of collective among so many accelerators of one machine.
type Collective struct {
	Curve CollectiveCurve
	Rate  float64 // bytes/s, nominal, one direction of one accelerator
	// Passes is how often the message crosses each accelerator's link: 2 for an all-reduce, 1 for the others.
	Passes float64
}

// Seconds is the time of a message among ranks: the whole reduced tensor, the whole gathered one, or what one rank
// sends in an all-to-all:
//
//	base + step·(ranks − 2) + volume / rate + ramp·volume / (volume + ramp volume), volume = passes·(ranks − 1)/ranks·bytes
func (x *Collective) Seconds(ranks int, bytes float64) float64 {
	if ranks <= 1 {
		return 0
	}
	c, n := &x.Curve, float64(ranks)
	volume := x.Passes * (n - 1) / n * bytes
	t := (c.BaseUS+c.StepUS*(n-2))*1e-6 + volume/(x.Rate*c.share(n))
	if volume > 0 {
		t += c.RampUS * 1e-6 * volume / (volume + c.RampMB*1e6)
	}
	return t
}

// share is that among so many ranks, between the measured numbers in proportion.
func (c *CollectiveCurve) share(n float64) float64 {
	switch {
	case n >= 8 || c.Share4 == 0:
		return c.Share
	case n >= 4:
		return c.Share4 + (c.Share-c.Share4)*(n-4)/4
	}
	return c.Share2 + (c.Share4-c.Share2)*(n-2)/2
}
