package plan

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/spot"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/facts/provider"
	"github.com/rackrate/rackrate/internal/facts/software"
)

// Input is everything a search depends on.
type Input struct {
	Workload  *workload.Workload
	Offers    []*catalog.Offer
	Providers *provider.Table
	Software  *software.Table
	Curves    *estimate.Curves
	Exchange  money.Exchange
	Currency  money.Currency // of the result
	Today     string         // ISO date, for the age of prices
	Top       int            // machines and ways of paying to build in full; 0 is all
}

// Search finds every plan. It fails only on input it cannot work with; when nothing fits, the Result has no plans and says
// why each offer was left out.
func Search(ctx context.Context, in Input) (*Result, error) {
	job, err := NewJob(in.Workload, in.Curves)
	if err != nil {
		return nil, err
	}
	today, err := time.Parse(time.DateOnly, in.Today)
	if err != nil {
		return nil, problem.New(problem.Input, "plan.bad_day", problem.Args{"Day": in.Today})
	}
	if !in.Exchange.Knows(in.Currency) {
		return nil, problem.New(problem.Input, "plan.unknown_currency", problem.Args{"Currency": string(in.Currency)})
	}
	s := &search{Input: in, job: job, today: today, ages: map[string]int{}, shapes: map[shape]*shapeEstimates{}, places: map[placeKey]*place{},
		fitness: map[*accelerator.Accelerator]*fitness{}, fleets: map[*estimate.Estimate][24]int{}, elastic: map[elasticKey]elastic{}, risks: map[riskKey]spot.Outcome{},
		folds: map[foldKey]*fold{}, misses: map[Reason]*tally{}}
	s.key, s.file = s.preference(), s.keepBest
	if s.costs, err = newCosts(s); err != nil {
		return nil, err
	}
	s.limits = s.compileLimits()
	for i, o := range in.Offers {
		if i%256 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		s.offer(o)
	}
	return s.result(), nil
}

// search is the state of one search.
type search struct {
	Input
	job    estimate.Job
	today  time.Time
	ages   map[string]int // in days, by the day of a quote
	limits []limit
	costs  *costs
	shapes map[shape]*shapeEstimates
	places map[placeKey]*place
	// by chip, asked once each
	fitness map[*accelerator.Accelerator]*fitness
	fleets  map[*estimate.Estimate][24]int
	elastic map[elasticKey]elastic
	risks   map[riskKey]spot.Outcome

	folds      map[foldKey]*fold
	key        func(c *candidate) float64 // the workload's preference, lower is better
	file       func(c *candidate)         // takes what meets every limit
	at         candidate                  // that is looked at, reused
	quoted     []quoted                   // of its offer, reused
	hazard     hazard                     // of its offer
	feasible   int
	worst      float64 // kg; the most of what is known
	byMachine  map[*catalog.Machine][]*catalog.Offer
	misses     map[Reason]*tally
	offersFit  int
	candidates int
	layouts    int
}

// candidate is one offer in a number of machines, paid one way.
type candidate struct {
	offer    *catalog.Offer
	place    *place
	est      *estimate.Estimate
	fold     *fold               // that it belongs to
	mode     catalog.BillingMode // that of the price, or catalog.Mix
	price    *catalog.Price      // of a mix that of its largest part
	hourly   money.Rate          // of one machine, in the result's currency
	mix      *mixed              // nil but for a mix
	machines int
	age      int     // of the price, days
	hours    float64 // expected
	total    int64   // millionths
	carbon   float64 // kg; below 0 where it is not known
	score    float64 // by the workload's preference, lower is better
}

// miss is why one candidate of an offer fails. Later stages are nearer to a plan.
type miss struct {
	reason     Reason
	stage      int
	have, want float64
	quantity   string
	text       string
	mode       catalog.BillingMode
	machines   int
	because    *Warning
}

// The stages a candidate passes, in order.
const (
	stageLimit = iota
	stageEstimate
	stagePrice
	stageOutcome
)

// short is the relative miss, 1 where it has no measure.
func (m miss) short() float64 {
	if m.want <= 0 && m.have <= 0 {
		return 1
	}
	d := m.want - m.have
	if d < 0 {
		d = -d
	}
	return d / max(m.want, m.have)
}

func (m miss) nearer(n miss) bool {
	if m.stage != n.stage {
		return m.stage > n.stage
	}
	return m.short() < n.short()
}

type tally struct {
	count int
	best  miss
	offer *catalog.Offer
}

// offer tries one offer with every number of machines and way of paying.
func (s *search) offer(o *catalog.Offer) {
	p := s.place(o)
	for i := range s.limits {
		if m, ok := s.limits[i](o, p); !ok {
			m.stage = stageLimit
			s.reject(o, m)
			return
		}
	}
	before := s.feasible
	nearest := miss{stage: -1}
	note := func(m miss) {
		if nearest.stage < 0 || m.nearer(nearest) {
			nearest = m
		}
	}
	shapes, quotes := s.shape(o.Machine), s.quotes(o)
	s.at = candidate{offer: o, place: p}
	s.machines(o, func(k int) {
		est, refusal := shapes.at(s, k)
		if refusal != nil {
			note(refused(refusal, k))
			return
		}
		s.at.est, s.at.machines = est, k
		s.ways(&s.at, quotes, note)
	}, note)
	if s.feasible > before {
		s.offersFit++
		return
	}
	s.reject(o, nearest)
}

func (s *search) reject(o *catalog.Offer, m miss) {
	t := s.misses[m.reason]
	if t == nil {
		s.misses[m.reason] = &tally{1, m, o}
		return
	}
	t.count++
	if m.nearer(t.best) || !t.best.nearer(m) && compareOffers(o, t.offer) < 0 {
		t.best, t.offer = m, o
	}
}

// compareOffers orders offers by what they are, so that nothing depends on the catalog's order: the cheapest first, then by name.
func compareOffers(a, b *catalog.Offer) int {
	return cmp.Or(
		cmp.Compare(leastHourly(a), leastHourly(b)),
		cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.InstanceType, b.InstanceType),
		cmp.Compare(a.Region, b.Region), cmp.Compare(a.Zone, b.Zone),
	)
}

// leastHourly is the cheapest quoted price as a bare number, for a stable order only; offers without a price come last.
func leastHourly(o *catalog.Offer) int64 {
	least := int64(1<<63 - 1)
	for _, p := range o.Prices {
		least = min(least, p.Hourly.Nanos())
	}
	return least
}

func (s *search) result() *Result {
	r := &Result{
		AsOf: s.Today, Workload: s.Workload, Currency: s.Currency, FXAsOf: s.Exchange.AsOf, FXSource: s.Exchange.Source,
		Feasible: s.feasible, OffersFit: s.offersFit,
		Searched: Searched{Offers: len(s.Offers), Candidates: s.candidates, Layouts: s.layouts},
	}
	r.Needs = needs(s.Workload, s.job)
	r.Plans, r.Pareto, r.Ranked = s.plans(s.rank())
	for reason, t := range s.misses {
		b := t.best
		r.Rejected = append(r.Rejected, Rejection{reason, t.count, &NearMiss{t.offer, b.mode, b.machines, b.quantity, b.have, b.want, b.text, b.because}})
	}
	slices.SortFunc(r.Rejected, func(a, b Rejection) int {
		return cmp.Or(-cmp.Compare(a.Count, b.Count), cmp.Compare(a.Reason, b.Reason))
	})
	return r
}
