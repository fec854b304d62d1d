package sim

import "math"

// ticket is a request as an engine sees it: after it was put back its prompt holds what had been generated, and after its
// prompt was computed elsewhere it is ready to decode.
type ticket struct {
	id, in, out int32
	ready       bool
}

// engine is one engine at work. Contexts are not kept: a sequence that will end at a step has at each step as many tokens
// less than its full length as there are steps to go.
type engine struct {
	policy *Engine
	run    *Run
	apart  bool // works on prompts alone and hands them over

	waiting []ticket // in order of arrival, from head on
	head    int
	back    []ticket // put back, the next to be taken in last
	inHand  int      // waiting and taken in

	partial  ticket // the prompt cut by the chunk; its tokens are in flight where worked > 0
	worked   int32  // tokens of it done
	decoding queue  // by the step after which each ends
	steps    float64
	cached   float64 // tokens that the decoding sequences read in the next step
	held     float64 // tokens in the cache
	owed     float64 // tokens that those taken in are yet to add

	// The steps under way: k alike ones from start to end, each for so many decoding sequences; or one with a chunk of
	// prompts, of which it completes some. Without any, k is 0, and end the time to plan the next or infinity.
	start, end float64
	k, decode  int
	chunk      bool
	prompts    []ticket
}

// renew is a pool of idle engines of a policy, in the buffers of the old one.
func renew(old []engine, policy *Engine, apart bool, run *Run) []engine {
	n := max(1, policy.Count)
	for cap(old) < n {
		old = append(old[:cap(old)], engine{})
	}
	old = old[:n]
	for i := range old {
		e := &old[i]
		*e = engine{policy: policy, run: run, apart: apart, end: math.Inf(1), waiting: e.waiting[:0], back: e.back[:0], decoding: e.decoding[:0], prompts: e.prompts[:0]}
	}
	return old
}

// holds tells whether the cache has room for one request alone.
func (e *engine) holds(tokens int32) bool {
	return e.policy.KVTokens == 0 || float64(tokens) <= e.policy.KVTokens
}

// arrive queues a request and lets it into the next step, where it can be taken in.
func (e *engine) arrive(t ticket, now float64) {
	first := e.head == len(e.waiting) && len(e.back) == 0
	e.waiting = append(e.waiting, t)
	e.inHand++
	switch {
	case e.k == 0:
		e.end = min(e.end, now) // wakes up, once all that arrive now have arrived
	case e.k > 1 && first && e.takes(t):
		e.interrupt(now)
	}
}

// plan begins the next step, or as many alike as there are until the engine's own next event.
func (e *engine) plan(now float64) {
	step := Step{}
	if !e.makeRoom() {
		e.takeIn(&step)
	}
	e.start, e.chunk = now, step.Prompts > 0
	e.k, e.decode = 1, len(e.decoding)
	if e.chunk && e.policy.Schedule == PromptsFirst {
		e.decode = 0
	}
	switch {
	case e.chunk:
		if step.Decode = e.decode; e.decode > 0 {
			step.Cached = e.cached
		}
		e.end = now + e.policy.Stepper.Seconds(step)
	case e.decode > 0:
		e.k = e.jump()
		e.end = now + float64(e.k)*e.mean(e.k)
	default:
		e.k, e.end = 0, math.Inf(1)
	}
}

// grow carries out the decoding of the steps under way.
func (e *engine) grow() {
	if e.decode > 0 {
		grown := float64(e.k * e.decode)
		e.steps += float64(e.k)
		e.cached, e.held, e.owed = e.cached+grown, e.held+grown, e.owed-grown
	}
}

// shortJump is the fewest steps that are worth more than one look at the step's time.
const shortJump = 32

// jump is how many decoding steps there are until one ends or the cache is full, and no more than let the mean context grow
// by a quarter, so that the middle step stands for them.
func (e *engine) jump() int {
	n := float64(e.decode)
	k := min(e.decoding[0].key-e.steps, max(shortJump, e.cached/(4*n)))
	if e.policy.KVTokens > 0 {
		k = min(k, (e.policy.KVTokens-e.held)/n)
	}
	return max(1, int(k))
}

// mean is the mean time of the next k decoding steps: that of the middle one.
func (e *engine) mean(k int) float64 {
	n := float64(e.decode)
	return e.policy.Stepper.Seconds(Step{Decode: e.decode, Cached: e.cached + n*float64(k-1)/2})
}

// interrupt ends a jump with the step that is under way at a time.
func (e *engine) interrupt(now float64) {
	mean := (e.end - e.start) / float64(e.k)
	k := max(1, int(math.Ceil((now-e.start)/mean)))
	if k >= e.k {
		return
	}
	mean = e.mean(k)
	if e.start+float64(k)*mean < now {
		k++ // the first guess took steps for longer than the earlier ones are
		mean = e.mean(k)
	}
	e.k, e.end = k, e.start+float64(k)*mean
}

// sequences is how many an engine may have in hand beside the queue.
func (e *engine) sequences() int {
	n := math.MaxInt
	if e.policy.MaxSequences > 0 {
		n = e.policy.MaxSequences
	}
	if e.policy.ChunkTokens > 0 {
		n = min(n, e.policy.ChunkTokens)
	}
	return n
}

// takes tells whether a request can be taken in now: into a place, into the cache as it will be after the step, and with the
// reserve for the answers still to come.
func (e *engine) takes(t ticket) bool {
	if len(e.decoding)+len(e.prompts) >= e.sequences() {
		return false
	}
	if e.policy.KVTokens == 0 {
		return true
	}
	now := e.held + float64(t.in) + float64(len(e.decoding))
	if t.ready {
		now++ // it decodes at once
	}
	later := e.held + float64(t.in) + e.reserve()*(e.owed+e.owes(t))
	return max(now, later) <= e.policy.KVTokens
}

func (e *engine) reserve() float64 { return min(1, max(0, e.policy.Reserve)) }

// owes is the tokens that a request adds to the cache after its prompt. The last token of an answer is read by no step.
func (e *engine) owes(t ticket) float64 {
	if e.apart {
		return 0
	}
	return float64(t.out - 1)
}

// makeRoom puts back the youngest until the next decoding step has room in the cache, and tells whether it had to. All
// others than the youngest came before those put back earlier.
func (e *engine) makeRoom() (pressed bool) {
	if e.policy.KVTokens == 0 || e.worked > 0 && e.policy.Schedule == PromptsFirst {
		return false
	}
	for e.held+float64(len(e.decoding)) > e.policy.KVTokens {
		pressed = true
		e.run.PutBack++
		if e.worked > 0 {
			e.worked = 0
			e.held, e.owed = e.held-float64(e.partial.in), e.owed-e.owes(e.partial)
			e.back = append(e.back, e.partial)
			continue
		}
		youngest := 0
		for i, n := range e.decoding {
			if n.id > e.decoding[youngest].id {
				youngest = i
			}
		}
		n := e.decoding.remove(youngest)
		togo := int32(n.key - e.steps)
		t := ticket{id: n.id, in: n.full - togo, out: togo}
		e.cached, e.held, e.owed = e.cached-float64(t.in), e.held-float64(t.in-1), e.owed-float64(togo)
		e.back = append(e.back, t)
	}
	return pressed
}

// takeIn fills a step with prompts in their order: the one under way, those put back, those that wait.
func (e *engine) takeIn(step *Step) {
	room := int32(math.MaxInt32)
	if e.policy.ChunkTokens > 0 {
		room = int32(e.policy.ChunkTokens)
		if e.policy.Schedule == Mixed {
			room -= int32(len(e.decoding))
		}
	}
	if e.worked > 0 {
		room = e.work(e.partial, room, step)
	}
	for room > 0 {
		t, ok := e.next()
		if !ok || !e.takes(t) {
			return
		}
		e.drop()
		e.held, e.owed = e.held+float64(t.in), e.owed+e.owes(t)
		if t.ready {
			e.join(t)
			continue
		}
		room = e.work(t, room, step)
	}
}

// work puts as much of a prompt in a step as there is room for, and gives the room left.
func (e *engine) work(t ticket, room int32, step *Step) int32 {
	past := e.worked
	n := min(t.in-past, room)
	step.Prompts++
	step.Prefill += float64(n)
	step.Attended += float64(n)*float64(past) + float64(n)*float64(n+1)/2
	if past+n < t.in {
		e.partial, e.worked = t, past+n
		return 0
	}
	e.worked = 0
	e.prompts = append(e.prompts, t)
	return room - n
}

// next is the request that is to be taken in first.
func (e *engine) next() (ticket, bool) {
	if n := len(e.back); n > 0 {
		return e.back[n-1], true
	}
	if e.head < len(e.waiting) {
		return e.waiting[e.head], true
	}
	return ticket{}, false
}

func (e *engine) drop() {
	if n := len(e.back); n > 0 {
		e.back = e.back[:n-1]
		return
	}
	if e.head++; e.head == len(e.waiting) {
		e.waiting, e.head = e.waiting[:0], 0
	}
}

// join begins the decoding of a request whose prompt is done and has given a token. The next step reads and holds that one.
func (e *engine) join(t ticket) {
	e.decoding.push(node{e.steps + float64(t.out-1), t.id, t.in + t.out})
	e.cached += float64(t.in + 1)
}

// ended takes out the next sequence whose answer is complete; ok is false where there is none.
func (e *engine) ended() (id int32, ok bool) {
	if len(e.decoding) == 0 || e.decoding[0].key > e.steps {
		return 0, false
	}
	n := e.decoding.pop()
	e.cached, e.held = e.cached-float64(n.full), e.held-float64(n.full-1)
	e.inHand--
	return n.id, true
}

// leave frees the cache of a request that does not decode here.
func (e *engine) leave(t ticket) {
	e.held, e.owed = e.held-float64(t.in), e.owed-e.owes(t)
	e.inHand--
}

// account adds the steps under way to the run's sums.
func (e *engine) account() {
	seconds := e.end - e.start
	if e.chunk {
		e.run.Prompts += seconds
	} else {
		e.run.Decoding += seconds
	}
	e.run.MeanDecoding += seconds * float64(len(e.decoding))
	e.run.MostDecoding = max(e.run.MostDecoding, len(e.decoding))
	e.run.MostKV = max(e.run.MostKV, e.held)
}
