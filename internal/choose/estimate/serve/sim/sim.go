// Package sim simulates engines that serve token models with continuous batching: who waits, who is worked on in which
// step, and what the clients measure.
//
// It is pure and deterministic: the same requests give the same result. Time goes on by events, not by steps: while
// nothing arrives, ends or is prefilled, any number of decoding steps is one jump, whose mean step is the one in its
// middle (exact where a step's time is linear in the tokens it reads, and jumps are short where contexts grow fast).
// A run allocates nothing once its Sim has served as many requests before.
//
// What it holds to: a cache never holds more than its tokens; every request ends once or is refused; a prompt's last chunk
// gives the first token and each further one is a decoding step. Imported by choose/estimate/serve.
package sim

import "math"

// Step is what an engine does in one step.
type Step struct {
	Decode   int     // sequences that each get one token
	Cached   float64 // tokens in the caches that those sequences read, summed, their newest ones included
	Prefill  float64 // new prompt tokens
	Attended float64 // pairs of tokens that those attend: c new ones after p cached make c·p + c(c+1)/2
	Prompts  int     // prompts that those belong to
}

// Stepper says how long a step takes, in seconds, above 0. A pointer or a small value: a run converts it once.
type Stepper interface{ Seconds(Step) float64 }

// Schedule is how an engine puts prompts and answers into steps.
type Schedule int

const (
	// Mixed lets chunks of prompts ride on decoding steps: vLLM v1, TensorRT-LLM in flight, SGLang with mixed chunks.
	Mixed Schedule = iota
	// PromptsFirst works on prompts alone while decoding stands still: vLLM v0, SGLang as it comes.
	PromptsFirst
)

// Engine is one engine's policy.
type Engine struct {
	Stepper  Stepper
	Schedule Schedule
	// Count is how many such engines there are, each with a queue, a cache and steps of its own; 0 is one. A request goes
	// to the one with the fewest in hand.
	Count int
	// MaxSequences is the most in hand at once, ChunkTokens the most new tokens of a step: prompts' and one a decoding
	// sequence. 0 is no limit.
	MaxSequences, ChunkTokens int
	// KVTokens is the most tokens its cache holds, never exceeded; 0 is no limit.
	KVTokens float64
	// Reserve is the share of the answers still to come that must find room before another request is taken in. At 1 an
	// engine never has to put one back (TensorRT-LLM's guarantee); at 0 it looks at what is held now (vLLM), and when the
	// cache is full puts back the youngest, whose cache is computed anew; SGLang lies between.
	Reserve float64
}

// Deployment is what requests are sent to.
type Deployment struct {
	Engine // decodes; works on prompts, too, unless Prefill does
	// Prefill, where given, are engines apart for prompts. Their own caches hold prompts under way.
	Prefill *Engine
	// HandSeconds and HandTokenSeconds are what it takes to hand a prompt's cache from there to an engine that decodes, a
	// request and a token of it. The first token has been sent by then.
	HandSeconds, HandTokenSeconds float64
	// FrontSeconds is the time from a client's sending to the engine's queue: network, server, tokenizer. Clients' times
	// include it.
	FrontSeconds float64
}

// Request is one request.
type Request struct {
	At      float64 // seconds from the start at which it is sent; clients in a closed loop send when they can
	In, Out int     // tokens of prompt and answer, each at least 1
}

func (r Request) tokens() (in, out int32) { return int32(max(1, r.In)), int32(max(1, r.Out)) }

// Run is what a run did as a whole.
type Run struct {
	Requests int     // that ended
	Refused  int     // that no cache can hold, even alone
	PutBack  int     // times a request was put back for want of cache
	Seconds  float64 // from 0 to the end of the last
	// InPerSecond, OutPerSecond and RequestsPerSecond are over the whole run, of requests that ended.
	InPerSecond, OutPerSecond, RequestsPerSecond float64
	// MeanDecoding is the mean over time of sequences in their answers, over all engines; MostDecoding the most of one
	// engine, and MostKV the most tokens in one's cache.
	MeanDecoding float64
	MostDecoding int
	MostKV       float64
	// Idle, Prompts and Decoding are the shares of the engines' time without work, in steps with prompts (which may also
	// decode), and in steps without.
	Idle, Prompts, Decoding float64
}

// Sim runs simulations, one after another; its zero value is ready. Buffers are kept, so reuse it. Not for several
// goroutines at once.
type Sim struct {
	d        Deployment
	requests []Request
	// When each request was sent, gave its first token and ended; NaN where it was refused.
	sent, first, end []float64
	entered, known   int // requests that have entered a queue, and whose time of sending is known
	closed           bool
	clients          int
	ended            int
	run              Run

	decoders, prefills []engine
	handed             queue // on the way from a prefill engine to a decoder, by arrival
	ttft, tpot, e2e    []float64
}

// Open sends each request at its time, which must not fall.
func (s *Sim) Open(d Deployment, requests []Request) Run {
	s.start(d, requests)
	for i, r := range requests {
		s.sent[i] = r.At
	}
	s.known = len(requests)
	return s.finish()
}

// Closed has so many clients, who all start at 0 and each send the next request the moment their last one ends, as public
// benchmarks do.
func (s *Sim) Closed(d Deployment, clients int, requests []Request) Run {
	s.start(d, requests)
	s.closed = true
	s.clients = max(1, clients)
	s.known = min(s.clients, len(requests))
	return s.finish()
}

func (s *Sim) start(d Deployment, requests []Request) {
	s.d, s.requests = d, requests
	n := len(requests)
	s.sent, s.first, s.end = sized(s.sent, n), sized(s.first, n), sized(s.end, n)
	s.entered, s.known, s.ended, s.closed = 0, 0, 0, false
	s.run = Run{}
	s.handed = s.handed[:0]
	s.decoders = renew(s.decoders, &s.d.Engine, false, &s.run)
	s.prefills = s.prefills[:0]
	if d.Prefill != nil {
		s.prefills = renew(s.prefills, d.Prefill, true, &s.run)
	}
}

// sized is a cleared slice of n, of the old one's room where that is enough.
func sized(old []float64, n int) []float64 {
	if cap(old) < n {
		return make([]float64, n)
	}
	old = old[:n]
	clear(old)
	return old
}

func (s *Sim) finish() Run {
	for s.ended < len(s.requests) {
		e, at := s.soonest()
		enters, hands := math.Inf(1), math.Inf(1)
		if s.entered < s.known {
			enters = s.sent[s.entered] + s.d.FrontSeconds
		}
		if len(s.handed) > 0 {
			hands = s.handed[0].key
		}
		switch {
		case enters <= at && enters <= hands:
			id := s.entered
			s.entered++
			s.enter(id, enters)
		case hands <= at:
			s.receive(s.handed.pop().id, hands)
		default:
			s.complete(e)
		}
	}
	return s.summary()
}

// soonest is the engine whose steps under way end first.
func (s *Sim) soonest() (e *engine, at float64) {
	e, at = &s.decoders[0], s.decoders[0].end
	for i := 1; i < len(s.decoders); i++ {
		if d := &s.decoders[i]; d.end < at {
			e, at = d, d.end
		}
	}
	for i := range s.prefills {
		if p := &s.prefills[i]; p.end < at {
			e, at = p, p.end
		}
	}
	return e, at
}

// enter puts a request in the queue of the engine with the fewest in hand, or refuses it.
func (s *Sim) enter(id int, now float64) {
	in, out := s.requests[id].tokens()
	pool := s.decoders
	fits := s.decoders[0].holds(in + out - 1)
	if len(s.prefills) > 0 {
		pool = s.prefills
		fits = fits && s.prefills[0].holds(in)
	}
	if !fits {
		s.run.Refused++
		s.first[id], s.end[id] = math.NaN(), math.NaN()
		s.gone(now)
		return
	}
	fewest(pool).arrive(ticket{id: int32(id), in: in, out: out}, now)
}

// receive hands a request whose prompt is done to the decoder with the fewest in hand.
func (s *Sim) receive(id int32, now float64) {
	in, out := s.requests[id].tokens()
	fewest(s.decoders).arrive(ticket{id: id, in: in, out: out, ready: true}, now)
}

func fewest(pool []engine) *engine {
	best := &pool[0]
	for i := 1; i < len(pool); i++ {
		if pool[i].inHand < best.inHand {
			best = &pool[i]
		}
	}
	return best
}

// complete carries out the steps under way of an engine, or begins its next once all that happens at that time has.
func (s *Sim) complete(e *engine) {
	now := e.end
	if e.k == 0 {
		e.plan(now)
		return
	}
	e.grow()
	e.account()
	for id, ok := e.ended(); ok; id, ok = e.ended() {
		s.done(id, now)
	}
	for _, t := range e.prompts {
		if s.first[t.id] == 0 {
			s.first[t.id] = now
		}
		switch {
		case t.out == 1:
			e.leave(t)
			s.done(t.id, now)
		case e.apart:
			e.leave(t)
			s.handed.push(node{now + s.d.HandSeconds + s.d.HandTokenSeconds*float64(t.in), t.id, t.in + t.out})
		default:
			e.join(t)
		}
	}
	e.prompts = e.prompts[:0]
	e.k = 0
}

// done notes the end of a request.
func (s *Sim) done(id int32, now float64) {
	s.end[id] = now
	s.run.Requests++
	s.run.InPerSecond += float64(s.requests[id].In)
	s.run.OutPerSecond += float64(s.requests[id].Out)
	s.run.Seconds = max(s.run.Seconds, now)
	s.gone(now)
}

// gone counts a request that ended or was refused, upon which its client sends the next.
func (s *Sim) gone(now float64) {
	s.ended++
	if s.closed && s.known < len(s.requests) {
		s.sent[s.known] = now
		s.known++
	}
}

// summary turns the sums of a run into rates and shares.
func (s *Sim) summary() Run {
	r := s.run
	if r.Seconds == 0 {
		return r
	}
	r.InPerSecond, r.OutPerSecond, r.RequestsPerSecond = r.InPerSecond/r.Seconds, r.OutPerSecond/r.Seconds, float64(r.Requests)/r.Seconds
	r.MeanDecoding /= r.Seconds
	engines := r.Seconds * float64(len(s.decoders)+len(s.prefills))
	r.Prompts, r.Decoding = r.Prompts/engines, r.Decoding/engines
	r.Idle = max(0, 1-r.Prompts-r.Decoding)
	return r
}
