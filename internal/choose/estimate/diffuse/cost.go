package diffuse

import (
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// shape is what a kind of denoiser reaches.
type shape struct {
	KernelShare float64 `yaml:"kernel_share"`
	N           int     `yaml:"n"`
	Quadratic   float64 `yaml:"quadratic"`
	Source      string  `yaml:"source"`
}

type constants struct {
	AsOf           string `yaml:"as_of"`
	UNet           shape  `yaml:"unet"`
	Transformer    shape  `yaml:"transformer"`
	HalfAccumulate struct {
		Factor float64  `yaml:"factor"`
		N      int      `yaml:"n"`
		Chips  []string `yaml:"chips"`
		Source string   `yaml:"source"`
	} `yaml:"half_accumulate"`
	StepUS          float64 `yaml:"step_us"`
	TextTokens      float64 `yaml:"text_tokens"`
	ActivationBytes float64 `yaml:"activation_bytes"`
	Source          string  `yaml:"source"`
}

var embedded = estimate.Embedded[constants]("efficiency/diffuse.yaml")

// patchPixels is the image that one token of a transformer stands for: the VAE shrinks eightfold each way, the
// patch twofold.
const patchPixels = 16 * 16

// cost is what one image takes, whatever the chip.
type cost struct {
	steps       float64
	pass        float64 // FLOPs of one step, guidance included
	denoise     float64 // FLOPs of all steps
	around      float64 // FLOPs of text encoder and decoder
	weights     unit.Bytes
	textEncoder unit.Bytes
	vae         unit.Bytes
	activations unit.Bytes // an image in the batch
	unet        bool
	kernelShare float64
	stepSeconds float64
}

// price counts an image. Arithmetic grows with the pixels, but for attention's products, which grow with their square.
func price(m *model.Model, d *workload.Generation, perPass float64, f model.FormatInfo) (cost, string) {
	k, ref := embedded(), m.Diffusion
	s := k.UNet
	refPixels := float64(ref.RefWidth) * float64(ref.RefHeight)
	if m.Layers > 0 && m.Hidden > 0 {
		s = k.Transformer
		tokens := refPixels / patchPixels
		s.Quadratic = min(1, 4*float64(m.Hidden)*float64(m.Layers)*tokens*tokens/perPass)
	}
	pixels := float64(d.Width) * float64(d.Height)
	larger := pixels / refPixels
	guidance := float64(max(1, d.Guidance))
	c := cost{steps: float64(d.Steps), unet: s == k.UNet, kernelShare: s.KernelShare, stepSeconds: k.StepUS * 1e-6}
	c.pass = guidance * perPass * ((1-s.Quadratic)*larger + s.Quadratic*larger*larger)
	c.denoise = c.steps * c.pass
	c.around = guidance*2*float64(ref.TextEncoder)*k.TextTokens + float64(ref.VAEDecodeFLOP)*larger
	// Exporters quantise the denoiser; text encoder and VAE stay at 16 bit unless all is wider.
	around := max(16, f.Bits)
	c.weights = bytes(m.Params.Total, f.Bits)
	c.textEncoder, c.vae = bytes(ref.TextEncoder, around), bytes(ref.VAE, around)
	c.activations = unit.Bytes(k.ActivationBytes * pixels)
	return c, s.Source
}

func bytes(params int64, bits float64) unit.Bytes { return unit.Bytes(float64(params) * bits / 8) }

// batchTime is the seconds of one batch from prompt to pixels.
type batchTime struct{ compute, memory, overhead float64 }

func (t batchTime) total() float64 { return t.compute + t.memory + t.overhead }

// seconds is the time of a batch. A step takes the longer of its arithmetic and of reading the weights once.
func (j *job) seconds(r rates, batch int) batchTime {
	b := float64(batch)
	t := batchTime{overhead: j.steps * j.stepSeconds}
	arithmetic, read := b*j.pass/r.reached, float64(j.weights)/r.bandwidth
	if arithmetic >= read {
		t.compute = j.steps * arithmetic
	} else {
		t.memory = j.steps * read
	}
	t.compute += b * j.around / r.reached
	return t
}
