package commit

import (
	"math"
	"sort"
)

// net is the network along the time line: node t is the start of month t, and the last node the end of the horizon.
type net struct {
	worth [][]int64 // by month and unit: what it costs a month not to have that unit committed; falling
	loose []int     // by month: units that travel uncommitted
	arcs  []arc     // purchases, by month, then option
	units int       // that travel

	price []int64 // of each node: what the cheapest way there costs; the dual variables of the linear programme
	dist  []int64
	done  []bool
	by    []hop
}

// arc is the purchases of one option in one month.
type arc struct {
	from, to, option int
	cost             int64 // of one unit, in micros
	flow             int
}

// hop is how the cheapest way reaches a node: along a month or a purchase, or back against one.
type hop struct {
	from  int
	month int // -1 where it is a purchase
	arc   int
	back  bool
}

// network builds the network. Of options that cover the same months only the cheapest is of use.
func network(p Problem, months []curve, top int) *net {
	end := len(months)
	n := &net{
		worth: make([][]int64, end), loose: make([]int, end), units: top,
		price: make([]int64, end+1), dist: make([]int64, end+1), done: make([]bool, end+1), by: make([]hop, end+1),
	}
	for m, c := range months {
		if m > 0 && p.repeats(m) {
			n.worth[m] = n.worth[m-1]
			continue
		}
		n.worth[m] = make([]int64, top)
		copy(n.worth[m], p.worth(c))
	}
	for m := 0; m < end; m += max(1, p.Every) {
		first := len(n.arcs)
	options:
		for o, option := range p.Options {
			a := arc{from: m, to: min(m+option.Months(), end), option: o, cost: option.Price().Micros()}
			for i, other := range n.arcs[first:] {
				if other.to == a.to {
					if a.cost < other.cost {
						n.arcs[first+i] = a
					}
					continue options
				}
			}
			n.arcs = append(n.arcs, a)
		}
	}
	return n
}

// ship sends every unit from the first node to the last, each stretch of equal price at once, by the cheapest way that is left.
func (n *net) ship() {
	for left := n.units; left > 0; {
		n.search()
		for v := range n.price {
			n.price[v] += n.dist[v]
		}
		left -= n.send(left)
	}
}

// search finds the cheapest way to each node (Dijkstra), by costs above the prices so far, which are never negative.
func (n *net) search() {
	for v := range n.dist {
		n.dist[v], n.done[v] = math.MaxInt64, false
	}
	n.dist[0] = 0
	for range n.dist {
		at, best := -1, int64(math.MaxInt64)
		for v, d := range n.dist {
			if !n.done[v] && d < best {
				at, best = v, d
			}
		}
		n.done[at] = true // a month can always be gone forward, so that every node is reached
		n.relax(at)
	}
}

// relax follows every way that leaves a node.
func (n *net) relax(v int) {
	try := func(to int, cost int64, by hop) {
		if d := n.dist[v] + cost + n.price[v] - n.price[to]; d < n.dist[to] {
			n.dist[to], n.by[to] = d, by
		}
	}
	if v < len(n.loose) {
		if n.loose[v] < n.units {
			try(v+1, n.worth[v][n.units-1-n.loose[v]], hop{from: v, month: v})
		}
	}
	if v > 0 && n.loose[v-1] > 0 {
		try(v-1, -n.worth[v-1][n.units-n.loose[v-1]], hop{from: v, month: v - 1, back: true})
	}
	for i, a := range n.arcs {
		switch {
		case a.from == v:
			try(a.to, a.cost, hop{from: v, month: -1, arc: i})
		case a.to == v && a.flow > 0:
			try(a.from, -a.cost, hop{from: v, month: -1, arc: i, back: true})
		}
	}
}

// send moves as many units along the way that was found as it carries at one price.
func (n *net) send(most int) int {
	end := len(n.loose)
	for v := end; v != 0; v = n.by[v].from {
		most = n.room(n.by[v], most)
	}
	for v := end; v != 0; v = n.by[v].from {
		h, moved := n.by[v], most
		if h.back {
			moved = -most
		}
		if h.month < 0 {
			n.arcs[h.arc].flow += moved
		} else {
			n.loose[h.month] += moved
		}
	}
	return most
}

// room is how many units, up to a number, can go along a hop at its present price.
func (n *net) room(h hop, most int) int {
	if h.month < 0 {
		if h.back {
			return min(most, n.arcs[h.arc].flow)
		}
		return most
	}
	worth, i, step, limit := n.worth[h.month], n.units-1-n.loose[h.month], -1, n.units-n.loose[h.month]
	if h.back {
		i, step, limit = n.units-n.loose[h.month], 1, n.loose[h.month]
	}
	most = min(most, limit)
	return sort.Search(most, func(k int) bool { return worth[i+k*step] != worth[i] }) // it falls, so that equal ones lie together
}

// bound is what the prices of the nodes prove: by weak duality no flow costs less than
//
//	units (price[end] - price[0]) + sum over months and units of min(0, worth - rise) + units x sum over purchases of min(0, cost - rise)
//
// where rise is the difference of prices between the ends of a month or purchase. It holds for any prices; with those of the cheapest
// flow it is that flow's cost. No purchase carries more than all units.
func (n *net) bound() int64 {
	end := len(n.loose)
	sum := int64(n.units) * (n.price[end] - n.price[0])
	for m, worth := range n.worth {
		rise := n.price[m+1] - n.price[m]
		for _, w := range worth {
			sum += min(0, w-rise)
		}
	}
	for _, a := range n.arcs {
		sum += int64(n.units) * min(0, a.cost-(n.price[a.to]-n.price[a.from]))
	}
	return sum
}
