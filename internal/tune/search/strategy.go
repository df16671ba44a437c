package search

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/goatnote-inc/pawl/internal/tune/space"
)

// Outcome is what an evaluation gave.
type Outcome struct {
	Point  int
	Value  float64 // the time of the kernel, or whatever is to be small; above 0
	Failed bool    // it did not compile, crashed or was wrong: there is no value
	Cost   float64 // seconds the evaluation took; 0 when not known
	// Noise is the relative standard error of Value; 0 when not known.
	Noise float64
}

// Strategy proposes points and learns from outcomes. Outcomes may come in any order,
// late, or, for what another evaluator lost, never.
type Strategy interface {
	// Ask gives up to n points that were not asked or told before; none when all were.
	Ask(n int) []int
	// Tell hands over an outcome, also of a point that was never asked (a resumed search).
	Tell(o Outcome)
}

// Options are what every strategy is made from.
type Options struct {
	Seed uint64
	// Evaluations is how many are planned, for strategies with a schedule; 0 is 200.
	Evaluations int
	// ByCost makes a strategy that can weigh what an evaluation gains with what it costs.
	ByCost bool
	// Source are outcomes on another device with the same parameters: a warm start.
	Source *Source
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

// New makes a strategy by its name.
func New(name string, s *space.Space, o Options) (Strategy, error) {
	made, ok := strategies[name]
	if !ok {
		return nil, fmt.Errorf("unknown strategy %q: there are %v", name, Names())
	}
	return made(s, o), nil
}

// seeded is the randomness of a strategy: its own, whatever else runs.
func seeded(seed, stream uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, stream))
}

// unseen keeps the points that were neither asked nor told, and draws from them.
type unseen struct {
	list  []int32 // the points, unseen ones first
	where []int32 // place of a point in list
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

// take marks a point as seen; it tells whether it was not yet.
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

// draw gives a uniform unseen point without taking it.
func (u *unseen) draw(rng *rand.Rand) (int, bool) {
	if u.n == 0 {
		return 0, false
	}
	return int(u.list[rng.IntN(u.n)]), true
}
