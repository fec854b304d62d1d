package diffuse

import (
	"slices"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// Network is a denoiser and what surrounds it, counted for an image or a video of any size.
type Network struct {
	Name string
	// What a run without statements of its own has.
	Steps, Guidance, Width, Height, Frames int
	// A U-Net's pass over the reference size, of which the share Quadratic grows with the square of the pixels.
	unet      bool
	refPass   float64
	quadratic float64
	// A transformer multiplies each token with so many weights, and all tokens with each other in each layer.
	perToken      float64
	layers        float64
	hidden        float64
	pixelsToken   float64 // of an image, both ways together
	framesToken   int     // of a video, after the first
	textTokens    float64
	textEncoder   float64 // parameters
	decodePixel   float64 // FLOPs of the decoder
	weights       float64 // parameters of the denoiser
	linear        bool    // attention grows with the tokens alone
	layerMessages float64 // all-to-all exchanges a layer, where its tokens are cut over accelerators
}

// listed is a network of data/efficiency/diffuse.yaml.
type listed struct {
	Name        string  `yaml:"name"`
	PerToken    float64 `yaml:"weights_a_token"`
	Layers      float64 `yaml:"layers"`
	Hidden      float64 `yaml:"hidden"`
	Params      float64 `yaml:"params"`
	TextTokens  float64 `yaml:"text_tokens"`
	TextEncoder float64 `yaml:"text_encoder"`
	PatchSide   float64 `yaml:"patch"`
	FramesToken int     `yaml:"frames_a_token"`
	Steps       int     `yaml:"steps"`
	Guidance    int     `yaml:"guidance"`
	Width       int     `yaml:"width"`
	Height      int     `yaml:"height"`
	Frames      int     `yaml:"frames"`
	Linear      bool    `yaml:"linear_attention"`
	Source      string  `yaml:"source"`
}

// Of is the network of a model of the catalogue; false where its arithmetic is not known.
func Of(m *model.Model) (*Network, bool) {
	perPass, ok := m.PerSample.Get()
	if m.Diffusion == nil || !ok || perPass <= 0 {
		return nil, false
	}
	d, k := m.Diffusion, embedded()
	pixels := float64(d.RefWidth) * float64(d.RefHeight)
	n := &Network{
		Name: m.Name, Steps: d.Steps, Guidance: d.Guidance, Width: d.RefWidth, Height: d.RefHeight, Frames: 1,
		textTokens: k.TextTokens, textEncoder: float64(d.TextEncoder), decodePixel: float64(d.VAEDecodeFLOP) / pixels,
		weights: float64(m.Params.Total), refPass: float64(perPass), quadratic: k.UNet.Quadratic,
		layerMessages: exchanges, unet: true, pixelsToken: patchPixels, framesToken: 1,
	}
	if m.Layers > 0 && m.Hidden > 0 {
		tokens := pixels / patchPixels
		n.unet, n.layers, n.hidden, n.textTokens = false, float64(m.Layers), float64(m.Hidden), 0
		n.quadratic = min(1, 4*n.hidden*n.layers*tokens*tokens/n.refPass)
		n.perToken = n.refPass * (1 - n.quadratic) / 2 / tokens
	}
	return n, true
}

// Find is a network by the name that benchmarks print; false where it is not known.
func Find(name string) (*Network, bool) {
	k := embedded()
	if ours, ok := k.Names[name]; ok {
		name = ours
	}
	if i := slices.IndexFunc(k.Networks, func(l listed) bool { return l.Name == name }); i >= 0 {
		l := k.Networks[i]
		return &Network{
			Name: l.Name, Steps: l.Steps, Guidance: l.Guidance, Width: l.Width, Height: l.Height, Frames: max(1, l.Frames),
			perToken: l.PerToken, layers: l.Layers, hidden: l.Hidden, pixelsToken: l.PatchSide * l.PatchSide,
			framesToken: max(1, l.FramesToken), textTokens: l.TextTokens, textEncoder: l.TextEncoder,
			decodePixel: k.DecodePixel, weights: l.Params, linear: l.Linear, layerMessages: exchanges,
		}, true
	}
	m, err := model.Embedded().Get(name)
	if err != nil {
		return nil, false
	}
	return Of(m)
}

// exchanges is what a layer whose tokens are cut over accelerators sends of its activations: queries, keys and values before
// attention, and its result after.
const exchanges = 4

// tokens is how many a transformer works on.
func (n *Network) tokens(s Setting) float64 {
	frames := float64((s.Frames-1)/n.framesToken + 1)
	return float64(s.Width)*float64(s.Height)/n.pixelsToken*frames + n.textTokens
}

// pass is the FLOPs of one denoiser pass: multiplies by weights, and products of attention.
func (n *Network) pass(s Setting) (multiply, attention float64) {
	if n.unet || n.perToken == 0 {
		larger := float64(s.Width) * float64(s.Height) / (float64(n.Width) * float64(n.Height))
		return n.refPass * (1 - n.quadratic) * larger, n.refPass * n.quadratic * larger * larger
	}
	t := n.tokens(s)
	multiply = 2 * n.perToken * t
	if !n.linear {
		attention = 4 * n.layers * n.hidden * t * t
	}
	return multiply, attention
}

// around is the FLOPs of text encoder and decoder.
func (n *Network) around(s Setting) float64 {
	pixels := float64(s.Width) * float64(s.Height) * float64(s.Frames)
	return float64(s.Guidance)*2*n.textEncoder*embedded().TextTokens + n.decodePixel*pixels
}

// Usual fills in what a setting does not state, and names it.
func (n *Network) Usual(s Setting) (Setting, []string) {
	var assumed []string
	fill := func(v *int, usual int, name string) {
		if *v == 0 && usual > 0 {
			*v, assumed = usual, append(assumed, name)
		}
	}
	fill(&s.Steps, n.Steps, "steps")
	if s.Width == 0 {
		s.Width, s.Height, assumed = n.Width, n.Height, append(assumed, "resolution")
	}
	fill(&s.Frames, n.Frames, "frames")
	fill(&s.Guidance, max(1, n.Guidance), "guidance")
	fill(&s.Batch, 1, "batch")
	return s, assumed
}

// Tags is what a run may share with measurements.
func (n *Network) Tags(g estimate.Group, s Setting) estimate.Tags {
	t := estimate.ChipTags(g.Chip)
	t.Model, t.Framework, t.Precision, t.Mode = n.Name, string(s.Engine), s.Format, s.Mode
	t.Structure = "transformer"
	if n.unet {
		t.Structure = "unet"
	}
	return t
}

// StepFLOPs is the arithmetic of one denoising step of one image.
func (n *Network) StepFLOPs(s Setting) float64 {
	multiply, attention := n.pass(s)
	return float64(s.Guidance) * (multiply + attention)
}

// Renamed is the chip table's name of a chip that benchmarks name otherwise, else the name itself.
func Renamed(chip string) string {
	if ours, ok := embedded().Names[chip]; ok {
		return ours
	}
	return chip
}
