package accuracy

import (
	"math"
	"slices"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/choose/estimate"
)

// recipe is how the calibration of a target is fitted.
type recipe struct {
	// params are the constants of the estimator, fitted first and in this order; few, since they are shared by all rows.
	params []string
	// attributes may each get a term a level, where leaving groups out says that it helps.
	attributes []string
	// networks says that what each network reaches is fitted, too, before all attributes.
	networks bool
	// alike says that many measurements are alike, as those of a benchmark are that many submit to with the same code. Groups are then
	// dealt out by chance to three folds instead of in turn to ten, so that more of what is alike is left out; and a part of them
	// has an interval of its own only where that is wider: a narrower one would be too narrow.
	alike bool
}

// recipes is the targets that can be fitted.
var recipes = map[estimate.Target]recipe{
	estimate.Training:       trainingRecipe,
	estimate.PeakMemory:     memoryRecipe,
	estimate.Hashing:        hashRecipe,
	estimate.Offline:        offlineRecipe,
	estimate.TPOT:           tpotRecipe,
	estimate.TTFT:           ttftRecipe,
	estimate.Simulation:     simulationRecipe,
	estimate.Diffusion:      diffusionRecipe,
	estimate.Vision:         visionRecipe,
	estimate.SampleTraining: otherTrainingRecipe,
}

// Fit fits the calibration of a target to a set. It does the same for the same set, whatever order its tables come in.
func Fit(s *Set, c *estimate.Curves, target estimate.Target, asOf string) (*estimate.Calibration, error) {
	how, ok := recipes[target]
	if !ok {
		return nil, problem.New(problem.Input, "accuracy.not_fitted", problem.Args{"Target": string(target)})
	}
	return fit(s, c, target, asOf, how)
}

func fit(s *Set, c *estimate.Curves, target estimate.Target, asOf string, how recipe) (*estimate.Calibration, error) {
	mine := &Set{}
	for _, k := range s.Cases {
		if k.calibration() == target {
			mine.Cases = append(mine.Cases, k)
		}
	}
	for _, k := range s.Skipped {
		if k.Target == target {
			mine.Skipped = append(mine.Skipped, k)
		}
	}
	slices.SortStableFunc(mine.Cases, caseOrder)
	raw := c.Without(target)
	params := fitParams(mine, raw, how.params)
	raw = raw.With(params)
	var nets *netFit
	var all reach
	if how.networks {
		nets = &netFit{target: target, raw: raw}
		all = nets.fit(mine.Cases)
		raw = all.on(raw, target)
	}
	report := Measure(mine, raw)
	rows := residuals(report)
	if len(rows) == 0 {
		return nil, problem.New(problem.Input, "accuracy.nothing_to_fit", problem.Args{"Target": string(target)})
	}
	groups := nets.split(rows, byGroup)
	if how.alike {
		groups = nets.split(rows, byChance)
	}
	attributes, lambda := choose(rows, groups, how.attributes)
	k := solve(rows, attributes, lambda)
	k.Target, k.AsOf, k.Params, k.Networks, k.Kinds = target, asOf, params, all.networks, all.kinds
	t := exam{rows, groups, nets.split(rows, byName(rows, func(t estimate.Tags) string { return t.Chip })), attributes, lambda}
	t.judge(k)
	if how.alike {
		t.widerIntervals(k)
	} else {
		t.ownIntervals(k)
	}
	if how.networks {
		k.Intervals[estimate.OtherNetworks] = t.evenly(nets.split(rows, byName(rows, func(t estimate.Tags) string { return t.Model })))
	}
	k.Skipped = map[string]int{}
	for _, x := range report.Skipped {
		k.Skipped[string(x.Reason)]++
	}
	return k, nil
}

// row is one residual: the logarithm of measured over predicted.
type row struct {
	*Result
	log    float64
	weight float64
	group  int
}

// residuals weighs each row so that a group of n rows counts as the square root of n.
func residuals(r *Report) []row {
	group, size := map[string]int{}, map[string]float64{}
	rows := make([]row, len(r.Results))
	for i := range r.Results {
		x := &r.Results[i]
		g := x.Group()
		if _, ok := group[g]; !ok {
			group[g] = len(group)
		}
		size[g]++
		rows[i] = row{Result: x, log: math.Log(x.Ratio()), group: group[g]}
	}
	for i := range rows {
		rows[i].weight = 1 / math.Sqrt(size[rows[i].Group()])
	}
	return rows
}

// huber is where a residual stops counting by its square: a sixth off is the noise of publications, ten times is an error in one.
const huber = 0.15

// solve fits base and terms by ridge regression on logarithms, robustly: each sweep sets every level to the weighted mean of what
// the others leave over, shrunk as if so much weight of rows without residual stood beside it.
func solve(rows []row, attributes []string, lambda float64) *estimate.Calibration {
	levels, index := indexLevels(rows, attributes)
	value := make([]float64, len(levels))
	left := make([]float64, len(rows)) // residual after base and terms
	for i := range rows {
		left[i] = rows[i].log
	}
	base := 0.0
	trust := func(i int) float64 { return rows[i].weight * min(1, huber/math.Max(1e-9, math.Abs(left[i]))) }
	sum, weight := make([]float64, len(levels)), make([]float64, len(levels))
	for range 40 {
		var s, w float64
		for i := range rows {
			t := trust(i)
			s, w = s+t*left[i], w+t
		}
		step := s / w
		base += step
		for i := range left {
			left[i] -= step
		}
		for a := range attributes {
			clear(sum)
			clear(weight)
			for i := range rows {
				if l := index[i][a]; l >= 0 {
					t := trust(i)
					sum[l] += t * (left[i] + value[l])
					weight[l] += t
				}
			}
			for i := range rows {
				if l := index[i][a]; l >= 0 {
					left[i] += value[l] - sum[l]/(weight[l]+lambda)
				}
			}
			for l := range levels {
				if weight[l] > 0 {
					value[l] = sum[l] / (weight[l] + lambda)
				}
			}
		}
	}
	k := &estimate.Calibration{Base: round(base), Terms: map[string]map[string]estimate.Term{}}
	for l, v := range levels {
		if k.Terms[v.attribute] == nil {
			k.Terms[v.attribute] = map[string]estimate.Term{}
		}
		k.Terms[v.attribute][v.name] = estimate.Term{Log: round(value[l]), N: v.n, Groups: len(v.groups)}
	}
	return k
}

// level is one value of one attribute.
type level struct {
	attribute, name string
	n               int
	groups          map[int]bool
}

// indexLevels lists the levels that occur, and for each row and attribute its level or -1.
func indexLevels(rows []row, attributes []string) (levels []level, index [][]int) {
	at := map[[2]string]int{}
	index = make([][]int, len(rows))
	for i := range rows {
		index[i] = make([]int, len(attributes))
		for a, attribute := range attributes {
			index[i][a] = -1
			name := rows[i].Tags.Value(attribute)
			if name == "" {
				continue
			}
			key := [2]string{attribute, name}
			l, ok := at[key]
			if !ok {
				l = len(levels)
				at[key] = l
				levels = append(levels, level{attribute: attribute, name: name, groups: map[int]bool{}})
			}
			levels[l].n++
			levels[l].groups[rows[i].group] = true
			index[i][a] = l
		}
	}
	return levels, index
}

func round(v float64) float64 { return math.Round(v*1e4) / 1e4 }

// folds is how many parts the groups are cut into; each part is predicted from a fit to the others.
const folds = 10

// split deals rows out to folds. Where what networks reach is fitted, seen holds by fold the residual that each row has when that
// fold takes no part.
type split struct {
	fold func(*row) int
	seen map[int][]float64
}

// without is the rows but those of a fold, and those, with the residuals of a fit that the fold takes no part in.
func (s split) without(rows []row, part int) (rest, held []row) {
	for i := range rows {
		x := rows[i]
		if s.seen != nil {
			x.log = s.seen[part][i]
		}
		if s.fold(&x) == part {
			held = append(held, x)
		} else {
			rest = append(rest, x)
		}
	}
	return rest, held
}

// parts is the folds that rows are dealt out to.
func (s split) parts(rows []row) map[int]bool {
	parts := map[int]bool{}
	for i := range rows {
		parts[s.fold(&rows[i])] = true
	}
	return parts
}

// heldOut is measured over predicted of each row, by a fit without the rows of its fold. A smaller logarithm is a better fit.
func heldOut(rows []row, s split, attributes []string, lambda float64) []float64 {
	out := make([]float64, len(rows))
	for part := range s.parts(rows) {
		rest, held := s.without(rows, part)
		if len(rest) == 0 {
			continue
		}
		k := solve(rest, attributes, lambda)
		next := 0
		for i := range rows {
			if s.fold(&rows[i]) == part {
				out[i] = held[next].log - logFactor(k, rows[i].Tags)
				next++
			}
		}
	}
	return out
}

func logFactor(k *estimate.Calibration, t estimate.Tags) float64 { return math.Log(k.Factor(t)) }

// byGroup deals the groups out to folds.
func byGroup(r *row) int { return r.group % folds }

// byChance deals the groups out to three folds, each wherever its name falls.
func byChance(r *row) int { return int(digest(r.Group()) % 3) }

// byName makes all rows of one name a fold.
func byName(rows []row, name func(estimate.Tags) string) func(*row) int {
	folds := map[string]int{}
	for i := range rows {
		if _, ok := folds[name(rows[i].Tags)]; !ok {
			folds[name(rows[i].Tags)] = len(folds)
		}
	}
	return func(r *row) int { return folds[name(r.Tags)] }
}

// loss is the mean error in logarithms, those past a factor of about two counted alike.
func loss(rows []row, left []float64) float64 {
	var s, w float64
	for i := range rows {
		s += rows[i].weight * min(0.7, math.Abs(left[i]))
		w += rows[i].weight
	}
	return s / w
}

// choose takes the attributes one by one, each time the one that lowers the held-out loss the most, until none lowers it by a
// hundredth; and the shrinkage likewise.
func choose(rows []row, groups split, candidates []string) (chosen []string, lambda float64) {
	lambda = 2
	best := loss(rows, heldOut(rows, groups, nil, lambda))
	for {
		next := ""
		for _, a := range candidates {
			if slices.Contains(chosen, a) {
				continue
			}
			if l := loss(rows, heldOut(rows, groups, append(slices.Clone(chosen), a), lambda)); l < best*0.99 {
				best, next = l, a
			}
		}
		if next == "" {
			break
		}
		chosen = append(chosen, next)
	}
	at := lambda
	for _, l := range []float64{0.25, 0.5, 1, 4, 8, 16} {
		if v := loss(rows, heldOut(rows, groups, chosen, l)); v < best {
			best, at = v, l
		}
	}
	return chosen, at
}

// fitParams searches the constants one after the other, twice over, for the least loss that is left when each accelerator and
// framework has had its own term.
func fitParams(s *Set, c *estimate.Curves, names []string) map[string]float64 {
	if len(names) == 0 {
		return nil
	}
	params := map[string]float64{}
	for _, n := range names {
		params[n] = *estimate.Params[n].Of(c)
	}
	cost := func() float64 {
		rows := residuals(Measure(s, c.With(params)))
		k := solve(rows, []string{"chip", "framework"}, 4)
		left := make([]float64, len(rows))
		for i := range rows {
			left[i] = rows[i].log - logFactor(k, rows[i].Tags)
		}
		return loss(rows, left) + 0.7*(1-float64(len(rows))/float64(len(s.Cases))) // what can no longer be predicted is an error
	}
	best := cost()
	for round := range 2 {
		for _, n := range names {
			p := estimate.Params[n]
			width := (p.Top - p.Low) / 4 / float64(1+round)
			for ; width > (p.Top-p.Low)/100; width /= 2 {
				for _, way := range []float64{-1, 1} {
					was := params[n]
					params[n] = significant(min(p.Top, max(p.Low, was+way*width)), 3)
					if v := cost(); v < best {
						best = v
					} else {
						params[n] = was
					}
				}
			}
		}
	}
	return params
}

// significant rounds to so many significant figures.
func significant(v float64, digits int) float64 {
	if v == 0 {
		return 0
	}
	scale := math.Pow(10, float64(digits-1)-math.Floor(math.Log10(math.Abs(v))))
	return math.Round(v*scale) / scale
}
