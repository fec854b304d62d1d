package app

import (
	"context"
	"regexp"
	"slices"
	"time"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/serve"
	"github.com/rackrate/rackrate/internal/choose/plan"
	"github.com/rackrate/rackrate/internal/choose/price/demand"
	"github.com/rackrate/rackrate/internal/choose/workload"
)

// keyLine is a line of a workload: a key of YAML, which no table of demand begins with.
var keyLine = regexp.MustCompile(`(?m)\A(?:\s*(?:#.*)?\n|---\n)*[a-z_]+:(?:\s|$)`)

// isWorkload says whether a file is a workload and not a history.
func isWorkload(data []byte) bool { return keyLine.Match(data) }

// builtPlans is how many plans are looked through for one on machines.
const builtPlans = 50

// commitService is the demand of a service with a daily profile: the machines that the best plan on machines needs in each hour. The
// prices are those of that machine where no others were named.
func (a *App) commitService(ctx context.Context, out *Commitments, name string, data []byte) (demand.History, error) {
	q := &out.Request
	w, err := workload.ParseWith(name, data, nil, a.Beside(q.File), a.WorkloadFacts())
	if err != nil {
		return demand.History{}, err
	}
	switch {
	case w.Kind != workload.Serve || len(w.Traffic.Profile) == 0:
		return demand.History{}, problem.New(problem.Input, "commit.no_profile", nil).At(name, 0)
	case q.Instance != "" || q.Region != "" || q.InGPUs:
		return demand.History{}, problem.New(problem.Input, "commit.own_machine", nil).At(name, 0)
	case q.Read != demand.Options{}:
		return demand.History{}, problem.New(problem.Input, "commit.not_history", nil).At(name, 0)
	}
	r, err := a.Plan(ctx, PlanRequest{Workload: w, Top: builtPlans})
	if err != nil {
		return demand.History{}, err
	}
	i := slices.IndexFunc(r.Plans, func(p plan.Plan) bool { return p.Serverless == nil })
	if i < 0 {
		return demand.History{}, problem.New(problem.NoMatch, "plan.nothing_fits", problem.Args{"Offers": r.Searched.Offers})
	}
	out.Service = &r.Plans[i]
	offer, v := out.Service.Offer, out.Service.Estimate.Serving
	if q.Book == "" {
		q.Instance, q.Region = offer.Provider+"/"+offer.InstanceType, offer.Region
	}
	q.Outlook.Interruptible = q.Interruptible.Or(w.Traffic.Interruptible / 100)
	day, err := time.Parse(time.DateOnly, a.Today)
	if err != nil {
		return demand.History{}, err
	}
	h := demand.History{Start: day}
	for _, replicas := range v.ByHour {
		one := estimate.Serving{ReplicasNeeded: replicas, AcceleratorsPerReplica: v.AcceleratorsPerReplica}
		h.Hours = append(h.Hours, float64(serve.Machines(one, plan.Group(offer.Machine, 1).PerNode)))
	}
	return h, nil
}
