package diffuse

import (
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// shape is what a kind of denoiser reaches of a large matrix multiply's rate.
type shape struct {
	KernelShare float64 `yaml:"kernel_share"`
	Quadratic   float64 `yaml:"quadratic"`
	// Traffic is the bytes that operations between the multiplies move where they are run one by one: of a transformer for each
	// token, channel and layer, of a U-Net for each FLOP.
	Traffic float64 `yaml:"traffic"`
	Source  string  `yaml:"source"`
}

type engine struct {
	StepUS float64 `yaml:"step_us"` // scheduler, launches and gaps of one step
	Half   bool    `yaml:"half"`    // sums in 16 bit where that is faster
	Single bool    `yaml:"single"`  // runs operations one by one
}

type constants struct {
	AsOf           string  `yaml:"as_of"`
	UNet           shape   `yaml:"unet"`
	Transformer    shape   `yaml:"transformer"`
	AttentionShare float64 `yaml:"attention_share"`
	AroundShare    float64 `yaml:"around_share"`
	// Quantised is what 8-bit multiplies reach of their own peak, against 16-bit ones; Single where each value is scaled and rounded by
	// an operation of its own. Formats are those that are unpacked slower than they are multiplied.
	Quantised struct {
		Share   float64            `yaml:"share"`
		Single  float64            `yaml:"single"`
		Formats map[string]float64 `yaml:"formats"`
		Source  string             `yaml:"source"`
	} `yaml:"quantised"`
	HalfAccumulate struct {
		Factor float64            `yaml:"factor"`
		Chips  []string           `yaml:"chips"`
		Ratio  map[string]float64 `yaml:"ratio"` // of the 16-bit rate, summed in 32, over FP32, by architecture
		Source string             `yaml:"source"`
	} `yaml:"half_accumulate"`
	// HalfRate is chips whose matrix units run at half their rate, as their listed rate of no more than twice FP32 shows: power
	// and memory keep up with them.
	HalfRate struct {
		Ratio  float64 `yaml:"ratio"`
		Factor float64 `yaml:"factor"`
		Source string  `yaml:"source"`
	} `yaml:"half_rate"`
	// Power is the dense 16-bit TFLOP/s a watt beyond which the clock falls, and with which power.
	Power struct {
		From   float64 `yaml:"from"`
		Slope  float64 `yaml:"slope"`
		Source string  `yaml:"source"`
	} `yaml:"power"`
	Engines         map[Engine]engine `yaml:"engines"`
	TextTokens      float64           `yaml:"text_tokens"`
	DecodePixel     float64           `yaml:"decode_flop_a_pixel"`
	ActivationBytes float64           `yaml:"activation_bytes"`
	Source          string            `yaml:"source"`
	Names           map[string]string `yaml:"names"`
	Networks        []listed          `yaml:"networks"`
}

var embedded = estimate.Embedded[constants]("efficiency/diffuse.yaml")

func (k *constants) engine(e Engine) engine {
	if v, ok := k.Engines[e]; ok {
		return v
	}
	return k.Engines[Compiled]
}

// patchPixels is the image that one token of a transformer stands for: the VAE shrinks eightfold each way, the
// patch twofold.
const patchPixels = 16 * 16

// holding is what one accelerator holds, whatever the chip.
type holding struct {
	weights     unit.Bytes
	textEncoder unit.Bytes
	vae         unit.Bytes
	activations unit.Bytes // an image in the batch
}

func held(m *model.Model, width, height int, f model.FormatInfo) holding {
	// Exporters quantise the denoiser; text encoder and VAE stay at 16 bit unless all is wider.
	around := max(16, f.Bits)
	return holding{
		weights:     bytes(m.Params.Total, f.Bits),
		textEncoder: bytes(m.Diffusion.TextEncoder, around), vae: bytes(m.Diffusion.VAE, around),
		activations: unit.Bytes(embedded().ActivationBytes * float64(width) * float64(height)),
	}
}

func bytes(params int64, bits float64) unit.Bytes { return unit.Bytes(float64(params) * bits / 8) }
