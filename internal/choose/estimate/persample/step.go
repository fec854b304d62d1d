package persample

import (
	"math"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/model"
)

type trainingConstants struct {
	Exposed     float64 `yaml:"exposed"`
	Source      string  `yaml:"source"`
	assumptions `yaml:",inline"`
}

// Step is one optimizer step on a group.
type Step struct {
	estimate.Correction
	Seconds   float64 // uncorrected
	PerSecond float64 // samples, corrected
	Local     float64 // samples an accelerator
	Peak      float64 // FLOPS of one accelerator
	From      string  // what the network's level rests on
	estimate.Shares
}

// Run is how a network is trained.
type Run struct {
	Precision accelerator.Precision
	Batch     float64 // samples a step, over all accelerators
	Framework string
}

// StepOn predicts one step of data-parallel training with every accelerator of the group at work: a network over so many
// accelerators that some have no sample is as fast as with one sample each.
func (n *Net) StepOn(c *estimate.Curves, g estimate.Group, r Run) (Step, *estimate.Refusal) {
	f := n.Reached(c, estimate.SampleTraining)
	t, refusal := n.parts(c, g, r.Precision, f)
	if refusal != nil {
		return Step{}, refusal
	}
	count := float64(g.Accelerators())
	s := Step{Local: math.Max(1, r.Batch/count), Peak: t.peak, From: f.Source}
	const passes = 3 // backward is twice forward
	link, network, refusal := n.exchange(c, g, s.Local*f.Exchange)
	if refusal != nil {
		return Step{}, refusal
	}
	s.Shares = estimate.Shares{
		Compute: passes * s.Local * (t.compute + t.power), Memory: passes * s.Local * t.memory, Link: link, Network: network,
		Overhead: t.fixed,
	}
	s.Seconds = s.Compute + s.Memory + s.Link + s.Network + s.Overhead
	s.Correction = correct(c, estimate.SampleTraining, n.TrainingTags(g, r), f.Groups)
	s.PerSecond = math.Min(r.Batch, count*s.Local) / s.Seconds * s.Factor
	return s, nil
}

// exchange is the seconds that collectives add to a step, inside machines and between them: the sum over 16-bit gradients, as far
// as it does not hide, and a recommender's exchange of so many bytes of embeddings, which nothing hides. A ring over n passes 2 (n - 1) / n of
// the bytes; an all-to-all leaves 1 / n at home.
func (n *Net) exchange(c *estimate.Curves, g estimate.Group, tables float64) (link, network float64, refusal *estimate.Refusal) {
	gradients := 2 * 2 * n.dense() * embedded().Training.Exposed
	if inside := float64(g.PerNode); inside > 1 {
		l, ok := c.Inside(g, g.PerNode)
		if !ok {
			return 0, 0, &estimate.Refusal{Reason: estimate.NoNetworkFact}
		}
		link = (inside-1)/inside*(gradients+tables)/l.BytesPerSec + 2*l.HopSeconds*math.Log2(inside)
	}
	if machines := float64(g.Nodes); machines > 1 {
		l, ok := c.Between(g)
		if !ok {
			return 0, 0, &estimate.Refusal{Reason: estimate.NoNetworkFact}
		}
		network = (machines-1)/machines*(gradients+tables*float64(g.PerNode))/l.BytesPerSec + 2*l.HopSeconds*math.Log2(machines)
	}
	return link, network, nil
}

// dense is the parameters whose gradients every accelerator needs: a recommender's tables are spread instead, and what is left
// multiplies each sample once.
func (n *Net) dense() float64 {
	all := float64(n.Params.Total)
	if n.Class == model.Recommender {
		return math.Min(all, n.FLOP/2)
	}
	return all
}

// TrainingTags is what a prediction of training shares with measurements.
func (n *Net) TrainingTags(g estimate.Group, r Run) estimate.Tags {
	t := estimate.ChipTags(g.Chip)
	t.Model, t.Family, t.Structure, t.Framework, t.Precision = n.Name, n.Family, n.Kind, r.Framework, r.Precision.String()
	t.Mode = "one machine"
	if g.Nodes > 1 {
		t.Mode = "many machines"
	}
	return t
}
