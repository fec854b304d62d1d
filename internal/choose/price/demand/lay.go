package demand

import (
	"math"

	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/choose/price/commit"
)

// HoursPerWeek is the length of the pattern that is repeated.
const HoursPerWeek = 168

// Cycle is the part of a history that is repeated: its newest whole weeks; of less than a week its newest whole days, of less than a
// day all of it.
func (h History) Cycle() []float64 {
	n := len(h.Hours)
	for _, length := range []int{HoursPerWeek, 24} {
		if n >= length {
			return h.Hours[n%length:]
		}
	}
	return h.Hours
}

// Outlook is how demand goes on.
type Outlook struct {
	Growth        float64 // a year, compounded by the month: 0.2 is a fifth more after twelve months
	Interruptible float64 // share of every hour's demand that spot may serve
}

// Lay gives the demand of so many months, each the next hours of the cycle, repeated. The first hour follows the last one of the
// history, so that weekdays go on. level is by how much the demand of a month differs from that, besides growth.
func (h History) Lay(months int, o Outlook, level func(month int) float64) [][]commit.Step {
	cycle := h.Cycle()
	out := make([][]commit.Step, months)
	hour := 0
	for m := range out {
		by := level(m) * math.Pow(1+o.Growth, float64(m)/12)
		out[m] = make([]commit.Step, unit.HoursPerMonth)
		for i := range out[m] {
			d := cycle[hour%len(cycle)] * by
			out[m][i] = commit.Step{Units: d, Firm: d * (1 - o.Interruptible), Hours: 1}
			hour++
		}
	}
	return out
}

// Quantiles are the scenarios that a distribution is replaced by, and Weights what each stands for in tenths: the mean of the 10th,
// 50th and 90th percentile weighed 30-40-30 is close to that of most distributions (Swanson's rule; Keefer and Bodily, Three-Point
// Approximations for Continuous Random Variables, Management Science 29 (5), 1983, who call the points extended Swanson-Megill).
var (
	Quantiles = [3]int{10, 50, 90}
	Weights   = [3]int{3, 4, 3}
)

// z90 is the 90th percentile of the standard normal distribution.
const z90 = 1.2815515655446004

// Spread is how a history's level wandered.
type Spread struct {
	// Monthly is the standard deviation of the change of the logarithm of the weekly mean over four weeks, about its own trend.
	Monthly float64
	// Trend is the mean change of that logarithm a year, as a growth: 0.2 is a fifth more.
	Trend float64
	Weeks int // whole weeks it is estimated from
}

// MinWeeks is the fewest weeks from which a spread is estimated: a quarter, three changes over four weeks that share no week.
const MinWeeks = 13

// lag is the weeks over which changes are measured. Over a single week, what passes by the next week would be taken for lasting
// change and grow over the horizon.
const lag = 4

// Spread estimates it from the newest whole weeks; unknown where there are fewer than MinWeeks, or where one was idle. The variance
// is that of overlapping changes, with the divisor that makes it unbiased for a random walk (Lo and MacKinlay, Stock Market Prices
// Do Not Follow Random Walks, Review of Financial Studies 1 (1), 1988, equation 12).
func (h History) Spread() unit.Maybe[Spread] {
	weeks := len(h.Hours) / HoursPerWeek
	if weeks < MinWeeks {
		return unit.None[Spread]()
	}
	logs := make([]float64, weeks)
	cycle := h.Cycle()
	for w := range logs {
		level := mean(cycle[w*HoursPerWeek : (w+1)*HoursPerWeek])
		if level <= 0 {
			return unit.None[Spread]()
		}
		logs[w] = math.Log(level)
	}
	n := weeks - 1
	drift := (logs[n] - logs[0]) / float64(n)
	sum := 0.0
	for k := lag; k <= n; k++ {
		d := logs[k] - logs[k-lag] - lag*drift
		sum += d * d
	}
	divisor := float64(n-lag+1) * (1 - float64(lag)/float64(n))
	const weeksPerYear = float64(unit.HoursPerYear) / HoursPerWeek
	return unit.Some(Spread{Monthly: math.Sqrt(sum / divisor), Trend: math.Exp(drift*weeksPerYear) - 1, Weeks: weeks})
}

// Level is the multiple of the median at a percentile of Quantiles in the middle of a month, for a level that wanders as a random
// walk from now on: exp(z x deviation x square root of the time).
func (s Spread) Level(quantile, month int) float64 {
	z := map[int]float64{10: -z90, 90: z90}[quantile]
	weeks := (float64(month) + 0.5) * unit.HoursPerMonth / HoursPerWeek
	return math.Exp(z * s.Monthly * math.Sqrt(weeks/lag))
}
