// Package model holds neural architectures: how many parameters, how much arithmetic and how much key/value
// cache follow from a configuration, matrix by matrix; and the numeric formats that weights are stored in.
//
// Invariants: a count comes from the configuration and equals the published checkpoint to the parameter where
// one is published; a format's bits include its scales. Pure: rows come from the embedded data, a config.json
// from the caller. Imported by choose and above.
package model

import (
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

// Class is the broad shape of a network.
type Class string

// The classes.
const (
	Decoder        Class = "decoder"
	Encoder        Class = "encoder"
	EncoderDecoder Class = "encoder-decoder"
	Vision         Class = "vision"    // ViT and CNN classifiers
	Generator      Class = "diffusion" // UNet and DiT image or video generators
	Speech         Class = "speech"    // recognisers that are no language model
	Recommender    Class = "recommender"
	Graph          Class = "graph" // networks over a sampled neighbourhood
)

// Model is one architecture with everything the estimates need, counted when it is loaded.
type Model struct {
	Name          string // canonical, lower case: llama-3.1-70b
	Family        string
	Class         Class
	HF            string // organisation/name on the hub; empty where unknown
	Layers        int
	Hidden        int
	Heads         int
	FFN           int // dense feed-forward width; 0 where no layer has one
	Vocab         int
	MaxContext    int // 0 where a configuration does not say
	TieEmbeddings bool

	// Attention lists the kinds of attention layer with how many there are of each; the counts sum to Layers.
	Attention []Attention
	// Stack lists the kinds of layer with their parameters, in order of first appearance; the counts sum to Layers.
	Stack []Layer
	// MoE is nil for a dense network.
	MoE *MoE

	Params Params
	// Published is the checkpoint's printed total; unknown where none was found.
	Published unit.Maybe[int64]

	// MTP is the parameters of multi-token-prediction layers, which Params leaves out: published totals do, and
	// an engine loads them only to speculate. They share embedding and head with the network.
	MTP int64

	// PerSample is the arithmetic of one forward pass over one sample for networks that are not token models
	// (one image for Vision, one utterance for Speech, one user and item for Recommender, one node for Graph, one denoising
	// step of one reference image for Diffusion).
	PerSample unit.Maybe[unit.FLOP]
	// Diffusion describes an image or video generator; nil otherwise.
	Diffusion *Diffusion

	NativeFormat Format // what the checkpoint ships in: bf16, fp8, mxfp4 …
	Confidence   string
	License      string // as the hub words it; empty where it is not known
	Source       string
	AsOf         string
	Notes        string
}

// AttentionKind is how a layer attends.
type AttentionKind string

// The kinds of attention layer.
const (
	FullAttention   AttentionKind = "full"
	SlidingWindow   AttentionKind = "sliding"
	ChunkedWindow   AttentionKind = "chunked"
	LatentAttention AttentionKind = "mla"
	LinearAttention AttentionKind = "linear" // constant state: Mamba, gated delta …
)

// Attention is a set of like attention layers.
type Attention struct {
	Kind    AttentionKind
	Layers  int
	Heads   int // query heads
	KVHeads int
	QKDim   int // per-head width of query and key (192 for DeepSeek MLA: 128 + 64 rope)
	VDim    int // per-head width of value
	Window  int // tokens seen at most; 0 is unlimited
	Latent  int // MLA: compressed KV width
	Rope    int // MLA: shared rope width
	// StateBytes is the constant state of a linear layer per sequence at 16 bit; 0 otherwise.
	StateBytes int64
	// Cross is how many encoder tokens the layer attends to besides (1500 for 30 s of audio in Whisper): a constant
	// part of each sequence's cache, projected from the encoder once.
	Cross int
	// Bidirectional layers see the whole sequence (encoders); causal ones half of it on average.
	Bidirectional bool
}

// Layer is a set of like layers.
type Layer struct {
	Count     int
	Attention Attention // its Layers equals Count
	// Params of one layer; embedding, head and other parts are zero.
	Params Params
	FFN    int // dense width, 0 where the layer only routes
	MoE    bool
}

// MoE is the mixture of experts of a network.
type MoE struct {
	Experts   int // routed experts per MoE layer
	TopK      int
	Shared    int // shared experts per MoE layer, each of width SharedFFN
	FFN       int // width of a routed expert
	SharedFFN int
	Layers    int // layers that route
	Latent    int // width that routed experts take in and put out; 0 is the hidden one
}

// Width is what a routed expert takes in and puts out, in a network of a hidden width.
func (m *MoE) Width(hidden int) int {
	if m.Latent > 0 {
		return m.Latent
	}
	return hidden
}

// Params is a count of parameters by part. The parts sum to Total.
type Params struct {
	Total     int64 `json:"total"`
	Active    int64 `json:"active"`    // touched by one token, embeddings counted once as the model cards do
	Embedding int64 `json:"embedding"` // input embedding and positions
	Head      int64 `json:"head"`      // output head when not tied
	Attention int64 `json:"attention"`
	MLP       int64 `json:"mlp"`    // dense feed-forward and shared experts
	Routed    int64 `json:"routed"` // routed experts, all of them
	Router    int64 `json:"router"`
	Norm      int64 `json:"norm"`
	Other     int64 `json:"other"` // encoders, projections, multi-token prediction …
}

// Diffusion is what a generator does per image beyond its denoiser.
type Diffusion struct {
	Steps         int // usual number of denoising steps
	Guidance      int // denoiser passes a step: 2 with classifier-free guidance, 1 distilled
	RefWidth      int // the image PerSample is given for
	RefHeight     int
	TextEncoder   int64     // parameters
	VAE           int64     // parameters
	VAEDecodeFLOP unit.FLOP // one reference image
}

// Format is how a number is stored.
type Format string

// FormatInfo says what a stored format costs and what arithmetic it runs at.
type FormatInfo struct {
	Name Format
	// Bits a weight takes on average, scales and zero points included.
	Bits float64
	// Compute lists the precisions the weights are multiplied at, best first: a 4-bit weight-only format
	// multiplies at fp16, an fp8 checkpoint at fp8 where the chip has it.
	Compute []accelerator.Precision
	// WeightOnly formats are widened before the multiply; activations stay 16-bit.
	WeightOnly bool
	// ExpertsOnly formats leave everything but routed experts at 16 bit where there are any (MXFP4 as gpt-oss ships it).
	ExpertsOnly bool
	// KeepsHead says that embeddings and output head stay 16-bit, as the usual exporters do.
	KeepsHead bool
	Notes     string
	Source    string
	AsOf      string
}
