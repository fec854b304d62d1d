package accuracy

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/choose/estimate/persample"
	"github.com/rackrate/rackrate/internal/facts/model"
)

// netFit fits what networks with a fixed cost a sample reach, one network at a time: three figures that are the same on every
// accelerator, each network's own because nothing of it tells them. It minimises the mean absolute error in logarithms, so a
// row that is a hundred times off counts by its sign.
type netFit struct {
	target estimate.Target
	raw    *estimate.Curves // uncorrected
}

// reach is what networks and kinds of networks were fitted to reach.
type reach struct{ networks, kinds map[string]estimate.Reached }

// on is curves with it and no correction.
func (r reach) on(c *estimate.Curves, target estimate.Target) *estimate.Curves {
	return c.Calibrated(&estimate.Calibration{Target: target, Networks: r.networks, Kinds: r.kinds})
}

// tells says that a case tells what its network reaches: a whole accelerator at its rated power, not bounded by a latency, in a
// benchmark that all vendors run by the same rules.
func tells(k *Case) bool {
	if !strings.HasPrefix(k.Source, "MLPerf") {
		return false
	}
	switch k.Tags.Mode {
	case string(persample.Bulk), string(persample.Single):
		return true
	}
	return k.By == estimate.SampleTraining
}

// fit is what the networks of the cases reach.
func (f *netFit) fit(cases []*Case) reach {
	of, kinds := map[string][]*Case{}, map[string]map[string]bool{}
	for _, k := range cases {
		if !tells(k) {
			continue
		}
		of[k.Tags.Model] = append(of[k.Tags.Model], k)
		if kinds[k.Tags.Structure] == nil {
			kinds[k.Tags.Structure] = map[string]bool{}
		}
		kinds[k.Tags.Structure][k.Tags.Model] = true
	}
	out := reach{map[string]estimate.Reached{}, map[string]estimate.Reached{}}
	for name, mine := range of {
		if r := f.network(name, mine); r.N > 0 {
			out.networks[name] = r
		}
	}
	for kind, names := range kinds {
		if r := middle(out.networks, slices.Sorted(maps.Keys(names))); r.N > 0 {
			out.kinds[kind] = r
		}
	}
	return out
}

// figure is one of the figures of a network with the step that a search begins with, in logarithms.
type figure struct {
	of   func(*estimate.Reached) *float64
	step float64
	low  float64
}

var (
	levelFigure   = figure{func(r *estimate.Reached) *float64 { return &r.Level }, 0.5, 0}
	kernelsFigure = figure{func(r *estimate.Reached) *float64 { return &r.Kernels }, 1, 1}
	aloneFigure   = figure{func(r *estimate.Reached) *float64 { return &r.Alone }, 0.5, 1}
)

// doubt is what being e times off from what was assumed costs, as an error: it holds kernels and alone where measurements hardly
// depend on them.
const doubt = 0.01

// network searches the figures of one network, one after the other in ever smaller steps. The batch of single samples tells kernels
// and alone in inference; every step tells kernels in training.
func (f *netFit) network(name string, cases []*Case) estimate.Reached {
	weights, r := f.weights(cases)
	if r.N == 0 {
		return r
	}
	start := f.assumed(name)
	r.Level = start.Level
	figures := []figure{levelFigure}
	switch {
	case f.target == estimate.SampleTraining:
		r.Kernels = start.Kernels
		figures = append(figures, kernelsFigure)
	case slices.ContainsFunc(cases, func(k *Case) bool { return k.Tags.Mode == string(persample.Single) }):
		r.Kernels, r.Alone = start.Kernels, start.Alone
		figures = append(figures, kernelsFigure, aloneFigure)
	}
	cost := func(r estimate.Reached) float64 {
		l := f.loss(name, cases, weights, r)
		for _, x := range figures[1:] {
			l += doubt * math.Abs(math.Log(*x.of(&r) / *x.of(&start)))
		}
		return l
	}
	best := cost(r)
	for scale := 1.0; scale > 0.01; {
		better := false
		for _, x := range figures {
			for _, way := range []float64{-1, 1} {
				next := r
				v := x.of(&next)
				*v = max(x.low, *v*math.Exp(way*x.step*scale))
				if l := cost(next); l < best-1e-9 {
					best, r, better = l, next, true
				}
			}
		}
		if !better {
			scale /= 2
		}
	}
	r.Level, r.Kernels, r.Alone = significant(r.Level, 3), significant(r.Kernels, 3), significant(r.Alone, 3)
	return r
}

// assumed is what a network reaches as far as is known without measurements of it.
func (f *netFit) assumed(name string) estimate.Reached {
	m, err := model.Embedded().Get(name)
	if err != nil {
		return estimate.Reached{Level: 1, Kernels: 1, Alone: 1}
	}
	n, _ := persample.Of(m, 1)
	return n.Reached(f.raw, f.target).Reached
}

// weights weighs each case so that n of a group and mode count as the square root of n, and none where it cannot be predicted; and
// counts what takes part.
func (f *netFit) weights(cases []*Case) ([]float64, estimate.Reached) {
	size, groups, sources := map[string]float64{}, map[string]bool{}, map[string]bool{}
	key := func(k *Case) string { return k.Group() + k.Tags.Mode }
	weights := make([]float64, len(cases))
	var r estimate.Reached
	for i, k := range cases {
		if _, why := k.Predict(f.raw); why != "" {
			continue
		}
		weights[i] = 1
		size[key(k)]++
		groups[k.Group()], sources[k.Source] = true, true
		r.N++
	}
	for i, k := range cases {
		if weights[i] > 0 {
			weights[i] = 1 / math.Sqrt(size[key(k)])
		}
	}
	r.Groups, r.Source = len(groups), span(slices.Sorted(maps.Keys(sources)))
	return weights, r
}

// span is rounds of one benchmark from the first to the last.
func span(rounds []string) string {
	if len(rounds) < 2 {
		return strings.Join(rounds, "")
	}
	last := rounds[len(rounds)-1]
	return rounds[0] + " to " + last[strings.LastIndexByte(last, ' ')+1:]
}

func (f *netFit) loss(name string, cases []*Case, weights []float64, r estimate.Reached) float64 {
	c := reach{networks: map[string]estimate.Reached{name: r}}.on(f.raw, f.target)
	var sum, weight float64
	for i, k := range cases {
		if weights[i] == 0 {
			continue
		}
		p, _ := k.Predict(c)
		sum += weights[i] * math.Abs(math.Log(k.Measured/p.Value))
		weight += weights[i]
	}
	return sum / weight
}

// middle is the median, in logarithms, of what networks reach.
func middle(networks map[string]estimate.Reached, names []string) estimate.Reached {
	var out estimate.Reached
	var known []string
	for _, name := range names {
		if r := networks[name]; r.N > 0 {
			known = append(known, name)
			out.N, out.Groups = out.N+r.N, out.Groups+r.Groups
		}
	}
	for _, x := range []figure{levelFigure, kernelsFigure, aloneFigure} {
		var logs []float64
		for _, name := range known {
			r := networks[name]
			if v := *x.of(&r); v > 0 {
				logs = append(logs, math.Log(v))
			}
		}
		if len(logs) > 0 {
			*x.of(&out) = significant(math.Exp(Quantile(logs, 0.5)), 3)
		}
	}
	out.Source = "networks like it: " + strings.Join(known, ", ")
	return out
}

// split deals rows out to folds, and works out the residuals of all when what networks reach is fitted without each fold. Of no fit
// it only deals them out.
func (f *netFit) split(rows []row, fold func(*row) int) split {
	s := split{fold: fold}
	if f == nil {
		return s
	}
	s.seen = map[int][]float64{}
	for part := range s.parts(rows) {
		var rest []*Case
		for i := range rows {
			if fold(&rows[i]) != part {
				rest = append(rest, rows[i].Case)
			}
		}
		c := f.fit(rest).on(f.raw, f.target)
		logs := make([]float64, len(rows))
		for i := range rows {
			logs[i] = rows[i].log
			if p, why := rows[i].Predict(c); why == "" {
				logs[i] = math.Log(rows[i].Measured / p.Value)
			}
		}
		s.seen[part] = logs
	}
	return s
}
