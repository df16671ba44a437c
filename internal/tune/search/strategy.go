package search

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/goatnote-inc/pawl/internal/tune/space"
)

// Outcome is the result of an evaluation.
type Outcome struct {
	Point  int
	Value  float64 // the time of the kernel, or another quantity to minimize; above 0
	Failed bool    // it did not compile, crashed or was wrong, so it has no value
	Cost   float64 // seconds the evaluation took; 0 if unknown
}

// Strategy proposes points and learns from outcomes. Outcomes may arrive in any order,
// late, or, if an evaluator is lost, never.
type Strategy interface {
	// Ask returns up to n points that were not asked or told before; none if all were.
	Ask(n int) []int
	// Tell records an outcome, even of a point that was never asked (a resumed search).
	Tell(o Outcome)
}

// Options configures a strategy.
type Options struct {
	Seed uint64
	// Evaluations is how many are planned, for strategies with a schedule; 0 means 200.
	Evaluations int
	// ByCost makes strategies that support it weigh the expected gain of an evaluation against
	// its cost.
	ByCost bool
	// Source holds outcomes on another device with the same parameters, for a warm start.
	Source []Outcome
}

func (o Options) evaluations() int {
	if o.Evaluations <= 0 {
		return 200
	}
	return o.Evaluations
}

var strategies = map[string]func(*space.Space, Options) Strategy{
	"exhaustive": func(s *space.Space, _ Options) Strategy { return NewExhaustive(s) },
	"random":     func(s *space.Space, o Options) Strategy { return NewRandom(s, o) },
	"annealing":  func(s *space.Space, o Options) Strategy { return NewAnnealing(s, o) },
	"genetic":    func(s *space.Space, o Options) Strategy { return NewGenetic(s, o) },
	"auto":       func(s *space.Space, o Options) Strategy { return NewAuto(s, o) },
	"model":      newModel,
}

// Names lists the strategies, sorted.
func Names() []string { return slices.Sorted(maps.Keys(strategies)) }

// New returns the strategy with the given name.
func New(name string, s *space.Space, o Options) (Strategy, error) {
	made, ok := strategies[name]
	if !ok {
		return nil, fmt.Errorf("unknown strategy %q (known: %v)", name, Names())
	}
	return made(s, o), nil
}

// seeded returns the random source of a strategy, independent of everything else.
func seeded(seed, stream uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, stream))
}

// unseen holds the points that were neither asked nor told, and draws from them.
type unseen struct {
	list  []int32 // all points, unseen ones first
	where []int32 // index of a point in list
	n     int
}

func newUnseen(points int) *unseen {
	u := &unseen{list: make([]int32, points), where: make([]int32, points), n: points}
	for i := range points {
		u.list[i], u.where[i] = int32(i), int32(i)
	}
	return u
}

func (u *unseen) has(point int) bool { return int(u.where[point]) < u.n }

// take marks a point as seen and reports whether it was unseen.
func (u *unseen) take(point int) bool {
	at := int(u.where[point])
	if at >= u.n {
		return false
	}
	u.n--
	last := u.list[u.n]
	u.list[at], u.list[u.n] = last, int32(point)
	u.where[last], u.where[point] = int32(at), int32(u.n)
	return true
}

// draw returns a uniformly drawn unseen point without taking it.
func (u *unseen) draw(rng *rand.Rand) (int, bool) {
	if u.n == 0 {
		return 0, false
	}
	return int(u.list[rng.IntN(u.n)]), true
}

// Exhaustive proposes every point in order.
type Exhaustive struct {
	unseen *unseen
	next   int
}

// NewExhaustive returns an Exhaustive strategy.
func NewExhaustive(s *space.Space) *Exhaustive {
	return &Exhaustive{unseen: newUnseen(s.Len())}
}

// Ask returns the next points.
func (e *Exhaustive) Ask(n int) []int {
	var list []int
	for ; len(list) < n && e.next < len(e.unseen.where); e.next++ {
		if e.unseen.take(e.next) {
			list = append(list, e.next)
		}
	}
	return list
}

// Tell marks a point evaluated elsewhere as seen.
func (e *Exhaustive) Tell(o Outcome) { e.unseen.take(o.Point) }

// Random draws points uniformly without repetition.
type Random struct {
	unseen *unseen
	rng    *rand.Rand
}

// NewRandom returns a Random strategy.
func NewRandom(s *space.Space, o Options) *Random {
	return &Random{unseen: newUnseen(s.Len()), rng: seeded(o.Seed, 1)}
}

// Ask returns uniformly drawn points that were not asked before.
func (r *Random) Ask(n int) []int {
	var list []int
	for len(list) < n {
		point, ok := r.unseen.draw(r.rng)
		if !ok {
			break
		}
		r.unseen.take(point)
		list = append(list, point)
	}
	return list
}

// Tell marks a point evaluated elsewhere as seen.
func (r *Random) Tell(o Outcome) { r.unseen.take(o.Point) }

// modelLimit is the max number of evaluations a model learns from, because the work per
// proposal grows with their square.
const modelLimit = 300

// Auto is the default strategy. The model finds most of the gain in few evaluations. After
// many, little gain is left and the model is slow, so from then on points come from
// Genetic, which is cheap.
type Auto struct {
	points  int
	model   Strategy
	genetic *Genetic
	told    int
}

// NewAuto returns an Auto strategy.
func NewAuto(s *space.Space, o Options) *Auto {
	return &Auto{points: s.Len(), model: newModel(s, o), genetic: NewGenetic(s, o)}
}

// Ask returns points from the model, and later from the genetic strategy.
func (a *Auto) Ask(n int) []int {
	if a.points-a.genetic.unseen.n >= modelLimit {
		return a.genetic.Ask(n)
	}
	list := a.model.Ask(n)
	for _, p := range list {
		a.genetic.unseen.take(p)
	}
	return list
}

// Tell passes the outcome to both.
func (a *Auto) Tell(o Outcome) {
	a.told++
	a.genetic.Tell(o)
	if a.told <= modelLimit {
		a.model.Tell(o)
	}
}
