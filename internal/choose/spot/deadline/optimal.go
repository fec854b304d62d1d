package deadline

import "math"

// optimal knows the whole trace. It is what the others are measured by, and no policy that anyone can follow.
type optimal struct{}

func (optimal) Name() string { return "optimal" }

func (optimal) Begin(j Job, m *Market, start int) func(*View) Choice {
	_, follow := j.Optimum(m, start)
	return follow
}

// never is more than anything costs: four times as much can still be counted.
const never = math.MaxInt64 / 4

// plan is the cheapest way to do a job from one start on: a decision for each tick and progress, for each instance that may be held.
type plan struct {
	j     Job
	zones int
	// at holds, by tick and by progress over the least that can still be made good, what to do: in the low byte what to start when
	// nothing runs (0 nothing, 1 on-demand, 2 + zone spot), and a bit for each instance (bit 8 on-demand, 9 + zone spot) that says
	// to go on with it.
	at []uint32
}

// MaxZones is what the bits of a plan hold, and maxCells what of them is kept: a gigabyte.
const (
	MaxZones = 22
	maxCells = 1 << 28
)

// least is the progress that must have been made by a tick for the work to be done in time, and width the number of amounts of progress
// that are possible at one.
func (j Job) least(tick int) int { return max(0, j.Work-(j.Deadline-tick)) }
func (j Job) width() int         { return j.Deadline - j.Work + 1 }

// layers are the values of a tick by progress: of holding nothing, and of running each instance in this tick.
type layers struct {
	off []int64
	run [][]int64 // on-demand, then the zones
}

// Optimum is the least that a job costs from a tick of the market on, as a sum over ticks of hourly prices, by dynamic programming over
// time and progress; follow takes it tick by tick. An instance is only started where it lives through its overhead and a tick of
// progress, since else it is money for nothing.
func (j Job) Optimum(m *Market, start int) (nanos int64, follow func(*View) Choice) {
	p := &plan{j: j, zones: len(m.Zones), at: make([]uint32, j.Deadline*j.width())}
	ring := make([]layers, j.Overhead+2)
	for i := range ring {
		ring[i] = layers{make([]int64, j.Work+2), make([][]int64, p.zones+1)}
		for k := range ring[i].run {
			ring[i].run[k] = make([]int64, j.Work+2)
		}
	}
	for t := j.Deadline; t >= 0; t-- {
		p.tick(m, start, t, ring)
	}
	return ring[0].off[0], p.follow()
}

// tick works out the values of tick t from those after it; ring holds them by tick modulo its length.
func (p *plan) tick(m *Market, start, t int, ring []layers) {
	j, n := p.j, len(ring)
	now, next, after := &ring[t%n], &ring[(t+1)%n], &ring[(t+j.Overhead)%n]
	// Less progress than low cannot be made good; more than high cannot have been made.
	low, high := j.least(t), min(j.Work-1, t)
	now.off[j.Work] = 0
	for k := range now.run {
		now.run[k][j.Work] = 0
	}
	for i := max(0, low-j.Overhead-1); i < low; i++ { // as far as earlier ticks look
		now.off[i] = never
		for k := range now.run {
			now.run[k][i] = never
		}
	}
	if t == j.Deadline {
		return
	}
	at := p.at[t*j.width():]
	for k := range now.run {
		price, up := p.offer(m, k, start+t)
		p.goOn(now.run[k], next.run[k], next.off, price, up, low, high)
	}
	off := now.off
	copy(off[low:high+1], next.off[low:high+1])
	for k := range now.run {
		begin, ok := p.begin(m, k, start, t)
		if !ok {
			continue
		}
		for i, then := range after.run[k][low : high+1] {
			// Of equal costs, starting now beats waiting: it is done sooner.
			if v := begin + then; v < off[low+i] || v == off[low+i] && at[i] == 0 {
				off[low+i], at[i] = v, uint32(1+k)
			}
		}
	}
	for k := range now.run {
		for i, v := range now.run[k][low : high+1] {
			if v <= off[low+i] && v < never {
				at[i] |= 1 << (8 + k)
			}
		}
	}
}

// goOn is the value of running an instance in a tick: the price, and the better of going on and stopping after it.
func (p *plan) goOn(now, next, off []int64, price int64, up bool, low, high int) {
	for i := low; i <= high; i++ {
		if !up {
			now[i] = never
			continue
		}
		now[i] = price + min(next[i+1], off[i+1])
	}
}

// offer is the price of an instance at a tick of the market, and whether it is to be had.
func (p *plan) offer(m *Market, k, tick int) (int64, bool) {
	if k == 0 {
		return m.OnDemand.Nanos(), true
	}
	z := &m.Zones[k-1]
	return z.price(tick), z.Up[tick]
}

// begin is what the overhead of an instance that is started at tick t costs; false where it does not live through it, or the deadline
// is before.
func (p *plan) begin(m *Market, k, start, t int) (sum int64, ok bool) {
	if t+p.j.Overhead >= p.j.Deadline {
		return 0, false
	}
	for i := t; i < t+p.j.Overhead; i++ {
		price, up := p.offer(m, k, start+i)
		if !up {
			return 0, false
		}
		sum += price
	}
	return sum, true
}

// follow is the decisions along the plan.
func (p *plan) follow() func(*View) Choice {
	return func(v *View) Choice {
		at := p.at[v.Tick*p.j.width()+v.Progress-p.j.least(v.Tick)]
		if v.Holding != Off && (v.Waiting > 0 || at&(1<<(9+int(v.Holding))) != 0) {
			return v.Holding
		}
		return Choice(int(at&0xff) - 2)
	}
}
