package plan

import (
	"cmp"
	"math"
	"slices"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/catalog"
)

// fold is the best of the plans that are alike in all but the place.
type fold struct {
	best *candidate
	// known and other are the best of those whose carbon is known and of the rest: how these compare is settled once all are found.
	known, other *candidate
	timing       timing
}

// timing is what offers of one machine, number and way of paying share, at one rate of interruption.
type timing struct {
	known   bool
	perHour float64 // that spot machines are taken away at
	hours   float64
	beside  money.Amount // what is paid beside the machines
}

// foldKey is what makes plans similar: all but the place.
type foldKey struct {
	machine *catalog.Machine
	est     *estimate.Estimate // of one number of machines
	mode    catalog.BillingMode
}

// foldOf is the fold of a candidate.
func (s *search) foldOf(c *candidate) *fold {
	key := foldKey{c.offer.Machine, c.est, c.mode}
	f := s.folds[key]
	if f == nil {
		f = &fold{}
		s.folds[key] = f
	}
	return f
}

// keepBest keeps a candidate where it beats those that are like it: a search finds millions, of which a reader sees the best.
func (s *search) keepBest(c *candidate) {
	s.feasible++
	s.worst = max(s.worst, c.carbon)
	f := c.fold
	best := &f.known
	if c.carbon < 0 {
		best = &f.other
	}
	c.score = s.key(c)
	switch {
	case *best == nil:
		kept := *c
		*best = &kept
	case order(c, *best) < 0:
		**best = *c
	}
}

// rank orders the folds by the workload's preference.
func (s *search) rank() []fold {
	folds := make([]fold, 0, len(s.folds))
	s.key = s.settled()
	for _, f := range s.folds {
		for _, c := range [...]*candidate{f.known, f.other} {
			if c == nil {
				continue
			}
			if c.score = s.key(c); f.best == nil || order(c, f.best) < 0 {
				f.best = c
			}
		}
		if f.best != nil {
			folds = append(folds, *f)
		}
	}
	slices.SortFunc(folds, func(a, b fold) int { return order(a.best, b.best) })
	return folds
}

// elsewhere lists the plans that are the fold's best one in another place, best first. They are worked out again, since only
// those of the plans that are shown are asked for.
func (s *search) elsewhere(f fold) []candidate {
	var out []candidate
	count := s.candidates
	s.file = func(c *candidate) {
		if c.mode == f.best.mode && c.offer != f.best.offer {
			c.score = s.key(c)
			out = append(out, *c)
		}
	}
	for _, o := range s.offersOf(f.best.offer.Machine) {
		p := s.place(o)
		if slices.ContainsFunc(s.limits, func(holds limit) bool { _, ok := holds(o, p); return !ok }) {
			continue
		}
		s.at = candidate{offer: o, place: p, est: f.best.est, machines: f.best.machines}
		s.ways(&s.at, s.quotes(o), func(miss) {})
	}
	s.candidates = count
	slices.SortFunc(out, func(a, b candidate) int { return order(&a, &b) })
	return out
}

// offersOf lists the offers of a machine.
func (s *search) offersOf(m *catalog.Machine) []*catalog.Offer {
	if s.byMachine == nil {
		s.byMachine = map[*catalog.Machine][]*catalog.Offer{}
		for _, o := range s.Offers {
			s.byMachine[o.Machine] = append(s.byMachine[o.Machine], o)
		}
	}
	return s.byMachine[m]
}

// plans ranks each machine and way of paying by its best number of machines, builds the first Top of them, and lists the other
// numbers under it. The front is that of all numbers of machines together.
func (s *search) plans(folded []fold) (plans []Plan, pareto []int, ranked int) {
	front := paretoFront(folded)
	type family struct {
		provider, instanceType string
		mode                   catalog.BillingMode
	}
	rankOf := map[family]int{}
	for i, f := range folded {
		c := f.best
		key := family{c.offer.Provider, c.offer.InstanceType, c.mode}
		if rank, seen := rankOf[key]; seen {
			if rank <= len(plans) {
				size := Size{c.machines, unit.Hours(c.hours), money.Micros(c.total, s.Currency), maybeKg(c.carbon), front[i]}
				plans[rank-1].Sizes = append(plans[rank-1].Sizes, size)
			}
			continue
		}
		ranked++
		rankOf[key] = ranked
		if s.Top != 0 && ranked > s.Top {
			continue
		}
		p := s.build(f)
		p.Rank, p.OnFront = ranked, front[i]
		if front[i] {
			pareto = append(pareto, ranked)
		}
		plans = append(plans, p)
	}
	return plans, pareto, ranked
}

func maybeKg(kg float64) unit.Maybe[unit.Kilograms] {
	if kg < 0 {
		return unit.None[unit.Kilograms]()
	}
	return unit.Some(unit.Kilograms(kg))
}

// order compares candidates by their scores; an unknown carbon figure comes after every known one, of equal plans the
// fresher price wins, and names decide the rest so that the order never depends on the catalog's.
func order(a, b *candidate) int {
	// The score settles most pairs, and a search compares millions.
	if a.score != b.score {
		return cmp.Compare(a.score, b.score)
	}
	if a.total != b.total {
		return cmp.Compare(a.total, b.total)
	}
	if a.hours != b.hours {
		return cmp.Compare(a.hours, b.hours)
	}
	return cmp.Or(
		cmp.Compare(carbonKey(a), carbonKey(b)), cmp.Compare(a.age, b.age), cmp.Compare(a.machines, b.machines),
		cmp.Compare(a.offer.Provider, b.offer.Provider), cmp.Compare(a.offer.InstanceType, b.offer.InstanceType),
		cmp.Compare(a.offer.Region, b.offer.Region), cmp.Compare(a.offer.Zone, b.offer.Zone), cmp.Compare(a.mode, b.mode),
	)
}

// preference scores a candidate while others are still to be found.
func (s *search) preference() func(c *candidate) float64 {
	switch s.Workload.Prefer {
	case workload.PreferTime:
		return func(c *candidate) float64 { return c.hours }
	case workload.PreferCarbon:
		return carbonKey
	case workload.PreferBalanced:
		return func(c *candidate) float64 { return balanced(c, 0) }
	}
	return func(c *candidate) float64 { return float64(c.total) }
}

// settled scores a candidate once all are found: in a balance, what is not known counts as the worst that is.
func (s *search) settled() func(c *candidate) float64 {
	if s.Workload.Prefer != workload.PreferBalanced {
		return s.key
	}
	return func(c *candidate) float64 { return balanced(c, s.worst) }
}

// balanced is the weighted geometric mean of cost, time and carbon: halving any of them counts alike wherever it starts,
// and money counts most.
func balanced(c *candidate, worst float64) float64 {
	kg := c.carbon
	if kg < 0 {
		kg = worst
	}
	return 0.5*math.Log(float64(c.total)+1) + 0.3*math.Log(c.hours+1e-6) + 0.2*math.Log(kg+1e-6)
}

func carbonKey(c *candidate) float64 {
	if c.carbon < 0 {
		return math.Inf(1)
	}
	return c.carbon
}

// paretoFront says which plans no other beats: none is at least as good on cost, time and carbon and better on one. A plan whose
// carbon is not known competes on cost and time as if it emitted without bound.
func paretoFront(folds []fold) []bool {
	order := make([]int, len(folds))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := folds[i].best, folds[j].best
		return cmp.Or(cmp.Compare(a.total, b.total), cmp.Compare(a.hours, b.hours), cmp.Compare(carbonKey(a), carbonKey(b)))
	})
	on := make([]bool, len(folds))
	var front []*candidate // cheaper first, so that a later plan can only be beaten by an earlier one
	for _, i := range order {
		c := folds[i].best
		beaten := slices.ContainsFunc(front, func(f *candidate) bool {
			return f.hours <= c.hours && carbonKey(f) <= carbonKey(c) && (f.total < c.total || f.hours < c.hours || carbonKey(f) < carbonKey(c))
		})
		if !beaten {
			on[i] = true
			front = append(front, c)
		}
	}
	return on
}
