package train

import (
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
)

// cut is one way to spread the model over ranks: what depends on t, p, c, e and D but not on the micro-batch.
type cut struct {
	t, p, c, e, d int
	stageLayers   float64 // layers of the fullest pipeline stage
	first, last   float64 // dense parameters of a rank on the first and the last stage, embeddings apart
	routed        float64 // routed parameters of a rank
	embed, head   float64 // of a rank, where it has them
	layer         float64 // largest gathered unit of a rank: one layer
}

func (j *job) cut(t, p, c, e, d int) cut {
	s := &j.shape
	k := cut{t: t, p: p, c: c, e: e, d: d, stageLayers: float64((s.layers + p - 1) / p)}
	k.first = k.stageLayers * s.dense / float64(t)
	k.last = k.first
	k.routed = k.stageLayers * s.routed / float64(t*e)
	k.embed, k.head = s.embed/float64(t), s.head/float64(t)
	if s.tied && p > 1 {
		k.head = k.embed // the last stage keeps its own copy
	}
	k.layer = (s.dense + s.routed/float64(e)) / float64(t)
	return k
}

// parts is the memory of one rank in bytes.
type parts struct {
	weights, grads, opt, adapters, gathered, activations, logits, runtime, slack float64
}

func (p parts) total() float64 {
	return p.weights + p.grads + p.opt + p.adapters + p.gathered + p.activations + p.logits + p.runtime + p.slack
}

// memory is the fuller of the first stage (embedding, most micro-batches in flight) and the last (head, logits).
func (j *job) memory(k cut, b, m, virtual, zero int, recompute string, fused bool) parts {
	first := j.stage(k, b, min(m, k.p), virtual, zero, recompute, fused, k.p == 1)
	if k.p == 1 {
		return first
	}
	last := j.stage(k, b, 1, virtual, zero, recompute, fused, true)
	if last.total() > first.total() {
		return last
	}
	return first
}

// stage is the memory of a rank that holds so many micro-batches in flight; isLast adds head and logits.
func (j *job) stage(k cut, b, inFlight, virtual, zero int, recompute string, fused, isLast bool) parts {
	s, st := &j.shape, &j.states
	wide := k.embed
	if isLast {
		wide = k.head
		if k.p == 1 {
			wide += k.embed
		}
	}
	shard, shardE := 1.0, 1.0 // ranks a ZeRO share is spread over: dense and routed parameters
	if zero > 0 {
		shard, shardE = float64(k.d*k.c), max(1, float64(k.d*k.c)/float64(k.e))
	}
	part := func(dense, routed, bytes float64, sharded bool) float64 {
		if sharded {
			return bytes * (dense/shard + routed/shardE)
		}
		return bytes * (dense + routed)
	}
	var p parts
	p.weights = part(k.first, k.routed, st.weight, zero == 3) + part(wide, 0, st.wide, zero == 3)
	trainDense, trainRouted := k.first+wide, k.routed
	if !st.full {
		trainDense, trainRouted = s.adapters/float64(k.p*k.t), 0
		p.adapters = part(trainDense, 0, st.wide, zero == 3)
	}
	p.grads = part(trainDense, trainRouted, st.grad, zero >= 2)
	p.opt = part(trainDense, trainRouted, st.opt, zero >= 1)
	if zero == 3 {
		// The layer in use and the one prefetched, at the width they are gathered in; the embedding alone when larger.
		p.gathered = max(2*k.layer*st.weight, max(k.embed, k.head)*st.wide)
	}
	p.activations, p.logits = j.activations(k, b, inFlight, virtual, recompute, fused)
	if !isLast {
		p.logits = 0
	}
	p.runtime = j.c.Memory.RuntimeGiB * float64(unit.GiB)
	if k.t*k.p*k.c*k.d > 1 {
		p.runtime += j.c.Memory.CommGiB * float64(unit.GiB)
	}
	p.slack = j.c.Memory.Slack * (p.grads + p.gathered + p.activations + p.logits + p.adapters)
	return p
}

// activations is what backward needs of the micro-batches in flight, and the logits with their 32-bit copy.
// Tensor parallelism runs with sequence parallelism, so that all of a layer divides by t.
func (j *job) activations(k cut, b, inFlight, virtual int, recompute string, fused bool) (act, logits float64) {
	s := &j.shape
	tokens := float64(b*s.seq) / float64(k.c)
	layer := tokens * s.act / float64(k.t)
	if !fused {
		core := tokens * s.unfused / float64(k.t)
		if recompute == "none" {
			layer += core
		} else {
			act += core // one layer's at a time is recomputed
		}
	}
	flight := float64(inFlight)
	if virtual > 1 {
		// Interleaving holds more micro-batches (Narayanan et al. 2021).
		flight *= 1 + float64(k.p-1)/float64(k.p*virtual)
	}
	if recompute == "full" {
		act += k.stageLayers*flight*2*tokens*float64(s.hidden)/float64(k.t) + layer
	} else {
		act += k.stageLayers * flight * layer
	}
	return act, tokens * float64(s.vocab) / float64(k.t) * 6
}

// collect names the parts for the reader.
func (p parts) collect(capacity unit.Bytes) estimate.Memory {
	b := func(name string, v float64) estimate.Part { return estimate.Part{Name: name, Bytes: unit.Bytes(v)} }
	return estimate.Collect(capacity, b("weights", p.weights), b("gradients", p.grads), b("optimizer", p.opt),
		b("adapters", p.adapters), b("gathered", p.gathered), b("activations", p.activations), b("logits", p.logits),
		b("runtime", p.runtime), b("slack", p.slack))
}
