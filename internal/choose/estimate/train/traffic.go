package train

import "math"

// traffic is seconds on the links inside a machine and on the network between machines.
type traffic struct{ link, network float64 }

// each is what one accelerator has of its machine's network when all send at once.
func (mc *machine) each() float64 { return mc.between.BytesPerSec / float64(mc.g.PerNode) }

// tensor is the all-reduces of tensor parallelism: two a layer forward, two backward, two more when the forward
// is repeated, each of the hidden states at 16 bit (gather and scatter pairs move the same bytes).
func (j *job) tensor(mc *machine, k *cut, o schedule, tokens float64) (traffic, bool) {
	if k.t == 1 {
		return traffic{}, true
	}
	l := mc.inside[k.t]
	if l.BytesPerSec <= 0 {
		return traffic{}, false
	}
	n := 4.0
	if o.recompute == "full" {
		n = 6
	}
	t := float64(k.t)
	once := 2*(t-1)/t*2*tokens*float64(j.shape.hidden)/l.BytesPerSec + 2*(t-1)*l.HopSeconds
	return traffic{link: k.stageLayers * n * once * (1 - j.c.Train.Overlap.Tensor)}, true
}

// expert is the all-to-alls of expert parallelism: tokens out and back, forward and backward, and once more when the
// forward is repeated. What goes to experts of another machine crosses the network once a machine, and its links on the other side.
func (j *job) expert(mc *machine, k *cut, o schedule, tokens float64) (x traffic, ok bool) {
	if k.e == 1 || j.shape.moeShare == 0 {
		return traffic{}, true
	}
	n := 4.0
	if o.recompute == "full" {
		n = 6
	}
	stride := max(1, k.t/k.e)
	token := tokens / float64(max(1, k.t/stride)) * 2 * j.shape.expertWidth
	layers := n * k.stageLayers * j.shape.moeShare
	local := max(1, min(k.e, mc.g.PerNode/stride))
	machines := float64(k.e) / float64(local)
	if local > 1 {
		l := mc.inside[local*stride]
		if l.BytesPerSec <= 0 {
			return traffic{}, false
		}
		x.link = layers * (1 - j.c.Train.Overlap.Expert) * (float64(local-1)/float64(local)*token*j.shape.topK/l.BytesPerSec + float64(local-1)*l.HopSeconds)
	}
	if machines > 1 {
		if !mc.hasNet {
			return traffic{}, false
		}
		met := machines * (1 - math.Pow(1-1/machines, j.shape.topK)) // machines that a token's experts stand in
		x.network = layers * (1 - j.c.Train.Overlap.ExpertFar) * (met*(machines-1)/machines*token/mc.each() + math.Sqrt(machines-1)*mc.between.HopSeconds)
	}
	return x, true
}

// context is the ring exchange of keys and values under context parallelism: forward the neighbours' keys and values,
// backward again with their gradients. A rank exchanges one head at least.
func (j *job) context(mc *machine, k *cut, o schedule, tokens float64) (traffic, bool) {
	if k.c == 1 {
		return traffic{}, true
	}
	width := max(j.shape.kvDim/float64(k.t), j.shape.kvHead)
	once := tokens * 2 * width
	part := k.stageLayers * 3 * float64(k.c-1) * (1 - j.c.Train.Overlap.Context)
	if k.t*k.c <= mc.g.PerNode {
		l := mc.inside[k.t*k.c]
		return traffic{link: part * (once/l.BytesPerSec + l.HopSeconds)}, l.BytesPerSec > 0
	}
	return traffic{network: part * (once/mc.each() + mc.between.HopSeconds)}, mc.hasNet
}

// pipeline is the hand-over of one micro-batch to the next stage and its gradient back, as often as a rank has stages.
func (j *job) pipeline(mc *machine, k *cut, o schedule, tokens float64) (traffic, bool) {
	if k.p == 1 {
		return traffic{}, true
	}
	bytes := 2 * tokens * float64(j.shape.hidden) / float64(k.t)
	n := 2 * float64(o.virtual) * (1 - j.c.Train.Overlap.Pipeline)
	return mc.neighbour(k, n, bytes)
}

// neighbour is n sends to the next pipeline stage. A stage's ranks stand side by side; the next stage begins after them, so that the
// share of stages that end with their machine sends over the network.
func (mc *machine) neighbour(k *cut, n, bytes float64) (x traffic, ok bool) {
	far := 0.0
	if mc.g.Nodes > 1 {
		far = min(1, float64(k.t*k.c*k.d)/float64(mc.g.PerNode))
		if !mc.hasNet {
			return traffic{}, false
		}
		x.network = far * n * (bytes/mc.each() + mc.between.HopSeconds)
	}
	if far < 1 {
		l := mc.inside[mc.g.PerNode]
		if l.BytesPerSec <= 0 {
			return traffic{}, false
		}
		x.link = (1 - far) * n * (bytes/l.BytesPerSec + l.HopSeconds)
	}
	return x, true
}

// data is what keeps the replicas alike, a step: gradients reduced and updated weights gathered; gradients scattered each
// micro-batch from ZeRO-2 on; under ZeRO-3 the weights gathered twice a micro-batch (Rajbhandari et al. 2020). Experts have
// a replica in every e-th rank.
func (j *job) data(mc *machine, k *cut, o schedule) (x traffic, ok bool) {
	n := k.d * k.c
	st, m := &j.states, float64(o.m)
	weights := st.weight*k.dense + st.wide*k.wide()
	grads, gradsE := st.grad*(k.dense+k.wide()), st.grad*k.routed
	updated, updatedE := weights, st.weight*k.routed
	if !st.full {
		a := j.shape.adapters / float64(k.p*k.t)
		grads, gradsE, updated, updatedE = st.grad*a, 0, st.wide*a, 0
	}
	// A call a layer: gradients and weights go in buckets of about that size.
	volume, volumeE, calls := grads+updated, gradsE+updatedE, 2*k.stageLayers
	switch o.zero {
	case 0:
		volume, volumeE = 2*grads, 2*gradsE
	case 2:
		volume, volumeE, calls = m*grads+updated, m*gradsE+updatedE, (m+1)*k.stageLayers
	case 3:
		if k.p > 1 { // gathered once for all micro-batches
			volume, volumeE, calls = weights+grads, st.weight*k.routed+gradsE, 2*k.stageLayers
			break
		}
		volume, volumeE, calls = m*(2*weights+grads), m*(2*st.weight*k.routed+gradsE), 3*m*k.stageLayers
	}
	shared := j.shared(k)
	dense, ok1 := mc.ring(k.t, shared, volume, calls)
	if shared < n { // each share is summed over those that hold the same
		across, ok := mc.reduce(k.t*shared, n/shared, 2*grads/float64(shared), calls)
		dense, ok1 = dense.plus(across), ok1 && ok
	} else if o.zero == 0 {
		dense, ok1 = mc.reduce(k.t, n, volume, calls)
	}
	routed, ok2 := traffic{}, true
	if volumeE > 0 {
		routed, ok2 = mc.ring(k.spread(), k.t*n/k.spread(), volumeE, calls)
	}
	x = dense.plus(routed)
	if j.shape.tied && k.p > 1 && st.full { // the two copies of the embedding sum their gradients
		ends, ok3 := mc.neighbour(k, 1, st.grad*k.embed)
		x.link, x.network = x.link+ends.link, x.network+ends.network
		ok1 = ok1 && ok3
	}
	return x, ok1 && ok2
}

// shared is how many ranks hold a share each of what ZeRO spreads: all replicas, or those of a sub-group.
func (j *job) shared(k *cut) int {
	n := k.d * k.c
	if s := j.details.Shard; s > 0 && s < n && n%s == 0 {
		return s
	}
	return n
}

func (x traffic) plus(y traffic) traffic { return traffic{x.link + y.link, x.network + y.network} }

// ring is so many gathers or scatters of volume bytes in all among n ranks that stride over their neighbours; each passes through
// all of them in turn.
func (mc *machine) ring(stride, n int, volume, calls float64) (traffic, bool) {
	return mc.collect(stride, n, volume, calls, func(n float64) float64 { return n - 1 })
}

// reduce is so many all-reduces, which go up and down a tree between machines.
func (mc *machine) reduce(stride, n int, volume, calls float64) (traffic, bool) {
	return mc.collect(stride, n, volume, calls, math.Log2)
}

// collect is collectives among n ranks: each machine holds some of them, and the groups that its other ranks form share its network.
func (mc *machine) collect(stride, n int, volume, calls float64, hops func(machines float64) float64) (x traffic, ok bool) {
	if n <= 1 {
		return traffic{}, true
	}
	per := mc.g.PerNode
	local := max(1, min(n, per/stride))
	nodes := (n + local - 1) / local
	if local > 1 {
		l := mc.inside[local*stride]
		if l.BytesPerSec <= 0 {
			return traffic{}, false
		}
		x.link = volume*float64(local-1)/float64(local)/l.BytesPerSec + calls*float64(local)*l.HopSeconds
	}
	if nodes > 1 {
		if !mc.hasNet {
			return traffic{}, false
		}
		groups := float64(min(stride, per))
		x.network = volume*groups*float64(nodes-1)/float64(nodes)/mc.between.BytesPerSec + calls*hops(float64(nodes))*mc.between.HopSeconds
	}
	return x, true
}
