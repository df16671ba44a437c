package search

import (
	"math"
	"math/rand/v2"

	"github.com/goatnote-inc/pawl/internal/tune/space"
)

// Annealing walks from a point to its neighbors. It accepts a slower point with a
// probability that falls with the difference in log time and with the temperature. The
// temperature falls over the planned evaluations. Several proposals can be pending at once:
// each starts from the current position of the walk.
type Annealing struct {
	space   *space.Space
	rng     *rand.Rand
	unseen  *unseen
	planned int
	told    int
	values  map[int]float64 // log of the value; +Inf if it failed
	at      int             // -1 before the first success
	stuck   int
}

// Temperatures in log time: at the start a point that is 1.6 times slower is often
// accepted, at the end only one within 1 %.
const (
	hot  = 0.5
	cold = 0.01
)

// NewAnnealing returns an Annealing strategy.
func NewAnnealing(s *space.Space, o Options) *Annealing {
	return &Annealing{
		space: s, rng: seeded(o.Seed, 3), unseen: newUnseen(s.Len()),
		planned: o.evaluations(), values: map[int]float64{}, at: -1,
	}
}

// Ask returns unseen neighbors of the current position.
func (a *Annealing) Ask(n int) []int {
	var list []int
	for len(list) < n {
		p, ok := a.step()
		if !ok {
			break
		}
		a.unseen.take(p)
		list = append(list, p)
	}
	return list
}

// step walks over known points until it finds an unknown one.
func (a *Annealing) step() (int, bool) {
	if a.at < 0 || a.stuck > 3*len(a.space.Parameters()) {
		a.stuck = 0
		return a.unseen.draw(a.rng)
	}
	for range 100 {
		next, ok := a.neighbor()
		if !ok {
			break
		}
		if a.unseen.has(next) {
			return next, true
		}
		if value, known := a.values[next]; known && a.accept(value) {
			a.at = next
		}
	}
	return a.unseen.draw(a.rng)
}

// neighbor draws a point that differs in one parameter, near ranks as often as far ones.
func (a *Annealing) neighbor() (int, bool) {
	near := a.space.Neighbors(a.at)
	if a.rng.IntN(2) == 0 {
		near = a.space.Adjacent(a.at)
	}
	chosen, seen := 0, 0
	for p := range near {
		seen++
		if a.rng.IntN(seen) == 0 {
			chosen = p
		}
	}
	return chosen, seen > 0
}

func (a *Annealing) accept(value float64) bool {
	by := value - a.values[a.at]
	done := min(1, float64(a.told)/float64(a.planned))
	return by <= 0 || a.rng.Float64() < math.Exp(-by/(hot*math.Pow(cold/hot, done)))
}

// Tell records the outcome and may move the walk.
func (a *Annealing) Tell(o Outcome) {
	a.unseen.take(o.Point)
	a.told++
	value := math.Inf(1)
	if !o.Failed {
		value = math.Log(o.Value)
	}
	a.values[o.Point] = value
	switch {
	case o.Failed:
		a.stuck++
	case a.at < 0 || a.accept(value):
		a.at, a.stuck = o.Point, 0
	default:
		a.stuck++
	}
}
