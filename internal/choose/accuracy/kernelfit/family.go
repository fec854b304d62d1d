package kernelfit

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/rackrate/rackrate/internal/choose/estimate"
	"github.com/rackrate/rackrate/internal/facts/accelerator"
)

// sample is a measurement of one kernel on one chip.
type sample[R any] struct {
	chip    *accelerator.Accelerator
	shape   int // what is held out together
	seconds float64
	row     R
}

// kind is how one kind of kernel is fitted: curves C to rows R.
type kind[C, R any] struct {
	start  C
	knobs  func(*C) []knob
	time   func(*C, *sample[R]) float64
	fitted func(*C) *estimate.Fitted
	// pool is how many rows of each chip a curve for more than one chip is fitted to.
	pool   int
	source string
}

const folds = 3

// all fits a curve for each chip, each family and vendor, and a default, by the keys that estimate.KernelTable looks up.
func (k *kind[C, R]) all(samples []sample[R]) map[string]C {
	chips := byChip(samples)
	out := map[string]C{}
	names := sortedKeys(chips)
	everything := k.pooled(chips, names, "")
	general := k.fit(k.start, everything)
	k.describe(&general, len(everything), k.leaveOut(chips, names, names), estimate.LikeNone, names)
	out["default"] = general
	for _, group := range groups(chips) {
		rows := k.pooled(chips, group.members, "")
		curve := k.fit(general, rows)
		like := estimate.LikeFamily
		if group.vendor {
			like = estimate.LikeKind
		}
		others := group.members
		if len(others) == 1 {
			others = names
		}
		k.describe(&curve, len(rows), k.leaveOut(chips, group.members, others), like, group.members)
		out[group.key] = curve
	}
	for _, name := range names {
		rows := chips[name]
		curve := k.fit(general, rows)
		k.describe(&curve, len(rows), k.crossValidate(general, rows), estimate.LikeChip, []string{name})
		out[name] = curve
	}
	return out
}

func (k *kind[C, R]) fit(from C, rows []sample[R]) C {
	curve := from
	solve(free(k.knobs(&curve)), len(rows), func(i int) float64 { return math.Log(k.time(&curve, &rows[i]) / rows[i].seconds) })
	return curve
}

func (k *kind[C, R]) errors(curve C, rows []sample[R]) []float64 {
	out := make([]float64, len(rows))
	for i := range rows {
		out[i] = math.Log(k.time(&curve, &rows[i]) / rows[i].seconds)
	}
	return out
}

// pooled is an even part of the rows of each chip but one.
func (k *kind[C, R]) pooled(chips map[string][]sample[R], names []string, but string) []sample[R] {
	var out []sample[R]
	for _, name := range names {
		if name == but {
			continue
		}
		rows := chips[name]
		step := max(1, len(rows)/k.pool)
		step += 1 - step%2 // odd, so that it walks through grids of even sides
		for i := 0; i < len(rows); i += step {
			out = append(out, rows[i])
		}
	}
	return out
}

// leaveOut is the errors on each of the chips, predicted from a curve fitted to the others.
func (k *kind[C, R]) leaveOut(chips map[string][]sample[R], targets, others []string) []float64 {
	var out []float64
	for _, name := range targets {
		rest := k.pooled(chips, others, name)
		if len(rest) == 0 {
			continue
		}
		out = append(out, k.errors(k.fit(k.start, rest), k.pooled(chips, []string{name}, ""))...)
	}
	return out
}

// crossValidate is the errors on whole shapes left out of a chip's fit.
func (k *kind[C, R]) crossValidate(from C, rows []sample[R]) []float64 {
	var out []float64
	for fold := range folds {
		var in, held []sample[R]
		for _, r := range rows {
			if r.shape%folds == fold {
				held = append(held, r)
			} else {
				in = append(in, r)
			}
		}
		out = append(out, k.errors(k.fit(from, in), held)...)
	}
	return out
}

// describe takes how many rows the curve was fitted to, and its errors on those left out.
func (k *kind[C, R]) describe(curve *C, rows int, held []float64, like estimate.Likeness, of []string) {
	f := k.fitted(curve)
	f.Error, f.P90 = spread(held)
	f.N, f.Like, f.Source = rows, like, k.source
	if like != estimate.LikeChip {
		f.Source = k.source + "; " + strings.Join(of, ", ")
	}
}

func byChip[R any](samples []sample[R]) map[string][]sample[R] {
	out := map[string][]sample[R]{}
	for _, s := range samples {
		out[s.chip.Name] = append(out[s.chip.Name], s)
	}
	return out
}

// group is chips that share a key of the look-up.
type group struct {
	key     string
	vendor  bool
	members []string
}

// groups are the architectures, those that span several compute capabilities also by capability, and the vendors.
func groups[R any](chips map[string][]sample[R]) []group {
	members, capabilities, vendors := map[string][]string{}, map[string]map[string]bool{}, map[string]bool{}
	for _, name := range sortedKeys(chips) {
		a := chips[name][0].chip
		if capabilities[a.Arch] == nil {
			capabilities[a.Arch] = map[string]bool{}
		}
		capabilities[a.Arch][a.Compute] = true
		keys := estimate.KernelKeys(a)
		vendors[keys[3]] = true
		for _, key := range keys[1:] {
			members[key] = append(members[key], name)
		}
	}
	for arch, caps := range capabilities {
		if len(caps) == 1 {
			for c := range caps {
				delete(members, arch+" "+c)
			}
		}
	}
	var out []group
	for key, names := range members {
		out = append(out, group{key: key, vendor: vendors[key], members: names})
	}
	slices.SortFunc(out, func(a, b group) int { return cmp.Compare(a.key, b.key) })
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
