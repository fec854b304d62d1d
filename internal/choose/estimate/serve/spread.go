package serve

import (
	"math"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// Spread is how one engine is laid over accelerators. Zeros are ones.
type Spread struct {
	TP int // tensor parallel, of attention and of what is not a routed expert
	PP int // pipeline stages
	// DP is groups of TP accelerators that attend to sequences of their own and share the experts (attention data parallelism).
	DP int
	// EP is ranks that hold whole experts, each a part of them. The TP·DP accelerators of a stage are EP x slices of experts.
	EP int
}

// whole is the spread with its zeros filled in.
func (s Spread) whole() Spread {
	return Spread{TP: max(1, s.TP), PP: max(1, s.PP), DP: max(1, s.DP), EP: max(1, s.EP)}
}

// Stage is the accelerators of one pipeline stage.
func (s Spread) Stage() int { return max(1, s.TP) * max(1, s.DP) }

// Accelerators is how many one engine takes.
func (s Spread) Accelerators() int { return s.Stage() * max(1, s.PP) }

// slices is in how many parts each expert is cut.
func (s Spread) slices() int { return max(1, s.Stage()/max(1, s.EP)) }

// Valid says whether a model can be laid so: heads over tensor parallelism, experts over theirs, layers over stages.
func (s Spread) Valid(m *model.Model) bool {
	s = s.whole()
	if m.Heads%s.TP != 0 || s.PP > m.Layers {
		return false
	}
	if s.EP > 1 || s.DP > 1 {
		return m.MoE != nil && s.Stage()%s.EP == 0 && s.EP <= m.MoE.Experts
	}
	return true
}

// Setup is an engine, what it serves and how it is laid out.
type Setup struct {
	Model  *model.Model
	Format model.FormatInfo
	KVBits float64
	Block  bool   // fp8 weights with scales for blocks, as DeepSeek's checkpoints
	Engine string // a framework's canonical name; empty is the most common
	Spread Spread
}

// Structure says what a network is made of, for the tags of predictions: dense or moe, after what attends unusually.
func Structure(m *model.Model) string {
	kind := "dense"
	if m.MoE != nil {
		kind = "moe"
	}
	for _, a := range m.Attention {
		switch a.Kind {
		case model.LatentAttention:
			return "mla-" + kind
		case model.LinearAttention:
			return "linear-" + kind
		}
	}
	return kind
}

// Tags is what a prediction of the setup on a group shares with measurements.
func (s *Setup) Tags(c *estimate.Curves, g estimate.Group, mode string) estimate.Tags {
	t := estimate.ChipTags(g.Chip)
	t.Model, t.Family, t.Structure, t.Mode = s.Model.Name, s.Model.Family, Structure(s.Model), mode
	if s.Engine != "" {
		t.Framework, _ = c.Serve.Engines.Of(s.Engine)
	}
	t.Precision = precision(s.Format)
	return t
}

// precision is the width that weights are stored at, and whether they are widened to be multiplied.
func precision(f model.FormatInfo) string {
	switch {
	case f.WeightOnly && f.Bits < 7:
		return "w4"
	case f.WeightOnly:
		return "w8"
	case f.Bits < 7:
		return "fp4"
	case f.Bits < 10:
		return "fp8"
	}
	return "16-bit"
}

// uneven is how much longer the fullest stage of a pipeline takes than the mean one; each is waited for.
func (s Spread) uneven(layers int) float64 {
	p, n := float64(max(1, s.PP)), float64(layers)
	return math.Ceil(n/p) * p / n
}
