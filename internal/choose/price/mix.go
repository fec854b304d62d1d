package price

import (
	"math"
	"slices"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
)

// Ways is what a mix may draw on: prices on demand, of spot for an Interruptible share of the machines of each hour (0 to 1), and of
// commitments. Spot may be left out.
type Ways struct {
	OnDemand      Way
	Spot          *Way
	Interruptible float64
	Committed     []Way
}

// OnSpot is how many of n machines may be spot.
func (w Ways) OnSpot(n int) int { return int(w.Interruptible*float64(n) + 1e-9) }

// Part is what one way of paying does in a mix.
type Part struct {
	Way
	// ByHour is the machines paid for in each hour of the day, at first; a commitment's are paid for all day.
	ByHour [24]int
	// Hours is the machine-hours paid for within the service's time, Idle those of them that nothing needed.
	Hours, Idle unit.Hours
	Peak        int        // machines at once, at most
	Terms       int        // of one machine each, bought in all; 0 without a term or where only their share is charged
	Bought      []Purchase // those terms, in the order of their starts
	Steady      bool       // a commitment to as many machines all the time
	Cost        money.Amount
	Flow        Flow // sums to Cost
}

// Purchase is a commitment to some machines for a term, from the start of a month; 0 is the first.
type Purchase struct{ Way, Machines, Start int } // Way is an index into Ways.Committed

// Newsvendor says what to commit to of a service that goes on, so that only the share of a term is charged. Machine by machine, the
// k-th is needed in the hours that need k or more; it is worth committing while those hours, at what they would cost by the hour,
// exceed the term's share (Arrow, Harris and Marschak 1951). That is exact, since a deeper machine is never needed for longer.
func (s Service) Newsvendor(w Ways) []Purchase {
	m := mixer{service: s, ways: w}
	best := -1
	for i, c := range w.Committed {
		if best < 0 || c.Hourly.Nanos() < w.Committed[best].Hourly.Nanos() {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	share, machines := w.Committed[best].Hourly.For(float64(s.Hours)), 0
	for c := range s.Peak() {
		onDemand, spot := m.hours(c)
		lessOnDemand, lessSpot := m.hours(c + 1)
		if m.byTheHour(onDemand-lessOnDemand, spot-lessSpot).Cmp(share) <= 0 {
			break
		}
		machines++
	}
	if machines == 0 {
		return nil
	}
	return []Purchase{{best, machines, 0}}
}

// Split is what each way of paying does and costs once commitments are bought: they serve first, then spot its share, and the rest is
// on demand by the hour, whose price must not be in steps. Where the service's terms are not paid whole, a purchase lasts as long as it does.
// Ways that do nothing are left out.
func (s Service) Split(w Ways, bought []Purchase) []Part {
	m := mixer{service: s, ways: w, bought: bought, active: make([]int, Months(s.Hours))}
	for _, b := range bought {
		end := len(m.active)
		if s.Whole {
			end = min(end, b.Start+Months(w.Committed[b.Way].Mode.Term()))
		}
		for i := b.Start; i < end; i++ {
			m.active[i] += b.Machines
		}
	}
	return m.parts()
}

// mixer works out a split.
type mixer struct {
	service Service
	ways    Ways
	bought  []Purchase
	active  []int // machines committed in each month
}

// spare splits an hour that needs n machines, of which c are committed.
func (m *mixer) spare(n, c int) (onDemand, spot int) {
	rest := max(0, n-c)
	if m.ways.Spot != nil {
		spot = min(rest, m.ways.OnSpot(n))
	}
	return rest - spot, spot
}

// hours is the hours a day that c committed machines leave to the others.
func (m *mixer) hours(c int) (onDemand, spot int) {
	for _, n := range m.service.ByHour {
		a, b := m.spare(n, c)
		onDemand, spot = onDemand+a, spot+b
	}
	return onDemand, spot
}

// months is how long each month of the service is; the last may be short.
func (m *mixer) months() []unit.Hours {
	out := make([]unit.Hours, Months(m.service.Hours))
	for i := range out {
		out[i] = min(unit.HoursPerMonth, m.service.Hours-unit.Hours(i)*unit.HoursPerMonth)
	}
	return out
}

// byTheHour is what so many hours a day, on demand and of spot, cost over the service's time.
func (m *mixer) byTheHour(onDemand, spot int) money.Amount {
	days := float64(m.service.Hours) / 24
	cost := m.ways.OnDemand.Hourly.For(float64(onDemand) * days)
	if spot > 0 {
		cost = cost.Add(m.ways.Spot.Hourly.For(float64(spot) * days))
	}
	return cost
}

// parts adds up what each way does.
func (m *mixer) parts() []Part {
	var out []Part
	for i, w := range m.ways.Committed {
		if p, some := m.committed(i, w); some {
			out = append(out, p)
		}
	}
	onDemand, spot := Part{Way: m.ways.OnDemand}, Part{}
	months := m.months()
	m.variable(&onDemand, months, func(n, c int) int { a, _ := m.spare(n, c); return a })
	if onDemand.Hours > 0 {
		out = append(out, onDemand)
	}
	if m.ways.Spot != nil {
		spot.Way = *m.ways.Spot
		m.variable(&spot, months, func(n, c int) int { _, b := m.spare(n, c); return b })
		if spot.Hours > 0 {
			out = append(out, spot)
		}
	}
	m.idle(out, months)
	return out
}

// committed is the part of one commitment.
func (m *mixer) committed(i int, w Way) (p Part, some bool) {
	p.Way = w
	term := w.Mode.Term()
	var f Flow
	at := make([]int, len(m.active))
	for _, b := range m.bought {
		if b.Way != i {
			continue
		}
		some = true
		end := len(at)
		if m.service.Whole {
			end = min(end, b.Start+Months(term))
		}
		for t := b.Start; t < end; t++ {
			at[t] += b.Machines
			p.Peak = max(p.Peak, at[t])
		}
		if b.Start == 0 {
			p.ByHour = Flat(b.Machines)
		}
		if !m.service.Whole {
			p.Hours = unit.Hours(b.Machines) * m.service.Hours
			f = Service{ByHour: Flat(b.Machines), Hours: m.service.Hours}.Flow(w)
			continue
		}
		p.Terms += b.Machines
		p.Bought = append(p.Bought, b)
		p.Hours += unit.Hours(b.Machines) * min(term, m.service.Hours-unit.Hours(b.Start)*unit.HoursPerMonth)
		f = f.buy(w, 1, b.Machines, b.Start)
	}
	if some {
		p.Flow, p.Cost, p.Steady = f, f.Total(), slices.Min(at) == p.Peak
		slices.SortStableFunc(p.Bought, func(a, b Purchase) int { return a.Start - b.Start })
	}
	return p, some
}

// variable fills in a part that is paid by the hour; need says how many of its machines an hour takes that needs n of which c are
// committed.
func (m *mixer) variable(p *Part, months []unit.Hours, need func(n, c int) int) {
	p.Flow = Nothing(len(months), p.Hourly.Currency())
	paid := money.Zero(p.Hourly.Currency())
	for t, h := range months {
		daily := 0
		for i, n := range m.service.ByHour {
			k := need(n, m.active[t])
			daily += k
			p.Peak = max(p.Peak, k)
			if t == 0 {
				p.ByHour[i] = k
			}
		}
		p.Hours += unit.Hours(daily) / 24 * h
		at := p.Hourly.For(float64(p.Hours))
		p.Flow[t].Running, paid = at.Sub(paid), at
	}
	p.Cost = paid
}

// idle shares out the committed hours that nothing needed, the dearest commitment idling first.
func (m *mixer) idle(parts []Part, months []unit.Hours) {
	idle := unit.Hours(0)
	for t, h := range months {
		for _, n := range m.service.ByHour {
			idle += unit.Hours(max(0, m.active[t]-n)) * h / 24
		}
	}
	for idle > 0 {
		dearest := -1
		for i, p := range parts {
			if p.Mode.Term() > 0 && p.Idle < p.Hours && (dearest < 0 || p.Hourly.Nanos() > parts[dearest].Hourly.Nanos()) {
				dearest = i
			}
		}
		if dearest < 0 {
			return
		}
		p := &parts[dearest]
		p.Idle = min(p.Hours, idle)
		idle -= p.Idle
		if math.Abs(float64(idle)) < 1e-6 {
			return
		}
	}
}

// Total is what all parts cost.
func Total(parts []Part, c money.Currency) money.Amount {
	sum := money.Zero(c)
	for _, p := range parts {
		sum = sum.Add(p.Cost)
	}
	return sum
}

// Together is the payments of all parts.
func Together(parts []Part, c money.Currency) Flow {
	f := Nothing(1, c)
	for _, p := range parts {
		f = f.Plus(p.Flow)
	}
	return f
}
