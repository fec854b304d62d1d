package train

import (
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
)

// cut is one way to spread the model over ranks: what depends on t, p, c, e and D but not on the micro-batch.
type cut struct {
	t, p, c, e, d int
	stageLayers   float64 // layers of the fullest pipeline stage
	first, last   float64 // layers of the first stage, which has the embedding, and of the last, which has the head
	dense         float64 // dense parameters of a rank of that stage, embeddings apart
	routed        float64 // routed parameters of a rank
	embed, head   float64 // of a rank, where it has them
	layer         float64 // largest gathered unit of a rank: one layer
}

// schedule is how a cut works through a batch.
type schedule struct {
	b, m, virtual, zero int
	recompute           string
	fused               bool
}

func (j *job) cut(t, p, c, e, d int) cut {
	s := &j.shape
	k := cut{t: t, p: p, c: c, e: e, d: d, stageLayers: float64((s.layers + p - 1) / p)}
	k.first, k.last = k.stageLayers, max(0, float64(s.layers)-k.stageLayers*float64(p-1))
	if s.countsEnds(p) {
		k.first, k.last = k.stageLayers-1, k.stageLayers-1
	}
	k.dense = k.stageLayers * s.dense / float64(t)
	k.routed = k.stageLayers * s.routed / float64(k.spread())
	k.embed, k.head = s.embed/float64(t), s.head/float64(t)
	if s.tied && p > 1 {
		k.head = k.embed // the last stage keeps its own copy
	}
	for i := range j.m.Stack {
		l := &j.m.Stack[i].Params
		k.layer = max(k.layer, float64(l.Total-l.Routed)/float64(t)+float64(l.Routed)/float64(k.spread()))
	}
	return k
}

// spread is how many ranks share the experts: e of them hold whole ones; fewer than t cut each between them.
func (k *cut) spread() int { return max(k.t, k.e) }

// wide is the most embedding and head parameters that one rank holds.
func (k *cut) wide() float64 {
	if k.p == 1 {
		return k.embed + k.head
	}
	return max(k.embed, k.head)
}

// parts is the memory of one rank in bytes.
type parts struct {
	weights, grads, opt, adapters, gathered, activations, logits, runtime, slack float64
}

func (p parts) total() float64 {
	return p.weights + p.grads + p.opt + p.adapters + p.gathered + p.activations + p.logits + p.runtime + p.slack
}

// memory is that of the fullest stage: the first (embedding, most micro-batches in flight), the last (head, logits) or, where both have a
// layer less than the rest, the second.
func (j *job) memory(k *cut, o schedule) parts {
	if k.p == 1 {
		return j.stage(k, o, 0, k.stageLayers)
	}
	out := j.stage(k, o, 0, k.first)
	if x := j.stage(k, o, k.p-1, k.last); x.total() > out.total() {
		out = x
	}
	if k.first < k.stageLayers {
		if x := j.stage(k, o, 1, k.stageLayers); x.total() > out.total() {
			out = x
		}
	}
	return out
}

// inFlight is how many micro-batches' activations the stage of an order holds under 1F1B. Interleaved, it warms up with
// 2(p-order-1) + (v-1)p chunks of 1/v of its layers and holds one more (Narayanan et al. 2021); never more than all.
func inFlight(k *cut, o schedule, order int) float64 {
	later := float64(k.p - order - 1)
	n := later + 1
	if v := float64(o.virtual); o.virtual > 1 {
		n = (2*later + (v-1)*float64(k.p) + 1) / v
	}
	return min(float64(o.m), n)
}

// stage is the memory of a rank of the stage of an order with so many layers; the first has the embedding, the last head and logits.
func (j *job) stage(k *cut, o schedule, order int, layers float64) parts {
	s, st := &j.shape, &j.states
	isLast := order == k.p-1
	embed, head := 0.0, 0.0
	if order == 0 {
		embed = k.embed
	}
	if isLast {
		head = k.head
	}
	dense, routed := k.dense*layers/k.stageLayers, k.routed*layers/k.stageLayers
	shard, shardE := 1.0, 1.0 // ranks a ZeRO share is spread over: dense and routed parameters
	if o.zero > 0 {
		shard, shardE = float64(j.shared(k)), max(1, float64(k.t*k.d*k.c)/float64(k.spread()))
	}
	part := func(dense, routed, bytes float64, sharded bool) float64 {
		if sharded {
			return bytes * (dense/shard + routed/shardE)
		}
		return bytes * (dense + routed)
	}
	var p parts
	p.weights = part(dense, routed, st.weight, o.zero == 3) + part(embed, 0, st.wide, o.zero == 3) + part(head, 0, st.head, o.zero == 3)
	trainDense, trainRouted := dense+embed+head, routed
	if !st.full {
		trainDense, trainRouted = s.adapters/float64(k.p*k.t), 0
		p.adapters = part(trainDense, 0, st.wide, o.zero == 3)
	}
	p.grads = part(trainDense, trainRouted, st.grad, o.zero >= 2)
	p.opt = part(trainDense, trainRouted, st.opt, o.zero >= 1)
	p.gathered = j.working(k, o)
	p.activations, p.logits = j.activations(k, o, layers*inFlight(k, o, order))
	if !isLast {
		p.logits = 0
	}
	if j.details.Counted != Allocated {
		p.slack = j.c.Memory.Slack * (p.grads + p.gathered + p.activations + p.logits + p.adapters)
	}
	if j.details.Counted == "" {
		p.runtime = j.c.Memory.RuntimeGiB * float64(unit.GiB)
		if k.t*k.p*k.c*k.d > 1 {
			p.runtime += j.c.Memory.CommGiB * float64(unit.GiB)
		}
	}
	return p
}

// working is the weights in use beside those held. Under ZeRO-3: the layer at work with its whole gradient and the one prefetched,
// or the embedding or head with its own while the next layer is on its way. Under ZeRO-3 with a pipeline: all of a stage through its
// micro-batches with gradients at 32 bit, and a layer of both on its way. QLoRA widens one matrix at a time, and a head that is held
// narrow in memory of its own.
func (j *job) working(k *cut, o schedule) float64 {
	st := &j.states
	widened := 0.0
	if st.weight < 1 {
		widened = 2 * j.shape.widest / float64(k.t)
	}
	if st.head < st.wide {
		widened += st.wide * k.head
	}
	if j.details.WholeCopy {
		return widened + 2*float64(j.m.Params.Total)
	}
	if o.zero != 3 || k.d*k.c == 1 {
		return widened
	}
	if k.p > 1 {
		return widened + (k.dense+k.routed)*(st.weight+4) + k.wide()*(st.wide+4) + k.layer*(st.weight+4)
	}
	grad := st.grad
	if !st.full {
		grad = 0
	}
	return widened + max(k.layer*(2*st.weight+grad), max(k.embed, k.head)*(st.wide+grad)+k.layer*st.weight)
}

// activations is what backward needs of so many layers, counted once for each micro-batch they have in flight, and the logits with
// what else the loss holds of each. Tensor parallelism runs with sequence parallelism, so that all of a layer divides by t.
func (j *job) activations(k *cut, o schedule, layers float64) (act, logits float64) {
	s := &j.shape
	tokens := float64(o.b) * float64(s.seq) / float64(k.c)
	layer := tokens * s.act / float64(k.t)
	whole := layer
	switch {
	case j.details.Kept > 0:
		layer *= j.details.Kept
		act = whole - layer // of the layer at work
	case o.recompute == "selective" && o.fused:
		layer -= tokens * s.cheap / float64(k.t)
	}
	if j.details.KeptInputs {
		layer += tokens * s.cheap / float64(k.t)
	}
	if j.details.WideNorms {
		layer += tokens * 4 * s.rootNorms * float64(s.hidden) / float64(k.t)
	}
	if j.details.WholeNorms {
		layer += tokens * 8 * float64(s.hidden) * (1 - 1/float64(k.t))
	}
	if !o.fused {
		core := tokens * s.unfused / float64(k.t)
		if o.recompute == "none" {
			layer += core
		} else {
			act += core // one layer's at a time is recomputed
		}
	}
	if o.recompute == "full" {
		act += layers*2*tokens*float64(s.hidden)/float64(k.t) + whole
	} else {
		act += layers * layer
	}
	return act, tokens * float64(s.vocab) / float64(k.t) * j.states.logit
}

// times is the parts with the whole corrected by what measurements say.
func (p parts) times(f float64) parts {
	return parts{p.weights * f, p.grads * f, p.opt * f, p.adapters * f, p.gathered * f, p.activations * f, p.logits * f, p.runtime * f, p.slack * f}
}

// collect names the parts for the reader.
func (p parts) collect(capacity unit.Bytes) estimate.Memory {
	b := func(name string, v float64) estimate.Part { return estimate.Part{Name: name, Bytes: unit.Bytes(v)} }
	return estimate.Collect(capacity, b("weights", p.weights), b("gradients", p.grads), b("optimizer", p.opt),
		b("adapters", p.adapters), b("gathered", p.gathered), b("activations", p.activations), b("logits", p.logits),
		b("runtime", p.runtime), b("slack", p.slack))
}
