package accuracy

import (
	"cmp"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/rackrate/rackrate/internal/choose/estimate"
)

// The quantiles of an 80 per cent interval, a little wider for the groups that are still to come.
const lowQuantile, highQuantile = 0.09, 0.91

// Those of accelerators never seen are wider: each was left out alone, with all others to learn from, and splits that leave out a
// third of them at once held 60 to 80 per cent within the quantiles above.
const lowUnseen, highUnseen = 0.06, 0.94

// worstKept is how many of the largest errors a calibration names.
const worstKept = 10

// An interval of its own needs so many rows and groups.
const ownRows, ownGroups = 40, 8

// exam is rows with how groups and accelerators of them are left out of a fit.
type exam struct {
	rows          []row
	groups, chips split
	attributes    []string
	lambda        float64
}

// left is what a fit to the other folds leaves of each row.
func (t *exam) left(s split) []float64 { return heldOut(t.rows, s, t.attributes, t.lambda) }

// judge fills in what a calibration says of itself: the errors on groups and on whole accelerators left out, and the intervals.
func (t *exam) judge(k *estimate.Calibration) {
	rows, left, unseen := t.rows, t.left(t.groups), t.left(t.chips)
	k.N, k.Seen = len(rows), map[string]int{}
	groups, sources, marks := map[int]bool{}, map[string]bool{}, map[string]bool{}
	for i := range rows {
		tags := rows[i].Tags
		for attribute, v := range map[string]string{"chip": tags.Chip, "arch": tags.Arch, "vendor": tags.Vendor} {
			if v != "" {
				k.Seen[attribute+"="+v]++
			}
		}
		groups[rows[i].group], sources[rows[i].Source], marks[mark(rows[i].Group())] = true, true, true
	}
	k.Groups, k.Sources, k.Marks = len(groups), slices.Sorted(maps.Keys(sources)), slices.Sorted(maps.Keys(marks))
	k.Intervals = map[string]estimate.Interval{"all": interval(left), "unseen": wider(intervalUnseen(unseen), t.evenly(t.chips))}
	results := predictedBy(rows, left, t.groups.fold, interval)
	k.HeldOut, k.Shares, k.Worst = rounded(ErrorOf(results)), shares(results), worst(results, worstKept)
	for i := range k.Shares {
		k.Shares[i].Error = rounded(k.Shares[i].Error)
	}
	if len(t.chips.parts(rows)) > 1 {
		k.Unseen = rounded(ErrorOf(predictedBy(rows, unseen, t.chips.fold, intervalUnseen)))
	}
}

// interval is the usual quantiles of measured over predicted.
func interval(left []float64) estimate.Interval { return between(left, lowQuantile, highQuantile) }

// intervalUnseen is those of accelerators left out whole.
func intervalUnseen(left []float64) estimate.Interval { return between(left, lowUnseen, highUnseen) }

// between is two quantiles of measured over predicted. They always hold 1: a prediction lies in its own interval.
func between(left []float64, low, high float64) estimate.Interval {
	v := slices.Clone(left)
	return estimate.Interval{
		Low:  round(math.Exp(min(0, Quantile(v, low)))),
		High: round(math.Exp(max(0, Quantile(v, high)))),
		N:    len(left),
	}
}

// wider is the interval that holds both: rows are many of few accelerators, and the next one is none of them.
func wider(iv, other estimate.Interval) estimate.Interval {
	return estimate.Interval{Low: min(iv.Low, other.Low), High: max(iv.High, other.High), N: iv.N}
}

// ownIntervals gives an interval to each accelerator, architecture, and structure on an architecture with enough rows.
func (t *exam) ownIntervals(k *estimate.Calibration) {
	t.intervals([]string{"chip", "arch", "structure+arch"}, ownRows, ownGroups, func(key string, iv estimate.Interval) { k.Intervals[key] = iv })
}

// Where an interval may only widen, fewer rows will do.
const widerRows, widerGroups = 8, 4

// The interval of a prediction like which nothing was measured; a wider one comes from rows that are wrong.
const noLower, noHigher = 0.5, 2

// widened is an interval that holds another.
func widened(iv, other estimate.Interval) estimate.Interval {
	return estimate.Interval{Low: max(noLower, min(iv.Low, other.Low)), High: min(noHigher, max(iv.High, other.High)), N: iv.N}
}

// widerIntervals widens the interval of each accelerator and architecture whose own is wider than that of all, and makes that of
// unseen accelerators one in which no few of them weigh most.
func (t *exam) widerIntervals(k *estimate.Calibration) {
	all := k.Intervals["all"]
	t.intervals([]string{"chip", "arch"}, widerRows, widerGroups, func(key string, iv estimate.Interval) {
		if iv.Low < all.Low || iv.High > all.High {
			k.Intervals[key] = widened(iv, all)
		}
	})
	k.Intervals["unseen"] = widened(t.evenly(t.chips), all)
}

// intervals works out the interval of every level of attributes with at least so many rows and groups.
func (t *exam) intervals(attributes []string, least, leastGroups int, give func(key string, iv estimate.Interval)) {
	rows, left := t.rows, t.left(t.groups)
	for _, attribute := range attributes {
		mine, groups := map[string][]float64{}, map[string]map[int]bool{}
		for i := range rows {
			v := rows[i].Tags.Value(attribute)
			if groups[v] == nil {
				groups[v] = map[int]bool{}
			}
			mine[v], groups[v][rows[i].group] = append(mine[v], left[i]), true
		}
		for v, l := range mine {
			if v != "" && len(l) >= least && len(groups[v]) >= leastGroups {
				give(attribute+"="+v, interval(l))
			}
		}
	}
}

// evenly is the interval of rows whose fold is left out, in which a fold of n rows counts as the square root of n: by so many of its
// quantiles, evenly spaced.
func (t *exam) evenly(s split) estimate.Interval {
	left, parts := t.left(s), map[int][]float64{}
	for i := range t.rows {
		part := s.fold(&t.rows[i])
		parts[part] = append(parts[part], left[i])
	}
	var all []float64
	for _, v := range parts {
		n := math.Ceil(math.Sqrt(float64(len(v))))
		for i := range int(n) {
			all = append(all, Quantile(v, (float64(i)+0.5)/n))
		}
	}
	iv := interval(all)
	iv.N = len(left)
	return iv
}

// predictedBy is the rows with what a fit that had not seen them predicts. The interval of each is that of the other folds.
func predictedBy(rows []row, left []float64, fold func(*row) int, of func([]float64) estimate.Interval) []Result {
	others := map[int]estimate.Interval{}
	for i := range rows {
		part := fold(&rows[i])
		if _, ok := others[part]; ok {
			continue
		}
		var rest []float64
		for j := range rows {
			if fold(&rows[j]) != part {
				rest = append(rest, left[j])
			}
		}
		others[part] = of(rest)
	}
	results := make([]Result, len(rows))
	for i := range rows {
		v := rows[i].Measured / math.Exp(left[i])
		iv := others[fold(&rows[i])]
		results[i] = Result{rows[i].Case, Prediction{Value: v, Low: v * iv.Low, High: v * iv.High}}
	}
	return results
}

func rounded(e estimate.Error) estimate.Error {
	for _, v := range []*float64{&e.MdAPE, &e.P90, &e.Bias, &e.Coverage, &e.BaselineAPE} {
		*v = round(*v)
	}
	return e
}

// mark is a short hash of a group.
func mark(group string) string {
	return strconv.FormatUint(uint64(digest(group)), 36)
}

func digest(text string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(text))
	return h.Sum32()
}

// caseOrder sorts cases by what they are, so that the order of tables and rows does not show in a fit.
func caseOrder(a, b *Case) int {
	return cmp.Or(cmp.Compare(a.Group(), b.Group()), cmp.Compare(a.Label, b.Label), cmp.Compare(a.Measured, b.Measured))
}
