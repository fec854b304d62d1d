package sim

import (
	"math"
	"slices"
)

// linear is a step time that jumps meet exactly.
type linear struct{ fixed, sequence, cached, prefill, attended float64 }

func (l *linear) Seconds(s Step) float64 {
	return l.fixed + l.sequence*float64(s.Decode) + l.cached*s.Cached + l.prefill*s.Prefill + l.attended*s.Attended
}

// large is the order of a 70B-class model on eight large accelerators.
func large() *linear {
	return &linear{fixed: 12e-3, sequence: 30e-6, cached: 2e-8, prefill: 25e-6, attended: 3e-10}
}

// roofline has a kink where arithmetic outgrows reading.
type roofline struct{}

func (r *roofline) Seconds(s Step) float64 {
	read := 9e-3 + 2.2e-8*s.Cached
	work := 45e-6*(float64(s.Decode)+s.Prefill) + 4e-10*s.Attended + 5e-9*s.Cached
	return 3e-3 + max(read, work)
}

// walker is the same engine walked step by step, as plainly as can be: the reference. It is one engine without a prefill
// pool.
type walker struct {
	d                 Deployment
	waiting           []*sequence
	running           []*sequence // in order of arrival; the prompt under way, if any, is the last
	now               float64
	most, mostRunning int
	putBack           int
}

type sequence struct {
	id, in, out       int // as asked for
	sent, first, end  float64
	prompt, done, got int // tokens to prefill and prefilled, and generated
}

func (q *sequence) decoding() bool { return q.done == q.prompt }

// held is the tokens in the cache: a prompt's room is taken whole, and the newest token is not in it yet.
func (q *sequence) held() int {
	if !q.decoding() {
		return q.prompt
	}
	return q.in + q.got - 1
}

// walk gives each request's times.
func walk(d Deployment, clients int, requests []Request) ([]*sequence, *walker) {
	w := &walker{d: d}
	all := make([]*sequence, len(requests))
	for i, r := range requests {
		all[i] = &sequence{id: i, in: r.In, out: r.Out, prompt: r.In, sent: r.At}
		if clients > 0 && i >= clients {
			all[i].sent = math.Inf(1)
		} else if clients > 0 {
			all[i].sent = 0
		}
	}
	next, known := 0, clients
	for ended := 0; ended < len(all); {
		for next < len(all) && all[next].sent+d.FrontSeconds <= w.now {
			w.waiting = append(w.waiting, all[next])
			next++
		}
		s, prompts := w.form()
		if s.Prompts == 0 && s.Decode == 0 {
			w.now = all[next].sent + d.FrontSeconds
			continue
		}
		w.now += d.Stepper.Seconds(s)
		for _, q := range w.running {
			if q.decoding() && s.Decode > 0 {
				q.got++
			}
		}
		for _, p := range prompts {
			if p.q.done += p.n; p.q.decoding() {
				if p.q.got++; p.q.first == 0 {
					p.q.first = w.now
				}
			}
		}
		held := 0
		for _, q := range w.running {
			held += q.held()
		}
		w.most = max(w.most, held)
		for i := 0; i < len(w.running); i++ {
			q := w.running[i]
			if q.got == q.out {
				q.end = w.now
				ended++
				w.running = slices.Delete(w.running, i, i+1)
				i--
				if clients > 0 && known < len(all) {
					all[known].sent = w.now
					known++
				}
			}
		}
	}
	return all, w
}

type share struct {
	q *sequence
	n int
}

// form takes in what may be taken in and composes the next step.
func (w *walker) form() (s Step, prompts []share) {
	kv := int(w.d.KVTokens)
	if kv == 0 {
		kv = math.MaxInt
	}
	chunk := w.d.ChunkTokens
	if chunk == 0 {
		chunk = math.MaxInt
	}
	limit := w.d.MaxSequences
	if limit == 0 {
		limit = math.MaxInt
	}
	limit = min(limit, chunk)
	partial := len(w.running) > 0 && !w.running[len(w.running)-1].decoding()

	pressed := false
	for !(w.d.Schedule == PromptsFirst && partial) {
		held, grow := w.held()
		if held+grow <= kv {
			break
		}
		pressed = true
		w.putBack++
		i := len(w.running) - 1
		if !partial { // the one that came last
			for j, q := range w.running {
				if q.id > w.running[i].id {
					i = j
				}
			}
		}
		q := w.running[i]
		w.running = slices.Delete(w.running, i, i+1)
		q.prompt, q.done = q.in+q.got, 0
		w.waiting = slices.Insert(w.waiting, 0, q)
		partial = false
	}

	decode, cached := 0, 0
	for _, q := range w.running {
		if q.decoding() {
			decode++
			cached += q.in + q.got
		}
	}
	room := chunk
	if w.d.Schedule == Mixed {
		room -= decode
	}
	add := func(q *sequence) {
		n := min(room, q.prompt-q.done)
		prompts = append(prompts, share{q, n})
		s.Prompts++
		s.Prefill += float64(n)
		for i := 1; i <= n; i++ {
			s.Attended += float64(q.done + i)
		}
		room -= n
	}
	if partial {
		add(w.running[len(w.running)-1])
	}
	for !pressed && room > 0 && len(w.waiting) > 0 && len(w.running) < limit {
		q := w.waiting[0]
		held, _ := w.held()
		owed := q.out - q.got - 1
		for _, r := range w.running {
			if r.decoding() {
				owed += r.out - r.got
			} else {
				owed += r.out - r.got - 1
			}
		}
		if held+q.prompt+decode > kv || float64(held+q.prompt)+w.d.Reserve*float64(owed) > float64(kv) {
			break
		}
		w.waiting = w.waiting[1:]
		w.running = append(w.running, q)
		add(q)
	}
	if w.d.Schedule == Mixed || s.Prompts == 0 {
		s.Decode, s.Cached = decode, float64(cached)
	}
	w.mostRunning = max(w.mostRunning, decode)
	return s, prompts
}

// held is the tokens in the cache, and those that a decoding step adds.
func (w *walker) held() (held, grow int) {
	for _, q := range w.running {
		held += q.held()
		if q.decoding() {
			grow++
		}
	}
	return held, grow
}
