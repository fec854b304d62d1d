package sim

// node is a request in a queue by time or by step, with the tokens of prompt and answer together.
type node struct {
	key  float64
	id   int32
	full int32
}

// before orders by key, and what is alike by number, so that no result depends on how a heap happens to lie.
func (a node) before(b node) bool { return a.key < b.key || a.key == b.key && a.id < b.id }

// queue is a binary heap with the least node first.
type queue []node

func (q *queue) push(n node) {
	*q = append(*q, n)
	q.up(len(*q) - 1)
}

func (q *queue) pop() node { return q.remove(0) }

func (q *queue) remove(i int) node {
	h := *q
	n, last := h[i], len(h)-1
	h[i] = h[last]
	*q = h[:last]
	if i < last {
		q.down(i)
		q.up(i)
	}
	return n
}

func (q *queue) up(i int) {
	h := *q
	for i > 0 {
		parent := (i - 1) / 2
		if !h[i].before(h[parent]) {
			return
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
}

func (q *queue) down(i int) {
	h := *q
	for {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(h); c++ {
			if h[c].before(h[least]) {
				least = c
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}
