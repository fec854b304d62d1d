package deadline

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/choose/spot"
)

// Names lists the policies in the order reports show them.
func Names() []string {
	var names []string
	for _, p := range All() {
		names = append(names, p.Name())
	}
	return names
}

// All is the policies; those that learn start from the availability that was seen before, if any.
func All(history ...spot.Trace) []Policy {
	return []Policy{onDemandOnly{}, greedy{}, uniformProgress{}, ross{}, NewAdaptive(history...), optimal{}}
}

// Named is the policies of those names, or all of them where none is named.
func Named(names []string, history ...spot.Trace) ([]Policy, error) {
	all, known := All(history...), Names()
	if len(names) == 0 {
		return all, nil
	}
	var out []Policy
	var faults problem.List
	for _, name := range names {
		i := slices.Index(known, name)
		if i < 0 {
			faults = append(faults, problem.New(problem.Input, "spot.unknown_policy", problem.Args{"Policy": name}).
				With(problem.Nearest(name, known, 2)...))
			continue
		}
		out = append(out, all[i])
	}
	return out, faults.OrNil()
}

// onDemandOnly never takes a spot instance.
type onDemandOnly struct{}

func (onDemandOnly) Name() string { return "on-demand" }

func (onDemandOnly) Begin(Job, *Market, int) func(*View) Choice {
	return func(*View) Choice { return OnDemand }
}

// greedy takes spot whenever it is there and else waits, until the safety net moves it.
type greedy struct{}

func (greedy) Name() string { return "greedy" }

func (greedy) Begin(Job, *Market, int) func(*View) Choice {
	return func(v *View) Choice { return v.spotOr(Off) }
}

// spotOr is the spot instance that is held, else one in the cheapest zone that has any, else the other choice.
func (v *View) spotOr(other Choice) Choice {
	if v.Holding >= 0 {
		return v.Holding
	}
	for i, up := range v.Up {
		if up && (other < 0 || v.Price[i] < v.Price[other]) {
			other = Choice(i)
		}
	}
	return other
}

// uniformProgress keeps up with a straight line from nothing at the start to all of the work at the deadline (Wu et al., "Can't Be Late:
// Optimizing Spot Instance Savings under Deadlines", NSDI 2024).
type uniformProgress struct{}

func (uniformProgress) Name() string { return "uniform-progress" }

func (uniformProgress) Begin(j Job, _ *Market, _ int) func(*View) Choice {
	// Progress is behind the line at tick t when progress x deadline < t x work: whole numbers, no rounding.
	behind := func(v *View, ahead int) bool { return v.Progress*j.Deadline < (v.Tick+ahead)*j.Work }
	return func(v *View) Choice {
		switch {
		case v.Holding == OnDemand && behind(v, 2*j.Overhead):
			return OnDemand
		case v.Holding == Off && behind(v, 0):
			return v.spotOr(OnDemand)
		}
		return v.spotOr(Off)
	}
}

// ross is the randomised policy of Bhuyan et al. ("Exploiting Spot Instances for Time-Critical Cloud Workloads Using Optimal Randomized
// Strategies", INFOCOM 2026, arXiv 2601.14612) after its published outline. Where starting is free its mean is at most sqrt(K) times
// the optimum, K being on-demand's price over that of spot. It waits for spot as long as the time left over the work left is above
// (1 + 2·sqrt(K)) / (1 + sqrt(K)). Then it draws a stretch of 1 / (1 + sqrt(K)) of the work left, from as much time as that work takes, in
// which it never stands still; around it, it waits for spot. The outline does not say which instance it takes in the stretch: here spot
// where it is there, and on-demand, once started, to its end.
type ross struct{}

func (ross) Name() string { return "ross" }

func (ross) Begin(j Job, _ *Market, start int) func(*View) Choice {
	share := rand.New(rand.NewPCG(uint64(start), 0x9e3779b97f4a7c15)).Float64()
	drawn, from, until := false, 0.0, 0.0
	return func(v *View) Choice {
		tick, work, time := float64(v.Tick), float64(j.Work-v.Progress), float64(j.Deadline-v.Tick)
		root := math.Sqrt(float64(v.OnDemand) / float64(slices.Min(v.Price)))
		if !drawn && time*(1+root) <= work*(1+2*root) {
			length := work / (1 + root)
			drawn, from = true, tick+share*(work-length)
			until = from + length
		}
		if !drawn || tick < from || tick >= until {
			return v.spotOr(Off)
		}
		if v.Holding == OnDemand {
			return OnDemand
		}
		return v.spotOr(OnDemand)
	}
}
