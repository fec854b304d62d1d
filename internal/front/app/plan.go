package app

import (
	"context"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/plan"
	"github.com/rackrate/rackrate/internal/choose/workload"
	"github.com/rackrate/rackrate/internal/facts/software"
	"github.com/rackrate/rackrate/internal/front/config"
)

// PlanRequest is what a plan is asked for.
type PlanRequest struct {
	Workload *workload.Workload
	Top      int // plans built in full; 0 is all
}

// WorkloadFacts is what reading a workload needs to know: what ships with the program, and the user's own models.
func (a *App) WorkloadFacts() workload.Facts {
	f := workload.EmbeddedFacts()
	f.Model = a.Model
	// Providers and places that came with prices can be named too; the store is asked only where the program's own do not do.
	f.Provider = either(f.Provider, func(text string) (string, error) {
		p, err := a.Providers().Find(text)
		if err != nil {
			return "", err
		}
		return p.ID, nil
	})
	f.Place = either(f.Place, func(text string) (string, error) {
		p, err := a.Providers().Place(text)
		return p.Name, err
	})
	return f
}

// either looks a name up, and again elsewhere where it is not known; what was probably meant is the first look-up's to say.
func either(first workload.Lookup, then func(text string) (string, error)) workload.Lookup {
	return func(text string) (string, []string, bool) {
		name, near, ok := first(text)
		if ok {
			return name, near, ok
		}
		if name, err := then(text); err == nil {
			return name, nil, true
		}
		return "", near, false
	}
}

// Plan ranks every way to do a workload. A limit on the age of prices from the settings holds where the workload sets none; the
// result has the workload as it was planned.
func (a *App) Plan(ctx context.Context, q PlanRequest) (*plan.Result, error) {
	m, err := a.market()
	if err != nil {
		return nil, err
	}
	w := *q.Workload
	if w.Limits.MaxPriceAgeDays == 0 {
		w.Limits.MaxPriceAgeDays = a.Config.Int(config.MaxPriceAge)
	}
	r, err := plan.Search(ctx, plan.Input{
		Workload: &w, Offers: m.Offers, Providers: a.Providers(), Software: software.Embedded(),
		Curves: estimate.EmbeddedCurves(), Exchange: m.exchange, Currency: m.currency, Today: a.Today, Top: q.Top,
	})
	if err != nil && ctx.Err() != nil {
		return nil, done(ctx)
	}
	return r, err
}
