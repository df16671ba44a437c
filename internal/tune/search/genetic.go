package search

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/goatnote-inc/pawl/internal/tune/space"
)

// Genetic combines two good parents, taking each parameter from one of them, with
// occasional mutations. It has no generations: any evaluated point may be a parent, so any
// number of evaluators stays busy. It never makes invalid children.
type Genetic struct {
	space  *space.Space
	rng    *rand.Rand
	unseen *unseen
	best   []parent // fastest first
	asked  int
}

type parent struct {
	point int
	value float64
}

const (
	population = 20
	mutation   = 0.1 // probability per parameter
)

// NewGenetic returns a Genetic strategy.
func NewGenetic(s *space.Space, o Options) *Genetic {
	return &Genetic{space: s, rng: seeded(o.Seed, 4), unseen: newUnseen(s.Len())}
}

// Ask returns children of the best points, and random points before there are any.
func (g *Genetic) Ask(n int) []int {
	var list []int
	for len(list) < n {
		p, ok := g.child()
		if !ok {
			if p, ok = g.unseen.draw(g.rng); !ok {
				break
			}
		}
		g.unseen.take(p)
		g.asked++
		list = append(list, p)
	}
	return list
}

func (g *Genetic) child() (int, bool) {
	if g.asked < population || len(g.best) < 2 {
		return 0, false
	}
	point := make([]uint16, len(g.space.Parameters()))
	for range 200 {
		a, b := g.space.Point(g.pick()), g.space.Point(g.pick())
		for k, p := range g.space.Parameters() {
			point[k] = a[k]
			if g.rng.IntN(2) == 0 {
				point[k] = b[k]
			}
			if g.rng.Float64() < mutation {
				point[k] = uint16(g.rng.IntN(len(p.Values)))
			}
		}
		if i, ok := g.space.Index(point); ok && g.unseen.has(i) {
			return i, true
		}
	}
	return 0, false
}

// pick returns the better of two points drawn from the best.
func (g *Genetic) pick() int {
	return g.best[min(g.rng.IntN(len(g.best)), g.rng.IntN(len(g.best)))].point
}

// Tell adds a point to the population if it is good enough.
func (g *Genetic) Tell(o Outcome) {
	g.unseen.take(o.Point)
	if o.Failed {
		return
	}
	p := parent{o.Point, math.Log(o.Value)}
	at, _ := slices.BinarySearchFunc(g.best, p, func(a, b parent) int { return cmp.Compare(a.value, b.value) })
	g.best = slices.Insert(g.best, at, p)
	g.best = g.best[:min(len(g.best), population)]
}
