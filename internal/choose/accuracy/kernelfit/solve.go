package kernelfit

import (
	"math"
	"slices"
)

// knob is one parameter of a curve on its way through the solver, which sees it without bounds: a positive one as its
// logarithm, an overlap as its inverse hyperbolic tangent.
type knob struct {
	at      *float64
	overlap bool
	top     float64 // upper bound of a positive knob; 0 for none
}

func positive(at *float64) knob          { return knob{at: at} }
func upTo(top float64, at *float64) knob { return knob{at: at, top: top} }
func overlap(at *float64) knob           { return knob{at: at, overlap: true} }
func (k knob) fixed() bool               { return !k.overlap && *k.at == 0 }
func free(all []knob) []knob             { return slices.DeleteFunc(all, knob.fixed) }
func (k knob) set(v float64)             { *k.at = k.value(v) }
func (k knob) get() float64 {
	if k.overlap {
		return math.Atanh(min(max(*k.at, -0.995), 0.995))
	}
	return math.Log(*k.at)
}

func (k knob) value(v float64) float64 {
	if k.overlap {
		return math.Tanh(v)
	}
	if k.top > 0 {
		v = min(v, math.Log(k.top))
	}
	return math.Exp(max(v, -20))
}

const (
	// shrink is how many measurements the starting point of a fit is worth, per parameter at one unit of distance.
	shrink = 4
	// quiet is the error below which a measurement counts by its square, above which by its size.
	quiet  = 0.03
	rounds = 30
)

// solve turns the knobs to the least sum of absolute log errors, which error gives by row, by Levenberg-Marquardt steps on
// reweighted squares, with a pull back to where the knobs stood at first. Deterministic.
func solve(knobs []knob, rows int, err func(row int) float64) {
	n := len(knobs)
	start, now := make([]float64, n), make([]float64, n)
	for j, k := range knobs {
		start[j] = k.get()
	}
	copy(now, start)
	base, shifted := make([]float64, rows), make([][]float64, n)
	for j := range shifted {
		shifted[j] = make([]float64, rows)
	}
	score := func(at, errs []float64) float64 {
		for j, k := range knobs {
			k.set(at[j])
		}
		total := 0.0
		for i := range errs {
			errs[i] = err(i)
			total += huber(errs[i])
		}
		for j := range at {
			total += shrink * quiet * (at[j] - start[j]) * (at[j] - start[j])
		}
		return total
	}
	best, damp := score(now, base), 1e-2
	trial, try := make([]float64, rows), make([]float64, n)
	for range rounds {
		const h = 1e-4
		for j := range knobs {
			copy(try, now)
			try[j] += h
			score(try, shifted[j])
			for i := range shifted[j] {
				shifted[j][i] = (shifted[j][i] - base[i]) / h
			}
		}
		a, g := normal(base, shifted, now, start)
		improved := false
		for range 6 {
			step := linear(a, g, damp)
			for j := range try {
				try[j] = now[j] - min(max(step[j], -1), 1)
			}
			if s := score(try, trial); s < best {
				gain := best - s
				best, damp, improved = s, max(damp/5, 1e-9), gain > 1e-5*best
				copy(now, try)
				copy(base, trial)
				break
			}
			damp *= 8
		}
		if !improved {
			break
		}
	}
	score(now, base)
}

func huber(e float64) float64 {
	e = math.Abs(e)
	if e < quiet {
		return e * e / (2 * quiet)
	}
	return e - quiet/2
}

// normal is the normal equations of the reweighted squares.
func normal(base []float64, slope [][]float64, now, start []float64) (a [][]float64, g []float64) {
	n := len(slope)
	a, g = make([][]float64, n), make([]float64, n)
	for j := range a {
		a[j] = make([]float64, n)
	}
	for i, e := range base {
		w := 1 / max(math.Abs(e), quiet)
		for j := range n {
			s := w * slope[j][i]
			g[j] += s * e
			for l := range j + 1 {
				a[j][l] += s * slope[l][i]
			}
		}
	}
	for j := range n {
		a[j][j] += 2 * shrink * quiet
		g[j] += 2 * shrink * quiet * (now[j] - start[j])
		for l := range j {
			a[l][j] = a[j][l]
		}
	}
	return a, g
}

// linear solves (a + damp·diag a)·x = g by Gaussian elimination; a is symmetric and positive.
func linear(a [][]float64, g []float64, damp float64) []float64 {
	n := len(g)
	m, x := make([][]float64, n), slices.Clone(g)
	for i := range m {
		m[i] = slices.Clone(a[i])
		m[i][i] += damp*a[i][i] + 1e-12
	}
	for c := range n {
		for r := c + 1; r < n; r++ {
			f := m[r][c] / m[c][c]
			for l := c; l < n; l++ {
				m[r][l] -= f * m[c][l]
			}
			x[r] -= f * x[c]
		}
	}
	for c := n - 1; c >= 0; c-- {
		for l := c + 1; l < n; l++ {
			x[c] -= m[c][l] * x[l]
		}
		x[c] /= m[c][c]
	}
	return x
}

// spread is the median and the 90th percentile of the absolute errors, as fractions of the measured value.
func spread(logErrors []float64) (median, p90 float64) {
	if len(logErrors) == 0 {
		return 0, 0
	}
	abs := make([]float64, len(logErrors))
	for i, e := range logErrors {
		abs[i] = math.Abs(math.Expm1(e))
	}
	slices.Sort(abs)
	return abs[len(abs)/2], abs[len(abs)*9/10]
}
