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

// fold is a plan with the same plan elsewhere.
type fold struct {
	best *candidate
	also []*candidate
}

// foldKey is what makes plans similar: all but the place.
type foldKey struct {
	provider, instanceType string
	mode                   catalog.BillingMode
	machines               int
	est                    *estimate.Estimate
}

// rank orders the candidates by the workload's preference and folds similar ones under their best.
func (s *search) rank() []fold {
	// Pointers are sorted, since candidates are large to move.
	ordered := make([]*candidate, len(s.found))
	for i := range s.found {
		ordered[i] = &s.found[i]
	}
	slices.SortFunc(ordered, s.order())
	at := make(map[foldKey]int, len(s.found)/4)
	var folds []fold
	for _, c := range ordered {
		key := foldKey{c.offer.Provider, c.offer.InstanceType, c.mode, c.machines, c.est}
		if i, seen := at[key]; seen {
			folds[i].also = append(folds[i].also, c)
			continue
		}
		at[key] = len(folds)
		folds = append(folds, fold{best: c})
	}
	return folds
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

// order compares candidates by preference; an unknown carbon figure comes after every known one, of equal plans the
// fresher price wins, and names decide the rest so that the order never depends on the catalog's.
func (s *search) order() func(a, b *candidate) int {
	key := s.score()
	for i := range s.found {
		s.found[i].score = key(&s.found[i])
	}
	return func(a, b *candidate) int {
		// The score settles most pairs, and a search sorts tens of thousands.
		if a.score != b.score {
			return cmp.Compare(a.score, b.score)
		}
		return ties(a, b)
	}
}

func ties(a, b *candidate) int {
	return cmp.Or(
		cmp.Compare(a.total, b.total), cmp.Compare(a.hours, b.hours), cmp.Compare(carbonKey(a), carbonKey(b)),
		cmp.Compare(a.age, b.age), cmp.Compare(a.machines, b.machines),
		cmp.Compare(a.offer.Provider, b.offer.Provider), cmp.Compare(a.offer.InstanceType, b.offer.InstanceType),
		cmp.Compare(a.offer.Region, b.offer.Region), cmp.Compare(a.offer.Zone, b.offer.Zone), cmp.Compare(a.mode, b.mode),
	)
}

func (s *search) score() func(c *candidate) float64 {
	switch s.Workload.Prefer {
	case workload.PreferTime:
		return func(c *candidate) float64 { return c.hours }
	case workload.PreferCarbon:
		return carbonKey
	case workload.PreferBalanced:
		// The weighted geometric mean of cost, time and carbon: halving any of them counts alike wherever it starts,
		// and money counts most. What is not known counts as the worst that is.
		worst := 0.0
		for _, c := range s.found {
			worst = max(worst, c.carbon)
		}
		return func(c *candidate) float64 {
			kg := c.carbon
			if kg < 0 {
				kg = worst
			}
			return 0.5*math.Log(float64(c.total)+1) + 0.3*math.Log(c.hours+1e-6) + 0.2*math.Log(kg+1e-6)
		}
	}
	return func(c *candidate) float64 { return float64(c.total) }
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
