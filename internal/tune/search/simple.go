package search

import (
	"math/rand/v2"

	"github.com/goatnote-inc/pawl/internal/tune/space"
)

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
