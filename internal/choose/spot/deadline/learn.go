package deadline

import (
	"math"

	"github.com/rackrate/rackrate/internal/choose/spot"
)

// law is what is believed of how long spells last before any has been seen. Spells of availability and of scarcity both get steadier as
// they last: there are many short ones and a few very long ones, and no exponential law describes both. So the hazard of a
// spell of age a is shape / (settling + a), the law of Lomax; a shape of 2 makes the mean spell settling hours long.
type law struct {
	settling float64 // hours after which the hazard has halved
	shape    float64
	weight   float64 // the number of spells that this belief is worth
}

// usual is in round figures. TestAdaptiveIsNotFitted chooses a law on some traces, from a grid around it, and tests on others.
var usual = law{settling: 3, shape: 2, weight: 4}

// memory is the most spells that history counts for: zones change, and what a run sees itself must be able to overrule it.
const memory = 16

// spells learns the shape of the law from spells as they go by. Given their ages it has a Gamma posterior, whose mean is ended / exposure.
type spells struct {
	settling float64
	ended    float64
	exposure float64 // sum of ln((settling + age at the end) / (settling + age at the start))
}

func (l law) spells() spells { return spells{l.settling, l.weight, l.weight / l.shape} }

// see is so many hours more of a spell, which then ended or went on.
func (s *spells) see(age, hours float64, ended bool) {
	s.exposure += math.Log1p(hours / (s.settling + age))
	if ended {
		s.ended++
	}
}

func (s *spells) shape() float64 { return s.ended / s.exposure }

// hazard is the rate an hour at which a spell of this age ends.
func (s *spells) hazard(age float64) float64 { return s.shape() / (s.settling + age) }

// mean is how long a new spell lasts on average, of which no more counts than so many hours: the integral of its survival,
// (settling / (settling + t)) to the power of the shape.
func (s *spells) mean(most float64) float64 {
	if k := s.shape() - 1; math.Abs(k) > 1e-9 {
		return s.settling / k * -math.Expm1(-k*math.Log1p(most/s.settling))
	}
	return s.settling * math.Log1p(most/s.settling)
}

// fade makes what was seen count for at most memory spells.
func (s *spells) fade() {
	if f := memory / s.ended; f < 1 {
		s.ended *= f
		s.exposure *= f
	}
}

// watch follows whether something is there, tick by tick.
type watch struct {
	up, down spells
	is, any  bool
	age      float64 // hours since it last changed, or since it is watched
}

func (l law) watch() watch { return watch{up: l.spells(), down: l.spells()} }

// see is the next tick.
func (w *watch) see(up bool, gap float64) {
	if !w.any {
		w.is, w.any = up, true
		return
	}
	s := &w.down
	if w.is {
		s = &w.up
	}
	s.see(w.age, gap, up != w.is)
	w.age += gap
	if up != w.is {
		w.is, w.age = up, 0
	}
}

// learn takes in a trace that was seen before.
func (w *watch) learn(t spot.Trace) {
	for _, up := range t.Up {
		w.see(up, float64(t.Gap))
	}
	w.forgetPlace()
}

// forgetPlace keeps what was learnt and starts to watch anew.
func (w *watch) forgetPlace() {
	w.up.fade()
	w.down.fade()
	w.any, w.age = false, 0
}
